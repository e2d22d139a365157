// Turns the doorbell of one process's shared memory into something that poll() can wait for.
#pragma once

#include <atomic>
#include <thread>

#include "collector/channel/layout.h"

namespace lanescope::session {

// A thread that sleeps on the doorbell and adds 1 to an eventfd when it rings; then not again before rearm().
class DoorbellWatch {
 public:
  // The header must live longer than this.
  DoorbellWatch(channel::SharedHeader& header, int eventfd);
  ~DoorbellWatch();
  DoorbellWatch(const DoorbellWatch&) = delete;
  DoorbellWatch& operator=(const DoorbellWatch&) = delete;

  // The rings have been read.
  void rearm();

 private:
  void run();

  channel::SharedHeader& header_;
  int eventfd_;
  std::atomic<bool> ending_{false};
  std::atomic<bool> armed_{true};
  std::thread thread_;
};

}  // namespace lanescope::session
