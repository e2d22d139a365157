#include "agent/cupti/records/kinds.h"

#include <cstring>
#include <span>

#include "collector/channel/layout.h"

namespace lanescope::agent::cupti {
namespace {

constexpr const char* kChattyRuntimeCalls[] = {
    "cudaGetDevice",
    "cudaSetDevice",
    "cudaGetDeviceCount",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaThreadExchangeStreamCaptureMode",
    "cudaEventQuery",
    "cudaStreamQuery",
    "cudaDeviceGetAttribute",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaFuncGetAttributes",
    "cudaFuncSetAttribute",
    "cudaPointerGetAttributes",
    "cudaGetFuncBySymbol",
    "cudaStreamGetId",
    "__cudaPushCallConfiguration",
    "__cudaPopCallConfiguration",
};
constexpr const char* kWorkingDriverCalls[] = {
    "cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset", "cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuStreamCreate",
};

constexpr CUpti_ActivityKind kResourceKinds[] = {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM};

// CONCURRENT_KERNEL, never KERNEL, which makes kernels run one after the other.
constexpr CUpti_ActivityKind kLightKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                              CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
                                              CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_OVERHEAD};
// INTERNAL_LAUNCH_API: launches that no call of the program made; with it, their kernels have a launch. Rare.
constexpr CUpti_ActivityKind kDefaultKinds[] = {CUPTI_ACTIVITY_KIND_JIT, CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API};
// SYNCHRONIZATION slows every call that touches events or streams, whether it waits or not (docs/adr/0005).
constexpr CUpti_ActivityKind kDeepKinds[] = {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
constexpr CUpti_ActivityKind kMemoryUsageKinds[] = {CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY_POOL};
constexpr CUpti_ActivityKind kCudaEventKinds[] = {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT};

// Returns the first refusal, otherwise CUPTI_SUCCESS.
CUptiResult enable_all(const Functions& functions, std::span<const CUpti_ActivityKind> kinds) noexcept {
  CUptiResult refusal = CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : kinds)
    if (const CUptiResult result = functions.enable(kind); refusal == CUPTI_SUCCESS) refusal = result;
  return refusal;
}

// Calls use(cbid, name) for each call of an API; ids are dense, and the one after the last has no name.
template <typename Use>
void for_each_call(const Functions& functions, CUpti_CallbackDomain domain, Use use) noexcept {
  const char* name = nullptr;
  for (CUpti_CallbackId id = 1; functions.get_callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr; ++id) use(id, name);
}

void set_chatty_runtime_calls(const Functions& functions, std::uint8_t enable) noexcept {
  if (functions.enable_runtime_api == nullptr) return;
  for_each_call(functions, CUPTI_CB_DOMAIN_RUNTIME_API, [&](CUpti_CallbackId id, const char* name) {
    if (is_chatty_runtime_call(name)) functions.enable_runtime_api(id, enable);
  });
}

void set_working_driver_calls(const Functions& functions, std::uint8_t enable) noexcept {
  if (functions.enable_driver_api == nullptr) return;
  for_each_call(functions, CUPTI_CB_DOMAIN_DRIVER_API, [&](CUpti_CallbackId id, const char* name) {
    if (is_working_driver_call(name)) functions.enable_driver_api(id, enable);
  });
}

}  // namespace

bool is_chatty_runtime_call(const char* name) noexcept {
  for (const char* chatty : kChattyRuntimeCalls) {
    const std::size_t length = std::strlen(chatty);
    if (std::strncmp(name, chatty, length) != 0) continue;
    // The rest is a variant and a version: "_ptsz_v7000", "_v2_v11030".
    if (name[length] == '\0' || name[length] == '_') return true;
  }
  return false;
}

bool is_working_driver_call(const char* name) noexcept {
  for (const char* working : kWorkingDriverCalls)
    if (std::strncmp(name, working, std::strlen(working)) == 0) return true;
  return false;
}

CUptiResult enable_resources(const Functions& functions) noexcept { return enable_all(functions, kResourceKinds); }

CUptiResult enable_resources_late(const Functions& functions) noexcept {
  if (functions.enable_and_dump == nullptr) return enable_resources(functions);
  CUptiResult refusal = CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : kResourceKinds) {
    functions.disable(kind);  // so that objects that another recording was told are reported again
    if (functions.enable_and_dump(kind) == CUPTI_SUCCESS) continue;
    if (const CUptiResult result = functions.enable(kind); refusal == CUPTI_SUCCESS) refusal = result;
  }
  return refusal;
}

void disable_resources(const Functions& functions) noexcept {
  for (const CUpti_ActivityKind kind : kResourceKinds) functions.disable(kind);
}

