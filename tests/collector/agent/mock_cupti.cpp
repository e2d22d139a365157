#include "mock_cupti.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <cupti.h>
#include <unistd.h>

namespace {

using namespace lanescope::test::mock_cupti;

// Threads of the program and the tracer's use it at once.
struct Mock {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t dropped = 0;
  std::set<int> kinds;
  bool subscribed = false;
  CUpti_CallbackFunc callback = nullptr;
  std::set<CUpti_CallbackId> driver_callbacks;
  std::set<CUpti_CallbackId> runtime_callbacks;
  std::set<CUpti_CallbackId> resource_callbacks;
  bool initialized = false;
  std::set<int> unified_memory;  // kinds of its counters
  bool event_timestamps = false;
  bool has_unfinished = false;
  std::atomic<bool> faults = false;
  bool has_graph = false;               // that was launched, and did not come back
  std::uint64_t long_kernel_start = 0;  // 0: it does not run, or was delivered
};
Mock& mock() {
  static Mock* instance = new Mock;
  return *instance;
}

int number_in(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

bool says(const char* variable, const char* what) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, what) == 0;
}

CUptiResult answer(const char* what) { return says("MOCK_CUPTI_REFUSES", what) ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_SUCCESS; }

// In steps that do not lead over the page below a stack.
__attribute__((noinline)) int without_end(volatile int* outer) {
  volatile int here[64] = {*outer};
  return here[0] < 0 ? 0 : without_end(here) + here[1];
}

void fault_if(const char* when) {
  if (!says("MOCK_CUPTI_FAULTS", when)) return;
  mock().faults = true;
  volatile int begin = 0;
  if (says("MOCK_CUPTI_FAULTS_BY", "stack")) std::exit(without_end(&begin));
  if (says("MOCK_CUPTI_FAULTS_BY", "abort")) std::abort();
  if (says("MOCK_CUPTI_FAULTS_BY", "trap")) __builtin_trap();
  *reinterpret_cast<volatile int*>(kNowhere) = 1;
}

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_JIT:
      return sizeof(CUpti_ActivityJit2);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return sizeof(CUpti_ActivityDevice5);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return sizeof(CUpti_ActivityMemoryPool3);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return sizeof(CUpti_ActivityUnifiedMemoryCounter3);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return sizeof(CUpti_ActivityCudaEvent2);
    default:
      return 0;
  }
}

void give_back(Mock& m) {
  if (m.buffer == nullptr) return;
  std::uint8_t* buffer = m.buffer;
  m.buffer = nullptr;
  m.complete(nullptr, 0, buffer, m.size, m.used);
}

template <typename Record>
void deliver(Mock& m, CUpti_ActivityKind kind, Record record) {
  if (m.kinds.count(kind) == 0) return;
  record.kind = kind;
  if (m.buffer != nullptr && m.used + sizeof(record) > m.size) give_back(m);
  if (m.buffer == nullptr) {
    std::size_t maximum = 0;
    m.used = 0;
    m.request(&m.buffer, &m.size, &maximum);
    if (m.buffer == nullptr) {
      ++m.dropped;
      return;
    }
  }
  std::memcpy(m.buffer + m.used, &record, sizeof(record));
  m.used += sizeof(record);
}

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

// As CUPTI of CUDA 13.0 does on an H200: who it is, and no times.
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

// Who is to be called for it, without the lock; null: nobody.
CUpti_CallbackFunc callback_of(const std::set<CUpti_CallbackId>& calls, CUpti_CallbackId id) {
  const std::lock_guard lock(mock().mutex);
  return calls.count(id) == 0 ? nullptr : mock().callback;
}

