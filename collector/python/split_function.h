// Parts of a function that the compiler placed elsewhere in the file, because it expects them to be rarely used.
#pragma once

#include <elf.h>

#include <istream>
#include <span>
#include <vector>

#include "interpreter_file.h"

namespace lanescope::python {

// Finds pieces of code with their own unwind information into whose middle the function jumps several times. This works without symbols; a file
// without symbols has no other hint. Empty for processors other than x86-64. O(size of the function × log number of functions).
[[nodiscard]] std::vector<AddressRange> find_parts_elsewhere(std::istream& file, std::span<const Elf64_Phdr> segments, const AddressRange& function);

}  // namespace lanescope::python
