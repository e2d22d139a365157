// Work of GPUs: kernels, copies, sets, graph launches, synchronizations.
#include <array>

#include "nsys_context.h"

namespace lanescope::importers {
namespace {

// The first columns of all tables of GPU work, in this order.
#define LANESCOPE_QUEUE_COLUMNS "start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId"
enum QueueColumn { kStart, kEnd, kGlobalPid, kDevice, kContext, kStream, kCorrelation, kFirstOwn };

std::uint32_t number(const TableRows& rows, int column) { return static_cast<std::uint32_t>(rows.integer(column)); }

// Reads a table of GPU work. The track of a row is looked up once for each queue; `detail` reads the table's own columns and completes the event.
class GpuTable {
 public:
  GpuTable(NsysContext& context, TrackKind kind) : context_(context), kind_(kind) {}

  template <std::size_t N, typename Detail>
  Result<void> read(std::string_view table, const std::array<std::string_view, N>& columns, Detail detail) {
    TableRows rows = context_.database.rows(table, columns);
    while (rows.next()) {
      Event event;
      event.start = rows.integer(kStart);
      event.duration = duration_between(rows, kStart, kEnd);
      event.correlation = number(rows, kCorrelation);
      detail(rows, event);
      groups_.add(track(rows), event);
      if (!context_.count_row()) break;
    }
    if (!rows.failure().empty()) return unreadable(table, rows);
    groups_.flush();
    return {};
  }

 private:
  struct Queue {
    std::int64_t process = -1, device = 0, context = 0, stream = 0;
    auto operator<=>(const Queue&) const = default;
  };

  const TrackKey& track(const TableRows& rows) {
    const Queue queue{rows.integer(kGlobalPid), rows.integer(kDevice), rows.integer(kContext), rows.integer(kStream)};
    if (queue == last_queue_) return last_track_;
    auto [found, inserted] = tracks_.try_emplace(queue);
    if (inserted) {
      found->second.kind = kind_;
      found->second.process = context_.process(queue.process);
      found->second.gpu = context_.device(queue.process, static_cast<std::uint32_t>(queue.device));
      found->second.context = static_cast<std::uint32_t>(queue.context);
      found->second.stream = static_cast<std::uint32_t>(queue.stream);
    }
    last_queue_ = queue;
    last_track_ = found->second;
    return last_track_;
  }

