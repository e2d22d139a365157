#include "worker.h"

#include <sched.h>

#include "collector/channel/clock.h"
#include "processor_share.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;
using namespace std::chrono_literals;

namespace {

// Works until its thread has the usual share of processor time; false if that has not happened within 60 s.
bool works_until_usual() {
  const std::int64_t deadline = channel::monotonic_now() + 60'000'000'000;
  while (sched_getscheduler(0) != SCHED_OTHER)
    if (channel::monotonic_now() > deadline) return false;
  return true;
}

}  // namespace

TEST_CASE("a worker that has waited too long for a processor takes one, and gives it back") {
  if (!can_return_from_left_over()) {
    WARN("threads may not be made usual again here: skipped");
    return;
  }
  std::atomic<int> patient_rounds = 0, hurried_rounds = 0;
  std::vector<std::unique_ptr<Worker>> workers;
  workers.push_back(std::make_unique<Worker>(Worker::Job{1ms,
                                                         [&](Due) {
                                                           if (sched_getscheduler(0) == SCHED_IDLE) ++patient_rounds;
                                                           if (works_until_usual()) ++hurried_rounds;
                                                           return Round::kDone;
                                                         },
                                                         [] {}, [] {}, [] { return 10ms; }}));
  {
    const Watch watch(workers);
    // On a busy machine, it may wait too long even before a round.
    const auto have_seen_enough = [&] { return hurried_rounds >= 3 && patient_rounds >= 2; };
    for (const std::int64_t deadline = channel::monotonic_now() + 60'000'000'000; !have_seen_enough() && channel::monotonic_now() < deadline;)
      std::this_thread::sleep_for(1ms);
  }
  workers.clear();
  CHECK(hurried_rounds >= 3);
  CHECK(patient_rounds >= 2);
}

TEST_CASE("who asks a patient worker is answered, and the last round hands over") {
  int samples = 0, handed_over = 0;
  {
    Worker worker({1h,
                   [&](Due due) {
                     samples += due == Due::kAll ? 1 : 100;
                     return Round::kDone;
                   },
                   [] {}, [&] { ++handed_over; }, can_return_from_left_over() ? [] { return 1h; } : std::function<std::chrono::milliseconds()>()});
    for (int i = 1; i <= 5; ++i) {
      worker.ask();
      worker.wait_for_answer();
      CHECK(handed_over == i);
    }
  }
  CHECK(samples == 6);
  CHECK(handed_over == 6);
}

TEST_CASE("the end that is asked for while a round runs has a round of its own, and hands over") {
  std::atomic<bool> runs = false, ends = false;
  int last_rounds = 0, handed_over = 0;
  {
    auto worker = std::make_unique<Worker>(Worker::Job{1ms,
                                                       [&](Due due) {
                                                         runs = true;
                                                         if (due == Due::kAll) ++last_rounds;
                                                         // Long enough that the end is requested meanwhile.
                                                         if (due != Due::kAll && ends) std::this_thread::sleep_for(100ms);
                                                         return Round::kDone;
                                                       },
                                                       [] {},
                                                       [&] { ++handed_over; },
                                                       {}});
    ends = true;
    runs = false;
    while (!runs) std::this_thread::yield();
  }
  CHECK(last_rounds == 1);
  CHECK(handed_over == 1);
}

TEST_CASE("a round that is put off is due once its patience is over, and not before it was done once more") {
  if (!can_return_from_left_over()) return;
  std::atomic<int> put_off = 0, due_rounds = 0;
  std::vector<std::unique_ptr<Worker>> workers;
  workers.push_back(std::make_unique<Worker>(Worker::Job{1ms,
                                                         [&](Due due) {
                                                           ++(due == Due::kUrgent ? due_rounds : put_off);
                                                           return due == Due::kUrgent ? Round::kDone : Round::kPutOff;
                                                         },
                                                         [] {}, [] {}, [] { return 60ms; }}));
  const Watch watch(workers);
  const std::int64_t begin = channel::monotonic_now();
  while (due_rounds < 3) std::this_thread::sleep_for(1ms);
  CHECK(channel::monotonic_now() - begin >= 3 * 60'000'000);
}
