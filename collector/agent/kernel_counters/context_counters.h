// What counts in one CUDA context, one launch at a time: CUPTI's range profiler, or code that it adds to kernels, as the plan says. One
// thread at a time.
#pragma once

#include <cstdint>
#include <span>

#include "agent/core/memory/page_buffer.h"
#include "agent/kernel_counters/functions.h"
#include "agent/kernel_counters/instruction_counters.h"
#include "agent/kernel_counters/plan.h"
#include "agent/kernel_counters/refusal.h"

namespace lanescope::agent::kernel_counters {

class ContextCounters {
 public:
  // Code that instructions are counted of is marked as wanted.
  Refusal open(const Functions& functions, const Plan& plan, CUcontext context, kernels::CodeObjects& code) noexcept;
  void close() noexcept;  // before the context ends

  [[nodiscard]] CUcontext context() const noexcept { return context_; }
  [[nodiscard]] const char* chip() const noexcept { return chip_; }
  // Of the plan for its chip; none may be left for a further run of the program.
  [[nodiscard]] std::span<const Set> sets() const noexcept { return {sets_, count_}; }
  [[nodiscard]] bool is_planned() const noexcept { return is_planned_; }

  // The set that is counted at once; counting another takes 40 ms, and a buffer of CUPTI's for good. Null before the first.
  [[nodiscard]] const Set* configured() const noexcept { return configured_; }

  // Kernels that are launched between the two are counted: one should be, or, where ranges are, any number, beside each other as they are.
  Refusal begin(const Set& set) noexcept;
  Refusal end() noexcept;
  // What was counted. Requires: end() refused nothing. Empty where not exactly one kernel or range was there, or nothing of it could be counted.
  [[nodiscard]] std::span<const std::byte> image() const noexcept;

 private:
  void keep_set_of_run() noexcept;
  Refusal enable() noexcept;
  void disable() noexcept;
  // Has CUPTI count this set, into an image for it.
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
