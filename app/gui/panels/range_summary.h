// What happened in a part of time, in a few lines: how busy each GPU was, why it was idle, and durations by name.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <QString>

#include "model/events/event_statistics.h"
#include "timeline/core/lanes/communication_time.h"
#include "timeline/core/lanes/idle_time.h"

namespace lanescope::ui {

template <typename Entry>
struct OfRun {
  std::string run;  // of those that are compared: "A"; empty where none are
  Entry entry;
};

struct RangeSummary {
  std::shared_ptr<const Trace> trace;
  TimeRange range;
  std::vector<std::pair<std::string, double>> busy;  // of each GPU: "GPU 0", and the share of the time in which anything ran on it
  std::vector<std::pair<GpuId, std::vector<timeline::IdleTime::CauseTime>>> idle;  // of each GPU, by cause; the longest first
  std::vector<timeline::CommunicationTime::OfGpu> communication;                   // of each GPU that communicates at all
  std::vector<OfRun<NameStatistics>> names;  // of events that overlap the range, with their whole durations, apart for each run; longest total first
  std::vector<OfRun<NameSum>> sums;          // in place of names, where events are more than most_listed()
  std::string lack;                          // why there are no names and no sums, though there are events: some can't be read any more
};

// Samples and thread states are left out, as in lists. `idle`, `communication`: null where they are not known. Null when asked to stop. O(events in the range +
// GPU events); where they are more than most_listed(), O(segments + events of those that the range cuts) for the sums.
[[nodiscard]] std::shared_ptr<const RangeSummary> summarize_range(const std::shared_ptr<const Trace>& trace,
                                                                  const std::shared_ptr<const timeline::IdleTime>& idle,
                                                                  const std::shared_ptr<const timeline::CommunicationTime>& communication, TimeRange range,
                                                                  const std::stop_token& stop);

// As text of a browser: a block a name, fit for a narrow column.
[[nodiscard]] QString summary_html(const RangeSummary& summary);

}  // namespace lanescope::ui
