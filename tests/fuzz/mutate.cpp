// Drives a fuzz target over mutations of its valid inputs. Use: PROGRAM [COUNT]. The sequence is the same in every run.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "fuzz_target.h"

namespace {

std::string mutated(std::string input, std::mt19937& random) {
  const auto position = [&] { return input.empty() ? 0 : random() % input.size(); };
  for (unsigned changes = 1 + random() % 6; changes > 0; --changes) {
    switch (random() % 6) {
      case 0:
        input.resize(position());
        break;
      case 1:
        if (!input.empty()) input[position()] = static_cast<char>(random());
        break;
      case 2:
        if (!input.empty()) input[position()] ^= static_cast<char>(1u << random() % 8);
        break;
      case 3:
        input.insert(position(), std::string(1 + random() % 9, static_cast<char>(random())));
        break;
      case 4:
        if (const std::size_t at = position(); at + 4 <= input.size())
          input.replace(at, 4, 4, static_cast<char>(random() % 2 ? 0xff : 0x00));
        break;
      case 5:
        if (const std::size_t at = position(); at < input.size()) input.insert(position(), input.substr(at, random() % 200));
        break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 10'000;
  const auto inputs = valid_inputs();
  std::mt19937 random(1);
  for (long i = 0; i < count; ++i) {
    const std::string input = mutated(inputs[random() % inputs.size()], random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
  std::printf("%ld mutations of %zu inputs survived\n", count, inputs.size());
}
