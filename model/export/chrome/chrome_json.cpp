// Chrome's trace event format, as PyTorch's profiler writes it.
#include <algorithm>
#include <set>

#include "../event_order.h"
#include "../json_writer.h"
#include "../trace/launches_of_part.h"
#include "chrome_events.h"
#include "chrome_pids.h"
#include "chrome_series.h"
#include "model/export/text_export.h"
#include "model/trace/completeness.h"

namespace lanescope {
namespace {

using namespace exporters;

bool is_on_gpu(const TrackKey& key) {
  return is_gpu_work(key.kind) || key.kind == TrackKind::kSynchronizations || (key.kind == TrackKind::kPageFaults && key.gpu != kNone);
}

// Counters may begin before the recording.
Nanoseconds time_origin_of(const Trace& trace) {
  Nanoseconds origin = std::min<Nanoseconds>(0, trace.extent().begin);
  for (CounterId id = 0; id < trace.counters().size(); ++id) origin = std::min(origin, trace.counter_series(id).extent().begin);
  return origin;
}

class ChromeExport {
 public:
  ChromeExport(const Trace& trace, const ExportSelection& selection, const TextConsumer& write)
      : trace_(trace),
        selection_(selection),
        json_(write),
        pids_(trace),
        events_(trace, selection, json_, pids_),
        series_(trace, selection, json_, pids_),
        origin_(time_origin_of(trace)) {
    json_.set_origin(origin_);
  }

  bool write() {
    const std::uint64_t events = selection_.event_count(trace_);
    selection_.progress.begin(events);
    json_.open('{');
    write_members();
    json_.key("traceEvents").open('[');
    write_names();
    for (const bool on_gpu : {false, true})  // arrows are written with GPU work and start at calls, which must precede them
      for (const Track& track : trace_.tracks())
        if (is_on_gpu(track.key) == on_gpu && !write_track(track)) return false;
    for (CounterId id = 0; id < trace_.counters().size(); ++id)
      if (!series_.write_counter(id)) return false;
    json_.close(']');
    if (!series_.write_samples()) return false;
    selection_.progress.reach(events);
    json_.close('}').raw("\n");
    return json_.flush();
  }

 private:
  void write_members() {
    json_.field("schemaVersion", 1).field("producer", "lanescope " LANESCOPE_VERSION).field("displayTimeUnit", "ns");
    const Provenance& from = trace_.provenance();
    if (from.utc_epoch != 0) json_.field("baseTimeNanoseconds", from.utc_epoch + origin_);
    if (from.format == "Lanescope") json_.timestamp("recordingStart", 0);
    if (!from.host_name.empty()) json_.field("host_name", std::string_view(from.host_name));
    if (const std::string losses = losses_text(trace_); !losses.empty()) json_.field("missing", std::string_view(losses));
    if (from.attached_pid != 0) json_.field("attachedPid", from.attached_pid);
    if (const std::optional<SavedPart> part = saved_part(trace_, selection_, {})) {
      json_.timestamp("partBegin", part->time.begin).timestamp("partEnd", part->time.end);
      json_.timestamp("partLaunches", part->first_launch);
    }
    json_.key("deviceProperties").open('[');
    std::set<std::uint32_t> described;
    for (const CudaDevice& device : trace_.devices()) {
      const Gpu& gpu = trace_.gpus()[device.gpu];
      if (gpu.name.empty() || !described.insert(device.ordinal).second) continue;
      json_.element().open('{');
      json_.field("id", device.ordinal).field("name", std::string_view(gpu.name)).field("totalGlobalMem", gpu.memory_bytes);
      json_.field("computeMajor", gpu.compute_major).field("computeMinor", gpu.compute_minor);
      json_.field("maxThreadsPerMultiprocessor", gpu.max_warps_per_multiprocessor * 32).field("warpSize", 32);
      json_.field("regsPerMultiprocessor", gpu.max_registers_per_multiprocessor);
      json_.field("sharedMemPerMultiprocessor", gpu.max_shared_memory_per_multiprocessor).field("numSms", gpu.multiprocessor_count);
      if (!gpu.bus_id.empty()) json_.field("busId", std::string_view(gpu.bus_id));
      json_.close('}');
    }
    json_.close(']');
  }

