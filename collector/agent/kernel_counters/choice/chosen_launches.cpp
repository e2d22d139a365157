#include "agent/kernel_counters/choice/chosen_launches.h"

#include <algorithm>

#include "agent/kernel_counters/choice/kernel_name.h"
#include "agent/kernel_counters/records/records.h"
#include "agent/nvtx/included_range.h"

namespace lanescope::agent::kernel_counters {
namespace {

using channel::CounterOutcome;

constexpr char kCaptured[] = "A CUDA graph was being captured, at one launch of it at least.";

// Requires: the table is locked.
void say_once(LaunchEntry& entry, const Launch& launch, std::string_view reason) noexcept {
  if (entry.was_left_out) return;
  entry.was_left_out = true;
  write_record(CounterOutcome::kLeftOut, launch, {}, 0, reason, {});
}

// True if launches of this kernel and shape were asked for, by its name or as a kind. Requires: the table is locked.
bool is_fitting(LaunchEntry& entry, const Launch& launch) noexcept {
  const Plan& plan = all().plan;
  if (entry.seen == 0) {
    const channel::ChosenKind* const chosen = plan.chosen(entry.key);
    entry.fits = plan.choice().kinds != 0 ? chosen != nullptr : plan.fits(launch.name);
    entry.second = chosen != nullptr ? chosen->second : channel::kUsualSecond;
  }
  return entry.fits;
}

}  // namespace

bool is_captured(const Launch& launch) noexcept {
  if (captures.load(std::memory_order_relaxed) > 0) return true;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return all().functions.is_capturing != nullptr && all().functions.is_capturing(launch.stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void name_captured(const Launch& launch) noexcept {
  const ScopedLock lock(table_lock);
  LaunchEntry* const entry = launch.name.empty() ? nullptr : all().table.find(launch);
  if (entry == nullptr || entry->was_left_out || !is_fitting(*entry, launch) || !nvtx::is_included()) return;
  // If some launches of each kind are measured, others of the kind serve as well.
  const bool is_measured = entry->groups > 0 || entry->group != 0;
  if (all().plan.choice().is_sampled == 0 || !is_measured) say_once(*entry, launch, kCaptured);
}

void name_graph(const Launch& launch) noexcept {
  Launch graph = launch;
  graph.name = "CUDA graph";
  const ScopedLock lock(table_lock);
  if (LaunchEntry* entry = nvtx::is_included() ? all().table.find(graph) : nullptr) say_once(*entry, graph, "Kernels of graphs are not measured one by one.");
}

LaunchEntry* choose(const Launch& launch) noexcept {
  Collection& c = all();
  const ScopedLock lock(table_lock);
  if (launch.name.empty()) return nullptr;
  LaunchEntry* entry = c.table.find(launch);
  if (entry == nullptr) {
    Launch further = launch;
    further.name = "Further kernels";
    say_once(c.further, further, "The program launches more kernels and shapes than are told from each other: 8192.");
    return nullptr;
  }
  const bool fits = is_fitting(*entry, launch);
  const std::uint64_t number = entry->seen++;
  if (!fits || !nvtx::is_included()) return nullptr;
  if (is_collective(launch.name)) {
    say_once(*entry, launch, "It is a kernel of collectives, which waits for other GPUs.");
    return nullptr;
  }
  // In a run of the program everything is counted in one pass, in which nothing is run again.
  if (launch.kind == LaunchKind::kCooperative && c.plan.replay() != channel::CounterReplay::kApplication) {
    say_once(*entry, launch, "It is launched cooperatively: its blocks wait for each other, or for other GPUs.");
    return nullptr;
  }
  const channel::LaunchChoice& choice = c.plan.choice();
  if (choice.is_sampled != 0) return number >= entry->due && !c.sets.is_to_wait(*entry) ? entry : nullptr;
  const std::uint64_t place = c.fitting++;
  if (place < choice.skip) return nullptr;
  // Launches that take the sets in turn count as one.
  if (choice.count != 0 && entry->group == 0 && c.table.groups() >= choice.count) return nullptr;
  return c.sets.is_to_wait(*entry) ? nullptr : entry;
}

void leave_out(LaunchEntry& entry, const Launch& launch, std::string_view reason) noexcept {
  const ScopedLock lock(table_lock);
  say_once(entry, launch, reason);
}

std::uint32_t group_of(LaunchEntry& entry) noexcept {
  const ScopedLock lock(table_lock);
  if (entry.group == 0) entry.group = all().table.new_group();
  return entry.group;
}

const Set* choose_set(const ContextCounters& counters, const LaunchEntry& entry) noexcept {
  const ScopedLock lock(table_lock);
  return all().sets.choose(counters, entry);
}

void advance(LaunchEntry& entry, const ContextCounters& counters, const Set& set) noexcept {
  const ScopedLock lock(table_lock);
  if (!complete(entry, counters, set)) return;
  entry.due = entry.groups++ == 0 && entry.second != 0 ? std::max(entry.second, entry.seen) : UINT64_MAX;
}
}  // namespace lanescope::agent::kernel_counters
