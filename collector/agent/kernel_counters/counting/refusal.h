// Refusals of CUPTI.
#pragma once

#include <cupti.h>

namespace lanescope::agent::kernel_counters {

struct Functions;

// The step that CUPTI refused, and its error.
struct Refusal {
  const char* step = nullptr;  // null: nothing was refused
  CUptiResult result = CUPTI_SUCCESS;
  explicit operator bool() const noexcept { return step != nullptr; }
};

// Tells the user in one sentence why counters are not read, and what helps, if that is known.
void tell_refusal(const Refusal& refusal, const Functions& functions) noexcept;

}  // namespace lanescope::agent::kernel_counters
