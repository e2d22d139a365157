// The kinds of events in a Chrome trace, by their category. Internal to model/import.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "model/import/chrome_json.h"

namespace lanescope::importers {

// NVTX domains for PyTorch's own events.
enum Domain : std::uint32_t { kUserDomain = 0, kOperatorDomain = 1, kPythonDomain = 2, kProfilerDomain = 3, kMemoryDomain = 4 };
inline constexpr std::uint32_t kFirstNamedDomain = 16;  // first domain that events of our exports name
inline constexpr std::pair<std::uint32_t, std::string_view> kDomainNames[] = {
    {kOperatorDomain, kOperatorDomainName}, {kPythonDomain, kPythonDomainName}, {kProfilerDomain, "PyTorch profiler"}, {kMemoryDomain, "PyTorch memory"}};

enum class Category : std::uint8_t {
  kGeneric,
  kKernel,
  kCopyOrSet,
  kSynchronization,
  kRuntimeCall,
  kDriverCall,
  kOverhead,
  kOsRuntime,
  kCompilation,
  kThreadState,
  kUserRange,
  kOperator,
  kPython,
  kProfiler,
  kMemoryMark,
  kPageFault,
  kRepeated,  // repeats other events
};

inline constexpr std::string_view kUserCategory = "user_annotation";

// kGeneric for unknown names.
[[nodiscard]] Category category_of(std::string_view name) noexcept;

}  // namespace lanescope::importers
