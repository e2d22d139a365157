// Code of GPUs, which a trace file may bring from any source.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz_target.h"
#include "model/kernels/code/cubin.h"

std::vector<std::string> valid_inputs() {
  std::ifstream file(LANESCOPE_FUZZ_CUBIN, std::ios::binary);
  return {{std::istreambuf_iterator<char>(file), {}}};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lanescope::kernels;
  const auto cubin = Cubin::read(std::string(reinterpret_cast<const char*>(data), size));
  if (!cubin) return 0;
  std::size_t asked = 0;
  for (const CubinFunction& function : cubin->functions()) {
    if (cubin->code(function).size() > size) __builtin_trap();
    for (std::uint64_t pc = 0; pc < 4096 && ++asked < 4096; pc += kInstructionBytes)
      if (cubin->source(function, pc).size() > 64) __builtin_trap();
  }
  return 0;
}
