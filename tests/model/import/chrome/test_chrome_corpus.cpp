// Traces of PyTorch's profiler, counted and measured in another way.
#include <map>

#include <simdjson.h>

#include "chrome_file.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string decompressed(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  std::vector<char> piece(1 << 20);
  for (int size = 0; (size = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0;) text.append(piece.data(), static_cast<std::size_t>(size));
  gzclose(file);
  return text;
}

// Events of each category, and the sum of their durations in ns, from the parsed document.
struct Sum {
  std::uint64_t count = 0;
  double duration = 0;
};
std::map<std::string, Sum> sums_by_category(const std::filesystem::path& path) {
  simdjson::dom::parser parser;
  const simdjson::dom::element document = parser.parse(decompressed(path));
  simdjson::dom::array events;
  if (document.get(events) != simdjson::SUCCESS) events = document["traceEvents"].get_array();
  std::map<std::string, Sum> sums;
  for (const simdjson::dom::element event : events) {
    const std::string_view phase = event["ph"];
    std::string_view category;
    if (event["cat"].get(category) != simdjson::SUCCESS) category = "";
    if (phase == "i") category = "instant";
    if (phase != "X" && phase != "i") continue;
    Sum& sum = sums[std::string(category)];
    ++sum.count;
    double duration = 0;
    if (event["dur"].get(duration) == simdjson::SUCCESS) sum.duration += duration * 1000;
  }
  return sums;
}

std::uint64_t count_in_domain(const Trace& trace, std::string_view domain) {
  std::uint64_t count = 0;
  for (const Found& range : find_events(trace, TrackKind::kNvtxRanges)) count += trace.domain_name(range.key.process, range.key.domain) == domain ? 1 : 0;
  return count;
}

double total(const std::vector<Found>& events) {
  double sum = 0;
  for (const Found& found : events) sum += static_cast<double>(found.event.duration);
  return sum;
}

}  // namespace

TEST_CASE("each file of PyTorch's profiler has as many events of each kind as its document, and as much time") {
  const auto folder = corpus();
  if (!folder) return;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder / "kineto")) {
    INFO(entry.path());
    ++files;
    auto sums = sums_by_category(entry.path());
    const auto imported = import_chrome_json(entry.path());
    REQUIRE(imported.has_value());
    const Trace& trace = **imported;
    const auto sum = [&](std::initializer_list<const char*> categories) {
      Sum all;
      for (const char* category : categories) {
        all.count += sums[category].count;
        all.duration += sums[category].duration;
      }
      return all;
    };
    const auto same = [&](TrackKind kind, Sum expected) {
      const auto found = find_events(trace, kind);
      CHECK(found.size() == expected.count);
      CHECK(total(found) == Approx(expected.duration).epsilon(1e-9));
    };
    same(TrackKind::kKernels, sum({"kernel", "Kernel"}));
    same(TrackKind::kMemory, sum({"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}));
    same(TrackKind::kCudaApi, sum({"cuda_runtime", "cuda_driver", "Runtime"}));
    same(TrackKind::kNvtxMarks, sum({"instant"}));
    same(TrackKind::kOverhead, sum({"overhead"}));
    CHECK(count_in_domain(trace, "PyTorch operators") == sum({"cpu_op", "Operator"}).count);
    CHECK(count_in_domain(trace, "Python functions") == sum({"python_function"}).count);
    CHECK(count_in_domain(trace, "") == sum({"user_annotation"}).count);
    CHECK(trace.processes().size() == 1);
    CHECK(trace.provenance().condition.empty());
  }
  CHECK(files == 9);
}

TEST_CASE("busy, idle and total time of the GPU are TraceLens's") {
  const auto folder = corpus();
  if (!folder) return;
  for (const std::string name : {"tracelens_h100_bert", "tracelens_h100_nsfw", "tracelens_h100_owlv2"}) {
    INFO(name);
    std::map<std::string, double> expected;  // ms
    std::ifstream table(*folder / "expected" / (name + ".gpu_timeline.csv"));
    for (std::string line; std::getline(table, line);) {
      const auto comma = line.find(',');
      if (comma != line.npos && line.substr(0, 4) != "type") expected[line.substr(0, comma)] = std::stod(line.substr(comma + 1));
    }
    const auto imported = import_chrome_json(*folder / "kineto" / (name + ".json.gz"));
    REQUIRE(imported.has_value());
    std::vector<TimeRange> work;
    for (const TrackKind kind : {TrackKind::kKernels, TrackKind::kMemory})
      for (const Found& found : find_events(**imported, kind)) work.push_back({found.event.start, found.event.end()});
    std::sort(work.begin(), work.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
    Nanoseconds busy = 0;
    Nanoseconds covered = work.front().begin;
    for (const TimeRange each : work) {
      busy += std::max<Nanoseconds>(0, each.end - std::max(covered, each.begin));
      covered = std::max(covered, each.end);
    }
    const Nanoseconds whole = covered - work.front().begin;
    // TraceLens computes with doubles of µs since boot: precise to 1/4096 µs for an event at best.
    CHECK(static_cast<double>(busy) / 1e6 == Approx(expected["busy_time"]).epsilon(1e-5));
    CHECK(static_cast<double>(whole) / 1e6 == Approx(expected["total_time"]).epsilon(1e-6));
    CHECK(static_cast<double>(whole - busy) / 1e6 == Approx(expected["idle_time"]).epsilon(1e-5));
  }
}

TEST_CASE("each piece of GPU work finds the call that launched it, as its correlation id says") {
  const auto folder = corpus();
  if (!folder) return;
  const auto imported = import_chrome_json(*folder / "kineto" / "tracelens_h100_nsfw.json.gz");
  REQUIRE(imported.has_value());
  const Trace& trace = **imported;
  std::map<std::uint32_t, std::string> calls;
  for (const Found& call : find_events(trace, TrackKind::kCudaApi)) calls[call.event.correlation] = call.name;
  std::size_t launched = 0;
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind)) continue;
    for (const LaneId lane : track.lanes)
      for (EventIndex i = 0; i < trace.lane(lane).size(); ++i) {
        const auto launch = trace.launch_of({lane, i});
        REQUIRE(launch.has_value() == calls.contains(trace.lane(lane).correlation(i)));
        if (!launch) continue;
        CHECK(trace.name(trace.event(*launch).name) == calls[trace.lane(lane).correlation(i)]);
        ++launched;
      }
  }
  CHECK(launched == 156);  // 154 kernels, 2 sets
}
