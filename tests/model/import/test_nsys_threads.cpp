#include <algorithm>

#include "model/import/open_trace.h"
#include "nsys_database.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using test::global_id;

namespace {

std::shared_ptr<const Trace> opened(const std::filesystem::path& path) {
  auto trace = open_trace(path);
  INFO((trace ? "" : trace.error().text));
  REQUIRE(trace);
  return *trace;
}

struct Totals {
  std::size_t running = 0;
  Nanoseconds running_time = 0;
  std::size_t others = 0;
  std::size_t samples = 0;
  std::size_t chained = 0;
  std::size_t backtraces = 0;
  Nanoseconds processor_time = 0;
  bool operator==(const Totals&) const = default;
};

Totals totals_of(const Trace& trace) {
  Totals totals;
  for (const Track& track : trace.tracks())
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        if (track.key.kind == TrackKind::kThreadStates) {
          const bool runs = trace.thread_state_detail(lane.detail(i)).state == ThreadState::kRunning;
          ++(runs ? totals.running : totals.others);
          if (runs) totals.running_time += lane.duration(i);
        }
        if (track.key.kind == TrackKind::kProcessors) totals.processor_time += lane.duration(i);
        if (track.key.kind == TrackKind::kBacktraces) ++totals.backtraces;
        if (track.key.kind != TrackKind::kCpuSamples) continue;
        ++totals.samples;
        if (trace.sample_detail(lane.detail(i)).call_node != 0) ++totals.chained;
      }
    }
  return totals;
}

}  // namespace

TEST_CASE("switches of threads become states, and chains of rows become call chains") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "export.sqlite";
  const std::string thread = global_id(4711, 4712);
  test::write_database(path,
                       "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
                       "INSERT INTO StringIds VALUES (1,'main'),(2,'work'),(3,'/bin/program'),(4,'futex_wait'),(5,'[Unknown]'),(6,'0x7f00'),(7,'poll');"
                       "CREATE TABLE PROCESSES(globalPid INT, pid INT, name TEXT); INSERT INTO PROCESSES VALUES (" +
                           global_id(4711) +
                           ",4711,'/bin/program');"
                           "CREATE TABLE SCHED_EVENTS(start INT, cpu INT, isSchedIn INT, globalTid INT, threadState INT);"
                           "INSERT INTO SCHED_EVENTS VALUES (100,2,1," +
                           thread + ",NULL),(180,2,0," + thread + ",2),(300,3,1," + thread + ",NULL),(310,3,0," + thread + ",6),(400,3,1," + thread +
                           ",NULL);"
                           "CREATE TABLE COMPOSITE_EVENTS(id INT, start INT, cpu INT, threadState INT, globalTid INT, cpuCycles INT);"
                           "INSERT INTO COMPOSITE_EVENTS VALUES (1,120,2,1," +
                           thread + ",1),(2,150,NULL,1," + thread +
                           ",1);"
                           "CREATE TABLE SAMPLING_CALLCHAINS(id INT, symbol INT, module INT, kernelMode INT, stackDepth INT);"
                           "INSERT INTO SAMPLING_CALLCHAINS VALUES (1,1,3,NULL,2),(1,4,5,1,0),(1,2,3,NULL,1);"
                           "CREATE TABLE OSRT_API(start INT, end INT, eventClass INT, globalTid INT, nameId INT, callchainId INT);"
                           "INSERT INTO OSRT_API VALUES (180,300,27," +
                           thread + ",7,9),(500,501,27," + thread +
                           ",7,0);"
                           "CREATE TABLE OSRT_CALLCHAINS(id INT, symbol INT, module INT, stackDepth INT); INSERT INTO OSRT_CALLCHAINS VALUES (9,2,3,0);");
  const auto trace = opened(path);
  CHECK(totals_of(*trace) == Totals{2, 90, 2, 2, 1, 1, 90});
  for (const Track& track : trace->tracks()) {
    const Lane& lane = trace->lane(track.lanes.front());
    if (track.key.kind == TrackKind::kThreadStates) {
      REQUIRE(lane.size() == 4);
      CHECK(trace->name(lane.name(1)) == "Blocked");
      CHECK(lane.duration(1) == 120);
      CHECK(trace->name(lane.name(3)) == "Runnable");
      CHECK(trace->threads()[track.key.thread].tid == 4712);
    }
    if (track.key.kind == TrackKind::kProcessors) CHECK(trace->name(lane.name(0)) == "program (4712)");
    if (track.key.kind == TrackKind::kBacktraces) CHECK(lane.duration(0) == 120);
    if (track.key.kind != TrackKind::kCpuSamples) continue;
    CHECK(trace->sample_detail(lane.detail(0)).processor == 2);
    const CallStacks& stacks = trace->call_stacks();
    const auto chain = stacks.chain(trace->sample_detail(lane.detail(0)).call_node);
    REQUIRE(chain.size() == 3);
    CHECK(trace->name(stacks.functions(chain[0]).front().function) == "futex_wait");
    CHECK(stacks.location(chain[0]).kind == CodeKind::kKernel);
    CHECK(trace->name(stacks.functions(chain[2]).front().function) == "main");
    CHECK(trace->name(stacks.location(chain[2]).module) == "/bin/program");
  }
}

// Counted with SQL: rows that put a thread on a processor and are not its last, the times until its next row, samples with and without chains, and calls with a
// chain.
TEST_CASE("real exports have the states, samples and backtraces that their tables count") {
  struct Known {
    const char* file;
    Totals totals;
  };
  const Known known = GENERATE(values<Known>({{"pipit_cloverleaf.sqlite", {627, 941'727'307, 619, 1'531, 1'531, 608, 941'727'307}},
                                              {"testcuda_4streams.sqlite", {1'212, 1'339'410'062, 1'203, 164, 164, 347, 1'339'410'062}},
                                              {"rodinia_gaussian.sqlite", {345, 3'469'318'024, 336, 2'619, 2'619, 167, 3'469'318'024}},
                                              {"cestwc_osrt.sqlite", {515, 605'421'195, 505, 315, 315, 230, 605'421'195}},
                                              {"fuser_h100.sqlite", {144, 2'023'000'401, 134, 0, 0, 0, 2'023'000'401}}}));
  const auto folder = test::corpus();
  if (!folder) return;
  INFO(known.file);
  CHECK(totals_of(*opened(*folder / "nsys" / known.file)) == known.totals);
}
