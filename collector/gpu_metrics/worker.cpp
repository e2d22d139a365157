#include "worker.h"

#include <algorithm>
#include <utility>

#include "collector/channel/clock.h"

namespace lanescope::gpu_metrics {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestPause = 25ms;  // between looks, because patience may become shorter meanwhile
constexpr auto kFramePeriod = 120ms;  // a viewer of the live recording gets several updates a second

}  // namespace

Worker::Worker(Job job) : job_(std::move(job)), last_round_(channel::monotonic_now()), thread_([this] { run(); }) {}

Worker::~Worker() {
  hurry(ProcessorShare::kUsual);  // the thread may hold the mutex and have no processor
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  hurry(ProcessorShare::kUsual);
  changed_.notify_all();
  thread_.join();
}

void Worker::ask() {
  hurry(ProcessorShare::kUsual);
  const std::lock_guard lock(mutex_);
  ++asked_;
  changed_.notify_all();
}

void Worker::wait_for_answer() {
  constexpr auto kUsual = 50ms;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kUsual, [this] { return answered_ == asked_; })) hurry(ProcessorShare::kUsual);
}

void Worker::look_after() {
  const std::chrono::nanoseconds waited(channel::monotonic_now() - last_round_.load());
  if (waited > job_.patience()) hurry(ProcessorShare::kUrgent);
}

void Worker::hurry(ProcessorShare share) {
  const pid_t number = thread_number_.load();
  if (is_patient() && number != 0 && set_share(number, share)) hurried_ = true;
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  if (is_patient()) {
    thread_number_ = this_thread();
    if (!ends_) set_share(thread_number_, ProcessorShare::kLeftOver);
  }
  const int rounds_per_frame = static_cast<int>(std::max<std::int64_t>(kFramePeriod / job_.period, 1));
  bool is_done = true;
  bool is_last = false;
  for (int round = 1; !is_last; ++round) {
    if (is_done) last_round_ = channel::monotonic_now();
    changed_.wait_for(lock, job_.period, [this] { return ends_ || answered_ != asked_; });
    const unsigned asked = asked_;
    is_last = ends_;  // if the end was requested while a round ran, it gets a round of its own
    const bool hands_over = is_last || answered_ != asked;
    lock.unlock();
    is_done = job_.sample(hands_over ? Due::kAll : hurried_.load() ? Due::kUrgent : Due::kNo) == Round::kDone;
    if (hands_over) {
      job_.hand_over();
    } else if (round % rounds_per_frame == 0) {
      job_.flush();
    }
    lock.lock();
    answered_ = asked;
    if (!ends_ && hurried_.exchange(false)) set_share(thread_number_, ProcessorShare::kLeftOver);
    changed_.notify_all();
  }
}

Watch::Watch(const std::vector<std::unique_ptr<Worker>>& workers) {
  for (const auto& worker : workers)
    if (worker->is_patient()) patient_.push_back(worker.get());
  if (!patient_.empty()) thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watch::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    std::chrono::milliseconds shortest = 1s;
    for (const Worker* worker : patient_) shortest = std::min(shortest, worker->patience());
    changed_.wait_for(lock, std::clamp<std::chrono::milliseconds>(shortest / 4, 5ms, kLongestPause), [this] { return ends_; });
    for (Worker* worker : patient_) worker->look_after();
  }
}

}  // namespace lanescope::gpu_metrics
