#include "mock_state.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <unistd.h>

using namespace lanescope::test::mock_cupti;

namespace {

// The callback for this call, to be called without the lock; null: none.
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
      constexpr CUpti_CallbackId kLaunchKernel = 2;  // as in cuptiGetCallbackName
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
  if (!says("MOCK_CUPTI_LOSES", "faults of the GPU")) deliver_unified(m, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 2, now + 90);
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
  constexpr std::uint64_t kLongestWait = 10'000'000;  // so that the next stop comes after most of it
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

}  // extern "C"
