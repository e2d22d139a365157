// System calls that the program forbids itself while it is recorded (seccomp(2)), as far as the agent stands before the function by which it does.
//
// What joining a recording takes, filters often end a process for. A process that has such a one does not join any more, nor do its children,
// which inherit it.
#pragma once

#include <atomic>
#include <cstddef>

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

// The same of holding signals for a moment (process/held_signals.h); of looking at files that the program loads (core/loader/, attach/late_nvtx.h); and of
// looking for children that were forked in the midst of a set-up (nvtx/orphans.h).
extern constinit std::atomic<bool> forbids_holding_signals;
inline bool may_hold_signals() noexcept { return !forbids_holding_signals.load(std::memory_order_relaxed); }
extern constinit std::atomic<bool> forbids_looking_at_loaded_files;
inline bool may_look_at_loaded_files() noexcept { return !forbids_looking_at_loaded_files.load(std::memory_order_relaxed); }
extern constinit std::atomic<bool> forbids_looking_for_children;
inline bool may_look_for_children() noexcept { return !forbids_looking_for_children.load(std::memory_order_relaxed); }

// Whether a thread of the agent's own would live on behind this filter, where that holds for all threads.
bool spares_own_threads(const sock_fprog& filter) noexcept;

// Lives around the call that installs a filter: what it is about to forbid counts as forbidden from before it.
class [[nodiscard]] FilterInstallation {
 public:
  FilterInstallation() noexcept;
  // To be called behind it. `filter`: what the kernel has taken.
  void has_succeeded(const sock_fprog& filter) noexcept;
  ~FilterInstallation();
  FilterInstallation(const FilterInstallation&) = delete;
  FilterInstallation& operator=(const FilterInstallation&) = delete;

 private:
  static constexpr std::size_t kPurposes = 7;
  bool forbidden_[kPurposes];  // behind it
};

}  // namespace lanescope::agent
