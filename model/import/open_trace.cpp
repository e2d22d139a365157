#include "model/import/open_trace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "chrome/text_source.h"
#include "model/file/frame.h"
#include "model/import/chrome_json.h"
#include "model/import/ncu_csv.h"
#include "model/import/nsys_sqlite.h"
#include "model/trace/combining/clock_alignment.h"
#include "model/trace/combining/combine.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/workers/parallel.h"

namespace lanescope {
namespace {

struct Candidate {
  const std::filesystem::path& path;
  std::string_view head;  // the file's first bytes
  std::string unpacked;   // the first bytes of the unpacked content if it is gzip; else empty
  [[nodiscard]] bool named(std::string_view extension) const { return path.extension() == extension; }
};

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

bool is_lanescope(const Candidate& file) { return file.head.starts_with({reinterpret_cast<const char*>(kFileMagic), sizeof kFileMagic}); }
bool is_nsys(const Candidate& file) { return file.head.starts_with(kSqliteMagic) && may_be_nsys_sqlite(file.path); }
bool is_ncu_csv(const Candidate& file) { return looks_like_ncu_csv(file.head) || looks_like_ncu_csv(file.unpacked); }
bool is_json(const Candidate& file) { return looks_like_chrome_json(file.head) && !file.named(".hatchet"); }

// A pprof profile begins with a value type: a short message of two numbers.
bool is_pprof(std::string_view bytes) { return bytes.size() > 5 && bytes.starts_with("\x0a\x04\x08") && bytes[4] == '\x10'; }

constexpr std::string_view kNcuReportMagic("NVR\0", 4);  // in reports of Nsight Compute 2025.3.1
constexpr std::string_view kNsysReportMagic = "NVIDIA Tegra Profiler Report";

// Formats that can be read, in addition to Lanescope's own. A new format needs a line here and a line in kReadableNames.
struct Reader {
  bool (*recognizes)(const Candidate&);
  Result<std::shared_ptr<const Trace>> (*open)(const std::filesystem::path&, const LoadProgress&);
};
constexpr std::array kReaders = {
    Reader{is_nsys, import_nsys_sqlite},
    Reader{is_json, import_chrome_json},
    Reader{is_ncu_csv, import_ncu_csv},
};
constexpr std::array kReadableNames = {
    TraceFileFormat{"Lanescope trace", "*.trace"},
    TraceFileFormat{"Nsight Systems SQLite", "*.sqlite *.db"},
    TraceFileFormat{"Chrome JSON, PyTorch profiler", "*.json *.json.gz"},
    TraceFileFormat{kNsightComputeFormat, "*.csv"},
};

// Known formats that can't be read: what the file is and how to convert it; FILE stands for its path.
struct ForeignFormat {
  bool (*recognizes)(const Candidate&);
  std::string_view explanation;
};
constexpr std::array kForeignFormats = {
    ForeignFormat{[](const Candidate& file) { return file.unpacked.starts_with(kSqliteMagic) || file.unpacked.starts_with(kNsysReportMagic); },
                  "is compressed. Unpack it first: gunzip -k FILE"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with("PK\x03\x04"); }, "is an archive. Unpack it first: unzip FILE"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with("\x28\xb5\x2f\xfd"); }, "is compressed with zstd. Unpack it first: unzstd FILE"},
    ForeignFormat{[](const Candidate& file) {
                    return file.head.starts_with(
                        "\xfd"
                        "7zXZ");
                  },
                  "is compressed with xz. Unpack it first: unxz -k FILE"},
    ForeignFormat{[](const Candidate& file) { return file.named(".qdstrm"); },
                  "is raw data of Nsight Systems, which only its own importer reads. Convert it with: nsys import FILE, and then: nsys "
                  "export -t sqlite REPORT"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with(kNsysReportMagic) || file.named(".nsys-rep") || file.named(".qdrep"); },
                  "is a report of Nsight Systems, whose format is not public. Convert it with: nsys export -t sqlite FILE"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with(kNcuReportMagic) || file.named(".ncu-rep"); },
                  "is a report of Nsight Compute, whose format is not public. Export its values with: ncu --import FILE --csv --page raw > kernels.csv"},
    ForeignFormat{[](const Candidate& file) { return file.named(".pftrace") || file.named(".perfetto-trace"); },
                  "is a Perfetto trace. Convert it with: traceconv json FILE"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with("\x89HDF\r\n\x1a\n"); },
                  "is HDF5, as Nsight Systems exports reports with -t hdf. Export the report in a form that can be read: nsys export -t sqlite "
                  "REPORT"},
    ForeignFormat{
        [](const Candidate& file) { return file.head.starts_with("ARROW1") || file.head.starts_with("PAR1") || file.named(".arrows"); },
        "is Arrow or Parquet: a table that was exported from a trace or a report. Open the trace itself, or export the report of Nsight Systems in a form "
        "that can be read: nsys export -t sqlite REPORT"},
    ForeignFormat{[](const Candidate& file) { return file.path.string().ends_with(".xplane.pb"); },
                  "is a profile of JAX or TensorFlow. Open what their profiler writes beside it, which can be read: *.trace.json.gz"},
    ForeignFormat{[](const Candidate& file) { return is_pprof(file.head) || is_pprof(file.unpacked); },
                  "is a profile of pprof, which has no timeline. Print it with: pprof -top FILE"},
    ForeignFormat{[](const Candidate& file) { return file.named(".pb"); },
                  "is data of protocol buffers, which do not say what they hold. If it is a Perfetto trace, convert it with: traceconv json "
                  "FILE"},
    ForeignFormat{[](const Candidate& file) { return file.named(".nvvp") || file.named(".nvprof"); },
                  "is a profile of nvprof, which no tool converts. Record the program again: lanescope profile PROGRAM"},
    ForeignFormat{[](const Candidate& file) { return file.named(".rpd"); },
                  "is a trace of rocmProfileData. Convert it with its tool: python3 rpd2tracing.py FILE trace.json"},
    ForeignFormat{[](const Candidate& file) { return file.named(".otf2"); },
                  "is an archive of OTF2. Let the tool that wrote it write JSON of Chrome; of rocprofv3, ask for pftrace (--output-format pftrace), "
                  "and convert that with: traceconv json"},
    ForeignFormat{[](const Candidate& file) { return file.named(".hatchet"); },
                  "is a call tree of Triton's Proton, which has no timeline. Record one: proton.start(data=\"trace\"), or lanescope profile "
                  "PROGRAM"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with("PERFILE2"); },
                  "is a recording of Linux perf, which knows no GPU. Record the program again: lanescope profile -s process-tree PROGRAM"},
    ForeignFormat{[](const Candidate& file) { return file.named(".tracy"); },
                  "is a trace of Tracy, which no tool converts to one that can be read. Record the program again: lanescope profile PROGRAM"},
    ForeignFormat{[](const Candidate& file) { return file.head.starts_with(kSqliteMagic); },
                  "is a SQLite database, but not an export of Nsight Systems. Export a report with: nsys export -t sqlite REPORT"},
};

