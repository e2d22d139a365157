// The call stack of a stopped thread of another process.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inject/remote_memory.h"

namespace lanescope::attach {

struct Frame {
  std::uint64_t address = 0;
  std::string function;  // empty if the file has no name for this address
  std::string file;      // path of the loaded file; empty for code that belongs to no file
};

enum class StackExtent { kWhole, kPart };  // whether the stack could be followed to its beginning

struct CallStack {
  std::vector<Frame> frames;  // innermost first; at least one
  StackExtent extent = StackExtent::kPart;
};

// Follows stacks by the unwind tables of the files that were loaded when this object was made. If this build has no libdw, a stack consists of its
// innermost frame, without a name.
class StackFrames {
 public:
  StackFrames(pid_t process, const RemoteMemory& memory);
  ~StackFrames();
  StackFrames(const StackFrames&) = delete;
  StackFrames& operator=(const StackFrames&) = delete;

  CallStack of(pid_t thread, const user_regs_struct& registers);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace lanescope::attach
