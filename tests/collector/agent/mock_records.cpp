#include "mock_state.h"

#include <ctime>

namespace lanescope::test::mock_cupti {

std::uint64_t realtime_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

CUpti_ActivityKernel10 kernel(std::uint64_t i, std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityKernel10 record{};
  record.start = start;
  record.end = end;
  record.deviceId = kDevice;
  record.contextId = kContext;
  record.streamId = kFirstStream + static_cast<std::uint32_t>(i % kStreams);
  record.gridX = static_cast<int>(1 + i % 5);
  record.gridY = record.gridZ = 1;
  record.blockX = 256;
  record.blockY = record.blockZ = 1;
  record.registersPerThread = 32;
  record.dynamicSharedMemory = 4096;
  record.localMemoryTotal_v2 = std::uint64_t{6} << 30;
  record.correlationId = static_cast<std::uint32_t>(i + 1);
  record.name = kNames[i % 3];
  record.graphNodeId = i % 7 == 0 ? 5'000'000'000 + i : 0;
  record.graphId = i % 7 == 0 ? 11 : 0;
  return record;
}

void deliver_resources(Mock& m) {
  CUpti_ActivityDevice5 device{};
  device.name = "Mock GPU";
  device.globalMemorySize = std::uint64_t{141} << 30;
  device.globalMemoryBandwidth = 4'800'000'000;  // kB/s
  device.numMultiprocessors = 132;
  device.computeCapabilityMajor = 9;
  device.uuid.bytes[0] = 'u';
  deliver(m, CUPTI_ACTIVITY_KIND_DEVICE, device);
  CUpti_ActivityContext3 context{};
  context.contextId = kContext;
  context.deviceId = kDevice;
  context.nullStreamId = 7;
  deliver(m, CUPTI_ACTIVITY_KIND_CONTEXT, context);
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    CUpti_ActivityStream stream{};
    stream.contextId = kContext;
    stream.streamId = kFirstStream + i;
    stream.priority = static_cast<std::uint32_t>(-static_cast<int>(i));
    stream.flag = i == 0 ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
    deliver(m, CUPTI_ACTIVITY_KIND_STREAM, stream);
  }
}

void deliver_step(Mock& m, std::uint64_t i, std::uint64_t start) {
  CUpti_ActivityAPI call{};
  call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  call.start = start - 200;
  call.end = start - 50;
  call.threadId = kFirstThread + static_cast<std::uint32_t>(i / 1000 % kThreads);
  call.correlationId = static_cast<std::uint32_t>(i + 1);
  deliver(m, CUPTI_ACTIVITY_KIND_RUNTIME, call);
  deliver(m, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel(i, start, start + 500 + i % 100));
  if (i % kCopyEvery == 0) {
    CUpti_ActivityMemcpy6 copy{};
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    copy.bytes = 1024 * i;
    copy.start = start + 600;
    copy.end = start + 700;
    copy.contextId = kContext;
    copy.streamId = kFirstStream;
    deliver(m, CUPTI_ACTIVITY_KIND_MEMCPY, copy);
  }
  if (i % kSetEvery == 0) {
    CUpti_ActivityMemset4 set{};
    set.value = 0xab;
    set.bytes = 256;
    set.start = start + 710;
    set.end = start + 720;
    set.contextId = kContext;
    set.streamId = kFirstStream;
    set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    deliver(m, CUPTI_ACTIVITY_KIND_MEMSET, set);
  }
  if (i % kWaitEvery == 0) {
    CUpti_ActivitySynchronization2 wait{};
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    wait.start = start + 730;
    wait.end = start + 740;
    wait.contextId = kContext;
    wait.streamId = kFirstStream;
    wait.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    deliver(m, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, wait);
  }
}

void deliver_long_kernel(Mock& m, std::uint64_t start, std::uint64_t end) {
  if (m.long_kernel_start == 0) return;
  CUpti_ActivityKernel10 record = kernel(0, start, end);
  record.name = kLongKernel;
  record.correlationId = 1'000'000;
  record.graphNodeId = 0;
  record.graphId = 0;
  deliver(m, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, record);
  m.long_kernel_start = 0;
}

