// What a command has said about what went wrong while it ran, so that its end says the rest, and nothing twice.
//
// There is one object, for the command that runs: run() resets it, fail() and commands add to it. Only the command's thread uses it.
#pragma once

#include <string>
#include <vector>

namespace lanescope::cli {

class Told {
 public:
  static Told& of_command();

  // Called when a command starts: forgets what an earlier command in this process said.
  void begin();
  // Adds a sentence that was written to standard error, or for which another one there stands.
  void add(std::string sentence);
  // Notes that a command that needs no events has said which frames are damaged.
  void add_damage() noexcept;
  // What could not be read of events (SegmentCache), as far as it was not said yet. The next call does not return it again.
  [[nodiscard]] std::vector<std::string> left();

 private:
  std::vector<std::string> sentences_;
  bool damage_ = false;
};

}  // namespace lanescope::cli
