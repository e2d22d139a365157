// Events that processors and the kernel count of programs: instructions, misses of caches, page faults.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lanescope::cpu {

struct CountedEvent {
  std::string_view name;   // as perf has it: "instructions"
  std::uint32_t type = 0;  // as perf_event_open has them, as the next
  std::uint64_t config = 0;
  bool in_kernel = false;        // it happens in the kernel alone, which takes the right to observe it
  std::string_view description;  // one sentence
};

// All that have names.
[[nodiscard]] std::span<const CountedEvent> counted_events() noexcept;
// One of these, or a number of the processor's manual, "r01c2". None for other names. The result refers to `name`.
[[nodiscard]] std::optional<CountedEvent> find_counted_event(std::string_view name) noexcept;
// Whether this machine counts it for this user. Asks the kernel.
[[nodiscard]] bool can_be_counted(const CountedEvent& event);

}  // namespace lanescope::cpu
