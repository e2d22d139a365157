// Rows of a table of a trace by the process that each belongs to, for callers that look up every process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope {

template <typename Row>
class ByProcess {
 public:
  // The table must outlive it. O(rows · log rows).
  explicit ByProcess(const std::vector<Row>& rows) : rows_(&rows), order_(rows.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) { return process_of(a) < process_of(b); });
  }

  // Positions in the table of the rows of a process (kNone: rows that belong to no process), in their order. O(log rows).
  [[nodiscard]] std::span<const std::uint32_t> positions(ProcessId process) const noexcept {
    const auto begin = std::lower_bound(order_.begin(), order_.end(), process, [this](std::uint32_t row, ProcessId key) { return process_of(row) < key; });
    const auto end = std::upper_bound(begin, order_.end(), process, [this](ProcessId key, std::uint32_t row) { return key < process_of(row); });
    return {begin, end};
  }
  // Calls visit(row) for each of these rows.
  template <typename Visit>
  void for_each(ProcessId process, Visit visit) const {
    for (const std::uint32_t position : positions(process)) visit((*rows_)[position]);
  }

 private:
  [[nodiscard]] ProcessId process_of(std::uint32_t position) const noexcept {
    const Row& row = (*rows_)[position];
    if constexpr (requires { row.key.process; })
      return row.key.process;
    else if constexpr (requires { row->process; })
      return row->process;
    else
      return row.process;
  }

  const std::vector<Row>* rows_;
  std::vector<std::uint32_t> order_;
};

}  // namespace lanescope
