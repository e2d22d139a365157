#include <algorithm>

#include "recording.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

constexpr std::uint32_t kInstance = 1;

void add_location(proto::EventChunk& chunk, std::uint32_t module, std::uint64_t address, std::uint32_t function = 0,
                  proto::CodeKind kind = proto::CODE_NATIVE) {
  proto::CodeLocation& location = *chunk.add_code_locations();
  location.set_kind(kind);
  location.set_module(module);
  location.set_address(address);
  location.set_function(function);
}

void add_node(proto::EventChunk& chunk, std::uint32_t parent, std::uint32_t location) {
  proto::CallNode& node = *chunk.add_call_nodes();
  node.set_parent(parent);
  node.set_location(location);
}

// main -> work -> leaf in one program; leaf is called from work and from main.
proto::EventChunk two_samples() {
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch + 1'000);
  chunk.set_first_string(1);
  chunk.add_strings("/bin/program");
  chunk.add_strings("load");
  chunk.set_first_code_location(1);
  add_location(chunk, 1, 0x1000);                    // main
  add_location(chunk, 1, 0x2000);                    // work
  add_location(chunk, 0, 0, 2, proto::CODE_PYTHON);  // load, whose name is known at once
  chunk.set_first_call_node(1);
  add_node(chunk, 0, 1);  // 1: main
  add_node(chunk, 1, 2);  // 2: main > work
  add_node(chunk, 2, 3);  // 3: main > work > load
  add_node(chunk, 1, 3);  // 4: main > load
  proto::Samples& samples = *chunk.mutable_samples();
  samples.set_thread(77);
  samples.set_origin(proto::SAMPLE_TIMER);
  samples.set_period(1'000'000);
  samples.add_time_delta(500);
  samples.add_time_delta(250);
  samples.add_call_node(3);
  samples.add_call_node(4);
  samples.add_processor(0);
  samples.add_processor(6);
  return chunk;
}

const Lane& lane_of(const Trace& trace, TrackKind kind, std::uint32_t processor = kNone) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == kind && track.key.processor == processor) return trace.lane(track.lanes.front());
  FAIL("there is no such track");
  return trace.lanes().front();
}

std::vector<std::string> functions_of(const Trace& trace, EventIndex sample) {
  std::vector<std::string> names;
  const Lane& lane = lane_of(trace, TrackKind::kCpuSamples);
  const CallStacks& stacks = trace.call_stacks();
  for (const CodeLocationId location : stacks.chain(trace.sample_detail(lane.detail(sample)).call_node))
    for (const CodeFunction& at : stacks.functions(location)) names.emplace_back(trace.name(at.function));
  return names;
}

}  // namespace

TEST_CASE("states of a thread are on its track, and what ran on the tracks of the processors") {
  Recording recording;
  proto::ProcessStart start;
  start.set_pid(4711);
  start.set_executable("/usr/bin/python3");
  recording.add(proto::FRAME_PROCESS_START, kInstance, proto::SOURCE_SESSION, start);
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  proto::ThreadStates& states = *chunk.mutable_thread_states();
  states.set_thread(4712);
  const std::uint32_t rows[][3] = {{100, proto::THREAD_RUNNING, 1},  // on processor 0
                                   {50, proto::THREAD_BLOCKED, 0},
                                   {30, proto::THREAD_RUNNABLE, 0},
                                   {200, proto::THREAD_RUNNING, 4}};
  std::uint32_t before = 0;
  for (const auto& [duration, state, processor] : rows) {
    states.add_start_delta(before);
    states.add_duration(duration);
    states.add_state(state);
    states.add_processor(processor);
    states.add_waker(state == proto::THREAD_BLOCKED ? 4713 : 0);
    before = duration;
  }
  recording.add(proto::FRAME_EVENTS, kInstance, proto::SOURCE_CPU, chunk);

  const auto trace = recording.trace();
  const Lane& lane = lane_of(*trace, TrackKind::kThreadStates);
  REQUIRE(lane.size() == 4);
  CHECK(trace->name(lane.name(0)) == "Running");
  CHECK(trace->name(lane.name(1)) == "Blocked");
  CHECK(trace->name(lane.name(2)) == "Runnable");
  CHECK(lane.start(3) == 180);
  CHECK(lane.end(3) == 380);
  CHECK(trace->thread_state_detail(lane.detail(3)) == ThreadStateDetail{ThreadState::kRunning, 3});
  CHECK(trace->thread_state_detail(lane.detail(1)) == ThreadStateDetail{ThreadState::kBlocked, kNone, 4713});
  CHECK(trace->threads()[trace->track_of(0).key.thread].tid == 4712);

  REQUIRE(lane_of(*trace, TrackKind::kProcessors, 0).size() == 1);
  const Lane& third = lane_of(*trace, TrackKind::kProcessors, 3);
  REQUIRE(third.size() == 1);
  CHECK(third.start(0) == 180);
  CHECK(third.duration(0) == 200);
  CHECK(trace->name(third.name(0)) == "python3 (4712)");
}

