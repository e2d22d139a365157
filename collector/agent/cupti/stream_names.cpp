#include "agent/cupti/stream_names.h"

#include <atomic>

#include <dlfcn.h>

#include "agent/channel/membership.h"
#include "agent/core/quiet.h"
#include "agent/nvtx/injection.h"

namespace lanescope::agent::cupti {
namespace {

constinit std::atomic<const Functions*> cupti{nullptr};

template <typename Function>
Function driver_function(const char* name) noexcept {
  void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (driver == nullptr) return nullptr;
  const auto function = reinterpret_cast<Function>(dlsym(driver, name));
  dlclose(driver);  // it was there before
  return function;
}

// The context that a stream is of; the current one for streams that every context has.
CUcontext context_of(CUstream stream) noexcept {
  CUcontext context = nullptr;
  if (const auto get = driver_function<CUresult (*)(CUstream, CUcontext*)>("cuStreamGetCtx"); get != nullptr) get(stream, &context);
  return context;
}

void tell(void* handle, std::string_view name) noexcept {
  const Functions* functions = cupti.load(std::memory_order_acquire);
  if (functions == nullptr) return;
  const Quiet quiet;
  const auto stream = static_cast<CUstream>(handle);
  const CUcontext context = context_of(stream);
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  if (context == nullptr || functions->get_context_id(context, &context_id) != CUPTI_SUCCESS) return;
  if (functions->get_stream_id(context, stream, 0, &stream_id) != CUPTI_SUCCESS) return;
  channel::Record record{};
  record.type = channel::RecordType::kStreamName;
  record.category = context_id;
  record.id = stream_id;
  write_metadata(record, name);
}

}  // namespace

void tell_stream_names(const Functions& functions) noexcept {
  if (functions.get_context_id == nullptr || functions.get_stream_id == nullptr) return;
  cupti.store(&functions, std::memory_order_release);
  nvtx::name_streams_with(tell);
}

}  // namespace lanescope::agent::cupti
