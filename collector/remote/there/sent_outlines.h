// Outlines of a growing file for the other side of a link that is too slow for the file. They are made on a thread of its own, which has less priority than
// the recorder and its program.
//
// Threads: one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "collector/remote/serve.h"

namespace lanescope::remote {

class SentOutlines {
 public:
  explicit SentOutlines(Outlines outlines);
  ~SentOutlines();  // waits until the thread has stopped
  SentOutlines(const SentOutlines&) = delete;
  SentOutlines& operator=(const SentOutlines&) = delete;

  // An outline that is ready to be sent, else nothing; empty frames are none. Otherwise, and if one is due for a file of this size, has the next one made: at
  // most every five seconds, and for at most a tenth of the time.
  std::vector<std::byte> next(std::uint64_t file_size);

 private:
  using Clock = std::chrono::steady_clock;
  void make(const std::stop_token& stop);

  Outlines outlines_;
  std::uint64_t file_size_ = 0;  // of which the last one was made
  Clock::time_point due_{};
  bool is_making_ = false;
  // Of the thread, until is_ready_.
  std::vector<std::byte> made_;
  Clock::duration taken_{};
  std::atomic<bool> is_ready_{false};
  std::jthread thread_;
};

}  // namespace lanescope::remote
