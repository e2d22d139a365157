#include "model/samples/shown_calls.h"

#include <algorithm>
#include <random>

#include "model/samples/call_tree.h"
#include "model/trace/building/thread_states.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::samples;

namespace {

enum class Sort { kPython, kInterpreter, kLibrary };

struct Call {
  Sort sort = Sort::kPython;
  std::string name;
};
using Chain = std::vector<Call>;  // outermost first

// Chains that share their outer parts. Functions of Python are called by the interpreter or by each other, never by a library.
class RandomChains {
 public:
  explicit RandomChains(unsigned seed) : random_(seed) {
    const CallNodeId main = add(0, {Sort::kLibrary, "main"});
    const CallNodeId run = add(main, {Sort::kInterpreter, "run"});
    add(run, {Sort::kPython, "module"});
    for (int i = 0; i < 120; ++i) {
      const auto below = static_cast<CallNodeId>(number(static_cast<int>(chains_.size())));
      auto sort = static_cast<Sort>(number(3));
      if (sort == Sort::kPython && (below == 0 || chains_[below].back().sort == Sort::kLibrary)) sort = Sort::kInterpreter;
      add(below, {sort, std::string(1, "pil"[static_cast<int>(sort)]) + std::to_string(number(4))});
    }
    trace_ = builder_.snapshot();
  }

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const std::vector<Chain>& chains() const { return chains_; }  // by call node

 private:
  int number(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  CallNodeId add(CallNodeId below, const Call& call) {
    const bool python = call.sort == Sort::kPython;
    const NameId module = python ? 0 : builder_.intern(call.sort == Sort::kInterpreter ? "/lib/libpython3.so" : "/lib/libwork.so");
    const CallNodeId node =
        builder_.call_node({below, builder_.code_location({python ? CodeKind::kPython : CodeKind::kNative, module, 0, 0}, {builder_.intern(call.name), 0, 0})});
    if (node < chains_.size()) return node;  // it already exists
    chains_.push_back(chains_[below]);
    chains_.back().push_back(call);
    return node;
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  std::vector<Chain> chains_{Chain{}};
  std::shared_ptr<const Trace> trace_;
};

// The calls that the choice shows by its definition, call by call.
std::vector<std::string> expected(const Chain& chain, CallChoice choice) {
  const auto is_python = [](const Call& call) { return call.sort == Sort::kPython; };
  const auto first = std::find_if(chain.begin(), chain.end(), is_python);
  const bool whole = choice == CallChoice::kAll || first == chain.end();
  std::vector<std::string> names;
  for (auto call = whole ? chain.begin() : first; call != chain.end(); ++call)
    if (whole || is_python(*call) || (choice == CallChoice::kWithoutInterpreter && call->sort == Sort::kLibrary)) names.push_back(call->name);
  return names;
}

std::vector<std::string> shown(const Trace& trace, const ShownCalls& calls, CallNodeId chain) {
  std::vector<std::string> names;
  for (CallNodeId call = calls.innermost(chain); call != 0; call = calls.caller(call))
    names.emplace_back(trace.name(trace.call_stacks().functions(trace.call_stacks().node(call).location).front().function));
  std::reverse(names.begin(), names.end());
  return names;
}

double total_share(const CallTree& tree, std::string_view function) {
  for (const FunctionWeight& each : function_weights(tree))
    if (tree.functions()[each.function].name == function) return static_cast<double>(each.total.count) / static_cast<double>(tree.total().count);
  return 0;
}

}  // namespace

TEST_CASE("chains lose the calls that were not chosen, and no others") {
  const RandomChains made(GENERATE(range(1u, 30u)));
  const CallChoice choice = GENERATE(CallChoice::kAll, CallChoice::kWithoutInterpreter, CallChoice::kPythonOnly);
  const ShownCalls calls(made.trace().call_stacks(), choice);
  CHECK(calls.innermost(0) == 0);
  for (CallNodeId chain = 1; chain < made.chains().size(); ++chain) REQUIRE(shown(made.trace(), calls, chain) == expected(made.chains()[chain], choice));
}

TEST_CASE("a call tree of chosen calls has all samples: what is not shown counts as its caller") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const auto native = [&](const char* module, const char* name) {
    return builder.code_location({CodeKind::kNative, builder.intern(module), 0, 0}, {builder.intern(name), 0, 0});
  };
  const auto python = [&](const char* name) { return builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern(name), 0, 0}); };
  const CallNodeId run = builder.call_node({builder.call_node({0, native("/bin/python3", "main")}), native("/bin/python3", "PyEval_EvalCode")});
  const CallNodeId train = builder.call_node({run, python("train")});
  const CallNodeId call = builder.call_node({train, native("/bin/python3", "cfunction_call")});
  const CallNodeId add = builder.call_node({call, native("/lib/libtorch.so", "add")});
  const CallNodeId load = builder.call_node({call, python("load")});
  const CallNodeId worker = builder.call_node({0, native("/lib/libtorch.so", "worker")});
  const SampleEvent samples[] = {{1, 0, {call, SampleOrigin::kTimer}}, {2, 0, {add, SampleOrigin::kTimer}},    {3, 0, {add, SampleOrigin::kTimer}},
                                 {4, 0, {load, SampleOrigin::kTimer}}, {5, 0, {worker, SampleOrigin::kTimer}}, {6, 0, {0, SampleOrigin::kTimer}}};
  add_samples(builder, process, 10, samples);
  const auto trace = builder.snapshot();
  const auto stacks = sampled_stacks(*trace, {});
  const auto weights = [&](CallChoice choice, CallTreeOrder order) {
    const CallTree tree = make_call_tree(*trace, stacks, order, choice);
    CHECK(tree.total().count == 6);
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> found;  // self and total, of a function that is in the tree once
    for (std::uint32_t node = 1; node < tree.nodes().size(); ++node)
      found[tree.function_of(node).name] = {tree.node(node).self.count, tree.node(node).total.count};
    return found;
  };
  using Weights = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;
  CHECK(weights(CallChoice::kWithoutInterpreter, CallTreeOrder::kTopDown) ==
        Weights{{"train", {1, 4}}, {"add", {2, 2}}, {"load", {1, 1}}, {"worker", {1, 1}}, {"(unknown)", {1, 1}}});
  CHECK(weights(CallChoice::kPythonOnly, CallTreeOrder::kTopDown) == Weights{{"train", {3, 4}}, {"load", {1, 1}}, {"worker", {1, 1}}, {"(unknown)", {1, 1}}});
  CHECK(weights(CallChoice::kPythonOnly, CallTreeOrder::kBottomUp).at("load") == std::pair<std::uint64_t, std::uint64_t>{0, 1});
  CHECK(weights(CallChoice::kAll, CallTreeOrder::kTopDown).at("cfunction_call") == std::pair<std::uint64_t, std::uint64_t>{1, 4});
}

