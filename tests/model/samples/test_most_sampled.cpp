#include "model/samples/most_sampled.h"

#include "model/trace/building/thread_states.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::samples;

namespace {

// A Python function "load" at two lines, which calls into a library without symbols and into one with symbols; and a native thread.
struct Program {
  Program() {
    const ProcessId process = builder.process_of_instance(1);
    const NameId file = builder.intern("train.py");
    const auto python = [&](const char* name, std::uint32_t line) {
      return builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern(name), file, line});
    };
    const auto native = [&](const char* name, std::uint64_t address) {
      return builder.code_location({CodeKind::kNative, builder.intern("/lib/libz.so"), 0, address}, {builder.intern(name), 0, 0});
    };
    const CallNodeId step = builder.call_node({0, python("step", 5)});
    const CallNodeId load_30 = builder.call_node({step, python("load", 30)});
    const CallNodeId load_31 = builder.call_node({step, python("load", 31)});
    const CallNodeId inflate = builder.call_node({load_31, native("inflate", 1)});
    const CallNodeId crc = builder.call_node({load_31, native("crc32", 2)});
    const CallNodeId alone = builder.call_node({0, native("main", 3)});
    std::vector<SampleEvent> samples;
    for (const CallNodeId chain : {step, load_30, inflate, inflate, crc, alone, CallNodeId{0}, step, step})
      samples.push_back({static_cast<Nanoseconds>(samples.size()) * 10, 0, {chain, SampleOrigin::kTimer}});
    add_samples(builder, process, 1, samples);
    const SampleEvent other[] = {{5, 0, {alone, SampleOrigin::kTimer}}};
    add_samples(builder, process, 2, other);
    trace = builder.snapshot();
  }
  // For example "load:31 3", most frequent first.
  std::vector<std::string> most(TimeRange window, ChainPart part, std::size_t limit = 10) const {
    std::vector<std::string> lines;
    for (const MostSampled& each : most_sampled(*trace, 0, window, part, limit))
      lines.push_back(std::string(trace->name(each.function)) + ":" + std::to_string(each.source_line) + " " + std::to_string(each.count));
    return lines;
  }
  TraceBuilder builder;
  std::shared_ptr<const Trace> trace;
};

}  // namespace

TEST_CASE("the functions that ran most, of one thread and within the time") {
  const Program program;
  CHECK(program.most({10, 50}, ChainPart::kInnermost) == std::vector<std::string>{"inflate:0 2", "crc32:0 1", "load:30 1"});
  CHECK(program.most({10, 50}, ChainPart::kInnermost, 1) == std::vector<std::string>{"inflate:0 2"});
  CHECK(program.most({200, 300}, ChainPart::kInnermost).empty());
}

TEST_CASE("the Python line that loads stands for all that it calls") {
  const Program program;
  CHECK(program.most({0, 50}, ChainPart::kInnermostPython) == std::vector<std::string>{"load:31 4", "step:5 1"});
  // Without Python, the code that ran; nothing if the chain could not be read.
  CHECK(program.most({50, 70}, ChainPart::kInnermostPython) == std::vector<std::string>{":0 1", "main:0 1"});
  const auto found = most_sampled(*program.trace, 0, {0, 50}, ChainPart::kInnermostPython, 1);
  CHECK(found.front().kind == CodeKind::kPython);
  CHECK(program.trace->name(found.front().source_file) == "train.py");
  CHECK(found.front().share == Approx(0.8));
}

TEST_CASE("Python's functions of one name are told apart by their files") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  std::vector<SampleEvent> samples;
  for (const auto& [file, line, count] : {std::tuple("numpy/core.py", 4u, 2), std::tuple("torch/nn.py", 8u, 3), std::tuple("torch/nn.py", 9u, 1)}) {
    const CodeFunction function{builder.intern("<module>"), builder.intern(file), line};
    const CallNodeId call = builder.call_node({0, builder.code_location({CodeKind::kPython, 0, 0, 0}, function)});
    for (int i = 0; i < count; ++i) samples.push_back({static_cast<Nanoseconds>(samples.size()), 0, {call, SampleOrigin::kTimer}});
  }
  add_samples(builder, process, 1, samples);
  const auto trace = builder.snapshot();
  std::vector<std::string> places;
  for (const MostSampled& each : most_sampled(*trace, 0, {0, 10}, ChainPart::kInnermostPython, 3))
    places.push_back(place_text(*trace, each).english() + " " + std::to_string(each.count));
  CHECK(places == std::vector<std::string>{"<module> in nn.py:8 4", "<module> in core.py:4 2"});
}

