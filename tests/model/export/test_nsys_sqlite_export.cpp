#include "model/export/nsys_sqlite_export.h"

#include <algorithm>
#include <limits>
#include <map>

#include <sqlite3.h>

#include "model/import/open_trace.h"
#include "sample_trace.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/trace_text.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

class Exported {
 public:
  explicit Exported(const Trace& trace, const NsysSqliteOptions& options = {}) {
    const auto written = export_nsys_sqlite(trace, path(), Overwrite::kRefuse, options);
    if (!written) FAIL(written.error().text);
    sqlite3_open(path().c_str(), &database_);
  }
  ~Exported() { sqlite3_close(database_); }
  std::filesystem::path path() const { return folder_.path() / "export.sqlite"; }

  // The rows of a query; columns are separated by "|".
  std::vector<std::string> rows(const std::string& sql) const {
    std::vector<std::string> rows;
    sqlite3_stmt* statement = nullptr;
    REQUIRE(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      std::string row;
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        row += (i ? "|" : "") + std::string(text ? text : "NULL");
      }
      rows.push_back(row);
    }
    sqlite3_finalize(statement);
    return rows;
  }
  std::vector<std::string> tables() const { return rows("SELECT name FROM sqlite_master WHERE name NOT LIKE 'ENUM_%' ORDER BY name"); }
  std::shared_ptr<const Trace> opened() const {
    auto trace = open_trace(path());
    if (!trace) FAIL(trace.error().text);
    return *trace;
  }

 private:
  TemporaryFolder folder_;
  sqlite3* database_ = nullptr;
};

using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("ids of processes and threads are packed as Nsight Systems packs them") {
  const Exported file(*sample_trace());
  // 8 bits for the hardware, 8 for the virtual machine, 24 for the process, 24 for the thread; the machine is 1.
  CHECK(file.rows("SELECT DISTINCT globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000, globalTid >> 48 FROM CUPTI_ACTIVITY_KIND_RUNTIME") ==
        Rows{"4711|4711|1"});
  CHECK(file.rows("SELECT DISTINCT k.globalPid = (r.globalTid & 0xFFFFFFFFFF000000) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
                  "CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)") == Rows{"1"});
  CHECK(file.rows("SELECT pid, name FROM PROCESSES ORDER BY pid") == Rows{"4711|/usr/bin/python3", "4712|worker"});
}

TEST_CASE("the tables that third-party readers join say what happened") {
  const Exported file(*sample_trace());
  CHECK(file.rows("SELECT k.start, k.end - k.start, s.value, d.value, gridX, blockX, launchType, streamId FROM CUPTI_ACTIVITY_KIND_KERNEL k "
                  "JOIN StringIds s ON s.id = shortName JOIN StringIds d ON d.id = demangledName WHERE correlationId = 11") ==
        Rows{"2000|500|axpy|axpy(float*, int, float)|256|64|1|7"});
  // Memory kinds start at 0 there: pinned is 1, device is 2.
  CHECK(file.rows("SELECT m.bytes, o.label, srcKind, k.label FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = copyKind "
                  "JOIN ENUM_CUDA_MEM_KIND k ON k.id = dstKind ORDER BY m.start") ==
        Rows{"4096|Host-to-Device|1|Device", "4096|Unified Host-to-Device|1|Device"});
  CHECK(file.rows("SELECT value, bytes, memKind FROM CUPTI_ACTIVITY_KIND_MEMSET") == Rows{"255|64|2"});
  CHECK(file.rows("SELECT s.value, eventClass, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds s ON s.id = nameId ORDER BY start") ==
        Rows{"cudaLaunchKernel_v7000|0|0", "cuLaunchKernel|1|0", "cudaGraphLaunch_v10000|0|0", "cudaMemcpyAsync_v3020|0|700"});
  CHECK(file.rows("SELECT text, eventType, domainId, int64Value, doubleValue FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) ORDER BY rowid") ==
        Rows{"step|59|3|-3|NULL", "forward|59|3|NULL|0.25", "load|60|0|NULL|NULL", "load|60|0|NULL|NULL", "epoch|34|0|NULL|NULL"});
  CHECK(file.rows("SELECT text, domainId FROM NVTX_EVENTS WHERE eventType = 75") == Rows{"data|3"});
  CHECK(file.rows("SELECT name, busLocation, uuid, computeMajor, totalMemory FROM TARGET_INFO_GPU") ==
        Rows{"NVIDIA H200|0000:17:00.0|01020304-0506-0708-090a-0b0c0d0e0f10|9|151397597184"});
  CHECK(file.rows("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME") == Rows{"1711964646000000123"});
  CHECK(file.rows("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION_MAJOR'") == Rows{"3"});
}

