// Work on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "model/trace/workers/usable_cores.h"

namespace lanescope {

// Calls part(i) for each i below `count`, in any order, on as many threads as there are cores, and returns when all have ended. If one throws, no
// further part starts, and the first exception is thrown here. Worthwhile for parts of a millisecond or more.
template <typename Part>
void parallel_for(std::size_t count, const Part& part) {
  std::atomic<std::size_t> next{0};
  std::once_flag has_failed;
  std::exception_ptr failure;
  const auto work = [&]() noexcept {
    try {
      for (std::size_t i = next++; i < count; i = next++) part(i);
    } catch (...) {
      std::call_once(has_failed, [&] { failure = std::current_exception(); });
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t threads = std::min<std::size_t>(count, usable_cores());
    try {
      for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // no room for another thread: the threads that run do its part
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lanescope
