// Stack charts: which calls are seen when samples are taken at known times.
#include <map>
#include <random>

#include "model/trace/building/thread_states.h"
#include "support/catch.h"
#include "timeline/core/lanes/stack_chart.h"
#include "timeline/core/pixels/level_content.h"
#include "timeline/core/pixels/level_pixels.h"
#include "timeline/core/rows/row_tree.h"
#include "timeline/core/view/view_content.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace lanescope::timeline;

namespace {

constexpr Nanoseconds kPeriod = 1'000;

struct Sampled : SmallTrace {
  NameId module = 0;
  CallNodeId call(CallNodeId caller, const std::string& function) {
    if (module == 0) module = builder.intern("/usr/bin/program");
    return builder.call_node({caller, builder.code_location({CodeKind::kNative, module, 0, ++address}, {builder.intern(function), 0, 0})});
  }
  void sample(Nanoseconds time, CallNodeId chain) { samples.push_back({time, 0, {chain, SampleOrigin::kTimer, 0, kPeriod}}); }
  std::shared_ptr<const Trace> snapshot() {
    add_samples(builder, process, 4711, samples);
    return builder.snapshot();
  }
  std::uint64_t address = 0;
  std::vector<SampleEvent> samples;
};

struct Seen {
  std::string name;
  TimeRange time;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> seen(const Trace& trace, const ProjectedLane& lane) {
  std::vector<Seen> all;
  for (EventIndex i = 0; i < lane.lane->size(); ++i) all.push_back({std::string(trace.name(lane.lane->name(i))), {lane.lane->start(i), lane.lane->end(i)}});
  return all;
}

StackChart chart_of(const Trace& trace) { return stack_chart(trace, 0, samples::ShownCalls(trace.call_stacks(), samples::CallChoice::kWithoutInterpreter)); }

}  // namespace

TEST_CASE("calls that neighbouring samples share are one range, from the first sample to the next that has another") {
  Sampled program;
  const CallNodeId main = program.call(0, "main"), work = program.call(main, "work"), inner = program.call(work, "inner"), other = program.call(main, "other");
  for (const auto& [time, chain] : {std::pair{1'000, work}, {2'000, inner}, {3'000, inner}, {4'000, work}, {5'000, other}}) program.sample(time, chain);
  const auto trace = program.snapshot();
  const StackChart chart = chart_of(*trace);
  REQUIRE(chart.by_depth.size() == 3);
  CHECK(seen(*trace, chart.by_depth[0]) == std::vector<Seen>{{"main", {1'000, 6'000}}});
  CHECK(seen(*trace, chart.by_depth[1]) == std::vector<Seen>{{"work", {1'000, 5'000}}, {"other", {5'000, 6'000}}});
  CHECK(seen(*trace, chart.by_depth[2]) == std::vector<Seen>{{"inner", {2'000, 4'000}}});
  CHECK(seen(*trace, chart.innermost) ==
        std::vector<Seen>{{"work", {1'000, 2'000}}, {"inner", {2'000, 4'000}}, {"work", {4'000, 5'000}}, {"other", {5'000, 6'000}}});
  CHECK(chart.by_depth[2].sources == std::vector<EventIndex>{1});  // its first sample
  CHECK(chart.by_depth[1].sources == std::vector<EventIndex>{0, 4});
}

TEST_CASE("where no sample comes for more than two periods, the thread is not said to run") {
  Sampled program;
  const CallNodeId main = program.call(0, "main");
  for (const Nanoseconds time : {1'000, 2'900, 5'000}) program.sample(time, main);  // 1.9 and 2.1 periods apart
  const auto trace = program.snapshot();
  CHECK(seen(*trace, chart_of(*trace).by_depth[0]) == std::vector<Seen>{{"main", {1'000, 3'900}}, {"main", {5'000, 6'000}}});
}

TEST_CASE("samples without a chain end what was seen, and code without symbols is one call wherever it is") {
  Sampled program;
  const CallNodeId main = program.call(0, "main");
  const CallNodeId here = program.call(main, "program+0x10"), there = program.call(main, "program+0x20");
  for (const auto& [time, chain] : {std::pair{1'000, here}, {2'000, there}, {3'000, CallNodeId{0}}, {4'000, main}}) program.sample(time, chain);
  const auto trace = program.snapshot();
  const StackChart chart = chart_of(*trace);
  CHECK(seen(*trace, chart.by_depth[0]) == std::vector<Seen>{{"main", {1'000, 3'000}}, {"main", {4'000, 5'000}}});
  CHECK(seen(*trace, chart.by_depth[1]) == std::vector<Seen>{{"program+0x10", {1'000, 3'000}}});
}

TEST_CASE("at every sample, the chart has the sample's calls, depth by depth") {
  std::mt19937 random(GENERATE(range(1u, 20u)));
  Sampled program;
  std::vector<CallNodeId> nodes{0};
  std::map<CallNodeId, std::vector<std::string>> chain_of{{0, {}}};
  for (int i = 0; i < 30; ++i) {
    const CallNodeId caller = nodes[random() % nodes.size()];
    const std::string name(1, static_cast<char>('a' + random() % 5));  // recursion, and the same name in several places
    const CallNodeId node = program.call(caller, name);
    chain_of[node] = chain_of[caller];
    chain_of[node].push_back(name);
    nodes.push_back(node);
  }
  std::vector<std::pair<Nanoseconds, CallNodeId>> taken;
  Nanoseconds time = 0;
  for (int i = 0; i < 400; ++i) {
    time += 1 + static_cast<Nanoseconds>(random() % 3'000);
    taken.emplace_back(time, nodes[random() % nodes.size()]);
    program.sample(time, taken.back().second);
  }
  const auto trace = program.snapshot();
  const StackChart chart = chart_of(*trace);
  for (const auto& [at, chain] : taken) {
    const std::vector<std::string>& expected = chain_of[chain];
    for (std::size_t depth = 0; depth < chart.by_depth.size(); ++depth) {
      const Lane& lane = *chart.by_depth[depth].lane;
      const auto found = lane.at(at);
      REQUIRE(found.has_value() == (depth < expected.size()));
      if (found) REQUIRE(trace->name(lane.name(*found)) == expected[depth]);
    }
    const auto innermost = chart.innermost.lane->at(at);
    REQUIRE(innermost.has_value() == !expected.empty());
    if (innermost) REQUIRE(trace->name(chart.innermost.lane->name(*innermost)) == expected.back());
  }
}

TEST_CASE("below a sampled thread is a row with a level for each depth; closed, it has the innermost calls") {
  Sampled program;
  const CallNodeId main = program.call(0, "main"), work = program.call(main, "work");
  for (const auto& [time, chain] : {std::pair{1'000, work}, {2'000, main}}) program.sample(time, chain);
  const auto trace = program.snapshot();
  const RowTree tree(*trace);
  const auto index = tree.find("process:1/thread:4711/stacks");
  REQUIRE(index);
  const Row& row = tree.row(*index);
  CHECK(row.kind == RowKind::kStackChart);
  CHECK_FALSE(row.expanded_initially);
  REQUIRE(row.levels.size() == 2);
  CHECK(LevelContent(trace, row.levels[0]).busy({0, 10'000}) == 2'000);
  CHECK(LevelContent(trace, row.levels[1]).busy({0, 10'000}) == 1'000);
  const LevelContent closed(trace, row.all);
  CHECK(closed.busy({0, 10'000}) == 2'000);
  CHECK(closed.count({0, 10'000}) == 2);
  // The event under the cursor is the first sample of the call.
  CHECK(hit_test(closed, {{0, 10'000}, 1'000}, 250).event == EventRef{0, 1});
  const std::vector<Property> words = describe_call(*trace, 0, {1'000, 2'000, trace->lane(0).name(0), 0, 1}, 0);
  CHECK(words[2].value.english() == "2.000 µs, in 2 samples");
  // A thread that has only samples shows them while it is closed.
  const Row& thread = tree.row(*tree.find("process:1/thread:4711"));
  CHECK(thread.all == thread.levels.front());
}

TEST_CASE("while a recording grows, charts are left out, taken as they were, or worked out, as is asked for") {
  Sampled program;
  const CallNodeId main = program.call(0, "main");
  program.sample(0, main);
  const auto first = program.snapshot();
  const auto seen_for = [](ViewContent& content) {
    const Row& row = content.tree().row(*content.tree().find("process:1/thread:4711/stacks"));
    return content.contents().content(row.all).busy({0, 100'000});
  };
  ViewContent without(first, Projecting::kAsBefore);
  CHECK(seen_for(without) == 0);
  CHECK(without.contents().lacks_projections());
  ViewContent with(ViewContent::Base(without), first);
  CHECK(seen_for(with) == kPeriod);
  program.samples.clear();
  program.sample(50'000, main);
  const auto later = program.snapshot();
  ViewContent as_before(ViewContent::Base(with), later, Projecting::kAsBefore);
  CHECK(seen_for(as_before) == kPeriod);
  CHECK(as_before.contents().lacks_projections());
  ViewContent anew(ViewContent::Base(as_before), later);
  CHECK(seen_for(anew) == 2 * kPeriod);
}

TEST_CASE("a program without samples has no stack charts") {
  SmallTrace small;
  small.builder.add(small.on_thread(TrackKind::kCudaApi), {small.event(0, 10, "cudaMalloc")});
  const RowTree tree(*small.builder.snapshot());
  for (const Row& row : tree.rows()) CHECK(row.kind != RowKind::kStackChart);
}
