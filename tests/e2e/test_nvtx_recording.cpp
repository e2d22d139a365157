// A recording of nvtx_threads holds every range, nesting and name that the program makes, and nothing else.
#include <cstring>
#include <map>
#include <set>

#include "../programs/nvtx/nvtx_threads_facts.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace facts = lanescope::test::nvtx_threads;

namespace {

std::shared_ptr<const Trace> record() {
  const TemporaryFolder folder;
  REQUIRE(
      run_lanescope(folder.path(), {"profile", "-t", "nvtx", "--cpuctxsw=none", "--sample=none", "-o", "x", program("lanescope_program_nvtx_threads").string()})
          .code == 0);
  return load(folder.path() / "x.trace");
}

ProcessId parent_of(const Trace& trace) { return trace.processes()[0].forked ? 1 : 0; }

// The lane of a thread's push/pop ranges in a domain at a depth.
const Lane* find_lane(const Trace& trace, ThreadId thread, std::string_view domain, std::size_t depth) {
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges || track.key.thread != thread || depth >= track.lanes.size()) continue;
    if (trace.domain_name(track.key.process, track.key.domain) == domain) return &trace.lane(track.lanes[depth]);
  }
  return nullptr;
}

std::vector<ThreadId> workers_of(const Trace& trace, ProcessId process) {
  std::vector<ThreadId> workers;
  for (ThreadId id = 0; id < trace.threads().size(); ++id)
    if (trace.threads()[id].process == process && trace.threads()[id].name.starts_with("worker ")) workers.push_back(id);
  return workers;
}

void check_one_step(const Trace& trace, ThreadId thread, EventIndex number) {
  const Lane& steps = *find_lane(trace, thread, "pipeline", 0);
  const Lane& outer = *find_lane(trace, thread, "", 0);
  const Lane& inner = *find_lane(trace, thread, "", 1);
  const auto covers = [](const Lane& around, EventIndex i, const Lane& within, EventIndex k) {
    return around.start(i) <= within.start(k) && within.end(k) <= around.end(i);
  };
  const EventIndex load_index = 2 * number;
  const EventIndex compute_index = 2 * number + 1;
  REQUIRE(trace.name(steps.name(number)) == "step");
  REQUIRE(trace.name(outer.name(load_index)) == "load");
  REQUIRE(trace.name(outer.name(compute_index)) == "compute");
  REQUIRE(trace.name(inner.name(number)) == "größe π");
  REQUIRE(covers(steps, number, outer, load_index));
  REQUIRE(covers(steps, number, outer, compute_index));
  REQUIRE(covers(outer, compute_index, inner, number));

  const NvtxDetail& step = trace.nvtx_detail(steps.detail(number));
  REQUIRE(step.category == facts::kComputeCategory);
  REQUIRE(step.color == facts::kStepColor);
  REQUIRE(step.payload_type == PayloadType::kUnsigned);
  REQUIRE(step.payload == number);
  REQUIRE(trace.nvtx_detail(outer.detail(load_index)).category == facts::kDefaultCategory);
}

}  // namespace

TEST_CASE("every step of every worker is there, nested as the program nested it") {
  const auto trace = record();
  const std::vector<ThreadId> workers = workers_of(*trace, parent_of(*trace));
  REQUIRE(workers.size() == facts::kWorkers);
  for (const ThreadId worker : workers) {
    REQUIRE(find_lane(*trace, worker, "pipeline", 0)->size() == facts::kSteps);
    REQUIRE(find_lane(*trace, worker, "", 0)->size() == 2 * facts::kSteps);
    REQUIRE(find_lane(*trace, worker, "", 1)->size() == facts::kSteps);
    CHECK(find_lane(*trace, worker, "", 2) == nullptr);
    for (EventIndex number = 0; number < facts::kSteps; ++number) check_one_step(*trace, worker, number);
  }
}

TEST_CASE("threads, domains and categories have the names that the program gave") {
  const auto trace = record();
  const ProcessId parent = parent_of(*trace);
  std::set<std::string> names;
  for (const Thread& thread : trace->threads())
    if (thread.process == parent) names.insert(thread.name);
  CHECK(names == std::set<std::string>{"conductor", "worker 0", "worker 1", "worker 2", "worker 3"});

  std::map<std::string, std::uint32_t> domains;
  for (const Track& track : trace->tracks())
    if (track.key.process == parent) domains.emplace(trace->domain_name(parent, track.key.domain), track.key.domain);
  REQUIRE(domains.contains("pipeline"));
  REQUIRE(domains.contains("payloads"));
  CHECK(trace->category_name(parent, domains.at("pipeline"), facts::kComputeCategory) == "compute");
  CHECK(trace->category_name(parent, 0, facts::kDefaultCategory) == "io");
}