  template <typename Value>
  void write_name(std::string_view what, std::uint32_t pid, std::uint32_t tid, std::string_view field, Value value) {
    begin_event(json_, "M").field("name", what).timestamp("ts", trace_.extent().begin).field("pid", pid).field("tid", tid);
    json_.key("args").open('{').field(field, value).close('}').close('}');
  }

  // "stream 7 copies", "stream 7 (2)" for work that overlaps other work of the stream, "stream 7: waits".
  [[nodiscard]] std::string row_name(const TrackKey& key, std::size_t lane) const {
    const CudaStream* stream = trace_.find_stream(key.process, key.context, key.stream);
    std::string name = key.stream == kNone ? "all streams" : "stream " + std::to_string(key.stream);
    if (stream != nullptr && !stream->name.empty()) name += " " + stream->name;
    if (key.kind == TrackKind::kPageFaults) name = "page faults";
    if (key.kind == TrackKind::kSynchronizations) name += ": waits";
    if (events_.rows().has_apart(key)) name += ": copies";
    return lane == 0 ? name : name + " (" + std::to_string(lane + 1) + ")";
  }

  void write_names() {
    for (ProcessId id = 0; id < trace_.processes().size(); ++id) {
      const Process& process = trace_.processes()[id];
      write_name("process_name", pids_.host(id), 0, "name", std::string_view(process.name));
      write_name("process_labels", pids_.host(id), 0, "labels", "CPU");
      write_name("process_sort_index", pids_.host(id), 0, "sort_index", pids_.host(id));
    }
    constexpr std::uint32_t kBehindProcesses = 5'000'000;
    for (std::size_t i = 0; i < trace_.devices().size(); ++i) {
      const CudaDevice& device = trace_.devices()[i];
      const std::uint32_t pid = pids_.gpu_of_entry(i);
      begin_event(json_, "M").field("name", "process_name").timestamp("ts", trace_.extent().begin).field("pid", pid).field("tid", 0);
      json_.key("args").open('{').field("name", std::string_view(trace_.processes()[device.process].name));
      json_.field("host pid", pids_.host(device.process)).close('}').close('}');
      write_name("process_labels", pid, 0, "labels", std::string_view("GPU " + std::to_string(device.ordinal)));
      write_name("process_sort_index", pid, 0, "sort_index", kBehindProcesses + device.ordinal);
    }
    for (GpuId gpu = 0; gpu < trace_.gpus().size(); ++gpu) {
      if (pids_.is_used(gpu)) continue;
      const std::string label = "GPU " + std::to_string(trace_.gpus()[gpu].ordinal);  // not used by a process: it has at most counters
      write_name("process_name", pids_.counters(gpu), 0, "name", std::string_view(trace_.gpus()[gpu].name));
      write_name("process_labels", pids_.counters(gpu), 0, "labels", std::string_view(label));
    }
    for (const Thread& thread : trace_.threads())
      if (!thread.name.empty()) write_name("thread_name", pids_.host(thread.process), thread.tid, "name", std::string_view(thread.name));
    for (const Track& track : trace_.tracks())
      if (track.key.kind == TrackKind::kThreadStates) {
        const Thread& thread = trace_.threads()[track.key.thread];
        const std::string name = (thread.name.empty() ? "thread " + std::to_string(thread.tid) : thread.name) + ": states";
        write_name("thread_name", pids_.host(thread.process), thread.tid + kStateRows, "name", std::string_view(name));
      }
    for (const Track& track : trace_.tracks())
      if (is_on_gpu(track.key))
        for (std::size_t lane = 0; lane < track.lanes.size(); ++lane)
          write_name("thread_name", pids_.gpu(track.key), events_.rows().of(track.key, lane), "name", std::string_view(row_name(track.key, lane)));
  }

  bool write_track(const Track& track) {
    const LanePositions positions(track);
    for (const EventRef ref : events_in_order(trace_, track, selection_)) {
      events_.write(track.key, positions[ref.lane], trace_.event(ref));
      selection_.progress.reach(++written_);
      if (!json_.flush_some()) return false;
    }
    return true;
  }

  const Trace& trace_;
  const ExportSelection& selection_;
  JsonWriter json_;
  ChromePids pids_;
  ChromeEvents events_;
  ChromeSeries series_;
  Nanoseconds origin_;
  std::uint64_t written_ = 0;  // events
};

}  // namespace

bool export_chrome_json(const Trace& trace, const TextConsumer& write, const ExportSelection& selection) {
  return ChromeExport(trace, selection, write).write();
}

}  // namespace lanescope
