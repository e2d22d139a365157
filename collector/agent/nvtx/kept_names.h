// Names that programs give to temporary objects, by key: the newest of them, to be repeated later.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "agent/core/memory/arena.h"

namespace lanescope::agent::nvtx {

// FNV-1a.
inline std::uint32_t hash_of(std::string_view bytes) noexcept {
  std::uint32_t hash = 0x811c9dc5;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193;
  return hash;
}

// `Key`: compared by ==; all its bytes count. Keeps kMost names; a further name replaces the one that was kept first, and takes its memory. All functions are
// O(1) except each().
//
// Threads: one at a time (callers hold a lock).
template <typename Key>
class KeptNames {
 public:
  static constexpr std::size_t kMost = 16'384;

  constexpr explicit KeptNames(std::size_t limit) noexcept : arena_(limit) {}

  // Returns true if the name differs from the known one. If there is no memory, the name is not kept.
  bool keep(const Key& key, std::string_view name) noexcept {
    Entry* entry = find_entry(key);
    if (entry != nullptr && entry->name() == name) return false;
    if (entry == nullptr) entry = place_for(key);
    if (entry != nullptr) set(*entry, name);
    return true;
  }

  // Empty if no name is known.
  std::string_view find(const Key& key) const noexcept {
    const Entry* const entry = find_entry(key);
    return entry == nullptr ? std::string_view() : entry->name();
  }

  template <typename Visit>
  void each(Visit visit) const noexcept {
    for (const Entry* entry = oldest_; entry != nullptr; entry = entry->newer)
      if (entry->size != 0) visit(entry->key, entry->name());
  }

 private:
  struct Entry {
    Key key;
    char* text = nullptr;
    std::size_t size = 0;
    std::size_t room = 0;
    Entry* next_in_bucket = nullptr;
    Entry* newer = nullptr;
    [[nodiscard]] std::string_view name() const noexcept { return {text, size}; }
  };
  static constexpr std::size_t kBuckets = 4'096;

  static std::size_t bucket_of(const Key& key) noexcept { return hash_of({reinterpret_cast<const char*>(&key), sizeof(key)}) % kBuckets; }
  Entry* find_entry(const Key& key) const noexcept {
    Entry* entry = buckets_[bucket_of(key)];
    while (entry != nullptr && !(entry->key == key)) entry = entry->next_in_bucket;
    return entry;
  }

  Entry* place_for(const Key& key) noexcept {
    Entry* entry = count_ < kMost ? arena_.create<Entry>() : nullptr;
    count_ += entry != nullptr ? 1 : 0;
    if (entry == nullptr) entry = take_oldest();
    if (entry == nullptr) return nullptr;
    entry->key = key;
    Entry*& bucket = buckets_[bucket_of(key)];
    entry->next_in_bucket = bucket;
    bucket = entry;
    entry->newer = nullptr;
    (newest_ == nullptr ? oldest_ : newest_->newer) = entry;
    newest_ = entry;
    return entry;
  }

  Entry* take_oldest() noexcept {
    Entry* const entry = oldest_;
    if (entry == nullptr) return nullptr;
    oldest_ = entry->newer;
    if (oldest_ == nullptr) newest_ = nullptr;
    Entry** link = &buckets_[bucket_of(entry->key)];
    while (*link != entry) link = &(*link)->next_in_bucket;
    *link = entry->next_in_bucket;
    return entry;
  }

  // Room grows in powers of two, so that names that grow step by step waste no more than they use.
  void set(Entry& entry, std::string_view name) noexcept {
    entry.size = 0;
    if (name.size() > entry.room) {
      const std::size_t room = std::bit_ceil(std::max<std::size_t>(name.size(), 32));
      auto* const text = static_cast<char*>(arena_.allocate(room));
      if (text == nullptr) return;
      entry.text = text;
      entry.room = room;
    }
    if (!name.empty()) std::memcpy(entry.text, name.data(), name.size());
    entry.size = name.size();
  }

  Arena arena_;
  std::array<Entry*, kBuckets> buckets_{};
  Entry* oldest_ = nullptr;
  Entry* newest_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace lanescope::agent::nvtx
