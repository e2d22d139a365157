// Counts in one CUDA context, one launch at a time, by CUPTI's range profiler or by code that it adds to kernels, as the plan says. One thread at a time.
#pragma once

#include <cstdint>
#include <span>

#include "agent/core/memory/page_buffer.h"
#include "agent/kernel_counters/counting/functions.h"
#include "agent/kernel_counters/counting/instruction_counters.h"
#include "agent/kernel_counters/counting/refusal.h"
#include "agent/kernel_counters/plan.h"

namespace lanescope::agent::kernel_counters {

class ContextCounters {
 public:
  // Code whose instructions are counted is marked as wanted.
  Refusal open(const Functions& functions, const Plan& plan, CUcontext context, kernels::CodeObjects& code) noexcept;
  void close() noexcept;  // call before the context ends

  [[nodiscard]] CUcontext context() const noexcept { return context_; }
  [[nodiscard]] const char* chip() const noexcept { return chip_; }
  // The plan's sets for its chip; may be empty in a further run of the program.
  [[nodiscard]] std::span<const Set> sets() const noexcept { return {sets_, count_}; }
  [[nodiscard]] bool is_planned() const noexcept { return is_planned_; }

  // The set that can be counted at once; counting another takes 40 ms, and a buffer of CUPTI's for good. Null at first.
  [[nodiscard]] const Set* configured() const noexcept { return configured_; }

  // Kernels that are launched between begin() and end() are counted: exactly one, or, if ranges are counted, any number, concurrently as usual.
  Refusal begin(const Set& set) noexcept;
  Refusal end() noexcept;
  // The counted data. Requires: end() refused nothing. Empty unless there was exactly one kernel or range, and something of it could be counted.
  [[nodiscard]] std::span<const std::byte> image() const noexcept;

 private:
  void keep_set_of_run() noexcept;
  Refusal enable() noexcept;
  void disable() noexcept;
  // Configures CUPTI to count this set, into an image for it.
  Refusal configure(const Set& set) noexcept;

  const Functions* functions_ = nullptr;
  CUcontext context_ = nullptr;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  char chip_[32] = {};
  Set sets_[Plan::kMostSets];
  std::size_t count_ = 0;
  bool is_planned_ = false;
  const Set* configured_ = nullptr;  // null: none since it was enabled
  PageBuffer image_;
  bool has_one_range_ = false;
  bool counts_ranges_ = false;
  channel::CounterKind kind_ = channel::CounterKind::kHardware;
  InstructionCounters instructions_;
};

}  // namespace lanescope::agent::kernel_counters
