// A program that has asked for its own recording (collector/attach/from_inside.h), as our Python package does. It is told about the recording through a pipe.
//
// Each record is a word, a space, a value, and a zero byte. If the pipe ends without an `end`, the recorder was killed.
//   recorder PID   once, first: this process
//   file PATH      for each file, once it is whole; the bytes that the file system has
//   lost TEXT      what the recording lacks, a record for each reason
//   end CODE       last: the code that this process exits with
#pragma once

#include <string_view>

namespace lanescope::cli {

class AskingProgram {
 public:
  // `pipe`: -1 for a program that wants to be told nothing; this process then stays its child. Otherwise this process, which the program has started, ends at
  // once, and a child of it continues in its place: the program does not wait for it when it waits for its children. Must be made before threads are started.
  // If no process can be made, this one continues as the program's child.
  explicit AskingProgram(int pipe);
  AskingProgram(const AskingProgram&) = delete;
  AskingProgram& operator=(const AskingProgram&) = delete;
  ~AskingProgram();

  void tell(std::string_view word, std::string_view value) const;

 private:
  int pipe_;
};

}  // namespace lanescope::cli