TEST_CASE("samples have their time, processor, period and call chain") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, kInstance, proto::SOURCE_CPU, two_samples());
  const auto trace = recording.trace();
  const Lane& lane = lane_of(*trace, TrackKind::kCpuSamples);
  REQUIRE(lane.size() == 2);
  CHECK(lane.start(0) == 1'500);
  CHECK(lane.start(1) == 1'750);
  CHECK(lane.duration(0) == 0);
  CHECK(trace->sample_detail(lane.detail(0)).processor == kNone);
  CHECK(trace->sample_detail(lane.detail(1)).processor == 5);
  CHECK(trace->sample_detail(lane.detail(1)).period == 1'000'000);
  // Native code is shown as file and address until more is known about it.
  CHECK(functions_of(*trace, 0) == std::vector<std::string>{"load", "program+0x2000", "program+0x1000"});
  CHECK(functions_of(*trace, 1) == std::vector<std::string>{"load", "program+0x1000"});
}

TEST_CASE("names that come after the recording are in later snapshots, with inlined functions, and earlier snapshots stay as they were") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, kInstance, proto::SOURCE_CPU, two_samples());
  const auto before = recording.trace();
  proto::Symbols symbols;
  symbols.set_first_string(3);
  for (const char* text : {"main", "work", "inlined", "program.cpp"}) symbols.add_strings(text);
  proto::LocationSymbol& of_main = *symbols.add_locations();
  of_main.set_location(1);
  of_main.add_functions()->set_function(3);
  proto::LocationSymbol& of_work = *symbols.add_locations();
  of_work.set_location(2);
  proto::FunctionAt& inner = *of_work.add_functions();
  inner.set_function(5);
  inner.set_source_file(6);
  inner.set_source_line(42);
  of_work.add_functions()->set_function(4);
  recording.add(proto::FRAME_SYMBOLS, kInstance, proto::SOURCE_CPU, symbols);
  const auto after = recording.trace();
  CHECK(functions_of(*after, 0) == std::vector<std::string>{"load", "inlined", "work", "main"});
  CHECK(functions_of(*after, 1) == std::vector<std::string>{"load", "main"});
  CHECK(functions_of(*before, 1) == std::vector<std::string>{"load", "program+0x1000"});
  const CallStacks& stacks = after->call_stacks();
  const SampleDetail& detail = after->sample_detail(lane_of(*after, TrackKind::kCpuSamples).detail(0));
  const CodeFunction& at = stacks.functions(stacks.chain(detail.call_node)[1]).front();
  CHECK(after->name(at.source_file) == "program.cpp");
  CHECK(at.source_line == 42);
}

TEST_CASE("equal chains of several chunks, and of several processes, are stored once") {
  Recording recording;
  recording.add(proto::FRAME_EVENTS, 1, proto::SOURCE_CPU, two_samples());
  const std::size_t nodes = recording.trace()->call_stacks().node_count();
  recording.add(proto::FRAME_EVENTS, 2, proto::SOURCE_CPU, two_samples());
  CHECK(recording.trace()->call_stacks().node_count() == nodes);
  CHECK(recording.trace()->call_stacks().location_count() == 1 + 3);
}

TEST_CASE("backtraces of calls are spans of their own track, told apart by the call") {
  const auto [origin, expected, name] =
      GENERATE(table<proto::SampleOrigin, SampleOrigin, const char*>({{proto::SAMPLE_CUDA_CALL, SampleOrigin::kCudaCall, "Backtrace of a CUDA call"},
                                                                      {proto::SAMPLE_OS_CALL, SampleOrigin::kOsCall, "Backtrace of an OS call"}}));
  proto::EventChunk chunk = two_samples();
  chunk.mutable_samples()->set_origin(origin);
  chunk.mutable_samples()->set_period(0);
  chunk.mutable_samples()->add_duration(90);
  chunk.mutable_samples()->add_duration(10);
  Recording recording;
  recording.add(proto::FRAME_EVENTS, kInstance, proto::SOURCE_SESSION, chunk);
  const auto trace = recording.trace();
  const Lane& lane = lane_of(*trace, TrackKind::kBacktraces);
  REQUIRE(lane.size() == 2);
  CHECK(lane.duration(0) == 90);
  CHECK(trace->name(lane.name(0)) == name);
  CHECK(trace->sample_detail(lane.detail(0)).origin == expected);
}

