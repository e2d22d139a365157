#include "agent/kernel_counters/counting/measurement.h"

#include <atomic>
#include <cstdio>
#include <span>
#include <string_view>

#include "agent/core/clock.h"
#include "agent/cupti/words.h"
#include "agent/kernel_counters/choice/chosen_launches.h"
#include "agent/kernel_counters/choice/kernel_name.h"
#include "agent/kernel_counters/collection.h"
#include "agent/kernel_counters/records/records.h"

namespace lanescope::agent::kernel_counters {
namespace {

using channel::CounterOutcome;
using cupti::tell;

constexpr std::int64_t kLongMeasurement = 10 * kSecond;
constinit std::atomic<std::int64_t> measuring_since{0};
constinit std::atomic<bool> told_of_long{false};

// The latest measured launches, so that their records are recognized.
constexpr std::size_t kRemembered = 4096;
constinit std::atomic<std::uint32_t> measured[kRemembered] = {};

// Returns true if the launch is being measured now.
bool start_counting(const Launch& launch, LaunchEntry& entry) noexcept {
  Collection& c = all();
  ContextCounters* counters = counters_of(launch.context);
  if (counters == nullptr) {
    if (state.load() == State::kOn) leave_out(entry, launch, kTooManyContexts);
    return false;
  }
  const Set* const set = choose_set(*counters, entry);
  if (set == nullptr) {
    if (c.sets.is_spent())
      give_up(
          "Counters of kernels are not read from here on: CUPTI can't change what it counts any more often in a process. The mode kernel "
          "counts all in the same launch.");
    return false;
  }
  const std::uint32_t group = group_of(entry);
  std::snprintf(c.running, sizeof(c.running), "%.*s", static_cast<int>(function_name(launch.name).size()), function_name(launch.name).data());
  measuring_since.store(monotonic_now());
  c.now = {counters, set, group, monotonic_now(), 0};
  if (const auto refusal = counters->begin(*set)) {
    give_up(refusal);
    measuring_since.store(0);
    return false;
  }
  write_begin(launch);
  c.now.started = monotonic_now();
  advance(entry, *counters, *set);
  measured[launch.correlation % kRemembered].store(launch.correlation);
  return true;
}

void finish_counting(const Launch& launch) noexcept {
  Collection& c = all();
  const auto refusal = c.now.counters->end();
  const auto spent = static_cast<std::uint64_t>(monotonic_now() - c.now.begin);
  measuring_since.store(0);
  if (refusal) {
    write_record(CounterOutcome::kLeftOut, launch, c.now, spent, "CUPTI could not end its counting.", {});
    return give_up(refusal);
  }
  const std::span<const std::byte> image = c.now.counters->image();
  if (image.empty())
    write_record(CounterOutcome::kLeftOut, launch, c.now, spent,
                 c.plan.kind() == channel::CounterKind::kInstructions ? "CUPTI could not count the instructions of its code."
                                                                      : "Something else ran on the GPU while it was counted.",
                 {});
  else {
    write_record(CounterOutcome::kMeasured, launch, c.now, spent, {}, image);
    if (c.plan.kind() == channel::CounterKind::kHardware) write_kernel(launch);
  }
  write_code();
  c.spent += spent;
  const std::uint64_t budget = c.plan.choice().budget;
  if (budget == 0 || c.spent < budget || state.exchange(State::kOver) == State::kOver) return;
  tell(DiagnosticKind::kKernelCounters, ComponentState::kRecording, Severity::kInformation,
       "Counters of kernels were read for %.1f s, as long as they may be: later launches are not measured. More: --kernels=counters:budget=60s",
       static_cast<double>(c.spent) / 1e9);
}

}  // namespace

bool begin_measurement(const Launch& launch, LaunchEntry& entry) noexcept {
  bool begun = false;
  return guarded([&] { begun = start_counting(launch, entry); }) && begun;
}

void end_measurement(const Launch& launch) noexcept {
  if (cupti::call_cupti([&] { finish_counting(launch); }) != Guarded::kFaulted) return;
  measuring_since.store(0);
  write_record(CounterOutcome::kLeftOut, launch, all().now, 0, "CUPTI faulted when it was to end its counting.", {});
  give_up_after_fault();
}

void forget_measured() noexcept {
  for (std::atomic<std::uint32_t>& each : measured) each.store(0, std::memory_order_relaxed);
}

bool take_record(const CUpti_ActivityKernel10& record) noexcept {
  if (state.load(std::memory_order_relaxed) == State::kOff || measured[record.correlationId % kRemembered].load() != record.correlationId) return false;
  if (record.start != 0 || record.end != 0) {
    write_kernel(record_of({}, record.correlationId), {});  // it is an event of the recording
    return false;
  }
  const std::string_view name = record.name != nullptr ? record.name : "";
  channel::KernelRecord kernel = record_of(name, record.correlationId);
  kernel.device = record.deviceId;
  kernel.context = record.contextId;
  kernel.stream = record.streamId;
  const auto set = [](std::uint32_t(&extent)[3], auto x, auto y, auto z) {
    extent[0] = static_cast<std::uint32_t>(x);
    extent[1] = static_cast<std::uint32_t>(y);
    extent[2] = static_cast<std::uint32_t>(z);
  };
  set(kernel.grid, record.gridX, record.gridY, record.gridZ);
  set(kernel.block, record.blockX, record.blockY, record.blockZ);
  set(kernel.cluster, record.clusterX, record.clusterY, record.clusterZ);
  kernel.registers_per_thread = record.registersPerThread;
  kernel.static_shared_memory = static_cast<std::uint32_t>(record.staticSharedMemory);
  kernel.dynamic_shared_memory = static_cast<std::uint32_t>(record.dynamicSharedMemory);
  kernel.local_memory_per_thread = record.localMemoryPerThread;
  kernel.shared_memory_executed = record.sharedMemoryExecuted;
  kernel.launch_type = record.launchType;
  kernel.cache_config = record.cacheConfig.both;
  kernel.local_memory_total = record.localMemoryTotal_v2;
  write_kernel(kernel, name);
  return true;
}

void watch() noexcept {
  const std::int64_t since = measuring_since.load();
  if (since == 0 || monotonic_now() - since < kLongMeasurement || told_of_long.exchange(true)) return;
  tell(ComponentState::kRecording, Severity::kWarning,
       "The kernel %.150s has run for %d s now that its counters are read. If it waits for another kernel, or for the program, it never ends: end the program, "
       "and record it without --kernels=counters (lanescope profile), or leave the kernel out with --kernel-name or count it with --replay-mode range "
       "(lanescope kernels).",
       all().running, static_cast<int>(kLongMeasurement / kSecond));
}
}  // namespace lanescope::agent::kernel_counters
