// Line tables of Python's code objects, as they lie in the memory of a process. The first two bytes give the version and the instruction.
#include <cstdlib>
#include <span>

#include "fuzz_target.h"
#include "line_table.h"

using namespace lanescope::python;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr LineTableFormat kFormats[] = {LineTableFormat::kSteps, LineTableFormat::kRanges, LineTableFormat::kLocations};
  const auto lines = decode_lines(kFormats[data[0] % 3], std::as_bytes(std::span(data + 2, size - 2)), data[0]);
  for (const std::uint32_t offset : {0u, 2u * data[1], 200u * data[1], ~0u}) (void)line_at(lines, offset, data[0]);
  return 0;
}

// Tables of the same loop as CPython 3.9, 3.10 and 3.11 write them.
std::vector<std::string> valid_inputs() {
  using namespace std::string_literals;
  return {"\0\2\0\1\10\1\4\377\2\2"s, "\1\3\4\1\6\1\2\200\10\376"s, "\2\4\200\0\331\4\20\220\1\372\0\1\2\203"s};
}
