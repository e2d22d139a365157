// The records that are requested from CUPTI.
#pragma once

#include <array>
#include <cstdint>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

// As numbered in trace.proto.
enum class Preset : std::uint32_t { kDefault = 0, kLight = 1, kDeep = 2 };
enum class GraphLevel : std::uint32_t { kNode = 0, kGraph = 1 };

// Devices, contexts and streams are always requested, because later records refer to them. Returns the first refusal, otherwise CUPTI_SUCCESS.
CUptiResult enable_resources(const Functions& functions) noexcept;
// The same if CUDA was initialized before: existing objects are also reported, at once.
CUptiResult enable_resources_late(const Functions& functions) noexcept;
void disable_resources(const Functions& functions) noexcept;

enum class Calls { kTelling, kAll };  // kTelling: calls that say something about time; kAll: all calls of the runtime and driver API
struct EventChoice {
  Preset preset = Preset::kDefault;
  GraphLevel graphs = GraphLevel::kNode;
  Calls calls = Calls::kTelling;
  std::uint32_t extras = 0;  // channel::CudaExtra bits
};

struct EnabledEvents {
  // Requested records beyond GPU work and the calls of the runtime API.
  struct Extra {
    const char* are;  // the beginning of a sentence about it
    CUptiResult result = CUPTI_SUCCESS;
  };
  CUptiResult failure = CUPTI_SUCCESS;  // the first one that prevents recording of GPU work
  Extra memory_usage{"Memory usage is"};
  Extra cuda_events{"CUDA events are"};
  Extra graphs{"CUDA graphs as a whole are"};
  Extra driver_calls{"Calls of the driver API are"};
  Extra waits{"Waits of streams and events are"};

  [[nodiscard]] std::array<Extra, 5> extras() const noexcept { return {memory_usage, cuda_events, graphs, driver_calls, waits}; }
};

// Requests all events.
EnabledEvents enable_events(const Functions& functions, const EventChoice& choice) noexcept;
// Requires: enabled with the same choice.
void disable_events(const Functions& functions, const EventChoice& choice) noexcept;

// Page faults of unified memory and its migrations between memories, as the choice's extras say. Requires: the driver is initialized, which is not yet the case
// within cuInit. Returns CUPTI_SUCCESS also if none of them is chosen.
CUptiResult enable_unified_memory(const Functions& functions, const EventChoice& choice) noexcept;
void disable_unified_memory(const Functions& functions, const EventChoice& choice) noexcept;

// Calls that take about a tenth of a microsecond, that programs make very often, and that say nothing about time.
bool is_chatty_runtime_call(const char* name) noexcept;
// Driver calls that put work onto the GPU or wait for it, for programs that do not use the runtime API.
bool is_working_driver_call(const char* name) noexcept;

}  // namespace lanescope::agent::cupti