void call_back(CUpti_CallbackId id, CUpti_ApiCallbackSite site, std::uint32_t correlation = 0, const void* parameters = nullptr) {
  const CUpti_CallbackFunc callback = callback_of(mock().driver_callbacks, id);
  if (callback == nullptr) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.correlationId = correlation;
  data.functionParams = parameters;
  callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

std::atomic<std::int64_t> last_launch{0};  // ns of the steady clock

CUcontext sampled_context() { return static_cast<CUcontext>(const_cast<void*>(kContextHandle)); }
CUcontext other_context() { return reinterpret_cast<CUcontext>(reinterpret_cast<std::uintptr_t>(kContextHandle) + 64); }

void tell_resource(CUpti_CallbackId id, CUcontext context, void* descriptor = nullptr) {
  const CUpti_CallbackFunc callback = callback_of(mock().resource_callbacks, id);
  if (callback == nullptr) return;
  CUpti_ResourceData data{};
  data.context = context;
  data.resourceDescriptor = descriptor;
  callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

}  // namespace

extern "C" {

void mock_cupti_launch(std::uint32_t start) {
  static std::thread launching;
  static std::atomic<bool> goes_on;
  goes_on = start != 0;
  const std::int64_t before = last_launch;
  if (start != 0) {
    launching = std::thread([] {
      constexpr CUpti_CallbackId kLaunchKernel = 2;  // as cuptiGetCallbackName below has it
      for (; goes_on; std::this_thread::sleep_for(std::chrono::microseconds(100))) {
        call_back(kLaunchKernel, CUPTI_API_ENTER);
        CUpti_ModuleResourceData module{};
        module.pCubin = kImage;
        module.cubinSize = sizeof(kImage);
        tell_resource(CUPTI_CBID_RESOURCE_MODULE_PROFILED, sampled_context(), &module);
        last_launch = std::chrono::steady_clock::now().time_since_epoch().count();
        call_back(kLaunchKernel, CUPTI_API_EXIT);
      }
    });
    while (last_launch == before) std::this_thread::sleep_for(std::chrono::microseconds(100));
  } else if (launching.joinable()) {
    launching.join();
  }
}
std::int64_t mock_cupti_last_launch() { return last_launch; }

void mock_cupti_sample() {
  CUpti_ModuleResourceData module{};
  module.pCubin = kImage;
  module.cubinSize = sizeof(kImage);
  tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, sampled_context());
  tell_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, sampled_context(), &module);
  for (std::uint32_t i = 0; i < kRounds; ++i) mock_cupti_make_samples();
  tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, other_context());
  tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, other_context());
  tell_resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, sampled_context());
  tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, sampled_context());
}

void mock_cupti_initialize() {
  {
    const std::lock_guard lock(mock().mutex);
    mock().initialized = true;
  }
  constexpr CUpti_CallbackId id = CUPTI_CBID_RESOURCE_CU_INIT_FINISHED;
  if (const CUpti_CallbackFunc callback = callback_of(mock().resource_callbacks, id)) callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, id, nullptr);
}

void mock_cupti_wait() {
  constexpr CUpti_CallbackId id = CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020;
  const CUpti_CallbackFunc callback = callback_of(mock().runtime_callbacks, id);
  if (callback == nullptr) return;
  std::uint64_t between = 0;
  CUpti_CallbackData data{};
  data.correlationData = &between;
  data.correlationId = 5;
  data.callbackSite = CUPTI_API_ENTER;
  callback(nullptr, CUPTI_CB_DOMAIN_RUNTIME_API, id, &data);
  const timespec pause{0, 2'000'000};
  nanosleep(&pause, nullptr);
  data.callbackSite = CUPTI_API_EXIT;
  callback(nullptr, CUPTI_CB_DOMAIN_RUNTIME_API, id, &data);
}

void mock_cupti_reset() {
  call_back(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2, CUPTI_API_ENTER);
  {
    Mock& m = mock();
    const std::lock_guard lock(m.mutex);
    m.used = 0;
    m.has_unfinished = false;
  }
  call_back(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2, CUPTI_API_EXIT);
}

int mock_cupti_await_unified_memory() {
  const timespec pause{0, 1'000'000};
  for (int i = 0; i < 60'000; ++i) {
    {
      const std::lock_guard lock(mock().mutex);
      if (mock().kinds.count(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) != 0) return 1;
    }
    nanosleep(&pause, nullptr);
  }
  return 0;
}

