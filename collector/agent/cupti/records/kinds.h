// Which of CUPTI's records are asked for.
#pragma once

#include <array>
#include <cstdint>

#include "agent/cupti/library/library.h"

namespace lanescope::agent::cupti {

// As numbered in trace.proto.
enum class Preset : std::uint32_t { kDefault = 0, kLight = 1, kDeep = 2 };
enum class GraphLevel : std::uint32_t { kNode = 0, kGraph = 1 };

// Devices, contexts and streams: always, because what happens later refers to them. Returns the first refusal, else CUPTI_SUCCESS.
CUptiResult enable_resources(const Functions& functions) noexcept;
// The same where CUDA was up before: what there is already is told as well, at once.
CUptiResult enable_resources_late(const Functions& functions) noexcept;
void disable_resources(const Functions& functions) noexcept;

enum class Calls { kTelling, kAll };  // those that say something about time, or all calls of the runtime and driver API
struct EventChoice {
  Preset preset = Preset::kDefault;
  GraphLevel graphs = GraphLevel::kNode;
  Calls calls = Calls::kTelling;
  std::uint32_t extras = 0;  // channel::CudaExtra bits
};

struct EnabledEvents {
  // What was asked for beyond GPU work and the calls of the runtime API.
  struct Extra {
    const char* are;  // how a sentence about it begins
    CUptiResult result = CUPTI_SUCCESS;
  };
  CUptiResult failure = CUPTI_SUCCESS;  // the first that keeps GPU work from being recorded
  Extra memory_usage{"Memory usage is"};
  Extra cuda_events{"CUDA events are"};
  Extra graphs{"CUDA graphs as a whole are"};
  Extra driver_calls{"Calls of the driver API are"};
  Extra waits{"Waits of streams and events are"};

  [[nodiscard]] std::array<Extra, 5> extras() const noexcept { return {memory_usage, cuda_events, graphs, driver_calls, waits}; }
};

// Everything that is an event.
EnabledEvents enable_events(const Functions& functions, const EventChoice& choice) noexcept;
// Requires: enabled with the same choice.
void disable_events(const Functions& functions, const EventChoice& choice) noexcept;

// Faults on pages of unified memory and what moves between the memories, as the choice's extras say. Requires: the driver is initialized,
// which from within cuInit it is not yet. Returns CUPTI_SUCCESS also where nothing of it is chosen.
CUptiResult enable_unified_memory(const Functions& functions, const EventChoice& choice) noexcept;
void disable_unified_memory(const Functions& functions, const EventChoice& choice) noexcept;

// Calls that take about a tenth of a microsecond, that programs make all the time, and that say nothing about time.
bool is_chatty_runtime_call(const char* name) noexcept;
// Driver calls that put work onto the GPU or wait for it, for programs that do not use the runtime API.
bool is_working_driver_call(const char* name) noexcept;

}  // namespace lanescope::agent::cupti
