// Records about memory: allocations, pools, unified memory; and about CUDA events.
#include <dlfcn.h>

#include "agent/cupti/cuda_names.h"
#include "agent/cupti/records/record_layouts.h"
#include "agent/cupti/records/records.h"

namespace lanescope::agent::cupti {
namespace {

// As numbered in trace.proto, CopyKind.
constexpr std::uint32_t kUnifiedHostToDevice = 11;
constexpr std::uint32_t kUnifiedDeviceToHost = 12;
constexpr std::uint32_t kUnifiedDeviceToDevice = 13;

constexpr std::uint32_t kNamedEvent = 3;  // proto::CUDA_RESOURCE_EVENT
constexpr std::size_t kNamedEvents = 4096;

std::uint32_t valid_id(std::uint32_t id) noexcept { return id == CUPTI_INVALID_CONTEXT_ID ? 0 : id; }
static_assert(CUPTI_INVALID_CONTEXT_ID == CUPTI_INVALID_STREAM_ID);

}  // namespace

void RecordReader::add(const CUpti_ActivityMemory4& record) noexcept {
  encode::MemoryUsage usage;
  if (!convert(record.timestamp, record.timestamp, usage.time)) return;
  usage.operation = record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE ? encode::MemoryUsageOperation::kRelease
                                                                                               : encode::MemoryUsageOperation::kAllocation;
  usage.address = record.address;
  usage.bytes = record.bytes;
  usage.memory_kind = static_cast<std::uint32_t>(record.memoryKind);
  usage.queue = events_.queue({record.deviceId, valid_id(record.contextId), record.isAsync != 0 ? valid_id(record.streamId) : 0});
  usage.correlation = record.correlationId;
  usage.name = events_.strings().id_of_pointer(record.name);
  if (record.memoryPoolConfig.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) usage.pool = record.memoryPoolConfig.address;
  if (record.memoryPoolConfig.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
    usage.pool_size = record.memoryPoolConfig.pool.size;
    usage.pool_utilized = record.memoryPoolConfig.utilizedSize;
    usage.pool_release_threshold = record.memoryPoolConfig.releaseThreshold;
  }
  events_.add(usage);
}

void RecordReader::add(const CUpti_ActivityMemoryPool3& record) noexcept {
  encode::MemoryUsage usage;
  if (!convert(record.timestamp, record.timestamp, usage.time)) return;
  usage.operation = record.memoryPoolOperationType == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED     ? encode::MemoryUsageOperation::kPoolCreation
                    : record.memoryPoolOperationType == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED ? encode::MemoryUsageOperation::kPoolDestruction
                                                                                                            : encode::MemoryUsageOperation::kPoolTrim;
  usage.address = usage.pool = record.address;
  usage.bytes = usage.operation == encode::MemoryUsageOperation::kPoolTrim ? record.minBytesToKeep : 0;
  usage.memory_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  usage.queue = events_.queue({record.deviceId, 0, 0});
  usage.correlation = record.correlationId;
  if (record.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
    usage.pool_size = record.size;
    usage.pool_utilized = record.utilizedSize;
    usage.pool_release_threshold = record.releaseThreshold;
  }
  events_.add(usage);
}

void RecordReader::add(const CUpti_ActivityUnifiedMemoryCounter3& record) noexcept {
  switch (record.counterKind) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
      return add_migration(record, kUnifiedHostToDevice);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
      return add_migration(record, kUnifiedDeviceToHost);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD:
      return add_migration(record, kUnifiedDeviceToDevice);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT:
      return add_cpu_fault(record);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT:
      return add_gpu_fault(record);
    default:
      return;
  }
}

void RecordReader::add_migration(const CUpti_ActivityUnifiedMemoryCounter3& record, std::uint32_t copy_kind) noexcept {
  encode::Copy copy;
  if (!convert(record.start, record.end, copy.time)) return;
  const bool from_device = copy_kind != kUnifiedHostToDevice;
  const bool to_device = copy_kind != kUnifiedDeviceToHost;
  const std::uint32_t device = to_device ? record.dstId : record.srcId;
  encode::CopyShape shape;
  shape.kind = copy_kind;
  shape.source_memory = shape.destination_memory = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  shape.source_device = from_device ? record.srcId : device;
  shape.destination_device = device;
  shape.asynchronous = 1;
  if (record.flags == CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE && copy_kind != kUnifiedDeviceToDevice)
    ++(to_device ? unified_memory_.gpu : unified_memory_.cpu).migrations;
  copy.bytes = record.value;
  copy.queue = events_.queue(default_queue(device));
  copy.shape = events_.copy_shape(shape);
  copy.virtual_address = record.address;
  copy.migration_cause = record.flags;
  events_.add(copy);
}

void RecordReader::add_cpu_fault(const CUpti_ActivityUnifiedMemoryCounter3& record) noexcept {
  encode::PageFault fault;
  ++unified_memory_.cpu.faults;
  if (!convert(record.start, record.start, fault.time)) return;
  fault.address = record.address;
  fault.program_counter = record.value;
  Dl_info place{};
  if (record.value != 0 && dladdr(reinterpret_cast<const void*>(record.value), &place) != 0) {
    fault.module = events_.strings().id_of_pointer(place.dli_fname);
    fault.function = events_.strings().id_of_pointer(place.dli_sname);
  }
  events_.add(fault);
}

void RecordReader::add_gpu_fault(const CUpti_ActivityUnifiedMemoryCounter3& record) noexcept {
  encode::PageFault fault;
  ++unified_memory_.gpu.faults;
  if (!convert(record.start, record.end, fault.time)) return;
  fault.device = record.srcId + 1;
  fault.address = record.address;
  fault.count = record.value;
  fault.access = record.flags;
  events_.add(fault);
}

void RecordReader::add(const CUpti_ActivityCudaEvent2& record) noexcept {
  encode::CudaEvent event;
  if (!convert(record.deviceTimestamp, record.deviceTimestamp, event.time)) return;
  event.queue = events_.queue({record.deviceId, record.contextId, record.streamId});
  event.event = record.eventId;
  event.record = record.cudaEventSyncId;
  event.correlation = record.correlationId;
  if (const std::string_view name = name_of_recorded_event(record.correlationId); !name.empty()) add_event_name(record.eventId, name);
  events_.add(event);
}

// Sends the name once, as long as the event keeps it.
void RecordReader::add_event_name(std::uint32_t event, std::string_view name) noexcept {
  for (std::size_t i = 0; i < event_names_.size(); ++i)
    if (event_names_[i].event == event && event_names_[i].name.data() == name.data()) return;
  if (event_names_.size() >= kNamedEvents) return;
  event_names_.push_back({event, name});
  part_.clear();
  encode::ProtoWriter out(part_);
  out.unsigned_field(1, kNamedEvent);
  out.unsigned_field(2, event);
  out.text_field(3, name);
  add_resource(8);
}

}  // namespace lanescope::agent::cupti
