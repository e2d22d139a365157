#include "mock_state.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

using namespace lanescope::test::mock_cupti;

namespace {

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

}  // namespace

extern "C" {

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
  if (!mock().subscribed) std::abort();  // only a subscriber may use the Activity API
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
  if (id != 2) std::abort();  // only cuLaunchKernel works
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
  const bool was_disabled = m.kinds.insert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL).second;  // CUPTI also has them when no more are asked for
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
