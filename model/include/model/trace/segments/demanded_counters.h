// Values of counters of a compacted file, which are decoded when they are needed. They stay in the same cache as segments of lanes, within its budget
// (demanded_segments.h, docs/adr/0019-segments-on-demand.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/trace/counter.h"

namespace lanescope {

class Trace;

// Counters that are read together. Their samples are in blocks, each of which is a segment of every counter. Summaries of whole segments are known without
// decoding anything.
//
// Threads: any number may call any function at once.
class DemandedCounters : public std::enable_shared_from_this<DemandedCounters> {
 public:
  struct Block {
    std::size_t first = 0;  // position of its first sample in each counter
    std::size_t count = 0;  // samples
    TimeRange extent;       // from its first sample to the end of its last
  };

  // `summaries` has one for each counter of the first block, then those of the second. Requires: blocks are not empty, and each begins, in time and position,
  // where the one before ends; there is at least one block, and one counter.
  DemandedCounters(std::size_t members, std::vector<Block> blocks, std::vector<CounterSummary> summaries);
  virtual ~DemandedCounters();
  DemandedCounters(const DemandedCounters&) = delete;
  DemandedCounters& operator=(const DemandedCounters&) = delete;

  [[nodiscard]] std::size_t members() const noexcept { return members_; }
  [[nodiscard]] std::span<const Block> blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::size_t size() const noexcept { return blocks_.back().first + blocks_.back().count; }  // samples of each counter
  [[nodiscard]] const CounterSummary& summary(std::size_t block, std::size_t member) const noexcept { return summaries_[block * members_ + member]; }

  // The segment, for as long as the caller holds it. O(1) if it is in the cache. Otherwise O(samples of the block): it is read and decoded, which may wait for
  // the disk. A segment that can't be read is replaced by as many samples without a value, and the cache knows the reason.
  [[nodiscard]] std::shared_ptr<const CounterSegment> held(std::size_t block, std::size_t member) const noexcept;
  // As held(), but read again and not put into the cache, and null if it can't be read: for callers that make another segment of it.
  [[nodiscard]] std::shared_ptr<const CounterSegment> read_apart(std::size_t block, std::size_t member) const { return read(block, member); }
  // As held() if it is in the cache; else null. O(1).
  [[nodiscard]] std::shared_ptr<const CounterSegment> at_hand(std::size_t block, std::size_t member) const noexcept;

  // True if a segment was replaced because it can't be read, or for lack of memory.
  [[nodiscard]] bool has_unreadable() const noexcept { return has_unreadable_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool lacked_memory() const noexcept { return lacked_memory_.load(std::memory_order_relaxed); }
  // The sentence that the cache was told about segments that can't be read.
  [[nodiscard]] virtual std::string damage_text() const = 0;
  // Of what is known without decoding anything.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return sizeof(*this) + blocks_.capacity() * sizeof(Block) + summaries_.capacity() * sizeof(CounterSummary);
  }

 protected:
  using Times = std::shared_ptr<const std::vector<Nanoseconds>>;
  // The times of a block, which all of its segments share: from the cache, or decoded.
  [[nodiscard]] Times times(std::size_t block, const std::function<Times()>& decode) const;
  // A number of the block that no other of this process ever has.
  [[nodiscard]] std::uint64_t identity(std::size_t block) const noexcept { return first_identity_ + block * (members_ + 1); }

 private:
  // Reads and decodes a segment. Returns null if that is not possible. O(samples of the block).
  [[nodiscard]] virtual std::shared_ptr<const CounterSegment> read(std::size_t block, std::size_t member) const = 0;
  [[nodiscard]] std::shared_ptr<const CounterSegment> substitute(std::size_t block) const;

  std::size_t members_;
  std::vector<Block> blocks_;
  std::vector<CounterSummary> summaries_;
  std::uint64_t first_identity_;  // of the times of the first block; those of its segments follow
  mutable std::atomic<bool> has_unreadable_{false}, lacked_memory_{false};
};

// True if values of counters are decoded when they are needed. O(counters).
[[nodiscard]] bool demands_counters(const Trace& trace) noexcept;
// True if values of counters could not be read, so that samples without values stand for them. O(counters).
[[nodiscard]] bool has_unreadable_counters(const Trace& trace) noexcept;

}  // namespace lanescope
