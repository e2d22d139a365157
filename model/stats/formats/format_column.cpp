#include "writers.h"

namespace lanescope::stats {
namespace {

void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

}  // namespace

void write_column(const Table& table, TimeUnit unit, TextInParts& parts) {
  std::string& text = parts.text;
  const std::vector<std::size_t> widths = column_widths(table, unit);
  const auto gap = [&](std::size_t column) { text += column == 0 ? " " : "  "; };
  for (std::size_t i = 0; i < widths.size(); ++i) {
    gap(i);
    append_aligned(text, shown_title(table.columns()[i], unit), widths[i], Alignment::kCenter);
  }
  end_line(text);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    gap(i);
    text.append(widths[i], '-');
  }
  end_line(text);
  std::string cell;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const Column& column = table.columns()[i];
      cell.clear();
      append_shown_cell(cell, table, column, row, unit);
      gap(i);
      append_aligned(text, cell, widths[i], is_text(column) ? Alignment::kLeft : Alignment::kRight);
    }
    end_line(text);
    if (!parts.end_row()) return;
  }
}

}  // namespace lanescope::stats
