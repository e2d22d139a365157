// Work on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "model/trace/usable_cores.h"

namespace lanescope {

// Calls part(i) for each i below `count`, in any order, on as many threads as there are cores, and returns when all have ended. Worth it
// for parts of a millisecond or more.
template <typename Part>
void parallel_for(std::size_t count, const Part& part) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) part(i);
  };
  std::vector<std::jthread> others;
  const std::size_t threads = std::min<std::size_t>(count, usable_cores());
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
}

}  // namespace lanescope
