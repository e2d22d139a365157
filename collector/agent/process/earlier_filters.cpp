#include "agent/process/earlier_filters.h"

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
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

constexpr std::string_view kPreload = "LD_PRELOAD";
constexpr std::string_view kNvtxTool = "NVTX_INJECTION64_PATH";
constexpr std::string_view kOurs = "$ORIGIN/../../../../../../../../";  // how our libraries begin there (session/launch/target_environment.cpp)

constinit char* filters_in_environment = nullptr;
constinit char* preload_in_environment = nullptr;
constinit char* nvtx_tool_in_environment = nullptr;

// The program may have written something else there, as programs do that change their title.
bool is_value_of(std::string_view name, const char* place) noexcept {
  return place != nullptr && std::memcmp(place - name.size() - 1, name.data(), name.size()) == 0 && place[-1] == '=';
}

// Of channel::kFilterDigits letters; null if it is not there.
char* value() noexcept {
  char* const place = filters_in_environment;
  return is_value_of(kName, place) && strnlen(place, channel::kFilterDigits + 1) == channel::kFilterDigits ? place : nullptr;
}

// What /proc says of a thread's filters, and of its process. Read piece by piece, because the thread may have a small stack, and be deep in the loader.
class ThreadStatus {
 public:
  void take(char letter) noexcept {
    if (letter != '\n') {
      if (length_ < sizeof(line_)) line_[length_++] = letter;
      return;
    }
    const std::string_view line(line_, length_);
    length_ = 0;
    if (const int value = number_in(line, "Seccomp:"); value >= 0) mode_ = value;
    if (const int value = number_in(line, "Seccomp_filters:"); value >= 0) filters_ = value;
    if (const int value = number_in(line, "Threads:"); value >= 0) threads_ = value;
  }
  // Linux before 5.9 does not count filters.
  [[nodiscard]] bool is_more_than(int known) const noexcept { return mode_ > 0 && (filters_ >= 0 ? filters_ > known : known == 0); }
  [[nodiscard]] bool is_of_only_thread() const noexcept { return threads_ == 1; }

 private:
  // -1: it is another line.
  static int number_in(std::string_view line, std::string_view word) noexcept {
    if (!line.starts_with(word)) return -1;
    const char* first = line.data() + word.size();
    const char* const last = line.data() + line.size();
    while (first != last && (*first == ' ' || *first == '\t')) ++first;
    int number = -1;
    return std::from_chars(first, last, number).ec == std::errc() ? number : -1;
  }

  char line_[40] = {};  // its begin
  std::size_t length_ = 0;
  int mode_ = 0;
  int filters_ = -1;
  int threads_ = -1;
};

int known_filters(const char* digits) noexcept {
  int known = -1;
  std::from_chars(digits, digits + channel::kFilterDigits, known);
  return known;
}

// Of this thread: the filters of others are not its own. Nothing if it can't be read, as without /proc.
std::optional<ThreadStatus> read_status() noexcept {
  const int file = system::open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  ThreadStatus status;
  char piece[128];
  for (long size = 0; (size = system::read(file, piece, sizeof(piece))) > 0;)
    for (long i = 0; i < size; ++i) status.take(piece[i]);
  system::close(file);
  return status;
}

}  // namespace

void look_at_earlier_filters() noexcept {
  filters_in_environment = getenv(channel::kFiltersVariable);
  preload_in_environment = getenv(kPreload.data());
  nvtx_tool_in_environment = getenv(kNvtxTool.data());
  char* const digits = value();
  if (digits == nullptr) return;
  const int known = known_filters(digits);
  const std::optional<ThreadStatus> status = known >= 0 ? read_status() : std::nullopt;
  if (status && !status->is_more_than(known)) return;  // filters that can't be counted may be any number
  forbid_all();
  digits[0] = channel::kLeftAlone;
}

bool is_only_thread() noexcept {
  const std::optional<ThreadStatus> status = may_look_for_children() ? read_status() : std::nullopt;
  return status && status->is_of_only_thread();
}

void note_harmless_filter() noexcept {
  char* const digits = value();
  const int known = digits != nullptr ? known_filters(digits) : -1;
  if (known < 0 || known >= kMostKnown) return;
  for (auto [place, rest] = std::pair(channel::kFilterDigits, known + 1); place != 0; rest /= 10) digits[--place] = static_cast<char>('0' + rest % 10);
}

void keep_libraries_out_of_programs() noexcept {
  if (!may_come_into_programs() && is_value_of(kNvtxTool, nvtx_tool_in_environment)) nvtx_tool_in_environment[-1 - kNvtxTool.size()] = '_';
  char* const list = preload_in_environment;
  if (!is_value_of(kPreload, list)) return;
  const char* others = list;
  while (std::strncmp(others, kOurs.data(), kOurs.size()) == 0) {
    others += std::strcspn(others, ":");
    if (*others == ':') ++others;
  }
  std::memmove(list, others, std::strlen(others) + 1);
}

}  // namespace lanescope::agent
