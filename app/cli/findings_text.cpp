#include "findings_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "text.h"

namespace lanescope::cli {
namespace {

std::string seconds_text(Nanoseconds time) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.6f s", static_cast<double>(time) / 1e9);
  return text.data();
}

std::string place_text(const Trace& trace, const analysis::Place& place) {
  std::string text;
  if (!place.range.empty()) text = seconds_text(place.range.begin) + " to " + seconds_text(place.range.end);
  const auto add = [&](const std::string& part) { text.append(text.empty() ? "" : ", ").append(part); };
  if (place.gpu != kNone) add("GPU " + std::to_string(trace.gpus()[place.gpu].ordinal));
  if (place.process != kNone) add("process " + std::to_string(trace.processes()[place.process].pid));
  if (place.thread != kNone) add("thread " + std::to_string(trace.threads()[place.thread].tid));
  return text;
}

}  // namespace

std::string findings_text(const Trace& trace, std::string_view summary, std::span<const analysis::Finding> findings) {
  std::string text(summary);
  if (!text.empty()) text += '\n';
  if (trace.event_count() == 0) return "The trace holds no events.\n";
  const bool no_gpu =
      std::none_of(trace.tracks().begin(), trace.tracks().end(), [](const Track& track) { return is_gpu_work(track.key.kind); });
  if (no_gpu && findings.empty())
    return text + "What its threads did: lanescope stats -r thread_states,osrt_sum,nvtx_sum,cpu_samples FILE\n";
  if (findings.empty()) return text + "Nothing was found that costs much of the time.\n";
  std::size_t number = 0;
  for (const analysis::Finding& finding : findings) {
    text += "\n" + std::to_string(++number) + ". " + finding.title + "\n";
    text += "   Costs:  " + analysis::cost_text(finding) + "  (rule " + std::string(finding.rule) +
            (finding.key.empty() ? "" : ", " + finding.key) + ")\n";
    if (!finding.seen.empty()) text += "   Seen:   " + finding.seen + "\n";
    if (const std::string place = place_text(trace, finding.place); !place.empty()) text += "   Where:  " + place + "\n";
    text += "   To do:  " + finding.advice + "\n";
  }
  return text;
}

stats::Table findings_table(const Trace& trace, std::span<const analysis::Finding> findings) {
  stats::Table table({stats::integers("Cost", stats::Unit::kNanoseconds), stats::integers("Start", stats::Unit::kNanoseconds),
                      stats::integers("End", stats::Unit::kNanoseconds), stats::integers("GPU"), stats::integers("PID"),
                      stats::integers("TID"), stats::texts("Rule"), stats::texts("Key"), stats::texts("When"), stats::texts("Finding"),
                      stats::texts("Seen"), stats::texts("Advice")});
  for (const analysis::Finding& finding : findings) {
    const analysis::Place& place = finding.place;
    const bool has_time = !place.range.empty();
    table.add_row(finding.cost, has_time ? place.range.begin : stats::kNoInteger, has_time ? place.range.end : stats::kNoInteger,
                  place.gpu == kNone ? stats::kNoInteger : std::int64_t{trace.gpus()[place.gpu].ordinal},
                  place.process == kNone ? stats::kNoInteger : std::int64_t{trace.processes()[place.process].pid},
                  place.thread == kNone ? stats::kNoInteger : std::int64_t{trace.threads()[place.thread].tid},
                  table.add_text(std::string(finding.rule)), table.add_text(finding.key),
                  table.add_text(finding.recurrence == analysis::Recurrence::kOnce ? "once" : ""), table.add_text(finding.title),
                  table.add_text(finding.seen), table.add_text(finding.advice));
  }
  return table;
}

}  // namespace lanescope::cli
