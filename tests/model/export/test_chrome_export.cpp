#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "chrome/chrome_pids.h"
#include "model/export/export_limits.h"
#include "model/export/text_export.h"
#include "model/import/chrome_json.h"
#include "model/import/open_trace.h"
#include "model/trace/load.h"
#include "sample_trace.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/trace_text.h"

using namespace lanescope;
using namespace lanescope::test;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string chrome_text(const Trace& trace, const ExportSelection& selection = {}) {
  std::string text;
  REQUIRE(export_chrome_json(
      trace,
      [&](std::string_view piece) {
        text += piece;
        return true;
      },
      selection));
  return text;
}

std::shared_ptr<const Trace> imported(const std::string& text) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "export.json";
  std::ofstream(path, std::ios::binary) << text;
  auto trace = import_chrome_json(path);
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

std::vector<Json> events_with(const Json& document, const std::string& key, const std::string& value) {
  std::vector<Json> found;
  for (const Json& event : document["traceEvents"])
    if (event.value(key, "") == value) found.push_back(event);
  return found;
}

// Times, kinds and correlation ids of all events: the data for which the format has a place, whatever the tool. The first event starts at 0.
std::vector<std::string> times(const Trace& trace) {
  std::vector<std::string> lines;
  constexpr TrackKind kLeftOut[] = {TrackKind::kProcessors, TrackKind::kCpuSamples, TrackKind::kBacktraces, TrackKind::kMemoryUsage, TrackKind::kCudaEvents};
  const auto is_left_out = [&](const Track& track) { return std::count(std::begin(kLeftOut), std::end(kLeftOut), track.key.kind) > 0; };
  Nanoseconds begin = trace.extent().end;
  for (const Track& track : trace.tracks())
    for (const LaneId id : track.lanes)
      if (!is_left_out(track) && !trace.lane(id).empty()) begin = std::min(begin, trace.lane(id).start(0));
  for (const Track& track : trace.tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace.lane(id).size(); ++i) {
        if (is_left_out(track)) continue;
        const Event event = trace.lane(id).event(i);
        const bool is_nvtx = track.key.kind >= TrackKind::kNvtxRanges && track.key.kind <= TrackKind::kNvtxMarks;
        const auto kind = track.key.kind == TrackKind::kGraphLaunches ? TrackKind::kKernels : track.key.kind;
        lines.push_back(std::to_string(static_cast<int>(kind)) + "|" + std::to_string(trace.processes()[track.key.process].pid) + "|" +
                        std::to_string(event.start - begin) + "|" + std::to_string(event.duration) + "|" +
                        std::string(api_display_name(trace.name(event.name))) + "|" + (is_nvtx ? "" : std::to_string(event.correlation)));
      }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("a part says which times are its own, and an export which process was attached to") {
  TraceBuilder builder;
  builder.provenance().format = "Lanescope";
  builder.provenance().attached_pid = 4711;
  const ProcessId process = builder.process_of_instance(4711);
  builder.process(process).pid = 4711;
  for (const auto& [start, end] : {std::pair(0, 4'000), {4'000, 9'000}, {9'000, 20'000}})
    builder.add({.kind = TrackKind::kThreadStates, .process = process, .thread = builder.thread(process, 7)},
                {{start, end - start, builder.intern("Running"), 0, builder.intern(ThreadStateDetail{.state = ThreadState::kRunning})}});
  const auto trace = builder.snapshot();
  const auto whole = imported(chrome_text(*trace));
  CHECK_FALSE(whole->provenance().part);
  CHECK(whole->provenance().attached_pid == 4711);
  ExportSelection selection;
  selection.window = TimeRange{3'000, 6'000};
  const auto part = imported(chrome_text(*trace, selection));
  REQUIRE(part->provenance().part);
  CHECK(part->provenance().part->time == TimeRange{3'000, 6'000});
  CHECK(part->event_count() == 2);  // whole, beyond the borders
}

TEST_CASE("the document is what PyTorch's profiler would have written") {
  const Json document = Json::parse(chrome_text(*sample_trace()));
  CHECK(document["schemaVersion"] == 1);
  CHECK(document["deviceProperties"][0]["name"] == "NVIDIA H200");
  CHECK(document["baseTimeNanoseconds"] == 1'711'964'646'000'000'123);

  const auto kernels = events_with(document, "cat", "kernel");
  REQUIRE(kernels.size() == 4);  // three, and a graph as a whole
  const Json& kernel = kernels[0];
  CHECK(kernel["ph"] == "X");
  CHECK(kernel["pid"] == 0);  // the GPU
  CHECK(kernel["tid"] == 7);  // the stream
  CHECK(kernel["ts"].get<double>() == 2.0);
  CHECK(kernel["dur"].get<double>() == 0.5);
  CHECK(kernel["args"]["correlation"] == 11);
  CHECK(kernel["args"]["stream"] == 7);
  CHECK(kernel["args"]["device"] == 0);
  CHECK(kernel["args"]["grid"] == Json({256, 1, 1}));
  CHECK(kernel["args"]["shared memory"] == 128);
  CHECK(kernel["args"]["warps per SM"].get<double>() == Approx(256.0 * 2 / 132));

  CHECK(events_with(document, "cat", "cuda_runtime")[0]["name"] == "cudaLaunchKernel");
  CHECK(events_with(document, "cat", "cuda_driver").size() == 1);
  CHECK(events_with(document, "cat", "gpu_memcpy")[0]["name"] == "Memcpy HtoD (Pinned -> Device)");
  CHECK(events_with(document, "cat", "gpu_memcpy")[0]["args"]["memory bandwidth (GB/s)"].get<double>() == 40.96);
  CHECK(events_with(document, "cat", "gpu_memset")[0]["name"] == "Memset (Device)");
  CHECK(events_with(document, "cat", "user_annotation").size() == 7);  // two ranges, two that overlap at both ends, and one mark
  for (const Json& event : events_with(document, "name", "thread_name"))
    if (event["tid"] == 4800) CHECK(event["args"]["name"] == "loader \"A\"\n");
}

TEST_CASE("arrows lead from each launching call to all its work") {
  const Json document = Json::parse(chrome_text(*sample_trace()));
  std::map<std::uint64_t, std::pair<int, int>> ends;  // by id: starts, ends
  for (const Json& event : events_with(document, "cat", "ac2g")) {
    auto& [begins, arrives] = ends[event["id"].get<std::uint64_t>()];
    (event["ph"] == "s" ? begins : arrives) += 1;
    if (event["ph"] == "s") CHECK(event["pid"] == 4711);
    if (event["ph"] == "f") CHECK(event["bp"] == "e");
  }
  CHECK(ends == std::map<std::uint64_t, std::pair<int, int>>{{11, {1, 1}}, {12, {1, 2}}, {13, {1, 1}}});
}

TEST_CASE("readers that go through the file in the order of time find the call of each arrow, and its work, open on their rows") {
  // By the rules of Perfetto's importer: events are sorted by time, and events of equal time keep the order of the file; an arrow leads from and to the
  // innermost open event on its row; an event that outlasts the event it starts in is dropped.
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(data_file("")))
    if (entry.path().extension() == ".trace") files.push_back(entry.path());
  const fs::path file = GENERATE_COPY(from_range(files));
  INFO(file);
  const auto trace = load_trace(file);
  REQUIRE(trace.has_value());
  // For traces that take long to read, a tenth of them.
  ExportSelection selection;
  const TimeRange all = (*trace)->extent();
  if ((*trace)->event_count() > 30'000) selection.window = TimeRange{all.begin + all.length() / 2, all.begin + all.length() * 6 / 10};
  const Json document = Json::parse(chrome_text(**trace, selection));
  struct Step {
    std::int64_t time;
    const Json* event;
  };
  std::vector<Step> steps;
  const auto nanoseconds = [](const Json& microseconds) { return std::llround(microseconds.get<double>() * 1000); };
  for (const Json& event : document["traceEvents"])
    if (event["ph"] != "M") steps.push_back({nanoseconds(event["ts"]), &event});
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.time < b.time; });
  struct Open {
    std::int64_t end;
    const Json* event;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Open>> rows;
  std::map<std::uint64_t, std::int64_t> correlations;  // call from which an arrow leads
  std::size_t dropped = 0, wrong_calls = 0, wrong_work = 0;
  for (const auto& [time, event] : steps) {
    const std::string phase = (*event)["ph"];
    std::vector<Open>& row = rows[{(*event)["pid"].get<std::int64_t>(), event->value("tid", std::int64_t{-1})}];
    while (!row.empty() && row.back().end <= time && phase != "f") row.pop_back();
    if (phase == "X") {
      const std::int64_t end = time + nanoseconds((*event)["dur"]);
      if (!row.empty() && end > row.back().end)
        ++dropped;
      else
        row.push_back({end, event});
    } else if (phase == "s") {
      const bool call = !row.empty() && (*row.back().event)["cat"].get<std::string>().starts_with("cuda_");
      if (!call) ++wrong_calls;
      if (call) correlations[(*event)["id"]] = (*row.back().event)["args"]["correlation"];
    } else if (phase == "f") {
      const bool work = !row.empty() && correlations.contains((*event)["id"]) && (*row.back().event)["args"]["correlation"] == correlations[(*event)["id"]];
      if (!work) ++wrong_work;
    }
  }
  CHECK(dropped == 0);
  CHECK(wrong_calls == 0);
  CHECK(wrong_work == 0);
}

TEST_CASE("what goes out as Chrome JSON comes back with equal times") {
  const auto trace = sample_trace();
  CHECK(difference(times(*trace), times(*imported(chrome_text(*trace)))) == "");
}

TEST_CASE("a kernel's launch shape and a copy's memory survive Chrome JSON") {
  const auto again = imported(chrome_text(*sample_trace()));
  for (const Track& track : again->tracks()) {
    if (track.key.kind == TrackKind::kMemory) {
      const MemoryDetail& copy = again->memory_detail(again->lane(track.lanes[0]).detail(0));
      CHECK(copy.source_memory == MemoryKind::kPinned);
      CHECK(copy.destination_memory == MemoryKind::kDevice);
      CHECK(copy.bytes == 4096);
    } else if (track.key.kind == TrackKind::kKernels && track.key.stream == 7) {
      const KernelDetail& first = again->kernel_detail(again->lane(track.lanes[0]).detail(0));
      CHECK(first.static_shared_memory == 100);
      CHECK(first.dynamic_shared_memory == 28);
      const KernelDetail& node = again->kernel_detail(again->lane(track.lanes[1]).detail(0));
      CHECK(node.graph == 4);
      CHECK(node.graph_node == (1ull << 32) + 5);
      CHECK(node.cluster[0] == 2);
    }
  }
}

TEST_CASE("domains, categories, colours and payloads of NVTX survive Chrome JSON") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 100;
  const ThreadId thread = builder.thread(process, 7);
  builder.set_domain(process, 5, "NCCL");
  builder.set_domain(process, 9, "TSL \"quoted\"");
  builder.set_category(process, 5, 3, "collectives");
  builder.set_category(process, 9, 3, "other");
  Nanoseconds t = 0;
  const auto add = [&](TrackKind kind, std::uint32_t domain, NvtxDetail detail) {
    builder.add({.kind = kind, .process = process, .thread = thread, .domain = domain},
                {{t, kind == TrackKind::kNvtxMarks ? 0 : 50, builder.intern("event " + std::to_string(t)), 0, builder.intern(detail)}});
    t += 100;
  };
  for (const TrackKind kind : {TrackKind::kNvtxRanges, TrackKind::kNvtxProcessRanges, TrackKind::kNvtxMarks})
    for (const std::uint32_t domain : {0u, 5u, 9u}) {
      add(kind, domain, {});
      add(kind, domain, {.category = 3, .color = 0xff102030});
      add(kind, domain, {.category = 8});  // without a name
      add(kind, domain, {.payload = ~std::uint64_t{0}, .payload_type = PayloadType::kUnsigned});
      add(kind, domain, {.payload = 12, .payload_type = PayloadType::kSigned});
      add(kind, domain, {.payload = static_cast<std::uint64_t>(-12), .payload_type = PayloadType::kSigned});
      for (const double value : {0.1, 3.0, -1e300}) add(kind, domain, {.payload = std::bit_cast<std::uint64_t>(value), .payload_type = PayloadType::kReal});
      add(kind, domain, {.payload_json = builder.intern(R"({"NCCL communicator ID":77, "Message size [bytes]":3000000,"Operation":"S\"um"})")});
    }
  const auto lines = [](const Trace& trace) {
    std::vector<std::string> all;
    for (const Track& track : trace.tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < trace.lane(lane).size(); ++i) {
          const Event event = trace.lane(lane).event(i);
          const NvtxDetail& detail = trace.nvtx_detail(event.detail);
          std::string line = std::to_string(static_cast<int>(track.key.kind)) + '|' + std::string(trace.name(event.name)) + '|';
          line += std::string(trace.domain_name(track.key.process, track.key.domain)) + '|' + std::to_string(detail.category) + ' ';
          line += std::string(trace.category_name(track.key.process, track.key.domain, detail.category)) + '|' + std::to_string(detail.color) + '|';
          line += std::to_string(static_cast<int>(detail.payload_type)) + ' ' + std::to_string(detail.payload) + '|';
          all.push_back(line + std::string(trace.name(detail.payload_json)));
        }
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto trace = builder.snapshot();
  CHECK(difference(lines(*trace), lines(*imported(chrome_text(*trace)))) == "");
}

TEST_CASE("times are written to the nanosecond") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kCudaApi, process};
  key.thread = builder.thread(process, 1);
  builder.add(key, {{0, 1, 0, 1, 0}, {1'712'195'495'501'688'497, 999, 0, 2, 0}});
  const std::string text = chrome_text(*builder.snapshot());
  CHECK_THAT(text, contains_text("\"ts\":1712195495501688.497,\"dur\":0.999"));
}

TEST_CASE("every trace of the corpus goes out as Chrome JSON and comes back with equal times") {
  const auto folder = corpus();
  if (!folder) return;
  for (const char* kind : {"nsys", "kineto"})
    for (const auto& entry : std::filesystem::directory_iterator(*folder / kind)) {
      if (entry.path().extension() == ".nsys-rep") continue;
      INFO(entry.path());
      const auto trace = open_trace(entry.path());
      REQUIRE(trace.has_value());
      CHECK(difference(times(**trace), times(*imported(chrome_text(**trace)))) == "");
    }
}

TEST_CASE("processes and GPUs of equal numbers have pids of their own in Chrome JSON, as tried one after the other") {
  TraceBuilder builder;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const ProcessId process = builder.process_of_instance(i + 1);
    builder.process(process).pid = i % 3 == 0 ? 7 : i % 3 == 1 ? 10'000'007 + i % 2 * 10'000'000 : 4'290'000'007;  // the last wraps around
    if (i % 4 == 0) builder.set_device(process, i % 8, Gpu{.name = "GPU", .uuid = std::to_string(i % 40), .ordinal = 7});
  }
  for (std::uint32_t i = 0; i < 20; ++i) builder.gpu(Gpu{.name = "other", .uuid = "other" + std::to_string(i), .ordinal = i % 2});
  const auto trace = builder.snapshot();

  std::set<std::uint32_t> taken;
  const auto tried = [&](std::uint32_t pid) {
    while (!taken.insert(pid).second) pid += 10'000'000;
    return pid;
  };
  const exporters::ChromePids pids(*trace);
  for (ProcessId id = 0; id < trace->processes().size(); ++id) CHECK(pids.host(id) == tried(trace->processes()[id].pid));
  std::map<std::pair<ProcessId, GpuId>, std::uint32_t> of_process;
  std::map<GpuId, std::uint32_t> of_gpu;
  for (std::size_t i = 0; i < trace->devices().size(); ++i) {
    const CudaDevice& device = trace->devices()[i];
    const std::uint32_t pid = tried(device.ordinal);
    CHECK(pids.gpu_of_entry(i) == pid);
    of_process.try_emplace({device.process, device.gpu}, pid);
    of_gpu.try_emplace(device.gpu, pid);
  }
  REQUIRE(of_process.size() == 100);
  for (const auto& [key, pid] : of_process) CHECK(pids.gpu(TrackKey{.kind = TrackKind::kKernels, .process = key.first, .gpu = key.second}) == pid);
  REQUIRE(trace->gpus().size() == 30);
  for (GpuId gpu = 0; gpu < trace->gpus().size(); ++gpu) {
    CHECK(pids.is_used(gpu) == of_gpu.contains(gpu));
    CHECK(pids.counters(gpu) == (of_gpu.contains(gpu) ? of_gpu[gpu] : tried(trace->gpus()[gpu].ordinal)));
  }
}

TEST_CASE("text is bounded by the size of the file that it is made of, where that is known") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  TrackKey key{TrackKind::kCudaApi, process};
  key.thread = builder.thread(process, 7);
  builder.add(key, {{100, 50, builder.intern("cudaFree"), 41, 0}, {200, 50, builder.intern("cudaFree"), 42, 0}});
  const auto trace = builder.snapshot();
  ExportSelection selection;
  TextLimit unknown(*trace, selection);
  CHECK(unknown.take(std::size_t{1} << 60));
  CHECK(unknown.check().has_value());
  selection.source_bytes = 3'000;  // as 10,000,000
  TextLimit small(*trace, selection);
  CHECK(small.take(2'500'000'000 + 2 * 4'096 - 1));
  CHECK(small.take(1));
  CHECK(small.check().has_value());
  CHECK(!small.take(1));
  CHECK(!small.take(0));
  REQUIRE(!small.check().has_value());
  CHECK(small.check().error().text.find("2,500,008,192 bytes") != std::string::npos);
  selection.source_bytes = 20'000'000;
  TextLimit large(*trace, selection);
  CHECK(large.take(5'000'000'000));
}

TEST_CASE("names of any length are quoted in JSON and CSV where a character of theirs asks for it") {
  const auto named = [](const std::string& name) {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    TrackKey key{TrackKind::kCudaApi, process};
    key.thread = builder.thread(process, 7);
    builder.add(key, {{100, 50, builder.intern(name), 41, 0}});
    return builder.snapshot();
  };
  const auto csv = [](const std::shared_ptr<const Trace>& trace) {
    std::string table;
    const TextConsumer keep = [&](std::string_view piece) {
      table += piece;
      return true;
    };
    REQUIRE(export_csv(trace, keep));
    return table;
  };
  for (const std::size_t length : {1, 63, 64, 65, 127, 128, 200})
    for (std::size_t at = 0; at<length; at += length> 70 ? 13 : 1) {
      std::string name(length, 'n');
      name[at] = '"';
      CHECK(events_with(Json::parse(chrome_text(*named(name))), "name", name).size() == 1);
      CHECK(csv(named(name)).find('"' + name.substr(0, at) + "\"\"" + name.substr(at + 1) + '"') != std::string::npos);
      name[at] = '\x01';
      CHECK(csv(named(name)).find(name.substr(0, at) + "\\u0001" + name.substr(at + 1)) != std::string::npos);
    }
}

TEST_CASE("a consumer that takes no more ends the export") {
  CHECK_FALSE(export_chrome_json(*sample_trace(), [](std::string_view) { return false; }));
}

TEST_CASE("samples refer to their innermost frame, and frames to their callers") {
  const Json json = Json::parse(chrome_text(*sample_trace()));
  REQUIRE(json["samples"].size() == 4);
  const auto chain = [&](const Json& sample) {
    std::vector<std::string> names;
    for (Json id = sample.value("sf", Json()); !id.is_null(); id = json["stackFrames"][id.get<std::string>()].value("parent", Json()))
      names.push_back(json["stackFrames"][id.get<std::string>()]["name"]);
    return names;
  };
  CHECK(chain(json["samples"][0]) == std::vector<std::string>{"load", "inner", "middle", "python3+0x1000"});
  CHECK(chain(json["samples"][1]) == std::vector<std::string>{"inner", "middle", "python3+0x1000"});
  CHECK(chain(json["samples"][3]).empty());
  CHECK(json["samples"][0]["ts"] == 1.1);
  CHECK(json["samples"][0]["tid"] == 4711);
  CHECK(json["samples"][0]["cpu"] == 3);
  CHECK_FALSE(Json::parse(chrome_text(*TraceBuilder().snapshot())).contains("samples"));
}
