// NVTX ranges of a thread and how they enclose each other and the thread's calls. Internal to reports and rules.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/stats/selection.h"

namespace lanescope::stats {

inline constexpr std::uint32_t kNoRange = kNone;

// There may be millions of these: 64 bytes each.
struct NvtxRange {
  TimeRange time;
  std::int64_t id = 0;  // the number by which reports name it, unique in the trace
  Nanoseconds children_time = 0;
  NameId name = 0;
  std::uint32_t domain = 0;
  DetailId detail = 0;
  std::uint32_t parent = kNoRange;  // the tightest range of the thread that encloses it, whatever its domain
  std::uint32_t level = 0;          // how many ranges enclose it
  std::uint32_t children = 0;
  TrackKind kind = TrackKind::kNvtxRanges;  // push/pop, or start/end
};

enum class RangeKinds { kPushPop, kAll };

// The ranges of each thread by start, outer before inner, with parents and levels. Start/end ranges count only if they ended on the thread on which
// they started.
[[nodiscard]] std::map<ThreadId, std::vector<NvtxRange>> ranges_by_thread(const Selection& selection, RangeKinds kinds);

// Answers which ranges enclose a call of the same thread. O(open ranges) a call, O(1) for a call like the last one.
class EnclosingRanges {
 public:
  // `ranges` of one thread as ranges_by_thread() gives them; must outlive this.
  explicit EnclosingRanges(std::span<const NvtxRange> ranges) : ranges_(ranges) {}

  // Positions of the ranges that enclose the call, by start. Valid until the next call of around(). Requires: calls come in the order of their starts.
  std::span<const std::size_t> around(TimeRange call);
  // How often the answer has changed.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  // The tightest of some of the ranges, or kNoRange if there are none; of equal ones the last.
  [[nodiscard]] static std::size_t tightest(std::span<const NvtxRange> ranges, std::span<const std::size_t> some);

 private:
  // True if all open ranges enclose the call, as they did the last one, and no other range does.
  [[nodiscard]] bool is_like_last(TimeRange call) const noexcept {
    return call.end <= answer_holds_until_ && (next_ == ranges_.size() || ranges_[next_].time.begin > call.begin);
  }

  std::span<const NvtxRange> ranges_;
  std::size_t next_ = 0;
  std::vector<std::size_t> open_;
  std::vector<std::size_t> enclosing_;
  std::uint64_t changes_ = 0;
  Nanoseconds answer_holds_until_ = std::numeric_limits<Nanoseconds>::min();  // for calls that end by then, if all open ranges enclose them
};

// "domain:text": the name of a range in reports; ":text" in the default domain.
[[nodiscard]] std::string range_name(const Trace& trace, ProcessId process, std::uint32_t domain, NameId name);
[[nodiscard]] std::string_view style_name(TrackKind kind) noexcept;  // "PushPop" or "StartEnd"

}  // namespace lanescope::stats
