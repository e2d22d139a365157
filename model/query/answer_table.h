// Makes a table from the rows of a statement, in which each value has its own type. Internal to model/query.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "model/stats/table.h"

namespace lanescope::query {

class AnswerTable {
 public:
  // What the columns `period` are that the statement reads: times, or cycles as in pc_sample_windows.
  enum class Periods { kTimes, kCycles };
  // `statement` must be prepared.
  AnswerTable(sqlite3_stmt* statement, Periods periods);

  void add_row(sqlite3_stmt* statement);
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }  // approximate size

  // Makes the table: a column has integers, numbers if one value is a fraction, or texts if one value is a text. The builder is empty afterwards.
  [[nodiscard]] stats::Table take();

 private:
  using Value = std::variant<std::monostate, std::int64_t, double, stats::TextId>;  // the first type: null
  struct Column {
    std::string title;
    stats::Unit unit = stats::Unit::kNone;
    std::vector<Value> values;
    bool has_texts = false, has_reals = false;
  };
  // A further "name" becomes "name:1", as in tables that SQLite creates. If columns are identified by name, as in JSON, none may hide another.
  [[nodiscard]] std::string own_title(std::string title) const;
  stats::TextId keep(std::string text);
  [[nodiscard]] Value value_of(sqlite3_stmt* statement, int index);
  [[nodiscard]] stats::Column finished(Column& column);

  stats::Table table_;
  std::vector<Column> columns_;
  std::unordered_map<std::string, stats::TextId> texts_;
  std::size_t rows_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace lanescope::query
