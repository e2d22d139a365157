// A launch, as CUPTI's callbacks tell of it.
#pragma once

#include <cstdint>
#include <string_view>

#include <cupti.h>

namespace lanescope::agent::kernel_counters {

enum class LaunchKind : std::uint8_t { kKernel, kCooperative, kGraph };

struct Launch {
  LaunchKind kind = LaunchKind::kKernel;
  std::string_view name;  // mangled; empty where it is not known
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  std::uint32_t correlation = 0;
  std::uint32_t shape[7] = {};  // grid, block, bytes of dynamic shared memory
};

// Requires: `call` is of a call of the driver that launches.
[[nodiscard]] Launch read_launch(CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

// What a call of the driver means for those who count.
enum class CallKind : std::uint8_t { kOther, kLaunch, kBeginCapture, kEndCapture, kProfilerStart, kProfilerStop };
[[nodiscard]] CallKind call_kind(const char* name) noexcept;

// Requires, of both: the call has returned.
[[nodiscard]] bool has_failed(const CUpti_CallbackData& call) noexcept;
// Whether a call that was to end a capture did: one for a stream that is in none, or from a thread that may not, leaves all captures as they are.
[[nodiscard]] bool has_ended_capture(const CUpti_CallbackData& call) noexcept;

}  // namespace lanescope::agent::kernel_counters
