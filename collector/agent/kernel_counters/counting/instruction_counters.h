// Exact counts of each instruction of a launch, by code that CUPTI adds to its kernel (SASS Metrics API). For one CUDA context, one launch at a time. One
// thread at a time.
//
// CUPTI adds its code when a kernel is first launched, and removes it after the launch, so other launches run as usual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/core/memory/page_buffer.h"
#include "agent/kernel_counters/counting/functions.h"
#include "agent/kernel_counters/counting/refusal.h"
#include "agent/kernel_counters/plan.h"
#include "agent/kernels/code_objects.h"
#include "collector/channel/kernel_counters.h"

namespace lanescope::agent::kernel_counters {

class InstructionCounters {
 public:
  // Metrics that the chip lacks are left out; refused if it has none. Code that was counted is marked as wanted. `code`, the set and the functions outlive
  // *this.
  Refusal open(const Functions& functions, CUcontext context, std::uint32_t device, const char* chip, const Set& set, kernels::CodeObjects& code) noexcept;

  // Kernels that are launched between begin() and end() are counted; there should be exactly one. end() waits for it. Requires: its context is current.
  Refusal begin() noexcept;
  Refusal end() noexcept;
  // An InstructionImage (collector/channel/kernel_counters.h). Requires: end() refused nothing. Empty if nothing was counted.
  [[nodiscard]] std::span<const std::byte> image() const noexcept { return image_.bytes(); }

 private:
  static constexpr std::size_t kMostMetrics = 64;
  static constexpr std::size_t kMostInstructions = 1u << 22;  // of all functions that were launched

  Refusal take() noexcept;
  void read(std::span<const CUpti_SassMetrics_Data> instructions, std::size_t values) noexcept;
  [[nodiscard]] std::uint32_t function(const CUpti_SassMetrics_Data& instruction) noexcept;

  const Functions* functions_ = nullptr;
  kernels::CodeObjects* code_ = nullptr;
  CUcontext context_ = nullptr;
  std::uint64_t ids_[kMostMetrics] = {};
  std::uint32_t metrics_ = 0;
  std::uint64_t known_ = 0;  // the available metrics, one bit each
  std::size_t known_count_ = 0;

  PageArray<CUpti_SassMetrics_Data> instructions_;
  PageArray<CUpti_SassMetrics_InstanceValue> values_;
  struct Function {
    channel::CountedFunction key;
    const char* name;
  };
  PageArray<Function> counted_functions_;
  PageArray<channel::InstructionRow> rows_;
  PageArray<std::uint64_t> sums_;
  PageBuffer image_;
};

}  // namespace lanescope::agent::kernel_counters
