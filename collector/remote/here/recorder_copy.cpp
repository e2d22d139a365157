#include "collector/remote/recorder_copy.h"

#include <sys/utsname.h>

#include <array>
#include <string_view>
#include <vector>

#include "here/conversation.h"

namespace lanescope::remote {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPacked = 512u << 20;
constexpr std::size_t kMostSaid = 1u << 20;
constexpr std::string_view kMark = "lanescope-copy ";

// The parts of a recorder, relative to the folder of programs.
constexpr std::array<std::string_view, 13> kParts{
    "lanescope",
    "lanescope-code-names",
    "lanescope-gpu-metrics",
    "lanescope-kernel-metrics",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-agent.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-kernels.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-mpi.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-ucx.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-opengl.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-openmp.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-openacc.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/liblanescope-nvtx.so",
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/lanescope",
};

// For a shell on the other machine: $1 this machine's architecture, $2 the folder's name, $3 the archive's SHA-256, or look; $4 the program in the folder, $5
// the SHA-256 of the list of what is in it, $6 serve or tell: what to do with a whole copy, $7 the size of the archive, which comes first. One line without an
// exclamation mark, so that a C shell passes it on unchanged. A copy gets its name, by the renaming of a folder, only after it is complete and runs. A copy
// that has the name already is used only if it is what is here.
constexpr const char* kScript =
    "say() { echo \"lanescope-copy $*\"; exit 0; }; "
    "machine=$(uname -m); test \"$machine\" = \"$1\" || say machine \"$machine\"; "
    "case ${XDG_CACHE_HOME:-} in /*) cache=$XDG_CACHE_HOME;; *) cache=${HOME:-}/.cache;; esac; "
    "test \"$cache\" = /.cache && { echo There is no home folder. >&2; exit 1; }; "
    "list=$5; program=$4; folder=$cache/lanescope/recorders; copy=$folder/$2; "
    "whole() { sum=$(sha256sum < \"$1/SHA256SUMS\") && test \"${sum%% *}\" = \"$list\" && (cd \"$1\" && sha256sum -c SHA256SUMS); } > /dev/null 2>&1; "
    "runs() { whole \"$copy\" && \"$copy/$program\" --version > /dev/null 2>&1; }; "
    "at() { test \"$6\" = serve || say at \"$copy/$program\"; echo \"lanescope-copy at $copy/$program\"; "
    "test -z \"${new:-}\" || rm -rf \"$new\"; trap - EXIT HUP INT TERM PIPE; exec \"$copy/$program\" serve --stdio; }; "
    "runs && { test -z \"$7\" || head -c \"$7\" > /dev/null; at \"$@\"; }; "
    "if test \"$3\" = look; then test -e \"$copy\" && say changed; say none; fi; "
    "umask 077; mkdir -p \"$folder\" || exit 1; new=$(mktemp -d \"$folder/new.XXXXXX\") || exit 1; "
    "trap 'rm -rf \"$new\"' EXIT; trap 'exit 1' HUP INT TERM; trap '' PIPE; "
    "find \"$folder\" -maxdepth 1 -name 'new.*' -mmin +60 -exec rm -rf {} + ; "
    "head -c \"$7\" > \"$new/archive\" || exit 1; "
    "sum=$(sha256sum < \"$new/archive\") || exit 1; test \"${sum%% *}\" = \"$3\" || say damaged; "
    "mkdir \"$new/$2\" && gzip -dc < \"$new/archive\" | tar -C \"$new/$2\" -xmf - || exit 1; "
    "whole \"$new/$2\" || say damaged; "
    "\"$new/$2/$4\" --version > \"$new/said\" 2>&1 || say useless \"$(head -n 1 \"$new/said\")\"; "
    "mv \"$new/$2\" \"$folder/\" 2> /dev/null || runs || { mkdir \"$new/old\" && mv \"$copy\" \"$new/old/\" && mv \"$new/$2\" \"$folder/\"; } || exit 1; "
    "at \"$@\"";

constexpr std::size_t kSumDigits = 64;  // of a SHA-256, in hexadecimal

// Of a shell here: $1 the folder, then the parts in it. Prints a list of what is in them, each with its SHA-256. Files that Python makes beside its own are
// left out: they change there.
constexpr const char* kList =
    "cd \"$1\" && shift && find \"$@\" -name __pycache__ -prune -o '(' -type f -o -type l ')' -print | LC_ALL=C sort | tr '\\n' '\\0' | xargs -0 sha256sum";
// Prints an archive of them, and of that list, which it reads. The bytes are the same for the same files, whenever it runs.
constexpr const char* kPack =
    "folder=$1 && shift && list=$(mktemp -d) && trap 'rm -rf \"$list\"' EXIT && cat > \"$list/SHA256SUMS\" && "
    "tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --exclude=__pycache__ -cf - -C \"$list\" SHA256SUMS -C \"$folder\" -- \"$@\" | gzip -n";

Error not_packed() { return {"What is to be copied could not be packed here, by tar, gzip and sha256sum."}; }

// The recorder's folder, and the parts that are in it.
Result<std::vector<std::string>> folder_and_parts(const fs::path& programs) {
  const fs::path prefix = programs.parent_path();
  std::error_code missing;
  if (!fs::exists(programs / "lanescope", missing)) return Error{"There is no lanescope in " + programs.string() + " that could be copied."};
  std::vector<std::string> words{prefix.string()};
  for (const std::string_view part : kParts) {
    const fs::path path = (programs / part).lexically_normal();
    if (fs::exists(path, missing)) words.push_back(path.lexically_relative(prefix).string());
  }
  return words;
}

// The output of a script here for those parts.
Result<std::string> output_of(const char* script, const std::vector<std::string>& folder_and_parts, std::string_view input, std::size_t most,
                              const std::function<Wish()>& wish) {
  std::vector<std::string> command{"sh", "-c", script, "lanescope"};
  command.insert(command.end(), folder_and_parts.begin(), folder_and_parts.end());
  Result<Said> said = converse(command, Terminal::kNone, input, most, wish);
  if (!said) return said.error();
  if (said->code != 0 || said->output.empty()) return not_packed();
  return std::move(said->output);
}

Result<std::string> sum_of(std::string_view input, const std::function<Wish()>& wish) {
  const Result<Said> sum = converse({"sha256sum"}, Terminal::kNone, input, kMostSaid, wish);
  if (!sum) return sum.error();
  if (sum->code != 0 || sum->output.size() < kSumDigits) return not_packed();
  return sum->output.substr(0, kSumDigits);
}

// The script's answer, after any other output.
std::string answer(const std::string& output) {
  const std::size_t mark = output.rfind(kMark);
  if (mark == std::string::npos) return {};
  const std::size_t begin = mark + kMark.size();
  return output.substr(begin, output.find('\n', begin) - begin);
}

bool is_missing(std::string_view answer) { return answer == "none" || answer == "changed"; }

// A recorder here, as the script on the other machine knows it.
class CopySource {
 public:
  static Result<CopySource> of(const RecorderToCopy& recorder, const std::function<Wish()>& wish);

