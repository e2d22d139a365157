// Changes bytes at random, where libFuzzer does not; also for LLVMFuzzerMutate().
#pragma once

#include <random>
#include <string>

namespace lanescope::fuzz {

// One to six changes: cut, set, flipped, inserted and repeated bytes.
[[nodiscard]] std::string changed_bytes(std::string input, std::mt19937& random);

}  // namespace lanescope::fuzz