// Like CUPTI of CUDA 13.0 on an H200: identifies the kernel, and has no times.
void deliver_unfinished_kernel(Mock& m) { deliver_long_kernel(m, 0, 0); }

void deliver_graph(Mock& m) {
  const std::uint64_t now = realtime_now();
  const auto deliver_node = [&m](std::uint32_t launch, std::uint32_t node, std::uint64_t start, std::uint64_t end) {
    CUpti_ActivityKernel10 record = kernel(node, start, end);
    record.correlationId = launch;
    record.streamId = kFirstStream;
    record.graphNodeId = node + 1;
    record.graphId = 12;
    deliver(m, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, record);
  };
  constexpr std::uint64_t kStep = 1'000;
  for (std::uint32_t i = 0; i < kGraphKernels; ++i) deliver_node(kGraphLaunch, i, now + i * kStep, now + (i + 1) * kStep);
  const std::uint64_t next = now + kGraphKernels * kStep;
  for (std::uint32_t i = 0; i < kGraphKernels; ++i) deliver_node(kGraphLaunch + 1, i, next + i * kStep, next + 4'000'000 + i * kStep);
  m.has_graph = false;
}

void deliver_usage(Mock& m, CUpti_ActivityMemoryOperationType operation, std::uint64_t address, std::uint64_t time) {
  CUpti_ActivityMemory4 usage{};
  usage.memoryOperationType = operation;
  usage.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  usage.address = address;
  usage.bytes = kMemory;
  usage.timestamp = time;
  usage.contextId = kContext;
  usage.streamId = CUPTI_INVALID_STREAM_ID;
  usage.correlationId = 77;
  deliver(m, CUPTI_ACTIVITY_KIND_MEMORY2, usage);
}

void deliver_pool(Mock& m, std::uint64_t time) {
  CUpti_ActivityMemoryPool3 pool{};
  pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
  pool.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  pool.address = kPool;
  pool.timestamp = time;
  deliver(m, CUPTI_ACTIVITY_KIND_MEMORY_POOL, pool);
  CUpti_ActivityMemory4 usage{};
  usage.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  usage.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  usage.address = kAddress + 2 * kMemory;
  usage.bytes = kPoolMemory;
  usage.timestamp = time + 10;
  usage.contextId = kContext;
  usage.streamId = kFirstStream;
  usage.isAsync = 1;
  usage.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  usage.memoryPoolConfig.address = kPool;
  usage.memoryPoolConfig.pool.size = kPoolSize;
  usage.memoryPoolConfig.utilizedSize = kPoolMemory;
  deliver(m, CUPTI_ACTIVITY_KIND_MEMORY2, usage);
}

void deliver_unified(Mock& m, CUpti_ActivityUnifiedMemoryCounterKind kind, std::uint64_t value, std::uint64_t time) {
  if (m.unified_memory.count(kind) == 0) return;
  CUpti_ActivityUnifiedMemoryCounter3 counter{};
  counter.counterKind = kind;
  counter.value = value;
  counter.start = time;
  counter.end = time + 100;
  counter.address = kManaged;
  counter.flags = 2;  // written; moved because of a fault
  deliver(m, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, counter);
}

void deliver_event(Mock& m, std::uint64_t time) {
  CUpti_ActivityCudaEvent2 event{};
  event.contextId = kContext;
  event.streamId = kFirstStream;
  event.eventId = kEvent;
  event.deviceTimestamp = m.event_timestamps ? time : 0;
  event.cudaEventSyncId = kEventRecord;
  event.correlationId = kEventCall;
  deliver(m, CUPTI_ACTIVITY_KIND_CUDA_EVENT, event);
  CUpti_ActivitySynchronization2 wait{};
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  wait.start = time - 20;
  wait.end = time - 10;
  wait.contextId = kContext;
  wait.streamId = kFirstStream + 1;
  wait.cudaEventId = kEvent;
  wait.cudaEventSyncId = kEventRecord;
  deliver(m, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, wait);
}

}  // namespace lanescope::test::mock_cupti
