// csv and tsv: raw numbers, one line a row.
#include "writers.h"

namespace lanescope::stats {
namespace {

void append_csv(std::string& text, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    text += cell;
    return;
  }
  text += '"';
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

// A tab or line break within a cell would shift columns and rows: it becomes \t, \n; a backslash stays as it is.
void append_tsv(std::string& text, std::string_view cell) {
  for (const char c : cell) switch (c) {
      case '\t':
        text += "\\t";
        break;
      case '\n':
        text += "\\n";
        break;
      case '\r':
        text += "\\r";
        break;
      default:
        text += c;
    }
}

void write_separated(const Table& table, TimeUnit unit, char separator, void (*append)(std::string&, std::string_view), std::string& text) {
  bool first = true;
  for (const Column& column : table.columns()) {
    if (!first) text += separator;
    first = false;
    append(text, shown_title(column, unit));
  }
  text += '\n';
  std::string cell;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    first = true;
    for (const Column& column : table.columns()) {
      if (!first) text += separator;
      first = false;
      if (!is_text(column)) {
        append_cell(text, table, column, row, unit, Separators::kNone);
        continue;
      }
      cell.clear();
      append_cell(cell, table, column, row, unit, Separators::kNone);
      append(text, cell);
    }
    text += '\n';
  }
}

}  // namespace

void write_csv(const Table& table, TimeUnit unit, std::string& text) { write_separated(table, unit, ',', append_csv, text); }
void write_tsv(const Table& table, TimeUnit unit, std::string& text) { write_separated(table, unit, '\t', append_tsv, text); }

}  // namespace lanescope::stats
