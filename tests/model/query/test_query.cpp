// Answers of queries: the contents of the trace, counted by hand, whichever way SQLite looks them up.
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "../../../model/export/tables/event_tables.h"
#include "ask.h"
#include "model/export/arrow_table_stream.h"
#include "model/trace/combining/combine.h"
#include "model/trace/trace_builder.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

// Two kernels with one call each, one range around both, and one copy: times in ns.
std::shared_ptr<const Trace> small_trace(std::string_view kernel_name = "void gemm<float>(int)", const std::string& host = "gpu01") {
  TraceBuilder builder;
  builder.provenance().host_name = host;
  builder.provenance().labels = {{"run", "of " + host}};
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 4711;
  const ThreadId thread = builder.thread(process, 4712);
  Gpu gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "0123456789abcdef";
  builder.set_device(process, 0, gpu);
  builder.set_context({process, 1, 0, 7});
  KernelDetail shape;
  shape.grid[0] = 256;
  shape.block[0] = 128;
  shape.short_name = builder.intern("gemm");
  MemoryDetail copy;
  copy.copy_kind = CopyKind::kHostToDevice;
  copy.source_memory = MemoryKind::kPageable;
  copy.bytes = 4'096;
  const NameId name = builder.intern(kernel_name), call = builder.intern("cudaLaunchKernel");
  const DetailId detail = builder.intern(shape), copied = builder.intern(copy);
  const auto on_stream = [&](TrackKind kind) { return TrackKey{.kind = kind, .process = process, .gpu = 0, .context = 1, .stream = 7}; };
  builder.add(on_stream(TrackKind::kKernels), {{1'000, 100, name, 1, detail}, {2'000, 300, name, 2, detail}});
  builder.add(on_stream(TrackKind::kMemory), {{3'000, 40, 0, 3, copied}});
  builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = thread}, {{900, 50, call, 1, 0}, {1'900, 50, call, 2, 0}});
  builder.add({.kind = TrackKind::kNvtxRanges, .process = process, .thread = thread},
              {{800, 2'000, builder.intern("step 1"), 0, 0}, {2'900, 100, builder.intern("step 2"), 0, 0}});
  const CounterId power = builder.counter({.process = process, .name = "power"});
  builder.add_samples(std::array{power}, std::array<Nanoseconds, 1>{1'000}, std::array{std::vector<std::int64_t>{300}}, 2'000);
  return builder.snapshot();
}

std::uint64_t events_of(const Trace& trace, const exporters::EventTable& table) {
  std::uint64_t count = 0;
  for (const Track& track : trace.tracks())
    if (table.has_track(track.key.kind))
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < trace.lane(lane).size(); ++i) count += table.has(trace, track, trace.lane(lane).event(i)) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("rows of several recordings say of which they are") {
  const auto first = small_trace("first"), second = small_trace("second", "gpu02");
  const auto both = [&](std::string one, std::string other) {
    std::array<TraceSource, 2> sources = {TraceSource{first, "first.trace"}, TraceSource{second, "second.trace", 10'000}};
    sources[0].run = std::move(one);
    sources[1].run = std::move(other);
    return combine_traces(sources);
  };
  CHECK(answered(*first, "SELECT DISTINCT name, run, host FROM kernels") == "first\tof gpu01\tgpu01\n");
  const auto job = both({}, {}), compared = both("A", "B");
  CHECK(answered(*job, "SELECT DISTINCT name, run, host FROM kernels ORDER BY 1") == "first\tof gpu01\tgpu01\nsecond\tof gpu02\tgpu02\n");
  CHECK(answered(*compared, "SELECT DISTINCT name, run, host FROM kernels ORDER BY 1") == "first\tA\tgpu01\nsecond\tB\tgpu02\n");
  CHECK(answered(*compared, "SELECT run, host, count(*) FROM counters GROUP BY 1, 2 ORDER BY 1") == "A\tgpu01\t1\nB\tgpu02\t1\n");
}

TEST_CASE("a query answers with the rows and columns that it asks for") {
  const auto trace = small_trace();
  CHECK(answered(*trace, "SELECT start, duration, short_name, grid_x, block_x, stream, launch_start FROM kernels ORDER BY start DESC") ==
        "2000\t300\tgemm\t256\t128\t7\t1900\n1000\t100\tgemm\t256\t128\t7\t900\n");
  CHECK(answered(*trace, "SELECT kind, bytes, source_memory FROM copies") == "host to device\t4096\tpageable\n");
  CHECK(answered(*trace, "SELECT min(bytes), bytes + 0 AS b, total_bytes FROM copies, (SELECT sum(bytes) AS total_bytes FROM copies)") == "4096\t4096\t4096\n");
  CHECK(answered(*trace, "SELECT count(*) FROM kernels WHERE correlation = 2.0") == "1\n");
  CHECK(answered(*trace, "SELECT count(*) FROM kernels WHERE correlation = 2.5") == "0\n");
  CHECK(answered(*trace, "SELECT k.start FROM (SELECT 4 / 2.0 AS id) x JOIN kernels k ON k.correlation = x.id") == "2000\n");
  CHECK(answered(*trace, "SELECT family(name), count(*) FROM nvtx_ranges GROUP BY 1") == "step *\t2\n");
  CHECK(answered(*trace, "SELECT count(*) FROM page_faults") == "0\n");
  CHECK(answered(*trace, "SELECT r.name, k.start FROM nvtx_ranges r JOIN kernels k ON k.start BETWEEN r.start AND r.start + r.duration ORDER BY 2") ==
        "step 1\t1000\nstep 1\t2000\n");
  CHECK(answered(*trace, "SELECT k.start - c.start FROM kernels k JOIN api_calls c USING (process, correlation) ORDER BY 1") == "100\n100\n");
}

TEST_CASE("columns of one name are told apart, so that none is lost where a row is an object") {
  const auto trace = recorded("cuda_streams");
  const auto answer = query::run_query(*trace, "SELECT 1 AS name, 2 AS name, 3 AS 'name:1', 4 AS name, 5 AS other");
  REQUIRE(answer);
  std::vector<std::string> titles;
  for (const stats::Column& column : answer->table.columns()) titles.push_back(column.title);
  CHECK(titles == std::vector<std::string>{"name", "name:1", "name:2", "name:3", "other"});  // as in SQLite's CREATE TABLE … AS
  CHECK(answered(*trace, "SELECT start, start FROM kernels ORDER BY start LIMIT 1") == answered(*trace, "SELECT min(start), min(start) FROM kernels"));
}

TEST_CASE(":begin and :end are the part of time that is asked about, or all of it") {
  const auto trace = small_trace();
  const char* const sql = "SELECT count(*) FROM kernels WHERE start >= :begin AND start < :end";
  CHECK(answered(*trace, sql) == "2\n");
  query::QueryOptions options;
  options.window = TimeRange{1'001, 2'001};
  CHECK(answered(*trace, sql, options) == "1\n");
  CHECK(query::run_query(*trace, sql)->time == query::TimeUse::kOfWindow);
  // An open side of the part is the border of the trace, so that shares of the part can be asked for.
  const std::string all = answered(*trace, "SELECT :begin, :end");
  options.window = TimeRange{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()};
  CHECK(answered(*trace, "SELECT :begin, :end", options) == all);
  options.window = TimeRange{1'500, std::numeric_limits<Nanoseconds>::max()};
  CHECK(answered(*trace, "SELECT :begin, :end", options) == "1500" + all.substr(all.find('\t')));
  CHECK(query::run_query(*trace, "SELECT 1")->time == query::TimeUse::kWhole);
}

TEST_CASE("columns keep the unit of what they are of") {
  const auto trace = small_trace();
  const auto answer =
      query::run_query(*trace,
                       "SELECT start, duration, k.duration AS d, sum(k.duration), avg(duration), 2 * duration, 2 * duration AS twice_ns, correlation, "
                       "1.0 / 3 FROM kernels k");
  REQUIRE(answer);
  std::vector<stats::Unit> units;
  for (const stats::Column& column : answer->table.columns()) units.push_back(column.unit);
  using enum stats::Unit;
  CHECK(units == std::vector{kNanoseconds, kNanoseconds, kNanoseconds, kNanoseconds, kNanoseconds, kNone, kNanoseconds, kIdentifier, kNumber});
  const auto windows = query::run_query(*recorded("transpositions"), "SELECT period, every, dropped, max(period), sum(every) FROM pc_sample_windows");
  REQUIRE(windows);
  units.clear();
  for (const stats::Column& column : windows->table.columns()) units.push_back(column.unit);
  CHECK(units == std::vector{kNone, kNanoseconds, kNone, kNone, kNanoseconds});  // a period of cycles
  CHECK(query::run_query(*recorded("torch_loader_samples"), "SELECT sum(period) FROM samples")->table.columns()[0].unit == kNanoseconds);
  CHECK(answered(*trace, "SELECT 1.0 / 3, 1, NULL, 'a' UNION ALL SELECT 2, NULL, NULL, 7") == "0.3333333333333333\t1\t\ta\n2\t\t\t7\n");
}

TEST_CASE("every table of every recording has the rows that its tracks have, and the times of their ends") {
  for (const std::string& name : recordings()) {
    const auto trace = recorded(name);
    for (const exporters::EventTable& table : exporters::event_tables()) {
      INFO(name << ", " << table.name);
      CHECK(answered(*trace, "SELECT count(*) FROM " + std::string(table.name)) == std::to_string(events_of(*trace, table)) + "\n");
    }
    Nanoseconds busy = 0;
    for (const Track& track : trace->tracks())
      if (track.key.kind == TrackKind::kKernels)
        for (const LaneId lane : track.lanes)
          for (EventIndex i = 0; i < trace->lane(lane).size(); ++i) busy += trace->lane(lane).duration(i);
    CHECK(answered(*trace, "SELECT coalesce(sum(duration), 0) FROM kernels") == std::to_string(busy) + "\n");
  }
}

TEST_CASE("what is looked up by start and by correlation is what a search through all rows finds") {
  for (const std::string& name : recordings()) {
    const auto trace = recorded(name);
    const TimeRange extent = trace->extent();
    for (const char* const table : {"kernels", "api_calls", "copies", "nvtx_ranges", "samples", "counters", "thread_states"}) {
      for (int part = 0; part < 5; ++part) {
        const std::string from = std::to_string(extent.begin + extent.length() / 5 * part),
                          until = std::to_string(extent.begin + extent.length() / 5 * (part + 1));
        const std::string of = std::string(" count(*), coalesce(sum(start), 0) FROM ") + table;
        INFO(name << ", " << table << ", " << from);
        for (const char* const words : {">= %1 AND S < %2", "> %1 AND S <= %2", "BETWEEN %1 AND %2", "= %1", ">= %1 + 0.5"}) {
          std::string condition = words;
          for (const auto& [key, value] : std::map<std::string, std::string>{{"%1", from}, {"%2", until}})
            if (const auto at = condition.find(key); at != std::string::npos) condition.replace(at, 2, value);
          // A plus before a column keeps SQLite from looking it up.
          const std::string sought = "SELECT" + of + " WHERE S " + condition;
          CHECK(answered(*trace, std::regex_replace(sought, std::regex("\\bS\\b"), "start")) ==
                answered(*trace, std::regex_replace(sought, std::regex("\\bS\\b"), "+start")));
        }
      }
    }
    for (const char* const condition : {"IN (1, 2, 3, 100, 1000)", "= 17", "= -1", "= 4294967296", "= NULL", "= 1.5"})
      for (const char* const table : {"kernels", "api_calls"}) {
        INFO(name << ", " << table << ", " << condition);
        const std::string all = std::string("SELECT count(*), coalesce(sum(start), 0) FROM ") + table + " WHERE ";
        CHECK(answered(*trace, all + "correlation " + condition) == answered(*trace, all + "+correlation " + condition));
      }
    const std::string middle = std::to_string(extent.begin + extent.length() / 2);  // a text with digits counts as a number, too
    CHECK(answered(*trace, "SELECT count(*) FROM api_calls WHERE start < '" + middle + "'") ==
          answered(*trace, "SELECT count(*) FROM api_calls WHERE start < " + middle));
    CHECK(answered(*trace, "SELECT count(*) FROM api_calls WHERE start < 'soon'") == answered(*trace, "SELECT count(*) FROM api_calls"));
    CHECK(answered(*trace, "SELECT count(*) FROM (SELECT start, lag(start) OVER () AS before FROM api_calls ORDER BY start) WHERE before > start") == "0\n");
  }
}

TEST_CASE("every ready query answers about every recording") {
  for (const std::string& name : recordings()) {
    const auto trace = recorded(name);
    for (const query::ReadyQuery& ready : query::ready_queries()) {
      INFO(name << ", " << ready.title);
      const auto answer = query::run_query(*trace, ready.sql);
      CHECK(answer);
      CHECK(answer->time == query::TimeUse::kOfWindow);
    }
  }
}

// The samples are counted in the records themselves.
TEST_CASE("samples of warps are counted by kernel and reason, and belong to their windows") {
  const auto trace = recorded("transpositions");
  const KernelRecords& records = trace->kernel_records();
  std::map<std::pair<std::string, std::string>, std::uint64_t> expected;
  std::uint64_t lines = 0;
  for (const auto& window : records.windows)
    for (const PcSample& sample : window->samples) {
      expected[{std::string(trace->name(records.functions[sample.function].name)), records.reasons[sample.reason]}] += sample.samples;
      ++lines;
    }
  REQUIRE(expected.size() > 10);
  std::string text;
  for (const auto& [key, samples] : expected) text += key.first + '\t' + key.second + '\t' + std::to_string(samples) + '\n';
  CHECK(answered(*trace, "SELECT name, reason, sum(samples) FROM pc_samples GROUP BY 1, 2 ORDER BY 1, 2") == text);
  CHECK(answered(*trace, "SELECT count(*), count(DISTINCT start) FROM pc_samples") ==
        std::to_string(lines) + '\t' + std::to_string(records.windows.size()) + '\n');
  CHECK(answered(*trace, "SELECT count(*) FROM pc_sample_windows WHERE device = 0 AND duration > 0") == std::to_string(records.windows.size()) + '\n');
  CHECK(answered(*trace, "SELECT count(*) FROM pc_sample_windows w JOIN pc_samples s ON s.start = w.start AND s.process = w.process") ==
        std::to_string(lines) + '\n');
}

TEST_CASE("counters of kernels and counts of instructions belong to the launches that they are of") {
  const auto measured = recorded("kernel_counters");
  std::size_t values = 0;
  for (const auto& launch : measured->kernel_records().measured) values += launch->values.size();
  REQUIRE(values > 100);
  CHECK(answered(*measured, "SELECT count(*) FROM kernel_metrics") == std::to_string(values) + '\n');
  CHECK(answered(*measured, "SELECT count(*) FROM kernels k JOIN kernel_metrics m USING (process, correlation) WHERE m.start = k.start AND m.name = k.name") ==
        std::to_string(values) + '\n');

  const auto counted = recorded("transpositions_counts");
  // By construction: 262,144 warps execute each instruction of a transposition once.
  CHECK(answered(*counted, "SELECT DISTINCT value FROM instruction_counts WHERE metric = 'smsp__sass_inst_executed'") == "262144\n");
  std::size_t counts = 0;
  for (const auto& launch : counted->kernel_records().counted) counts += launch->values.size();
  CHECK(answered(*counted, "SELECT count(*) FROM instruction_counts") == std::to_string(counts) + '\n');
}

TEST_CASE("records of kernels are looked up by start and by correlation as a search through all rows finds them") {
  for (const std::string name : {"kernel_counters", "transpositions", "transpositions_counts", "zoo_counts"}) {
    const auto trace = recorded(name);
    const TimeRange extent = trace->extent();
    for (const char* const table : {"kernel_metrics", "instruction_counts", "pc_sample_windows", "pc_samples"}) {
      const std::string all = std::string("SELECT count(*), coalesce(sum(start), 0) FROM ") + table + " WHERE ";
      for (int part = 0; part < 4; ++part) {
        INFO(name << ", " << table << ", " << part);
        const std::string from = std::to_string(extent.begin + extent.length() / 4 * part),
                          until = std::to_string(extent.begin + extent.length() / 4 * (part + 1));
        CHECK(answered(*trace, all + "start >= " + from + " AND start < " + until) == answered(*trace, all + "+start >= " + from + " AND +start < " + until));
      }
      CHECK(answered(*trace, std::string("SELECT count(*) FROM (SELECT start, lag(start) OVER () AS before FROM ") + table +
                                 " ORDER BY start) WHERE before > start") == "0\n");
    }
    for (const char* const table : {"kernel_metrics", "instruction_counts"}) {
      const std::string all = std::string("SELECT count(*), coalesce(sum(start), 0) FROM ") + table + " WHERE ";
      CHECK(answered(*trace, all + "correlation IN (SELECT correlation FROM kernels LIMIT 3)") ==
            answered(*trace, all + "+correlation IN (SELECT correlation FROM kernels LIMIT 3)"));
      CHECK(answered(*trace, all + "correlation = -1") == "0\t0\n");
    }
  }
}

// Tables, columns, types and units.
TEST_CASE("tables and columns are those of the page about tables") {
  std::ifstream file(std::string(LANESCOPE_DOCS) + "/tables.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, std::set<std::string>> documented;
  std::string table;
  std::istringstream lines(page.substr(0, page.find("## Where a row comes from")));
  const std::regex heading("## (\\w+)"), row("\\| `(\\w+)` \\| .*");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) table = match[1];
    if (std::regex_match(line, match, row)) documented[table].insert(match[1]);
  }
  const auto trace = small_trace();
  std::set<std::string> found;
  for (const query::QueryTable& known : query::query_tables()) {
    found.emplace(known.name);
    const std::set<std::string_view> columns(known.columns.begin(), known.columns.end());
    for (const std::string& column : documented[std::string(known.name)]) {
      INFO(known.name << "." << column);
      CHECK(columns.contains(column));
    }
    CHECK(columns.contains("rank"));
    const auto answer = query::run_query(*trace, "SELECT * FROM " + std::string(known.name));
    REQUIRE(answer);
    REQUIRE(answer->table.columns().size() == known.columns.size());
    for (std::size_t i = 0; i < known.columns.size(); ++i) CHECK(answer->table.columns()[i].title == known.columns[i]);
  }
  for (const auto& [name, columns] : documented) CHECK(found.contains(name));
  const std::vector<std::string> of_arrow = table_names();
  CHECK(std::set<std::string>(of_arrow.begin(), of_arrow.end()) == found);
}

TEST_CASE("names of hostile programs are texts like others") {
  const std::vector<std::string> names = {
      "'; DROP TABLE kernels; --", "\"", std::string("a\0b", 3), "\xff\xfe not text", std::string(1u << 20, 'x'), "%", "\n\t|"};
  for (const std::string& name : names) {
    const auto trace = small_trace(name);
    const auto answer = query::run_query(*trace, "SELECT name, count(*) FROM kernels GROUP BY 1");
    REQUIRE(answer);
    REQUIRE(answer->table.row_count() == 1);
    const auto lanes = trace->tracks()[trace->tracks_of(0, TrackKind::kKernels).front()].lanes;
    CHECK(answer->table.text(answer->table.columns()[0].text(0)) == trace->name(trace->lane(lanes.front()).name(0)));
    CHECK(answered(*trace, "SELECT count(*) FROM kernels a JOIN kernels b USING (name)") == "4\n");
  }
}
