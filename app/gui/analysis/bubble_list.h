// The idle time of GPUs as a list of gaps, which can be grouped and filtered. Values; computed off the GUI thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
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

inline constexpr std::string_view kSampledCodeTitle = to_translate("Sampled Code");  // title of a column in both tables
inline constexpr std::string_view kGapTitle = to_translate("Gap");                   // title of the column with the length of the whole gap
inline constexpr std::string_view kPartOfTitle = to_translate("Part of Gap at");     // title of the column that parts have: the start of their gap

// A part of a gap that has one cause.
struct IdlePiece {
  analysis::IdlePart part;
  std::uint32_t gap = 0;          // index into BubbleList::gaps
  analysis::FamilyId family = 0;  // family of the NVTX range
  analysis::Recurrence recurrence = analysis::Recurrence::kRecurring;
};

struct BubbleList {
  std::shared_ptr<const Trace> trace;
  Nanoseconds threshold = 0;
  bool has_loop = false;  // false: every piece counts as recurring
  std::vector<analysis::GpuIdle> gpus;
  std::vector<analysis::IdleGap> gaps;
  std::vector<IdlePiece> pieces;      // in the order of their gaps; each gap has at least one
  std::vector<std::string> families;  // names of NVTX ranges without their numbers, by FamilyId
};

// Finds gaps of at least `threshold`. O(n log n) in the events of the trace; 120 bytes per gap.
[[nodiscard]] BubbleList collect_bubbles(std::shared_ptr<const Trace> trace, Nanoseconds threshold, std::stop_token stop);

enum class BubbleGrouping { kCauseRangeAndCall, kCause, kRange, kCall, kGpu };

// What the pieces of a group have in common; members that they are not grouped by are empty.
struct BubbleGroup {
  std::optional<analysis::Recurrence> recurrence;
  std::optional<analysis::IdleCause> cause;
  std::optional<analysis::FamilyId> family;
  std::optional<NameId> call;
  std::optional<GpuId> gpu;
  auto operator<=>(const BubbleGroup&) const = default;
  [[nodiscard]] bool holds(const BubbleList& bubbles, const IdlePiece& piece) const;
};

// A table, and the group that each of its rows stands for.
struct GroupedBubbles {
  stats::Table table;
  std::vector<std::string> names;  // identifies each row also in later states of the trace, in which ids and samples may differ
  std::vector<BubbleGroup> groups;
  std::vector<std::uint32_t> longest;    // the gap that has most of each group
  std::vector<std::string> sampled;      // the code that most samples of each group's threads show; empty if the CPU was not sampled
  std::vector<std::string_view> advice;  // what to do about each group; empty if it has several causes
  Nanoseconds total = 0;                 // of all pieces
  Nanoseconds idle = 0;                  // of all GPUs within the window, in gaps of any length; 0 without a window
  Nanoseconds outside = 0;               // in the window, before the first and after the last work of each GPU

  [[nodiscard]] std::optional<std::size_t> rowNamed(const std::string& name) const;
  // All pieces if no row has the name.
  [[nodiscard]] BubbleGroup named(const std::string& name) const;
};
// Only time within the window counts. O(pieces · log groups), and O(log n) for each piece of CPU code if the CPU was sampled.
[[nodiscard]] GroupedBubbles group_bubbles(const BubbleList& bubbles, BubbleGrouping by, std::optional<TimeRange> window);

struct ListedBubbles {
  stats::Table table;
  std::vector<std::string> names;     // identifies each row: its GPU and start; for a part, also the start of the part
  std::vector<std::uint32_t> gaps;    // of each row
  std::vector<std::uint32_t> pieces;  // of each row: the part of the gap that it shows; kNone: all of the gap
  std::vector<std::size_t> leaders;   // of each row: the row of its gap
  std::size_t omitted = 0;            // number of shorter gaps, beyond kListedGaps
};
inline constexpr std::size_t kListedGaps = 200'000;
// The gaps within the window that have pieces of a group (no group: all gaps): how much of the group each has, and how long the gap is. Gaps of the loop come
// first, then the gaps with most of the group. A gap whose name is among `unfolded` is followed by all its parts in order of time, which add up to the gap and
// name its start. O(pieces + gaps · log gaps).
[[nodiscard]] ListedBubbles list_bubbles(const BubbleList& bubbles, const BubbleGroup& group, std::optional<TimeRange> window,
                                         const std::set<std::string>& unfolded = {});

}  // namespace lanescope::ui
