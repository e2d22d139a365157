// Code that Nsight's rules share.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/analysis/rule.h"
#include "model/stats/selection.h"
#include "wording.h"

namespace lanescope::analysis {

// The events that the arguments rows, start, end and nvtx select. Fails if nvtx names no range, and if end is not behind start.
[[nodiscard]] inline Result<stats::Selection> select(const RuleContext& context, const RuleArguments& arguments) {
  stats::ReportOptions options;
  options.stop = context.stop;
  const Nanoseconds start = arguments.duration("start"), end = arguments.duration("end");
  if (end <= start) return Error{"The time that start and end choose is empty: give an end behind the start.", ErrorKind::kUsage};
  options.time_range = TimeRange{start > 0 ? start : std::numeric_limits<Nanoseconds>::min(), end};
  if (context.time != kWholeTrace) options.time_range = options.time_range->intersected(context.time);
  if (const std::string& range = arguments.text("nvtx"); !range.empty()) {
    const auto filter = stats::parse_range_filter(range);
    if (!filter) return filter.error();
    options.range = *filter;
  }
  return stats::Selection::of(context.trace, options, context.launch_index);
}

// Keeps those of many values that come first. It holds at most a few values for each one that is wanted.
template <typename Value, typename ComesBefore>
class Foremost {
 public:
  Foremost(std::size_t wanted, ComesBefore comes_before) : wanted_(wanted), comes_before_(std::move(comes_before)) {}
  void add(Value value) {
    ++added_;
    if (is_full_ && !comes_before_(value, values_[wanted_ - 1])) return;
    values_.push_back(std::move(value));
    if (values_.size() / 2 >= std::max(wanted_, kFewest)) drop_rest();
  }
  [[nodiscard]] std::size_t added() const noexcept { return added_; }
  // In order.
  [[nodiscard]] std::vector<Value> take() {
    std::sort(values_.begin(), values_.end(), comes_before_);
    if (values_.size() > wanted_) values_.resize(wanted_);
    return std::move(values_);
  }

 private:
  static constexpr std::size_t kFewest = 512;
  void drop_rest() {
    if (wanted_ > 0) std::nth_element(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(wanted_ - 1), values_.end(), comes_before_);
    values_.resize(wanted_);
    is_full_ = wanted_ > 0;
  }

  std::size_t wanted_;
  ComesBefore comes_before_;
  std::vector<Value> values_;
  std::size_t added_ = 0;
  bool is_full_ = false;  // values_[wanted_ - 1] is the last of the wanted values so far
};

// The number of rows to keep.
[[nodiscard]] inline std::size_t row_limit(const RuleArguments& arguments) {
  const std::int64_t rows = arguments.integer("rows");
  return rows < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(rows);
}

// `rows`: the number of rows without the limit.
[[nodiscard]] inline RuleAnswer answer(std::string name, std::string title, stats::Table table, std::size_t rows, Message nothing_found) {
  if (rows == 0) return {{}, {}, std::move(nothing_found)};
  RuleAnswer result;
  if (table.row_count() < rows) result.message = rows_left_out_text(name, table.row_count(), rows);
  if (table.empty()) return result;
  result.tables.push_back({std::move(name), std::move(title), std::move(table)});
  return result;
}

}  // namespace lanescope::analysis