  enum class Then { kServe, kTell };
  // The commands that look for a copy on the target, and that make one of an archive which they read first.
  [[nodiscard]] std::vector<std::string> look_on(const Target& target, Then then) const { return script_on(target, "look", then, ""); }
  [[nodiscard]] std::vector<std::string> copy_to(const Target& target, Then then, const std::string& sum, std::size_t size) const {
    return script_on(target, sum, then, std::to_string(size));
  }
  struct Archive {
    std::string bytes;
    std::string sum;
  };
  // Says that it is copied, to somebody who was answered that it is missing.
  Result<Archive> pack(const Target& target, std::string_view answer, const std::function<void(const std::string& sentence)>& tell,
                       const std::function<Wish()>& wish) const;
  // Why it was not copied.
  [[nodiscard]] Error refusal(const Target& target, std::string_view answer, const std::string& messages) const;

 private:
  CopySource(std::vector<std::string> parts, std::string list, std::string content, const RecorderToCopy& recorder);
  [[nodiscard]] std::vector<std::string> script_on(const Target& target, const std::string& sum, Then then, const std::string& size) const {
    return command_on(target, {"sh", "-c", kScript, "lanescope", machine_, name_, sum, program_, content_, then == Then::kServe ? "serve" : "tell", size});
  }

  std::vector<std::string> parts_;  // after the folder
  std::string list_, content_;
  std::string version_, name_, program_, machine_;
};

CopySource::CopySource(std::vector<std::string> parts, std::string list, std::string content, const RecorderToCopy& recorder)
    : parts_(std::move(parts)), list_(std::move(list)), content_(std::move(content)), version_(recorder.version) {
  constexpr std::size_t kDigits = 16;
  utsname here{};
  uname(&here);
  machine_ = here.machine;
  name_ = version_ + "-" + content_.substr(0, kDigits);
  program_ = (recorder.programs.filename() / "lanescope").string();
}

Result<CopySource> CopySource::of(const RecorderToCopy& recorder, const std::function<Wish()>& wish) {
  Result<std::vector<std::string>> parts = folder_and_parts(recorder.programs);
  if (!parts) return parts.error();
  Result<std::string> list = output_of(kList, *parts, {}, kMostSaid, wish);
  if (!list) return list.error();
  Result<std::string> content = sum_of(*list, wish);
  if (!content) return content.error();
  return CopySource(std::move(*parts), std::move(*list), std::move(*content), recorder);
}

Result<CopySource::Archive> CopySource::pack(const Target& target, std::string_view answer, const std::function<void(const std::string& sentence)>& tell,
                                             const std::function<Wish()>& wish) const {
  Result<std::string> bytes = output_of(kPack, parts_, list_, kMostPacked, wish);
  if (!bytes) return bytes.error();
  Result<std::string> sum = sum_of(*bytes, wish);
  if (!sum) return sum.error();
  if (answer == "changed") tell("The copy of lanescope " + version_ + " on " + target.text + " is not whole any more. It is made anew.");
  tell("Copying lanescope " + version_ + " to " + target.text + " (" + std::to_string(bytes->size() / 1'000'000 + 1) + " MB) ...");
  return Archive{std::move(*bytes), std::move(*sum)};
}

Error CopySource::refusal(const Target& target, std::string_view answer, const std::string& messages) const {
  const auto behind = [answer](std::string_view word) { return std::string(answer.substr(word.size())); };
  if (answer.starts_with("machine "))
    return {target.text + " is a machine of kind " + behind("machine ") + ", here is " + machine_ + ": a copy would not run there."};
  if (answer.starts_with("useless "))
    return {"A copy of this lanescope does not run on " + target.text + ": " + behind("useless ") + ". A package of the recorder runs on older systems, too."};
  if (answer == "damaged") return {"What was copied to " + target.text + " arrived changed, and was removed there."};
  return {"lanescope can't be copied to " + target.text +
          (messages.empty() ? ": it takes a shell, tar, gzip and sha256sum there." : ": " + messages.substr(0, messages.find('\n')))};
}

}  // namespace

