// What CUPTI refused.
#pragma once

#include <cupti.h>

namespace lanescope::agent::kernel_counters {

struct Functions;

// Which step CUPTI refused, and how.
struct Refusal {
  const char* step = nullptr;  // null: none was
  CUptiResult result = CUPTI_SUCCESS;
  explicit operator bool() const noexcept { return step != nullptr; }
};

// To the user, in one sentence: why counters are not read, and what helps where that is known.
void tell_refusal(const Refusal& refusal, const Functions& functions) noexcept;

}  // namespace lanescope::agent::kernel_counters
