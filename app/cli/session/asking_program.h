// A program that has asked for its own recording (collector/attach/from_inside.h), as our Python package does: what it is told of it, on a pipe.
//
// Each record is a word, a space, a value, and a byte of zero. The pipe's end without an `end` says that the recorder was killed.
//   recorder PID   once, first: this process
//   file PATH      for each file, once it is whole; the bytes that the file system has
//   lost TEXT      what the recording lacks, a record for each reason
//   end CODE       last: the code that this process exits with
#pragma once

#include <string_view>

namespace lanescope::cli {

class AskingProgram {
 public:
  // `pipe`: -1 for a program that wants to be told nothing, which then stays the parent. Else this process, which the program has started, ends
  // at once, and a child of it goes on in its place: what is no child of the program is not waited for where the program waits for its
  // children. Before threads are started. Where no process can be made, this one goes on as the program's child.
  explicit AskingProgram(int pipe);
  AskingProgram(const AskingProgram&) = delete;
  AskingProgram& operator=(const AskingProgram&) = delete;
  ~AskingProgram();

  void tell(std::string_view word, std::string_view value) const;

 private:
  int pipe_;
};

}  // namespace lanescope::cli
