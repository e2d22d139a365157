#include "agent/osrt/filter_calls.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/channel/thread_writer.h"
#include "agent/core/quiet.h"
#include "agent/osrt/trace.h"
#include "agent/process/call_filters.h"

namespace lanescope::agent::osrt {
namespace {

constinit Function real_prctl{"prctl", nullptr};

const sock_fprog* filter_at(long mode, long strict, long place) noexcept {
  return mode == strict ? nullptr : reinterpret_cast<const sock_fprog*>(place);
}

// `install`: returns as system calls do, 0 where it has succeeded; a filter may also answer with a descriptor, or name a thread that could not
// take it over.
template <typename Install>
long install_with(Install install, const sock_fprog* filter) noexcept {
  if (is_active.load(std::memory_order_relaxed) && may_join()) {
    const Quiet quiet;
    static_cast<void>(ThreadWriter());
  }
  FilterInstallation installation;
  const long result = install();
  if (result >= 0) installation.has_succeeded(filter);
  return result;
}

}  // namespace

bool installs_filter(long number, long first) noexcept {
  return (number == SYS_seccomp && (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER)) ||
         (number == SYS_prctl && first == PR_SET_SECCOMP);
}

long install_filter(long (*next)(long, ...), long number, long a, long b, long c, long d, long e) noexcept {
  const sock_fprog* const filter =
      number == SYS_prctl ? filter_at(b, SECCOMP_MODE_STRICT, c) : filter_at(a, SECCOMP_SET_MODE_STRICT, c);
  return install_with([&] { return next(number, a, b, c, d, e); }, filter);
}

}  // namespace lanescope::agent::osrt

using lanescope::agent::osrt::real_prctl;

extern "C" __attribute__((visibility("hidden"))) int own_prctl(int option, long a, long b, long c, long d) {
  const auto next = reinterpret_cast<int (*)(int, long, long, long, long)>(real_prctl.address());
  if (option != PR_SET_SECCOMP) return next(option, a, b, c, d);
  return static_cast<int>(lanescope::agent::osrt::install_with([&] { return next(option, a, b, c, d); },
                                                               lanescope::agent::osrt::filter_at(a, SECCOMP_MODE_STRICT, b)));
}
extern "C" __attribute__((visibility("default"), alias("own_prctl"))) int lanescope_prctl(int, long, long, long, long) __asm__("prctl");

lanescope::agent::Redirection lanescope::agent::osrt::redirected_prctl() noexcept {
  return {"prctl", real_prctl.address(), reinterpret_cast<void*>(&own_prctl)};
}

// While the agent is loaded, as in wrappers.cpp.
__attribute__((constructor)) static void find_prctl() { real_prctl.address(); }
