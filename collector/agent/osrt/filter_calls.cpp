#include "agent/osrt/filter_calls.h"

#include <cstdio>

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/attach/attachment.h"
#include "agent/attach/late_nvtx.h"
#include "agent/channel/membership.h"
#include "agent/channel/thread_writer.h"
#include "agent/core/faults/fault_guard.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"
#include "agent/osrt/trace.h"
#include "agent/process/call_filters.h"
#include "agent/process/earlier_filters.h"
#include "agent/process/forks.h"
#include "agent/process/this_thread.h"

namespace lanescope::agent::osrt {
namespace {

constinit Function real_prctl{"prctl", nullptr};
constinit thread_local bool has_uncounted_filter = false;

// The filter may be null: programs pass no filter to find out if filters are supported.
struct Wanted {
  enum class Mode { kStrict, kFilter } mode;
  const sock_fprog* filter = nullptr;
  bool is_for_all_threads = false;
  bool returns_descriptor = false;

  Wanted(long asked, long strict, long place, long flags = 0) noexcept
      : mode(asked == strict ? Mode::kStrict : Mode::kFilter),
        filter(reinterpret_cast<const sock_fprog*>(place)),
        is_for_all_threads((flags & SECCOMP_FILTER_FLAG_TSYNC) != 0),
        returns_descriptor((flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0) {}

  // `result`: of the call. Where a filter is for all threads, a positive one names a thread that could not take it over; then none has.
  [[nodiscard]] bool has_failed(long result) const noexcept { return result < 0 || (result > 0 && is_for_all_threads && !returns_descriptor); }
};

void tell_of_strict_mode() noexcept {
  const Quiet quiet;
  char text[160];
  const int length = std::snprintf(
      text, sizeof(text), "Thread %u is not recorded from here on: it asks for seccomp's strict mode, in which it may not look at a clock.", this_thread_id());
  report(Component::kOsRuntime, ComponentState::kFailed, Severity::kWarning, {text, static_cast<std::size_t>(length)});
}

// The strict mode holds only for the calling thread, which has no clock then; any system call of the agent would end it.
template <typename Install>
long begin_strict_mode(Install install) noexcept {
  if (may_join() && system::system_call(SYS_prctl, PR_GET_SECCOMP) == 0) tell_of_strict_mode();
  const long result = install();
  if (result < 0) return result;
  Quiet::this_thread();
  ThreadWriter::leave_thread();
  return result;
}

// The agent's own thread may be in the way. The filter is read here before the kernel has accepted it, so its address may be invalid.
void make_way_for(const Wanted& wanted) noexcept {
  if (!wanted.is_for_all_threads || !may_look_at_loaded_files()) return;
  bool spares_them = true;
  const Guarded read = run_guarded([&] { spares_them = wanted.filter == nullptr || spares_own_threads(*wanted.filter); });
  if (read == Guarded::kDone && !spares_them) attach::end_service();
}

// `install`: returns as system calls do.
template <typename Install>
long install_with(Install install, const Wanted& wanted) noexcept {
  if (may_join()) {
    const Quiet quiet;
    if (may_look_at_loaded_files()) attach::set_nvtx_up();
    static_cast<void>(ThreadWriter());
  }
  if (wanted.mode == Wanted::Mode::kStrict) return begin_strict_mode(install);
  if (may_join() && !is_own_process()) return install();  // it holds for the child of a vfork, but not for its parent
  make_way_for(wanted);
  const bool holds_for_all_threads = wanted.is_for_all_threads || is_only_thread();
  long result = 0;
  {
    FilterInstallation installation;
    result = install();
    if (wanted.has_failed(result) || wanted.filter == nullptr) return result;
    installation.has_succeeded(*wanted.filter);
  }
  if (!may_do_all())
    keep_libraries_out_of_programs();
  else if (holds_for_all_threads)
    note_harmless_filter();
  else
    has_uncounted_filter = true;
  return result;
}

}  // namespace

bool has_filter_of_its_own() noexcept { return has_uncounted_filter; }

bool installs_filter(long number, long first) noexcept {
  return (number == SYS_seccomp && (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER)) || (number == SYS_prctl && first == PR_SET_SECCOMP);
}

long install_filter(long (*next)(long, ...), long number, long a, long b, long c, long d, long e) noexcept {
  const Wanted wanted = number == SYS_prctl ? Wanted(b, SECCOMP_MODE_STRICT, c) : Wanted(a, SECCOMP_SET_MODE_STRICT, c, b);
  return install_with([&] { return next(number, a, b, c, d, e); }, wanted);
}

}  // namespace lanescope::agent::osrt

using lanescope::agent::osrt::real_prctl;

extern "C" __attribute__((visibility("hidden"))) int own_prctl(int option, long a, long b, long c, long d) {
  const auto next = reinterpret_cast<int (*)(int, long, long, long, long)>(real_prctl.address());
  if (option != PR_SET_SECCOMP) return next(option, a, b, c, d);
  return static_cast<int>(
      lanescope::agent::osrt::install_with([&] { return next(option, a, b, c, d); }, lanescope::agent::osrt::Wanted(a, SECCOMP_MODE_STRICT, b)));
}
extern "C" __attribute__((visibility("default"), alias("own_prctl"))) int lanescope_prctl(int, long, long, long, long) __asm__("prctl");

lanescope::agent::Redirection lanescope::agent::osrt::redirected_prctl() noexcept { return real_prctl.redirected_to(&own_prctl); }

// While the agent is loaded, as in wrappers.cpp.
__attribute__((constructor)) static void find_prctl() { real_prctl.address(); }