int mock_cupti_await_fault() {
  const timespec pause{0, 1'000'000};
  for (int i = 0; i < 60'000 && !mock().faults; ++i) nanosleep(&pause, nullptr);
  return mock().faults ? 1 : 0;
}

std::uint64_t mock_cupti_asked() {
  const std::lock_guard lock(mock().mutex);
  return (mock().subscribed ? 1u : 0u) + mock().driver_callbacks.size() + mock().runtime_callbacks.size() + mock().kinds.size();
}

void mock_cupti_memory() {
  const struct {
    const void* event;
    const void* stream;
  } parameters{kEventHandle, nullptr};
  call_back(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, CUPTI_API_ENTER, kEventCall, &parameters);
  Mock& m = mock();
  const std::lock_guard lock(m.mutex);
  deliver_resources(m);
  const std::uint64_t now = realtime_now();
  deliver_usage(m, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, kAddress, now);
  deliver_usage(m, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, kAddress + kMemory, now + 10);
  deliver_usage(m, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, kAddress, now + 20);
  deliver_pool(m, now + 30);
  deliver_unified(m, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, 64 << 10, now + 100);
  deliver_unified(m, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 2, now + 90);
  deliver_unified(m, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, reinterpret_cast<std::uint64_t>(&mock_cupti_memory), now + 80);
  deliver_event(m, now + 300);
}

void mock_cupti_work(std::uint64_t kernels) {
  Mock& m = mock();
  const std::lock_guard lock(m.mutex);
  deliver_resources(m);
  const std::uint64_t begin = realtime_now();
  for (std::uint64_t i = 0; i < kernels; ++i) deliver_step(m, i, begin + i * 1'000);
  for (std::uint64_t i = 0; i < kInvalid; ++i) deliver(m, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel(i, begin, begin - 1));
  m.has_unfinished = true;
  constexpr std::uint64_t kLongestWait = 10'000'000;  // so that what is stopped next stops behind most of it
  const std::uint64_t end = begin + std::min(kernels * 1'000, kLongestWait);
  while (realtime_now() < end) usleep(100);
}

void mock_cupti_deliver_unreadable() {
  Mock& m = mock();
  const std::lock_guard lock(m.mutex);
  const std::uint64_t now = realtime_now();
  CUpti_ActivityKernel10 record = kernel(0, now, now + 1);
  record.name = reinterpret_cast<const char*>(kNowhere);
  deliver(m, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, record);
}

void mock_cupti_begin_long_kernel() {
  Mock& m = mock();
  const std::lock_guard lock(m.mutex);
  const std::uint64_t now = realtime_now();
  CUpti_ActivityAPI call{};
  call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  call.start = now - 200;
  call.end = now - 50;
  call.threadId = kFirstThread;
  call.correlationId = 1'000'000;
  deliver(m, CUPTI_ACTIVITY_KIND_RUNTIME, call);
  m.long_kernel_start = now;
}

void mock_cupti_launch_graph() {
  Mock& m = mock();
  const std::lock_guard lock(m.mutex);
  m.has_graph = true;
}

void mock_cupti_end_long_kernel() {
  Mock& m = mock();
  const std::lock_guard lock(m.mutex);
  deliver_long_kernel(m, m.long_kernel_start, realtime_now());
}

void mock_cupti_profile(std::uint32_t start) {
  const CUpti_CallbackId id = start != 0 ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop;
  call_back(id, CUPTI_API_ENTER);
  call_back(id, CUPTI_API_EXIT);
}

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  fault_if("version");
  *version = static_cast<std::uint32_t>(number_in("MOCK_CUPTI_VERSION", CUPTI_API_VERSION));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "MOCK_RESULT";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle*, CUpti_CallbackFunc callback, void*, CUpti_SubscriberParams* parameters) {
  if (const char* file = std::getenv("MOCK_CUPTI_WAITS"); file != nullptr) {
    std::ofstream(std::string(file) + ".waiting").flush();
    while (std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::lock_guard lock(mock().mutex);
  fault_if("subscribe");
  const int result = number_in("MOCK_CUPTI_SUBSCRIBE", 0);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) std::strncpy(parameters->oldSubscriberName, "Another profiler", parameters->oldSubscriberSize);
  mock().subscribed = result == 0;
  mock().callback = callback;
  return static_cast<CUptiResult>(result);
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) { return CUPTI_ERROR_UNKNOWN; }
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  const std::lock_guard lock(mock().mutex);
  if (!mock().subscribed) std::abort();
  mock().subscribed = false;
  mock().driver_callbacks.clear();
  mock().runtime_callbacks.clear();
  mock().resource_callbacks.clear();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (answer("callbacks") != CUPTI_SUCCESS) return answer("callbacks");
  const std::lock_guard lock(mock().mutex);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && enable != 0) mock().driver_callbacks.insert(id);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && enable == 0) mock().driver_callbacks.erase(id);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && enable != 0) mock().runtime_callbacks.insert(id);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && enable == 0) mock().runtime_callbacks.erase(id);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) mock().resource_callbacks.insert(id);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  static constexpr const char* driver[] = {"INVALID", "cuInit", "cuLaunchKernel", "cuMemAlloc_v2"};
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id < 4) {
    *name = driver[id];
    return CUPTI_SUCCESS;
  }
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || id >= CUPTI_RUNTIME_TRACE_CBID_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000        ? "cudaLaunchKernel_v7000"
          : id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020 ? "cudaDeviceSynchronize_v3020"
                                                                       : "cudaSomethingElse_v1";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  if (context == other_context()) {
    *id = kContext + 1;
    return CUPTI_SUCCESS;
  }
  if (static_cast<const void*>(context) != kContextHandle) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = kContext;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream, std::uint8_t, std::uint32_t* id) {
  *id = kFirstStream + 1;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(mock().mutex);
  if (!mock().subscribed) std::abort();  // nobody may touch the Activity API who is not subscribed
  if (answer("buffers") != CUPTI_SUCCESS) return answer("buffers");
  mock().request = request;
  mock().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_KERNEL) std::abort();
  {
    const std::lock_guard lock(mock().mutex);
    if (!mock().subscribed) std::abort();
  }
  const bool is_resource = kind == CUPTI_ACTIVITY_KIND_DEVICE || kind == CUPTI_ACTIVITY_KIND_CONTEXT || kind == CUPTI_ACTIVITY_KIND_STREAM;
  const char* const what = is_resource                                     ? "resources"
                           : kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? "kernels"
                           : kind == CUPTI_ACTIVITY_KIND_MEMORY2           ? "memory"
                                                                           : "";
  if (answer(what) != CUPTI_SUCCESS) return answer(what);
  if (std::getenv("MOCK_CUPTI_IS_SLOW") != nullptr) usleep(30'000);
  const std::lock_guard lock(mock().mutex);
  mock().kinds.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  const CUptiResult result = cuptiActivityEnable(kind);
  const std::lock_guard lock(mock().mutex);
  const std::set<int> others = std::exchange(mock().kinds, {kind});
  deliver_resources(mock());
  mock().kinds = others;
  return result;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mock().mutex);
  mock().kinds.erase(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t) {
  if (id != 2) std::abort();  // cuLaunchKernel alone works
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig* counters, std::uint32_t count) {
  const std::lock_guard lock(mock().mutex);
  if (!mock().initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  for (std::uint32_t i = 0; i < count; ++i)
    if (counters[i].enable != 0) mock().unified_memory.insert(counters[i].kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t enable) {
  const std::lock_guard lock(mock().mutex);
  mock().event_timestamps = enable != 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAllSyncRecords(std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  while (std::getenv("MOCK_CUPTI_HANGS") != nullptr) pause();
  Mock& m = mock();
  const std::lock_guard lock(m.mutex);
  const bool is_forced = flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
  fault_if(is_forced ? "last" : "first");
  if (!is_forced && m.long_kernel_start != 0) return CUPTI_SUCCESS;
  const bool was_disabled = m.kinds.insert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL).second;  // it has them also when no more are asked for
  if (was_disabled && m.has_graph) deliver_graph(m);
  if (is_forced) {
    deliver_unfinished_kernel(m);
    for (std::uint64_t i = 0; i < kUnfinished && m.has_unfinished; ++i) deliver(m, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel(i, realtime_now(), 0));
    m.has_unfinished = false;
  }
  if (was_disabled) m.kinds.erase(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  give_back(m);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + size_of((*record)->kind);
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard lock(mock().mutex);
  *dropped = mock().dropped;
  mock().dropped = 0;
  return CUPTI_SUCCESS;
}

}  // extern "C"
