#include "same_recording.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "model/import/open_trace.h"

namespace lanescope {
namespace {

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

// Whether the time that the file of `whole` was saved for holds that of `part`: events that only reach into a part are in its file, too, so the times of
// events do not tell.
bool was_saved_for(const Trace& whole, const Trace& part) {
  if (!whole.provenance().part) return true;
  const TimeRange wanted = whole.provenance().part->time;
  return part.provenance().part && wanted.begin <= part.provenance().part->time.begin && part.provenance().part->time.end <= wanted.end;
}

}  // namespace

bool is_recording(const Trace& trace) { return trace.provenance().format == "Lanescope"; }

bool began_as_one(const Trace& one, const Trace& other) {
  const auto origin = [](const Trace& trace) {
    const Provenance& from = trace.provenance();
    return std::tie(from.utc_epoch, from.monotonic_epoch, from.machine_id, from.boot_id, from.host_name, from.command);
  };
  const Provenance& from = one.provenance();
  return is_recording(one) && (from.utc_epoch != 0 || from.monotonic_epoch != 0) && origin(one) == origin(other);
}

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

}  // namespace lanescope