TEST_CASE("chunks whose columns do not fit together are counted and add nothing") {
  proto::EventChunk chunk = two_samples();
  SECTION("fewer chains than times") { chunk.mutable_samples()->mutable_call_node()->RemoveLast(); }
  SECTION("fewer processors than times") { chunk.mutable_samples()->mutable_processor()->RemoveLast(); }
  SECTION("more durations than times") {
    for (int i = 0; i < 3; ++i) chunk.mutable_samples()->add_duration(1);
  }
  SECTION("samples of no known origin") { chunk.mutable_samples()->set_origin(static_cast<proto::SampleOrigin>(9)); }
  SECTION("a state too many") {
    proto::ThreadStates& states = *chunk.mutable_thread_states();
    states.add_start_delta(1);
    states.add_duration(1);
    states.add_state(1);
    states.add_state(1);
  }
  Recording recording;
  recording.add(proto::FRAME_EVENTS, kInstance, proto::SOURCE_CPU, chunk);
  CHECK(recording.malformed() == 1);
  CHECK(recording.trace()->event_count() == 0);
}

TEST_CASE("ids that were never defined stand for nothing known") {
  proto::EventChunk chunk = two_samples();
  SECTION("a chain") { chunk.mutable_samples()->set_call_node(0, 999); }
  SECTION("a location") { chunk.mutable_call_nodes(2)->set_location(999); }
  SECTION("a caller that comes later") { chunk.mutable_call_nodes(2)->set_parent(4); }
  SECTION("a call that calls itself") { chunk.mutable_call_nodes(2)->set_parent(3); }
  SECTION("a kind of code, a string") {
    chunk.mutable_code_locations(0)->set_kind(static_cast<proto::CodeKind>(200));
    chunk.mutable_code_locations(2)->set_function(999);
  }
  SECTION("symbols of no location") {
    proto::Symbols symbols;
    symbols.add_locations()->set_location(999);
    Recording recording;
    recording.add(proto::FRAME_SYMBOLS, kInstance, proto::SOURCE_CPU, symbols);
    CHECK(recording.malformed() == 0);
  }
  Recording recording;
  recording.add(proto::FRAME_EVENTS, kInstance, proto::SOURCE_CPU, chunk);
  const auto trace = recording.trace();
  REQUIRE(lane_of(*trace, TrackKind::kCpuSamples).size() == 2);
  const CallStacks& stacks = trace->call_stacks();
  for (CallNodeId id = 1; id < stacks.node_count(); ++id) {
    CHECK(stacks.node(id).parent < id);  // so every chain ends
    CHECK(stacks.node(id).location < stacks.location_count());
    CHECK_FALSE(stacks.functions(stacks.node(id).location).empty());
  }
  CHECK(functions_of(*trace, 0).size() <= 3);
}

TEST_CASE("who a processor runs is named by a program's name, which is no longer than that of a file may be") {
  Recording recording;
  proto::ProcessStart process;
  process.set_executable("/bin/" + std::string(1'000, 'p'));
  recording.add(proto::FRAME_PROCESS_START, kInstance, proto::SOURCE_SESSION, process);
  proto::EventChunk chunk;
  chunk.set_base_time(kEpoch);
  proto::ThreadStates& states = *chunk.mutable_thread_states();
  states.set_thread(5);
  states.add_start_delta(10);
  states.add_duration(10);
  states.add_state(proto::THREAD_RUNNING);
  states.add_processor(1);
  recording.add(proto::FRAME_EVENTS, kInstance, proto::SOURCE_SESSION, chunk);
  const auto trace = recording.trace();
  const auto processor =
      std::find_if(trace->tracks().begin(), trace->tracks().end(), [](const Track& track) { return track.key.kind == TrackKind::kProcessors; });
  REQUIRE(processor != trace->tracks().end());
  CHECK(trace->name(trace->lane(processor->lanes[0]).name(0)) == std::string(255, 'p') + " (5)");
}
