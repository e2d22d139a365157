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
constexpr std::array<std::string_view, 12> kParts{
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
    LANESCOPE_LIBRARIES_FROM_PROGRAMS "/lanescope",
};

// For a shell on the other machine: $1 this machine's architecture, $2 the folder's name, $3 the archive's SHA-256, or look; $4 the program in the folder, $5
// the SHA-256 of the list of what is in it. One line without an exclamation mark, so that a C shell passes it on unchanged. A copy gets its name, by the
// renaming of a folder, only after it is complete and runs. A copy that has the name already is used only if it is what is here.
constexpr const char* kScript =
    "say() { echo \"lanescope-copy $*\"; exit 0; }; "
    "machine=$(uname -m); test \"$machine\" = \"$1\" || say machine \"$machine\"; "
    "case ${XDG_CACHE_HOME:-} in /*) cache=$XDG_CACHE_HOME;; *) cache=${HOME:-}/.cache;; esac; "
    "test \"$cache\" = /.cache && { echo There is no home folder. >&2; exit 1; }; "
    "list=$5; program=$4; folder=$cache/lanescope/recorders; copy=$folder/$2; "
    "whole() { sum=$(sha256sum < \"$1/SHA256SUMS\") && test \"${sum%% *}\" = \"$list\" && (cd \"$1\" && sha256sum -c SHA256SUMS); } > /dev/null 2>&1; "
    "runs() { whole \"$copy\" && \"$copy/$program\" --version > /dev/null 2>&1; }; "
    "runs && say at \"$copy/$program\"; "
    "if test \"$3\" = look; then test -e \"$copy\" && say changed; say none; fi; "
    "umask 077; mkdir -p \"$folder\" || exit 1; new=$(mktemp -d \"$folder/new.XXXXXX\") || exit 1; "
    "trap 'rm -rf \"$new\"' EXIT; trap 'exit 1' HUP INT TERM; trap '' PIPE; "
    "find \"$folder\" -maxdepth 1 -name 'new.*' -mmin +60 -exec rm -rf {} + ; "
    "cat > \"$new/archive\" || exit 1; "
    "sum=$(sha256sum < \"$new/archive\") || exit 1; test \"${sum%% *}\" = \"$3\" || say damaged; "
    "mkdir \"$new/$2\" && gzip -dc < \"$new/archive\" | tar -C \"$new/$2\" -xmf - || exit 1; "
    "whole \"$new/$2\" || say damaged; "
    "\"$new/$2/$4\" --version > \"$new/said\" 2>&1 || say useless \"$(head -n 1 \"$new/said\")\"; "
    "mv \"$new/$2\" \"$folder/\" 2> /dev/null || runs || { mkdir \"$new/old\" && mv \"$copy\" \"$new/old/\" && mv \"$new/$2\" \"$folder/\"; } || exit 1; "
    "say at \"$copy/$program\"";

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

}  // namespace

Result<std::string> recorder_copied_to(const Target& target, Terminal terminal, const RecorderToCopy& recorder, Copying copying,
                                       const std::function<void(const std::string& sentence)>& tell, const std::function<Wish()>& wish) {
  const Result<std::vector<std::string>> parts = folder_and_parts(recorder.programs);
  if (!parts) return parts.error();
  const Result<std::string> list = output_of(kList, *parts, {}, kMostSaid, wish);
  if (!list) return list.error();
  const Result<std::string> content = sum_of(*list, wish);
  if (!content) return content.error();
  utsname here{};
  uname(&here);
  constexpr std::size_t kDigits = 16;
  const std::string name = recorder.version + "-" + content->substr(0, kDigits);
  const std::string program = (recorder.programs.filename() / "lanescope").string();
  const auto ask = [&](const std::string& sum, std::string_view input) {
    return converse(command_on(target, {"sh", "-c", kScript, "lanescope", here.machine, name, sum, program, *content}), terminal, input, kMostSaid, wish);
  };
  Result<Said> said = ask("look", {});
  const std::string found = said ? answer(said->output) : std::string();
  if (copying == Copying::kWhereMissing && (found == "none" || found == "changed")) {
    const Result<std::string> archive = output_of(kPack, *parts, *list, kMostPacked, wish);
    if (!archive) return archive.error();
    const Result<std::string> sum = sum_of(*archive, wish);
    if (!sum) return sum.error();
    if (found == "changed") tell("The copy of lanescope " + recorder.version + " on " + target.text + " is not whole any more. It is made anew.");
    tell("Copying lanescope " + recorder.version + " to " + target.text + " (" + std::to_string(archive->size() / 1'000'000 + 1) + " MB) ...");
    said = ask(*sum, *archive);
  }
  if (!said) return said.error();
  const std::string text = answer(said->output);
  if (text == "none" || text == "changed") return std::string();
  if (text.starts_with("at /")) return text.substr(3);
  if (text.starts_with("machine "))
    return Error{target.text + " is a machine of kind " + text.substr(8) + ", here is " + here.machine + ": a copy would not run there."};
  if (text.starts_with("useless "))
    return Error{"A copy of this lanescope does not run on " + target.text + ": " + text.substr(8) + ". A package of the recorder runs on older systems, too."};
  if (text == "damaged") return Error{"What was copied to " + target.text + " arrived changed, and was removed there."};
  const std::string& messages = said->messages;
  return Error{"lanescope can't be copied to " + target.text +
               (messages.empty() ? ": it takes a shell, tar, gzip and sha256sum there." : ": " + messages.substr(0, messages.find('\n')))};
}

std::vector<std::string> fetch_command(const RecorderThere& there, const std::string& recording) {
  std::vector<std::string> words{"lanescope", "fetch", "--on", there.target.text};
  if (there.program != RecorderThere().program) words.insert(words.end(), {"--remote-lanescope", there.program});
  words.insert(words.end(), {"--recording", recording});
  return words;
}

WorkOutcome work_by(RecorderThere& there, const RecorderToCopy& recorder, WorkSettings& settings, const std::function<bool()>& is_copy_wished) {
  const auto work = [&] {
    settings.command = command_on(there.target, {there.program, "serve", "--stdio"});
    return work_on(settings);
  };
  const auto copied = [&](Copying copying) { return recorder_copied_to(there.target, settings.terminal, recorder, copying, settings.tell, settings.wish); };
  WorkOutcome outcome = work();
  if (outcome.missing == Missing::kNothing) return outcome;
  Result<std::string> program = copied(Copying::kNone);
  if (program && program->empty() && is_copy_wished()) program = copied(Copying::kWhereMissing);
  if (!program) {
    outcome.failure->text += " " + program.error().text;
    outcome.missing = Missing::kNothing;
    return outcome;
  }
  if (program->empty()) return outcome;
  there.program = std::move(*program);
  return work();
}

}  // namespace lanescope::remote
