// A process that runs one program after the other, as fast as it can: itself, by exec.
//
// generations WAY COUNT RANGES 1 0: COUNT programs, each of which makes RANGES ranges "NUMBER/INDEX" and becomes the next. Its last arguments are its number,
// and the time at which the program before became it, CLOCK_MONOTONIC ns. WAY: plain; hasty: every other program, starting with the second, makes its ranges
// on a thread, and becomes the next some microseconds after that thread has started to report to a recorder. The last program makes all of its ranges and
// exits with code 7.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

namespace {

std::int64_t monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void make_ranges(int number, int ranges) {
  for (int index = 0; index < ranges; ++index) {
    nvtxRangePushA((std::to_string(number) + "/" + std::to_string(index)).c_str());
    nvtxRangePop();
  }
}

int sockets() {
  int count = 0;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", gone), end; !gone && entry != end; entry.increment(gone)) {
    std::error_code closed;
    count += std::filesystem::read_symlink(entry->path(), closed).string().starts_with("socket:") ? 1 : 0;
  }
  return count;
}

// When this returns, its thread waits for the recorder's answer, or has just got it: it returns `longer` after one more socket is open.
void begin_ranges(int number, int ranges, std::chrono::microseconds longer) {
  const int before = sockets();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  std::thread(make_ranges, number, ranges).detach();
  while (sockets() == before && std::chrono::steady_clock::now() < give_up) {
  }
  const auto end = std::chrono::steady_clock::now() + longer;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 2;
  const std::string way = arguments[1];
  const int last = std::atoi(arguments[2]), ranges = std::atoi(arguments[3]);
  const int number = std::atoi(arguments[4]);
  if (way == "hasty" && number % 2 == 0 && number < last)
    begin_ranges(number, ranges, std::chrono::microseconds(5 * number));
  else
    make_ranges(number, ranges);
  if (number == last) return 7;
  std::string next = std::to_string(number + 1), now = std::to_string(monotonic_now());
  char* again[] = {arguments[0], arguments[1], arguments[2], arguments[3], next.data(), now.data(), nullptr};
  execv("/proc/self/exe", again);
  return 3;
}
