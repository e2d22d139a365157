// A launch, from the data of CUPTI's callbacks.
#pragma once

#include <cstdint>
#include <string_view>

#include <cupti.h>

namespace lanescope::agent::kernel_counters {

enum class LaunchKind : std::uint8_t { kKernel, kCooperative, kGraph };

struct Launch {
  LaunchKind kind = LaunchKind::kKernel;
  std::string_view name;  // mangled; empty if unknown
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  std::uint32_t correlation = 0;
  std::uint32_t shape[7] = {};  // grid, block, bytes of dynamic shared memory
};

// Requires: `call` is a driver call that launches.
[[nodiscard]] Launch read_launch(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

// The meaning of a driver call for counting.
enum class CallKind : std::uint8_t { kOther, kLaunch, kBeginCapture, kEndCapture, kProfilerStart, kProfilerStop };
[[nodiscard]] CallKind call_kind(const char* name) noexcept;

// For this function and the next: requires that the call has returned.
[[nodiscard]] bool has_failed(const CUpti_CallbackData& call) noexcept;
// True if a call that should end a capture did so. A call for a stream that is not captured, or from a thread that may not end it, leaves all captures as they
// are.
[[nodiscard]] bool has_ended_capture(const CUpti_CallbackData& call) noexcept;

}  // namespace lanescope::agent::kernel_counters
