// Turns the raw samples of one GPU into values. Samples wait for a thread that uses only idle processors. If somebody waits for the values, or the
// room for samples is full, several threads evaluate them at once.
//
// CUPTI decodes into an image: bytes of a fixed size, of which few differ from a fresh image if few samples came. Only the differences are kept. An
// image that was made for one pause is evaluated in place, and freed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <vector>

#include "byte_queue.h"

namespace lanescope::gpu_metrics {

// A sample in an image.
struct SampleTime {
  std::size_t index;   // in the image
  std::int64_t begin;  // CLOCK_MONOTONIC ns
  std::int64_t end;
};

struct OwnedImage {
  // Has no bytes if there is not enough memory.
  explicit OwnedImage(std::size_t bytes = 0) : memory(bytes > 0 ? new (std::nothrow) std::uint8_t[bytes] : nullptr), size(memory ? bytes : 0) {}
  [[nodiscard]] std::span<std::uint8_t> bytes() const noexcept { return {memory.get(), size}; }
  std::unique_ptr<std::uint8_t[]> memory;  // its pages are not touched before they are needed
  std::size_t size;
};

class Evaluation {
 public:
  struct Work {
    std::size_t metrics = 0;  // values for each sample
    std::size_t threads = 2;  // at most, including the one on leftovers and the one in a hurry; at least 2
    QueueLimits limits;
    // Computes the values of samples of an image, one row a sample. `thread` is below Work::threads; each number is used by one thread at a time.
    // Returns false if some values are unknown.
    std::function<bool(std::size_t thread, std::span<const std::uint8_t> image, std::span<const SampleTime> samples, std::span<double> values)> evaluate;
    // Called in the order in which samples were added, by one thread at a time. `understood` is false if `evaluate` returned false for some of these
    // samples.
    std::function<void(std::span<const SampleTime> times, std::span<const double> values, bool understood)> take;
  };
  explicit Evaluation(Work work);
  // Evaluates what is left.
  ~Evaluation();
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Takes the samples of an image that was `fresh` before and is made equal to it again. `fresh` must stay unchanged while this object lives. Returns
  // at once, unless there is no room: then it helps until there is. One thread.
  void add(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::vector<SampleTime> times);
  // Returns when no image that was handed over is waiting any more: two of them would take too much memory. Same thread as add().
  void await_image();
  // Takes the samples of an image together with the image. Returns at once. Requires: await_image() was called since the last image. Same thread.
  void add(OwnedImage image, std::vector<SampleTime> times);
  // Evaluates everything that was added with all threads, and returns when it was taken. One thread, not concurrently with add().
  void finish();

  // Number of waiting samples. Any thread.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

 private:
  // The differences of an image from a fresh one; in the queue, the pages' indices are followed by the pages. Or an image, and nothing in the queue.
  struct Block {
    std::span<const std::uint8_t> fresh;
    std::vector<SampleTime> times;
    OwnedImage image;
  };
  enum class State { kNone, kLoading, kEvaluating, kTaking };  // of the block that is being processed

  // Acquires the mutex. If a thread that waits for a processor holds it, that thread first gets a usual share.
  [[nodiscard]] std::unique_lock<std::mutex> acquire();
  void run_on_leftovers();
  void work(std::unique_lock<std::mutex>& lock, std::size_t thread);
  [[nodiscard]] bool has_work() const noexcept;
  [[nodiscard]] bool is_done() const noexcept { return blocks_.empty() && state_ == State::kNone; }
  void load(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool restore_image();  // from the piece of the current block
  void evaluate_unit(std::unique_lock<std::mutex>& lock, std::size_t thread);
  void hand_on(std::unique_lock<std::mutex>& lock);
  // Works with all threads at once until `reached` returns true.
  void hurry(std::unique_lock<std::mutex>& lock, const std::function<bool()>& reached);

  Work work_;
  const bool can_return_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ByteQueue queue_;
  std::deque<Block> blocks_;              // blocks without an image of their own correspond to the pieces in the queue
  bool has_image_ = false;                // an image that was handed over waits or is being evaluated
  std::atomic<std::size_t> waiting_ = 0;  // samples of blocks_ and of the current block
  State state_ = State::kNone;
  Block current_;
  std::vector<std::uint8_t> image_;            // of the current block
  std::span<const std::uint8_t> image_fresh_;  // image_ is a copy of it, except for the pages in applied_
  std::vector<std::byte> piece_;
  std::vector<std::uint32_t> applied_;  // numbers of pages
  std::vector<double> values_;
  std::size_t next_ = 0;     // first sample of the current block that no thread has taken
  std::size_t pending_ = 0;  // threads that evaluate a part of it
  bool understood_ = true;
  bool ends_ = false;
  bool hurries_ = false;
  std::vector<std::byte> packed_;  // used by add()
  std::atomic<pid_t> left_over_thread_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace lanescope::gpu_metrics
