// What happened in a part of time, in a few lines: how busy each GPU was, why it was idle, and durations by name.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <QString>

#include "model/events/event_statistics.h"
#include "model/events/event_values.h"
#include "panels/utilisation.h"
#include "timeline/core/lanes/communication_time.h"
#include "timeline/core/lanes/idle_time.h"

namespace lanescope::ui {

template <typename Entry>
struct OfRun {
  std::string run;     // of the compared runs: "A"; empty if no runs are compared
  std::string family;  // the family of names (name_family) that the entry stands for; empty: one name
  Entry entry;
};

// The idle time of a GPU in a range. Together with its busy time, the parts add up to the range.
struct GpuTime {
  GpuId gpu = kNone;
  Nanoseconds before = 0;  // its first work
  Nanoseconds idle = 0;    // between its first and last work
  Nanoseconds after = 0;   // its last work
};

struct RangeSummary {
  std::shared_ptr<const Trace> trace;
  TimeRange range;
  std::vector<std::pair<std::string, double>> busy;  // for each GPU, for example "GPU 0": the share of the time in which anything ran on it
  std::vector<std::pair<GpuId, std::vector<timeline::IdleTime::CauseTime>>> idle;  // for each GPU, by cause; the longest first
  // For each GPU that has such time: idle time between its first and last work that is in no gap of `shortest_gap` ns, so it has no cause.
  std::vector<std::pair<GpuId, Nanoseconds>> short_idle;
  Nanoseconds shortest_gap = 0;
  std::vector<GpuTime> gpus;                                      // for each GPU that worked
  std::vector<timeline::CommunicationTime::OfGpu> communication;  // for each GPU that communicates
  // Of events that overlap the range, by family, with their whole durations, separately for each run; longest total first.
  std::vector<OfRun<NameStatistics>> names;
  std::vector<OfRun<NameSum>> sums;  // instead of names, if there are more events than most_listed()
  std::uint64_t partly_within = 0;   // how many of the events begin before the range or end after it
  std::uint64_t open = 0;            // events that have not ended: they lie in the range too, and are in nothing above
  std::string lack;                  // why there are no names and sums although there are events: some can no longer be read
};

// For each GPU that worked, also outside the range. `of_range`: over this range, in one piece. O(tracks).
[[nodiscard]] std::vector<GpuTime> idle_in(const Trace& trace, const Utilisation& of_range);

// Samples and thread states are left out, as in lists, and events that have not ended: nobody knows how long they will take. `idle`, `communication`: null if
// not known. Returns null when asked to stop. O(events in the range + GPU events); if there are more than most_listed(), O(segments + events of segments that
// the range cuts) for the sums.
[[nodiscard]] std::shared_ptr<const RangeSummary> summarize_range(const std::shared_ptr<const Trace>& trace,
                                                                  const std::shared_ptr<const timeline::IdleTime>& idle,
                                                                  const std::shared_ptr<const timeline::CommunicationTime>& communication, TimeRange range,
                                                                  const OpenEvents& open, const std::stop_token& stop);

// As rich text: a block for each name, for a narrow column.
[[nodiscard]] QString summary_html(const RangeSummary& summary);

}  // namespace lanescope::ui
