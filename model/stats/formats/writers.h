// One function a format. Internal to model/stats.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/stats/format.h"

namespace lanescope::stats {

// The text of a table, passed on in parts: as one text, millions of rows would take as much memory as everything else.
class TextInParts {
 public:
  explicit TextInParts(const std::function<bool(std::string_view)>& write) : write_(write) {}
  std::string text;  // text that has not been passed on
  // Called after a row. Returns true if more rows are wanted.
  bool end_row() { return text.size() < kPart || pass_on(); }
  bool pass_on() {
    wanted_ = wanted_ && (text.empty() || write_(text));
    text.clear();
    return wanted_;
  }

 private:
  static constexpr std::size_t kPart = 1u << 20;  // bytes
  const std::function<bool(std::string_view)>& write_;
  bool wanted_ = true;
};

void write_column(const Table& table, TimeUnit unit, TextInParts& parts);
void write_box(const Table& table, TimeUnit unit, TextInParts& parts);
void write_csv(const Table& table, TimeUnit unit, TextInParts& parts);
void write_tsv(const Table& table, TimeUnit unit, TextInParts& parts);
void write_json(const Table& table, TimeUnit unit, TextInParts& parts);

enum class Alignment { kLeft, kCenter, kRight };
// Number of characters that a text takes on a terminal, one a code point.
[[nodiscard]] std::size_t shown_width(std::string_view text) noexcept;
// Appends the text in a field of this width; longer text is clipped, with an ellipsis at its end.
void append_aligned(std::string& line, std::string_view text, std::size_t width, Alignment alignment);
// The widths of the columns in formats for people: the widest of the title and the first 100 rows, 100 at most.
[[nodiscard]] std::vector<std::size_t> column_widths(const Table& table, TimeUnit unit);
// Appends the cell as people read it: with separators, and on one line.
void append_shown_cell(std::string& text, const Table& table, const Column& column, std::size_t row, TimeUnit unit);
[[nodiscard]] inline bool is_text(const Column& column) noexcept { return column.has_texts(); }

}  // namespace lanescope::stats
