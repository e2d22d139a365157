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

// For a shell on the other machine: $1 this machine's architecture, $2 the folder's name, $3 the archive's SHA-256, or look; $4 the program in the folder. One
// line without an exclamation mark, so that a C shell passes it on unchanged. A copy gets its name only after it is complete and runs.
constexpr const char* kScript =
    "say() { echo \"lanescope-copy $*\"; exit 0; }; "
    "machine=$(uname -m); test \"$machine\" = \"$1\" || say machine \"$machine\"; "
    "case ${XDG_CACHE_HOME:-} in /*) cache=$XDG_CACHE_HOME;; *) cache=${HOME:-}/.cache;; esac; "
    "test \"$cache\" = /.cache && { echo There is no home folder. >&2; exit 1; }; "
    "folder=$cache/lanescope/recorders; "
    "runs() { test -x \"$1\" && \"$1\" --version > /dev/null 2>&1; }; "
    "runs \"$folder/$2/$4\" && say at \"$folder/$2/$4\"; "
    "test \"$3\" = look && say none; "
    "umask 077; mkdir -p \"$folder\" || exit 1; new=$(mktemp -d \"$folder/new.XXXXXX\") || exit 1; "
    "trap 'rm -rf \"$new\"' EXIT; trap 'exit 1' HUP INT TERM; trap '' PIPE; "
    "find \"$folder\" -maxdepth 1 -name 'new.*' -mmin +60 -exec rm -rf {} + ; "
    "cat > \"$new/archive\" || exit 1; "
    "sum=$(sha256sum < \"$new/archive\") || exit 1; test \"${sum%% *}\" = \"$3\" || say damaged; "
    "mkdir \"$new/tree\" && gzip -dc < \"$new/archive\" | tar -C \"$new/tree\" -xmf - || exit 1; "
    "\"$new/tree/$4\" --version > \"$new/said\" 2>&1 || say useless \"$(head -n 1 \"$new/said\")\"; "
    "runs \"$folder/$2/$4\" || { rm -rf \"$folder/$2\"; mv \"$new/tree\" \"$folder/$2\"; } || exit 1; "
    "say at \"$folder/$2/$4\"";

constexpr std::size_t kSumDigits = 64;  // of a SHA-256, in hexadecimal

Error not_packed() { return {"What is to be copied could not be packed here, by tar, gzip and sha256sum."}; }

// A command that prints the recorder as an archive: the same bytes for the same files, whenever it runs.
Result<std::string> archive_command(const fs::path& programs) {
  const fs::path prefix = programs.parent_path();
  std::error_code missing;
  if (!fs::exists(programs / "lanescope", missing)) return Error{"There is no lanescope in " + programs.string() + " that could be copied."};
  std::vector<std::string> words{"tar", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "-C", prefix.string(), "-cf", "-", "--"};
  for (const std::string_view part : kParts) {
    const fs::path path = (programs / part).lexically_normal();
    if (fs::exists(path, missing)) words.push_back(path.lexically_relative(prefix).string());
  }
  std::string line;
  for (const std::string& word : words) line += quoted_for_shell(word) + ' ';
  return line;
}

Result<std::string> sum_of(const std::vector<std::string>& command, std::string_view input, const std::function<Wish()>& wish) {
  const Result<Said> sum = converse(command, Terminal::kNone, input, kMostSaid, wish);
  if (!sum) return sum.error();
  if (sum->code != 0 || sum->output.size() < kSumDigits) return not_packed();
  return sum->output.substr(0, kSumDigits);
}

Result<std::string> packed(const std::string& archive_command, const std::function<Wish()>& wish) {
  Result<Said> archive = converse({"sh", "-c", archive_command + "| gzip -n"}, Terminal::kNone, {}, kMostPacked, wish);
  if (!archive) return archive.error();
  if (archive->code != 0 || archive->output.empty()) return not_packed();
  return std::move(archive->output);
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
  const Result<std::string> command = archive_command(recorder.programs);
  if (!command) return command.error();
  const Result<std::string> content = sum_of({"sh", "-c", *command + "| sha256sum"}, {}, wish);
  if (!content) return content.error();
  utsname here{};
  uname(&here);
  constexpr std::size_t kDigits = 16;
  const std::string name = recorder.version + "-" + content->substr(0, kDigits);
  const std::string program = (recorder.programs.filename() / "lanescope").string();
  const auto ask = [&](const std::string& sum, std::string_view input) {
    return converse(command_on(target, {"sh", "-c", kScript, "lanescope", here.machine, name, sum, program}), terminal, input, kMostSaid, wish);
  };
  Result<Said> said = ask("look", {});
  if (said && copying == Copying::kWhereMissing && answer(said->output) == "none") {
    const Result<std::string> archive = packed(*command, wish);
    if (!archive) return archive.error();
    const Result<std::string> sum = sum_of({"sha256sum"}, *archive, wish);
    if (!sum) return sum.error();
    tell("Copying lanescope " + recorder.version + " to " + target.text + " (" + std::to_string(archive->size() / 1'000'000 + 1) + " MB) ...");
    said = ask(*sum, *archive);
  }
  if (!said) return said.error();
  const std::string text = answer(said->output);
  if (text == "none") return std::string();
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
