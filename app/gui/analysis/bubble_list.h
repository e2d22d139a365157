// The idle time of GPUs gap by gap, to be grouped and filtered as the user asks. Values; computed off the GUI thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/families.h"
#include "model/analysis/finding.h"
#include "model/analysis/idle/idle.h"
#include "model/stats/table.h"
#include "model/text/to_translate.h"

namespace lanescope::ui {

inline constexpr std::string_view kSampledCodeTitle = to_translate("Sampled Code");  // of a column in both tables
inline constexpr std::string_view kGapTitle = to_translate("Gap");                   // of the length of the whole gap

// A piece of a gap that has one cause.
struct IdlePiece {
  analysis::IdlePart part;
  std::uint32_t gap = 0;          // position in BubbleList::gaps
  analysis::FamilyId family = 0;  // of its NVTX range
  analysis::Recurrence recurrence = analysis::Recurrence::kRecurring;
};

struct BubbleList {
  std::shared_ptr<const Trace> trace;
  Nanoseconds threshold = 0;
  bool has_loop = false;  // else every piece counts as recurring
  std::vector<analysis::GpuIdle> gpus;
  std::vector<analysis::IdleGap> gaps;
  std::vector<IdlePiece> pieces;      // in the order of their gaps; each gap has one or more
  std::vector<std::string> families;  // names of NVTX ranges without their counters, by FamilyId
};

// Gaps of `threshold` or longer. O(n log n) over the events of the trace; 120 bytes a gap.
[[nodiscard]] BubbleList collect_bubbles(std::shared_ptr<const Trace> trace, Nanoseconds threshold, std::stop_token stop);

enum class BubbleGrouping { kCauseRangeAndCall, kCause, kRange, kCall, kGpu };

// What pieces of a group have in common; what they are not grouped by is none.
struct BubbleGroup {
  std::optional<analysis::Recurrence> recurrence;
  std::optional<analysis::IdleCause> cause;
  std::optional<analysis::FamilyId> family;
  std::optional<NameId> call;
  std::optional<GpuId> gpu;
  auto operator<=>(const BubbleGroup&) const = default;
  [[nodiscard]] bool holds(const BubbleList& bubbles, const IdlePiece& piece) const;
};

// A table, and what each of its rows stands for.
struct GroupedBubbles {
  stats::Table table;
  std::vector<std::string> names;  // of each row: the same in a later state of the trace, where ids and what was sampled may be others
  std::vector<BubbleGroup> groups;
  std::vector<std::uint32_t> longest;    // the gap that holds most of each group
  std::vector<std::string> sampled;      // what the threads of each group were mostly seen to run; empty where the CPU was not sampled
  std::vector<std::string_view> advice;  // what to do about each group; empty where it is not of one cause
  Nanoseconds total = 0;                 // of all pieces

  [[nodiscard]] std::optional<std::size_t> rowNamed(const std::string& name) const;
  // All pieces where there is none of the name.
  [[nodiscard]] BubbleGroup named(const std::string& name) const;
};
// Only what lies within the window counts. O(pieces · log groups), and O(log n) for each piece of CPU code where the CPU was sampled.
[[nodiscard]] GroupedBubbles group_bubbles(const BubbleList& bubbles, BubbleGrouping by, std::optional<TimeRange> window);

struct ListedBubbles {
  stats::Table table;
  std::vector<std::string> names;   // of each row: its GPU and where it begins
  std::vector<std::uint32_t> gaps;  // of each row
  std::size_t omitted = 0;          // shorter ones, beyond kListedGaps
};
inline constexpr std::size_t kListedGaps = 200'000;
// The gaps with pieces of a group (none: all) within the window, those with most of it first: how much that is, and how long the gap is.
// O(pieces + gaps · log gaps).
[[nodiscard]] ListedBubbles list_bubbles(const BubbleList& bubbles, const BubbleGroup& group, std::optional<TimeRange> window);

}  // namespace lanescope::ui
