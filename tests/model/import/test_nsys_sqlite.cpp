#include <bit>
#include <fstream>
#include <set>

#include "model/events/launch_index.h"
#include "model/import/nsys_sqlite.h"
#include "model/import/open_trace.h"
#include "nsys_database.h"
#include "support/catch.h"
#include "support/memory.h"
#include "support/paths.h"

using namespace lanescope;
using test::global_id;

namespace {

const std::string kStrings =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO StringIds VALUES (1,'void "
    "add<float>(float*)'),(2,'add'),(3,'cudaLaunchKernel_v7000'),(4,'python'),(5,'worker'),(6,'poll'),"
    "(7,'registered'),(99999999,'far');";

std::shared_ptr<const Trace> import(const std::string& statements) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "export.sqlite";
  test::write_database(path, kStrings + statements);
  auto trace = open_trace(path);
  INFO((trace ? "" : trace.error().text));
  REQUIRE(trace);
  return *trace;
}

// The events of the only track of this kind, on all its lanes.
std::vector<Event> events_of(const Trace& trace, TrackKind kind) {
  std::vector<Event> events;
  for (const Track& track : trace.tracks())
    if (track.key.kind == kind)
      for (const LaneId id : track.lanes)
        for (EventIndex i = 0; i < trace.lane(id).size(); ++i) events.push_back(trace.lane(id).event(i));
  return events;
}

const Track* track_of(const Trace& trace, TrackKind kind) {
  for (const Track& track : trace.tracks())
    if (track.key.kind == kind) return &track;
  return nullptr;
}

}  // namespace

TEST_CASE("a kernel of the oldest schema has what that schema knows") {
  // No mangled names, no green contexts, no clusters.
  const auto trace = import(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid "
      "INT, "
      "demangledName INT, shortName INT, registersPerThread INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,150,0,1,7,42," +
      global_id(4711) + ",1,2,16,1024,2,3,128,4,5);");
  const auto kernels = events_of(*trace, TrackKind::kKernels);
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].start == 100);
  CHECK(kernels[0].duration == 50);
  CHECK(kernels[0].correlation == 42);
  CHECK(trace->name(kernels[0].name) == "void add<float>(float*)");
  const KernelDetail& detail = trace->kernel_detail(kernels[0].detail);
  CHECK(trace->name(detail.short_name) == "add");
  CHECK(detail.mangled_name == 0);
  CHECK(detail.grid[0] == 1024);
  CHECK(detail.grid[2] == 3);
  CHECK(detail.block[1] == 4);
  const TrackKey& key = track_of(*trace, TrackKind::kKernels)->key;
  CHECK(trace->processes()[key.process].pid == 4711);
  CHECK(key.context == 1);
  CHECK(key.stream == 7);
}

TEST_CASE("far ids of strings, and times that can't be, harm nothing") {
  const std::size_t before = test::resident_bytes();
  const auto trace = import(
      "INSERT INTO StringIds VALUES (16000000,'farther'),(16000001,'next'),(1099511627776,'farthest'),(-5,'below');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT, "
      "returnValue INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,2,0," +
      global_id(1, 1) + ",1,16000000,0),(3,4,0," + global_id(1, 1) + ",2,16000001,0),(5,6,0," + global_id(1, 1) + ",3,1099511627776,0),(7,8,0," +
      global_id(1, 1) + ",4,-5,0),(9,10,0," + global_id(1, 1) + ",5,3,0),(11,12,0," + global_id(1, 1) + ",6,12345678,0)," +
      "(-9223372036854775808,9223372036854775807,0," + global_id(1, 1) + ",7,3,0),(13,4611686018427387904,0," + global_id(1, 1) + ",8,3,0);");
  CHECK(test::resident_bytes() < before + (100u << 20));  // 16 million missing strings would take half a gigabyte
  std::vector<std::string> names;
  for (const Event& call : events_of(*trace, TrackKind::kCudaApi)) names.push_back(std::string(trace->name(call.name)));
  CHECK(names == std::vector<std::string>{"farther", "next", "farthest", "below", "cudaLaunchKernel_v7000", ""});
  CHECK(trace->processes()[0].completeness.invalid == 2);
}

