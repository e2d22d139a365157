// What CUPTI refused.
#pragma once

#include <cupti.h>

namespace lanescope::agent::kernel_counters {

// Which step CUPTI refused, and how.
struct Refusal {
  const char* step = nullptr;  // null: none was
  CUptiResult result = CUPTI_SUCCESS;
  explicit operator bool() const noexcept { return step != nullptr; }
};

}  // namespace lanescope::agent::kernel_counters
