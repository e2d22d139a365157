#include "agent/kernel_counters/collection.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>

#include "agent/channel/membership.h"
#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/core/system_calls.h"
#include "agent/kernel_counters/choice/chosen_launches.h"
#include "agent/kernel_counters/choice/launch.h"
#include "agent/kernel_counters/counting/counted_range.h"
#include "agent/kernel_counters/counting/measurement.h"
#include "agent/kernel_counters/state.h"
#include "agent/nvtx/included_range.h"

namespace lanescope::agent::kernel_counters {
namespace {

constexpr std::int64_t kPlanPatience = 20 * kSecond;  // for the host's plan, which takes as long as the driver takes to start

// The state of this thread's driver call in the gate.
enum class Passage : std::uint8_t { kNone, kEntered, kAlone };
constinit thread_local Passage passage = Passage::kNone;
constinit thread_local std::uint8_t depth = 0;  // nesting depth of launches

constinit std::atomic<bool> is_profiler_started{false};
constexpr std::uint64_t kProfilerKey = ~std::uint64_t{0};  // key of this range: no range of NVTX has it
constinit CallKind kinds[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};
constinit bool keeps_code = false;
constinit bool counts_ranges = false;

const char* folder() noexcept {
  const char* value = getenv(channel::kKernelCountersVariable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// The plan may not exist yet, and code is shown only once: so the host leaves notes as files without content.
bool has_word(const char* name) noexcept {
  const char* const place = folder();
  char path[4096];
  const int length = place == nullptr ? 0 : std::snprintf(path, sizeof(path), "%s/%s", place, name);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof(path)) return false;
  const int file = system::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  system::close(file);
  return true;
}

bool read_plan() noexcept {
  const char* const place = folder();
  const Plan::Found found = place == nullptr ? Plan::Found::kNone : all().plan.read(place, monotonic_now() + kPlanPatience);
  if (found == Plan::Found::kSenseless) {
    give_up("Counters of kernels are not read: the plan of what to count makes no sense to the program's agent.");
    return false;
  }
  if (found == Plan::Found::kNone) {
    state.store(State::kOver);  // the host reports the reason
    return false;
  }
  if (!all().file.open(place, process_instance())) {
    give_up("Counters of kernels are not read: the program can't write to the recording's folder.");
    return false;
  }
  CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
  if (const CUptiResult result = all().functions.initialize(&initialize); result != CUPTI_SUCCESS) {
    give_up({"cuptiProfilerInitialize", result});
    return false;
  }
  state.store(State::kOn);
  return true;
}

void enter(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  if (depth++ != 0) return;
  passage = Passage::kNone;
  Collection& c = all();
  const State before = state.load(std::memory_order_acquire);
  if (before == State::kOff || before == State::kOver) return;
  const Launch launch = read_launch(id, call);
  if (before == State::kWaiting && c.gate.close()) {
    if (state.load() == State::kWaiting) read_plan();
    c.gate.open();
    if (state.load() != State::kOn) return;
  }
  if (state.load() == State::kWaiting) {
    // Another thread is reading the plan, and may then measure its own launch.
  } else if (counts_ranges) {
    follow_range(launch);
  } else if (launch.kind == LaunchKind::kGraph) {
    name_graph(launch);
  } else if (is_captured(launch)) {
    name_captured(launch);
  } else {
    LaunchEntry* entry = choose(launch);
    const bool is_alone = entry != nullptr && c.gate.close();
    if (entry != nullptr && !is_alone && c.plan.choice().is_sampled == 0)
      leave_out(*entry, launch, "Other threads were launching, at one launch of it at least.");
    if (is_alone) {
      passage = Passage::kAlone;
      if (begin_measurement(launch, *entry)) return;
      c.gate.open();
    }
  }
  passage = Passage::kEntered;
  if (c.gate.enter()) return;
  give_up("Counters of kernels are not read from here on: a launch that was measured kept others waiting, and may wait for them.");
}

void leave(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  if (depth == 0 || --depth != 0) return;
  Collection& c = all();
  switch (passage) {
    case Passage::kNone:
      return;
    case Passage::kEntered:
      c.gate.leave();
      break;
    case Passage::kAlone:
      end_measurement(read_launch(id, call));
      c.gate.open();
      break;
  }
  passage = Passage::kNone;
}

}  // namespace

bool is_wanted() noexcept { return folder() != nullptr; }

bool excludes_activity() noexcept { return keeps_code || counts_ranges; }

void begin(const void* function_of_cupti, CUpti_SubscriberHandle subscriber) noexcept {
  if (state.load() != State::kOff) return;
  Functions functions;
  const bool has_all = resolve(function_of_cupti, functions);
  Collection& c = make(functions);
  forget_measured();
  if (!has_all) {
    state.store(State::kWaiting);
    return give_up("Counters of kernels are not read: this CUPTI is older than CUDA 12.6. Name another one in LANESCOPE_CUPTI_LIBRARY.");
  }
  const char* name = nullptr;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    if (c.functions.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    kinds[id] = call_kind(name);
    if (kinds[id] != CallKind::kOther) c.functions.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  counts_ranges = has_word(channel::kCounterRangesFile);
  if (counts_ranges && !has_ranges(functions)) {
    state.store(State::kWaiting);
    return give_up("Counters of ranges are not read: this CUPTI or this driver can't count them.");
  }
  if (counts_ranges) nvtx::at_end_of_included(on_end_of_range);
  keeps_code = functions.get_cubin_crc != nullptr && has_word(channel::kCounterCodeFile);
  if (keeps_code) c.functions.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  state.store(State::kWaiting);
}

void follow_module(std::span<const std::byte> image) noexcept {
  if (!keeps_code || state.load(std::memory_order_relaxed) == State::kOff) return;
  const Quiet quiet;
  if (cupti::call_cupti([&] { all().code.add(image); }) == Guarded::kFaulted)
    give_up("Instructions of kernels are not counted from here on: CUPTI faulted when it was shown their code. The program runs on.");
}

void follow_call(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  if (id >= CUPTI_DRIVER_TRACE_CBID_SIZE || state.load(std::memory_order_relaxed) == State::kOff) return;
  const bool is_begin = call.callbackSite == CUPTI_API_ENTER;
  const Quiet quiet;
  switch (kinds[id]) {
    case CallKind::kLaunch:
      return is_begin ? enter(id, call) : leave(id, call);
    case CallKind::kBeginCapture:
      // A capture that did not begin does not count.
      if (is_begin)
        ++captures;
      else if (has_failed(call))
        --captures;
      return;
    case CallKind::kEndCapture:
      if (!is_begin && captures > 0 && has_ended_capture(call)) --captures;
      return;
    // After cudaProfilerStart and before cudaProfilerStop; each may be called several times.
    case CallKind::kProfilerStart:
      if (!is_begin && !has_failed(call) && !is_profiler_started.exchange(true)) nvtx::begin_profiler_range(kProfilerKey);
      return;
    case CallKind::kProfilerStop:
      if (is_begin && is_profiler_started.exchange(false)) nvtx::end_included(kProfilerKey);
      return;
    case CallKind::kOther:
      return;
  }
}

void forget_contexts() noexcept {
  if (state.load() == State::kOff) return;
  Collection& c = all();
  if (!c.gate.close()) return;
  forget_range();
  for (ContextCounters& each : c.contexts)
    if (each.context() != nullptr) static_cast<void>(cupti::call_cupti([&] { each.close(); }));
  c.gate.open();
}

void forget_all() noexcept {
  is_profiler_started.store(false);
  if (state.exchange(State::kOff) != State::kOff) all().file.leave();
}
}  // namespace lanescope::agent::kernel_counters
