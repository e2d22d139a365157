#include "processes/doorbell_watch.h"

#include <chrono>
#include <csignal>

#include "collector/channel/doorbell.h"

namespace lanescope::session {
namespace {

constexpr std::chrono::milliseconds kLimit{200};  // bounds what a missed ring costs

}  // namespace

DoorbellWatch::DoorbellWatch(channel::SharedHeader& header, int eventfd) : header_(header), eventfd_(eventfd), thread_([this] { run(); }) {}

DoorbellWatch::~DoorbellWatch() {
  ending_.store(true);
  rearm();
  header_.host_sleeps.store(1);  // so that the ring below is not taken for one that nobody waits for
  channel::ring_doorbell(header_);
  thread_.join();
}

void DoorbellWatch::rearm() {
  if (armed_.exchange(true)) return;
  armed_.notify_one();
}

void DoorbellWatch::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::uint32_t seen = header_.doorbell.load(std::memory_order_acquire);
  while (!ending_.load()) {
    armed_.wait(false);
    channel::wait_for_doorbell(header_, kLimit);
    const std::uint32_t now = header_.doorbell.load(std::memory_order_acquire);
    if (now == seen) continue;
    seen = now;
    armed_.store(false);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(eventfd_, &one, sizeof(one));
  }
}

}  // namespace lanescope::session
