// Names of the kernel's system calls.
#pragma once

#include <cstdint>
#include <string>

namespace lanescope::cpu {

// "read" for 0; "system call 999" for a number that is newer than this build. 32-bit programs use other numbers.
[[nodiscard]] std::string system_call_name(std::int64_t number);

}  // namespace lanescope::cpu
