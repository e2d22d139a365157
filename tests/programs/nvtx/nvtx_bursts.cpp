// A target that makes a given number of ranges as fast as it can.
//
// nvtx_bursts burst THREADS RANGES: RANGES ranges "burst" on each thread, all at once. nvtx_bursts names RANGES: ranges "name 0", "name 1" and so on.
// nvtx_bursts quiet RANGES: a burst of one thread, then it waits, at most 20 seconds, until at most 64 KiB of the memory that it shares with the recorder is
// present. It prints how much it was before and is then; exit code 1 if it is more.
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

void burst(long ranges) {
  for (long i = 0; i < ranges; ++i) {
    nvtxRangePushA("burst");
    nvtxRangePop();
  }
}

void name(long ranges) {
  char text[32];
  for (long i = 0; i < ranges; ++i) {
    std::snprintf(text, sizeof(text), "name %ld", i);
    nvtxRangePushA(text);
    nvtxRangePop();
  }
}

// KiB of the shared memory that are mapped and present.
long shared_memory() {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool is_shared = false;
  long sum = 0;
  while (std::getline(maps, line)) {
    if (line.find("-") < line.find(" ") && line.find(":") > line.find(" ")) is_shared = line.find("/memfd:lanescope") != std::string::npos;
    if (is_shared && line.starts_with("Rss:")) sum += std::atol(line.c_str() + std::strlen("Rss:"));
  }
  return sum;
}

int wait_for_quiet(long ranges) {
  burst(ranges);
  const long before = shared_memory();
  constexpr long kQuiet = 64;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  long now = before;
  while (now > kQuiet && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    now = shared_memory();
  }
  std::printf("%ld KiB, then %ld\n", before, now);
  return now > kQuiet ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "names" && argc > 2) {
    name(std::atol(argv[2]));
  } else if (what == "quiet" && argc > 2) {
    return wait_for_quiet(std::atol(argv[2]));
  } else if (what == "burst" && argc > 3) {
    std::vector<std::thread> threads;
    for (long i = 0; i < std::atol(argv[2]); ++i) threads.emplace_back(burst, std::atol(argv[3]));
    for (std::thread& thread : threads) thread.join();
  } else {
    return 2;
  }
}
