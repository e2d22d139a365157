// Parts of a function that the compiler put elsewhere in the file, as it does with what it takes to be seldom used.
#pragma once

#include <elf.h>

#include <istream>
#include <span>
#include <vector>

#include "interpreter_file.h"

namespace lanescope::python {

// Code with unwind information of its own into whose middle the function jumps several times: where the file has no symbols, nothing else
// tells of it. Needs no symbols. None for processors other than x86-64. O(size of the function × log number of functions).
[[nodiscard]] std::vector<AddressRange> find_parts_elsewhere(std::istream& file, std::span<const Elf64_Phdr> segments, const AddressRange& function);

}  // namespace lanescope::python
