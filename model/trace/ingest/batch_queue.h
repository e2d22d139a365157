// Passes items from one thread to another, in order and in batches: with many small items, a switch of threads for each would cost more than the items.
// Internal to model/trace.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace lanescope {

// Threads: one thread puts, closes and drains; one takes; either may cancel or fail.
template <typename Item>
class BatchQueue {
 public:
  // The taker is woken once items of this weight are queued; the putter waits once twice as much is, so that memory is bounded.
  explicit BatchQueue(std::size_t batch_weight) : batch_weight_(batch_weight) {}

  // Returns false after cancel(): the item is dropped.
  bool put(Item item, std::size_t weight) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return weight_ < 2 * batch_weight_ || cancelled_; });
    if (failure_) std::rethrow_exception(failure_);
    if (cancelled_) return false;
    items_.push_back(std::move(item));
    const bool was_short = weight_ < batch_weight_;
    weight_ += weight;
    const bool completes_batch = was_short && weight_ >= batch_weight_;
    lock.unlock();
    if (completes_batch) changed_.notify_all();
    return true;
  }

  // No more items come.
  void close() { set(closed_); }
  // The taker gets no more items, and put() no longer waits.
  void cancel() { set(cancelled_); }

  // From now on calls of the other side throw this exception.
  void fail(std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      failure_ = std::move(failure);
      cancelled_ = true;
    }
    changed_.notify_all();
  }

  // Waits for a batch, or for the rest after close(); empty at the end. A call says that the previous batch is done.
  std::vector<Item> take() {
    std::unique_lock lock(mutex_);
    asking_ = true;
    if (draining_ && items_.empty()) changed_.notify_all();
    changed_.wait(lock, [this] { return weight_ >= batch_weight_ || closed_ || cancelled_ || (draining_ && !items_.empty()); });
    if (failure_) std::rethrow_exception(failure_);
    if (cancelled_) return {};
    asking_ = false;
    weight_ = 0;
    std::vector<Item> batch = std::exchange(items_, {});
    lock.unlock();
    changed_.notify_all();
    return batch;
  }

  // Waits until all items that were put are done.
  void drain() {
    std::unique_lock lock(mutex_);
    draining_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return (items_.empty() && asking_) || failure_; });
    draining_ = false;
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void set(bool& state) {
    {
      const std::lock_guard lock(mutex_);
      state = true;
    }
    changed_.notify_all();
  }

  const std::size_t batch_weight_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> items_;
  std::size_t weight_ = 0;
  bool asking_ = false;
  bool draining_ = false;
  bool closed_ = false;
  bool cancelled_ = false;
  std::exception_ptr failure_;
};

}  // namespace lanescope
