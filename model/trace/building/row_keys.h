// Positions of rows of a table, by a key that identifies them.
#pragma once

#include <map>
#include <optional>
#include <utility>

namespace lanescope {

template <typename Key>
class RowKeys {
 public:
  // The row of the key, and whether it must still be added at the end of the table.
  std::pair<std::size_t, bool> of(const Key& key, std::size_t table_size) {
    const auto [found, inserted] = rows_.try_emplace(key, table_size);
    return {found->second, inserted};
  }
  [[nodiscard]] std::optional<std::size_t> find(const Key& key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<Key, std::size_t> rows_;
};

}  // namespace lanescope
