// Remembers the ids of things, as many as fit into a budget. Things that were not asked for lately are forgotten, and get another id when they come
// again. So a dictionary takes no more memory however long the recording is.
//
// The caller numbers the things; ids never repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lanescope::cpu {

template <typename Key, typename Hash = std::hash<Key>>
class RememberedIds {
 public:
  // The budget is in bytes, approximately. Half of it is for things that were asked for lately, half for earlier ones.
  explicit RememberedIds(std::size_t budget) : budget_(budget) {}

  void set_budget(std::size_t budget) noexcept { budget_ = budget; }

  // O(1), amortised.
  template <typename Like>
  std::optional<std::uint32_t> find(const Like& key) {
    if (const auto found = young_.find(key); found != young_.end()) return found->second;
    const auto found = old_.find(key);
    if (found == old_.end()) return std::nullopt;
    const std::uint32_t id = found->second;
    auto node = old_.extract(found);
    make_room(cost_of(node.key()));
    young_.insert(std::move(node));
    return id;
  }
  // Requires: find() has just returned nothing for `key`.
  void add(Key key, std::uint32_t id) {
    make_room(cost_of(key));
    young_.emplace(std::move(key), id);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return young_bytes_ + old_bytes_; }

 private:
  struct Equal {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a == b;
    }
  };
  using Ids = std::unordered_map<Key, std::uint32_t, Hash, Equal>;

  static std::size_t cost_of(const Key& key) {
    constexpr std::size_t kNode = sizeof(Key) + 40;
    if constexpr (std::is_same_v<Key, std::string>)
      return kNode + key.capacity();
    else
      return kNode;
  }
  void make_room(std::size_t bytes) {
    if (young_bytes_ + bytes > budget_ / 2) {
      old_ = std::exchange(young_, {});
      old_bytes_ = std::exchange(young_bytes_, 0);
    }
    young_bytes_ += bytes;
  }

  std::size_t budget_;
  Ids young_;
  Ids old_;
  std::size_t young_bytes_ = 0;
  std::size_t old_bytes_ = 0;
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};
using RememberedTexts = RememberedIds<std::string, TextHash>;

}  // namespace lanescope::cpu