std::string explained(const ForeignFormat& format, const std::filesystem::path& path) {
  std::string text(format.explanation);
  if (const auto position = text.find("FILE"); position != std::string::npos) text.replace(position, 4, path.string());
  return path.string() + " " + text;
}

bool is_folder_of_tables(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with("_pqtdir") || name.ends_with("_arwdir");
}

std::string advice_about_folder(const std::filesystem::path& path) {
  constexpr int kMostLooks = 1'000;
  std::error_code failed;
  int looks = 0;
  for (std::filesystem::directory_iterator entry(path, failed), end; !failed && entry != end && looks++ < kMostLooks; entry.increment(failed))
    if (entry->path().extension() == ".parquet") return "It holds tables that were exported from a trace: open the trace itself.";
  return "Name a file in it.";
}

Result<std::shared_ptr<const Trace>> open_recognized(const std::filesystem::path& path, const LoadProgress& progress, EventPlace place) {
  std::error_code ignored;  // if the path can't be examined, opening it reports why
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) {
    if (is_folder_of_tables(path))
      return Error{path.string() +
                   " is a folder of tables that Nsight Systems exported. Export the report in a form that can be read: nsys "
                   "export -t sqlite REPORT"};
    return Error{path.string() + " is a folder, not a trace file. " + advice_about_folder(path)};
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return Error{path.string() + " is no file but a pipe or a device, which can't be read from its beginning again. Save what comes from it, and open that."};
  std::array<char, 4096> head;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // without O_NONBLOCK, some files of the kernel make their readers wait
  if (descriptor < 0) return Error{path.string() + " can't be opened: " + std::strerror(errno) + "."};
  const ssize_t size = pread(descriptor, head.data(), head.size(), 0);
  close(descriptor);
  const std::string_view begin{head.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  const Candidate file{path, begin, begin.starts_with("\x1f\x8b") ? importers::beginning_of_gzip(begin) : std::string()};

  if (is_lanescope(file)) return load_trace(path, progress, place);
  for (const Reader& reader : kReaders)
    if (reader.recognizes(file)) return reader.open(path, progress);
  for (const ForeignFormat& format : kForeignFormats)
    if (format.recognizes(file)) return Error{explained(format, path)};
  if (begin.empty() || file.named(".trace")) return load_trace(path, progress);  // reports what is wrong with the file
  return Error{path.string() +
               " is no trace that can be read. What can: .trace files, Nsight Systems' SQLite (nsys export -t sqlite REPORT), JSON of Chrome and "
               "of PyTorch's profiler, also as gzip, CSV of Nsight Compute (ncu --import REPORT --csv --page raw)."};
}

}  // namespace

