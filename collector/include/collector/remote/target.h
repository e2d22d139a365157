// Another machine, or a container, as the user names it, and the command that runs a program there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::remote {

enum class Words {
  kOneByOne,   // the prefix takes the words of a command one by one
  kInOneText,  // it ends with a shell's -c, which takes a command in one word
};
enum class Terminal {
  kShared,  // it may ask for a password or a host key
  kNone,    // it stands in a session of its own, so that no key of ours ends it
};

struct Target {
  std::string text;                 // as the user named it
  std::vector<std::string> prefix;  // to which the words of a command are added
  Words words = Words::kOneByOne;
  unsigned ssh = 0;  // how often ssh stands in the prefix: each joins words with spaces, and a shell behind it takes them apart
  Terminal terminal = Terminal::kNone;
  std::string folder = "/tmp/lanescope";  // where a recorder may be copied to there, as a command there names it
};

// ssh:HOST, docker:CONTAINER, podman:CONTAINER, k8s:NAMESPACE/POD/CONTAINER, slurm:JOB/NODE, or command:PREFIX, whose words are split as a
// shell would, without one. Fails with one sentence, of kind kUsage.
Result<Target> parse_target(std::string_view text);

// The command that runs these words there.
[[nodiscard]] std::vector<std::string> command_on(const Target& target, std::vector<std::string> words);

// A word as a shell takes it for itself, whatever is in it. A leading ~/ stays what a shell makes of it.
[[nodiscard]] std::string quoted_for_shell(std::string_view word);

enum class Comments { kNone, kSkipped };  // from a # that begins a word to the end of its line

// Words as a shell splits them: quotes and backslashes, also at the end of a line. Nothing is expanded. Fails where a quote is not closed.
Result<std::vector<std::string>> split_words(std::string_view text, Comments comments = Comments::kNone);

}  // namespace lanescope::remote