TEST_CASE("what unified memory did stands where Nsight Systems has it") {
  const Exported file(*sample_trace());
  CHECK(file.rows("SELECT migrationCause, virtualAddress FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start") ==
        Rows{"NULL|NULL", "2|" + std::to_string(0x7f00'0000'0000)});
  CHECK(file.rows("SELECT start, originalFaultPc, f.value, s.value, sourceLine FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS "
                  "JOIN StringIds f ON f.id = CpuInstruction JOIN StringIds s ON s.id = sourceFile") ==
        Rows{"3950|" + std::to_string(0x55aa'0000'0123) + "|fill(float*, int)|fill.cpp|12"});
  CHECK(file.rows("SELECT start, end, deviceId, numberOfPageFaults, faultAccessType FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS") == Rows{"4290|4320|0|42|2"});
}

TEST_CASE("only tables with rows are made, and only those that were asked for") {
  TraceBuilder builder;
  CHECK(Exported(*builder.snapshot()).tables() == Rows{"ANALYSIS_DETAILS", "META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME"});
  NsysSqliteOptions options;
  options.tables = {"NVTX_.*", "CUPTI_ACTIVITY_KIND_(KERNEL|RUNTIME)"};
  CHECK(Exported(*sample_trace(), options).tables() ==
        Rows{"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "META_DATA_EXPORT", "NVTX_EVENTS", "StringIds"});
  options.tables = {"OSRT_API"};
  options.empty_tables = EmptyTables::kCreate;
  CHECK(Exported(*builder.snapshot(), options).tables() == Rows{"META_DATA_EXPORT", "OSRT_API", "StringIds"});
  options.tables = {"("};
  const TemporaryFolder folder;
  const auto refused = export_nsys_sqlite(*sample_trace(), folder.path() / "x.sqlite", Overwrite::kRefuse, options);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::kUsage);
  options.tables = {"nosuch", "OSRT"};
  const auto none = export_nsys_sqlite(*sample_trace(), folder.path() / "x.sqlite", Overwrite::kRefuse, options);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().kind == ErrorKind::kUsage);
  CHECK_THAT(none.error().text, contains_text("names none of the tables that there are: StringIds, ") && contains_text("OSRT_API, "));
  CHECK(std::filesystem::is_empty(folder.path()));
  options.tables = {"nosuch", "ENUM_CUDA_MEMCPY_OPER"};
  CHECK(export_nsys_sqlite(*sample_trace(), folder.path() / "x.sqlite", Overwrite::kRefuse, options));
}

TEST_CASE("only events within the times that were asked for are written") {
  NsysSqliteOptions options;
  options.selection.window = TimeRange{2'600, 2'900};
  CHECK(Exported(*sample_trace(), options).rows("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL") == Rows{"2200|2700"});
}

TEST_CASE("a part has the calls that enqueued its work before it began, and says which times are its own, as a saved part does") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const GpuId gpu = builder.gpu_of_device(process, 0);
  std::uint32_t correlation = 0;
  for (const auto& [called, start, end] : {std::tuple(1'000, 2'000, 3'000), {4'000, 10'000, 12'000}, {20'000, 21'000, 22'000}}) {
    ++correlation;
    builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = builder.thread(process, 7)},
                {Event{called, 100, builder.intern("cudaLaunchKernel"), correlation, 0}});
    builder.add({.kind = TrackKind::kKernels, .process = process, .gpu = gpu, .context = 1, .stream = 7},
                {Event{start, end - start, builder.intern("k"), correlation, 0}});
  }
  NsysSqliteOptions options;
  options.selection.window = TimeRange{9'000, 13'000};
  const Exported exported(*builder.snapshot(), options);
  CHECK(exported.rows("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL") == Rows{"10000|12000"});
  CHECK(exported.rows("SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start") ==
        Rows{"1000|1100", "4000|4100"});  // the call before may have made its stream wait
  CHECK(exported.rows("SELECT name, value FROM META_DATA_CAPTURE WHERE name LIKE 'LANESCOPE_PART%' ORDER BY name") ==
        Rows{"LANESCOPE_PART_BEGIN_NS|9000", "LANESCOPE_PART_END_NS|13000", "LANESCOPE_PART_LAUNCHES_NS|4000"});
}

