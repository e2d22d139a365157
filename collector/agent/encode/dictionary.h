// Dictionaries of a chunk's columns: each different value gets the next id, starting at 1, and is sent once.
//
// One thread. If there is no memory for a value, its id is 0, which means none.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "agent/core/memory/page_buffer.h"

namespace lanescope::agent::encode {

// Maps hashes to ids, by open addressing. The caller compares the values of ids.
class IdTable {
 public:
  // The id whose value `is_same(id)` accepts, otherwise the id that `add()` makes.
  template <typename IsSame, typename Add>
  std::uint32_t find_or_add(std::uint64_t hash, IsSame is_same, Add add) noexcept {
    if ((count_ + 1) * 2 > slots_.size() && !grow()) return 0;
    std::size_t index = hash & (slots_.size() - 1);
    while (slots_[index].id != 0) {
      if (slots_[index].hash == hash && is_same(slots_[index].id)) return slots_[index].id;
      index = (index + 1) & (slots_.size() - 1);
    }
    const std::uint32_t id = add();
    if (id == 0) return 0;
    slots_[index] = {hash, id};
    ++count_;
    return id;
  }

 private:
  struct Slot {
    std::uint64_t hash;
    std::uint32_t id;
  };

  bool grow() noexcept {
    const std::size_t old_size = slots_.size();
    PageArray<Slot> old;
    for (std::size_t i = 0; i < old_size; ++i)
      if (slots_[i].id != 0 && !old.push_back(slots_[i])) return false;
    const std::size_t new_size = old_size == 0 ? 1024 : old_size * 2;
    if (!slots_.resize(new_size)) return false;
    for (std::size_t i = 0; i < old_size; ++i) slots_[i] = {};
    for (std::size_t i = 0; i < old.size(); ++i) {
      std::size_t index = old[i].hash & (new_size - 1);
      while (slots_[index].id != 0) index = (index + 1) & (new_size - 1);
      slots_[index] = old[i];
    }
    return true;
  }

  PageArray<Slot> slots_;  // size is 0 or a power of two; at most half are used
  std::size_t count_ = 0;
};

// Values that are compared by their bytes: they have no padding and no pointers.
template <typename T>
class ValueDictionary {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);

 public:
  std::uint32_t id(const T& value) noexcept {
    if (last_ != 0 && std::memcmp(&at(last_), &value, sizeof(T)) == 0) return last_;
    last_ = table_.find_or_add(
        XXH3_64bits(&value, sizeof(T)), [&](std::uint32_t known) { return std::memcmp(&at(known), &value, sizeof(T)) == 0; },
        [&] { return values_.push_back(value) ? static_cast<std::uint32_t>(values_.size()) : 0; });
    return last_;
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(values_.size()); }
  // Requires: 1 <= id <= size().
  [[nodiscard]] const T& at(std::uint32_t id) const noexcept { return values_[id - 1]; }

 private:
  IdTable table_;
  PageArray<T> values_;
  std::uint32_t last_ = 0;
};

class StringDictionary {
 public:
  std::uint32_t id(std::string_view text) noexcept {
    return table_.find_or_add(
        XXH3_64bits(text.data(), text.size()), [&](std::uint32_t known) { return at(known) == text; }, [&] { return add(text); });
  }

  // The id of a C string that is likely to come again at the same address. The text is compared all the same, because the address may have been reused for
  // another string.
  std::uint32_t id_of_pointer(const char* text) noexcept {
    if (text == nullptr) return 0;
    Pointer& cached = pointers_[XXH3_64bits(&text, sizeof(text)) % kPointers];
    if (cached.text == text) {
      const std::string_view known = at(cached.id);
      if (std::strncmp(known.data(), text, known.size()) == 0 && text[known.size()] == '\0') return cached.id;
    }
    const std::uint32_t found = id(text);
    if (found != 0) cached = {text, found};
    return found;
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(places_.size()); }
  // Requires: 1 <= id <= size().
  [[nodiscard]] std::string_view at(std::uint32_t id) const noexcept {
    const Place& place = places_[id - 1];
    return {reinterpret_cast<const char*>(text_.bytes().data()) + place.offset, place.size};
  }

 private:
  static constexpr std::size_t kPointers = 4096;
  struct Place {
    std::uint64_t offset;
    std::uint64_t size;
  };
  struct Pointer {
    const char* text;
    std::uint32_t id;
  };

  std::uint32_t add(std::string_view text) noexcept {
    const Place place{text_.size(), text.size()};
    if (!text_.reserve(text.size() + 1)) return 0;
    text_.append(text.data(), text.size());
    return places_.push_back(place) ? static_cast<std::uint32_t>(places_.size()) : 0;
  }

  IdTable table_;
  PageBuffer text_;
  PageArray<Place> places_;
  Pointer pointers_[kPointers] = {};
};

}  // namespace lanescope::agent::encode
