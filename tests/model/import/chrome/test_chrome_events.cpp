#include <bit>
#include <map>

#include "chrome_file.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

const std::string kCall =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4711,"tid":4712,"ts":100.25,"dur":4.5,"args":{"External id":3,"cbid":211,"correlation":17}})";
const std::string kKernel =
    R"json({"ph":"X","cat":"kernel","name":"void axpy<float>(float*, int)","pid":1,"tid":7,"ts":110.001,"dur":3.136,"args":{"External id":3,"queued":0,"device":1,"context":2,"stream":7,"correlation":17,"registers per thread":32,"shared memory":2112,"blocks per SM":4.2,"grid":[564,2,1],"block":[128,1,4],"est. achieved occupancy %":27}})json";

}  // namespace

TEST_CASE("a kernel has its launch, its GPU, its stream and its launch shape") {
  const auto trace = trace_of_events(kKernel + "," + kCall);
  const Found kernel = only_event(*trace, TrackKind::kKernels);
  const Found call = only_event(*trace, TrackKind::kCudaApi);
  CHECK(kernel.event.start == 9'751);  // 110.001 µs - 100.25 µs: time 0 is the earliest event
  CHECK(kernel.event.duration == 3'136);
  CHECK(kernel.event.correlation == 17);
  CHECK(kernel.name == "void axpy<float>(float*, int)");
  CHECK(kernel.key.context == 2);
  CHECK(kernel.key.stream == 7);
  CHECK(trace->gpus()[kernel.key.gpu].ordinal == 1);
  const KernelDetail& detail = trace->kernel_detail(kernel.event.detail);
  CHECK(trace->name(detail.short_name) == "axpy");
  CHECK(detail.grid[0] == 564);
  CHECK(detail.grid[1] == 2);
  CHECK(detail.block[2] == 4);
  CHECK(detail.registers_per_thread == 32);
  CHECK(detail.static_shared_memory + detail.dynamic_shared_memory == 2112);

  CHECK(call.event.start == 0);
  CHECK(call.event.duration == 4'500);
  CHECK(trace->threads()[call.key.thread].tid == 4712);
  CHECK(trace->processes()[call.key.process].pid == 4711);
  CHECK(kernel.key.process == call.key.process);  // its pid in the file, 1, is that of a GPU
  const auto launch = trace->launch_of({trace->tracks()[0].lanes[0], 0});
  CHECK(launch.has_value());
}

TEST_CASE("categories of 2021 mean what today's do") {
  const auto trace = trace_of_events(
      R"json({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":1623142623531625,"dur":2,"args":{"device":0,"context":1,"stream":7,"correlation":1}},
         {"ph":"X","cat":"Memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":"stream 7","ts":1623142623531630,"dur":1940,"args":{"device":0,"context":1,"stream":7,"correlation":2,"bytes":19267584}},
         {"ph":"X","cat":"Memset","name":"Memset (Device)","pid":0,"tid":"stream 7","ts":1623142623541630,"dur":1,"args":{"device":0,"context":1,"stream":7,"correlation":3,"bytes":64}},
         {"ph":"X","cat":"Runtime","name":"cudaMemcpyAsync","pid":25738,"tid":"25738","ts":1623142623529088,"dur":2022,"args":{"cbid":41,"correlation":2}},
         {"ph":"X","cat":"Operator","name":"aten::copy_","pid":25738,"tid":25738,"ts":1623142623529080,"dur":2040,"args":{"Device":25738}})json");
  CHECK(find_events(*trace, TrackKind::kKernels).size() == 1);
  CHECK(find_events(*trace, TrackKind::kCudaApi).size() == 1);
  CHECK(only_event(*trace, TrackKind::kNvtxRanges).name == "aten::copy_");
  CHECK(trace->threads().size() == 1);  // "25738" and 25738 are the same thread
  CHECK(trace->processes().size() == 1);
  const auto memory = find_events(*trace, TrackKind::kMemory);
  REQUIRE(memory.size() == 2);
  CHECK(memory[0].name == "[CUDA memcpy Host-to-Device]");
  const MemoryDetail& copy = trace->memory_detail(memory[0].event.detail);
  CHECK(copy.source_memory == MemoryKind::kPageable);
  CHECK(copy.destination_memory == MemoryKind::kDevice);
  CHECK(copy.bytes == 19'267'584);
  CHECK(memory[1].name == "[CUDA memset]");
  CHECK(trace->provenance().utc_epoch == 1'623'142'623'529'080'000);  // times as large as these count from 1970
}

TEST_CASE("events in any order become lanes in the order of time") {
  std::string events;
  for (const int start : {50, 10, 40, 20, 30})
    events += (events.empty() ? "" : ",") + std::string(R"({"ph":"X","name":"e","pid":1,"tid":1,"dur":5,"ts":)") + std::to_string(start) + "}";
  const auto ranges = find_events(*trace_of_events(events), TrackKind::kNvtxRanges);
  REQUIRE(ranges.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(ranges[i].event.start == static_cast<Nanoseconds>(i) * 10'000);
}

TEST_CASE("a bare array is a trace, closed or not") {
  const std::string event = R"({"ph":"X","name":"e","pid":1,"tid":1,"ts":1,"dur":1})";
  for (const std::string& text : {"[" + event + "]", "[" + event, " \n[" + event + ",\n", "\xef\xbb\xbf[" + event + "]"}) {
    const auto trace = trace_of(text);
    CHECK(trace->event_count() == 1);
    CHECK(trace->provenance().condition.empty());
  }
}

TEST_CASE("gzip is read as the text in it, several members as one") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json.gz";
  write_gzip(path, R"({"traceEvents":[{"ph":"X","name":"first","pid":1,"tid":1,"ts":1,"dur":1},)");
  const auto second = folder.path() / "second.gz";
  write_gzip(second, R"({"ph":"X","name":"second","pid":1,"tid":1,"ts":9,"dur":1}]})");
  std::ofstream(path, std::ios::binary | std::ios::app) << std::ifstream(second, std::ios::binary).rdbuf();
  const auto trace = import_chrome_json(path);
  REQUIRE(trace.has_value());
  CHECK((*trace)->event_count() == 2);
}

TEST_CASE("arrows without a beginning or an end change nothing") {
  const auto trace = trace_of_events(kCall + R"(,{"ph":"f","id":99,"pid":0,"tid":7,"ts":5,"cat":"ac2g","name":"ac2g","bp":"e"},
                  {"ph":"s","id":98,"pid":4711,"tid":4712,"ts":5,"cat":"ac2g","name":"ac2g"})");
  CHECK(trace->event_count() == 1);
  CHECK(trace->diagnostics().empty());
}

TEST_CASE("counters have a value a series until the next, and none after an event that has none") {
  const auto trace = trace_of(R"({"traceEvents": [
    {"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": "GPU 0"}},
    {"ph": "C", "name": "Power", "cat": "Board", "pid": 0, "ts": 3, "args": {"W": 90.25}},
    {"ph": "C", "name": "Power", "cat": "Board", "pid": 0, "ts": 1, "args": {"W": 80}},
    {"ph": "C", "name": "Power", "cat": "Board", "pid": 0, "ts": 5, "args": {}},
    {"ph": "C", "name": "Memory", "pid": 7, "ts": 2, "args": {"allocated": 10, "reserved": 30, "device": "no number"}},
    {"ph": "X", "name": "f", "pid": 7, "tid": 7, "ts": 1, "dur": 9}]})");
  REQUIRE(trace->counters().size() == 3);
  std::map<std::string, std::vector<std::string>> found;
  for (CounterId id = 0; id < 3; ++id) {
    const Counter& counter = trace->counters()[id];
    for (std::size_t i = 0; i < trace->counter_series(id).size(); ++i) {
      const CounterSample sample = trace->counter_series(id).sample(i);
      std::string text = std::to_string(sample.time) + ": none";
      if (sample.has_value()) text = std::to_string(sample.time) + ": " + std::to_string(static_cast<double>(sample.value) * counter.resolution);
      found[counter.name + "|" + counter.unit + "|" + counter.group + "|" + (counter.gpu != kNone ? "GPU" : "process")].push_back(text);
    }
  }
  CHECK(found == std::map<std::string, std::vector<std::string>>{{"Power|W|Board|GPU", {"0: 80.000000", "2000: 90.250000", "4000: none"}},
                                                                 {"Memory: allocated|||process", {"1000: 10.000000"}},
                                                                 {"Memory: reserved|||process", {"1000: 30.000000"}}});
}

