#include "agent/kernel_counters/counting/counted_range.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "agent/core/clock.h"
#include "agent/core/quiet.h"
#include "agent/kernel_counters/choice/chosen_launches.h"
#include "agent/kernel_counters/records/records.h"
#include "agent/nvtx/included_range.h"

namespace lanescope::agent::kernel_counters {
namespace {

using channel::CounterOutcome;

constexpr std::int64_t kEndOfRange = 500 * kMillisecond;  // how long launches of other threads may take to return

// Waits until everything launched into the context has ended. Not during a capture, which the waiting would break.
bool await_end_of_kernels(CUcontext context) noexcept {
  const Functions& f = all().functions;
  if (captures.load() > 0 || f.push_context(context) != CUDA_SUCCESS) return false;
  const bool has_ended = f.synchronize() == CUDA_SUCCESS;
  CUcontext ours = nullptr;
  f.pop_context(&ours);
  return has_ended;
}

std::string_view name_of_range() noexcept {
  static char text[1100];
  const std::string_view name = nvtx::included_name();
  if (name == channel::kProfilerRange) return "cudaProfilerStart to cudaProfilerStop";
  const int length = std::snprintf(text, sizeof(text), "NVTX range %.*s", static_cast<int>(name.size()), name.data());
  return {text, std::min(static_cast<std::size_t>(length), sizeof(text) - 1)};
}

void leave_out_range(const char* reason) noexcept {
  Launch range;
  range.name = name_of_range();
  if (!std::exchange(all().range.has_told, true)) write_record(CounterOutcome::kLeftOut, range, {}, 0, reason, {});
}

// Requires: the gate is closed, and no range is counted.
void begin_range(const Launch& launch) noexcept {
  Collection& c = all();
  const channel::LaunchChoice& choice = c.plan.choice();
  const std::uint64_t place = c.fitting++;
  if (place < choice.skip || (choice.count != 0 && place - choice.skip >= choice.count)) return;
  ContextCounters* const counters = counters_of(launch.context);
  if (counters == nullptr && state.load() == State::kOn) leave_out_range(kTooManyContexts);
  if (counters == nullptr) return;
  const std::int64_t now = monotonic_now();
  if (const auto refusal = counters->begin(counters->sets().front())) return give_up(refusal);
  c.range.counters = counters;
  c.range.set = &counters->sets().front();
  c.range.correlation = launch.correlation;
  c.range.begin = monotonic_now();
  c.range.spent = static_cast<std::uint64_t>(c.range.begin - now);
  c.range.launches.store(0);
  c.range.is_lost.store(false);
  c.range.is_open.store(true);
}

// Requires: the gate is closed, and a range is counted.
void end_range() noexcept {
  Collection& c = all();
  const std::int64_t now = monotonic_now();
  c.range.is_open.store(false);
  ContextCounters& counters = *std::exchange(c.range.counters, nullptr);
  if (const auto refusal = counters.end()) return give_up(refusal);
  if (c.range.is_lost.load()) return leave_out_range("At the end of one, launches of other threads did not come back, or a CUDA graph was being captured.");
  if (counters.image().empty()) return leave_out_range("CUPTI did not count one of them whole.");
  Launch range;
  range.name = name_of_range();
  range.correlation = c.range.correlation;
  const Measurement measurement{&counters, c.range.set, c.table.new_group(), now, c.range.begin};
  write_record(CounterOutcome::kMeasured, range, measurement, c.range.spent + static_cast<std::uint64_t>(monotonic_now() - now), {}, counters.image());
  channel::KernelRecord record = record_of(range.name, range.correlation);
  place_in(counters.context(), record);
  write_kernel(record, range.name);
}

}  // namespace

void on_end_of_range() noexcept {
  Collection& c = all();
  if (state.load() == State::kOff || !c.range.is_open.load()) return;
  const Quiet quiet;
  // Other threads may have to launch what this context's kernels wait for.
  const bool have_ended = await_end_of_kernels(c.range.counters->context());
  bool is_alone = false;
  for (const std::int64_t give_up = monotonic_now() + kEndOfRange; have_ended && !is_alone && monotonic_now() < give_up;) is_alone = c.gate.close();
  if (!is_alone) return c.range.is_lost.store(true);
  if (c.range.is_open.load()) guarded([] { end_range(); });
  c.gate.open();
}

void follow_range(const Launch& launch) noexcept {
  Collection& c = all();
  if (c.range.is_open.load() && c.range.is_lost.load() && captures.load() == 0 && c.gate.close()) {
    if (c.range.is_open.load()) guarded([] { end_range(); });
    c.gate.open();
  }
  const std::uint32_t number = nvtx::times_included();
  if (nvtx::is_included() && c.range.number.load() != number && !c.range.is_open.load() && !is_captured(launch) && await_end_of_kernels(launch.context) &&
      c.gate.close()) {
    if (c.range.number.exchange(number) != number) guarded([&] { begin_range(launch); });
    c.gate.open();
  }
  if (c.range.is_open.load()) ++c.range.launches;
}

void forget_range() noexcept {
  Collection& c = all();
  if (!c.range.is_open.exchange(false)) return;
  c.range.counters = nullptr;
  leave_out_range("The program ended within one.");
}
}  // namespace lanescope::agent::kernel_counters
