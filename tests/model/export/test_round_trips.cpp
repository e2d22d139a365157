// A trace that is exported and read again is the same trace: for every recording of tests/data, in every format that can be read back.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "model/export/nsys_sqlite_export.h"
#include "model/export/text_export.h"
#include "model/export/trace_file_export.h"
#include "model/import/chrome_json.h"
#include "model/import/open_trace.h"
#include "model/stats/format.h"
#include "model/stats/report.h"
#include "model/trace/load.h"
#include "model/trace/measured_calls.h"
#include "model/trace/trace_builder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> recordings() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(LANESCOPE_TEST_DATA))
    if (entry.path().extension() == ".trace") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::shared_ptr<const Trace> opened(const fs::path& path) {
  auto trace = open_trace(path);
  if (!trace) FAIL(trace.error().text);
  return *trace;
}

// One line for each event, with everything that the events view shows of it, sorted, because events that start together have no order.
std::vector<std::string> lines_of(const std::shared_ptr<const Trace>& trace) {
  std::string text;
  REQUIRE(export_csv(trace,
                     [&](std::string_view piece) {
                       text += piece;
                       return true;
                     },
                     {}));
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Nsight Systems' schema has 24 bits for a thread: larger numbers, which importers give to threads without a number, are replaced there.
std::vector<std::string> without_large_threads(std::vector<std::string> lines) {
  constexpr unsigned long kLargest = 16'000'000;
  for (std::string& line : lines)
    for (std::size_t at = line.find(",["); at != line.npos; at = line.find(",[", at + 1))
      if (const std::size_t close = line.find(']', at); close != line.npos && std::strtoul(line.c_str() + at + 2, nullptr, 10) > kLargest)
        line.replace(at + 2, close - at - 2, "*");
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string report(const Trace& trace, std::string_view name) {
  return stats::format_table(*stats::make_report(*stats::find_report(name), trace), stats::Format::kCsv);
}

// Values of a counter in its unit, by time since the first event of the trace, without values that repeat the one before.
using Values = std::map<std::string, std::vector<std::pair<Nanoseconds, double>>>;
Values values_of(const Trace& trace) {
  Nanoseconds origin = std::numeric_limits<Nanoseconds>::max();
  for (const Lane& lane : trace.lanes())
    if (!lane.empty()) origin = std::min(origin, lane.start(0));
  Values values;
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    const Counter& counter = trace.counters()[id];
    auto& of = values[counter.name + " [" + counter.unit + "] " + counter.group];
    for (std::size_t i = 0; i < trace.counter_series(id).size(); ++i) {
      const CounterSample sample = trace.counter_series(id).sample(i);
      const double value = sample.has_value() ? static_cast<double>(sample.value) * counter.resolution : -1;
      if (of.empty() ? sample.has_value() : std::abs(of.back().second - value) > 1e-6) of.emplace_back(sample.time - origin, value);
    }
    if (!of.empty() && of.back().second == -1) of.pop_back();  // marks the time after the last value
  }
  return values;
}

}  // namespace

namespace {

// Nsight Systems' schema has no place for the names that a program gives to its devices and streams.
std::vector<std::string> without_given_names(const Trace& trace, std::vector<std::string> lines) {
  std::vector<std::string> names;
  for (GpuId gpu = 0; gpu < trace.gpus().size(); ++gpu) names.push_back(given_names(trace, gpu));
  for (const CudaStream& stream : trace.streams())
    if (!stream.name.empty()) names.push_back(" " + stream.name);
  for (std::string& line : lines)
    for (const std::string& name : names) {
      const std::string whole = name.starts_with(" (") ? name : name + ",";  // the end of its cell
      if (const std::size_t at = whole.empty() ? line.npos : line.find(whole); at != line.npos) line.erase(at, name.size());
    }
  for (std::string& line : lines) std::erase(line, '"');
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Formats without counters of kernels have an event for the time of each reading instead.
std::vector<std::string> without_readings(std::vector<std::string> lines) {
  std::erase_if(lines, [](const std::string& line) { return line.find(kReadingOfCounters) != line.npos; });
  return lines;
}

}  // namespace

TEST_CASE("every recording comes back from .trace and SQLite event by event") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  const auto trace = opened(recording);
  const std::vector<std::string> before = lines_of(trace);
  REQUIRE(export_trace_file(*trace, folder.path() / "again.trace", Overwrite::kRefuse, {}));
  CHECK((lines_of(opened(folder.path() / "again.trace")) == before));
  REQUIRE(export_nsys_sqlite(*trace, folder.path() / "again.sqlite", Overwrite::kRefuse, {}));
  const auto imported = opened(folder.path() / "again.sqlite");
  CHECK((without_readings(without_given_names(*imported, lines_of(imported))) == without_given_names(*trace, before)));
  CHECK(report(*imported, "gpu_idle_sum") == report(*trace, "gpu_idle_sum"));
}

