#include "agent/cupti/cuda_names.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>

#include <dlfcn.h>

#include "agent/core/loader/loader.h"
#include "agent/core/memory/arena.h"
#include "agent/core/quiet.h"
#include "agent/cupti/library/guarded_call.h"
#include "agent/nvtx/injection.h"
#include "agent/nvtx/names.h"
#include "agent/process/lock.h"

namespace lanescope::agent::cupti {
namespace {

using nvtx::CudaHandle;
using nvtx::CudaResource;

constexpr std::size_t kNamedEvents = 1024;      // events that have a name at the same time
constexpr std::size_t kAwaitedRecords = 4096;   // recordings of these whose CUPTI record has not arrived
constexpr std::size_t kNamesLimit = 16u << 20;  // bytes

constinit std::atomic<const Functions*> cupti{nullptr};

template <typename Function>
Function driver_function(const char* name) noexcept {
  void* driver = load_file("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (driver == nullptr) return nullptr;
  const auto function = reinterpret_cast<Function>(dlsym(driver, name));
  dlclose(driver);  // the program had loaded it before
  return function;
}

// The context of a stream; the current one for streams that every context has.
CUcontext context_of(CUstream stream) noexcept {
  CUcontext context = nullptr;
  if (const auto get = driver_function<CUresult (*)(CUstream, CUcontext*)>("cuStreamGetCtx"); get != nullptr) get(stream, &context);
  return context;
}

// ---- Events ------------------------------------------------------------------------------------------------------------------------

struct NamedEvent {
  const void* handle = nullptr;
  std::string_view name;
};
struct AwaitedRecord {
  std::uint32_t correlation = 0;
  std::string_view name;
};
struct Events {
  Arena arena{kNamesLimit};
  NamedEvent named[kNamedEvents] = {};
  std::size_t named_count = 0;
  AwaitedRecord awaited[kAwaitedRecords] = {};  // by correlation id: a new one replaces an older one
};
constinit Events events;
constinit Lock events_lock;
constinit std::atomic<bool> has_names{false};  // true from the first name on: without names, nobody needs the lock

NamedEvent* find_event(const void* handle) noexcept {
  NamedEvent* const end = events.named + events.named_count;
  NamedEvent* const found = std::find_if(events.named, end, [handle](const NamedEvent& event) { return event.handle == handle; });
  return found == end ? nullptr : found;
}

void name_event(const void* handle, std::string_view name) noexcept {
  const ScopedLock lock(events_lock);
  NamedEvent* event = find_event(handle);
  if (event == nullptr && events.named_count < kNamedEvents) event = &events.named[events.named_count++];
  if (event != nullptr) *event = {handle, events.arena.copy(name)};
  has_names.store(true, std::memory_order_release);
}

void forget_event(const void* handle) noexcept {
  const ScopedLock lock(events_lock);
  NamedEvent* event = find_event(handle);
  if (event != nullptr) *event = events.named[--events.named_count];
}

void await_record(const void* handle, std::uint32_t correlation) noexcept {
  const ScopedLock lock(events_lock);
  if (const NamedEvent* event = find_event(handle); event != nullptr) events.awaited[correlation % kAwaitedRecords] = {correlation, event->name};
}

struct EventCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  enum class Use { kRecords, kDestroys } use;
};
// The event is the first parameter of each.
constexpr EventCall kEventCalls[] = {{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, EventCall::Use::kRecords},
                                     {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000, EventCall::Use::kRecords},
                                     {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010, EventCall::Use::kRecords},
                                     {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_ptsz_v11010, EventCall::Use::kRecords},
                                     {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecord, EventCall::Use::kRecords},
                                     {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, EventCall::Use::kRecords},
                                     {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, EventCall::Use::kRecords},
                                     {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz, EventCall::Use::kRecords},
                                     {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventDestroy, EventCall::Use::kDestroys},
                                     {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2, EventCall::Use::kDestroys}};

// ---- Contexts and streams ----------------------------------------------------------------------------------------------------------

// CUPTI's numbers of a context, and of a stream in it. They stay 0 if CUPTI has none.
struct Numbers {
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
};

Numbers numbers_of(const Functions& functions, CudaHandle kind, void* handle) noexcept {
  const auto stream = static_cast<CUstream>(handle);
  const CUcontext context = kind == CudaHandle::kContext ? static_cast<CUcontext>(handle) : context_of(stream);
  Numbers numbers;
  if (context == nullptr || functions.get_context_id(context, &numbers.context) != CUPTI_SUCCESS) return {};
  if (kind == CudaHandle::kContext) return numbers;
  const bool has_stream = functions.get_stream_id != nullptr && functions.get_stream_id(context, stream, 0, &numbers.stream) == CUPTI_SUCCESS;
  return has_stream ? numbers : Numbers{};
}

void name_handle(CudaHandle kind, void* handle, std::string_view name) noexcept {
  const Functions* functions = cupti.load(std::memory_order_acquire);
  if (functions == nullptr) return;
  const Quiet quiet;
  if (kind == CudaHandle::kEvent) return name_event(handle, name);
  if (functions->get_context_id == nullptr) return;
  Numbers numbers;
  if (call_cupti([&] { numbers = numbers_of(*functions, kind, handle); }) == Guarded::kFaulted || numbers.context == 0) return;
  if (kind == CudaHandle::kContext) return name_cuda_resource(CudaResource::kContext, 0, numbers.context, name);
  name_cuda_resource(CudaResource::kStream, numbers.context, numbers.stream, name);
}

}  // namespace

void tell_cuda_names(const Functions& functions) noexcept {
  cupti.store(&functions, std::memory_order_release);
  nvtx::name_handles_with(name_handle);
}

void watch_event_calls(const Functions& functions, CUpti_SubscriberHandle subscriber, EventNames names) noexcept {
  for (const EventCall& call : kEventCalls) functions.enable_callback(names == EventNames::kFollowed ? 1 : 0, subscriber, call.domain, call.id);
}

bool follow_event_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  const auto* const known =
      std::find_if(std::begin(kEventCalls), std::end(kEventCalls), [&](const EventCall& each) { return each.domain == domain && each.id == id; });
  if (known == std::end(kEventCalls)) return false;
  if (!has_names.load(std::memory_order_acquire) || call.callbackSite != CUPTI_API_ENTER || call.functionParams == nullptr) return true;
  const void* handle = *static_cast<const void* const*>(call.functionParams);
  known->use == EventCall::Use::kDestroys ? forget_event(handle) : await_record(handle, call.correlationId);
  return true;
}

std::string_view name_of_recorded_event(std::uint32_t correlation) noexcept {
  if (!has_names.load(std::memory_order_acquire)) return {};
  const ScopedLock lock(events_lock);
  AwaitedRecord& record = events.awaited[correlation % kAwaitedRecords];
  return record.correlation == correlation ? record.name : std::string_view();
}

void forget_cuda_names() noexcept {
  cupti.store(nullptr, std::memory_order_release);
  has_names.store(false, std::memory_order_release);
  events.named_count = 0;
}

}  // namespace lanescope::agent::cupti
