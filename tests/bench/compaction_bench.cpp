// The cost of compacting a large recording, and the properties of the compacted file: bytes per event, decoding of single segments, opening.
//
// Prints JSON. Times are in seconds, from one run: of the wall clock, and processor time of all threads, which is hardly changed by other work on the machine.
// Memory is the process's peak during compaction, in MiB.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "model/trace/compact/compaction.h"
#include "model/trace/compact/segment_reader.h"
#include "model/trace/load.h"
#include "repeat_trace.h"

namespace {

using namespace lanescope;
namespace fs = std::filesystem;

struct Spent {
  double seconds = 0;
  double processor_seconds = 0;
};

double seconds_now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Spent spent_on(const std::function<void()>& work) {
  const double begin = seconds_now(CLOCK_MONOTONIC), processor_begin = seconds_now(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return {seconds_now(CLOCK_MONOTONIC) - begin, seconds_now(CLOCK_PROCESS_CPUTIME_ID) - processor_begin};
}

void put(nlohmann::ordered_json& figures, const std::string& name, const Spent& spent) {
  figures[name + "_seconds"] = spent.seconds;
  figures[name + "_processor_seconds"] = spent.processor_seconds;
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

// Measures the compacted file, segment by segment.
void measure_decoding(const fs::path& compact, nlohmann::ordered_json& figures) {
  std::optional<SegmentReader> reader;
  put(figures, "heads", spent_on([&] { reader.emplace(value_of(SegmentReader::open(compact))); }));
  std::uint64_t decoded = 0, segments = 0, full = 0;
  put(figures, "decode_each_alone", spent_on([&] {
        for (std::uint32_t track = 0; track < reader->tracks().size(); ++track)
          for (std::uint32_t lane = 0; lane < reader->lane_count(track); ++lane)
            for (const SegmentReader::Segment& segment : reader->segments({track, lane})) {
              decoded += value_of(reader->decode(segment))->size();
              ++segments;
              full += segment.count == LaneSegment::kCapacity;
            }
      }));
  std::uint64_t in_parts = 0;
  const auto part = std::make_unique<SegmentParts::Events>();
  put(figures, "one_part_of_each", spent_on([&] {
        for (std::uint32_t track = 0; track < reader->tracks().size(); ++track)
          for (std::uint32_t lane = 0; lane < reader->lane_count(track); ++lane)
            for (const SegmentReader::Segment& segment : reader->segments({track, lane})) {
              const auto parts = reader->parts(segment);
              in_parts += parts && parts->decode(parts->heads().size() / 2, *part);
            }
      }));
  figures["segments_in_parts"] = in_parts;
  figures["decoded_events"] = decoded;
  figures["segments"] = segments;
  figures["full_segments"] = full;
}

// Does the same, and then measures both files as a whole.
void measure_reading(const fs::path& compact, const fs::path& log, nlohmann::ordered_json& figures) {
  measure_decoding(compact, figures);
  for (const auto& [name, path] : {std::pair{"open_compact", compact}, std::pair{"open_log", log}})
    put(figures, name, spent_on([&] { (void)value_of(load_trace(path)); }));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures compaction.", "lanescope-compaction-bench");
  std::uint64_t events = 10'000'000;
  std::vector<std::string> sources;
  std::string folder = "/tmp";
  std::uint64_t memory = 512;
  bool keeps_files = false;
  std::string until = "open", decoded;
  app.add_option("--events", events, "Size of the recording [10000000]");
  app.add_option("--source", sources, "Recordings that are repeated [all of tests/data]");
  app.add_option("--folder", folder, "For the files [/tmp]");
  app.add_flag("--keep", keeps_files, "Leave the files there");
  app.add_option("--until", until, "What to do last [open]")->check(CLI::IsMember({"log", "compact", "open"}));
  app.add_option("--memory", memory, "MiB for sorting [512]");
  app.add_option("--decode", decoded, "A compacted file of which segments are decoded, and nothing else is done");
  CLI11_PARSE(app, argc, argv);
  keep_memory_for_decoding();
  if (!decoded.empty()) {
    nlohmann::ordered_json of_file;
    measure_decoding(decoded, of_file);
    std::cout << of_file.dump(2) << '\n';
    return 0;
  }

  const fs::path log = fs::path(folder) / "lanescope_compaction_bench.log.trace", compact = fs::path(folder) / "lanescope_compaction_bench.trace";
  std::vector<fs::path> paths(sources.begin(), sources.end());
  if (paths.empty()) paths = recordings();
  nlohmann::ordered_json figures;
  figures["repeated_events"] = value_of(bench::repeat_trace(paths, events, log));

  if (until == "log") {
    std::cout << figures.dump(2) << '\n';
    return 0;
  }

  Compacted result;
  put(figures, "compact", spent_on([&] { result = value_of(compact_trace_file(log, compact, Overwrite::kAllow, {}, {.memory_bytes = memory << 20})); }));
  const auto of_events = static_cast<double>(result.events);
  figures["events"] = result.events;
  figures["sorted_on_disk"] = result.sorted_on_disk;
  figures["compact_peak_mebibytes"] = peak_mebibytes();
  figures["log_bytes_per_event"] = static_cast<double>(fs::file_size(log)) / of_events;
  figures["compact_bytes_per_event"] = static_cast<double>(fs::file_size(compact)) / of_events;

  if (until == "open") measure_reading(compact, log, figures);
  std::cout << figures.dump(2) << '\n';
  if (keeps_files) return 0;
  fs::remove(log);
  fs::remove(compact);
}
