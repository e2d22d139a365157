// Lines of source by how often they occurred in samples.
#include <map>
#include <random>
#include <set>
#include <string>

#include "model/samples/line_weights.h"
#include "model/trace/building/thread_states.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::samples;

TEST_CASE("lines have the samples that end at them, and those that go through them, each once") {
  std::mt19937 random(GENERATE(range(1u, 20u)));
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 10;
  const NameId module = builder.intern("/usr/bin/program");
  using Line = std::pair<std::string, std::uint32_t>;  // "": unknown
  std::vector<CallNodeId> nodes{0};
  std::map<CallNodeId, std::vector<Line>> lines_of{{0, {}}};  // innermost first
  for (int i = 0; i < 40; ++i) {
    const CallNodeId caller = nodes[random() % nodes.size()];
    const Line line =
        random() % 4 == 0 ? Line{} : Line{std::string(1, static_cast<char>('a' + random() % 2)) + ".py", 1 + static_cast<std::uint32_t>(random() % 4)};
    const NameId file = line.first.empty() ? 0 : builder.intern(line.first);
    const CallNodeId node = builder.call_node({caller, builder.code_location({CodeKind::kNative, module, 0, static_cast<std::uint64_t>(i) + 1},
                                                                             {builder.intern("f" + std::to_string(i)), file, line.second})});
    lines_of[node] = lines_of[caller];
    lines_of[node].insert(lines_of[node].begin(), line);
    nodes.push_back(node);
  }
  std::map<Line, std::pair<std::uint64_t, std::uint64_t>> expected;  // self, total
  std::vector<SampleEvent> taken;
  for (int i = 0; i < 300; ++i) {
    const CallNodeId chain = nodes[random() % nodes.size()];
    taken.push_back({i, 0, {chain, SampleOrigin::kTimer, 0, 1'000}});
    const std::vector<Line>& lines = lines_of[chain];
    if (!lines.empty() && !lines.front().first.empty()) ++expected[lines.front()].first;
    for (const Line& line : std::set<Line>(lines.begin(), lines.end()))
      if (!line.first.empty()) ++expected[line].second;
  }
  add_samples(builder, process, 10, taken);
  const auto trace = builder.snapshot();
  std::map<Line, std::pair<std::uint64_t, std::uint64_t>> found;
  std::uint64_t before = taken.size();
  for (const LineWeight& line : line_weights(*trace, sampled_stacks(*trace, {}), CallChoice::kAll, WeightBy::kCount)) {
    CHECK(line.self.count <= before);  // heaviest first
    before = line.self.count;
    found[{std::string(trace->name(line.file)), line.line}] = {line.self.count, line.total.count};
  }
  CHECK(found == expected);
}

TEST_CASE("a trace without samples has no lines") {
  TraceBuilder builder;
  const auto trace = builder.snapshot();
  CHECK(line_weights(*trace, {}, CallChoice::kAll, WeightBy::kCount).empty());
}