TEST_CASE("an existing file is left alone unless it may be overwritten") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.sqlite";
  REQUIRE(export_nsys_sqlite(*sample_trace(), path, Overwrite::kRefuse).has_value());
  CHECK_THAT(export_nsys_sqlite(*sample_trace(), path, Overwrite::kRefuse).error().text, contains_text("exists already"));
  CHECK(export_nsys_sqlite(*sample_trace(), path, Overwrite::kAllow).has_value());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK_THAT(export_nsys_sqlite(*sample_trace(), "/no/such/folder/x.sqlite", Overwrite::kRefuse).error().text, contains_text("Can't create"));
}

TEST_CASE("pids and thread ids that do not fit in 24 bits are replaced by free ones") {
  TraceBuilder builder;
  for (const std::uint32_t pid : {0x1000000u + 5, 5u, 5u}) {
    static std::uint32_t instance = 0;
    const ProcessId process = builder.process_of_instance(++instance);
    builder.process(process).pid = pid;
    TrackKey key{TrackKind::kCudaApi, process};
    key.thread = builder.thread(process, 0xf0000000u + pid);
    builder.add(key, {{10 * instance, 5, builder.intern("call"), instance, 0}});
  }
  const Exported file(*builder.snapshot());
  CHECK(file.rows("SELECT globalTid / 0x1000000 % 0x1000000 FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start") == Rows{"16777215", "5", "5"});
  CHECK(file.rows("SELECT count(DISTINCT globalTid), count(DISTINCT globalPid) FROM CUPTI_ACTIVITY_KIND_RUNTIME, PROCESSES") == Rows{"3|3"});
}

TEST_CASE("a file of what another tool wrote says which, and one of our recording does not") {
  // Answers about a trace may depend on its tool: PyTorch's traces have ranges, so no loop is looked for in their kernels.
  const auto again = Exported(*sample_trace()).opened();
  CHECK(again->provenance().format == "Some Format");
  CHECK(again->provenance().producer == "Some Tool 1.2");

  TraceBuilder builder;
  builder.provenance().format = "Lanescope";
  builder.provenance().producer = "lanescope 0.1";
  TrackKey calls{TrackKind::kCudaApi, builder.process_of_instance(1)};
  calls.thread = builder.thread(calls.process, 1);
  builder.add(calls, {{0, 5, builder.intern("cudaMalloc"), 1, 0}});
  const auto ours = Exported(*builder.snapshot()).opened();
  CHECK(ours->provenance().format == "Nsight Systems SQLite");
  CHECK(ours->provenance().producer.starts_with("Lanescope "));
}

TEST_CASE("the process that was attached to is known in an export, as its first iterations are not whole") {
  TraceBuilder builder;
  builder.provenance().attached_pid = 4711;
  TrackKey calls{TrackKind::kCudaApi, builder.process_of_instance(4711)};
  builder.process(calls.process).pid = 4711;
  calls.thread = builder.thread(calls.process, 1);
  builder.add(calls, {{0, 5, builder.intern("cudaMalloc"), 1, 0}});
  const auto again = Exported(*builder.snapshot()).opened();
  CHECK(again->provenance().attached_pid == 4711);
  REQUIRE(again->processes().size() == 1);
  CHECK(again->processes().front().pid == 4711);
  CHECK(Exported(*sample_trace()).opened()->provenance().attached_pid == 0);
}

TEST_CASE("what Nsight Systems exported comes back the same from our export of it") {
  const auto folder = corpus();
  if (!folder) return;
  for (const auto& entry : std::filesystem::directory_iterator(*folder / "nsys")) {
    if (entry.path().extension() != ".sqlite") continue;
    INFO(entry.path());
    const auto trace = open_trace(entry.path());
    REQUIRE(trace.has_value());
    const auto again = Exported(**trace).opened();
    CHECK(difference(TraceText(**trace).events(), TraceText(*again).events()) == "");
    CHECK(difference(TraceText(**trace).resources(), TraceText(*again).resources()) == "");
    CHECK(again->provenance().utc_epoch == (*trace)->provenance().utc_epoch);
    CHECK(again->provenance().command == (*trace)->provenance().command);
  }
}

// Without samples and backtraces, for which the schema has only the names of functions and modules.
std::vector<std::string> events_without_chains(const Trace& trace) {
  std::vector<std::string> lines = TraceText(trace).events();
  const auto has_chain = [](const std::string& line) {
    return line.starts_with(std::to_string(static_cast<int>(TrackKind::kCpuSamples)) + "|") ||
           line.starts_with(std::to_string(static_cast<int>(TrackKind::kBacktraces)) + "|");
  };
  std::erase_if(lines, has_chain);
  return lines;
}

