// A target that makes NVTX ranges for a while at a steady rate, some of them with names that occur only once, on threads that are replaced.
//
// nvtx_stream SECONDS RATE [THREADS]: RATE ranges a second and thread; each 100th has a name of its own. A thread lives for 200 ms. Prints the number of
// ranges.
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLife(200);
constexpr std::chrono::milliseconds kTick(5);  // ranges come in bursts, as in real programs

std::atomic<std::uint64_t> made{0};

void make(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t number = made.fetch_add(1, std::memory_order_relaxed);
    if (number % 100 == 0)
      nvtxRangePushA(("request " + std::to_string(number)).c_str());
    else
      nvtxRangePushA("step");
    nvtxRangePop();
  }
}

void live(std::uint64_t rate) {
  const auto begin = Clock::now();
  auto next = begin;
  while (next - begin < kLife) {
    make(rate * static_cast<std::uint64_t>(kTick.count()) / 1000);
    next += kTick;
    std::this_thread::sleep_until(next);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  const auto rate = static_cast<std::uint64_t>(std::atoll(argv[2]));
  const int count = argc > 3 ? std::atoi(argv[3]) : 2;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      while (Clock::now() < end) std::thread(live, rate).join();
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%llu ranges\n", static_cast<unsigned long long>(made.load()));
  return 0;
}
