// Runs of one program between which nothing changed: the differences are random, with a known distribution.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "scenario.h"

namespace lanescope::test {

enum class Noise {
  kIndependent,  // normal, standard deviation 5 % of the time
  kSkewed,       // log-normal: seldom shorter by a third, often longer by a half
  kSpikes,       // one step in fifty takes three times as long
  kAlike,        // as kIndependent, and a step resembles the one before (correlation 0.3)
  kVeryAlike,    // 0.6
  kMostAlike,    // 0.9
};

struct EqualRun {
  int ranks = 1;
  int iterations = 20;
  Noise noise = Noise::kIndependent;
  double between_runs = 0;  // standard deviation by which a whole run is slower or faster
  int log_every = 0;        // every log_every-th step writes a log for 20 ms; 0: none does
};

// Factors of the time that the steps of a run take.
inline std::vector<double> step_noise(const EqualRun& run, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double alike = run.noise == Noise::kAlike ? 0.3 : run.noise == Noise::kVeryAlike ? 0.6 : run.noise == Noise::kMostAlike ? 0.9 : 0;
  const double of_run = 1 + run.between_runs * normal(random);
  std::vector<double> factors;
  double last = normal(random);
  for (int i = 0; i < run.iterations; ++i) {
    last = alike * last + std::sqrt(1 - alike * alike) * normal(random);
    double factor = 1 + 0.05 * last;
    if (run.noise == Noise::kSkewed) factor = std::exp(0.4 * last);
    if (run.noise == Noise::kSpikes && uniform(random) < 0.02) factor *= 3;
    factors.push_back(of_run * std::max(0.1, factor));
  }
  return factors;
}

// Steps of a few milliseconds that load and then run two kernels. The ranks meet at the end of each step, so that they share the random time of a step,
// except for a hundredth.
inline std::shared_ptr<const Trace> equal_run(const EqualRun& run, std::uint64_t seed) {
  constexpr double kMilliseconds = 1e6;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> own(1, 0.01);
  const std::vector<double> loading = step_noise(run, random), computing = step_noise(run, random);
  auto builder = std::make_shared<TraceBuilder>();
  for (int rank = 0; rank < run.ranks; ++rank) {
    Scenario program(builder, 100 + static_cast<std::uint32_t>(rank));
    program.on_gpu(static_cast<std::uint32_t>(rank));
    Nanoseconds t = 0;
    for (int i = 0; i < run.iterations; ++i) {
      const auto load = static_cast<Nanoseconds>(2 * kMilliseconds * loading[static_cast<std::size_t>(i)] * own(random));
      const auto kernel = static_cast<Nanoseconds>(kMilliseconds * computing[static_cast<std::size_t>(i)] * own(random));
      const Nanoseconds begin = t + load;
      const bool logs = run.log_every > 0 && i % run.log_every == run.log_every - 1;
      const Nanoseconds end = begin + 2 * kernel + 40'000 + static_cast<Nanoseconds>(logs ? 20 * kMilliseconds : 0);
      program.range("step_" + std::to_string(i), t, end, 0);
      program.range("load", t, begin, 1);
      program.kernel("forward(float*)", begin, begin + 5'000, begin + 8'000, begin + 8'000 + kernel);
      program.kernel("backward(float*)", begin + 6'000, begin + 11'000, begin + 18'000 + kernel, begin + 18'000 + 2 * kernel);
      program.call("cudaStreamSynchronize", begin + 12'000, begin + 2 * kernel + 30'000);
      t = end;
    }
  }
  return builder->snapshot();
}

}  // namespace lanescope::test