// For example "1100: load < inner < middle < python3+0x1000", by track and time.
std::vector<std::string> chains_of(const Trace& trace, TrackKind kind, EventIndex most = std::numeric_limits<EventIndex>::max()) {
  std::vector<std::string> lines;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind) continue;
    const Lane& lane = trace.lane(track.lanes.front());
    for (EventIndex i = 0; i < std::min(most, lane.size()); ++i) {
      std::string line = std::to_string(lane.start(i)) + ":";
      for (const CodeLocationId location : trace.call_stacks().chain(trace.sample_detail(lane.detail(i)).call_node))
        for (const CodeFunction& at : trace.call_stacks().functions(location)) line += " < " + std::string(trace.name(at.function));
      lines.push_back(line);
    }
  }
  return lines;
}

TEST_CASE("what the schema has a place for survives it") {
  const auto trace = sample_trace();
  const auto again = Exported(*trace).opened();
  CHECK(difference(events_without_chains(*trace), events_without_chains(*again)) == "");
  for (const TrackKind kind : {TrackKind::kCpuSamples, TrackKind::kBacktraces}) CHECK(chains_of(*trace, kind) == chains_of(*again, kind));
}

TEST_CASE("a call has the chain that was taken at it, by its correlation id where that was a little later") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kCudaApi, process};
  key.thread = builder.thread(process, 7);
  builder.add(key, {{100, 50, builder.intern("cudaFree"), 41, 0}, {200, 50, builder.intern("cudaFree"), 42, 0}});
  const CallNodeId main = builder.call_node({0, builder.code_location({}, {builder.intern("main"), 0, 0})});
  const SampleEvent backtrace[] = {{203, 44, {main, SampleOrigin::kCudaCall}, 42}};
  add_samples(builder, process, 7, backtrace);
  const auto trace = builder.snapshot();
  CHECK(Exported(*trace).rows("SELECT start, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start") == Rows{"100|NULL", "200|1"});
}

TEST_CASE("chains of deep stacks share their calls, and views say each of them as the tables of Nsight Systems do") {
  // By construction: chains of 600 calls, each of one function; every other call has a second function that was inlined into it.
  constexpr std::uint32_t kDepth = 600, kSamples = 25'000, kFunctions = kDepth * 3 / 2;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  CallNodeId innermost = 0;
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    const CodeLocationId location = builder.code_location({CodeKind::kNative, 0, 0, i + 1}, {builder.intern("call " + std::to_string(i)), 0, 0});
    if (i % 2 == 1) builder.set_functions(location, {{builder.intern("inlined"), 0, 0}, {builder.intern("call " + std::to_string(i)), 0, 0}});
    innermost = builder.call_node({innermost, location});
  }
  std::vector<SampleEvent> samples;
  for (std::uint32_t i = 0; i < kSamples; ++i) samples.push_back({100 + i, 0, {innermost}, 0});
  add_samples(builder, process, 7, samples);
  const auto trace = builder.snapshot();

  NsysSqliteOptions options;
  options.selection.source_bytes = 4'000;  // like all files below 10 MB
  const Exported file(*trace, options);
  CHECK(std::filesystem::file_size(file.path()) < 4'000'000);
  CHECK(file.rows("SELECT type FROM sqlite_master WHERE name = 'SAMPLING_CALLCHAINS'") == Rows{"view"});
  CHECK(file.rows("SELECT count(*), count(DISTINCT stackDepth), min(stackDepth), max(stackDepth) FROM SAMPLING_CALLCHAINS WHERE id = 24999") ==
        Rows{"900|900|0|899"});
  CHECK(file.rows("SELECT stackDepth, value, originalIP FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = symbol WHERE c.id = 1 ORDER BY stackDepth "
                  "LIMIT 4") == Rows{"0|inlined|600", "1|call 599|600", "2|call 598|599", "3|inlined|598"});
  CHECK(file.rows("SELECT count(*) FROM COMPOSITE_EVENTS e JOIN SAMPLING_CALLCHAINS c USING (id) WHERE e.start < 110") ==
        Rows{std::to_string(10 * kFunctions)});
  const auto again = file.opened();
  CHECK(again->diagnostics().empty());
  CHECK(difference(chains_of(*trace, TrackKind::kCpuSamples, 2), chains_of(*again, TrackKind::kCpuSamples, 2)) == "");
  CHECK(again->event_count() == trace->event_count());
}

