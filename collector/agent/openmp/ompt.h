// The used part of OMPT, the interface for tools of OpenMP 5.0 (https://www.openmp.org/spec-html/5.0/openmpch4.html), whose binary form the specification
// fixes. No compiler's header is needed.
#pragma once

#include <cstdint>

extern "C" {

union ompt_data_t {
  std::uint64_t value;
  void* ptr;
};

using ompt_interface_fn_t = void (*)();
using ompt_function_lookup_t = ompt_interface_fn_t (*)(const char* name);
using ompt_initialize_t = int (*)(ompt_function_lookup_t lookup, int initial_device, ompt_data_t* tool_data);
using ompt_finalize_t = void (*)(ompt_data_t* tool_data);

struct ompt_start_tool_result_t {
  ompt_initialize_t initialize;
  ompt_finalize_t finalize;
  ompt_data_t tool_data;
};
}

namespace lanescope::agent::openmp {

enum Event : int {
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kWork = 20,
  kSyncRegion = 23,
  kMutexAcquire = 26,
  kMutexAcquired = 27,
};

enum class Endpoint : int { kBegin = 1, kEnd = 2, kBoth = 3 };

// Flags of a task when it is created.
inline constexpr int kIsImplicit = 0x2;
inline constexpr int kIsExplicit = 0x4;

// Why a thread leaves a task.
enum class Turn : int { kComplete = 1, kYield = 2, kCancel = 3, kDetach = 4, kEarlyFulfil = 5, kLateFulfil = 6, kSwitch = 7, kTaskwaitComplete = 8 };

}  // namespace lanescope::agent::openmp