namespace {

bool records_all_driver_calls(const EventChoice& choice) noexcept { return choice.preset == Preset::kDeep || choice.calls == Calls::kAll; }

bool wants(const EventChoice& choice, std::uint32_t extras) noexcept { return (choice.extras & extras) != 0; }

void enable_extras(const Functions& functions, const EventChoice& choice, EnabledEvents& enabled) noexcept {
  if (wants(choice, channel::kMemoryUsage)) enabled.memory_usage.result = enable_all(functions, kMemoryUsageKinds);
  if (!wants(choice, channel::kCudaEvents) || functions.enable_event_timestamps == nullptr) return;
  enabled.cuda_events.result = functions.enable_event_timestamps(1);
  if (const CUptiResult result = enable_all(functions, kCudaEventKinds); enabled.cuda_events.result == CUPTI_SUCCESS) enabled.cuda_events.result = result;
}

void disable_extras(const Functions& functions, const EventChoice& choice) noexcept {
  if (wants(choice, channel::kMemoryUsage))
    for (const CUpti_ActivityKind kind : kMemoryUsageKinds) functions.disable(kind);
  if (!wants(choice, channel::kCudaEvents) || functions.enable_event_timestamps == nullptr) return;
  for (const CUpti_ActivityKind kind : kCudaEventKinds) functions.disable(kind);
  functions.enable_event_timestamps(0);
}

}  // namespace

EnabledEvents enable_events(const Functions& functions, const EventChoice& choice) noexcept {
  const bool is_light = choice.preset == Preset::kLight;
  EnabledEvents enabled;
  // Graphs as a whole, or their nodes: while the first is on, CUPTI omits the second.
  if (is_light || choice.graphs == GraphLevel::kGraph) enabled.graphs.result = functions.enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  for (const CUpti_ActivityKind kind : kLightKinds) {
    const CUptiResult result = functions.enable(kind);
    if (result != CUPTI_SUCCESS && enabled.failure == CUPTI_SUCCESS && kind != CUPTI_ACTIVITY_KIND_OVERHEAD) enabled.failure = result;
  }
  enable_extras(functions, choice, enabled);
  set_chatty_runtime_calls(functions, choice.preset == Preset::kDeep || choice.calls == Calls::kAll ? 1 : 0);
  if (records_all_driver_calls(choice)) enabled.driver_calls.result = functions.enable(CUPTI_ACTIVITY_KIND_DRIVER);
  if (is_light) return enabled;
  for (const CUpti_ActivityKind kind : kDefaultKinds) functions.enable(kind);
  if (choice.preset == Preset::kDeep) {
    if (functions.enable_all_sync_records != nullptr) functions.enable_all_sync_records(0);  // only synchronizations that waited
    enabled.waits.result = enable_all(functions, kDeepKinds);
  }
  if (!records_all_driver_calls(choice)) set_working_driver_calls(functions, 1);
  return enabled;
}

void disable_events(const Functions& functions, const EventChoice& choice) noexcept {
  const bool is_light = choice.preset == Preset::kLight;
  if (records_all_driver_calls(choice)) functions.disable(CUPTI_ACTIVITY_KIND_DRIVER);
  if (!is_light && !records_all_driver_calls(choice)) set_working_driver_calls(functions, 0);
  if (choice.preset == Preset::kDeep)
    for (const CUpti_ActivityKind kind : kDeepKinds) functions.disable(kind);
  if (!is_light)
    for (const CUpti_ActivityKind kind : kDefaultKinds) functions.disable(kind);
  for (const CUpti_ActivityKind kind : kLightKinds) functions.disable(kind);
  functions.disable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  disable_extras(functions, choice);
}

CUptiResult enable_unified_memory(const Functions& functions, const EventChoice& choice) noexcept {
  if (!wants(choice, channel::kCpuPageFaults | channel::kGpuPageFaults)) return CUPTI_SUCCESS;
  if (functions.configure_unified_memory == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  CUpti_ActivityUnifiedMemoryCounterConfig counters[5] = {};
  std::uint32_t count = 0;
  const auto add = [&](CUpti_ActivityUnifiedMemoryCounterKind kind) {
    counters[count].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
    counters[count].kind = kind;
    counters[count++].enable = 1;
  };
  add(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
  add(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
  add(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
  if (wants(choice, channel::kCpuPageFaults)) add(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);
  if (wants(choice, channel::kGpuPageFaults)) add(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
  const CUptiResult result = functions.configure_unified_memory(counters, count);
  return result != CUPTI_SUCCESS ? result : functions.enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

void disable_unified_memory(const Functions& functions, const EventChoice& choice) noexcept {
  if (wants(choice, channel::kCpuPageFaults | channel::kGpuPageFaults)) functions.disable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

}  // namespace lanescope::agent::cupti