TEST_CASE("every trace of the corpus comes back from SQLite event by event") {
  const auto files = corpus();
  if (!files) return;
  const TemporaryFolder folder;
  for (const char* part : {"nsys", "kineto"})
    for (const auto& entry : fs::directory_iterator(*files / part)) {
      const auto trace = open_trace(entry.path());
      if (!trace) continue;  // reports whose format is not public
      INFO(entry.path());
      REQUIRE(export_nsys_sqlite(**trace, folder.path() / "again.sqlite", Overwrite::kAllow, {}));
      CHECK((without_large_threads(lines_of(opened(folder.path() / "again.sqlite"))) == without_large_threads(lines_of(*trace))));
    }
}

TEST_CASE("every recording comes back from Chrome JSON with its reports, samples and counters") {
  const fs::path recording = GENERATE(from_range(recordings()));
  INFO(recording);
  const TemporaryFolder folder;
  const auto trace = opened(recording);
  {
    std::ofstream out(folder.path() / "again.json", std::ios::binary);
    REQUIRE(export_chrome_json(*trace, [&](std::string_view piece) { return static_cast<bool>(out << piece); }, {}));
  }
  const auto again = opened(folder.path() / "again.json");
  for (const char* name :
       {"cuda_api_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "nvtx_startend_sum", "osrt_sum", "cpu_samples", "nvtx_sum",
        "nccl_sum", "file_access_sum", "mpi_event_sum", "occupancy_sum", "gpu_idle_sum", "um_sum", "um_total_sum", "um_cpu_page_faults_sum"}) {
    INFO(name);
    CHECK(report(*again, name) == report(*trace, name));
  }
  const Values before = values_of(*trace), after = values_of(*again);
  REQUIRE(after.size() == before.size());
  for (const auto& [counter, values] : before) {
    INFO(counter);
    REQUIRE(after.contains(counter));
    const auto& found = after.at(counter);
    REQUIRE(found.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (found[i].first != values[i].first || std::abs(found[i].second - values[i].second) > 1e-6)
        FAIL("value " << i << ": " << values[i].second << " at " << values[i].first << " came back as " << found[i].second << " at " << found[i].first);
  }
}

TEST_CASE("what had not ended with the recording comes back from SQLite and Chrome JSON as such, with the time that was seen of it") {
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  builder.process(process).pid = 100;
  const ThreadId thread = builder.thread(process, 7);
  builder.set_domain(process, 3, "own");
  builder.set_domain(process, 4, std::string(kOperatorDomainName));
  const auto range = [&](TrackKind kind, std::uint32_t domain, const char* name, TimeRange time, NvtxDetail detail) {
    builder.add({.kind = kind, .process = process, .thread = thread, .domain = domain},
                {{time.begin, time.length(), builder.intern(name), 0, builder.intern(detail)}});
  };
  const NvtxDetail open{.color = 0xff102030, .payload = 12, .payload_type = PayloadType::kUnsigned, .finished = Finished::kNo};
  range(TrackKind::kNvtxRanges, 3, "closed", {0, 1'000}, {});
  range(TrackKind::kNvtxRanges, 3, "open", {2'000, 5'000}, open);
  range(TrackKind::kNvtxRanges, 4, "aten::mm", {2'100, 4'900}, {.finished = Finished::kNo});
  range(TrackKind::kNvtxProcessRanges, 0, "of the process", {2'200, 4'800}, open);
  KernelDetail kernel;
  kernel.short_name = builder.intern("endless");
  for (int axis = 0; axis < 3; ++axis) kernel.grid[axis] = kernel.block[axis] = 1;
  const TrackKey stream{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7};
  const DetailId ended = builder.intern(kernel);
  kernel.finished = Finished::kNo;
  builder.add(stream, {{2'400, 100, builder.intern("endless()"), 3, ended}, {2'600, 2'000, builder.intern("endless()"), 4, builder.intern(kernel)}});
  // Something happened after all of these, when nothing was seen of them any more.
  builder.add({.kind = TrackKind::kCudaApi, .process = process, .thread = thread}, {{9'000, 500, builder.intern("cudaFree"), 5, builder.intern(ApiDetail{})}});
  builder.provenance().finished = true;
  const auto trace = builder.snapshot();
  const auto lines = [](const Trace& of) {
    std::vector<std::string> all;
    for (const Track& track : of.tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; i < of.lane(lane).size(); ++i) {
          const Event event = of.lane(lane).event(i);
          const bool is_kernel = track.key.kind == TrackKind::kKernels, is_call = track.key.kind == TrackKind::kCudaApi;
          const NvtxDetail detail = is_kernel || is_call ? NvtxDetail{} : of.nvtx_detail(event.detail);
          const Finished finished = is_kernel ? of.kernel_detail(event.detail).finished : detail.finished;
          all.push_back(std::string(of.name(event.name)) + ' ' + std::to_string(event.start) + ' ' + std::to_string(event.duration) +
                        (finished == Finished::kNo ? " open " : " ") + std::to_string(detail.color) + ' ' + std::to_string(detail.payload) + ' ' +
                        std::string(is_kernel || is_call ? "" : of.domain_name(track.key.process, track.key.domain)));
        }
    std::sort(all.begin(), all.end());
    return all;
  };
  const TemporaryFolder folder;
  REQUIRE(export_nsys_sqlite(*trace, folder.path() / "again.sqlite", Overwrite::kRefuse));
  CHECK(lines(*opened(folder.path() / "again.sqlite")) == lines(*trace));
  {
    std::ofstream out(folder.path() / "again.json", std::ios::binary);
    REQUIRE(export_chrome_json(*trace, [&](std::string_view piece) { return static_cast<bool>(out << piece); }, {}));
  }
  CHECK(lines(*opened(folder.path() / "again.json")) == lines(*trace));
}

TEST_CASE("an export says how far it is, up to the end, in every format") {
  const auto trace = opened(fs::path(LANESCOPE_TEST_DATA) / "torch_loader_samples.trace");
  const TemporaryFolder folder;
  std::vector<double> shares;
  const auto looking = [&](const ExportSelection& selection, std::vector<std::size_t>& pieces) {
    return [&, progress = selection.progress](std::string_view piece) {
      pieces.push_back(piece.size());
      shares.push_back(progress.share().value_or(-1));
      return true;
    };
  };
  for (const bool as_csv : {true, false}) {
    shares.clear();
    std::vector<std::size_t> pieces;
    const ExportSelection selection;
    CHECK_FALSE(selection.progress.share());
    const TextConsumer look = looking(selection, pieces);
    REQUIRE((as_csv ? export_csv(trace, look, selection) : export_chrome_json(*trace, look, selection)));
    REQUIRE(shares.size() > 10);
    CHECK(std::is_sorted(shares.begin(), shares.end()));
    CHECK(shares.front() < 0.2);
    CHECK(std::count_if(shares.begin(), shares.end(), [](double share) { return share > 0.1 && share < 0.9; }) > 0);
    CHECK(selection.progress.share() == 1.0);
  }
  for (const FileForm form : {FileForm::kLog, FileForm::kCompacted}) {
    const ExportSelection selection;
    REQUIRE(export_trace_file(*trace, folder.path() / "out.trace", Overwrite::kAllow, selection, form));
    CHECK(selection.progress.share().value_or(0) > 0.99);
  }
  NsysSqliteOptions options;
  REQUIRE(export_nsys_sqlite(*trace, folder.path() / "out.sqlite", Overwrite::kAllow, options));
  CHECK(options.selection.progress.share() == 1.0);
}
