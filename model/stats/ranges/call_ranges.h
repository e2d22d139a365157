// The NVTX ranges around CUDA calls, and so around the launches of GPU work. Internal to reports and rules.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "nvtx_ranges.h"

namespace lanescope::stats {

class CallRanges {
 public:
  CallRanges() = default;  // for no call
  // For all calls of the trace, and the selected ranges of their threads. O(calls + ranges), on all cores. Keeps 4 bytes a call.
  explicit CallRanges(const Selection& selection) : CallRanges(selection, ranges_by_thread(selection, RangeKinds::kAll)) {}
  // The same with given ranges: all kinds, by thread.
  CallRanges(const Selection& selection, std::map<ThreadId, std::vector<NvtxRange>> ranges);

  CallRanges(const CallRanges&) = delete;
  CallRanges& operator=(const CallRanges&) = delete;
  CallRanges(CallRanges&&) = default;
  CallRanges& operator=(CallRanges&&) = default;

  // The ranges of the call's thread that enclose it, by start. Empty for an invalid reference. O(1).
  [[nodiscard]] std::span<const NvtxRange* const> around(EventRef call) const;
  // The name of the tightest of these ranges; 0 if there is none. O(1).
  [[nodiscard]] NameId innermost(EventRef call) const;

  // All ranges, by thread. The pointers from around() point into them.
  [[nodiscard]] const std::map<ThreadId, std::vector<NvtxRange>>& ranges() const noexcept { return ranges_; }

 private:
  struct Set {
    std::uint32_t first = 0, last = 0;  // in Calls::members
    NameId innermost = 0;
  };
  struct Calls {  // of one lane; without calls if the thread has no ranges
    std::vector<std::uint32_t> set_of_call;
    std::vector<Set> sets;
    std::vector<const NvtxRange*> members;
  };
  static Calls enclose(const Lane& lane, const std::vector<NvtxRange>& ranges);

  std::map<ThreadId, std::vector<NvtxRange>> ranges_;
  std::vector<Calls> lanes_;
};

}  // namespace lanescope::stats
