// What becomes of the raw samples of one GPU: they wait until a thread that runs on what others leave of the processors has turned them into
// values, or until somebody waits for the values, or their room is full; then several threads do so at once.
//
// CUPTI decodes into an image: bytes of a fixed size, of which few differ from a fresh image's where few samples came. Those are kept. An image
// that was made for one pause is evaluated where it lies, and freed.
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
  // Of no bytes where there is no memory for so many.
  explicit OwnedImage(std::size_t bytes = 0) : memory(bytes > 0 ? new (std::nothrow) std::uint8_t[bytes] : nullptr), size(memory ? bytes : 0) {}
  [[nodiscard]] std::span<std::uint8_t> bytes() const noexcept { return {memory.get(), size}; }
  std::unique_ptr<std::uint8_t[]> memory;  // not touched before it is needed
  std::size_t size;
};

class Evaluation {
 public:
  struct Work {
    std::size_t metrics = 0;  // values of a sample
    std::size_t threads = 2;  // at most, the one on leftovers and the one that is in a hurry included; at least 2
    QueueLimits limits;
    // Values of samples of an image, one row a sample; `thread` is below Work::threads, and each is of one thread at a time. False where some
    // are unknown.
    std::function<bool(std::size_t thread, std::span<const std::uint8_t> image, std::span<const SampleTime> samples, std::span<double> values)> evaluate;
    // In the order in which samples were added, one thread at a time; `understood`: false where `evaluate` was for some of these samples.
    std::function<void(std::span<const SampleTime> times, std::span<const double> values, bool understood)> take;
  };
  explicit Evaluation(Work work);
  // Evaluates what is left.
  ~Evaluation();
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Takes the samples of an image that began as `fresh`, and is so again afterwards; `fresh` must stay as it is as long as this lives. Returns
  // at once, unless there is no room: then it helps until there is. One thread.
  void add(std::span<const std::uint8_t> fresh, std::span<std::uint8_t> image, std::vector<SampleTime> times);
  // Returns once no image that was handed over waits any more: two of them would take too much memory. The same thread.
  void await_image();
  // Takes the samples of an image, and the image. Returns at once. Requires: await_image() since the last one. The same thread.
  void add(OwnedImage image, std::vector<SampleTime> times);
  // Returns once all that was added has been evaluated and taken, with all threads. One thread, not beside add().
  void finish();

  // Samples that wait. Any thread.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

 private:
  // Of an image, what differs from a fresh one: the pages' numbers stand in front of the pages, in the queue. Or an image, and nothing there.
  struct Block {
    std::span<const std::uint8_t> fresh;
    std::vector<SampleTime> times;
    OwnedImage image;
  };
  enum class State { kNone, kLoading, kEvaluating, kTaking };  // of the block that threads work on

  // Takes the mutex, from a thread that waits for a processor where that has it.
  [[nodiscard]] std::unique_lock<std::mutex> acquire();
  void run_on_leftovers();
  void work(std::unique_lock<std::mutex>& lock, std::size_t thread);
  [[nodiscard]] bool has_work() const noexcept;
  [[nodiscard]] bool is_done() const noexcept { return blocks_.empty() && state_ == State::kNone; }
  void load(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool restore_image();  // of the current block, from its piece
  void evaluate_unit(std::unique_lock<std::mutex>& lock, std::size_t thread);
  void hand_on(std::unique_lock<std::mutex>& lock);
  // With all threads at once, until `reached` holds.
  void hurry(std::unique_lock<std::mutex>& lock, const std::function<bool()>& reached);

  Work work_;
  const bool can_return_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ByteQueue queue_;
  std::deque<Block> blocks_;              // those without an image of theirs are as many as there are pieces in the queue
  bool has_image_ = false;                // one that was handed over waits, or is evaluated
  std::atomic<std::size_t> waiting_ = 0;  // samples of blocks_ and of the current block
  State state_ = State::kNone;
  Block current_;
  std::vector<std::uint8_t> image_;            // of the current block
  std::span<const std::uint8_t> image_fresh_;  // what image_ is a copy of, but for applied_
  std::vector<std::byte> piece_;
  std::vector<std::uint32_t> applied_;  // numbers of pages
  std::vector<double> values_;
  std::size_t next_ = 0;     // sample of the current block that no thread has taken on
  std::size_t pending_ = 0;  // threads that evaluate a part of it
  bool understood_ = true;
  bool ends_ = false;
  bool hurries_ = false;
  std::vector<std::byte> packed_;  // of add()
  std::atomic<pid_t> left_over_thread_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace lanescope::gpu_metrics
