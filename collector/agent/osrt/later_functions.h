// Functions of the C library that are newer than the oldest version that the agent runs with (glibc 2.27).
//
// If the agent is preloaded, it stands before them, so a program that asks if they exist finds them even if the C library has none. Then the functions here do
// the work.
#pragma once

namespace lanescope::agent::osrt {

// Null for functions that every C library has. Any thread.
[[nodiscard]] void* stand_in_for(const char* name) noexcept;

}  // namespace lanescope::agent::osrt
