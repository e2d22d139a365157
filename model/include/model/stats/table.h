// A table: the answer of a report or a rule. It has typed columns, so that ten million rows stay small and sort fast.
//
// Values are raw: times in ns, sizes in bytes, shares in percent. How they are shown (units, decimals, separators) is decided by the code that shows
// them: see format.h.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/trace/storage/name_table.h"

namespace lanescope::stats {

enum class Unit : std::uint8_t {
  kNone,        // counts, and averages of counts
  kNumber,      // reals with all their digits
  kIdentifier,  // numbers that are names: process ids, correlation ids
  kPercent,
  kNanoseconds,
  kBytes,
  kBytesPerSecond,
  kWords,  // texts that are our words, not names of the program: a viewer may show them in another language
};

enum class TextId : std::uint32_t {};  // a text of a table; 0 is the empty text

// Absent values: an empty cell.
inline constexpr std::int64_t kNoInteger = std::numeric_limits<std::int64_t>::min();
inline constexpr double kNoReal = std::numeric_limits<double>::quiet_NaN();

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;  // shown with one decimal (sizes and rates: three)
using Texts = std::vector<TextId>;

// Values that are looked up when a cell is read, in data that the function owns: columns over events share one list of events and keep no value a row.
// Any thread may call it.
template <typename Value>
using Computed = std::function<Value(std::size_t row)>;

struct Column {
  std::string title;  // without the unit: "Total Time"
  Unit unit = Unit::kNone;
  std::variant<Integers, Reals, Texts, Computed<std::int64_t>, Computed<TextId>> values;

  [[nodiscard]] bool has_texts() const noexcept { return std::holds_alternative<Texts>(values) || std::holds_alternative<Computed<TextId>>(values); }
  [[nodiscard]] bool has_words() const noexcept { return unit == Unit::kWords; }
  [[nodiscard]] bool has_reals() const noexcept { return std::holds_alternative<Reals>(values); }
  // Each requires a column of that type, and row < row_count() of the table.
  [[nodiscard]] TextId text(std::size_t row) const {
    const auto* own = std::get_if<Texts>(&values);
    return own ? (*own)[row] : std::get<Computed<TextId>>(values)(row);
  }
  [[nodiscard]] double real(std::size_t row) const { return std::get<Reals>(values)[row]; }
  [[nodiscard]] std::int64_t integer(std::size_t row) const {
    const auto* own = std::get_if<Integers>(&values);
    return own ? (*own)[row] : std::get<Computed<std::int64_t>>(values)(row);
  }
};

// A column without rows yet.
[[nodiscard]] inline Column integers(std::string title, Unit unit = Unit::kNone) { return {std::move(title), unit, Integers{}}; }
[[nodiscard]] inline Column identifiers(std::string title) { return {std::move(title), Unit::kIdentifier, Integers{}}; }
[[nodiscard]] inline Column reals(std::string title, Unit unit = Unit::kNone) { return {std::move(title), unit, Reals{}}; }
[[nodiscard]] inline Column texts(std::string title) { return {std::move(title), Unit::kNone, Texts{}}; }
[[nodiscard]] inline Column words(std::string title) { return {std::move(title), Unit::kWords, Texts{}}; }

using Cell = std::variant<std::int64_t, double, TextId>;

// Texts by their ids. A text takes 16 bytes plus its own bytes: there may be millions. A copy grows independently.
class TableTexts {
 public:
  TableTexts() = default;
  TableTexts(const TableTexts& other) : texts_(other.texts_.detached()) {}
  TableTexts(TableTexts&& other) noexcept : texts_(std::exchange(other.texts_, {})) {}
  TableTexts& operator=(TableTexts other) noexcept {
    std::swap(texts_, other.texts_);
    return *this;
  }
  ~TableTexts() = default;

  // Equal texts that are added twice are kept twice.
  TextId add(std::string_view text) { return text.empty() ? TextId{0} : static_cast<TextId>(texts_.append(text) + 1); }
  // The text stays where it is while this object, or one that it was moved to, lives.
  [[nodiscard]] std::string_view operator[](TextId id) const noexcept {
    return id == TextId{0} ? std::string_view() : texts_[static_cast<std::size_t>(id) - 1];
  }

 private:
  NameTable texts_;
};

class Table {
 public:
  Table() = default;
  // A table whose texts are known already: cells may refer to these, too.
  explicit Table(std::vector<Column> columns, TableTexts texts = {}) : columns_(std::move(columns)), texts_(std::move(texts)) {}

  [[nodiscard]] const std::vector<Column>& columns() const noexcept { return columns_; }
  [[nodiscard]] std::size_t row_count() const noexcept { return rows_; }
  [[nodiscard]] bool empty() const noexcept { return rows_ == 0; }
  [[nodiscard]] std::string_view text(TextId id) const noexcept { return texts_[id]; }

  // Keeps a text for cells to name. Equal texts that are added twice are kept twice.
  TextId add_text(const std::string& text) { return texts_.add(text); }

  // Replaces all columns. Requires: each has this number of rows.
  void set_columns(std::vector<Column> columns, std::size_t rows) {
    columns_ = std::move(columns);
    rows_ = rows;
  }

  // Inserts a column in front of the one at `place`, or after all. Requires: it has as many rows as the others, place <= columns().size().
  void insert_column(std::size_t place, Column column) { columns_.insert(columns_.begin() + static_cast<std::ptrdiff_t>(place), std::move(column)); }

  // Appends a row: one cell a column, each of the column's type (std::int64_t, double, TextId). Requires: no column is Computed.
  template <typename... Cells>
  void add_row(Cells... cells) {
    std::size_t column = 0;
    (add_cell(columns_[column++], cells), ...);
    ++rows_;
  }

  // The same for a vector of cells.
  void add_cells(const std::vector<Cell>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) std::visit([&](auto cell) { add_cell(columns_[i], cell); }, cells[i]);
    ++rows_;
  }

  // Reserves room for this number of rows: with millions of rows, growth by doubling takes a third more.
  void reserve(std::size_t rows) {
    for (Column& column : columns_)
      std::visit(
          [&](auto& values) {
            if constexpr (requires { values.reserve(rows); }) values.reserve(rows);
          },
          column.values);
  }

  // Keeps the first `count` rows.
  void truncate(std::size_t count) {
    if (count >= rows_) return;
    rows_ = count;
    for (Column& column : columns_)
      std::visit(
          [&](auto& values) {
            if constexpr (requires { values.resize(count); }) values.resize(count);
          },
          column.values);
  }

 private:
  static void add_cell(Column& column, std::int64_t value) { std::get<Integers>(column.values).push_back(value); }
  static void add_cell(Column& column, double value) { std::get<Reals>(column.values).push_back(value); }
  static void add_cell(Column& column, TextId value) { std::get<Texts>(column.values).push_back(value); }

  std::vector<Column> columns_;
  TableTexts texts_;
  std::size_t rows_ = 0;
};

}  // namespace lanescope::stats
