#include "model/samples/call_tree.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/samples/flame_graph.h"
#include "random_samples.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::samples;
using namespace lanescope::test;

namespace {

using Path = std::vector<std::string>;

struct PathWeights {
  Weight total, self;
  auto operator<=>(const PathWeights&) const = default;
};

SampleSelection random_selection(unsigned seed, const Trace& trace) {
  std::mt19937 random(seed);
  SampleSelection selection;
  if (random() % 2) selection.source = StackSource::kBacktraces;
  if (random() % 3) {
    const auto begin = static_cast<Nanoseconds>(random() % RandomSamples::kSpan);
    selection.window = TimeRange{begin, begin + 1 + static_cast<Nanoseconds>(random() % 500)};
  }
  if (random() % 2)
    for (ThreadId thread = 0; thread < trace.threads().size(); ++thread)
      if (random() % 2) selection.threads.push_back(thread);
  return selection;
}

bool is_selected(const MadeSample& made, const SampleSelection& selection) {
  if (made.timed != (selection.source == StackSource::kCpuSamples)) return false;
  if (!selection.threads.empty() && std::count(selection.threads.begin(), selection.threads.end(), made.thread) == 0) return false;
  if (!selection.window) return true;
  const TimeRange window = *selection.window;
  return made.timed ? window.contains(made.time.begin) : made.time.begin < window.end && made.time.end > window.begin;
}

Weight weight_of(const MadeSample& made) { return {1, made.timed ? made.period : made.time.length()}; }

// Sample by sample, prefix by prefix: slow and obvious.
std::map<Path, PathWeights> oracle_tree(const RandomSamples& samples, const SampleSelection& selection, CallTreeOrder order) {
  std::map<Path, PathWeights> tree;
  for (const MadeSample& made : samples.made()) {
    if (!is_selected(made, selection)) continue;
    Path calls = made.calls;
    if (order == CallTreeOrder::kBottomUp) std::reverse(calls.begin(), calls.end());
    for (std::size_t depth = 0; depth <= calls.size(); ++depth)
      tree[Path(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(depth))].total += weight_of(made);
    tree[calls].self += weight_of(made);
  }
  return tree;
}

Path path_of(const CallTree& tree, std::uint32_t node) {
  Path path;
  for (; node != 0; node = tree.node(node).parent) path.push_back(tree.function_of(node).name);
  std::reverse(path.begin(), path.end());
  return path;
}

std::map<Path, PathWeights> as_paths(const CallTree& tree) {
  std::map<Path, PathWeights> paths;
  for (std::uint32_t node = 0; node < tree.nodes().size(); ++node) {
    if (tree.node(node).total.count == 0) continue;
    const bool is_new = paths.try_emplace(path_of(tree, node), PathWeights{tree.node(node).total, tree.node(node).self}).second;
    CHECK(is_new);  // calls of one function by one caller are one node
  }
  return paths;
}

}  // namespace

TEST_CASE("call trees have the weights that counting sample by sample gives, of any threads and times") {
  const unsigned seed = GENERATE(range(1u, 40u));
  const CallTreeOrder order = GENERATE(CallTreeOrder::kTopDown, CallTreeOrder::kBottomUp);
  const RandomSamples samples(seed);
  const SampleSelection selection = random_selection(seed, samples.trace());
  const CallTree tree = make_call_tree(samples.trace(), sampled_stacks(samples.trace(), selection), order);
  REQUIRE(as_paths(tree) == oracle_tree(samples, selection, order));
}

TEST_CASE("siblings lie beside each other, the heaviest first, behind their parents") {
  const RandomSamples samples(GENERATE(range(1u, 10u)));
  const CallTree tree = make_call_tree(samples.trace(), sampled_stacks(samples.trace(), {}), CallTreeOrder::kTopDown);
  for (std::uint32_t node = 0; node < tree.nodes().size(); ++node) {
    const CallTreeNode& parent = tree.node(node);
    for (std::uint32_t child = parent.first_child; child < parent.first_child + parent.child_count; ++child) {
      REQUIRE(child > node);
      REQUIRE(tree.node(child).parent == node);
      REQUIRE(tree.node(child).depth == parent.depth + 1);
      if (child > parent.first_child) REQUIRE(tree.node(child - 1).total >= tree.node(child).total);
    }
  }
}

TEST_CASE("a function weighs what its chains weigh, once each however often it calls itself") {
  const unsigned seed = GENERATE(range(1u, 40u));
  const RandomSamples samples(seed);
  const SampleSelection selection = random_selection(seed, samples.trace());
  std::map<std::string, PathWeights> expected;
  for (const MadeSample& made : samples.made()) {
    if (!is_selected(made, selection)) continue;
    expected[made.calls.back()].self += weight_of(made);
    for (const std::string& function : std::set<std::string>(made.calls.begin(), made.calls.end())) expected[function].total += weight_of(made);
  }
  const CallTree tree = make_call_tree(samples.trace(), sampled_stacks(samples.trace(), selection), CallTreeOrder::kTopDown);
  std::map<std::string, PathWeights> found;
  Weight before{~0ull, 0};
  for (const FunctionWeight& each : function_weights(tree)) {
    found[tree.functions()[each.function].name] = {each.total, each.self};
    CHECK(each.self <= before);
    before = each.self;
  }
  REQUIRE(found == expected);
}

