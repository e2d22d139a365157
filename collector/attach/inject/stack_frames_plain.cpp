// Without libdw: only the innermost frame. The safe point is then determined by the system call in which a thread waits.
#include "collector/attach/memory_map.h"
#include "inject/stack_frames.h"

namespace lanescope::attach {

struct StackFrames::Session {
  std::vector<Mapping> map;
};

StackFrames::StackFrames(pid_t process, const RemoteMemory&) : session_(std::make_unique<Session>()) {
  session_->map = read_memory_map(process).value_or(std::vector<Mapping>());
}
StackFrames::~StackFrames() = default;

CallStack StackFrames::of(pid_t, const user_regs_struct& registers) {
  Frame frame{registers.rip, {}, {}};
  for (const Mapping& mapping : session_->map)
    if (mapping.contains(registers.rip)) frame.file = mapping.path;
  return {{frame}, StackExtent::kPart};
}

}  // namespace lanescope::attach