TEST_CASE("memory kinds are counted from one, not from zero as in the file") {
  const auto trace = import(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid "
      "INT, bytes INT, "
      "copyKind INT, srcKind INT, dstKind INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0,10,0,1,7,1," +
      global_id(1) + ",64,1,0,2),(20,30,0,1,7,2," + global_id(1) +
      ",64,2,2,1),"
      "(40,50,0,1,7,3," +
      global_id(1) + ",64,8,NULL,7);");
  const auto copies = events_of(*trace, TrackKind::kMemory);
  REQUIRE(copies.size() == 3);
  CHECK(trace->memory_detail(copies[0].detail).source_memory == MemoryKind::kPageable);
  CHECK(trace->memory_detail(copies[0].detail).destination_memory == MemoryKind::kDevice);
  CHECK(trace->memory_detail(copies[1].detail).destination_memory == MemoryKind::kPinned);
  CHECK(trace->memory_detail(copies[2].detail).source_memory == MemoryKind::kUnknown);
  CHECK(trace->memory_detail(copies[2].detail).destination_memory == MemoryKind::kUnknown);
  CHECK(trace->name(copies[0].name) == "[CUDA memcpy Host-to-Device]");
}

TEST_CASE("page faults of unified memory are tracks of their process and GPU, copies know what moved them") {
  const std::string process = global_id(4711);
  const auto trace = import(
      "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS(start INT, globalPid INT, address INT, originalFaultPc INT, CpuInstruction INT, module "
      "INT, "
      "unresolvedFaultPc INT, sourceFile INT, sourceLine INT);"
      "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (100," +
      process +
      ",4096,64,2,NULL,0,4,12);"
      "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start INT, end INT, globalPid INT, deviceId INT, address INT, numberOfPageFaults INT, "
      "faultAccessType INT);"
      "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (200,250," +
      process +
      ",1,-4096,42,2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, streamId INT, globalPid INT, bytes INT, "
      "copyKind INT, migrationCause INT, virtualAddress INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (300,310,1,1,7," +
      process + ",65536,11,2,8192);");
  const auto faults = events_of(*trace, TrackKind::kPageFaults);
  REQUIRE(faults.size() == 2);
  const PageFaultDetail& of_cpu = trace->page_fault_detail(faults[0].detail);
  CHECK(faults[0].start == 100);
  CHECK(faults[0].duration == 0);
  CHECK(of_cpu.address == 4096);
  CHECK(of_cpu.program_counter == 64);
  CHECK(trace->name(of_cpu.function) == "add");
  CHECK(trace->name(of_cpu.source_file) == "python");
  CHECK(of_cpu.source_line == 12);
  const PageFaultDetail& of_gpu = trace->page_fault_detail(faults[1].detail);
  CHECK(faults[1].duration == 50);
  CHECK(of_gpu.address == 0xffff'ffff'ffff'f000);
  CHECK(of_gpu.count == 42);
  CHECK(of_gpu.access == 2);
  const auto copies = events_of(*trace, TrackKind::kMemory);
  REQUIRE(copies.size() == 1);
  const MemoryDetail& copy = trace->memory_detail(copies[0].detail);
  CHECK(copy.copy_kind == CopyKind::kUnifiedHostToDevice);
  CHECK(copy.migration_cause == 2);
  CHECK(copy.virtual_address == 8192);
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kPageFaults && track.key.gpu != kNone) CHECK(trace->gpus()[track.key.gpu].ordinal == 1);
}

