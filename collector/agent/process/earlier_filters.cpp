#include "agent/process/earlier_filters.h"

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"
#include "collector/channel/layout.h"

namespace lanescope::agent {
namespace {

constexpr std::string_view kName = channel::kFiltersVariable;
constexpr int kMostKnown = 9'999;
constexpr std::size_t kStatusBytes = 8'192;

constinit char* value_in_environment = nullptr;  // of channel::kFilterDigits letters

// The program may have written something else there, as programs do that change their title.
char* value() noexcept {
  char* const place = value_in_environment;
  if (place == nullptr) return nullptr;
  const char* const name = place - kName.size() - 1;
  return std::memcmp(name, kName.data(), kName.size()) == 0 && place[-1] == '=' && strnlen(place, channel::kFilterDigits + 1) == channel::kFilterDigits
             ? place
             : nullptr;
}

// -1: it is not known.
int number_after(std::string_view word, std::string_view status) noexcept {
  const std::size_t begin = status.find(word);
  if (begin == std::string_view::npos) return -1;
  const char* first = status.data() + begin + word.size();
  const char* const last = status.data() + status.size();
  while (first != last && (*first == ' ' || *first == '\t')) ++first;
  int number = -1;
  return std::from_chars(first, last, number).ec == std::errc() ? number : -1;
}

int known_filters(const char* digits) noexcept {
  int known = -1;
  std::from_chars(digits, digits + channel::kFilterDigits, known);
  return known;
}

// The filters of this thread: those of others are not its own.
bool has_more_than(int known) noexcept {
  char status[kStatusBytes];
  const int file = system::open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const long size = system::read(file, status, sizeof(status));
  system::close(file);
  if (size <= 0) return false;
  const std::string_view text{status, static_cast<std::size_t>(size)};
  if (number_after("\nSeccomp:", text) <= 0) return false;
  const int filters = number_after("\nSeccomp_filters:", text);
  return filters >= 0 ? filters > known : known == 0;  // Linux before 5.9 does not count them
}

}  // namespace

void look_at_earlier_filters() noexcept {
  value_in_environment = getenv(channel::kFiltersVariable);
  char* const digits = value();
  if (digits == nullptr) return;
  const int known = known_filters(digits);
  if (known >= 0 && !has_more_than(known)) return;
  forbid_all();
  digits[0] = channel::kLeftAlone;
}

void note_harmless_filter() noexcept {
  char* const digits = value();
  const int known = digits != nullptr ? known_filters(digits) : -1;
  if (known < 0 || known >= kMostKnown) return;
  for (auto [place, rest] = std::pair(channel::kFilterDigits, known + 1); place != 0; rest /= 10) digits[--place] = static_cast<char>('0' + rest % 10);
}

}  // namespace lanescope::agent