std::span<const TraceFileFormat> readable_trace_formats() noexcept { return kReadableNames; }

Result<std::shared_ptr<const Trace>> open_trace(const std::filesystem::path& path, const LoadProgress& progress, EventPlace place) {
  try {
    return open_recognized(path, progress, place);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a container can't grow further
  } catch (const std::system_error&) {  // a thread can't be started
  }
  return Error{"There is not enough memory to read " + path.string() + ". Close other programs, or read it on a machine that has more."};
}

Result<std::vector<std::filesystem::path>> trace_files(std::span<const std::filesystem::path> paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : paths) {
    std::error_code unreadable;
    if (!std::filesystem::is_directory(path, unreadable) || is_folder_of_tables(path)) {
      files.push_back(path);  // opening it reports what it is
      continue;
    }
    const std::size_t before = files.size();
    for (std::filesystem::directory_iterator entry(path, unreadable), end; !unreadable && entry != end; entry.increment(unreadable))
      if (entry->path().extension() == ".trace") files.push_back(entry->path());
    if (unreadable) return Error{path.string() + " can't be read: " + unreadable.message() + "."};
    if (files.size() == before) return Error{path.string() + " is a folder without .trace files. Name a trace file, or a folder with one for each rank."};
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

namespace {

// The rank of a trace's processes, if all processes with a rank have the same.
std::optional<std::uint32_t> rank_of(const Trace& trace) {
  std::optional<std::uint32_t> rank;
  for (const Process& process : trace.processes()) {
    if (rank && process.place.rank && process.place.rank != rank) return std::nullopt;
    if (process.place.rank) rank = process.place.rank;
  }
  return rank;
}

// Names of the files; if two have the same name, their paths.
std::vector<std::string> names_of(std::span<const std::filesystem::path> paths) {
  std::vector<std::string> names;
  for (const std::filesystem::path& path : paths) names.push_back(path.filename().string());
  if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
    for (std::size_t i = 0; i < paths.size(); ++i) names[i] = paths[i].string();
  return names;
}

struct Rank {
  std::optional<std::uint32_t> number;
  std::string name;  // of the file
  std::string file;  // its path
  std::shared_ptr<const Trace> trace;
};

// The results of reading several files, in the order of their paths.
struct ReadFiles {
  explicit ReadFiles(std::size_t count, Unreadable of_unreadable) : unreadable(of_unreadable), traces(count) {}

  Unreadable unreadable;
  std::vector<std::shared_ptr<const Trace>> traces;  // null if it could not be read
  std::map<std::size_t, Error> errors;               // by file

  // True if no further file needs to be read.
  [[nodiscard]] bool is_over() const { return unreadable == Unreadable::kFails && !errors.empty(); }
  // The first error, if the files that were read are not sufficient.
  [[nodiscard]] Result<void> result() const {
    if (errors.empty() || (unreadable == Unreadable::kIsLeftOut && errors.size() < traces.size())) return {};
    return errors.begin()->second;
  }
};

// Reads several files at once, on all cores, because files whose events stay in them use little of a core.
Result<void> read_all_heads(std::span<const std::filesystem::path> paths, const LoadProgress& progress, ReadFiles& read) {
  std::mutex mutex;
  std::size_t done = 0;
  bool is_cancelled = false;
  const auto goes_on = [&] {
    const std::lock_guard lock(mutex);
    if (progress && !is_cancelled) is_cancelled = progress(static_cast<double>(done) / static_cast<double>(paths.size()), nullptr) == LoadStep::kCancel;
    return !is_cancelled;
  };
  parallel_for(paths.size(), [&](std::size_t i) {
    {
      const std::lock_guard lock(mutex);
      if (read.is_over()) return;  // earlier files have been started, and the first error among them is reported
    }
    if (!goes_on()) return;
    const LoadProgress of_one = [&](double, const std::shared_ptr<const Trace>&) { return goes_on() ? LoadStep::kContinue : LoadStep::kCancel; };
    Result<std::shared_ptr<const Trace>> trace = open_trace(paths[i], of_one, EventPlace::kInFile);
    const std::lock_guard lock(mutex);
    if (trace)
      read.traces[i] = *std::move(trace);
    else
      read.errors.emplace(i, trace.error());
    ++done;
  });
  if (is_cancelled) return Error{"Opening " + std::to_string(paths.size()) + " traces was cancelled."};
  return read.result();
}

// Reads the traces that are missing or, with kInMemory, whose events are not in memory.
Result<void> read_all(std::span<const std::filesystem::path> paths, EventPlace place, const LoadProgress& progress, ReadFiles& read) {
  if (place == EventPlace::kInFile) return read_all_heads(paths, progress, read);
  auto& traces = read.traces;
  for (std::size_t i = 0; i < paths.size() && !read.is_over(); ++i) {
    if (traces[i] && (place != EventPlace::kInMemory || holds_events(*traces[i]))) continue;
    LoadStep step = LoadStep::kContinue;
    const LoadProgress of_all = [&](double fraction, const std::shared_ptr<const Trace>&) {
      if (progress) step = progress((static_cast<double>(i) + fraction) / static_cast<double>(paths.size()), nullptr);
      return step;
    };
    const Result<std::shared_ptr<const Trace>> trace = open_trace(paths[i], of_all, place);
    if (step == LoadStep::kCancel) return Error{"Opening " + std::to_string(paths.size()) + " traces was cancelled."};
    if (trace)
      traces[i] = *trace;
    else
      read.errors.emplace(i, trace.error());
  }
  return read.result();
}

// The content of a file's recording: the number of events for each row and kind, and the counters, in terms that are independent of the file's own numbering.
class RowsOfRecording {
 public:
  explicit RowsOfRecording(const Trace& trace) : trace_(trace) {
    for (const Track& track : trace.tracks()) {
      std::uint64_t events = 0;
      for (const LaneId lane : track.lanes) events += trace.lane(lane).size();
      if (events == 0) continue;
      const TrackKey& key = track.key;
      const std::uint32_t thread = key.thread < trace.threads().size() ? trace.threads()[key.thread].tid : kNone;
      rows_.insert({key.kind, process(key.process), thread, gpu(key.gpu), key.context, key.stream, key.domain, key.processor});
      events_[key.kind] += events;
    }
    for (CounterId id = 0; id < trace.counters().size(); ++id) {
      const Counter& counter = trace.counters()[id];
      if (!trace.counter_series(id).empty()) counters_.insert({process(counter.process), gpu(counter.gpu), counter.group, counter.name});
    }
  }
  [[nodiscard]] bool are_among(const RowsOfRecording& others) const {
    return std::includes(others.rows_.begin(), others.rows_.end(), rows_.begin(), rows_.end()) &&
           std::includes(others.counters_.begin(), others.counters_.end(), counters_.begin(), counters_.end()) &&
           std::all_of(events_.begin(), events_.end(), [&](const auto& kind) { return has_no_more(kind, others); });
  }
  // True if others have all work of GPUs and all CUDA calls, by their numbers. Formats of other tools do not keep all rows as they were, and some have whole
  // CUDA graphs as kernels.
  [[nodiscard]] bool have_cuda_among(const RowsOfRecording& others) const {
    return count({TrackKind::kKernels, TrackKind::kGraphLaunches}) <= others.count({TrackKind::kKernels, TrackKind::kGraphLaunches}) &&
           count({TrackKind::kMemory}) <= others.count({TrackKind::kMemory}) && count({TrackKind::kCudaApi}) <= others.count({TrackKind::kCudaApi});
  }

 private:
  using ProcessKey = std::pair<std::uint32_t, Nanoseconds>;  // pid and start
  using GpuKey = std::pair<std::uint32_t, std::string>;      // its UUID; without one, CUDA's number and its name
  [[nodiscard]] ProcessKey process(ProcessId id) const {
    return id < trace_.processes().size() ? ProcessKey(trace_.processes()[id].pid, trace_.processes()[id].start) : ProcessKey(kNone, 0);
  }
  [[nodiscard]] GpuKey gpu(GpuId id) const {
    if (id >= trace_.gpus().size()) return {kNone, {}};
    const Gpu& gpu = trace_.gpus()[id];
    return gpu.uuid.empty() ? GpuKey(gpu.ordinal, gpu.name) : GpuKey(kNone, gpu.uuid);
  }

  [[nodiscard]] std::uint64_t count(std::initializer_list<TrackKind> kinds) const {
    std::uint64_t events = 0;
    for (const TrackKind kind : kinds)
      if (const auto found = events_.find(kind); found != events_.end()) events += found->second;
    return events;
  }
  static bool has_no_more(const std::pair<const TrackKind, std::uint64_t>& kind, const RowsOfRecording& others) {
    const auto of_others = others.events_.find(kind.first);
    return of_others != others.events_.end() && kind.second <= of_others->second;
  }

  const Trace& trace_;
  std::set<std::tuple<TrackKind, ProcessKey, std::uint32_t, GpuKey, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> rows_;
  std::map<TrackKind, std::uint64_t> events_;
  std::set<std::tuple<ProcessKey, GpuKey, std::string, std::string>> counters_;
};

}  // namespace

namespace {

bool is_recording(const Trace& trace) { return trace.provenance().format == "Lanescope"; }

// True if the first is what Lanescope wrote of the second in the format of another tool. Such formats keep the time of day, but no other clock, and Chrome
// JSON keeps no command.
bool is_export_of(const Trace& part, const Trace& whole) {
  const Provenance &a = part.provenance(), &b = whole.provenance();
  const auto has = [&](const Process& process) {
    return std::any_of(whole.processes().begin(), whole.processes().end(), [&](const Process& other) { return other.pid == process.pid; });
  };
  const bool is_ours = a.producer.starts_with("Lanescope ") || a.producer.starts_with("lanescope ");
  return !is_recording(part) && is_recording(whole) && is_ours && a.utc_epoch != 0 && a.utc_epoch == b.utc_epoch && a.host_name == b.host_name &&
         (a.command == b.command || a.format == "Chrome JSON") && !part.processes().empty() &&
         std::all_of(part.processes().begin(), part.processes().end(), has) && RowsOfRecording(part).have_cuda_among(RowsOfRecording(whole));
}

// True if both are in the same format of another tool, and have the same time, rows and numbers of events.
bool is_copy(const Trace& one, const Trace& other) {
  const Provenance &a = one.provenance(), &b = other.provenance();
  if (is_recording(one) || a.format != b.format || a.utc_epoch == 0 || a.utc_epoch != b.utc_epoch || a.host_name != b.host_name) return false;
  if (one.extent().empty() || one.extent() != other.extent() || one.event_count() != other.event_count()) return false;
  const RowsOfRecording rows(one), others(other);
  return rows.are_among(others) && others.are_among(rows);
}

bool began_as_one(const Trace& one, const Trace& other) {
  const auto origin = [](const Trace& trace) {
    const Provenance& from = trace.provenance();
    return std::tie(from.utc_epoch, from.monotonic_epoch, from.machine_id, from.boot_id, from.host_name, from.command);
  };
  const Provenance& from = one.provenance();
  return is_recording(one) && (from.utc_epoch != 0 || from.monotonic_epoch != 0) && origin(one) == origin(other);
}

// Whether the time that the file of `whole` was saved for holds that of `part`: events that only reach into a part are in its file, too, so the times of
// events do not tell.
bool was_saved_for(const Trace& whole, const Trace& part) {
  if (!whole.provenance().part) return true;
  const TimeRange wanted = whole.provenance().part->time;
  return part.provenance().part && wanted.begin <= part.provenance().part->time.begin && part.provenance().part->time.end <= wanted.end;
}

}  // namespace

bool is_of_same_recording(const Trace& part, const Trace& whole) {
  if (is_export_of(part, whole) || is_copy(part, whole)) return true;
  const auto has = [&](const Process& process) {
    return std::any_of(whole.processes().begin(), whole.processes().end(),
                       [&](const Process& other) { return other.pid == process.pid && other.start == process.start; });
  };
  // PyTorch's profiles of all ranks count from one time, and in containers their processes may have the same pid.
  const TimeRange a = part.extent(), b = whole.extent();
  return began_as_one(part, whole) && was_saved_for(whole, part) && !part.processes().empty() &&
         std::all_of(part.processes().begin(), part.processes().end(), has) && (a.empty() || (b.begin <= a.begin && a.end <= b.end)) &&
         RowsOfRecording(part).are_among(RowsOfRecording(whole));
}

namespace {

// Of files with the same recording, chooses the one with most of it; among equals one whose events stay in the file, then the first.
class DistinctRecordings {
 public:
  DistinctRecordings(std::span<const std::filesystem::path> paths, const ReadFiles& read) {
    const std::vector<std::string> names = names_of(paths);
    std::vector<std::size_t> by_worth;
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (read.traces[i]) by_worth.push_back(i);
    // What other formats keep of a recording is less than the recording, however many events they have.
    const auto worth = [&](std::size_t i) {
      const Trace& trace = *read.traces[i];
      return std::tuple(is_recording(trace), trace.event_count(), !holds_events(trace));
    };
    std::stable_sort(by_worth.begin(), by_worth.end(), [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
    // Grouped by epoch, so that a job of a thousand ranks is not compared pair by pair.
    std::map<std::int64_t, std::vector<std::size_t>> chosen_by_epoch;
    for (const std::size_t i : by_worth) {
      const Trace& trace = *read.traces[i];
      auto& rivals = chosen_by_epoch[trace.provenance().utc_epoch];
      const auto whole = std::find_if(rivals.begin(), rivals.end(), [&](std::size_t rival) { return is_of_same_recording(trace, *read.traces[rival]); });
      if (whole == rivals.end()) {
        tell_of_parts(names, read, rivals, i);
        rivals.push_back(i);
        chosen_.push_back(i);
      } else {
        same_.push_back(names[i] + " is left out: it holds the same recording as " + names[*whole] + ".");
      }
    }
    std::sort(chosen_.begin(), chosen_.end());
  }

  [[nodiscard]] const std::vector<std::size_t>& chosen() const noexcept { return chosen_; }  // in the order of paths
  [[nodiscard]] const std::vector<std::string>& same() const noexcept { return same_; }      // a sentence for each file that was not chosen
  [[nodiscard]] const std::vector<std::string>& parts() const noexcept { return parts_; }    // a sentence for each that is another part of a chosen one

 private:
  // Says if the file was saved for another time of the same recording as a chosen one.
  void tell_of_parts(const std::vector<std::string>& names, const ReadFiles& read, const std::vector<std::size_t>& rivals, std::size_t i) {
    const auto is_other_part = [&](std::size_t rival) {
      const std::optional<SavedPart>&own = read.traces[i]->provenance().part, &others = read.traces[rival]->provenance().part;
      return own && others && own->time != others->time && began_as_one(*read.traces[i], *read.traces[rival]);
    };
    const auto other = std::find_if(rivals.begin(), rivals.end(), is_other_part);
    if (other == rivals.end()) return;
    parts_.push_back(names[i] + " and " + names[*other] +
                     " hold parts of one recording: what reaches over their border counts twice, and idle time there has no known "
                     "cause. For exact figures, open the recording itself, or save one part that has both times.");
  }

  std::vector<std::size_t> chosen_;
  std::vector<std::string> same_;
  std::vector<std::string> parts_;
};

std::vector<TraceRemark> remarks_on(const DistinctRecordings& distinct, std::span<const std::filesystem::path> paths, const ReadFiles& read) {
  std::vector<TraceRemark> remarks;
  for (const std::string& sentence : distinct.parts())
    for (const auto kind : {TraceRemark::Kind::kWarning, TraceRemark::Kind::kCondition}) remarks.push_back({kind, sentence});
  for (const std::string& sentence : distinct.same()) remarks.push_back({TraceRemark::Kind::kSameRecording, sentence});
  const std::vector<std::string> names = names_of(paths);
  for (const auto& [i, error] : read.errors)
    for (const auto kind : {TraceRemark::Kind::kWarning, TraceRemark::Kind::kCondition}) remarks.push_back({kind, names[i] + " is missing: " + error.text});
  return remarks;
}

// Does work that can be stopped, while another thread asks progress whether to continue.
template <typename Work>
void do_asking(const LoadProgress& progress, const Work& work) {
  using namespace std::chrono_literals;
  if (!progress) return work(std::stop_token());
  std::stop_source stopped;
  std::mutex mutex;
  std::condition_variable_any ended;
  std::jthread asking;
  try {
    asking = std::jthread([&](const std::stop_token& end) {
      std::unique_lock lock(mutex);
      while (!ended.wait_for(lock, end, 50ms, [] { return false; }) && !end.stop_requested())
        if (progress(1, nullptr) == LoadStep::kCancel) return void(stopped.request_stop());
    });
  } catch (const std::system_error&) {  // if no thread can be started, progress is not asked
  }
  work(stopped.get_token());
}

// Several files as one trace. Their clocks are aligned once, independent of where their events are.
class Ranks {
 public:
  explicit Ranks(std::span<const std::filesystem::path> paths) : paths_(paths), names_(names_of(paths)) {}

  // Returns null after a stop request.
  std::shared_ptr<const Trace> combined(std::span<const std::shared_ptr<const Trace>> read, const std::stop_token& stop) {
    const std::vector<Rank> ranks = ranks_of(read);
    if (clocks_.empty()) clocks_ = align_clocks(traces_of(ranks), stop);
    return clocks_.empty() ? nullptr : combined_by(clocks_, ranks, stop);
  }
  // The same before clocks are compared by events. Returns null if no comparison is necessary, because then the clocks are aligned, and after a stop request.
  std::shared_ptr<const Trace> combined_at_once(std::span<const std::shared_ptr<const Trace>> read, const std::stop_token& stop) {
    const std::vector<Rank> ranks = ranks_of(read);
    std::vector<ClockAlignment> clocks = align_clocks_at_once(traces_of(ranks));
    const bool are_known = std::all_of(clocks.begin(), clocks.end(), [](const ClockAlignment& each) { return each.by == ClockSource::kSameClock; });
    if (!are_known) return combined_by(clocks, ranks, stop);
    clocks_ = std::move(clocks);
    return nullptr;
  }

 private:
  [[nodiscard]] std::vector<Rank> ranks_of(std::span<const std::shared_ptr<const Trace>> read) const {
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < read.size(); ++i) ranks.push_back({rank_of(*read[i]), names_[i], paths_[i].string(), read[i]});
    std::set<std::optional<std::uint32_t>> numbers;
    for (const Rank& rank : ranks) numbers.insert(rank.number);
    if (numbers.size() == ranks.size() && !numbers.contains(std::nullopt))
      std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) { return a.number < b.number; });
    return ranks;
  }
  static std::vector<std::shared_ptr<const Trace>> traces_of(const std::vector<Rank>& ranks) {
    std::vector<std::shared_ptr<const Trace>> traces;
    for (const Rank& rank : ranks) traces.push_back(rank.trace);
    return traces;
  }
  static std::shared_ptr<const Trace> combined_by(const std::vector<ClockAlignment>& clocks, const std::vector<Rank>& ranks, const std::stop_token& stop) {
    std::vector<TraceSource> sources;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const Rank& rank = ranks[i];
      const std::string label = rank.number ? "rank " + std::to_string(*rank.number) + "  " + rank.name : rank.name;
      sources.push_back({rank.trace, label, clocks[i].clock, alignment_sentence(rank.name, clocks[i]), clocks[i].by == ClockSource::kCollectives, rank.file});
    }
    return combine_traces(sources, stop, GpusSeenTwice::kAreOne);
  }

  std::span<const std::filesystem::path> paths_;
  std::vector<std::string> names_;
  std::vector<ClockAlignment> clocks_;  // of the ranks in order; empty: not aligned yet
};

