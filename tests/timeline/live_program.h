// A program that is recorded live: a thread that launches kernels within ranges, on streams several of which run at once. Some buffers come late.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "traces.h"

namespace lanescope::test {

// Adds the same events to each of several recordings.
class LiveProgram {
 public:
  explicit LiveProgram(unsigned seed, std::vector<SmallTrace*> recordings) : random_(seed), recordings_(std::move(recordings)) {}

  // About five events for each launch.
  void run_on(int launches, std::uint32_t late_one_in) {
    std::vector<std::vector<Event>> kernels(kStreams);
    std::vector<Event> calls, ranges;
    for (int i = 0; i < launches; ++i) {
      const std::uint32_t id = ++launches_;
      now_ += static_cast<Nanoseconds>(1'500 + random_() % 3'000);
      calls.push_back(event(now_, 900 + static_cast<Nanoseconds>(random_() % 500), "cudaLaunchKernel", id));
      ranges.push_back(event(now_ - 200, 1'350, "step " + std::to_string(random_() % 9), id));
      for (std::size_t stream = 0; stream < kStreams; ++stream) {
        Nanoseconds& end = ends_[stream];
        const Nanoseconds start = std::max(end, now_ + static_cast<Nanoseconds>(random_() % 1'000));
        const auto duration = static_cast<Nanoseconds>(300 + random_() % 3'000);
        end = start + duration;
        kernels[stream].push_back(event(start, duration, "kernel " + std::to_string(random_() % 30), id));
      }
    }
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      if (random_() % late_one_in == 0) std::swap(kernels[stream], late_[stream]);
      if (random_() % late_one_in == 0) std::shuffle(kernels[stream].begin(), kernels[stream].end(), random_);
      add(recordings_.front()->on_gpu(TrackKind::kKernels, static_cast<std::uint32_t>(stream + 1)), kernels[stream]);
    }
    add(recordings_.front()->on_thread(TrackKind::kCudaApi), calls);
    add(recordings_.front()->on_thread(TrackKind::kNvtxRanges), ranges);
  }
  [[nodiscard]] Nanoseconds now() const noexcept { return now_; }

 private:
  static constexpr std::size_t kStreams = 3;
  Event event(Nanoseconds start, Nanoseconds duration, const std::string& name, std::uint32_t id) {
    Event made{start, duration, 0, id, 0};
    for (SmallTrace* recording : recordings_) made.name = recording->builder.intern(name);  // the same id in each
    return made;
  }
  void add(const TrackKey& key, const std::vector<Event>& events) {
    for (SmallTrace* recording : recordings_) recording->builder.add(key, events);
  }

  std::mt19937 random_;
  std::vector<SmallTrace*> recordings_;
  Nanoseconds now_ = 0;
  std::uint32_t launches_ = 0;
  Nanoseconds ends_[kStreams] = {};
  std::vector<Event> late_[kStreams];
};

}  // namespace lanescope::test
