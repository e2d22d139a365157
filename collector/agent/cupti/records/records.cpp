#include "agent/cupti/records/records.h"

#include <algorithm>
#include <cstring>

#include "agent/core/clock.h"
#include "agent/cupti/records/record_layouts.h"
#include "agent/kernel_counters/collection.h"

namespace lanescope::agent::cupti {
namespace {

using encode::ProtoWriter;

std::uint32_t positive(std::int32_t value) noexcept { return value > 0 ? static_cast<std::uint32_t>(value) : 0; }

encode::LaunchShape shape_of(const CUpti_ActivityKernel10& record) noexcept {
  encode::LaunchShape shape;
  shape.grid[0] = positive(record.gridX);
  shape.grid[1] = positive(record.gridY);
  shape.grid[2] = positive(record.gridZ);
  shape.block[0] = positive(record.blockX);
  shape.block[1] = positive(record.blockY);
  shape.block[2] = positive(record.blockZ);
  shape.registers_per_thread = record.registersPerThread;
  shape.static_shared_memory = positive(record.staticSharedMemory);
  shape.dynamic_shared_memory = positive(record.dynamicSharedMemory);
  shape.local_memory_per_thread = record.localMemoryPerThread;
  shape.local_memory_total = record.localMemoryTotal_v2;
  shape.shared_memory_executed = record.sharedMemoryExecuted;
  shape.launch_type = record.launchType;
  shape.cluster[0] = record.clusterX;
  shape.cluster[1] = record.clusterY;
  shape.cluster[2] = record.clusterZ;
  shape.cache_config = record.cacheConfig.both;
  return shape;
}

const char* overhead_name(CUpti_ActivityOverheadKind kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "Driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "CUPTI buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "CUPTI instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "CUPTI resources";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "Module loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "Lazy function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "Command buffer full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "CUPTI buffer request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
      return "Unified memory tracing";
    default:
      return "CUPTI";
  }
}

// Compiling and loading code is CUDA's own work; the other kinds are the cost of recording.
bool is_compilation(CUpti_ActivityOverheadKind kind) noexcept {
  return kind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER || kind == CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING ||
         kind == CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
}

const char* compilation_name(const CUpti_ActivityJit2& record) noexcept {
  switch (record.jitOperationType) {
    case CUPTI_ACTIVITY_JIT_OPERATION_CACHE_LOAD:
      return "Load compiled code from the cache";
    case CUPTI_ACTIVITY_JIT_OPERATION_CACHE_STORE:
      return "Store compiled code in the cache";
    default:
      return record.jitEntryType == CUPTI_ACTIVITY_JIT_ENTRY_NVVM_IR_TO_PTX ? "Compile NVVM IR to PTX" : "Compile PTX";
  }
}

std::uint32_t applicable(std::uint32_t value) noexcept { return value == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? 0 : value; }
std::uint64_t applicable_record(std::uint64_t value) noexcept { return value >= CUPTI_SYNCHRONIZATION_INVALID_VALUE ? 0 : value; }

}  // namespace

void RecordReader::read(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  CUpti_Activity* record = nullptr;
  while (functions_.get_next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS && record != nullptr) read_record(*record);
}

