#include "collector/remote/recording_name.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace lanescope::remote {

std::string new_recording_name() {
  const std::time_t now = std::time(nullptr);
  std::tm calendar{};
  gmtime_r(&now, &calendar);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%Y%m%d-%H%M%S-", &calendar);
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) number = static_cast<std::uint32_t>(getpid());
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%08x", number);
  return std::string(time.data()) + text.data();
}

bool is_recording_name(std::string_view text) noexcept {
  constexpr std::size_t kLongest = 64;
  const auto fits = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '-';
  };
  return !text.empty() && text.size() <= kLongest && text.front() != '-' && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace lanescope::remote