Result<std::string> recorder_copied_to(const Target& target, Terminal terminal, const RecorderToCopy& recorder,
                                       const std::function<void(const std::string& sentence)>& tell, const std::function<Wish()>& wish) {
  using Then = CopySource::Then;
  const Result<CopySource> source = CopySource::of(recorder, wish);
  if (!source) return source.error();
  Result<Said> said = converse(source->look_on(target, Then::kTell), terminal, {}, kMostSaid, wish);
  if (const std::string found = said ? answer(said->output) : std::string(); is_missing(found)) {
    const Result<CopySource::Archive> archive = source->pack(target, found, tell, wish);
    if (!archive) return archive.error();
    said = converse(source->copy_to(target, Then::kTell, archive->sum, archive->bytes.size()), terminal, archive->bytes, kMostSaid, wish);
  }
  if (!said) return said.error();
  const std::string text = answer(said->output);
  if (text.starts_with("at /")) return text.substr(3);
  return source->refusal(target, text, said->messages);
}

std::vector<std::string> fetch_command(const RecorderThere& there, const std::string& recording) {
  std::vector<std::string> words{"lanescope", "fetch", "--on", there.target.text};
  if (there.program != RecorderThere().program) words.insert(words.end(), {"--remote-lanescope", there.program});
  words.insert(words.end(), {"--recording", recording});
  return words;
}

WorkOutcome work_by(RecorderThere& there, const RecorderToCopy& recorder, WorkSettings& settings, Preferred preferred,
                    const std::function<bool()>& is_copy_wished) {
  using Then = CopySource::Then;
  settings.first_command.clear();
  WorkOutcome outcome;
  if (preferred == Preferred::kProgramThere) {
    settings.command = command_on(there.target, {there.program, "serve", "--stdio"});
    outcome = work_on(settings);
    if (outcome.missing == Missing::kNothing) return outcome;
  }
  const auto not_copied = [&outcome](const Error& why) {
    outcome.failure = outcome.failure ? Error{outcome.failure->text + " " + why.text} : why;
    outcome.missing = Missing::kNothing;
    return std::move(outcome);
  };
  const Result<CopySource> source = CopySource::of(recorder, settings.wish);
  if (!source) return not_copied(source.error());
  settings.mark = kMark;
  settings.command = source->look_on(there.target, Then::kServe);
  WorkOutcome by_copy = work_on(settings);
  if (is_missing(by_copy.marked)) {
    if (!is_copy_wished()) return outcome;
    Result<CopySource::Archive> archive = source->pack(there.target, by_copy.marked, settings.tell, settings.wish);
    if (!archive) return not_copied(archive.error());
    settings.first_command = source->copy_to(there.target, Then::kServe, archive->sum, archive->bytes.size());
    settings.first_bytes = std::move(archive->bytes);
    by_copy = work_on(settings);
    settings.first_bytes.clear();
  }
  const bool is_copy = by_copy.marked.starts_with("at /");
  if (is_copy) there.program = by_copy.marked.substr(3);
  if (is_copy || by_copy.was_left || !by_copy.failure) return by_copy;
  const bool is_answered = !by_copy.marked.empty() || by_copy.missing != Missing::kNothing;
  return not_copied(is_answered ? source->refusal(there.target, by_copy.marked, {}) : *by_copy.failure);
}

}  // namespace lanescope::remote
