#include "processes/heirs.h"

#include <sys/socket.h>

#include <utility>

namespace lanescope::session {

Heirs::Heirs(std::string parent, std::unique_ptr<TargetMemory> memory, FileDescriptor connection, std::uint32_t known)
    : parent_(std::move(parent)), memory_(std::move(memory)), connection_(std::move(connection)), known_(known) {}

bool Heirs::look(UnfollowedProcesses& unfollowed) {
  char nothing = 0;
  const bool is_over = recv(connection_.get(), &nothing, 1, MSG_DONTWAIT) == 0;
  take_word_of_lost(memory_->shared().header().status.lost_children, known_, parent_, unfollowed);
  return !is_over;
}

void take_word_of_lost(const channel::LostChildren& lost, std::uint32_t& known, const std::string& parent, UnfollowedProcesses& unfollowed) {
  const std::uint32_t count = lost.count.load(std::memory_order_acquire);
  if (count <= known) return;
  for (; known < count && known < channel::LostChildren::kNamed; ++known) {
    const channel::LostChildren::Child& child = lost.named[known];
    const std::int32_t process = child.process.load(std::memory_order_acquire);
    if (process == 0) return;  // it is about to write its number
    const std::string number = "[" + std::to_string(process) + "]";
    const bool is_parent = parent.starts_with(number);  // which became another program
    unfollowed.add(is_parent ? parent : number + " child of " + parent, reason_of(child.problem.load(std::memory_order_relaxed)),
                   is_parent ? UnfollowedProcesses::Missing::kPart : UnfollowedProcesses::Missing::kAll);
  }
  unfollowed.add(std::uint64_t{count - known});
  known = count;
}

}  // namespace lanescope::session
