// The cost of sampling the monitors of a GPU for a program that uses all processors, without a GPU: the sampler works on imaginary monitors, whose decoding and
// evaluation take as long as those of CUPTI on an H200 (docs/measurements.md: 30 and 32 us per sample). The program's threads work for a millisecond, wait for
// each other without giving up their processors, and after twenty rounds sleep until one of them has worked alone.
//
// Use: gpu_metrics_cost [PAIRS [usual]]. Prints the milliseconds of a step alone and beside the sampler, in turn, and how late samples came. With `usual`, the
// work of the sampler is scheduled like that of any other thread.
#include <fcntl.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "../collector/gpu_metrics/monitors.h"
#include "processor_share.h"
#include "samplers/pm_sampler.h"
#include "worker.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;

namespace {

constexpr std::int64_t kDecoding = 30'000;  // ns of processor time for each sample
constexpr std::int64_t kEvaluation = 32'000;
constexpr int kRounds = 20;
constexpr auto kAlone = std::chrono::milliseconds(10);

void work(std::int64_t nanoseconds) {
  for (const std::int64_t begin = processor_time(); processor_time() - begin < nanoseconds;) {
  }
}

// Returns the milliseconds of one step.
double steps(int count) {
  const auto threads = static_cast<std::ptrdiff_t>(std::thread::hardware_concurrency());
  std::atomic<std::ptrdiff_t> arrived = 0;
  std::barrier sleeping(threads);
  const auto one = [&](bool first) {
    for (int step = 0; step < count; ++step) {
      for (int round = 0; round < kRounds; ++round) {
        work(1'000'000);
        const std::ptrdiff_t all = (std::ptrdiff_t{step} * kRounds + round + 1) * threads;
        ++arrived;
        while (arrived.load() < all) {
        }
      }
      if (first) work(std::chrono::nanoseconds(kAlone).count());
      sleeping.arrive_and_wait();
    }
  };
  const std::int64_t begin = channel::monotonic_now();
  std::vector<std::thread> others;
  for (std::ptrdiff_t i = 1; i < threads; ++i) others.emplace_back(one, false);
  one(true);
  for (std::thread& other : others) other.join();
  return static_cast<double>(channel::monotonic_now() - begin) * 1e-6 / count;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int pairs = argument_count > 1 ? std::atoi(arguments[1]) : 5;
  const bool usual = argument_count > 2 && std::strcmp(arguments[2], "usual") == 0;
  const bool is_watched = !usual && can_return_from_left_over();
  Monitors imaginary;
  monitors = &imaginary;
  imaginary.before_evaluation = [] { work(kEvaluation); };
  CuptiFunctions cupti = functions_of_monitors();
  FrameOutput output(open("/dev/null", O_WRONLY | O_CLOEXEC));
  GpuDevice gpu;
  Refusal refusal;
  const PmPace pace{1'000'000'000 / Monitors::kInterval, {}};
  std::vector<double> alone, beside;
  for (int pair = 0; pair < pairs; ++pair) {
    alone.push_back(steps(40));
    const auto sampler = PmSampler::open({cupti}, gpu, std::vector<MetricWish>{{"a", "", {"a.sum"}, ""}}, pace, output, refusal);
    if (!sampler || !sampler->start()) return 1;
    std::int64_t counted_until = channel::monotonic_now();
    std::uint64_t counted = 0;
    Worker::Job job{pace.look_every(),
                    [&](Due due) {
                      const std::int64_t samples = (channel::monotonic_now() - counted_until) / Monitors::kInterval;
                      counted_until += samples * Monitors::kInterval;
                      counted += static_cast<std::uint64_t>(samples);
                      imaginary.count(static_cast<std::size_t>(samples));
                      for (std::int64_t done = 0; done < samples; ++done) work(kDecoding);
                      return sampler->collect(is_watched || due != Due::kNo ? due : Due::kUrgent);
                    },
                    [] {},
                    [&] { sampler->finish(); },
                    {}};
    if (is_watched) job.patience = [&] { return sampler->patience(); };
    std::vector<std::unique_ptr<Worker>> workers;
    workers.push_back(std::make_unique<Worker>(std::move(job)));
    {
      const Watch watch(workers);
      beside.push_back(steps(40));
    }
    const std::size_t waiting = sampler->account().most_waiting;
    const std::int64_t end = channel::monotonic_now();
    workers.clear();
    std::printf("alone %6.1f ms  beside %6.1f ms  %llu samples, %llu fetched; %zu waited at most; longest pause %lld ms; the rest took %lld ms\n", alone.back(),
                beside.back(), static_cast<unsigned long long>(counted), static_cast<unsigned long long>(sampler->account().samples), waiting,
                static_cast<long long>(sampler->account().longest_pause / 1'000'000), static_cast<long long>((channel::monotonic_now() - end) / 1'000'000));
    std::fflush(stdout);
  }
  std::printf("median: alone %.1f ms, beside %.1f ms (%+.1f %%)\n", median(alone), median(beside), 100 * (median(beside) / median(alone) - 1));
  return 0;
}
