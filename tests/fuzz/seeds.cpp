// Writes the valid inputs of a target as files into the folder named by LANESCOPE_FUZZ_SEEDS, and ends: libFuzzer starts with them.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fuzz_target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("LANESCOPE_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  std::size_t number = 0;
  for (const std::string& input : valid_inputs()) std::ofstream(std::filesystem::path(folder) / ("seed" + std::to_string(number++)), std::ios::binary) << input;
  std::exit(0);
}
