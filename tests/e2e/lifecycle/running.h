// A command with its input, run to its end.
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
  int code = 0;  // 128 + N where signal N ended it
  bool in_time = true;
  std::string output;
  std::string messages;
};

// Runs it in a session of its own, all of which is ended where it takes longer than two minutes. Any thread.
Ended run(const Command& command);

}  // namespace lanescope::test
