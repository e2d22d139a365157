#include "agent/cupti/backtraces.h"

#include <atomic>
#include <string_view>

#include "agent/channel/thread_writer.h"
#include "agent/core/call_chain.h"
#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/cupti/records/kinds.h"

namespace lanescope::agent::cupti {
namespace {

constexpr std::uint32_t kSampleOfCudaCall = 1;  // proto::SAMPLE_CUDA_CALL

constinit std::atomic<std::uint32_t> chosen_groups{0};

[[gnu::noinline]] void write_chain(ThreadWriter& writer, std::int64_t start, std::int64_t duration, std::uint32_t correlation) noexcept {
  const Quiet quiet;
  const CallChain chain;
  channel::Record record{};
  record.type = channel::RecordType::kCallChain;
  record.category = kSampleOfCudaCall;
  record.time = start;
  record.id = static_cast<std::uint64_t>(duration);
  record.payload = correlation;
  writer.write(record, chain.text());
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
  if (groups == 0 || !prepare_call_chains()) return;
  chosen_groups.store(groups, std::memory_order_relaxed);
  for_chosen_calls(functions, groups, [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) { functions.enable_callback(1, subscriber, domain, id); });
}

void disable_backtraces(const Functions& functions, CUpti_SubscriberHandle subscriber, std::uint32_t groups) noexcept {
  if (groups == 0) return;
  chosen_groups.store(0, std::memory_order_relaxed);
  for_chosen_calls(functions, groups, [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) { functions.enable_callback(0, subscriber, domain, id); });
}

bool takes_chains_of(std::uint32_t group) noexcept { return (chosen_groups.load(std::memory_order_relaxed) & group) != 0; }

void follow_call(CUpti_CallbackDomain domain, const CUpti_CallbackData& call) noexcept {
  if (!can_take_call_chains() || call.correlationData == nullptr) return;
  const std::int64_t called = monotonic_now();
  ThreadWriter writer;
  if (!writer) return;
  const std::int64_t now = writer.event_time(called);
  // A call of the runtime makes driver calls with the same correlation id: one chain is enough.
  std::uint32_t& outer = writer.state().own.followed_call;
  const bool is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (!is_runtime && outer == call.correlationId) return;
  if (call.callbackSite == CUPTI_API_ENTER) {
    *call.correlationData = static_cast<std::uint64_t>(now);
    if (is_runtime) outer = call.correlationId;
    return;
  }
  const auto start = static_cast<std::int64_t>(*call.correlationData);
  if (start == 0) return;  // it began before it was followed
  const channel::Settings& settings = writer.settings();
  if (settings.recording.load(std::memory_order_relaxed) == 0) return;
  if (now - start >= settings.backtrace_threshold_ns.load(std::memory_order_relaxed)) write_chain(writer, start, now - start, call.correlationId);
}

}  // namespace lanescope::agent::cupti
