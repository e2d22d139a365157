// Work off the GUI thread that always ends with a result there, also if memory runs out.
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

// Calls work(). If memory runs out, its memory is freed, and SegmentCache::problems() reports that. Threads: any.
template <typename Work>
Outcome within_memory(Work work) noexcept {
  try {
    work();
    return Outcome::kDone;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a container reached its maximum size
  }
  SegmentCache::of_process().report_shortage();
  return Outcome::kOutOfMemory;
}

// Calls result() on the thread of the object. A receiver would wait for ever without it: if there is no memory even for the call, this waits for some, up to 10
// s.
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
