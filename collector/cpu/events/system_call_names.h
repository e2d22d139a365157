// What calls of the kernel are called.
#pragma once

#include <cstdint>
#include <string>

namespace lanescope::cpu {

// "read" of 0; "system call 999" of one that was added later than this was built. 32-bit programs number theirs otherwise.
[[nodiscard]] std::string system_call_name(std::int64_t number);

}  // namespace lanescope::cpu
