#include "thread_states.h"

#include <algorithm>

namespace lanescope::cpu {

void ThreadStates::emit(ThreadNumber number, std::int64_t start, std::int64_t end, proto::ThreadState state, std::uint32_t processor, ThreadNumber waker) {
  if (end > start) emit_({number, start, end, state, processor, waker});
}

void ThreadStates::emit(ThreadNumber number, const Thread& thread, std::int64_t end, ThreadNumber waker) {
  switch (thread.known) {
    case Known::kRunning:
      return emit(number, thread.since, end, proto::THREAD_RUNNING, thread.processor + 1);
    case Known::kRunnable:
      return emit(number, thread.since, end, proto::THREAD_RUNNABLE, 0);
    case Known::kBlocked:
      return emit(number, thread.since, end, proto::THREAD_BLOCKED, 0, waker);
    case Known::kNothing:
      if (thread.suspected && thread.suspected->state != proto::THREAD_STATE_UNKNOWN)
        emit(number, thread.since, end, thread.suspected->state, thread.suspected->processor);
      return;
  }
}

void ThreadStates::observe(ThreadNumber number, std::int64_t time, Suspected suspected) {
  threads_.try_emplace(number, Thread{Known::kNothing, time, 0, suspected});
}

void ThreadStates::start(ThreadNumber number, std::int64_t time) { threads_[number] = {Known::kRunnable, time, 0, {}}; }

void ThreadStates::run(ThreadNumber number, std::int64_t time, std::uint32_t processor) {
  Thread& thread = threads_[number];
  if (thread.known == Known::kRunning) return;
  thread = {Known::kRunning, time, processor, {}};
}

void ThreadStates::switch_in(ThreadNumber number, std::int64_t time, std::uint32_t processor) {
  Thread& thread = threads_[number];
  if (thread.known == Known::kNothing && thread.suspected) {
    emit(number, thread.since, time, proto::THREAD_BLOCKED, 0);
  } else if (thread.known != Known::kRunning) {  // otherwise the records contradict each other: how long it ran is unknown
    if (thread.known == Known::kBlocked && thread.was_woken) thread.known = Known::kRunnable;  // no other thread has woken it since
    emit(number, thread, time);
  }
  thread = {Known::kRunning, time, processor, {}};
}

void ThreadStates::switch_out(ThreadNumber number, std::int64_t time, std::uint32_t processor, Leaving leaving) {
  Thread& thread = threads_[number];
  if (thread.known == Known::kRunning && thread.processor == processor) {
    emit(number, thread, time);
  } else if (thread.known == Known::kNothing && thread.suspected) {
    emit(number, thread.since, time, proto::THREAD_RUNNING, processor + 1);
  }  // otherwise it is not known when it began to run
  const bool was_woken = thread.known == Known::kRunning && thread.was_woken;
  thread = {leaving == Leaving::kPreempted ? Known::kRunnable : Known::kBlocked, time, 0, {}, was_woken};
}

void ThreadStates::wake(ThreadNumber number, std::int64_t time, ThreadNumber waker) {
  const auto found = threads_.find(number);
  if (found == threads_.end()) return;
  if (found->second.known == Known::kRunning) found->second.was_woken = true;
  if (found->second.known != Known::kBlocked) return;
  emit(number, found->second, time, waker);
  found->second = {Known::kRunnable, std::max(time, found->second.since), 0, {}};
}

void ThreadStates::end(ThreadNumber number, std::int64_t time) {
  const auto found = threads_.find(number);
  if (found == threads_.end()) return;
  const bool is_new = found->second.known == Known::kNothing;
  if (is_new && found->second.suspected) {
    emit(number, found->second.since, time, proto::THREAD_RUNNING, 0);  // it runs while it ends, and nothing happened before
  } else {
    emit(number, found->second, time);
  }
  threads_.erase(found);
}

void ThreadStates::forget(std::int64_t from, std::int64_t to) {
  for (auto& [number, thread] : threads_) {
    emit(number, thread, std::max(from, thread.since));
    thread = {Known::kNothing, to, 0, {}};
  }
}

void ThreadStates::end_all(std::int64_t time) {
  for (const auto& [number, thread] : threads_) emit(number, thread, time);
  threads_.clear();
}

}  // namespace lanescope::cpu