  NsysContext& context_;
  TrackKind kind_;
  std::map<Queue, TrackKey> tracks_;
  Queue last_queue_;
  TrackKey last_track_;
  EventGroups groups_{context_};
};

// Memory kinds start at 0 in Nsight Systems, and at 1 in CUPTI and here; 7 is its "unknown".
MemoryKind memory_kind(const TableRows& rows, int column) {
  if (rows.is_null(column) || rows.integer(column) < 0 || rows.integer(column) > 6) return MemoryKind::kUnknown;
  return static_cast<MemoryKind>(rows.integer(column) + 1);
}

CopyKind copy_kind(const TableRows& rows, int column) {
  const std::int64_t kind = rows.integer(column);
  return kind >= 0 && kind <= 13 ? static_cast<CopyKind>(kind) : CopyKind::kUnknown;
}

}  // namespace

Result<void> import_kernels(NsysContext& context) {
  enum Column {
    kName = kFirstOwn,
    kShortName,
    kMangledName,
    kGridX,
    kGridY,
    kGridZ,
    kBlockX,
    kBlockY,
    kBlockZ,
    kClusterX,
    kClusterY,
    kClusterZ,
    kRegisters,
    kStaticShared,
    kDynamicShared,
    kSharedExecuted,
    kLocalPerThread,
    kLocalTotal,
    kLaunchType,
    kCacheConfig,
    kGraph,
    kGraphNode,
  };
  constexpr std::array<std::string_view, kGraphNode + 1> kColumns = {LANESCOPE_QUEUE_COLUMNS,
                                                                     "demangledName",
                                                                     "shortName",
                                                                     "mangledName",
                                                                     "gridX",
                                                                     "gridY",
                                                                     "gridZ",
                                                                     "blockX",
                                                                     "blockY",
                                                                     "blockZ",
                                                                     "clusterX",
                                                                     "clusterY",
                                                                     "clusterZ",
                                                                     "registersPerThread",
                                                                     "staticSharedMemory",
                                                                     "dynamicSharedMemory",
                                                                     "sharedMemoryExecuted",
                                                                     "localMemoryPerThread",
                                                                     "localMemoryTotal",
                                                                     "launchType",
                                                                     "cacheConfig",
                                                                     "graphId",
                                                                     "graphNodeId"};
  return GpuTable(context, TrackKind::kKernels).read("CUPTI_ACTIVITY_KIND_KERNEL", kColumns, [&](const TableRows& rows, Event& event) {
    KernelDetail detail;
    detail.short_name = context.name(rows.integer(kShortName));
    if (!rows.is_null(kMangledName)) detail.mangled_name = context.name(rows.integer(kMangledName));
    for (int axis = 0; axis < 3; ++axis) {
      detail.grid[axis] = number(rows, kGridX + axis);
      detail.block[axis] = number(rows, kBlockX + axis);
      detail.cluster[axis] = number(rows, kClusterX + axis);
    }
    detail.registers_per_thread = number(rows, kRegisters);
    detail.static_shared_memory = number(rows, kStaticShared);
    detail.dynamic_shared_memory = number(rows, kDynamicShared);
    detail.shared_memory_executed = number(rows, kSharedExecuted);
    detail.local_memory_per_thread = number(rows, kLocalPerThread);
    detail.local_memory_total = static_cast<std::uint64_t>(rows.integer(kLocalTotal));
    // Launch types start at 1 in Nsight Systems.
    if (const std::uint32_t type = number(rows, kLaunchType); type > 0) detail.launch_type = type - 1;
    detail.cache_config = number(rows, kCacheConfig);
    detail.graph = number(rows, kGraph);
    detail.graph_node = static_cast<std::uint64_t>(rows.integer(kGraphNode));
    if (rows.is_null(kEnd) || context.unfinished("CUPTI_ACTIVITY_KIND_KERNEL", rows.row_id())) detail.finished = Finished::kNo;
    event.name = context.name(rows.integer(kName));
    event.detail = context.builder.intern(detail);
  });
}

Result<void> import_copies(NsysContext& context) {
  enum Column {
    kBytes = kFirstOwn,
    kCopyKind,
    kSourceKind,
    kDestinationKind,
    kSourceDevice,
    kDestinationDevice,
    kSourceContext,
    kDestinationContext,
    kGraphNode,
    kMigrationCause,
    kVirtualAddress
  };
  constexpr std::array<std::string_view, kVirtualAddress + 1> kColumns = {
      LANESCOPE_QUEUE_COLUMNS, "bytes",        "copyKind",     "srcKind",     "dstKind",        "srcDeviceId",
      "dstDeviceId",           "srcContextId", "dstContextId", "graphNodeId", "migrationCause", "virtualAddress"};
  return GpuTable(context, TrackKind::kMemory).read("CUPTI_ACTIVITY_KIND_MEMCPY", kColumns, [&](const TableRows& rows, Event& event) {
    MemoryDetail detail;
    detail.copy_kind = copy_kind(rows, kCopyKind);
    detail.source_memory = memory_kind(rows, kSourceKind);
    detail.destination_memory = memory_kind(rows, kDestinationKind);
    detail.bytes = static_cast<std::uint64_t>(rows.integer(kBytes));
    detail.source_device = number(rows, kSourceDevice);
    detail.destination_device = number(rows, kDestinationDevice);
    detail.source_context = number(rows, kSourceContext);
    detail.destination_context = number(rows, kDestinationContext);
    detail.graph_node = static_cast<std::uint64_t>(rows.integer(kGraphNode));
    detail.migration_cause = number(rows, kMigrationCause);
    detail.virtual_address = static_cast<std::uint64_t>(rows.integer(kVirtualAddress));
    event.name = context.builder.intern(memory_operation_name(detail));
    event.detail = context.builder.intern(detail);
  });
}

Result<void> import_sets(NsysContext& context) {
  enum Column { kBytes = kFirstOwn, kValue, kMemoryKind, kGraphNode };
  constexpr std::array<std::string_view, kGraphNode + 1> kColumns = {LANESCOPE_QUEUE_COLUMNS, "bytes", "value", "memKind", "graphNodeId"};
  return GpuTable(context, TrackKind::kMemory).read("CUPTI_ACTIVITY_KIND_MEMSET", kColumns, [&](const TableRows& rows, Event& event) {
    MemoryDetail detail;
    detail.operation = MemoryOperation::kSet;
    detail.destination_memory = memory_kind(rows, kMemoryKind);
    detail.value = number(rows, kValue);
    detail.bytes = static_cast<std::uint64_t>(rows.integer(kBytes));
    detail.graph_node = static_cast<std::uint64_t>(rows.integer(kGraphNode));
    event.name = context.builder.intern(memory_operation_name(detail));
    event.detail = context.builder.intern(detail);
  });
}

Result<void> import_graph_launches(NsysContext& context) {
  enum Column { kGraph = kFirstOwn, kGraphExec };
  constexpr std::array<std::string_view, kGraphExec + 1> kColumns = {LANESCOPE_QUEUE_COLUMNS, "graphId", "graphExecId"};
  return GpuTable(context, TrackKind::kGraphLaunches).read("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kColumns, [&](const TableRows& rows, Event& event) {
    const GraphLaunchDetail detail{number(rows, kGraph), number(rows, kGraphExec)};
    event.name = context.builder.intern("CUDA graph " + std::to_string(detail.graph));
    event.detail = context.builder.intern(detail);
  });
}

