#include "model/import/open_trace.h"

#include <fstream>

#include <sys/stat.h>

#include "../trace/rank_of_collectives.h"
#include "chrome/chrome_file.h"
#include "model/export/trace_file_export.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/segments/demanded_segments.h"
#include "nsys_database.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

using namespace lanescope;

namespace {

std::string refusal(const std::string& name, const std::string& content) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / name;
  std::ofstream(path, std::ios::binary) << content;
  const auto trace = open_trace(path);
  REQUIRE_FALSE(trace);
  CHECK(trace.error().text.find(path.string()) != std::string::npos);
  CHECK(trace.error().text.find('\n') == std::string::npos);
  return trace.error().text;
}

std::string gzipped(std::string_view text) {
  const test::TemporaryFolder folder;
  test::write_gzip(folder.path() / "packed", text);
  return test::content(folder.path() / "packed");
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("reports of Nsight Systems are refused with the command that exports them") {
  CHECK(contains(refusal("report1.nsys-rep", "NVIDIA Tegra Profiler Report 1."), "nsys export -t sqlite "));
  CHECK(contains(refusal("renamed.bin", "NVIDIA Tegra Profiler Report 1."), "nsys export -t sqlite "));
  CHECK(contains(refusal("report1.qdrep", "anything"), "nsys export -t sqlite "));
  CHECK(contains(refusal("raw.qdstrm", "anything"), "nsys import "));
}

TEST_CASE("what is no file is refused, and waited for by nobody") {
  const test::TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe.json";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(open_trace(pipe).error().text, "is no file but a pipe"));
  const auto loop = folder.path() / "loop.trace";
  std::filesystem::create_symlink(loop, loop);
  CHECK(contains(open_trace(loop).error().text, "can't be opened"));
  CHECK(contains(open_trace(folder.path() / std::string(300, 'x')).error().text, "can't be opened"));
  CHECK(contains(open_trace(folder.path()).error().text, "is a folder"));
}

TEST_CASE("other known formats are named") {
  CHECK(contains(refusal("kernel.ncu-rep", "NVR"), "kernel.ncu-rep --csv --page raw > kernels.csv"));
  // The first bytes of reports of Nsight Compute 2025.3.1; four runs with different sets and options have the same.
  const std::string ncu_report("NVR\0\x02\0\0\0\x08\x07\x78\0\0\0\x08\0\x10\0\x1a", 19);
  CHECK(contains(refusal("renamed.bin", ncu_report), "renamed.bin --csv --page raw > kernels.csv"));
  CHECK(contains(refusal("details.csv", "\"ID\",\"Process ID\",\"Process Name\",\"Section Name\",\"Metric Name\"\n"), "Export the page of raw values"));
  CHECK(contains(refusal("cut.csv", "\"ID\",\"Process ID\",\"Process Name\",\"a__b.sum\"\n\"\",\"\",\"\",\"ns\"\n"), "measured no kernel"));
  CHECK(contains(refusal("none.csv", "==PROF== Connected to process 1\n"), "no table of Nsight Compute's"));
  CHECK(contains(refusal("trace.pftrace", "\x0a"), "Perfetto"));
  CHECK(contains(refusal("report1.h5", "\x89HDF\r\n\x1a\n"), "nsys export -t sqlite "));
  CHECK(contains(refusal("kernels.parquet", "PAR1"), "nsys export -t sqlite "));
  CHECK(contains(refusal("host.xplane.pb", "\x0a"), "trace.json.gz"));
  CHECK(contains(refusal("unknown.pb", "\x0a\x1e"), "protocol buffers"));
  CHECK(contains(refusal("unknown.pb", "\x0a\x1e"), "traceconv json "));
  const std::string pprof("\x0a\x04\x08\x01\x10\x02", 6);  // the first of its sample types
  CHECK(contains(refusal("cpu.pb", pprof), "profile of pprof"));
  CHECK(contains(refusal("cpu.pb.gz", gzipped(pprof)), "profile of pprof"));
  CHECK(contains(refusal("old.nvvp", "SQLite"), "lanescope profile"));
  CHECK(contains(refusal("run.rpd", "SQLite format 3"), "rpd2tracing.py "));
  CHECK(contains(refusal("traces.otf2", "OTF2"), "pftrace"));
  CHECK(contains(refusal("proton.hatchet", "[{}]"), "no timeline"));
  CHECK(contains(refusal("perf.data", "PERFILE2"), "Linux perf"));
  CHECK(contains(refusal("run.tracy", "tr"), "Tracy"));
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "report1_pqtdir");
  CHECK(contains(open_trace(folder.path() / "report1_pqtdir").error().text, "nsys export -t sqlite "));
}

