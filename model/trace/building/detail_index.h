// Details of one kind, each once. Internal to model/trace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "detail_hash.h"
#include "model/trace/trace.h"
#include "row_index.h"

namespace lanescope {

// Row 0 is the default: nothing known.
template <typename Detail>
class DetailIndex {
 public:
  DetailIndex() { append({}, hash_of(Detail{})); }

  DetailId intern(const Detail& detail) {
    // Consecutive events mostly share their detail.
    if (detail == last_) return last_id_;
    const std::uint64_t hash = hash_of(detail);
    const std::uint32_t known = index_.find(hash, [&](std::uint32_t row) { return rows_[row] == detail; });
    last_id_ = known != kNone ? known : append(detail, hash);
    last_ = detail;
    return last_id_;
  }

  [[nodiscard]] const AppendOnlyTable<Detail>& rows() const { return rows_; }
  [[nodiscard]] std::size_t memory_bytes() const { return rows_.size() * sizeof(Detail) + index_.memory_bytes(); }

 private:
  DetailId append(const Detail& detail, std::uint64_t hash) {
    index_.append(hash, [this](std::uint32_t row) { return hash_of(rows_[row]); });
    return static_cast<DetailId>(rows_.append(detail));
  }

  RowIndex index_;
  AppendOnlyTable<Detail> rows_;
  Detail last_;
  DetailId last_id_ = 0;
};

}  // namespace lanescope