TEST_CASE("of a recorded PyTorch program the interpreter goes, and the shares of Python's functions stay") {
  const auto loaded = load_trace(test::data_file("torch_loader_samples.trace"));
  REQUIRE(loaded.has_value());
  const Trace& trace = **loaded;
  REQUIRE(has_python(trace.call_stacks()));
  const auto stacks = sampled_stacks(trace, {});
  const CallTree all = make_call_tree(trace, stacks, CallTreeOrder::kTopDown);
  const double loader = total_share(all, "SlowDataset.__getitem__");
  REQUIRE(loader > 0);
  REQUIRE(total_share(all, "PyObject_Malloc") > 0.01);
  for (const CallChoice choice : {CallChoice::kWithoutInterpreter, CallChoice::kPythonOnly}) {
    const CallTree tree = make_call_tree(trace, stacks, CallTreeOrder::kTopDown, choice);
    CHECK(tree.total() == all.total());
    CHECK(total_share(tree, "SlowDataset.__getitem__") == loader);
    CHECK(total_share(tree, "PyObject_Malloc") < 0.001);
    CHECK((total_share(tree, "at::CPUGeneratorImpl::random()") > 0) == (choice == CallChoice::kWithoutInterpreter));
  }
}

TEST_CASE("a program without Python is shown whole") {
  const auto loaded = load_trace(test::data_file("cpu_loader.trace"));  // Python's functions were not recorded in its samples
  REQUIRE(loaded.has_value());
  CHECK_FALSE(has_python((*loaded)->call_stacks()));
}