TEST_CASE("a function is said to be at the line that most of its samples are at") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const NameId module = builder.intern("/bin/program");
  const NameId file = builder.intern("work.cpp");
  std::vector<SampleEvent> events;
  for (const std::uint32_t line : {7u, 9u, 9u, 9u, 8u})
    events.push_back({static_cast<Nanoseconds>(events.size()),
                      0,
                      {builder.call_node({0, builder.code_location({CodeKind::kNative, module, 0, 0x100 + line}, {builder.intern("work"), file, line})}),
                       SampleOrigin::kTimer}});
  add_samples(builder, process, 1, events);
  const auto trace = builder.snapshot();
  const CallTree tree = make_call_tree(*trace, sampled_stacks(*trace, {}), CallTreeOrder::kTopDown);
  REQUIRE(tree.nodes().size() == 2);
  CHECK(trace->name(tree.function_of(1).source_file) == "work.cpp");
  CHECK(tree.function_of(1).source_line == 9);
}

TEST_CASE("each box of a flame graph is as wide as its share, below its caller, beside its siblings") {
  const unsigned seed = GENERATE(range(1u, 15u));
  const WeightBy by = GENERATE(WeightBy::kCount, WeightBy::kTime);
  const RandomSamples samples(seed);
  const CallTree tree = make_call_tree(samples.trace(), sampled_stacks(samples.trace(), {}), CallTreeOrder::kTopDown);
  const std::uint32_t focus = seed % static_cast<std::uint32_t>(tree.nodes().size());
  const double whole = amount(tree.node(focus).total, by);
  const std::vector<FlameBox> boxes = flame_graph(tree, focus, by, 0);
  std::map<std::uint32_t, FlameBox> of_node;
  for (const FlameBox& box : boxes) REQUIRE(of_node.try_emplace(box.node, box).second);
  const auto is_below = [&](std::uint32_t node) {
    for (; node != 0; node = tree.node(node).parent)
      if (node == focus) return true;
    return focus == 0;
  };
  for (std::uint32_t node = 0; node < tree.nodes().size(); ++node) {
    const bool contains_focus = [&] {
      for (std::uint32_t each = focus; each != 0; each = tree.node(each).parent)
        if (each == node) return true;
      return node == 0;
    }();
    REQUIRE(of_node.contains(node) == (contains_focus || is_below(node)));
    if (!of_node.contains(node)) continue;
    const FlameBox& box = of_node[node];
    REQUIRE(box.depth == tree.node(node).depth);
    if (contains_focus) {
      REQUIRE(box.left == 0);
      REQUIRE(box.right == 1);
      continue;
    }
    REQUIRE(box.right - box.left == Approx(amount(tree.node(node).total, by) / whole));
    const FlameBox& parent = of_node[tree.node(node).parent];
    REQUIRE(box.left >= parent.left - 1e-9);
    REQUIRE(box.right <= parent.right + 1e-9);
  }
  for (std::size_t i = 1; i < boxes.size(); ++i)
    if (boxes[i].depth == boxes[i - 1].depth) REQUIRE(boxes[i].left >= boxes[i - 1].right - 1e-9);
}

TEST_CASE("boxes that are too narrow to be seen are left out with all below them") {
  const RandomSamples samples(3);
  const CallTree tree = make_call_tree(samples.trace(), sampled_stacks(samples.trace(), {}), CallTreeOrder::kTopDown);
  const std::vector<FlameBox> all = flame_graph(tree, 0, WeightBy::kCount, 0);
  const std::vector<FlameBox> some = flame_graph(tree, 0, WeightBy::kCount, 0.02);
  const auto wide = std::count_if(all.begin(), all.end(), [](const FlameBox& box) { return box.right - box.left >= 0.02; });
  CHECK(std::abs(static_cast<std::ptrdiff_t>(some.size()) - wide) <= 1);  // a width may be rounded either way
  CHECK(some.size() < all.size());
}

TEST_CASE("nothing was sampled: a root alone") {
  TraceBuilder builder;
  const auto trace = builder.snapshot();
  CHECK_FALSE(has_stacks(*trace, StackSource::kCpuSamples));
  for (const CallTreeOrder order : {CallTreeOrder::kTopDown, CallTreeOrder::kBottomUp}) {
    const CallTree tree = make_call_tree(*trace, sampled_stacks(*trace, {}), order);
    CHECK(tree.nodes().size() == 1);
    CHECK(tree.total() == Weight{});
    CHECK(flame_graph(tree, 0, WeightBy::kCount, 0).size() == 1);
    CHECK(function_weights(tree).empty());
  }
}

TEST_CASE("who asks to stop gets nothing") {
  const RandomSamples samples(1);
  std::stop_source stop;
  stop.request_stop();
  CHECK(sampled_stacks(samples.trace(), {}, stop.get_token()).empty());
}
