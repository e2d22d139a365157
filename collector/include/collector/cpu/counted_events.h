// Events of programs that processors and the kernel count: instructions, cache misses, page faults.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lanescope::cpu {

struct CountedEvent {
  std::string_view name;   // as perf names it: "instructions"
  std::uint32_t type = 0;  // `type` and `config` are those of perf_event_open
  std::uint64_t config = 0;
  bool in_kernel = false;        // it happens only in the kernel, so observing kernel code must be permitted
  std::string_view description;  // one sentence
};

// All events that have names.
[[nodiscard]] std::span<const CountedEvent> counted_events() noexcept;
// Finds one of these by name, or accepts a raw number from the processor's manual, such as "r01c2". Nothing for other names. The result refers to
// `name`.
[[nodiscard]] std::optional<CountedEvent> find_counted_event(std::string_view name) noexcept;
// True if this machine counts the event for this user. Asks the kernel.
[[nodiscard]] bool can_be_counted(const CountedEvent& event);

}  // namespace lanescope::cpu
