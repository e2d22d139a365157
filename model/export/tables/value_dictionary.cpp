#include "value_dictionary.h"

#include <algorithm>
#include <numeric>

namespace lanescope::exporters {
namespace {

// Fibonacci hashing: the high bits of a product with 2^64 / golden ratio.
std::size_t slot_of(std::int64_t value, int bits) { return static_cast<std::size_t>(static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15u >> (64 - bits)); }

// Open addressing with linear probing, at most half full.
class Slots {
 public:
  explicit Slots(int bits) : bits_(bits), slots_(std::size_t{1} << bits) {}
  [[nodiscard]] bool is_full(std::size_t entries) const { return 2 * entries >= slots_.size(); }
  // The number of the value; `next` if it is new.
  std::uint32_t find_or_add(std::int64_t value, std::uint32_t next) {
    for (std::size_t slot = slot_of(value, bits_);; slot = (slot + 1) & (slots_.size() - 1)) {
      Slot& found = slots_[slot];
      if (found.number == 0) found = {value, next + 1};
      if (found.value == value) return found.number - 1;
    }
  }
  [[nodiscard]] int bits() const { return bits_; }

 private:
  struct Slot {
    std::int64_t value = 0;
    std::uint32_t number = 0;  // plus one; 0: free
  };
  int bits_;
  std::vector<Slot> slots_;
};

}  // namespace

std::optional<ValueDictionary> dictionary_of(std::span<const std::int64_t> column, std::size_t limit) {
  ValueDictionary dictionary;
  dictionary.indices.reserve(column.size());
  Slots slots(8);
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (i > 0 && column[i] == column[i - 1]) {
      dictionary.indices.push_back(dictionary.indices.back());
      continue;
    }
    const auto next = static_cast<std::uint32_t>(dictionary.values.size());
    const std::uint32_t number = slots.find_or_add(column[i], next);
    dictionary.indices.push_back(number);
    if (number != next) continue;
    if (dictionary.values.size() == limit) return std::nullopt;
    dictionary.values.push_back(column[i]);
    if (!slots.is_full(dictionary.values.size())) continue;
    slots = Slots(slots.bits() + 2);
    for (std::size_t known = 0; known < dictionary.values.size(); ++known) slots.find_or_add(dictionary.values[known], static_cast<std::uint32_t>(known));
  }
  return dictionary;
}

ValueDictionary ascending(ValueDictionary dictionary) {
  std::vector<std::uint32_t> order(dictionary.values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return dictionary.values[a] < dictionary.values[b]; });
  std::vector<std::int64_t> values;
  std::vector<std::uint32_t> places(order.size());
  values.reserve(order.size());
  for (const std::uint32_t number : order) {
    places[number] = static_cast<std::uint32_t>(values.size());
    values.push_back(dictionary.values[number]);
  }
  for (std::uint32_t& index : dictionary.indices) index = places[index];
  dictionary.values = std::move(values);
  return dictionary;
}

}  // namespace lanescope::exporters
