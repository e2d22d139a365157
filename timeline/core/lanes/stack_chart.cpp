#include "timeline/core/lanes/stack_chart.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "lane_writer.h"
#include "model/trace/median.h"
#include "timeline/core/words/format.h"

namespace lanescope::timeline {
namespace {

constexpr Nanoseconds kBridgedPeriods = 2;  // between two samples of a chart that is continued

struct SampledCall {
  NameId name = 0;
  std::uint64_t identity = 0;  // of the function, or of the file if its code has no symbols
  DetailId detail = 0;
};

class Chains {
 public:
  Chains(const Trace& trace, const samples::ShownCalls& calls) : trace_(trace), stacks_(trace.call_stacks()), calls_(calls) {}

  // Starting with the outermost call.
  [[nodiscard]] const std::vector<SampledCall>& of(CallNodeId chain) {
    const auto [found, is_new] = known_.try_emplace(chain);
    std::vector<SampledCall>& all = found->second;
    if (!is_new) return all;
    for (CallNodeId node = calls_.innermost(chain); node != 0; node = calls_.caller(node)) {
      const CodeLocation& place = stacks_.location(stacks_.node(node).location);
      for (const CodeFunction& each : stacks_.functions(stacks_.node(node).location)) {
        const bool is_known = !is_address_text(trace_.name(each.function));
        all.push_back(
            {each.function, is_known ? std::uint64_t{each.function} : (std::uint64_t{1} << 32) + place.module, 1 + static_cast<DetailId>(place.kind)});
      }
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

 private:
  const Trace& trace_;
  const CallStacks& stacks_;
  const samples::ShownCalls& calls_;
  std::unordered_map<CallNodeId, std::vector<SampledCall>> known_;
};

// Ranges of one level, in the order of their ends.
class ChartLane {
 public:
  void add(TimeRange range, const SampledCall& call, EventIndex first_sample) {
    if (range.empty()) return;
    writer_.add(range, call.name, call.detail);
    sources_.push_back(first_sample);
  }
  [[nodiscard]] ProjectedLane take() { return {std::make_shared<const Lane>(writer_.take()), std::move(sources_)}; }

 private:
  LaneWriter writer_;
  std::vector<EventIndex> sources_;
};

// Calls of one level, or the innermost ones, that have not ended yet.
struct OpenCall {
  SampledCall call;
  Nanoseconds begin = 0;
  EventIndex first_sample = 0;
};

// If the recording does not tell its sampling period: the median distance of the first samples.
Nanoseconds usual_distance(const Lane& samples) {
  constexpr EventIndex kLookedAt = 1'000;
  std::vector<Nanoseconds> distances;
  for (EventIndex i = 1; i < std::min(kLookedAt, samples.size()); ++i) distances.push_back(samples.start(i) - samples.start(i - 1));
  if (distances.empty()) return 1;
  return std::max<Nanoseconds>(1, median(std::move(distances)));
}

}  // namespace

StackChart stack_chart(const Trace& trace, LaneId id, const samples::ShownCalls& calls) {
  const Lane& samples = trace.lane(id);
  const Nanoseconds usual = usual_distance(samples);
  Chains chains(trace, calls);
  std::vector<OpenCall> open;
  std::vector<ChartLane> lanes;
  std::optional<OpenCall> innermost;
  ChartLane innermost_lane;
  const auto close = [&](std::size_t depth, Nanoseconds end) {
    for (std::size_t i = depth; i < open.size(); ++i) lanes[i].add({open[i].begin, end}, open[i].call, open[i].first_sample);
    open.resize(std::min(depth, open.size()));
  };
  const auto close_innermost = [&](Nanoseconds end) {
    if (innermost) innermost_lane.add({innermost->begin, end}, innermost->call, innermost->first_sample);
    innermost.reset();
  };
  Nanoseconds stands_until = 0, bridged_until = 0;  // of the previous sample
  CallNodeId before = 0;                            // the chain of the previous sample
  for (EventIndex i = 0; i < samples.size(); ++i) {
    const Nanoseconds time = samples.start(i);
    const SampleDetail& detail = trace.sample_detail(samples.detail(i));
    if (time > bridged_until) {
      close(0, stands_until);
      close_innermost(stands_until);
    }
    const Nanoseconds period = detail.period > 0 ? detail.period : usual;
    stands_until = time + period;
    bridged_until = time + kBridgedPeriods * period;
    if (innermost && detail.call_node == before) continue;  // true for most samples of a loop
    before = detail.call_node;
    const std::vector<SampledCall>& chain = chains.of(detail.call_node);
    std::size_t shared = 0;
    while (shared < std::min(open.size(), chain.size()) && open[shared].call.identity == chain[shared].identity) ++shared;
    if (innermost && (chain.empty() || shared < chain.size() || open.size() > chain.size())) close_innermost(time);
    close(shared, time);
    if (lanes.size() < chain.size()) lanes.resize(chain.size());
    for (std::size_t depth = shared; depth < chain.size(); ++depth) open.push_back({chain[depth], time, i});
    if (!innermost && !chain.empty()) innermost = OpenCall{chain.back(), time, i};
  }
  close(0, stands_until);
  close_innermost(stands_until);
  StackChart chart;
  chart.innermost = innermost_lane.take();
  for (ChartLane& lane : lanes) chart.by_depth.push_back(lane.take());
  return chart;
}

ChainDepths::ChainDepths(const CallStacks& stacks)
    : calls_(stacks, samples::CallChoice::kWithoutInterpreter), depth_(std::max<std::size_t>(1, stacks.node_count())) {
  for (CallNodeId node = 1; node < stacks.node_count(); ++node)  // callers have smaller ids
    depth_[node] = depth_[calls_.caller(node)] + static_cast<std::uint32_t>(stacks.functions(stacks.node(node).location).size());
}

std::vector<Property> describe_call(const Trace& trace, LaneId samples, const Event& call, EventIndex first_sample) {
  const Lane& lane = trace.lane(samples);
  const EventIndex behind = lane.lower_bound(call.end());
  const std::uint64_t count = behind > first_sample ? behind - first_sample : 1;
  std::vector<Property> properties{{"Name", std::string(trace.name(call.name))}};
  properties.push_back({"First sample", format_time(call.start)});
  properties.push_back(
      {"Sampled for", Message("{duration}, in {samples}", {{"duration", format_duration(call.duration)}, {"samples", format_counted(count, "sample")}})});
  const CallStacks& stacks = trace.call_stacks();
  for (const CodeLocationId location : stacks.chain(trace.sample_detail(lane.detail(first_sample)).call_node))
    for (const CodeFunction& function : stacks.functions(location)) {
      if (function.function != call.name) continue;
      if (function.source_file != 0)
        properties.push_back({"Source", std::string(trace.name(function.source_file)) + ":" + std::to_string(function.source_line)});
      else if (const NameId module = stacks.location(location).module; module != 0)
        properties.push_back({"Module", std::string(trace.name(module))});
      return properties;
    }
  return properties;
}

}  // namespace lanescope::timeline
