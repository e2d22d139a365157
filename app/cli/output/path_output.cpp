#include "output/path_output.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "model/analysis/path_tables.h"
#include "model/analysis/threads/critical_path.h"
#include "model/events/event_values.h"
#include "model/stats/selection.h"
#include "model/trace/text/utf8.h"
#include "output/findings_text.h"
#include "text.h"

namespace lanescope::cli {
namespace {

// The range of the process in which it and the work that it enqueued end last, if possible of one that uses a GPU, and the number of processes that have it.
struct Step {
  EventRef range;
  ProcessId process = kNone;
  std::size_t processes = 0;
};

Step step_of(const Trace& trace, const stats::RangeFilter& filter) {
  const std::map<ProcessId, EventRef> ranges = stats::Selection::range_events(trace, filter);
  const auto rank = [&](const std::pair<const ProcessId, EventRef>& range) {
    const bool uses_gpu = std::any_of(trace.tracks().begin(), trace.tracks().end(),
                                      [&](const Track& track) { return track.key.process == range.first && is_gpu_work(track.key.kind); });
    return std::pair(uses_gpu, analysis::end_of_step(trace, range.second));
  };
  std::optional<std::pair<bool, Nanoseconds>> latest;
  Step step{{}, kNone, ranges.size()};
  for (const auto& range : ranges)
    if (const auto of_range = rank(range); !latest || of_range > *latest) {
      latest = of_range;
      step.range = range.second;
      step.process = range.first;
    }
  return step;
}

Message heading_of(const Trace& trace, const stats::ReportOptions& options, const Step& step, TimeRange time) {
  std::vector<Message::Value> values{{"length", duration_text(time.length())}, {"begin", moment_text(time.begin)}, {"end", moment_text(time.end)}};
  if (!options.range) return Message("Critical path from {begin} to {end}, {length}:", std::move(values));
  values.emplace_back("range", printable(options.range->range, LineBreaks::kEscaped));
  values.emplace_back("process", process_label(trace, step.process));
  values.emplace_back("processes", std::to_string(step.processes));
  return Message(step.processes > 1 ? "Critical path of \"{range}\" in {process}, one of {processes} processes that have it, from {begin} to {end}, {length}:"
                                    : "Critical path of \"{range}\" in {process}, from {begin} to {end}, {length}:",
                 std::move(values));
}

}  // namespace

Result<void> write_critical_path(const Trace& trace, const stats::ReportOptions& options, TableOutput& output, const Language& language) {
  const Step step = options.range ? step_of(trace, *options.range) : Step();
  const TimeRange asked = options.time_range.value_or(TimeRange{}), recorded = trace.scope();
  const analysis::CriticalPath path = options.range ? analysis::critical_path(trace, step.range) : analysis::critical_path(trace, asked.intersected(recorded));
  if (const auto read = output.check_sources(); !read) return read;
  const bool is_outside = !options.range && asked.intersected(recorded).empty();
  const Message nothing = is_outside ? Message("The recording has nothing then: it lasts from {begin} to {end}.",
                                               {{"begin", moment_text(recorded.begin)}, {"end", moment_text(recorded.end)}})
                                     : Message("Nothing was recorded in it that a way back could begin with.");
  if (output.is_for_people(0)) {
    std::cout << heading_of(trace, options, step, is_outside ? asked : path.range).in(language) << '\n';
    std::cout << (path.parts.empty() ? nothing.in(language) + '\n' : analysis::path_text(trace, path, language));
    return {};
  }
  if (path.parts.empty()) TableOutput::skip("critical_path: " + nothing.english());
  if (const auto done = output.write(0, {"Critical path, by what it consists of", "critical_path_sums", ""}, analysis::path_sums_table(trace, path)); !done)
    return done;
  return output.write(1, {"Critical path, in order of time", "critical_path", ""}, analysis::path_table(trace, path));
}

}  // namespace lanescope::cli