TEST_CASE("samples have the chains that frames make, also where these run in a circle") {
  const auto trace = trace_of(R"({"traceEvents": [], "stackFrames": {
      "1": {"name": "main", "category": "app"}, "2": {"name": "inlined", "category": "app", "parent": "2.1"},
      "2.1": {"name": "outer", "category": "app", "parent": "1"}, "3": {"name": "load", "kind": "python", "file": "a.py", "line": 7, "parent": 2},
      "8": {"name": "a", "category": "app", "parent": "9"}, "9": {"name": "b", "category": "app", "parent": "8"}},
    "samples": [{"ts": 10.5, "pid": 5, "tid": 6, "sf": 3, "cpu": 2}, {"ts": 11, "pid": 5, "tid": 6, "sf": "8"},
                {"ts": 12, "pid": 5, "tid": 6}, {"ts": "never", "pid": 5, "tid": 6}]})");
  std::vector<std::string> chains;
  for (const Found& sample : find_events(*trace, TrackKind::kCpuSamples)) {
    std::string text = std::to_string(sample.event.start) + ":";
    for (const CodeLocationId location : trace->call_stacks().chain(trace->sample_detail(sample.event.detail).call_node))
      for (const CodeFunction& function : trace->call_stacks().functions(location))
        text.append(" ").append(trace->name(function.function)).append(function.source_line != 0 ? ":" + std::to_string(function.source_line) : "");
    chains.push_back(text);
  }
  CHECK(chains == std::vector<std::string>{"0: load:7 inlined outer main", "500: a b", "1500:"});
  REQUIRE(trace->diagnostics().size() == 1);
  CHECK_THAT(trace->diagnostics()[0].text, contains_text("1 sample that can't be understood was left out"));
  REQUIRE(trace->threads().size() == 1);
  CHECK(trace->threads()[0].tid == 6);
  CHECK(trace->processes()[0].pid == 5);
}

