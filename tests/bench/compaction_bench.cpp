// What compacting a large recording takes, and what the compacted file gives: bytes an event, segments decoded alone, opening.
//
// Prints JSON. Times are of the wall clock, in one run each; memory is the process's peak after each step, in MiB.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "model/trace/compact/compaction.h"
#include "model/trace/compact/segment_reader.h"
#include "model/trace/load.h"
#include "repeat_trace.h"

namespace {

using namespace lanescope;
namespace fs = std::filesystem;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::uint64_t peak_mebibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes >> 10;
  }
  return 0;
}

template <typename Value>
Value value_of(Result<Value> result) {
  if (result) return std::move(*result);
  std::cerr << result.error().text << '\n';
  std::exit(1);
}

std::vector<fs::path> recordings() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(LANESCOPE_TEST_DATA))
    if (entry.path().extension() == ".trace") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures compaction.", "lanescope-compaction-bench");
  std::uint64_t events = 10'000'000;
  std::vector<std::string> sources;
  std::string folder = "/tmp";
  std::uint64_t memory = 512;
  app.add_option("--events", events, "Size of the recording [10000000]");
  app.add_option("--source", sources, "Recordings that are repeated [all of tests/data]");
  app.add_option("--folder", folder, "For the files, which are removed again [/tmp]");
  app.add_option("--memory", memory, "MiB for sorting [512]");
  CLI11_PARSE(app, argc, argv);
  keep_memory_for_decoding();

  const fs::path log = fs::path(folder) / "lanescope_compaction_bench.log.trace", compact = fs::path(folder) / "lanescope_compaction_bench.trace";
  std::vector<fs::path> paths(sources.begin(), sources.end());
  if (paths.empty()) paths = recordings();
  nlohmann::ordered_json figures;
  figures["repeated_events"] = value_of(bench::repeat_trace(paths, events, log));

  Compacted result;
  const double compacting =
      seconds_of([&] { result = value_of(compact_trace_file(log, compact, Overwrite::kAllow, {}, {.memory_bytes = memory << 20})); });
  const auto of_events = static_cast<double>(result.events);
  figures["events"] = result.events;
  figures["compact_seconds"] = compacting;
  figures["compact_events_per_second"] = of_events / compacting;
  figures["compact_peak_mebibytes"] = peak_mebibytes();
  figures["log_bytes_per_event"] = static_cast<double>(fs::file_size(log)) / of_events;
  figures["compact_bytes_per_event"] = static_cast<double>(fs::file_size(compact)) / of_events;

  std::optional<SegmentReader> reader;
  figures["heads_seconds"] = seconds_of([&] { reader.emplace(value_of(SegmentReader::open(compact))); });
  std::uint64_t decoded = 0, full = 0;
  double slowest = 0;
  const double decoding = seconds_of([&] {
    for (std::uint32_t track = 0; track < reader->tracks().size(); ++track)
      for (std::uint32_t lane = 0; lane < reader->lane_count(track); ++lane)
        for (const SegmentReader::Segment& segment : reader->segments({track, lane})) {
          slowest = std::max(slowest, seconds_of([&] { decoded += value_of(reader->decode(segment))->size(); }));
          full += segment.count == LaneSegment::kCapacity;
        }
  });
  figures["full_segments"] = full;
  figures["decode_events_per_second_one_thread"] = static_cast<double>(decoded) / decoding;
  figures["decode_slowest_segment_milliseconds"] = slowest * 1e3;
  reader.reset();

  for (const auto& [name, path] : {std::pair{"compact", compact}, std::pair{"log", log}})
    figures[std::string("open_") + name + "_seconds"] = seconds_of([&] { (void)value_of(load_trace(path)); });
  std::cout << figures.dump(2) << '\n';
  fs::remove(log);
  fs::remove(compact);
}
