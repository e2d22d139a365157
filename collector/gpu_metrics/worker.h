// Threads that do periodic work, and a watch that prevents them from waiting too long for a processor.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "processor_share.h"

namespace lanescope::gpu_metrics {

enum class Due {
  kNo,
  kUrgent,  // it has waited as long as it may
  kAll,     // somebody waits for all of it
};
enum class Round { kDone, kPutOff };  // kPutOff: the work continues to wait

// Does a job on a thread of its own until it is destroyed.
class Worker {
 public:
  struct Job {
    std::chrono::milliseconds period;
    std::function<Round(Due)> sample;  // every period; a job without patience is due only if somebody waits
    std::function<void()> flush;       // several times a second
    std::function<void()> hand_over;   // when everything up to now is asked for, and at the end
    // How long `sample` may wait for a processor, or put itself off, since it was last done; meanwhile the thread uses only idle processors (see
    // processor_share.h). While `sample` runs, the time counts from the previous round. Without this function the thread has a usual share.
    std::function<std::chrono::milliseconds()> patience;
  };

  explicit Worker(Job job);
  // Samples and hands over a last time.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Asks to sample and hand over everything.
  void ask();
  // Returns when that has been done.
  void wait_for_answer();
  [[nodiscard]] bool is_patient() const noexcept { return static_cast<bool>(job_.patience); }
  [[nodiscard]] std::chrono::milliseconds patience() const { return job_.patience(); }
  // Gives the thread a processor if it has waited too long for one. Requires: is_patient(). Never blocks.
  void look_after();

 private:
  void hurry(ProcessorShare share);
  void run();

  Job job_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned asked_ = 0;
  unsigned answered_ = 0;
  bool ends_ = false;
  std::atomic<std::int64_t> last_round_;  // CLOCK_MONOTONIC ns at which the last round was done and waiting for the next began
  std::atomic<pid_t> thread_number_ = 0;  // kernel number of the thread, if it is patient
  std::atomic<bool> hurried_ = false;
  std::thread thread_;  // last: it uses all of the above
};

// Looks after patient workers, several times within the shortest patience.
class Watch {
 public:
  // The workers must outlive the watch.
  explicit Watch(const std::vector<std::unique_ptr<Worker>>& workers);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void run();

  std::vector<Worker*> patient_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace lanescope::gpu_metrics
