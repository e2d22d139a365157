// The texts of a trace by their ids: an AppendOnlyTable (see there) of text. It takes 16 bytes a text plus the bytes of the text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "model/trace/storage/append_only_table.h"

namespace lanescope {

class NameTable {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }
  // Requires: index < size(). The text stays where it is while any copy of the table lives.
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept { return texts_[index]; }

  // A copy that may grow independently. O(1).
  [[nodiscard]] NameTable detached() const {
    NameTable copy = *this;
    copy.texts_ = texts_.detached();
    copy.memory_ = memory_.detached();
    copy.room_ = nullptr;
    copy.free_bytes_ = 0;
    return copy;
  }

  // Returns the new text's index. Only the writer may call it.
  std::size_t append(std::string_view text) {
    if (text.size() > free_bytes_) {
      free_bytes_ = std::max(text.size(), std::min(kLargestPiece, kSmallestPiece + memory_bytes_));
      const auto piece = std::make_shared_for_overwrite<char[]>(free_bytes_);
      room_ = piece.get();
      memory_bytes_ += free_bytes_;
      memory_.append(piece);
    }
    if (!text.empty()) std::memcpy(room_, text.data(), text.size());
    const std::string_view kept(room_, text.size());
    room_ += text.size();
    free_bytes_ -= text.size();
    return texts_.append(kept);
  }

  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_ + texts_.size() * sizeof(std::string_view); }

 private:
  static constexpr std::size_t kSmallestPiece = 4u << 10, kLargestPiece = 1u << 20;
  AppendOnlyTable<std::string_view> texts_;
  AppendOnlyTable<std::shared_ptr<const char[]>> memory_;
  std::size_t memory_bytes_ = 0;
  char* room_ = nullptr;  // where the next text goes
  std::size_t free_bytes_ = 0;
};

}  // namespace lanescope