TEST_CASE("ranges that one thread starts and another ends know both threads") {
  const auto trace = record();
  std::uint64_t requests = 0;
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kNvtxProcessRanges) continue;
    CHECK(trace->threads()[track.key.thread].name == "conductor");
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace->lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const std::string name(trace->name(lane.name(i)));
        const std::string ender = "worker " + std::to_string((name.back() - '0') % static_cast<int>(facts::kWorkers));
        const ThreadId end_thread = trace->nvtx_detail(lane.detail(i)).end_thread;
        REQUIRE(end_thread != kNone);
        CHECK(trace->threads()[end_thread].name == ender);
        ++requests;
      }
    }
  }
  CHECK(requests == facts::kRequests);
}

TEST_CASE("marks and their payloads of every type arrive as they were") {
  const auto trace = record();
  const ProcessId parent = parent_of(*trace);
  CHECK(count_events(*trace, TrackKind::kNvtxMarks, "checkpoint", parent) == facts::kWorkers * facts::kSteps / facts::kMarkEvery);
  std::map<std::string, NvtxDetail> payloads;
  for (const Track& track : trace->tracks()) {
    if (track.key.kind != TrackKind::kNvtxMarks || trace->domain_name(track.key.process, track.key.domain) != "payloads") continue;
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace->lane(id).size(); ++i)
        payloads.emplace(trace->name(trace->lane(id).name(i)), trace->nvtx_detail(trace->lane(id).detail(i)));
  }
  REQUIRE(payloads.size() == facts::kPayloadMarks);
  const auto real = [&](const char* name) {
    double value = 0;
    std::memcpy(&value, &payloads.at(name).payload, sizeof(value));
    return value;
  };
  CHECK(payloads.at("unsigned 64").payload == ~std::uint64_t{0});
  CHECK(static_cast<std::int64_t>(payloads.at("signed 64").payload) == facts::kNegativePayload);
  CHECK(payloads.at("unsigned 32").payload == 4'000'000'000u);
  CHECK(static_cast<std::int64_t>(payloads.at("signed 32").payload) == -5);
  CHECK(real("double") == facts::kRealPayload);
  CHECK(real("float") == facts::kRealPayload);
}

TEST_CASE("the forked child is a process of its own, with its ranges and the names it inherited") {
  const auto trace = record();
  REQUIRE(trace->processes().size() == 2);
  const ProcessId parent = parent_of(*trace);
  const ProcessId child = 1 - parent;
  CHECK(trace->processes()[child].forked);
  CHECK(trace->processes()[child].parent_pid == trace->processes()[parent].pid);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "step", child) == facts::kChildSteps);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "größe π", child) == facts::kChildSteps);
  CHECK(count_events(*trace, TrackKind::kNvtxMarks, "only in the child", child) == 1);
  CHECK(count_events(*trace, TrackKind::kNvtxRanges, "whole run", child) == 0);
  std::set<std::string> domains;
  for (const Track& track : trace->tracks())
    if (track.key.process == child) domains.insert(std::string(trace->domain_name(child, track.key.domain)));
  CHECK(domains == std::set<std::string>{"", "pipeline", "child"});
}

TEST_CASE("ranges of processes that set NVTX up at one moment are each recorded of the process that makes it") {
  const std::string who = GENERATE("forker", "beside", "again");
  const bool is_held = GENERATE(true, false);
  CAPTURE(who, is_held);
  const int runs = is_held ? 1 : 5;
  for (int run = 0; run < runs; ++run) {
    const TemporaryFolder folder;
    std::vector<std::string> arguments{
        "profile", "-t", "nvtx", "--cpuctxsw=none", "--sample=none", "-o", "x", program("lanescope_program_fork_and_begin_together").string(), who};
    if (is_held) arguments.emplace_back("held");
    const Ran ran = run_lanescope(folder.path(), arguments);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.messages, contains_text("1,000 events") && contains_text("nothing dropped") && !contains_text("not recorded"));
    const auto trace = load(folder.path() / "x.trace");
    REQUIRE(trace->processes().size() == 5);
    std::set<std::string> makers;
    for (ProcessId id = 0; id < trace->processes().size(); ++id)
      for (const char* name : {"parent", "child 0", "child 1", "child 2", "child 3"})
        if (count_events(*trace, TrackKind::kNvtxRanges, name, id) == 200) makers.insert(name);
    CHECK(makers.size() == 5);
    for (const DiagnosticMessage& message : trace->diagnostics()) CHECK_THAT(message.text, !contains_text("not recorded"));
  }
}

TEST_CASE("nothing is dropped, and the counters agree with the events") {
  const auto trace = record();
  for (const Process& process : trace->processes()) {
    CHECK(process.completeness.dropped == 0);
    CHECK(process.completeness.invalid == 0);
    CHECK(process.completeness.late == 0);
  }
  const std::uint64_t ranges = facts::kRangesPerStep * (facts::kWorkers * facts::kSteps + facts::kChildSteps) + 2;
  const std::uint64_t marks = facts::kWorkers * facts::kSteps / facts::kMarkEvery + facts::kPayloadMarks + 1 + 1;  // the child's two
  CHECK(trace->event_count() == ranges + facts::kRequests + marks);
}
