// Reads a file on a thread of its own, within the limits for a file of its size. Internal to model/trace.
#pragma once

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "batch_queue.h"
#include "model/file/limits.h"
#include "model/file/trace_file.h"
#include "model/trace/ingest/frame_ingest.h"

namespace lanescope {

// Counts the cost of reading a file, and compares it with the limits for a file of its size (limits.h).
class Spending {
 public:
  explicit Spending(std::uint64_t file_bytes) : budget_(limits::budget_of(file_bytes)) {}

  // Returns false if this exceeds the budget.
  bool unpack(const FrameCost& cost) {
    unpacked_ += cost.unpacked;
    entries_ += cost.entries;
    return unpacked_ <= budget_.unpacked && entries_ <= budget_.entries;
  }
  [[nodiscard]] bool may_keep(std::uint64_t memory_bytes, std::uint64_t events) const { return memory_bytes <= budget_.memory && events <= budget_.events; }
  // True if the data that has been read may be kept.
  [[nodiscard]] bool may_keep(const FrameIngest& ingest) const { return may_keep(ingest.memory_bytes(), ingest.event_count()); }

 private:
  limits::FileBudget budget_;
  std::uint64_t unpacked_ = 0;
  std::uint64_t entries_ = 0;
};

// Decodes the frames of a file on a thread of its own, some of them ahead of the thread that takes them.
class DecodingAhead {
 public:
  explicit DecodingAhead(TraceFileReader& reader) : reader_(reader), thread_([this] { run(); }) {}
  ~DecodingAhead() {
    steps_.cancel();
    thread_.join();
  }
  DecodingAhead(const DecodingAhead&) = delete;
  DecodingAhead& operator=(const DecodingAhead&) = delete;

  struct Step {
    std::optional<DecodedFrame> frame;  // absent if the file unpacks to more than allowed: then this is the last step
    FrameView stored;                   // as stored in the file; keeps the bytes that were read around it
    std::uint64_t end = 0;              // position after the frame
    double fraction = 0;                // fraction of the file that has been read
  };
  // Returns nothing at the end of the file.
  std::optional<Step> next() {
    if (next_ == taken_.size()) {
      taken_ = steps_.take();
      next_ = 0;
      if (taken_.empty()) return std::nullopt;
    }
    return std::move(taken_[next_++]);
  }

 private:
  void run() noexcept {
    try {
      decode();
      steps_.close();
    } catch (...) {
      steps_.fail(std::current_exception());
    }
  }

  void decode() {
    Spending spending(reader_.size());
    while (const auto frame = reader_.next()) {
      Step step;
      step.end = reader_.position();
      step.fraction = static_cast<double>(step.end) / static_cast<double>(std::max<std::uint64_t>(1, reader_.size()));
      std::size_t weight = frame->stored.size();
      if (spending.unpack(cost_to_decode(frame->header))) {
        step.frame.emplace(*frame);
        FrameCost cost = step.frame->cost();
        cost.unpacked = 0;
        if (!spending.unpack(cost)) step.frame.reset();
        weight = std::max<std::size_t>(weight, cost.memory / kMemoryPerStored);
      }
      step.stored = *frame;
      const bool is_last = !step.frame;
      if (!steps_.put(std::move(step), weight) || is_last) return;
    }
  }

  // A message takes some ten times the bytes of its frame. A message that takes more counts as a longer one, so that few of them are decoded ahead.
  static constexpr std::size_t kMemoryPerStored = 64;

  TraceFileReader& reader_;
  BatchQueue<Step> steps_{256 << 10};  // bytes of the file; a frame is at most 64 MiB, and normally less than one MiB
  std::vector<Step> taken_;
  std::size_t next_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace lanescope