void RecordReader::read_record(const CUpti_Activity& record) noexcept {
  const auto as = [&record]<typename Record>(const Record*) -> const Record& { return reinterpret_cast<const Record&>(record); };
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return add(as(static_cast<CUpti_ActivityKernel10*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add(as(static_cast<CUpti_ActivityMemcpy6*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return add(as(static_cast<CUpti_ActivityMemcpyPtoP4*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add(as(static_cast<CUpti_ActivityMemset4*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return add_call(as(static_cast<CUpti_ActivityAPI*>(nullptr)), encode::Api::kRuntime);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return add_call(as(static_cast<CUpti_ActivityAPI*>(nullptr)), encode::Api::kDriver);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return add(as(static_cast<CUpti_ActivitySynchronization2*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return add(as(static_cast<CUpti_ActivityOverhead3*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_JIT:
      return add(as(static_cast<CUpti_ActivityJit2*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return add(as(static_cast<CUpti_ActivityGraphTrace2*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API:
      return add_call(as(static_cast<CUpti_ActivityAPI*>(nullptr)), encode::Api::kDriver);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return add(as(static_cast<CUpti_ActivityMemory4*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return add(as(static_cast<CUpti_ActivityMemoryPool3*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return add(as(static_cast<CUpti_ActivityUnifiedMemoryCounter3*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return add(as(static_cast<CUpti_ActivityCudaEvent2*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return add(as(static_cast<CUpti_ActivityDevice5*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return add(as(static_cast<CUpti_ActivityContext3*>(nullptr)));
    case CUPTI_ACTIVITY_KIND_STREAM:
      return add(as(static_cast<CUpti_ActivityStream*>(nullptr)));
    default:
      return;
  }
}

bool RecordReader::convert(std::uint64_t start, std::uint64_t end, encode::Interval& time) noexcept {
  ++counts_.produced;
  if (start == 0 || end < start) {
    ++(reading_ == Reading::kLast && start == 0 && end == 0 ? counts_.unfinished : counts_.invalid);
    return false;
  }
  time.start = clocks_.to_monotonic(static_cast<std::int64_t>(start));
  time.duration = end - start;
  return true;
}

void RecordReader::add(const CUpti_ActivityKernel10& record) noexcept {
  if (kernel_counters::take_record(record)) return;  // its times come with its counters
  encode::Kernel kernel;
  // A forced flush delivers kernels that still run: without an end, so that they last until now, when the recording ends, or without any times.
  if (reading_ == Reading::kLast && record.start == 0 && record.name != nullptr && first_unfinished_.empty()) first_unfinished_ = record.name;
  const bool unfinished = record.start != 0 && record.end == 0;
  const auto now = unfinished ? static_cast<std::uint64_t>(read_clock(CLOCK_REALTIME)) : 0;
  if (!convert(record.start, unfinished ? std::max(now, record.start) : record.end, kernel.time)) return;
  if (unfinished) kernel.completion = encode::Completion::kUnfinished;
  kernel.name = events_.strings().id_of_pointer(record.name);
  kernel.queue = events_.queue({record.deviceId, record.contextId, record.streamId});
  kernel.correlation = record.correlationId;
  kernel.shape = events_.shape(shape_of(record));
  kernel.graph = {record.graphNodeId, record.graphId};
  if (unfinished || !late_graph_work_.hold(kernel)) events_.add(kernel);
}

void RecordReader::add(const CUpti_ActivityMemcpy6& record) noexcept {
  encode::Copy copy;
  if (!convert(record.start, record.end, copy.time)) return;
  encode::CopyShape shape;
  shape.kind = record.copyKind;
  shape.source_memory = record.srcKind;
  shape.destination_memory = record.dstKind;
  shape.source_device = shape.destination_device = record.deviceId;
  shape.asynchronous = (record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0 ? 1 : 0;
  copy.bytes = record.bytes;
  copy.queue = events_.queue({record.deviceId, record.contextId, record.streamId});
  copy.correlation = record.correlationId;
  copy.shape = events_.copy_shape(shape);
  copy.graph = {record.graphNodeId, record.graphId};
  if (!late_graph_work_.hold(copy)) events_.add(copy);
}

void RecordReader::add(const CUpti_ActivityMemcpyPtoP4& record) noexcept {
  encode::Copy copy;
  if (!convert(record.start, record.end, copy.time)) return;
  encode::CopyShape shape;
  shape.kind = record.copyKind;
  shape.source_memory = record.srcKind;
  shape.destination_memory = record.dstKind;
  shape.source_device = record.srcDeviceId;
  shape.destination_device = record.dstDeviceId;
  shape.source_context = record.srcContextId;
  shape.destination_context = record.dstContextId;
  shape.asynchronous = (record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0 ? 1 : 0;
  copy.bytes = record.bytes;
  copy.queue = events_.queue({record.deviceId, record.contextId, record.streamId});
  copy.correlation = record.correlationId;
  copy.shape = events_.copy_shape(shape);
  copy.graph = {record.graphNodeId, record.graphId};
  if (!late_graph_work_.hold(copy)) events_.add(copy);
}

void RecordReader::add(const CUpti_ActivityMemset4& record) noexcept {
  encode::Set set;
  if (!convert(record.start, record.end, set.time)) return;
  set.bytes = record.bytes;
  set.value = record.value;
  set.queue = events_.queue({record.deviceId, record.contextId, record.streamId});
  set.correlation = record.correlationId;
  set.memory_kind = record.memoryKind;
  set.graph = {record.graphNodeId, record.graphId};
  if (!late_graph_work_.hold(set)) events_.add(set);
}

std::uint64_t RecordReader::release_late_graph_work() noexcept {
  const std::uint64_t left_out = late_graph_work_.release([this](const auto& work) { events_.add(work); });
  counts_.unfinished += left_out;
  return left_out;
}

std::uint32_t RecordReader::call_name(encode::Api api, CUpti_CallbackId id) noexcept {
  const CUpti_CallbackDomain domain = api == encode::Api::kDriver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  const auto ask = [&] {
    const char* name = nullptr;
    return functions_.get_callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr ? events_.strings().id(name) : 0;
  };
  if (id >= kCallNames) return ask();
  std::uint32_t& cached = call_names_[static_cast<std::size_t>(api)][id];
  if (cached == 0) cached = ask();
  return cached;
}

void RecordReader::add_call(const CUpti_ActivityAPI& record, encode::Api api) noexcept {
  encode::ApiCall call;
  if (!convert(record.start, record.end, call.time)) return;
  call.api = api;
  call.thread = record.threadId;
  call.name = call_name(api, record.cbid);
  call.correlation = record.correlationId;
  call.result = record.returnValue;
  events_.add(call);
}

void RecordReader::add(const CUpti_ActivitySynchronization2& record) noexcept {
  encode::Synchronization synchronization;
  if (!convert(record.start, record.end, synchronization.time)) return;
  synchronization.type = static_cast<std::uint32_t>(record.type);
  synchronization.queue = events_.queue({device_of_context(record.contextId), record.contextId, applicable(record.streamId)});
  synchronization.event = applicable(record.cudaEventId);
  synchronization.correlation = record.correlationId;
  if (event_records_ == EventRecords::kPresent && synchronization.event != 0) synchronization.event_record = applicable_record(record.cudaEventSyncId);
  events_.add(synchronization);
}

void RecordReader::add(const CUpti_ActivityOverhead3& record) noexcept {
  encode::Span span;
  if (!convert(record.start, record.end, span.time)) return;
  span.name = events_.strings().id(overhead_name(record.overheadKind));
  if (record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) span.thread = record.objectId.pt.threadId;
  if (is_compilation(record.overheadKind))
    events_.add_compilation(span);
  else
    events_.add_overhead(span);
}

void RecordReader::add(const CUpti_ActivityJit2& record) noexcept {
  encode::Span span;
  if (!convert(record.start, record.end, span.time)) return;
  span.name = events_.strings().id(compilation_name(record));
  span.correlation = record.correlationId;
  events_.add_compilation(span);
}

void RecordReader::add(const CUpti_ActivityGraphTrace2& record) noexcept {
  encode::GraphLaunch launch;
  if (!convert(record.start, record.end, launch.time)) return;
  launch.queue = events_.queue({record.deviceId, record.contextId, record.streamId});
  launch.correlation = record.correlationId;
  launch.graph = record.graphId;
  events_.add(launch);
}

}  // namespace lanescope::agent::cupti
