// The global locks of this process's interpreters: the main one's, and those of sub-interpreters that have their own (3.12 and newer).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/python_lock/lock_place.h"

namespace lanescope::agent::python_lock {

enum class Part {
  kNone,       // it belongs to no known lock
  kCondition,  // `cond`: signals that the lock is free
  kSwitched,   // `switch_cond`: signals that the lock was taken
};

struct LockPart {
  Part part = Part::kNone;
  std::int64_t interpreter = 0;  // number of the interpreter that has the lock, 0 for the main one
};

// Threads: any, after begin(). Sub-interpreters beyond the first 63 that live at once are not known.
class Locks {
 public:
  void begin(const void* runtime, const LockPlace& place) noexcept;
  // The role of this condition variable. Some loads, except for the first call after an interpreter was made.
  LockPart find(const void* condition) noexcept;

 private:
  struct Known {
    std::atomic<const void*> condition{nullptr};  // null: no lock
    std::atomic<const void*> switched{nullptr};
    std::atomic<std::int64_t> interpreter{0};
  };
  static constexpr std::size_t kMost = 64;

  [[nodiscard]] std::int64_t made() const noexcept;
  void look() noexcept;
  bool look_for_others() noexcept;
  void keep(std::size_t index, const void* lock, std::int64_t interpreter) noexcept;

  const void* runtime_ = nullptr;
  LockPlace place_;
  std::array<Known, kMost> known_;
  std::atomic<std::size_t> count_{0};   // of known_; later ones are null
  std::atomic<std::int64_t> seen_{-1};  // how many interpreters had been made when all their locks were known
  std::atomic_flag is_looking_ = ATOMIC_FLAG_INIT;
};

}  // namespace lanescope::agent::python_lock
