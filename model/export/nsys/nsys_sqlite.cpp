#include "model/export/nsys_sqlite_export.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "../event_order.h"
#include "../target.h"
#include "../trace/launches_of_part.h"
#include "model/export/export_limits.h"
#include "model/trace/measured_calls.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/text/hexadecimal.h"
#include "nsys_database.h"
#include "nsys_ids.h"
#include "nsys_metrics.h"
#include "nsys_mpi.h"
#include "nsys_recording.h"
#include "nsys_threads.h"
#include "nsys_writing.h"

namespace lanescope {
namespace {

using namespace exporters;

// Constants of Nsight Systems' enumerations (nsys_enums.cpp).
enum EventClass { kRuntimeCall = 0, kDriverCall = 1, kOsRuntimeCall = 27, kPartialOsRuntimeCall = 32, kCudaOverhead = 103 };
enum NvtxEvent { kCategory = 33, kMark = 34, kPushPopRange = 59, kStartEndRange = 60, kDomainCreate = 75 };
enum OverheadType {
  kUnknownOverhead = 1,
  kDriverCompiler = 2,
  kBufferFlush = 3,
  kInstrumentation = 4,
  kResource = 5,
  kModuleLoading = 6,
  kLazyLoading = 7,
  kCommandBufferFull = 8
};

// Memory kinds start at 0 in Nsight Systems and at 1 here; 7 is its "unknown".
std::int64_t memory_kind(MemoryKind kind) { return kind == MemoryKind::kUnknown ? 7 : static_cast<std::int64_t>(kind) - 1; }

// Operations on memory pools start at 0 in Nsight Systems: creation, destruction, trim.
constexpr int kLocalPool = 1;
int pool_operation(MemoryUsageOperation operation) { return static_cast<int>(operation) - static_cast<int>(MemoryUsageOperation::kPoolCreation); }

std::optional<std::int64_t> unless_zero(std::uint64_t value) {
  if (value == 0) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

OverheadType overhead_type(TrackKind kind, std::string_view name) {
  const auto says = [&](std::string_view word) { return name.find(word) != name.npos; };
  if (kind == TrackKind::kCompilation) return says("JIT") || says("ompil") ? kDriverCompiler : says("azy") ? kLazyLoading : kModuleLoading;
  if (says("lush")) return kBufferFlush;
  if (says("nstrumentation")) return kInstrumentation;
  if (says("esource")) return kResource;
  if (says("ommand")) return kCommandBufferFull;
  return kUnknownOverhead;
}

class NsysExport {
 public:
  NsysExport(const Trace& trace, const NsysSqliteOptions& options, NsysDatabase& database)
      : trace_(trace),
        selection_(options.selection),
        launches_(launches_of_part(trace, options.selection)),
        most_chain_rows_(options.most_chain_rows),
        database_(database),
        ids_(trace),
        strings_(trace),
        measured_(MeasuredCalls::recorded(trace)),
        threads_(trace, options.selection, database, ids_, strings_) {
    if (!most_chain_rows_ && selection_.source_bytes) most_chain_rows_ = limits::chain_rows_of(*selection_.source_bytes);
  }

  void write() {
    if (most_chain_rows_ && threads_.chain_rows() > *most_chain_rows_) threads_.share_calls();
    nvtx_rows_are_known_ = nvtx_rows_are_known();
    selection_.progress.begin(selection_.event_count(trace_));
    for (const Track& track : trace_.tracks()) {
      const std::uint64_t before = written_;
      write_track(track);
      written_ = before;
      for (const LaneId lane : track.lanes) {
        const auto [first, end] = selection_.events(trace_, lane);
        written_ += end - first;
      }
      selection_.progress.reach(written_);
    }
    threads_.write_views();
    write_gpu_metrics(trace_, selection_, database_);
    write_mpi(trace_, selection_, database_, ids_, strings_);
    write_nvtx_names();
    write_recording(trace_, saved_part(trace_, selection_, launches_), database_, ids_, strings_);
    strings_.for_each([&](std::int64_t id, std::string_view text) { database_.insert(NsysTable::kStrings, id, text); });
    database_.write_enums();
  }

 private:
  template <typename Write>
  void for_events(const Track& track, NsysTable table, Write write) {
    if (!database_.wants(table)) return;
    for (const EventRef ref : events_in_order(trace_, track, selection_, launches_.events)) {
      write(ref, trace_.event(ref));
      selection_.progress.reach(++written_);
    }
  }

  void write_track(const Track& track) {
    switch (track.key.kind) {
      case TrackKind::kKernels:
        return write_kernels(track);
      case TrackKind::kMemory:
        return write_memory(track);
      case TrackKind::kGraphLaunches:
        return write_graph_launches(track);
      case TrackKind::kSynchronizations:
        return write_synchronizations(track);
      case TrackKind::kCudaApi:
        return write_calls(track);
      case TrackKind::kNvtxRanges:
      case TrackKind::kNvtxProcessRanges:
      case TrackKind::kNvtxMarks:
        return write_nvtx(track);
      case TrackKind::kOsRuntime:
        return write_os_runtime(track);
      case TrackKind::kOverhead:
      case TrackKind::kCompilation:
        return write_overhead(track);
      case TrackKind::kPageFaults:
        return track.key.gpu == kNone ? write_cpu_page_faults(track) : write_gpu_page_faults(track);
      case TrackKind::kMemoryUsage:
        return write_memory_usage(track);
      case TrackKind::kCudaEvents:
        return write_cuda_events(track);
      case TrackKind::kThreadStates:
        return threads_.write_states(track);
      case TrackKind::kCpuSamples:
        return threads_.write_samples(track);
      case TrackKind::kProcessors:
      case TrackKind::kBacktraces:
        return;  // processors follow from the states of threads; backtraces are written with their calls
    }
  }

  void write_kernels(const Track& track) {
    const TrackKey& key = track.key;
    const std::uint32_t device = device_ordinal(trace_, key.process, key.gpu);
    for_events(track, NsysTable::kKernels, [&](EventRef, const Event& event) {
      const KernelDetail& detail = trace_.kernel_detail(event.detail);
      std::optional<std::int64_t> mangled;
      if (detail.mangled_name != 0) mangled = strings_.id(detail.mangled_name);
      database_.insert(NsysTable::kKernels, event.start, event.end(), device, key.context, 0, key.stream, event.correlation, ids_.global_pid(key.process),
                       strings_.id(event.name), strings_.id(detail.short_name), mangled, detail.launch_type + 1, detail.cache_config,
                       detail.registers_per_thread, detail.grid[0], detail.grid[1], detail.grid[2], detail.block[0], detail.block[1], detail.block[2],
                       detail.static_shared_memory, detail.dynamic_shared_memory, detail.local_memory_per_thread, detail.local_memory_total, ++grid_,
                       detail.shared_memory_executed, unless_zero(detail.graph_node), 0, unless_zero(detail.graph), detail.cluster[0], detail.cluster[1],
                       detail.cluster[2]);
      if (detail.finished == Finished::kNo) database_.add_unfinished(NsysTable::kKernels, event.end());
    });
  }

  void write_memory(const Track& track) {
    const TrackKey& key = track.key;
    const std::uint32_t device = device_ordinal(trace_, key.process, key.gpu);
    if (!database_.wants(NsysTable::kCopies) && !database_.wants(NsysTable::kSets)) return;
    for (const EventRef ref : events_in_order(trace_, track, selection_, launches_.events)) {
      const Event event = trace_.event(ref);
      const MemoryDetail& detail = trace_.memory_detail(event.detail);
      if (detail.operation == MemoryOperation::kSet && database_.wants(NsysTable::kSets))
        database_.insert(NsysTable::kSets, event.start, event.end(), device, key.context, 0, key.stream, event.correlation, ids_.global_pid(key.process),
                         detail.value, detail.bytes, unless_zero(detail.graph_node), memory_kind(detail.destination_memory));
      if (detail.operation == MemoryOperation::kCopy && database_.wants(NsysTable::kCopies))
        database_.insert(NsysTable::kCopies, event.start, event.end(), device, key.context, 0, key.stream, event.correlation, ids_.global_pid(key.process),
                         detail.bytes, static_cast<int>(detail.copy_kind), kNull, memory_kind(detail.source_memory), memory_kind(detail.destination_memory),
                         unless_zero(detail.source_device), unless_zero(detail.source_context), unless_zero(detail.destination_device),
                         unless_zero(detail.destination_context), unless_zero(detail.migration_cause), unless_zero(detail.graph_node),
                         unless_zero(detail.virtual_address), 1);
    }
  }

  void write_graph_launches(const Track& track) {
    const TrackKey& key = track.key;
    const std::uint32_t device = device_ordinal(trace_, key.process, key.gpu);
    for_events(track, NsysTable::kGraphLaunches, [&](EventRef, const Event& event) {
      const GraphLaunchDetail& detail = trace_.graph_launch_detail(event.detail);
      database_.insert(NsysTable::kGraphLaunches, event.start, event.end(), device, key.context, 0, key.stream, event.correlation, ids_.global_pid(key.process),
                       detail.graph, detail.graph_exec);
    });
  }

  void write_synchronizations(const Track& track) {
    const TrackKey& key = track.key;
    const std::uint32_t device = device_ordinal(trace_, key.process, key.gpu);
    for_events(track, NsysTable::kSynchronizations, [&](EventRef, const Event& event) {
      const SynchronizationDetail& detail = trace_.synchronization_detail(event.detail);
      database_.insert(NsysTable::kSynchronizations, event.start, event.end(), device, key.context, kNull, key.stream, event.correlation,
                       ids_.global_pid(key.process), kNull, detail.type, detail.event, unless_zero(detail.event_record));
    });
  }

  void write_calls(const Track& track) {
    const std::int64_t thread = ids_.global_tid(track.key);
    for_events(track, NsysTable::kApiCalls, [&](EventRef, const Event& event) {
      const ApiDetail& detail = trace_.api_detail(event.detail);
      database_.insert(NsysTable::kApiCalls, event.start, event.end(), detail.domain == ApiDomain::kDriver ? kDriverCall : kRuntimeCall, thread,
                       event.correlation, strings_.id(event.name), detail.result, threads_.chain_of(SampleOrigin::kCudaCall, track.key.thread, event));
      if (measured_.contains(track.key.process, event.correlation) && database_.wants(NsysTable::kCudaOverhead))
        database_.insert(NsysTable::kCudaOverhead, event.start, event.end(), kCudaOverhead, thread, event.correlation, strings_.id(kReadingOfCounters),
                         kUnknownOverhead);
    });
  }

  void write_os_runtime(const Track& track) {
    const std::int64_t thread = ids_.global_tid(track.key);
    const LanePositions depths(track);
    for_events(track, NsysTable::kOsRuntime, [&](EventRef ref, const Event& event) {
      database_.insert(NsysTable::kOsRuntime, event.start, event.end(), event.detail == kPartialCall ? kPartialOsRuntimeCall : kOsRuntimeCall, thread,
                       strings_.id(event.name), 0, depths[ref.lane], threads_.chain_of(SampleOrigin::kOsCall, track.key.thread, event).value_or(0));
    });
  }

  void write_cpu_page_faults(const Track& track) {
    const auto text = [&](NameId name) { return name == 0 ? std::nullopt : std::optional(strings_.id(name)); };
    for_events(track, NsysTable::kCpuPageFaults, [&](EventRef, const Event& event) {
      const PageFaultDetail& detail = trace_.page_fault_detail(event.detail);
      database_.insert(NsysTable::kCpuPageFaults, event.start, ids_.global_pid(track.key.process), detail.address, unless_zero(detail.program_counter),
                       detail.function != 0 ? strings_.id(detail.function) : strings_.id(hexadecimal(detail.program_counter)), text(detail.module), kNull,
                       text(detail.source_file), unless_zero(detail.source_line));
    });
  }

  void write_gpu_page_faults(const Track& track) {
    const std::uint32_t device = device_ordinal(trace_, track.key.process, track.key.gpu);
    for_events(track, NsysTable::kGpuPageFaults, [&](EventRef, const Event& event) {
      const PageFaultDetail& detail = trace_.page_fault_detail(event.detail);
      database_.insert(NsysTable::kGpuPageFaults, event.start, event.end(), ids_.global_pid(track.key.process), device, detail.address, detail.count,
                       detail.access);
    });
  }

  void write_memory_usage(const Track& track) {
    const std::uint32_t device = device_ordinal(trace_, track.key.process, track.key.gpu);
    const std::int64_t process = ids_.global_pid(track.key.process);
    for (const EventRef ref : events_in_order(trace_, track, selection_, launches_.events)) {
      const Event event = trace_.event(ref);
      const MemoryUsageDetail& usage = trace_.memory_usage_detail(event.detail);
      const bool of_pool = usage.operation >= MemoryUsageOperation::kPoolCreation;
      std::optional<std::int64_t> size, utilized, threshold;
      if (usage.pool != 0) {
        size = usage.pool_size;
        utilized = usage.pool_utilized;
        threshold = usage.pool_release_threshold;
      }
      if (of_pool && database_.wants(NsysTable::kMemoryPools))
        database_.insert(NsysTable::kMemoryPools, event.start, process, device, usage.address, pool_operation(usage.operation), kLocalPool, event.correlation,
                         unless_zero(usage.bytes), threshold, size, utilized);
      if (!of_pool && database_.wants(NsysTable::kMemoryUsage))
        database_.insert(NsysTable::kMemoryUsage, event.start, process, device, usage.context, usage.address, 0, usage.bytes, memory_kind(usage.memory_kind),
                         usage.operation == MemoryUsageOperation::kAllocation ? 0 : 1,
                         usage.variable == 0 ? std::nullopt : std::optional(trace_.name(usage.variable)), event.correlation, unless_zero(usage.stream),
                         unless_zero(usage.pool), threshold, size, utilized, kNull, kNull);
    }
  }

  void write_cuda_events(const Track& track) {
    const TrackKey& key = track.key;
    const std::uint32_t device = device_ordinal(trace_, key.process, key.gpu);
    for_events(track, NsysTable::kCudaEvents, [&](EventRef, const Event& event) {
      const CudaEventDetail& detail = trace_.cuda_event_detail(event.detail);
      database_.insert(NsysTable::kCudaEvents, event.start, device, key.context, kNull, key.stream, event.correlation, ids_.global_pid(key.process),
                       detail.event, unless_zero(detail.record));
    });
  }

  // The profiler's own overhead has a table without correlation ids, CUDA's overhead one with them.
  void write_overhead(const Track& track) {
    const std::int64_t thread = ids_.global_tid(track.key);
    for (const EventRef ref : events_in_order(trace_, track, selection_, launches_.events)) {
      const Event event = trace_.event(ref);
      const OverheadType type = overhead_type(track.key.kind, trace_.name(event.name));
      const bool of_cuda = track.key.kind == TrackKind::kCompilation || event.correlation != 0;
      if (of_cuda && database_.wants(NsysTable::kCudaOverhead))
        database_.insert(NsysTable::kCudaOverhead, event.start, event.end(), kCudaOverhead, thread, event.correlation, strings_.id(event.name), type);
      if (!of_cuda && database_.wants(NsysTable::kProfilerOverhead))
        database_.insert(NsysTable::kProfilerOverhead, event.start, event.end(), thread, strings_.id(event.name), 0, type);
    }
  }

  // Ranges of an imported trace have the numbers of their rows, which reports print. They keep these numbers if no two are equal.
  bool nvtx_rows_are_known() const {
    std::unordered_set<std::uint32_t> seen;
    for (const Track& track : trace_.tracks()) {
      if (track.key.kind != TrackKind::kNvtxRanges && track.key.kind != TrackKind::kNvtxProcessRanges && track.key.kind != TrackKind::kNvtxMarks) continue;
      for (const LaneId id : track.lanes) {
        const Lane& lane = trace_.lane(id);
        for (EventIndex i = 0; i < lane.size(); ++i)
          if (lane.correlation(i) == 0 || !seen.insert(lane.correlation(i)).second) return false;
      }
    }
    return true;
  }

  void write_nvtx(const Track& track) {
    const std::int64_t thread = ids_.global_tid(track.key);
    const int type = track.key.kind == TrackKind::kNvtxRanges ? kPushPopRange : track.key.kind == TrackKind::kNvtxMarks ? kMark : kStartEndRange;
    for_events(track, NsysTable::kNvtx, [&](EventRef, const Event& event) {
      const NvtxDetail& detail = trace_.nvtx_detail(event.detail);
      std::optional<Nanoseconds> end;
      if (type != kMark && detail.finished == Finished::kYes) end = event.end();
      std::optional<std::int64_t> end_thread;
      if (detail.end_thread != kNone)
        end_thread = ids_.global_tid(detail.end_thread);
      else if (type == kStartEndRange && end)
        end_thread = thread;
      std::optional<std::int64_t> row;
      if (nvtx_rows_are_known_) row = event.correlation;
      std::optional<std::uint64_t> unsigned_value;
      std::optional<std::int64_t> signed_value;
      std::optional<double> real_value;
      if (detail.payload_type == PayloadType::kUnsigned) unsigned_value = detail.payload;
      if (detail.payload_type == PayloadType::kSigned) signed_value = std::bit_cast<std::int64_t>(detail.payload);
      if (detail.payload_type == PayloadType::kReal) real_value = std::bit_cast<double>(detail.payload);
      std::optional<std::string_view> text;
      if (event.name != 0) text = trace_.name(event.name);
      std::optional<std::string_view> json;
      if (detail.payload_json != 0) json = trace_.name(detail.payload_json);
      database_.insert_at(NsysTable::kNvtx, row, event.start, end, type, kNull, unless_zero(detail.category), unless_zero(detail.color), text, thread,
                          end_thread, kNull, track.key.domain, unsigned_value, signed_value, real_value, kNull, kNull, kNull, kNull, json, kNull);
      if (type != kMark && detail.finished == Finished::kNo) database_.add_unfinished(NsysTable::kNvtx, event.end());
    });
  }

  void write_nvtx_name(int type, ProcessId process, std::uint32_t domain, std::optional<std::uint32_t> category, std::string_view text) {
    database_.insert(NsysTable::kNvtx, 0, kNull, type, kNull, category, kNull, text, ids_.global_pid(process), kNull, kNull, domain, kNull, kNull, kNull, kNull,
                     kNull, kNull, kNull, kNull, kNull);
  }
  void write_nvtx_names() {
    if (!database_.wants(NsysTable::kNvtx)) return;
    for (const NvtxDomainName& domain : trace_.domains()) write_nvtx_name(kDomainCreate, domain.process, domain.id, std::nullopt, domain.name);
    for (const NvtxCategoryName& category : trace_.categories()) write_nvtx_name(kCategory, category.process, category.domain, category.id, category.name);
  }

  const Trace& trace_;
  const ExportSelection& selection_;
  const KeptLaunches launches_;  // in front of the part that is written
  std::optional<std::uint64_t> most_chain_rows_;
  NsysDatabase& database_;
  NsysIds ids_;
  NsysStrings strings_;
  MeasuredCalls measured_;
  NsysThreads threads_;
  std::uint64_t written_ = 0;  // events of the tracks so far
  std::int64_t grid_ = 0;      // kernels so far, because Nsight Systems numbers them
  bool nvtx_rows_are_known_ = false;
};

Result<void> check_any_is_there(const NamePatterns& tables) {
  std::string known;
  bool is_any_there = false;
  const auto add = [&](const char* name) {
    is_any_there |= tables.match(name);
    known.append(known.empty() ? "" : ", ").append(name);
  };
  for (std::size_t i = 0; i < kNsysTableCount; ++i) add(table_schema(static_cast<NsysTable>(i)).name);
  for (const EnumTable& table : enum_tables()) add(table.name);
  if (is_any_there) return {};
  return Error{"--tables names none of the tables that there are: " + known + ".", ErrorKind::kUsage};
}

}  // namespace

Result<void> exporters::write_nsys_database(const Trace& trace, const std::filesystem::path& place, const std::filesystem::path& shown,
                                            const NsysSqliteOptions& options) {
  auto tables = NamePatterns::of(options.tables);
  if (!tables) return tables.error();
  if (Result<void> named = check_any_is_there(*tables); !named) return named;
  auto database = NsysDatabase::create(place, shown, std::move(*tables));
  if (!database) return database.error();
  NsysExport exporting(trace, options, **database);
  exporting.write();
  if (options.selection.stop.stop_requested()) return stopped_export();
  if (Result<void> read = check_all_was_read(trace); !read) return read;
  if (options.empty_tables == EmptyTables::kCreate) (*database)->create_empty_tables();
  const Result<void> finished = (*database)->finish();
  return finished ? Result<void>() : not_written(shown.string(), finished.error().text);
}

Result<void> export_nsys_sqlite(const Trace& trace, const std::filesystem::path& path, Overwrite overwrite, const NsysSqliteOptions& options) {
  return write_beside(path, overwrite, options.readers, [&](NewFile& place) { return write_nsys_database(trace, place.beside(), path, options); });
}

}  // namespace lanescope