TEST_CASE("what is packed is to be unpacked first, with the command that does") {
  CHECK(contains(refusal("trace.json.zip", "PK\x03\x04"), "unzip "));
  CHECK(contains(refusal("trace.json.zst", "\x28\xb5\x2f\xfd"), "unzstd "));
  CHECK(contains(refusal("trace.json.xz",
                         "\xfd"
                         "7zXZ"),
                 "unxz "));
  CHECK(contains(refusal("report1.nsys-rep.gz", gzipped("NVIDIA Tegra Profiler Report 1.")), "gunzip -k "));
  CHECK(contains(refusal("report1.nsys-rep", gzipped("NVIDIA Tegra Profiler Report 1.")), "gunzip -k "));
  CHECK(contains(refusal("report1.sqlite.gz", gzipped(std::string_view("SQLite format 3\0", 16))), "gunzip -k "));
  CHECK(contains(refusal("notes.gz", gzipped("hello")), "no trace that can be read"));
}

TEST_CASE("a SQLite database of another program is told from an export") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "bookmarks.sqlite";
  test::write_database(path, "CREATE TABLE bookmarks(url TEXT);");
  const auto trace = open_trace(path);
  REQUIRE_FALSE(trace);
  CHECK(contains(trace.error().text, "not an export of Nsight Systems"));
}

TEST_CASE("several files are one trace of parts that go by their names, or by their paths where names are equal") {
  const test::TemporaryFolder folder;
  const auto write = [&](const std::string& name) {
    const auto path = folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << R"({"traceEvents": [{"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})";
    return path;
  };
  const auto labels = [](const std::vector<std::filesystem::path>& paths) {
    const auto trace = open_traces(paths);
    REQUIRE(trace);
    std::vector<std::string> found;
    for (const TracePart& part : (*trace)->parts()) found.push_back(part.label);
    return found;
  };
  CHECK(labels({write("rank0.json"), write("rank1.json")}) == std::vector<std::string>{"rank0.json", "rank1.json"});
  const std::vector<std::filesystem::path> paths = {write("0/run.json"), write("1/run.json")};
  CHECK(labels(paths) == std::vector<std::string>{paths[0].string(), paths[1].string()});
}

TEST_CASE("compacted files are one trace at once, before their events are in memory, where these fit") {
  const test::TemporaryFolder folder;
  std::vector<std::filesystem::path> paths;
  for (const char* rank : {"ranks_late0", "ranks_late1"}) {
    paths.push_back(folder.path() / (std::string(rank) + ".trace"));
    REQUIRE(compact_trace_file(test::data_file(std::string(rank) + ".trace"), paths.back(), Overwrite::kRefuse));
  }
  const auto budget = GENERATE(std::uint64_t{16} << 10, std::uint64_t{1} << 30);
  SegmentCache::of_process().set_budget(budget);
  std::shared_ptr<const Trace> at_once;
  const auto trace = open_traces(paths, EventPlace::kInMemoryWhereTheyFit, [&](double, const std::shared_ptr<const Trace>& partial) {
    if (partial) at_once = partial;
    return LoadStep::kContinue;
  });
  REQUIRE(trace);
  const bool fits = budget > 1'000'000;
  CHECK(holds_events(**trace) == fits);
  REQUIRE(at_once);  // also if they don't fit: before their collectives tell how their clocks relate
  CHECK_FALSE(holds_events(*at_once));
  // The same, event by event, as with all events in memory.
  const auto expected = open_traces(paths, EventPlace::kInMemory);
  REQUIRE(expected);
  for (const std::shared_ptr<const Trace>& each : {*trace, fits ? at_once : *trace}) {  // the last picture before events are in memory has its clocks set
    REQUIRE(each->lanes().size() == (*expected)->lanes().size());
    CHECK(each->extent() == (*expected)->extent());
    CHECK(each->parts().size() == 2);
    for (LaneId id = 0; id < each->lanes().size(); ++id) {
      const Lane &lane = each->lane(id), &same = (*expected)->lane(id);
      REQUIRE(lane.size() == same.size());
      if (lane.empty()) continue;
      CHECK(lane.extent() == same.extent());
      CHECK(busy_total(lane) == busy_total(same));
      bool equal = true;
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const Event a = lane.event(i), b = same.event(i);
        equal = equal && a.start == b.start && a.duration == b.duration && each->name(a.name) == (*expected)->name(b.name) && a.correlation == b.correlation &&
                a.detail == b.detail;
      }
      CHECK(equal);
    }
  }
  SegmentCache::of_process().set_budget(SegmentCache::default_budget());
}

