#include "model/trace/building/thread_states.h"
#include "model/trace/domains/python_lock.h"
#include "support/catch.h"
#include "timeline/core/lanes/event_matches.h"
#include "timeline/core/pixels/level_content.h"
#include "timeline/core/rows/row_tree.h"
#include "timeline/core/words/describe.h"
#include "traces.h"

using namespace lanescope;
using namespace lanescope::test;
using namespace lanescope::timeline;

namespace {

// A thread that runs for 30 of 100 ns and waits in poll, with three samples; and a thread with calls only.
struct Program : SmallTrace {
  Program() {
    const ThreadStateSpan states[] = {{0, 20, {ThreadState::kRunning, 2}},
                                      {20, 60, {ThreadState::kBlocked, kNone}},
                                      {80, 10, {ThreadState::kRunnable, kNone}},
                                      {90, 10, {ThreadState::kRunning, 5}}};
    add_thread_states(builder, process, 4711, states);
    const NameId library = builder.intern("/usr/lib/libz.so.1");
    outer = builder.call_node({0, python("train", 12)});
    CallNodeId node = outer;
    for (int depth = 0; depth < 20; ++depth)
      node = builder.call_node({node, builder.code_location({CodeKind::kNative, library, 0, 100u + static_cast<unsigned>(depth)},
                                                            {builder.intern("level" + std::to_string(depth)), 0, 0})});
    deep = node;
    const SampleEvent samples[] = {
        {5, 0, {deep, SampleOrigin::kTimer, 2, 1'000}}, {15, 0, {outer, SampleOrigin::kTimer, 2, 1'000}}, {95, 0, {0, SampleOrigin::kTimer, 5, 1'000}}};
    add_samples(builder, process, 4711, samples);
    builder.add(on_thread(TrackKind::kOsRuntime), {event(18, 85, "poll"), event(200, 210, "read")});
    builder.add(on_thread(TrackKind::kCudaApi), {event(300, 330, "cudaLaunchKernel", 7), event(340, 350, "cudaLaunchKernel", 8)});
    const SampleEvent backtraces[] = {{18, 67, {outer, SampleOrigin::kOsCall}}, {302, 27, {deep, SampleOrigin::kCudaCall}, 7}};
    add_samples(builder, process, 4711, backtraces);
    TrackKey other = on_thread(TrackKind::kOsRuntime);
    other.thread = builder.thread(process, 4712);
    builder.add(other, {event(0, 10, "read")});
    trace = builder.snapshot();
  }
  CodeLocationId python(const char* name, std::uint32_t line) {
    return builder.code_location({CodeKind::kPython, 0, 0, 0}, {builder.intern(name), builder.intern("/home/user/train.py"), line});
  }
  LaneId lane(TrackKind kind) const {
    for (const Track& track : trace->tracks())
      if (track.key.kind == kind) return track.lanes.front();
    return kNone;
  }
  std::string value(EventRef ref, const std::string& label) const {
    for (const Property& property : describe_event(*trace, ref))
      if (property.label == label) return property.value;
    return {};
  }
  // The lines of a call chain except the first.
  std::vector<std::string> callers(EventRef ref, Length length) const {
    std::vector<std::string> lines;
    for (const Property& property : describe_event(*trace, ref, length))
      if (property.label.empty()) lines.push_back(property.value);
    return lines;
  }
  CallNodeId outer = 0, deep = 0;
  std::shared_ptr<const Trace> trace;
};

}  // namespace

TEST_CASE("a thread's own row shows when it ran or could have, and tells how much of the time it ran") {
  const Program program;
  const RowTree tree(*program.trace);
  const Row& row = tree.row(*tree.find("process:1/thread:4711"));
  CHECK(row_title(row).english() == "30.0 % [4711] main");
  REQUIRE(row.levels.size() == 2);  // states, samples
  const LevelContent states(program.trace, row.levels[0]);
  CHECK(states.busy({0, 100}) == 40);
  CHECK(states.busy({0, 20}) == 20);
  CHECK(states.busy({20, 80}) == 0);  // the thread is blocked
  CHECK(states.busy({80, 90}) == 10);
  CHECK(LevelContent(program.trace, row.levels[1]).count({0, 100}) == 3);
  // A collapsed row shows the same states; a thread without states shows the rows below it.
  CHECK(row.all == row.levels[0]);
  const Row& other = tree.row(*tree.find("process:1/thread:4712"));
  CHECK_FALSE(other.share.has_value());
  // While recording goes on, the thread's time after 100 of 350 ns is not known; it may be waiting in all of that time.
  Program live;
  live.builder.provenance().format = "Lanescope";
  const auto so_far = live.builder.snapshot();
  const RowTree now(*so_far);
  const Row& recorded = now.row(*now.find("process:1/thread:4711"));
  CHECK(row_title(recorded).english() == "[4711] main");
  CHECK(recorded.levels == row.levels);
  live.builder.provenance().finished = true;
  const auto whole = live.builder.snapshot();
  const RowTree then(*whole);
  CHECK(row_title(then.row(*then.find("process:1/thread:4711"))).english() == "30.0 % [4711] main");
  CHECK(LevelContent(program.trace, other.all).busy({0, 100}) == 10);
  CHECK(tree.place_of(program.lane(TrackKind::kThreadStates))->row == *tree.find("process:1/thread:4711"));
  CHECK(tree.place_of(program.lane(TrackKind::kCpuSamples))->level == 1);
}

TEST_CASE("threads that called nothing and hardly ran are one line") {
  const auto rows_of = [](std::uint32_t idle) {
    SmallTrace small;
    const auto add = [&](std::uint32_t tid, Nanoseconds running) {
      const ThreadStateSpan states[] = {{0, running, {ThreadState::kRunning, 0}}, {running, 1'000 - running, {ThreadState::kBlocked, kNone}}};
      add_thread_states(small.builder, small.process, tid, states);
    };
    add(4711, 10);  // the main thread always has a row of its own
    for (std::uint32_t i = 1; i <= idle; ++i) add(4711 + i, 20);
    add(5001, 500);  // works
    add(5002, 20);   // calls
    TrackKey calls = small.on_thread(TrackKind::kOsRuntime);
    calls.thread = small.builder.thread(small.process, 5002);
    small.builder.add(calls, {small.event(0, 10, "read")});
    std::vector<std::string> rows;
    const RowTree tree(*small.builder.snapshot());
    const Row& process = tree.row(*tree.find("process:1"));
    for (const RowIndex child : process.children)
      rows.push_back(tree.row(child).key + (tree.row(child).expandable() && !tree.row(child).expanded_initially ? " closed" : ""));
    if (const auto group = tree.find("process:1/quiet")) {
      CHECK(tree.row(*group).label.english() == std::to_string(idle) + " threads with little activity");
      CHECK(tree.row(*group).children.size() == idle);
    }
    return rows;
  };
  const std::vector<std::string> three = rows_of(3);
  REQUIRE(three.size() == 4);
  CHECK(three[0].starts_with("process:1/thread:4711"));
  CHECK(three[1].starts_with("process:1/thread:5001"));
  CHECK(three[2].starts_with("process:1/thread:5002"));
  CHECK(three[3] == "process:1/quiet closed");
  CHECK(rows_of(2).size() == 5);  // one line for two would save only one
}

TEST_CASE("of many processes those are open and stand first that use the GPU, else those that ran longest") {
  const auto open_of = [](int with_cuda) {
    TraceBuilder builder;
    for (std::uint32_t i = 1; i <= 20; ++i) {
      const ProcessId process = builder.process_of_instance(i);
      builder.process(process).pid = 100 + i;
      const Nanoseconds running = i % 5 == 0 ? 1'000 * i : 10;  // 5, 10, 15 and 20 are the longest
      const ThreadStateSpan states[] = {{0, running, {ThreadState::kRunning, 0}}};
      add_thread_states(builder, process, 100 + i, states);
      if (static_cast<int>(i) > with_cuda) continue;
      TrackKey calls{TrackKind::kCudaApi, process};
      calls.thread = builder.thread(process, 100 + i);
      builder.add(calls, {{0, 1, builder.intern("cudaMalloc"), 0, 0}});
    }
    const RowTree tree(*builder.snapshot());
    std::vector<std::string> open;
    for (const Row& row : tree.rows())
      if (row.kind == RowKind::kProcess && row.expanded_initially) open.push_back(row.key);
    const std::vector<RowIndex>& processes = tree.row(*tree.find("processes")).children;
    for (std::size_t i = 0; i < open.size(); ++i) CHECK(tree.row(processes[i]).key == open[i]);
    CHECK(processes.size() == 20);
    return open;
  };
  CHECK(open_of(0) == std::vector<std::string>{"process:5", "process:10", "process:15", "process:20"});
  CHECK(open_of(2) == std::vector<std::string>{"process:1", "process:2"});
  CHECK(open_of(20).size() == 20);
}

TEST_CASE("a launcher that does not use the GPU stands behind the processes that it starts") {
  TraceBuilder builder;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    const ProcessId process = builder.process_of_instance(i);
    builder.process(process).pid = 100 + i;
    builder.process(process).start = i;
    const ThreadStateSpan states[] = {{i, 1'000, {ThreadState::kRunning, 0}}};
    add_thread_states(builder, process, 100 + i, states);
    if (i == 1) continue;
    TrackKey calls{TrackKind::kCudaApi, process};
    calls.thread = builder.thread(process, 100 + i);
    builder.add(calls, {{0, 1, builder.intern("cudaMalloc"), 0, 0}});
  }
  const RowTree tree(*builder.snapshot());
  std::vector<std::string> order;
  for (const RowIndex row : tree.row(*tree.find("processes")).children) {
    order.push_back(tree.row(row).key);
    CHECK(tree.row(row).expanded_initially);
  }
  CHECK(order == std::vector<std::string>{"process:2", "process:3", "process:1"});
}

// As a shell starts them one after the other.
TEST_CASE("a few processes stand in the order in which they started, whichever of them are open") {
  TraceBuilder builder;
  for (std::uint32_t i = 1; i <= 9; ++i) {
    const ProcessId process = builder.process_of_instance(i);
    builder.process(process).pid = 100 + i;
    builder.process(process).start = i;
    const ThreadStateSpan states[] = {{i, i % 4 == 0 ? 1'000 * i : 10, {ThreadState::kRunning, 0}}};
    add_thread_states(builder, process, 100 + i, states);
  }
  const RowTree tree(*builder.snapshot());
  std::vector<std::string> order, open;
  for (const RowIndex row : tree.row(*tree.find("processes")).children) {
    order.push_back(tree.row(row).key);
    if (tree.row(row).expanded_initially) open.push_back(tree.row(row).key);
  }
  CHECK(order == std::vector<std::string>{"process:1", "process:2", "process:3", "process:4", "process:5", "process:6", "process:7", "process:8", "process:9"});
  CHECK(open == std::vector<std::string>{"process:4", "process:8"});
}

TEST_CASE("of a wrapper's many short processes none stands in front of the program that it starts") {
  TraceBuilder builder;
  for (std::uint32_t i = 1; i <= 44; ++i) {
    const ProcessId process = builder.process_of_instance(i);
    builder.process(process).pid = 100 + i;
    builder.process(process).start = i;
    const ThreadStateSpan states[] = {{i, i == 44 ? 10'000 : 10 * i, {ThreadState::kRunning, 0}}};
    add_thread_states(builder, process, 100 + i, states);
  }
  const RowTree tree(*builder.snapshot());
  const std::vector<RowIndex>& processes = tree.row(*tree.find("processes")).children;
  CHECK(tree.row(processes[0]).key == "process:44");
  CHECK(tree.row(processes[0]).expanded_initially);
  CHECK(tree.row(processes[1]).key == "process:1");
  CHECK_FALSE(tree.row(processes[1]).expanded_initially);
}

TEST_CASE("a closed thread without states shows its calls, not their backtraces once more") {
  SmallTrace small;
  small.builder.add(small.on_thread(TrackKind::kOsRuntime), {small.event(0, 50, "read")});
  const SampleEvent backtraces[] = {{0, 50, {0, SampleOrigin::kOsCall}}};
  add_samples(small.builder, small.process, 4711, backtraces);
  const auto trace = small.builder.snapshot();
  const RowTree tree(*trace);
  REQUIRE(tree.find("process:1/thread:4711/backtraces").has_value());
  for (const char* key : {"process:1/thread:4711", "process:1"}) CHECK(LevelContent(trace, tree.row(*tree.find(key)).all).count({0, 100}) == 1);
}

TEST_CASE("what is quiet on the strip can still be asked for") {
  const Program program;
  const RowTree tree(*program.trace);
  const Row& row = tree.row(*tree.find("process:1/thread:4711"));
  const auto blocked = quiet_state(*program.trace, row.levels[0], 50);
  REQUIRE(blocked.has_value());
  CHECK(event_title(*program.trace, *blocked) == "Blocked");
  CHECK(program.value(*blocked, "In") == "poll, 67 ns");
  CHECK(program.value(*blocked, "Call chain") == "train  train.py:12 (Python)");  // the place of the call
  CHECK_FALSE(quiet_state(*program.trace, row.levels[0], 500).has_value());
  CHECK_FALSE(quiet_state(*program.trace, row.levels[1], 5).has_value());  // samples
  Level two_threads = row.levels[0];
  two_threads.push_back(LaneSource{.lane = program.lane(TrackKind::kOsRuntime)});
  CHECK_FALSE(quiet_state(*program.trace, two_threads, 50).has_value());
  CHECK_FALSE(quiet_state(*program.trace, {}, 50).has_value());
}

// Of 350 ns that were recorded, 20 and 10.
TEST_CASE("processors have rows, by number, with how much of the whole recording each was in use") {
  const Program program;
  const RowTree tree(*program.trace);
  const Row& group = tree.row(*tree.find("processors"));
  CHECK(group.label.english() == "CPU cores (2)");
  CHECK_FALSE(group.expanded_initially);
  REQUIRE(group.children.size() == 2);
  CHECK(row_title(tree.row(group.children[0])).english() == "5.7 % CPU 2");
  CHECK(row_title(tree.row(group.children[1])).english() == "2.9 % CPU 5");
  CHECK(row_title(group).english() == "4.3 % CPU cores (2)");
  SmallTrace without;
  CHECK_FALSE(RowTree(*without.builder.snapshot()).find("processors").has_value());
}

// A program that sleeps has no events: what is known of its first 350 ns gives no share of the seconds since then.
TEST_CASE("processors have no shares while too little is known of the time that the clock tells") {
  Program program;
  program.builder.provenance().finished = false;
  const auto recorded = program.builder.snapshot();
  const auto share_at = [&](std::optional<Nanoseconds> now) {
    SegmentSums sums;
    const RowTree tree(*recorded, sums, now);
    return row_title(tree.row(*tree.find("processors"))).english();
  };
  CHECK(share_at(std::nullopt) == "4.3 % CPU cores (2)");
  CHECK(share_at(380) == "4.3 % CPU cores (2)");  // less than a tenth is unknown
  CHECK(share_at(4'000'000'000) == "CPU cores (2)");
}

// A saved part keeps events that reach into it whole, and some events that lie before it.
TEST_CASE("processors of a saved part have shares of its time") {
  Program program;
  program.builder.provenance().part = SavedPart{{10, 60}, 0};
  const auto part = program.builder.snapshot();
  const RowTree tree(*part);
  const Row& group = tree.row(*tree.find("processors"));
  CHECK(row_title(tree.row(group.children[0])).english() == "20.0 % CPU 2");  // from 10 to 20
  CHECK(row_title(tree.row(group.children[1])).english() == "0.0 % CPU 5");
  CHECK(row_title(group).english() == "10.0 % CPU cores (2)");
}

TEST_CASE("a sample tells its call chain, innermost first, as far as one wants to read it") {
  const Program program;
  const LaneId lane = program.lane(TrackKind::kCpuSamples);
  CHECK(program.value({lane, 0}, "Processor") == "2");
  CHECK(program.value({lane, 0}, "Call chain") == "level19  libz.so.1");
  CHECK(program.callers({lane, 0}, Length::kWhole).size() == 20);
  CHECK(program.callers({lane, 0}, Length::kWhole).back() == "train  train.py:12 (Python)");
  // In brief, the line of Python comes after the innermost calls: of 20 native calls, 8 lines, and 12 more.
  const std::vector<std::string> brief = program.callers({lane, 0}, Length::kBrief);
  REQUIRE(brief.size() == 9);
  CHECK(brief[6] == "level12  libz.so.1");
  CHECK(brief[7] == "… 12 more");
  CHECK(brief[8] == "train  train.py:12 (Python)");
  CHECK(program.value({lane, 1}, "Call chain") == "train  train.py:12 (Python)");
  CHECK(program.value({lane, 2}, "Call chain") == "could not be read");
}

TEST_CASE("a call tells the chain that was taken at it") {
  const Program program;
  const LaneId calls = program.lane(TrackKind::kOsRuntime);
  CHECK(program.value({calls, 0}, "Call chain") == "train  train.py:12 (Python)");
  CHECK(program.value({calls, 1}, "Call chain").empty());
  // A backtrace shows the callers.
  const auto label = [&](EventIndex index) {
    return event_label(*program.trace, TrackKind::kBacktraces, program.trace->event({program.lane(TrackKind::kBacktraces), index}));
  };
  CHECK(label(0) == "train");
  CHECK(label(1) == "train");  // twenty native calls deeper
  // The backtrace was taken a little after the call started; the correlation id identifies the call.
  const LaneId launches = program.lane(TrackKind::kCudaApi);
  CHECK(program.value({launches, 0}, "Call chain") == "level19  libz.so.1");
  CHECK(program.value({launches, 1}, "Call chain").empty());
}

TEST_CASE("a search for a function finds the samples with it in their chains") {
  const Program program;
  EventMatches matches(program.trace, "TRAIN");
  CHECK(matches.in_lane(program.lane(TrackKind::kCpuSamples)).size() == 2);
  CHECK(matches.in_lane(program.lane(TrackKind::kBacktraces)).size() == 2);
  CHECK(matches.in_lane(program.lane(TrackKind::kOsRuntime)).empty());
  EventMatches inner(program.trace, "level19");
  CHECK(inner.in_lane(program.lane(TrackKind::kCpuSamples)).size() == 1);
  CHECK(inner.count() == 2);  // a sample, a backtrace
}

TEST_CASE("threads that call CUDA or set ranges are open at first; without such, the first four of a process are") {
  const auto opened = [](bool with_cuda) {
    SmallTrace small;
    for (std::uint32_t tid = 4711; tid < 4717; ++tid) {
      TrackKey calls = small.on_thread(TrackKind::kOsRuntime);
      calls.thread = small.builder.thread(small.process, tid);
      small.builder.add(calls, {small.event(0, 10, "poll")});
      if (!with_cuda || tid != 4715) continue;
      calls.kind = TrackKind::kCudaApi;
      small.builder.add(calls, {small.event(20, 30, "cudaLaunchKernel")});
    }
    const RowTree tree(*small.builder.snapshot());
    std::vector<std::uint32_t> open;
    for (std::uint32_t tid = 4711; tid < 4717; ++tid)
      if (tree.row(*tree.find("process:1/thread:" + std::to_string(tid))).expanded_initially) open.push_back(tid);
    return open;
  };
  CHECK(opened(true) == std::vector<std::uint32_t>{4715});
  CHECK(opened(false) == std::vector<std::uint32_t>{4711, 4712, 4713, 4714});
}

TEST_CASE("who holds Python's lock stands under the thread that does, other start/end ranges under the process") {
  struct WithLock : SmallTrace {
    WithLock() {
      builder.set_domain(process, 2, kPythonLockDomain);
      builder.set_domain(process, 3, "io");
      for (const std::uint32_t domain : {2u, 3u}) {
        TrackKey key = on_thread(TrackKind::kNvtxProcessRanges);
        key.domain = domain;
        builder.add(key, {event(0, 10, domain == 2 ? "holds the GIL" : "request")});
      }
      trace = builder.snapshot();
    }
    std::shared_ptr<const Trace> trace;
  };
  const WithLock program;
  const RowTree tree(*program.trace);
  CHECK(tree.row(*tree.find("process:1/thread:4711/nvtx:2")).label.english() == "Python GIL");
  CHECK(tree.row(*tree.find("process:1/nvtx:3")).label.english() == "NVTX · io");
}

TEST_CASE("what has no end of its own says what ended then") {
  struct End {
    const char* format;
    ProcessEndKind kind;
    Nanoseconds process_end;  // the range's is 90
    RecordingEnd recording;
    const char* words;
  };
  const End ends[] = {
      {"Lanescope", ProcessEndKind::kDetached, 90, RecordingEnd::kStopped, "no: still open when the recording ended"},
      {"Lanescope", ProcessEndKind::kDetached, 90, RecordingEnd::kRange, "no: still open when the range that was captured ended"},
      {"Lanescope", ProcessEndKind::kSignaled, 90, RecordingEnd::kTargetExited, "no: still open when the process ended"},
      {"Lanescope", ProcessEndKind::kReplaced, 90, RecordingEnd::kStopped, "no: still open when the process became another program (exec)"},
      {"Lanescope", ProcessEndKind::kDetached, 100'000, RecordingEnd::kStopped, "no: its end was not recorded"},      // because records were lost
      {"Lanescope", ProcessEndKind::kUnknown, kNone, RecordingEnd::kUnknown, "no: its end is not in the recording"},  // it still runs, or was cut off
      {"Chrome JSON", ProcessEndKind::kUnknown, kNone, RecordingEnd::kUnknown, "no: still open when the recording ended"},
  };
  for (const End& end : ends) {
    SmallTrace small;
    NvtxDetail open;
    open.finished = Finished::kNo;
    KernelDetail runs;
    runs.finished = Finished::kNo;
    small.builder.provenance().format = end.format;
    small.builder.provenance().end = end.recording;
    small.builder.process(small.process).end_kind = end.kind;
    if (end.kind != ProcessEndKind::kUnknown) small.builder.process(small.process).end = end.process_end;
    small.builder.add(small.on_thread(TrackKind::kNvtxRanges), {small.event(10, 90, "step", 0, small.builder.intern(open))});
    small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(20, 90, "kernel", 0, small.builder.intern(runs))});
    const std::shared_ptr<const Trace> trace = small.builder.snapshot();
    const auto finished = [&](TrackKind kind) {
      const Track& track = trace->tracks()[trace->tracks_of(small.process, kind).front()];
      for (const Property& property : describe_event(*trace, {track.lanes.front(), 0}))
        if (property.label == "Finished") return std::string(property.value);
      return std::string();
    };
    CHECK(finished(TrackKind::kNvtxRanges) == end.words);
    std::string words = finished(TrackKind::kKernels);
    if (const std::size_t still = words.find("still running"); still != std::string::npos)
      words.replace(still, std::string_view("still running").size(), "still open");
    if (end.process_end != 100'000) CHECK(words == end.words);  // CUPTI reports a kernel that still runs only when everything ends
  }
}
