#include "writers.h"

namespace lanescope::stats {
namespace {

void write_rule(const std::vector<std::size_t>& widths, std::string_view left, std::string_view middle, std::string_view right, std::string& text) {
  for (std::size_t i = 0; i < widths.size(); ++i) {
    text += i == 0 ? left : middle;
    for (std::size_t k = 0; k < widths[i] + 2; ++k) text += "─";
  }
  text.append(right).append("\n");
}

}  // namespace

void write_box(const Table& table, TimeUnit unit, TextInParts& parts) {
  std::string& text = parts.text;
  const std::vector<std::size_t> widths = column_widths(table, unit);
  write_rule(widths, "┌", "┬", "┐", text);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    text += "│ ";
    append_aligned(text, shown_title(table.columns()[i], unit), widths[i], Alignment::kCenter);
    text += ' ';
  }
  text += "│\n";
  write_rule(widths, "├", "┼", "┤", text);
  std::string cell;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const Column& column = table.columns()[i];
      cell.clear();
      append_shown_cell(cell, table, column, row, unit);
      text += "│ ";
      append_aligned(text, cell, widths[i], is_text(column) ? Alignment::kLeft : Alignment::kRight);
      text += ' ';
    }
    text += "│\n";
    if (!parts.end_row()) return;
  }
  write_rule(widths, "└", "┴", "┘", text);
}

}  // namespace lanescope::stats
