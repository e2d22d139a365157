// Another machine, or a container, as the user names it, and the command that runs a program there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::remote {

enum class Words {
  kOneByOne,   // the prefix takes the words of a command one by one
  kInOneText,  // the prefix ends with a shell's -c, which takes a command in one word
};
enum class Terminal {
  kShared,  // the command may ask for a password or a host key
  kNone,    // the command runs in a session of its own, so that no key of ours ends it
};

struct Target {
  std::string text;                 // as the user named it
  std::vector<std::string> prefix;  // the words of a command are added to it
  Words words = Words::kOneByOne;
  unsigned ssh = 0;  // how often ssh stands in the prefix: each joins words with spaces, and a shell behind it splits them again
  Terminal terminal = Terminal::kNone;
};

// Parses ssh:HOST, docker:CONTAINER, podman:CONTAINER, k8s:NAMESPACE/POD/CONTAINER, slurm:JOB/NODE, or command:PREFIX, whose words are split as a shell
// would, without using one. Fails with one sentence, of kind kUsage.
Result<Target> parse_target(std::string_view text);

// The command that runs these words there.
[[nodiscard]] std::vector<std::string> command_on(const Target& target, std::vector<std::string> words);

// A name for each target, of letters that a file's name may have everywhere: the target without its kind, "gpu7" of ssh:gpu7. Of names that would be alike,
// the second one is "gpu7-2", and so on. Fails, of kind kUsage, if a target is named twice.
Result<std::vector<std::string>> names_of_machines(const std::vector<std::string>& targets);

// Lets ssh fail where it would ask at the terminal for a password, or whether a host's key is right.
void forbid_questions(Target& target);

// The output files of several machines: the requested name, as for lanescope profile, followed by that of names_of_machines(), which says when this fails.
Result<std::vector<std::string>> outputs_of_machines(std::string_view output, const std::vector<std::string>& targets);

// A word quoted so that a shell takes it literally, whatever it contains. A leading ~/ is left for the shell to expand.
[[nodiscard]] std::string quoted_for_shell(std::string_view word);

enum class Comments { kNone, kSkipped };  // from a # that starts a word to the end of its line

// Splits words as a shell does: with quotes and backslashes, also at the end of a line. Nothing is expanded. Fails if a quote is not closed.
Result<std::vector<std::string>> split_words(std::string_view text, Comments comments = Comments::kNone);

}  // namespace lanescope::remote
