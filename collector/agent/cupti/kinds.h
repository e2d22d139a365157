// Which of CUPTI's records are asked for.
#pragma once

#include <cstdint>

#include "agent/cupti/library.h"

namespace lanescope::agent::cupti {

// As numbered in trace.proto.
enum class Preset : std::uint32_t { kDefault = 0, kLight = 1, kDeep = 2 };
enum class GraphLevel : std::uint32_t { kNode = 0, kGraph = 1 };

// Devices, contexts and streams: always, because what happens later refers to them.
void enable_resources(const Functions& functions) noexcept;
// The same where CUDA was up before: what there is already is told as well, at once.
void enable_resources_late(const Functions& functions) noexcept;

enum class Calls { kTelling, kAll };  // those that say something about time, or all calls of the runtime and driver API
struct EventChoice {
  Preset preset = Preset::kDefault;
  GraphLevel graphs = GraphLevel::kNode;
  Calls calls = Calls::kTelling;
  std::uint32_t extras = 0;  // channel::CudaExtra bits
};

// Everything that is an event. Returns the first error that keeps GPU work from being recorded, else CUPTI_SUCCESS.
CUptiResult enable_events(const Functions& functions, const EventChoice& choice) noexcept;
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
