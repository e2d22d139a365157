// Recorded processes that run although nothing leads to them any more: a daemon that has closed all descriptors holds no connection to us and no pipe of its
// output, until its next event, at which it reports anew.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <functional>
#include <vector>

#include "file_descriptor.h"

namespace lanescope::session {

class Survivors {
 public:
  // True if such processes run. `find`: returns the numbers of all that may; called only if none is known to run.
  [[nodiscard]] bool look(const std::function<std::vector<pid_t>()>& find);
  // True if one ran at the last look.
  [[nodiscard]] bool are_known() const noexcept { return !processes_.empty(); }
  // What to wait for.
  void add_sources(std::vector<pollfd>& sources) const;

 private:
  std::vector<FileDescriptor> processes_;
};

}  // namespace lanescope::session