Result<void> import_synchronizations(NsysContext& context) {
  enum Column { kType = kFirstOwn, kEvent, kEventRecord };
  constexpr std::array<std::string_view, kEventRecord + 1> kColumns = {LANESCOPE_QUEUE_COLUMNS, "syncType", "eventId", "eventSyncId"};
  return GpuTable(context, TrackKind::kSynchronizations).read("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kColumns, [&](const TableRows& rows, Event& event) {
    SynchronizationDetail detail{number(rows, kType), number(rows, kEvent), static_cast<std::uint64_t>(rows.integer(kEventRecord))};
    if (detail.event == kNone) detail.event = 0;  // CUPTI's "invalid event"
    if (detail.event == 0) detail.event_record = 0;
    event.name = context.builder.intern(synchronization_name(detail.type));
    event.detail = context.builder.intern(detail);
  });
}

Result<void> import_cuda_events(NsysContext& context) {
  enum Column { kEvent = kFirstOwn, kRecord };
  constexpr std::array<std::string_view, kRecord + 1> kColumns = {"timestamp", "timestamp",     "globalPid", "deviceId",   "contextId",
                                                                  "streamId",  "correlationId", "eventId",   "eventSyncId"};
  return GpuTable(context, TrackKind::kCudaEvents).read("CUPTI_ACTIVITY_KIND_CUDA_EVENT", kColumns, [&](const TableRows& rows, Event& event) {
    event.name = context.builder.intern("CUDA event " + std::to_string(number(rows, kEvent)));
    event.detail = context.builder.intern(CudaEventDetail{number(rows, kEvent), static_cast<std::uint64_t>(rows.integer(kRecord))});
  });
}

#undef LANESCOPE_QUEUE_COLUMNS

}  // namespace lanescope::importers