TEST_CASE("compacted files of several machines are one trace before any event says how their clocks stand to each other") {
  constexpr Nanoseconds kAhead = 3'000'000;  // error of the second machine's clock, which its time of day does not show
  const test::TemporaryFolder folder;
  const std::vector<std::int64_t> times = test::times_of_collectives(100, 10'000'000);
  const auto written = [&](std::uint32_t rank, const std::string& boot) {
    test::RankOfCollectives recording{.boot = boot, .rank = rank};
    recording.clock = [rank](std::int64_t true_time) { return test::kEpoch + true_time + rank * kAhead; };
    const std::filesystem::path path = folder.path() / (boot + std::to_string(rank) + ".trace");
    REQUIRE(export_trace_file(*test::recorded(recording, times), path, Overwrite::kRefuse, {}, FileForm::kCompacted));
    return path;
  };
  std::vector<std::shared_ptr<const Trace>> partial;
  const auto opened = [&](const std::vector<std::filesystem::path>& paths) {
    partial.clear();
    const std::uint64_t before = SegmentCache::of_process().use().decoded;
    auto trace = open_traces(paths, EventPlace::kInFile, [&](double, const std::shared_ptr<const Trace>& each) {
      if (!each) return LoadStep::kContinue;
      CHECK(SegmentCache::of_process().use().decoded == before);
      partial.push_back(each);
      return LoadStep::kContinue;
    });
    REQUIRE(trace);
    return *trace;
  };
  const auto trace = opened({written(0, "left"), written(1, "right")});
  REQUIRE(partial.size() == 1);
  const TracePart &set = trace->parts()[1], &at_once = partial.front()->parts()[1];
  CHECK(set.has_collectives_in_common);
  CHECK(set.clock(times.front() + kAhead) == times.front());
  CHECK_FALSE(at_once.has_collectives_in_common);
  CHECK(at_once.clock(times.front() + kAhead) == times.front() + kAhead);
  CHECK(partial.front()->event_count() == trace->event_count());
  CHECK(partial.front()->tracks().size() == trace->tracks().size());
  // If all files have one machine's clock, there is nothing to wait for.
  CHECK(opened({written(0, "same"), written(1, "same")})->parts().size() == 2);
  CHECK(partial.empty());
}

TEST_CASE("of several files that can't be opened, the first is named, and who calls off hears so") {
  const test::TemporaryFolder folder;
  const std::filesystem::path sound = test::data_file("ranks_late0.trace"), other = test::data_file("ranks_late1.trace");
  for (int times = 0; times < 20; ++times) {
    const std::vector<std::filesystem::path> paths = {sound, folder.path() / "first.trace", other, folder.path() / "second.trace"};
    const auto trace = open_traces(paths, EventPlace::kInFile);
    REQUIRE_FALSE(trace);
    CHECK(trace.error().text.find("first.trace") != std::string::npos);
  }
  const std::vector<std::filesystem::path> paths = {sound, other};
  const auto cancelled = open_traces(paths, EventPlace::kInFile, [](double, const std::shared_ptr<const Trace>&) { return LoadStep::kCancel; });
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().text == "Opening 2 traces was cancelled.");
}

TEST_CASE("what is not there, is a folder, is empty or is none of all this is refused") {
  CHECK_FALSE(open_trace("/no/such/file.trace"));
  CHECK_FALSE(open_trace("/tmp"));
  refusal("empty.trace", "");
  CHECK(contains(refusal("text.trace", "hello"), "not a .trace file"));
  CHECK(contains(refusal("text.txt", "hello"), "What can: .trace files"));
}
