#include "processor_share.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <thread>

#include "collector/channel/clock.h"

namespace lanescope::gpu_metrics {

bool set_share(pid_t thread, ProcessorShare share) noexcept {
  constexpr int kUrgentNiceness = -10;  // gets nine tenths of a processor that another thread wants too
  static const int own_niceness = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
  const sched_param parameters{};
  if (sched_setscheduler(thread, share == ProcessorShare::kLeftOver ? SCHED_IDLE : SCHED_OTHER, &parameters) != 0) return false;
  if (share != ProcessorShare::kLeftOver)
    setpriority(PRIO_PROCESS, static_cast<id_t>(thread), share == ProcessorShare::kUrgent ? kUrgentNiceness : own_niceness);
  return true;
}

bool can_return_from_left_over() {
  bool returned = false;
  std::thread([&returned] { returned = set_share(this_thread(), ProcessorShare::kLeftOver) && set_share(this_thread(), ProcessorShare::kUsual); }).join();
  return returned;
}

std::int64_t processor_time() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_left_alone() noexcept {
  constexpr std::int64_t kMoment = 500'000;  // ns
  const std::int64_t begin = channel::monotonic_now();
  const std::int64_t used = processor_time();
  const auto passed = [begin] { return channel::monotonic_now() - begin; };
  while (processor_time() - used < kMoment && passed() < 2 * kMoment) {
  }
  return passed() < kMoment * 3 / 2;
}

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

}  // namespace lanescope::gpu_metrics
