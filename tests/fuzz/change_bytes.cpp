#include "change_bytes.h"

#include <algorithm>
#include <cstring>

#include "fuzz_target.h"

namespace lanescope::fuzz {

std::string changed_bytes(std::string input, std::mt19937& random) {
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
        if (const std::size_t at = position(); at + 4 <= input.size()) input.replace(at, 4, 4, static_cast<char>(random() % 2 ? 0xff : 0x00));
        break;
      case 5:
        if (const std::size_t at = position(); at < input.size()) input.insert(position(), input.substr(at, random() % 200));
        break;
    }
  }
  return input;
}

}  // namespace lanescope::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  static std::mt19937 random(1);
  const std::string result = lanescope::fuzz::changed_bytes({reinterpret_cast<const char*>(data), size}, random);
  const std::size_t kept = std::min(result.size(), most);
  std::memcpy(data, result.data(), kept);
  return kept;
}
