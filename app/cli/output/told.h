// What a command has told of what went wrong while it ran, so that its end tells the rest, and nothing twice.
//
// There is one, of the command that runs: run() begins it, fail() and commands add to it. The thread of the command alone uses it.
#pragma once

#include <string>
#include <vector>

namespace lanescope::cli {

class Told {
 public:
  static Told& of_command();

  // A command begins: what one before it told in this process is forgotten.
  void begin();
  // A sentence on standard error.
  void add(std::string sentence);
  // Which frames are damaged, by a command that needs no events.
  void add_damage() noexcept;
  // What could not be read of events (SegmentCache), as far as it is not told. The next call does not say it again.
  [[nodiscard]] std::vector<std::string> left();

 private:
  std::vector<std::string> sentences_;
  bool damage_ = false;
};

}  // namespace lanescope::cli