TEST_CASE("code of which no function is known counts for its file, and native functions are told without their arguments") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  std::vector<SampleEvent> samples;
  ChainCounts chains;
  const auto sample = [&](CodeKind kind, const char* module, const char* function) {
    const NameId file = kind == CodeKind::kPython ? builder.intern("train.py") : NameId{0};
    const CodeLocationId code = builder.code_location({kind, builder.intern(module), 0, samples.size()}, {builder.intern(function), file, 0});
    const CallNodeId chain = builder.call_node({0, code});
    samples.push_back({static_cast<Nanoseconds>(samples.size()), 0, {chain, SampleOrigin::kTimer}});
    ++chains[chain];
  };
  for (const char* place : {"python3.12+0x1", "python3.12+0x2", "python3.12+0x3"}) sample(CodeKind::kNative, "/usr/bin/python3.12", place);
  for (int i = 0; i < 2; ++i) sample(CodeKind::kNative, "/usr/lib/libtorch.so", "at::Cache<long>::free(void*)");
  sample(CodeKind::kNative, "/usr/lib/libtorch.so", "memcpy");
  for (int i = 0; i < 2; ++i) sample(CodeKind::kPython, "", "load");
  add_samples(builder, process, 1, samples);
  const auto trace = builder.snapshot();
  CHECK(most_sampled_text(*trace, chains, ChainPart::kInnermost, 3).english() == "python3.12 (38 %), at::Cache::free (25 %), load in train.py (25 %)");
  // Ties are sorted by name.
  CHECK(most_sampled_files_text(*trace, chains, 3).english() == "libtorch.so (38 %), python3.12 (38 %), Python (25 %)");
  CHECK(most_sampled_files_text(*trace, chains, 3, 0.3).english() == "libtorch.so (38 %), python3.12 (38 %)");
  CHECK(most_sampled_files_text(*trace, {}, 3).empty());
}

TEST_CASE("an import stands for what it runs, not the functions of Python's import system") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const auto python = [&](const char* name, const char* file, std::uint32_t line) {
    return builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern(name), builder.intern(file), line});
  };
  const CallNodeId module = builder.call_node({0, python("<module>", "train.py", 3)});
  const CallNodeId import = builder.call_node({module, python("_find_and_load", "<frozen importlib._bootstrap>", 1360)});
  const CallNodeId call = builder.call_node({import, python("_call_with_frames_removed", "<frozen importlib._bootstrap>", 488)});
  const SampleEvent samples[] = {{5, 0, {call, SampleOrigin::kTimer}}};
  add_samples(builder, process, 1, samples);
  const auto trace = builder.snapshot();
  const auto found = most_sampled(*trace, 0, {0, 10}, ChainPart::kInnermostPython, 3);
  REQUIRE(found.size() == 1);
  CHECK(place_text(*trace, found[0]).english() == "<module> in train.py:3");
  CHECK(place_text(*trace, found[0]).pattern() == "{function} in {place}");  // other languages have another word for "in"
  const MostSampled package{builder.intern("<module>"), 0, CodeKind::kPython, builder.intern("/usr/lib/torch/__init__.py"), 8, 1, 1.0};
  CHECK(place_text(*builder.snapshot(), package).english() == "<module> in torch/__init__.py:8");
}

TEST_CASE("of functions and lines that ran equally often the first by its name stands first, however a file numbers them") {
  for (const bool is_reversed : {false, true}) {
    TraceBuilder builder;
    std::vector<std::string> names{"a", "b", "c.py", "d.py"};
    if (is_reversed) std::reverse(names.begin(), names.end());
    for (const std::string& name : names) static_cast<void>(builder.intern(name));
    const ProcessId process = builder.process_of_instance(1);
    std::vector<SampleEvent> samples;
    for (const auto& [name, file] : {std::pair("b", "c.py"), std::pair("a", "d.py"), std::pair("a", "c.py"), std::pair("b", "d.py")}) {
      const CallNodeId call =
          builder.call_node({0, builder.code_location({CodeKind::kNative, 0, 0, samples.size()}, {builder.intern(name), builder.intern(file), 1})});
      samples.push_back({static_cast<Nanoseconds>(samples.size()), 0, {call, SampleOrigin::kTimer}});
    }
    add_samples(builder, process, 1, samples);
    const auto trace = builder.snapshot();
    std::vector<std::string> places;
    for (const MostSampled& each : most_sampled(*trace, 0, {0, 10}, ChainPart::kInnermost, 3)) places.push_back(place_text(*trace, each));
    CHECK(places == std::vector<std::string>{"a in c.py:1", "b in c.py:1"});
  }
}
