// Work off the GUI thread that always comes to its end there, also where it has not enough memory.
#pragma once

#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include <QMetaObject>
#include <QObject>

#include "model/trace/segments/demanded_segments.h"

namespace lanescope::timeline {

enum class Outcome : bool { kDone, kOutOfMemory };

// Calls work(). Where there is not enough memory for it, what it had is given back, and SegmentCache::problems() says so. Any thread.
template <typename Work>
Outcome within_memory(Work work) noexcept {
  try {
    work();
    return Outcome::kDone;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a container that could hold no more
  }
  SegmentCache::of_process().report_shortage();
  return Outcome::kOutOfMemory;
}

// Calls result() on the thread of the object. Who waits for it would wait for ever without: where there is no memory even for that, this
// waits for some, for up to 10 s.
template <typename Result>
void deliver_surely(QObject* to, Result result) noexcept {
  constexpr int kTries = 1'000;
  for (int tries = 0; tries < kTries; ++tries) {
    const auto deliver = [&] { QMetaObject::invokeMethod(to, result, Qt::QueuedConnection); };
    if (within_memory(deliver) == Outcome::kDone) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace lanescope::timeline
