#include "agent/cupti/backtraces.h"

#include <atomic>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <unwind.h>

#include "agent/channel/thread_writer.h"
#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/cupti/kinds.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::size_t kMaximumDepth = channel::kMaximumTextBytes / sizeof(std::uint64_t);
constexpr std::uint32_t kSampleOfCudaCall = 1;  // proto::SAMPLE_CUDA_CALL

// libgcc's, which CUPTI brings along: the agent's own would need a newer C library than it promises to run with.
struct Unwinder {
  _Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn, void*) = nullptr;
  _Unwind_Word (*address)(struct _Unwind_Context*) = nullptr;
};
constinit Unwinder unwinder;
constinit std::atomic<bool> can_unwind{false};

bool find_unwinder() noexcept {
  if (can_unwind.load(std::memory_order_acquire)) return true;
  void* library = dlopen("libgcc_s.so.1", RTLD_LAZY);
  if (library == nullptr) return false;
  unwinder.walk = reinterpret_cast<decltype(unwinder.walk)>(dlsym(library, "_Unwind_Backtrace"));
  unwinder.address = reinterpret_cast<decltype(unwinder.address)>(dlsym(library, "_Unwind_GetIP"));
  const bool found = unwinder.walk != nullptr && unwinder.address != nullptr;
  can_unwind.store(found, std::memory_order_release);
  return found;
}

struct Chain {
  std::uint64_t addresses[kMaximumDepth];
  std::size_t depth = 0;
};

_Unwind_Reason_Code add_frame(struct _Unwind_Context* context, void* data) {
  auto& chain = *static_cast<Chain*>(data);
  if (chain.depth == kMaximumDepth) return _URC_END_OF_STACK;
  chain.addresses[chain.depth++] = unwinder.address(context);
  return _URC_NO_REASON;
}

[[gnu::noinline]] void write_chain(ThreadWriter& writer, std::int64_t start, std::int64_t duration, std::uint32_t correlation) noexcept {
  const Quiet quiet;
  Chain chain;
  unwinder.walk(add_frame, &chain);
  channel::Record record{};
  record.type = channel::RecordType::kCallChain;
  record.category = kSampleOfCudaCall;
  record.time = start;
  record.id = static_cast<std::uint64_t>(duration);
  record.payload = correlation;
  writer.write(record, {reinterpret_cast<const char*>(chain.addresses), chain.depth * sizeof(chain.addresses[0])});
}

bool contains(std::string_view name, std::string_view part) noexcept { return name.find(part) != std::string_view::npos; }

template <typename Use>
void for_chosen_calls(const Functions& functions, std::uint32_t groups, Use use) noexcept {
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    const char* name = nullptr;
    for (CUpti_CallbackId id = 1; functions.get_callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr; ++id) {
      if (domain == CUPTI_CB_DOMAIN_DRIVER_API && !is_working_driver_call(name)) continue;
      if ((call_group(name) & groups) != 0) use(domain, id);
    }
  }
}

}  // namespace

std::uint32_t call_group(const char* name) noexcept {
  if (is_chatty_runtime_call(name)) return 0;
  const std::string_view text(name);
  if (contains(text, "Synchronize") || contains(text, "WaitEvent")) return channel::kSynchronizationCalls;
  if (contains(text, "Launch")) return channel::kKernelCalls;
  for (const std::string_view part : {"Memcpy", "Memset", "Malloc", "MemAlloc", "Free", "MemPrefetch", "HostAlloc"})
    if (contains(text, part)) return channel::kMemoryCalls;
  return channel::kOtherCalls;
}

void enable_backtraces(const Functions& functions, CUpti_SubscriberHandle subscriber, std::uint32_t groups) noexcept {
  if (groups == 0 || !find_unwinder()) return;
  for_chosen_calls(functions, groups,
                   [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) { functions.enable_callback(1, subscriber, domain, id); });
}

void disable_backtraces(const Functions& functions, CUpti_SubscriberHandle subscriber, std::uint32_t groups) noexcept {
  if (groups == 0) return;
  for_chosen_calls(functions, groups,
                   [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) { functions.enable_callback(0, subscriber, domain, id); });
}

void follow_call(CUpti_CallbackDomain domain, const CUpti_CallbackData& call) noexcept {
  if (!can_unwind.load(std::memory_order_acquire) || call.correlationData == nullptr) return;
  const std::int64_t now = monotonic_now();
  ThreadWriter writer;
  if (!writer) return;
  // A call of the runtime makes calls of the driver, which have its correlation id: one chain is enough.
  std::uint32_t& outer = writer.state().followed_call;
  const bool is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (!is_runtime && outer == call.correlationId) return;
  if (call.callbackSite == CUPTI_API_ENTER) {
    *call.correlationData = static_cast<std::uint64_t>(now);
    if (is_runtime) outer = call.correlationId;
    return;
  }
  const auto start = static_cast<std::int64_t>(*call.correlationData);
  if (start == 0) return;  // it began before it was asked about
  const channel::Settings& settings = writer.settings();
  if (settings.recording.load(std::memory_order_relaxed) == 0) return;
  if (now - start >= settings.backtrace_threshold_ns.load(std::memory_order_relaxed))
    write_chain(writer, start, now - start, call.correlationId);
}

}  // namespace lanescope::agent::cupti