TEST_CASE("a thousand kernels of one graph launch share its correlation id") {
  std::string events = kCall;
  for (int i = 0; i < 1000; ++i)
    events += R"(,{"ph":"X","cat":"kernel","name":"node","pid":0,"tid":7,"dur":1,"args":{"device":0,"context":1,"stream":7,"correlation":17},"ts":)" +
              std::to_string(200 + 2 * i) + "}";
  const auto trace = trace_of_events(events);
  const Track* calls = nullptr;
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kCudaApi) calls = &track;
  REQUIRE(calls != nullptr);
  CHECK(trace->work_of({calls->lanes[0], 0}).size() == 1000);
}

TEST_CASE("begin and end events make ranges by thread, in whatever order they stand") {
  const auto trace = trace_of_events(
      R"({"ph":"E","pid":1,"tid":1,"ts":40},
         {"ph":"B","name":"outer","pid":1,"tid":1,"ts":10,"cat":"net,io"},
         {"ph":"B","name":"inner","pid":1,"tid":1,"ts":20},
         {"ph":"E","pid":1,"tid":1,"ts":30},
         {"ph":"B","name":"open","pid":1,"tid":2,"ts":20},
         {"ph":"i","name":"tick","pid":1,"tid":1,"ts":45,"s":"t"})");
  const auto ranges = find_events(*trace, TrackKind::kNvtxRanges);
  REQUIRE(ranges.size() == 3);
  CHECK(ranges[0].name == "outer");
  CHECK(ranges[0].event.duration == 30'000);
  CHECK(ranges[1].name == "inner");
  CHECK(ranges[1].lane == 1);
  CHECK(ranges[1].event.duration == 10'000);
  CHECK(ranges[2].name == "open");
  CHECK(ranges[2].event.end() == 35'000);  // until the last event
  CHECK(trace->nvtx_detail(ranges[2].event.detail).finished == Finished::kNo);
  const NvtxDetail& outer = trace->nvtx_detail(ranges[0].event.detail);
  CHECK(trace->category_name(ranges[0].key.process, 0, outer.category) == "net,io");
  CHECK(only_event(*trace, TrackKind::kNvtxMarks).event.start == 35'000);
}

TEST_CASE("asynchronous ranges may overlap and end on another thread") {
  const auto trace = trace_of_events(
      R"({"ph":"b","cat":"io","id":"0x1","name":"read","pid":1,"tid":1,"ts":10},
         {"ph":"b","cat":"io","id":"0x2","name":"write","pid":1,"tid":1,"ts":15},
         {"ph":"e","cat":"io","id":"0x1","name":"read","pid":1,"tid":2,"ts":20},
         {"ph":"e","cat":"io","id":"0x2","name":"write","pid":1,"tid":1,"ts":30})");
  const auto ranges = find_events(*trace, TrackKind::kNvtxProcessRanges);
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].name == "read");
  CHECK(ranges[0].event.duration == 10'000);
  CHECK(ranges[1].name == "write");
  CHECK(ranges[1].event.duration == 15'000);
}

TEST_CASE("asynchronous ranges are told apart by scoped ids, and by name where they share one") {
  const auto trace = trace_of_events(
      R"({"ph":"b","cat":"net","id2":{"local":"0x1"},"name":"first","pid":1,"tid":1,"ts":10},
         {"ph":"b","cat":"net","id2":{"local":"0x2"},"name":"second","pid":1,"tid":1,"ts":15},
         {"ph":"b","cat":"net","id2":{"local":"0x1"},"name":"other process","pid":2,"tid":1,"ts":17},
         {"ph":"e","cat":"net","id2":{"local":"0x1"},"name":"first","pid":1,"tid":1,"ts":20},
         {"ph":"e","cat":"net","id2":{"local":"0x1"},"name":"other process","pid":2,"tid":1,"ts":22},
         {"ph":"e","cat":"net","id2":{"local":"0x2"},"name":"second","pid":1,"tid":1,"ts":30},
         {"ph":"b","cat":"io","id2":{"global":"7"},"name":"read","pid":1,"tid":1,"ts":40},
         {"ph":"b","cat":"io","id2":{"global":"7"},"name":"write","pid":1,"tid":1,"ts":41},
         {"ph":"e","cat":"io","id2":{"global":"7"},"name":"read","pid":2,"tid":1,"ts":44},
         {"ph":"e","cat":"io","id2":{"global":"7"},"pid":1,"tid":1,"ts":49})");
  std::map<std::string, std::pair<Nanoseconds, Nanoseconds>> found;
  for (const Found& range : find_events(*trace, TrackKind::kNvtxProcessRanges)) found[range.name] = {range.event.start, range.event.duration};
  CHECK(found ==
        std::map<std::string, std::pair<Nanoseconds, Nanoseconds>>{
            {"first", {0, 10'000}}, {"second", {5'000, 15'000}}, {"other process", {7'000, 5'000}}, {"read", {30'000, 4'000}}, {"write", {31'000, 8'000}}});
  CHECK(trace->diagnostics().empty());
}

TEST_CASE("asynchronous ranges of older files are read, with their steps as marks") {
  const auto trace = trace_of_events(
      R"({"ph":"S","cat":"net","id":1,"name":"request","pid":1,"tid":1,"ts":10},
         {"ph":"T","cat":"net","id":1,"name":"request","pid":1,"tid":1,"ts":12,"args":{"step":"sent"}},
         {"ph":"F","cat":"net","id":1,"name":"request","pid":1,"tid":2,"ts":17})");
  CHECK(only_event(*trace, TrackKind::kNvtxProcessRanges).event.duration == 7'000);
  CHECK(only_event(*trace, TrackKind::kNvtxMarks).event.start == 2'000);
}

TEST_CASE("what a timeline has no place for is counted") {
  const auto trace = trace_of_events(
      R"({"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":9},
         {"ph":"N","name":"object","id":"0x1","pid":1,"tid":1,"ts":1},
         {"ph":"v","name":"memory dump","id":"0x1","pid":1,"tid":1,"ts":1},
         {"ph":"E","pid":1,"tid":1,"ts":3},
         {"ph":"e","cat":"io","id":"1","name":"never begun","pid":1,"tid":1,"ts":4},
         {"ph":"s","id":1,"name":"flow","pid":1,"tid":1,"ts":1})");
  CHECK(trace->event_count() == 1);
  REQUIRE(trace->diagnostics().size() == 2);
  CHECK_THAT(trace->diagnostics()[0].text, contains_text("2 events of kinds that a timeline has no place for"));
  CHECK_THAT(trace->diagnostics()[1].text, contains_text("2 ends of ranges that nothing began were left out."));
}

TEST_CASE("arguments may stand in front of what says how to read them") {  // for example if a program sorts the keys
  const auto trace = trace_of_events(
      R"({"args":{"MB":2.5},"name":"memory","ph":"C","pid":1,"ts":10},
         {"args":{"MB":7},"name":"memory","ph":"C","pid":1,"ts":20},
         {"args":{"correlation":17,"bytes":64},"cat":"gpu_memcpy","dur":5,"name":"Memcpy HtoD","ph":"X","pid":0,"tid":7,"ts":12},
         {"args":{"name":"python"},"name":"process_name","ph":"M","pid":1})");
  REQUIRE(trace->counters().size() == 1);
  const CounterSeries& memory = trace->counter_series(0);
  REQUIRE(memory.size() == 2);
  CHECK(memory.sample(0).value == 25);  // in tenths
  CHECK(memory.sample(1).value == 70);
  const Found copy = only_event(*trace, TrackKind::kMemory);
  CHECK(copy.event.correlation == 17);
  CHECK(trace->memory_detail(copy.event.detail).bytes == 64);
}

TEST_CASE("a name that is no text is none") {
  const auto trace = trace_of_events(
      R"({"ph":"X","name":{"a":1},"pid":1,"tid":1,"ts":1,"dur":1}, {"ph":"X","name":null,"pid":1,"tid":1,"ts":3,"dur":1},
         {"ph":"X","name":"null","pid":1,"tid":1,"ts":5,"dur":1}, {"ph":"X","name":12,"pid":1,"tid":1,"ts":7,"dur":1})");
  std::vector<std::string> names;
  for (const Found& range : find_events(*trace, TrackKind::kNvtxRanges)) names.push_back(range.name);
  CHECK(names == std::vector<std::string>{"", "", "null", "12"});
}

TEST_CASE("PyTorch's ranges stand in domains of their own, the user's in the default one") {
  const auto trace = trace_of_events(
      R"({"ph":"X","cat":"user_annotation","name":"step","pid":9,"tid":9,"ts":0,"dur":100},
         {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":10,"dur":50},
         {"ph":"X","cat":"python_function","name":"train.py(7): step","pid":9,"tid":9,"ts":5,"dur":80},
         {"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":30,"dur":50},
         {"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":9,"tid":9,"ts":12,"args":{"Bytes":-4096}})");
  const auto ranges = find_events(*trace, TrackKind::kNvtxRanges);
  REQUIRE(ranges.size() == 3);
  std::map<std::string, std::string> domains;
  for (const Found& range : ranges) domains[range.name] = trace->domain_name(range.key.process, range.key.domain);
  CHECK(domains["step"].empty());
  CHECK(domains["aten::mm"] == "PyTorch operators");
  CHECK(domains["train.py(7): step"] == "Python functions");
  const NvtxDetail& allocation = trace->nvtx_detail(only_event(*trace, TrackKind::kNvtxMarks).event.detail);
  CHECK(allocation.payload_type == PayloadType::kSigned);
  CHECK(std::bit_cast<std::int64_t>(allocation.payload) == -4096);
}

TEST_CASE("names come from metadata, wherever it stands; GPUs from the properties of devices") {
  const auto trace = trace_of(R"({"traceEvents": [)" + kKernel + "," + kCall +
                              R"(,{"ph":"M","name":"process_name","pid":4711,"tid":0,"args":{"name":"python"}},
        {"ph":"M","name":"thread_name","pid":4711,"tid":4712,"args":{"name":"main \u0041\u00e9\ud83d\ude00 \"quoted\""}}],
      "baseTimeNanoseconds": 1711964646000000000,
      "deviceProperties": [{"id":1,"name":"NVIDIA H100","totalGlobalMem":85899345920,"computeMajor":9,"computeMinor":0,"maxThreadsPerMultiprocessor":2048,"warpSize":32,"numSms":132}]})");
  CHECK(trace->processes()[0].name == "python");
  CHECK(trace->threads()[0].name == "main A\xc3\xa9\xf0\x9f\x98\x80 \"quoted\"");
  CHECK(trace->provenance().utc_epoch == 1'711'964'646'000'100'250);  // after time 0, which is 100.25 µs after the base
  REQUIRE(trace->gpus().size() == 1);
  CHECK(trace->gpus()[0].name == "NVIDIA H100");
  CHECK(trace->gpus()[0].multiprocessor_count == 132);
  CHECK(trace->gpus()[0].compute_major == 9);
  CHECK(trace->gpus()[0].max_warps_per_multiprocessor == 64);
}

TEST_CASE("of several processes, the one that launched the work has it") {
  const auto call = [](int pid, int correlation, int start) {
    return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","tid":1,"dur":1,"pid":)" + std::to_string(pid) + R"(,"ts":)" + std::to_string(start) +
           R"(,"args":{"correlation":)" + std::to_string(correlation) + "}}";
  };
  const auto kernel = [](int pid, int correlation, int start) {
    return R"({"ph":"X","cat":"kernel","name":"k","tid":7,"dur":1,"pid":)" + std::to_string(pid) + R"(,"ts":)" + std::to_string(start) +
           R"(,"args":{"device":0,"context":1,"stream":7,"correlation":)" + std::to_string(correlation) + "}}";
  };
  // The correlation ids of the processes are equal; only time tells them apart.
  const auto trace = trace_of_events(call(100, 5, 10) + "," + kernel(0, 5, 15) + "," + call(200, 5, 20) + "," + kernel(1, 5, 25));
  const auto kernels = find_events(*trace, TrackKind::kKernels);
  REQUIRE(kernels.size() == 2);
  for (const Found& found : kernels) CHECK(trace->processes()[found.key.process].pid == (found.event.start == 5'000 ? 100u : 200u));
  CHECK(trace->processes().size() == 2);
}

TEST_CASE("synchronizations have their kind, and the stream that CUPTI calls none") {
  const auto trace = trace_of_events(
      R"({"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":1,"dur":2,"args":{"cuda_sync_kind":"Stream Wait Event","stream":7,"correlation":3,"device":0,"context":1,"wait_on_cuda_event_id":12}},
         {"ph":"X","cat":"cuda_sync","name":"Context Sync","pid":0,"tid":-1,"ts":5,"dur":2,"args":{"cuda_sync_kind":"Context Sync","stream":-1,"correlation":4,"device":0,"context":1}})");
  const auto found = find_events(*trace, TrackKind::kSynchronizations);
  REQUIRE(found.size() == 2);
  std::map<std::uint32_t, std::uint32_t> type_of_stream;
  for (const Found& each : found) type_of_stream[each.key.stream] = trace->synchronization_detail(each.event.detail).type;
  CHECK(type_of_stream == std::map<std::uint32_t, std::uint32_t>{{7, 2}, {4294967295u, 4}});
}
