#include "agent/cupti/callbacks.h"

#include <atomic>
#include <cstdlib>

#include <unistd.h>

#include "agent/channel/capture.h"
#include "agent/channel/membership.h"
#include "agent/core/quiet.h"
#include "agent/cupti/backtraces.h"
#include "agent/cupti/cuda_names.h"
#include "agent/cupti/launch_hold.h"
#include "agent/cupti/tracer.h"
#include "agent/kernel_counters/collection.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::uint64_t kProfilerCapture = 1;  // key of the capture between cudaProfilerStart and cudaProfilerStop

constexpr CUpti_CallbackId kProfilerCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};
// Calls that end contexts, and with them the records that CUPTI still keeps for them.
constexpr CUpti_CallbackId kContextEndingCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy,
                                                    CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2,
                                                    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset,
                                                    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2,
                                                    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease,
                                                    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2};

constinit std::atomic<Tracer*> tracer{nullptr};
constinit std::atomic<pid_t> traced_process{0};
constinit std::atomic<bool> watches_exit{false};

// Handlers run last in, first out: ours is registered after CUDA is initialized, so it runs before CUDA shuts down.
void watch_exit() noexcept {
  if (watches_exit.exchange(true)) return;
  std::atexit([] {
    if (Tracer* current = current_tracer()) current->finish();
  });
}

// A capture begins after cudaProfilerStart and ends before cudaProfilerStop.
void on_profiler_call(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  const channel::SharedMemory memory = join_recording();
  if (!memory) return;
  if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart && call.callbackSite == CUPTI_API_EXIT &&
      captures_by(memory.header().settings, channel::CaptureTrigger::kProfilerApi))
    begin_capture(memory.header(), kProfilerCapture);
  if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop && call.callbackSite == CUPTI_API_ENTER) end_capture(memory.header(), kProfilerCapture);
}

void on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  for (const CUpti_CallbackId profiler_call : kProfilerCalls)
    if (id == profiler_call) {
      on_profiler_call(id, call);
      return kernel_counters::follow_call(id, call);
    }
  wait_while_held(id, call);
  for (const CUpti_CallbackId ending : kContextEndingCalls)
    if (id == ending && call.callbackSite == CUPTI_API_ENTER && !Quiet::is_on()) {  // our own calls end no contexts
      kernel_counters::forget_contexts();
      if (Tracer* current = current_tracer()) return current->save_records();
    }
  kernel_counters::follow_call(id, call);
}

}  // namespace

void set_current_tracer(Tracer* current) noexcept {
  traced_process.store(getpid(), std::memory_order_relaxed);
  tracer.store(current, std::memory_order_release);
}

Tracer* current_tracer() noexcept { return tracer.load(std::memory_order_acquire); }
bool is_traced_process() noexcept { return getpid() == traced_process.load(std::memory_order_relaxed); }

void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* maximum_records) {
  *buffer = nullptr;
  *bytes = 0;
  *maximum_records = 0;
  watch_exit();
  if (Tracer* current = current_tracer()) current->request_buffer(buffer, bytes);
}
void CUPTIAPI on_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  if (Tracer* current = current_tracer()) current->complete_buffer(buffer, valid_bytes);
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) {
    watch_exit();
    if (Tracer* current = current_tracer()) current->note_driver();
  }
  if (data == nullptr) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
    if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED && resource.resourceDescriptor != nullptr) {
      const auto& module = *static_cast<const CUpti_ModuleResourceData*>(resource.resourceDescriptor);
      if (module.pCubin != nullptr) kernel_counters::follow_module({reinterpret_cast<const std::byte*>(module.pCubin), module.cubinSize});
    }
    Tracer* const current = current_tracer();
    if (current != nullptr) current->kernel_profiler().on_resource(id, resource);
    return;
  }
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    on_driver_call(id, call);
    if (is_for_holding_alone(id)) return;
  }
  if (follow_event_call(domain, id, call) && !takes_chains_of(channel::kOtherCalls)) return;
  follow_call(domain, call);
}

CUptiResult enable_callbacks(const Functions& functions, CUpti_SubscriberHandle subscriber) noexcept {
  CUptiResult refusal = CUPTI_SUCCESS;
  bool has_any = false;
  const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    const CUptiResult result = functions.enable_callback(1, subscriber, domain, id);
    result == CUPTI_SUCCESS ? void(has_any = true) : void(refusal = result);
  };
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
  for (const CUpti_CallbackId id : kProfilerCalls) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const CUpti_CallbackId id : kContextEndingCalls) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  if (kernel_counters::is_wanted()) kernel_counters::begin(reinterpret_cast<const void*>(functions.flush_all), subscriber);
  return has_any ? CUPTI_SUCCESS : refusal;
}

}  // namespace lanescope::agent::cupti