TEST_CASE("NVTX rows are ranges, marks or names, by their type") {
  const std::string thread = global_id(1, 5);
  const auto trace = import(
      "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, category INT, color INT, text TEXT, globalTid INT, endGlobalTid INT, "
      "textId INT, "
      "domainId INT, uint64Value INT, int64Value INT, doubleValue REAL);"
      "INSERT INTO NVTX_EVENTS VALUES"
      "(0,NULL,75,NULL,NULL,'net'," +
      thread +
      ",NULL,NULL,3,NULL,NULL,NULL),"
      "(0,NULL,33,9,NULL,'io'," +
      thread +
      ",NULL,NULL,3,NULL,NULL,NULL),"
      "(0,NULL,39,NULL,NULL,'loader'," +
      thread +
      ",NULL,NULL,NULL,NULL,NULL,NULL),"
      "(10,90,59,9,4278255360,'outer'," +
      thread +
      ",NULL,NULL,3,NULL,-5,NULL),"
      "(20,30,59,NULL,NULL,NULL," +
      thread +
      ",NULL,7,3,NULL,NULL,2.5),"
      "(40,NULL,59,NULL,NULL,'open'," +
      thread +
      ",NULL,NULL,3,NULL,NULL,NULL),"
      "(50,200,60,NULL,NULL,'crossing'," +
      thread + "," + global_id(1, 6) +
      ",NULL,0,NULL,NULL,NULL),"
      "(60,NULL,34,NULL,NULL,'mark'," +
      thread + ",NULL,NULL,0,7,NULL,NULL);");
  const auto ranges = events_of(*trace, TrackKind::kNvtxRanges);
  REQUIRE(ranges.size() == 3);
  const auto named = [&](std::string_view name) {
    for (const Event& event : ranges)
      if (trace->name(event.name) == name) return event;
    return Event{};
  };
  const Event outer = named("outer");
  CHECK(outer.correlation == 4);  // number of the row
  CHECK(trace->nvtx_detail(outer.detail).category == 9);
  CHECK(trace->nvtx_detail(outer.detail).color == 0xff00ff00);
  CHECK(trace->nvtx_detail(outer.detail).payload_type == PayloadType::kSigned);
  CHECK(static_cast<std::int64_t>(trace->nvtx_detail(outer.detail).payload) == -5);
  CHECK(named("registered").duration == 10);
  CHECK(std::bit_cast<double>(trace->nvtx_detail(named("registered").detail).payload) == 2.5);
  // A range that nothing closed lasts until the last time that NVTX reported.
  CHECK(named("open").end() == 200);
  CHECK(trace->nvtx_detail(named("open").detail).finished == Finished::kNo);

  const auto crossing = events_of(*trace, TrackKind::kNvtxProcessRanges);
  REQUIRE(crossing.size() == 1);
  CHECK(trace->threads()[trace->nvtx_detail(crossing[0].detail).end_thread].tid == 6);
  const auto marks = events_of(*trace, TrackKind::kNvtxMarks);
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].start == 60);
  CHECK(marks[0].duration == 0);

  const TrackKey& key = track_of(*trace, TrackKind::kNvtxRanges)->key;
  CHECK(trace->domain_name(key.process, 3) == "net");
  CHECK(trace->category_name(key.process, 3, 9) == "io");
  CHECK(trace->threads()[key.thread].name == "loader");
}

TEST_CASE("only processes and threads that did something appear, with their names") {
  const auto trace = import(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT, "
      "returnValue INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,2,1," +
      global_id(8, 9) +
      ",3,3,700);"
      "CREATE TABLE ThreadNames(nameId INT, priority INT, globalTid INT);"
      "INSERT INTO ThreadNames VALUES (5,20," +
      global_id(8, 9) + "),(4,20," + global_id(8, 10) +
      ");"
      "CREATE TABLE PROCESSES(globalPid INT, pid INT, name TEXT);"
      "INSERT INTO PROCESSES VALUES (" +
      global_id(8) + ",8,'/usr/bin/python'),(" + global_id(11) + ",11,'/usr/bin/sleep');");
  REQUIRE(trace->processes().size() == 1);
  CHECK(trace->processes()[0].name == "python");
  REQUIRE(trace->threads().size() == 1);
  CHECK(trace->threads()[0].name == "worker");
  CHECK(trace->threads()[0].priority == 20);
  const auto calls = events_of(*trace, TrackKind::kCudaApi);
  REQUIRE(calls.size() == 1);
  CHECK(trace->api_detail(calls[0].detail).domain == ApiDomain::kDriver);
  CHECK(trace->api_detail(calls[0].detail).result == 700);
}

