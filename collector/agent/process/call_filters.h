// System calls that the program forbids itself while it is recorded (seccomp(2)). The agent knows of a filter only if it stands before the function that
// installs it.
//
// A filter often ends a process for the calls that joining a recording needs. A process with such a filter does not join any more, and neither do its children,
// which inherit the filter.
#pragma once

#include <atomic>
#include <cstddef>

#include <linux/filter.h>

namespace lanescope::agent {

extern constinit std::atomic<bool> forbids_joining;
inline bool may_join() noexcept { return !forbids_joining.load(std::memory_order_relaxed); }

// The same for asking which file a descriptor is (osrt/file_access.h).
extern constinit std::atomic<bool> forbids_looking_at_files;
inline bool may_look_at_files() noexcept { return !forbids_looking_at_files.load(std::memory_order_relaxed); }

// The same for asking who listens at the session's address (channel/handshake.cpp).
extern constinit std::atomic<bool> forbids_looking_at_session;
inline bool may_look_at_session() noexcept { return !forbids_looking_at_session.load(std::memory_order_relaxed); }

// The same for the link that the agent leaves if it has no descriptor (channel/handshake.cpp).
extern constinit std::atomic<bool> forbids_leaving_links;
inline bool may_leave_links() noexcept { return !forbids_leaving_links.load(std::memory_order_relaxed); }

// The same for holding signals for a moment (process/held_signals.h), for looking at files that the program loads (core/loader/, attach/late_nvtx.h), and for
// looking for children that were forked during a set-up (nvtx/orphans.h).
extern constinit std::atomic<bool> forbids_holding_signals;
inline bool may_hold_signals() noexcept { return !forbids_holding_signals.load(std::memory_order_relaxed); }
extern constinit std::atomic<bool> forbids_looking_at_loaded_files;
inline bool may_look_at_loaded_files() noexcept { return !forbids_looking_at_loaded_files.load(std::memory_order_relaxed); }
extern constinit std::atomic<bool> forbids_looking_for_children;
inline bool may_look_for_children() noexcept { return !forbids_looking_for_children.load(std::memory_order_relaxed); }

// The same for asking which process and thread this is (process/forks.h, process/this_thread.h).
extern constinit std::atomic<bool> forbids_asking_for_numbers;
inline bool may_ask_for_numbers() noexcept { return !forbids_asking_for_numbers.load(std::memory_order_relaxed); }

// The same for what the loader does, beyond what it does for any program, to bring the agent into the programs that this process becomes, and for what the
// agent does while it is loaded there.
extern constinit std::atomic<bool> forbids_coming_into_programs;
inline bool may_come_into_programs() noexcept { return !forbids_coming_into_programs.load(std::memory_order_relaxed); }

// True if a thread of the agent's own would survive this filter, if the filter holds for all threads.
bool spares_own_threads(const sock_fprog& filter) noexcept;

// False if one of these is forbidden. Then the programs that this process becomes are left alone (earlier_filters.h).
[[nodiscard]] bool may_do_all() noexcept;

// For a process with filters that nobody has examined (earlier_filters.h).
void forbid_all() noexcept;

// Lives around the call that installs a filter. Before the call, everything that the filter may forbid already counts as forbidden.
class [[nodiscard]] FilterInstallation {
 public:
  FilterInstallation() noexcept;
  // Must be called after the call has succeeded. `filter`: the filter that the kernel has accepted.
  void has_succeeded(const sock_fprog& filter) noexcept;
  ~FilterInstallation();
  FilterInstallation(const FilterInstallation&) = delete;
  FilterInstallation& operator=(const FilterInstallation&) = delete;

 private:
  static constexpr std::size_t kPurposes = 9;
  bool forbidden_[kPurposes];  // after the filter is installed
};

}  // namespace lanescope::agent
