#include "agent/channel/places.h"

#include <sys/mman.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constexpr std::uint32_t kSessionsBetween = 2;
constexpr std::uint32_t kFewestBetween = 1;  // if there is no room for another place

// If the program locks all memory that it maps (MCL_FUTURE), the kernel fills accessible memory while mapping it, all at once. Memory that becomes accessible
// later is filled page by page.
void* map_where_there_is_room(int file, std::uint64_t bytes) noexcept {
  void* const mapping = system::map(nullptr, bytes, PROT_NONE, MAP_SHARED, file);
  if (mapping == nullptr) return nullptr;
  if (mprotect(mapping, bytes, PROT_READ | PROT_WRITE) == 0) return mapping;
  system::unmap(mapping, bytes);
  return nullptr;
}

// Only if there is no room for a second mapping: in a program that locks its mappings, the kernel fills all of it.
void* map_over(void* place, int file, std::uint64_t bytes) noexcept { return system::map(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file); }

}  // namespace

constinit Places session_places;

void* Places::map(int file, std::uint64_t bytes, std::uint32_t generation) noexcept {
  void* mapping = map_where_there_is_room(file, bytes);
  Place* left = take(bytes, generation, kSessionsBetween);
  if (mapping == nullptr && left == nullptr) left = take(bytes, generation, kFewestBetween);
  void* const over = left != nullptr ? const_cast<void*>(left->begin.load(std::memory_order_relaxed)) : nullptr;
  if (over != nullptr) {
    void* const put = mapping != nullptr ? system::move_over(mapping, bytes, over) : map_over(over, file, bytes);
    // The kernel may have failed halfway, and another mapping may lie there now.
    if (put == nullptr)
      left->begin.store(nullptr, std::memory_order_release);
    else
      mapping = put;
  }
  if (mapping == nullptr) return nullptr;
  if (mapping != over) remember(mapping, bytes);
  madvise(mapping, bytes, MADV_DONTDUMP);  // a core dump of the target contains only the target's memory
  return mapping;
}

void Places::leave(const void* begin, std::uint32_t generation) noexcept {
  if (Place* const place = find(begin)) place->left_in.store(generation, std::memory_order_release);
}

void Places::hold(const void* begin) noexcept {
  if (Place* const place = find(begin)) place->holders.fetch_add(1, std::memory_order_acq_rel);
}

void Places::release(const void* begin, std::uint32_t generation) noexcept {
  Place* const place = find(begin);
  if (place == nullptr || place->holders.load(std::memory_order_relaxed) == 0) return;
  std::uint32_t left_in = place->left_in.load(std::memory_order_acquire);
  while (left_in != 0 && !place->left_in.compare_exchange_weak(left_in, generation, std::memory_order_acq_rel)) {
  }
  place->holders.fetch_sub(1, std::memory_order_acq_rel);
}

void Places::forget_holders() noexcept {
  for (Place& place : places_) place.holders.store(0, std::memory_order_relaxed);
}

Places::Place* Places::find(const void* begin) noexcept {
  if (begin == nullptr) return nullptr;
  for (Place& place : places_)
    if (place.begin.load(std::memory_order_acquire) == begin) return &place;
  return nullptr;
}

Places::Place* Places::take(std::uint64_t bytes, std::uint32_t generation, std::uint32_t sessions_between) noexcept {
  Place* best = nullptr;
  std::uint32_t best_left_in = 0;
  std::uint64_t best_bytes = 0;
  for (Place& place : places_) {
    const std::uint32_t left_in = place.left_in.load(std::memory_order_acquire);
    const std::uint64_t room = place.bytes.load(std::memory_order_relaxed);
    if (left_in == 0 || generation - left_in < sessions_between || room < bytes) continue;
    if (place.begin.load(std::memory_order_relaxed) == nullptr || place.holders.load(std::memory_order_acquire) != 0) continue;
    if (best != nullptr && best_bytes <= room) continue;
    best = &place;
    best_left_in = left_in;
    best_bytes = room;
  }
  return best != nullptr && best->left_in.compare_exchange_strong(best_left_in, 0, std::memory_order_acq_rel) ? best : nullptr;
}

void Places::remember(const void* begin, std::uint64_t bytes) noexcept {
  for (Place& place : places_) {
    const void* none = nullptr;
    if (!place.begin.compare_exchange_strong(none, begin, std::memory_order_acq_rel)) continue;
    place.bytes.store(bytes, std::memory_order_release);
    return;
  }
}

}  // namespace lanescope::agent
