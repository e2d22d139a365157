// The range profiler of one CUDA context: counts one launch at a time. One thread at a time.
#pragma once

#include <cstdint>
#include <span>

#include "agent/core/page_buffer.h"
#include "agent/kernel_counters/functions.h"
#include "agent/kernel_counters/plan.h"

namespace lanescope::agent::kernel_counters {

class ContextCounters {
 public:
  // Which step CUPTI refused, and how.
  struct Refusal {
    const char* step = nullptr;  // null: none was
    CUptiResult result = CUPTI_SUCCESS;
    explicit operator bool() const noexcept { return step != nullptr; }
  };

  Refusal open(const Functions& functions, const Plan& plan, CUcontext context) noexcept;
  void close() noexcept;  // before the context ends

  [[nodiscard]] CUcontext context() const noexcept { return context_; }
  [[nodiscard]] const char* chip() const noexcept { return chip_; }
  [[nodiscard]] std::span<const Set> sets() const noexcept { return {sets_, count_}; }

  // The set that is counted at once; counting another takes 40 ms, and a buffer of CUPTI's for good. Null before the first.
  [[nodiscard]] const Set* configured() const noexcept { return configured_; }

  // Kernels that are launched between the two are counted; one should be.
  Refusal begin(const Set& set) noexcept;
  Refusal end() noexcept;
  // What was counted. Requires: end() refused nothing. Empty where not exactly one kernel ran.
  [[nodiscard]] std::span<const std::byte> image() const noexcept;

 private:
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
  const Set* configured_ = nullptr;  // null: none since it was enabled
  PageBuffer image_;
  bool has_one_range_ = false;
};

}  // namespace lanescope::agent::kernel_counters