// True if the events of all traces that are in files are to be read into memory. Combining copies them, so that they temporarily take twice the memory. For
// very many events, users prefer to see the trace at once.
bool fit_into_memory(std::span<const std::shared_ptr<const Trace>> traces) {
  constexpr std::uint64_t kEventBytes = 24;
  std::uint64_t events = 0;
  for (const std::shared_ptr<const Trace>& trace : traces) events += holds_events(*trace) ? 0 : trace->event_count();
  return events * kEventBytes <= SegmentCache::of_process().use().budget / 4;
}

}  // namespace

Result<std::shared_ptr<const Trace>> open_traces(std::span<const std::filesystem::path> paths, EventPlace place, const LoadProgress& progress,
                                                 Unreadable unreadable, std::vector<std::string>* same_recording) {
  if (paths.size() == 1) return open_trace(paths.front(), progress, place);
  const bool where_they_fit = place == EventPlace::kInMemoryWhereTheyFit;
  ReadFiles all(paths.size(), unreadable);
  if (const Result<void> done = read_all(paths, where_they_fit ? EventPlace::kInFile : place, progress, all); !done) return done.error();
  const DistinctRecordings distinct(paths, all);
  if (same_recording != nullptr) same_recording->insert(same_recording->end(), distinct.same().begin(), distinct.same().end());
  const std::vector<TraceRemark> remarks = remarks_on(distinct, paths, all);
  std::vector<std::filesystem::path> chosen;
  ReadFiles read(distinct.chosen().size(), Unreadable::kFails);
  for (const std::size_t i : distinct.chosen()) {
    read.traces[chosen.size()] = std::move(all.traces[i]);
    chosen.push_back(paths[i]);
  }
  if (chosen.size() == 1) {
    const auto alone = where_they_fit ? open_trace(chosen.front(), progress, place) : Result<std::shared_ptr<const Trace>>(read.traces.front());
    return alone ? with_remarks(*alone, remarks) : alone;
  }
  Ranks ranks(chosen);
  const auto combine = [&](auto way) -> std::shared_ptr<const Trace> {
    std::shared_ptr<const Trace> combined;
    do_asking(progress, [&](const std::stop_token& stop) { combined = (ranks.*way)(read.traces, stop); });
    return combined ? with_remarks(combined, remarks) : nullptr;
  };
  const Error cancelled{"Opening " + std::to_string(paths.size()) + " traces was cancelled."};
  if (progress && std::none_of(read.traces.begin(), read.traces.end(), [](const auto& trace) { return holds_events(*trace); }))
    if (auto at_once = combine(&Ranks::combined_at_once); at_once && progress(0, std::move(at_once)) == LoadStep::kCancel) return cancelled;
  std::shared_ptr<const Trace> combined = combine(&Ranks::combined);
  if (!combined) return cancelled;
  if (!where_they_fit || holds_events(*combined) || !fit_into_memory(read.traces)) return combined;
  if (progress && progress(0, combined) == LoadStep::kCancel) return cancelled;
  if (const Result<void> done = read_all(chosen, EventPlace::kInMemory, progress, read); !done) return done.error();
  combined = combine(&Ranks::combined);
  if (!combined) return cancelled;
  return combined;
}

std::size_t count_left_out_as_same(const Trace& trace) {
  return static_cast<std::size_t>(std::count_if(trace.diagnostics().begin(), trace.diagnostics().end(),
                                                [](const DiagnosticMessage& message) { return message.content.kind == DiagnosticKind::kSameRecording; }));
}

Unreadable unreadable_of(std::span<const std::filesystem::path> named) {
  const bool has_folder = std::any_of(named.begin(), named.end(), [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
  });
  return has_folder ? Unreadable::kIsLeftOut : Unreadable::kFails;
}

}  // namespace lanescope
