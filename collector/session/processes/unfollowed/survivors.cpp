#include "processes/unfollowed/survivors.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace lanescope::session {
namespace {

bool has_ended(const FileDescriptor& process) {
  pollfd state{process.get(), POLLIN, 0};
  return poll(&state, 1, 0) == 1;
}

}  // namespace

bool Survivors::look(const std::function<std::vector<pid_t>()>& find) {
  std::erase_if(processes_, has_ended);
  if (!processes_.empty()) return true;
  for (const pid_t pid : find()) {
    FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (process.valid() && !has_ended(process)) processes_.push_back(std::move(process));
  }
  return !processes_.empty();
}

void Survivors::add_sources(std::vector<pollfd>& sources) const {
  for (const FileDescriptor& process : processes_) sources.push_back({process.get(), POLLIN, 0});
}

}  // namespace lanescope::session
