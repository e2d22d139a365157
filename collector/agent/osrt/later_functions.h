// Functions of the C library that came after the oldest one that the agent runs with (glibc 2.27).
//
// The agent stands before them wherever it is preloaded, so a program that asks whether they are there finds them also where the C library
// has none. Then these do what they say.
#pragma once

namespace lanescope::agent::osrt {

// Null for functions that every C library has. Any thread.
[[nodiscard]] void* stand_in_for(const char* name) noexcept;

}  // namespace lanescope::agent::osrt
