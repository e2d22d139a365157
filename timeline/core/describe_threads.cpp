#include "describe_threads.h"

#include <algorithm>

#include "timeline/core/format.h"

namespace lanescope::timeline {
namespace {

constexpr std::size_t kMostCalls = 12;

std::string_view last_path_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "load  train.py:30 (Python)", "inflate  libz.so.1".
std::string call_text(const Trace& trace, const CodeLocation& location, const CodeFunction& function) {
  std::string text(trace.name(function.function));
  if (function.source_file != 0) {
    text += "  " + std::string(last_path_part(trace.name(function.source_file)));
    if (function.source_line != 0) text += ":" + std::to_string(function.source_line);
  } else if (location.module != 0 && !is_address_text(text)) {
    text += "  " + std::string(last_path_part(trace.name(location.module)));
  }
  if (location.kind == CodeKind::kPython) text += " (Python)";
  return text;
}

// The innermost call of this kind that was under way.
std::optional<EventRef> call_at(const Trace& trace, ThreadId thread, TrackKind kind, Nanoseconds time) {
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind || track.key.thread != thread) continue;
    for (auto lane = track.lanes.rbegin(); lane != track.lanes.rend(); ++lane)
      if (const auto index = trace.lane(*lane).at(time)) return EventRef{*lane, *index};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Property> describe_thread_state(const Trace& trace, const TrackKey& key, const Event& event) {
  std::vector<Property> properties;
  const ThreadStateDetail& detail = trace.thread_state_detail(event.detail);
  if (detail.processor != kNone) properties.push_back({"Processor", std::to_string(detail.processor)});
  if (key.thread == kNone || detail.state == ThreadState::kRunning) return properties;
  // A call that waits begins while the thread still runs.
  for (const TrackKind kind : {TrackKind::kOsRuntime, TrackKind::kCudaApi})
    if (const auto call = call_at(trace, key.thread, kind, event.start))
      properties.push_back({"In", event_title(trace, *call) + ", " + format_duration(trace.event(*call).duration)});
  return properties;
}

std::vector<Property> describe_chain(const Trace& trace, CallNodeId chain) {
  std::vector<Property> properties;
  const CallStacks& stacks = trace.call_stacks();
  std::size_t more = 0;
  for (const CodeLocationId location : stacks.chain(chain))
    for (const CodeFunction& function : stacks.functions(location)) {
      if (properties.size() == kMostCalls)
        ++more;
      else
        properties.push_back({properties.empty() ? "Call chain" : "", call_text(trace, stacks.location(location), function)});
    }
  if (more > 0) properties.push_back({"", "… " + std::to_string(more) + " more"});
  if (properties.empty()) properties.push_back({"Call chain", "could not be read"});
  return properties;
}

CallNodeId backtrace_of(const Trace& trace, ThreadId thread, const Event& call) {
  if (thread == kNone) return 0;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kBacktraces || track.key.thread != thread) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      // A chain that was taken at a CUDA call may be a little off in time, and has the call's correlation id.
      const EventIndex same = call.correlation == 0 ? lane.size() : lane.find_correlation(call.correlation);
      if (same < lane.size()) return trace.sample_detail(lane.detail(same)).call_node;
      const EventIndex at = lane.lower_bound(call.start);
      if (at < lane.size() && lane.start(at) == call.start && lane.duration(at) == call.duration)
        return trace.sample_detail(lane.detail(at)).call_node;
      if (call.correlation == 0) continue;
      const EventIndex correlated = lane.find_correlation(call.correlation);
      if (correlated < lane.size()) return trace.sample_detail(lane.detail(correlated)).call_node;
    }
  }
  return 0;
}

}  // namespace lanescope::timeline
