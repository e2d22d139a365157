// A table that only grows, and that readers share with its one writer.
//
// Rows live in blocks that never move. A copy of the table is a snapshot: it shares the blocks, keeps its own size, and may be read from any thread
// without locks while the writer appends to the original, because rows below a snapshot's size never change.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace lanescope {

template <typename Row>
class AppendOnlyTable {
 public:
  static constexpr std::size_t kBlockRows = 1024;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // Requires: index < size().
  const Row& operator[](std::size_t index) const noexcept { return (*blocks_[index / kBlockRows])[index % kBlockRows]; }

  // A copy that may grow independently: rows that are appended to one are not seen by the other. O(kBlockRows).
  [[nodiscard]] AppendOnlyTable detached() const {
    AppendOnlyTable copy = *this;
    if (size_ % kBlockRows != 0) copy.blocks_.back() = std::make_shared<Block>(*blocks_.back());
    return copy;
  }

  // Returns the new row's index. Only the writer may call it.
  std::size_t append(Row row) {
    if (size_ % kBlockRows == 0) blocks_.push_back(std::make_shared<Block>(kBlockRows));
    (*blocks_.back())[size_ % kBlockRows] = std::move(row);
    return size_++;
  }

 private:
  using Block = std::vector<Row>;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace lanescope
