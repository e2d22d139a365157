#include "chrome_series.h"

#include <cmath>
#include <optional>

#include "../event_order.h"
#include "chrome_events.h"

namespace lanescope::exporters {
namespace {

// The call itself, or at a higher level a call that it was inlined into.
std::string frame_id(CallNodeId node, std::size_t level) { return std::to_string(node) + (level == 0 ? "" : "." + std::to_string(level)); }

}  // namespace

bool ChromeSeries::write_counter(CounterId id) {
  const Counter& counter = trace_.counters()[id];
  const CounterSeries& series = trace_.counter_series(id);
  const std::uint32_t pid = counter.gpu != kNone         ? pids_.counters(counter.gpu)
                            : counter.process != kNone   ? pids_.host(counter.process)
                            : trace_.processes().empty() ? 0
                                                         : pids_.host(0);
  auto [first, last] = selection_.values(trace_, id);
  // Fractions of whole numbers are written with as many decimals as they have.
  const double parts = counter.resolution > 0 ? std::round(1 / counter.resolution) : 0;
  const bool is_fraction = parts >= 1 && std::abs(counter.resolution * parts - 1) < 1e-9;
  const bool is_plain = counter.unit.empty() || counter.unit.find_first_of("\"\\") != std::string::npos;
  const std::string_view unit = is_plain ? std::string_view("value") : std::string_view(counter.unit);
  const auto write_value = [&](Nanoseconds time, std::optional<double> value) {
    begin_event(json_, "C").field("name", std::string_view(counter.name)).field("cat", std::string_view(counter.group)).field("pid", pid);
    json_.timestamp("ts", time).key("args").open('{');
    if (value) json_.field(unit, *value);
    json_.close('}').close('}');
    return json_.flush_some();
  };
  bool holds = false;
  CounterReader reader(series);
  for (; first < last; ++first) {
    const CounterSample sample = reader.sample(first);
    const auto whole = static_cast<double>(sample.value);
    std::optional<double> value;
    if (sample.has_value()) value = is_fraction ? whole / parts : whole * counter.resolution;
    if (!value && !holds) continue;
    if (!write_value(sample.time, value)) return false;
    holds = value.has_value();
  }
  return !holds || write_value(series.sample(last - 1).time + series.sample(last - 1).duration, std::nullopt);
}

bool ChromeSeries::write_samples() {
  std::set<CallNodeId> chains;
  const auto for_samples = [&](auto visit) {
    for (const Track& track : trace_.tracks())
      if (track.key.kind == TrackKind::kCpuSamples)
        for (const EventRef ref : events_in_order(trace_, track, selection_)) visit(track.key, trace_.event(ref));
  };
  bool any = false;
  for_samples([&](const TrackKey&, const Event& event) {
    any = true;
    for (CallNodeId node = trace_.sample_detail(event.detail).call_node; node != 0 && chains.insert(node).second;)
      node = trace_.call_stacks().node(node).parent;
  });
  if (!any) return true;
  json_.raw("\n").key("stackFrames").open('{');
  for (const CallNodeId node : chains) write_frames(node);
  json_.close('}').raw("\n").key("samples").open('[');
  bool written = true;
  for_samples([&](const TrackKey& key, const Event& event) {
    if (!written) return;
    const SampleDetail& detail = trace_.sample_detail(event.detail);
    json_.element().raw("\n").open('{').field("name", trace_.name(event.name)).timestamp("ts", event.start);
    json_.field("pid", pids_.host(key.process)).field("tid", trace_.threads()[key.thread].tid).field("weight", 1);
    if (detail.processor != kNone) json_.field("cpu", detail.processor);
    if (detail.period != 0) json_.field("period_ns", detail.period);
    if (detail.call_node != 0) json_.field("sf", std::string_view(frame_id(detail.call_node, 0)));
    json_.close('}');
    written = json_.flush_some();
  });
  json_.close(']');
  return written;
}

void ChromeSeries::write_frames(CallNodeId node) {
  const CallNode& call = trace_.call_stacks().node(node);
  const auto functions = trace_.call_stacks().functions(call.location);
  const CodeLocation& location = trace_.call_stacks().location(call.location);
  const std::string_view module = trace_.name(location.module);
  constexpr std::string_view kKinds[] = {"", "kernel", "python", "generated"};  // by CodeKind
  for (std::size_t level = 0; level < functions.size(); ++level) {
    json_.raw("\n").key(frame_id(node, level)).open('{').field("name", trace_.name(functions[level].function));
    json_.field("category", module);
    if (location.kind != CodeKind::kNative) json_.field("kind", kKinds[static_cast<std::size_t>(location.kind)]);
    if (functions[level].source_file != 0) json_.field("file", trace_.name(functions[level].source_file));
    if (functions[level].source_line != 0) json_.field("line", functions[level].source_line);
    if (location.address != 0) json_.field("address", location.address);
    if (level + 1 < functions.size())
      json_.field("parent", std::string_view(frame_id(node, level + 1)));
    else if (call.parent != 0)
      json_.field("parent", std::string_view(frame_id(call.parent, 0)));
    json_.close('}');
  }
}

}  // namespace lanescope::exporters
