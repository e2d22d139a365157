// A command with its input, which is run to its end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lanescope::test {

struct Command {
  std::string before;  // shell commands
  std::vector<std::string> words;
  std::string input;
  std::filesystem::path folder;
};

struct Ended {
  int code = 0;  // 128 + N if signal N ended it
  bool in_time = true;
  std::string output;
  std::string messages;
};

// Runs the command in a session of its own, all of which is ended if it takes longer than two minutes. Any thread.
Ended run(const Command& command);

}  // namespace lanescope::test
