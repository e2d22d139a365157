#include "agent/python_lock/locks.h"

#include <cerrno>

#include <sys/uio.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent::python_lock {
namespace {

// The state of an interpreter.
struct State {
  const void* next = nullptr;
  std::int64_t id = 0;
  const void* lock = nullptr;
};

// Interpreters may be freed while they are read, so the kernel reads them: it reports memory that is gone.
bool read_state(const void* interpreter, const LockPlace& place, State& state) noexcept {
  char* const begin = const_cast<char*>(static_cast<const char*>(interpreter));
  iovec here[] = {{&state.next, sizeof(state.next)}, {&state.id, sizeof(state.id)}, {&state.lock, sizeof(state.lock)}};
  iovec there[] = {{begin + place.next, sizeof(state.next)}, {begin + place.id, sizeof(state.id)}, {begin + place.in_interpreter, sizeof(state.lock)}};
  return process_vm_readv(system::process_id(), here, 3, there, 3, 0) == static_cast<ssize_t>(sizeof(State));
}

}  // namespace

void Locks::begin(const void* runtime, const LockPlace& place) noexcept {
  runtime_ = runtime;
  place_ = place;
}

// Before 3.12 there is one lock, however many interpreters are made.
std::int64_t Locks::made() const noexcept {
  if (place_.made == 0) return 0;
  return __atomic_load_n(reinterpret_cast<const std::int64_t*>(static_cast<const char*>(runtime_) + place_.made), __ATOMIC_RELAXED);
}

void Locks::keep(std::size_t index, const void* lock, std::int64_t interpreter) noexcept {
  const auto* const begin = static_cast<const char*>(lock);
  known_[index].interpreter.store(interpreter, std::memory_order_relaxed);
  known_[index].switched.store(begin + place_.switched, std::memory_order_relaxed);
  known_[index].condition.store(begin + place_.condition, std::memory_order_release);
  if (index >= count_.load(std::memory_order_relaxed)) count_.store(index + 1, std::memory_order_release);
}

void Locks::look() noexcept {
  if (is_looking_.test_and_set(std::memory_order_acquire)) return;
  const int saved_errno = errno;
  const std::int64_t made_before = made();
  const void* main = lock_at(runtime_, place_);
  if (main != nullptr) {
    keep(0, main, 0);
    if (made_before <= 1 || look_for_others()) seen_.store(made_before, std::memory_order_release);
  }
  errno = saved_errno;
  is_looking_.clear(std::memory_order_release);
}

// Known locks keep their places, so that other threads find them during the search. False if an interpreter has no lock yet, or was freed in the meantime.
bool Locks::look_for_others() noexcept {
  std::array<bool, kMost> is_there{true};
  bool is_complete = true;
  const void* interpreter = first_interpreter(runtime_, place_);
  constexpr std::size_t kMostInterpreters = 1024;
  for (std::size_t i = 0; interpreter != nullptr && i < kMostInterpreters; ++i) {
    State state;
    if (!read_state(interpreter, place_, state)) return errno != EFAULT;  // any other error means that it is forbidden, and will stay so
    is_complete = is_complete && state.lock != nullptr;
    interpreter = state.next;
    if (state.lock == nullptr) continue;
    const void* condition = static_cast<const char*>(state.lock) + place_.condition;
    if (condition == known_[0].condition.load(std::memory_order_relaxed)) continue;  // it shares the main interpreter's lock
    std::size_t free = kMost;
    std::size_t place = kMost;
    for (std::size_t known = 1; known < kMost && place == kMost; ++known) {
      const void* other = known_[known].condition.load(std::memory_order_relaxed);
      if (other == condition) place = known;
      if (other == nullptr && free == kMost) free = known;
    }
    if (place == kMost) place = free;
    if (place == kMost) continue;
    keep(place, state.lock, state.id);
    is_there[place] = true;
  }
  for (std::size_t known = 1; known < kMost; ++known) {
    if (is_there[known]) continue;
    known_[known].condition.store(nullptr, std::memory_order_relaxed);
    known_[known].switched.store(nullptr, std::memory_order_relaxed);
  }
  return is_complete;
}

LockPart Locks::find(const void* condition) noexcept {
  if (seen_.load(std::memory_order_acquire) != made()) look();
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_condition = condition == known_[i].condition.load(std::memory_order_acquire);
    if (!is_condition && condition != known_[i].switched.load(std::memory_order_relaxed)) continue;
    return {is_condition ? Part::kCondition : Part::kSwitched, known_[i].interpreter.load(std::memory_order_relaxed)};
  }
  return {};
}

}  // namespace lanescope::agent::python_lock
