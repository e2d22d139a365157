// The cost of counters: memory per value, time to take samples in, and time for the columns of rows that show all of it.
//
//   lanescope_bench_counters [MINUTES]   24 counters of a GPU at 10 kHz for MINUTES (10)
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "model/trace/trace_builder.h"

using namespace lanescope;

namespace {

constexpr Nanoseconds kStep = 100'000;  // ns
constexpr std::size_t kCounters = 24;
constexpr std::size_t kChunk = 2'000;  // samples that arrive together
constexpr int kColumns = 2'000;        // of a row on a wide screen

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int count, char** arguments) {
  const double minutes = count > 1 ? std::atof(arguments[1]) : 10;
  const auto samples = static_cast<std::size_t>(minutes * 60 * 10'000);
  TraceBuilder builder;
  std::vector<CounterId> counters;
  for (std::size_t i = 0; i < kCounters; ++i) {
    Counter counter;
    counter.name = std::to_string(i);
    counters.push_back(builder.counter(counter));
  }
  std::mt19937 random(1);
  std::vector<Nanoseconds> times(kChunk);
  std::vector<std::vector<std::int64_t>> columns(kCounters, std::vector<std::int64_t>(kChunk));
  double taking = 0;
  for (std::size_t first = 0; first < samples; first += kChunk) {
    for (std::size_t i = 0; i < kChunk; ++i) times[i] = static_cast<Nanoseconds>(first + i) * kStep;
    for (auto& column : columns)
      for (std::int64_t& value : column) value = random() % 10'000;
    const auto begin = std::chrono::steady_clock::now();
    if (!builder.add_samples(counters, times, columns, times.back() + kStep)) return 1;
    taking += milliseconds_since(begin);
  }
  const auto trace = builder.snapshot();
  const double values = static_cast<double>(samples) * kCounters;
  std::printf("%.0f values, %.2f bytes each; taken in at %.1f million a second\n", values, static_cast<double>(trace->memory_bytes()) / values,
              values / taking / 1e3);

  // From the whole trace down to 10 samples.
  for (double share = 1; share * static_cast<double>(samples) >= 10; share /= 10) {
    const auto length = static_cast<double>(trace->extent().length()) * share;
    std::vector<Nanoseconds> edges(kColumns + 1);
    std::vector<CounterSummary> summaries(kColumns);
    std::vector<double> taken;
    for (int round = 0; round < 21; ++round) {
      const double from = (static_cast<double>(trace->extent().length()) - length) * round / 21;
      for (int x = 0; x <= kColumns; ++x) edges[static_cast<std::size_t>(x)] = static_cast<Nanoseconds>(from + length * x / kColumns);
      const auto begin = std::chrono::steady_clock::now();
      trace->counter_series(counters[static_cast<std::size_t>(round) % kCounters]).summarize(edges, summaries);
      taken.push_back(milliseconds_since(begin));
    }
    std::sort(taken.begin(), taken.end());
    std::printf("%12.3f ms visible: %.3f ms a row (median of %zu, most %.3f)\n", length / 1e6, taken[taken.size() / 2], taken.size(), taken.back());
  }
  return 0;
}