TEST_CASE("tables and views of call chains have equal rows, and are read as equal traces") {
  const auto trace = sample_trace();
  NsysSqliteOptions options;
  options.most_chain_rows = 0;
  const Exported tables(*trace), views(*trace, options);
  for (const std::string table : {"SAMPLING_CALLCHAINS", "OSRT_CALLCHAINS", "CUDA_CALLCHAINS"}) {
    INFO(table);
    CHECK(views.rows("SELECT type FROM sqlite_master WHERE name = '" + table + "'") == Rows{"view"});
    CHECK(views.rows("SELECT name FROM pragma_table_info('" + table + "')") == tables.rows("SELECT name FROM pragma_table_info('" + table + "')"));
    const auto without_string_ids = [&](const Exported& file) {
      return file.rows("SELECT c.id, stackDepth, f.value, m.value, unresolved, originalIP FROM " + table +
                       " c JOIN StringIds f ON f.id = symbol JOIN StringIds m ON m.id = module ORDER BY c.id, stackDepth");
    };
    CHECK(!without_string_ids(tables).empty());
    CHECK(without_string_ids(views) == without_string_ids(tables));
  }
  const std::string rest = "SELECT kernelMode, thumbCode, specialEntry, unwindMethod FROM OSRT_CALLCHAINS ORDER BY id, stackDepth";
  CHECK(views.rows(rest) == tables.rows(rest));
  CHECK(difference(TraceText(*tables.opened()).events(), TraceText(*views.opened()).events()) == "");

  options.tables = {"COMPOSITE_EVENTS"};
  options.empty_tables = EmptyTables::kCreate;
  CHECK(Exported(*trace, options).tables() == Rows{"COMPOSITE_EVENTS", "META_DATA_EXPORT", "StringIds"});
  options.tables = {"OSRT_.*"};
  CHECK(Exported(*trace, options).rows("SELECT count(*) FROM OSRT_CALLCHAINS") == Rows{"2"});
}

TEST_CASE("views of call chains are read where SQLite does not trust what files say") {
  NsysSqliteOptions options;
  options.most_chain_rows = 0;
  const Exported file(*sample_trace(), options);
  const auto count = file.rows("SELECT count(*) FROM SAMPLING_CALLCHAINS");
  file.rows("PRAGMA trusted_schema = OFF");
  CHECK(file.rows("SELECT count(*) FROM SAMPLING_CALLCHAINS") == count);
}

TEST_CASE("scheduling, samples and call chains stand where Nsight Systems has them") {
  const Exported file(*sample_trace());
  // An unscheduled thread could run; an interruptible one waits.
  CHECK(file.rows("SELECT start, cpu, isSchedIn, s.label FROM SCHED_EVENTS LEFT JOIN ENUM_SAMPLING_THREAD_STATE s ON s.id = threadState "
                  "WHERE globalTid % 0x1000000 = 4711 ORDER BY start, isSchedIn") ==
        Rows{"1000|3|1|NULL", "1400|3|0|Unscheduled", "1500|0|1|NULL", "1800|0|0|Interruptible", "2000|1|1|NULL", "2005|1|0|Unknown"});
  CHECK(file.rows("SELECT start, cpu FROM COMPOSITE_EVENTS ORDER BY start") == Rows{"1100|3", "1200|3", "1600|0", "1700|NULL"});
  CHECK(file.rows("SELECT stackDepth, f.value, m.value, unresolved FROM SAMPLING_CALLCHAINS c JOIN COMPOSITE_EVENTS e ON e.id = c.id "
                  "JOIN StringIds f ON f.id = symbol JOIN StringIds m ON m.id = module WHERE start = 1100 ORDER BY stackDepth") ==
        Rows{"0|load|[Python]|NULL", "1|inner|/usr/bin/python3|NULL", "2|middle|/usr/bin/python3|NULL", "3|python3+0x1000|/usr/bin/python3|1"});
  CHECK(file.rows("SELECT f.value, kernelMode FROM OSRT_API JOIN OSRT_CALLCHAINS c ON c.id = callchainId JOIN StringIds f ON f.id = symbol "
                  "ORDER BY stackDepth") == Rows{"futex_wait|1", "python3+0x1000|NULL"});
  CHECK(file.rows("SELECT start, f.value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN CUDA_CALLCHAINS c ON c.id = callchainId JOIN StringIds f ON "
                  "f.id = symbol WHERE stackDepth = 0 ORDER BY start") == Rows{"1000|inner", "1900|load"});
}
