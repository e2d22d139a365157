// System calls that the program forbids itself while it is recorded (seccomp(2)), as far as the agent stands before the function by which it does.
//
// What joining a recording takes, filters often end a process for. A process that has such a one does not join any more, nor do its children,
// which inherit it.
#pragma once

#include <atomic>

#include <linux/filter.h>

namespace lanescope::agent {

extern constinit std::atomic<bool> forbids_joining;
inline bool may_join() noexcept { return !forbids_joining.load(std::memory_order_relaxed); }

// The same of asking which file a descriptor is (osrt/file_access.h).
extern constinit std::atomic<bool> forbids_looking_at_files;
inline bool may_look_at_files() noexcept { return !forbids_looking_at_files.load(std::memory_order_relaxed); }

// The same of asking who listens at the session's address (channel/handshake.cpp).
extern constinit std::atomic<bool> forbids_looking_at_session;
inline bool may_look_at_session() noexcept { return !forbids_looking_at_session.load(std::memory_order_relaxed); }

// The same of a link that the agent leaves where it has no descriptor (channel/handshake.cpp).
extern constinit std::atomic<bool> forbids_leaving_links;
inline bool may_leave_links() noexcept { return !forbids_leaving_links.load(std::memory_order_relaxed); }

// Lives around the call that installs a filter: what it is about to forbid counts as forbidden from before it.
class [[nodiscard]] FilterInstallation {
 public:
  FilterInstallation() noexcept
      : before_(forbids_joining.exchange(true)),
        files_before_(forbids_looking_at_files.exchange(true)),
        session_before_(forbids_looking_at_session.exchange(true)),
        links_before_(forbids_leaving_links.exchange(true)) {}
  // To be called behind it. `filter`: what the kernel has taken.
  void has_succeeded(const sock_fprog& filter) noexcept;
  ~FilterInstallation() {
    forbids_joining.store(before_);
    forbids_looking_at_files.store(files_before_);
    forbids_looking_at_session.store(session_before_);
    forbids_leaving_links.store(links_before_);
  }
  FilterInstallation(const FilterInstallation&) = delete;
  FilterInstallation& operator=(const FilterInstallation&) = delete;

 private:
  bool before_;
  bool files_before_;
  bool session_before_;
  bool links_before_;
};

}  // namespace lanescope::agent
