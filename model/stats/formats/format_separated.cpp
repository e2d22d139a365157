// csv and tsv: raw numbers, one line a row.
#include "model/trace/text/utf8.h"
#include "writers.h"

namespace lanescope::stats {
namespace {

// Line feeds and tabs are allowed in quotes; other control characters are escaped, because tables are also shown on terminals.
void append_csv(std::string& text, std::string_view cell) {
  const std::string shown = printable(cell, LineBreaks::kKept);
  if (shown.find_first_of(",\"\n") == std::string::npos) {
    text += shown;
    return;
  }
  text += '"';
  for (const char c : shown) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

// A tab or line break within a cell would shift columns and rows: they become \t and \n. A backslash stays as it is.
void append_tsv(std::string& text, std::string_view cell) { append_printable(text, cell, LineBreaks::kEscaped); }

void write_separated(const Table& table, TimeUnit unit, char separator, void (*append)(std::string&, std::string_view), TextInParts& parts) {
  std::string& text = parts.text;
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
    if (!parts.end_row()) return;
  }
}

}  // namespace

void write_csv(const Table& table, TimeUnit unit, TextInParts& parts) { write_separated(table, unit, ',', append_csv, parts); }
void write_tsv(const Table& table, TimeUnit unit, TextInParts& parts) { write_separated(table, unit, '\t', append_tsv, parts); }

}  // namespace lanescope::stats
