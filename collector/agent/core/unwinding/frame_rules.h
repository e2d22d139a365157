// What an unwind table (.eh_frame) says about one place in the code: where the caller's registers are.
//
// The tables are those of loaded files and belong to the program's code, so they are trusted as an exception of the program trusts them. What they are applied
// to, registers and stack, is not.
#pragma once

#include "agent/core/unwinding/checked_memory.h"
#include "agent/core/unwinding/registers.h"

namespace lanescope::agent {

enum class Step { kDone, kAtEnd };

// Replaces the registers of a function by those of its caller. `entry`: the table's entry for registers.looked_up(); `function`: the address at which that
// entry begins. kAtEnd if there is no caller, if the memory that would tell can't be read, or if the entry has something that is unknown here; the registers
// then have any value.
Step step_to_caller(Registers& registers, const void* entry, std::uint64_t function, CheckedMemory& memory) noexcept;

}  // namespace lanescope::agent