TEST_CASE("processes may number the same GPUs differently") {
  const auto trace = import(
      "CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT, busLocation TEXT, cuDevice INT, uuid TEXT);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0,'H200','0000:17:00.0',0,'11111111-1111-1111-1111-111111111111'),"
      "(1,'H200','0000:18:00.0',1,'22222222-2222-2222-2222-222222222222');"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INT, cudaId INT, pid INT);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0,0,1),(1,0,2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid "
      "INT, bytes INT, "
      "value INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (0,1,0,1,7,1," +
      global_id(1) + ",4,0),(0,1,0,1,7,1," + global_id(2) + ",4,0);");
  std::set<std::string> buses;
  for (const Track& track : trace->tracks()) buses.insert(trace->gpus()[track.key.gpu].bus_id);
  CHECK(buses == std::set<std::string>{"0000:17:00.0", "0000:18:00.0"});
  CHECK(trace->gpus()[0].uuid == std::string(16, '\x11'));
}

TEST_CASE("calls of the C library that the recording cut are told apart") {
  const auto trace = import(
      "CREATE TABLE OSRT_API(start INT, end INT, eventClass INT, globalTid INT, nameId INT);"
      "INSERT INTO OSRT_API VALUES (0,10,27," +
      global_id(1, 1) + ",6),(20,30,32," + global_id(1, 1) + ",6);");
  const auto calls = events_of(*trace, TrackKind::kOsRuntime);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].detail == kWholeCall);
  CHECK(calls[1].detail == kPartialCall);
}

TEST_CASE("a cancelled import says so") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "export.sqlite";
  test::write_database(path, kStrings +
                                 "CREATE TABLE OSRT_API(start INT, end INT, eventClass INT, globalTid INT, nameId INT);"
                                 "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 70000) "
                                 "INSERT INTO OSRT_API SELECT i, i, 27, 1, 6 FROM n;");
  const auto trace = import_nsys_sqlite(path, [](double, std::shared_ptr<const Trace>) { return LoadStep::kCancel; });
  REQUIRE_FALSE(trace);
  CHECK(trace.error().text.find("cancelled") != std::string::npos);
}

TEST_CASE("a damaged export is refused in one sentence") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "export.sqlite";
  test::write_database(path, kStrings +
                                 "CREATE TABLE OSRT_API(start INT, end INT, eventClass INT, globalTid INT, nameId INT);"
                                 "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 70000) "
                                 "INSERT INTO OSRT_API SELECT i, i, 27, 1, 6 FROM n;");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto trace = open_trace(path);
  REQUIRE_FALSE(trace);
  CHECK(trace.error().text.find(path.string()) != std::string::npos);
}

TEST_CASE("recorded exports open with what is known of them") {
  const auto corpus = test::corpus();
  if (!corpus) return;

  SECTION("four streams have one kernel each") {
    const auto trace = open_trace(*corpus / "nsys" / "testcuda_4streams.sqlite");
    REQUIRE(trace);
    std::vector<EventIndex> kernels;
    for (const Track& track : (*trace)->tracks())
      if (track.key.kind == TrackKind::kKernels) kernels.push_back((*trace)->lane(track.lanes.front()).size());
    CHECK(kernels == std::vector<EventIndex>{1, 1, 1, 1});
  }
  SECTION("1810 kernels of a cut have no launch when joined by process and correlation id") {
    const auto trace = open_trace(*corpus / "nsys" / "nsysai_h100_2gpu_1s.sqlite");
    REQUIRE(trace);
    const LaunchIndex launches(**trace);
    int without = 0;
    for (const Track& track : (*trace)->tracks())
      if (track.key.kind == TrackKind::kKernels)
        for (const LaneId id : track.lanes)
          for (EventIndex i = 0; i < (*trace)->lane(id).size(); ++i)
            if (!launches.find(track.key.process, (*trace)->lane(id).correlation(i), (*trace)->lane(id).start(i)).valid()) ++without;
    CHECK(without == 1810);
    CHECK((*trace)->processes().size() == 2);
    CHECK((*trace)->gpus().size() == 2);
  }
}
