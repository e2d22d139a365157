// The look of all tables of the viewer: dense, without a grid, rows of equal height.
#pragma once

#include <map>
#include <set>

#include <QHeaderView>
#include <QTableView>

namespace lanescope::ui {

// When the user sorts the table by a click on its header, it scrolls to its top, because the largest or the first entry is wanted.
void apply_table_look(QTableView& table);

// Of a line of a table or of another list, in pixels.
[[nodiscard]] int line_height(const QAbstractItemView& list);

// As QHeaderView::restoreState(), but returns false and leaves the header as it is if the state has columns that the table lacks: a later version of the
// viewer, which uses the same settings, may have stored it.
[[nodiscard]] bool restore_header(QHeaderView& header, const QByteArray& state);

// The background of what is under the cursor, in this or another view.
[[nodiscard]] QColor hover_color();

// Makes columns as wide as the content of their first rows, within limits, and within the table if possible. `chosen`: columns, by section, with fixed widths
// (pixels). `telling`: sections whose texts say what a line is about; they stay legible beside the first sections. `first`: whether these may become narrower
// than that where all columns then have room.
enum class FirstTexts { kLegible, kAnyWidth };
void fit_columns(QTableView& table, const std::map<int, int>& chosen, const std::set<int>& telling = {}, FirstTexts first = FirstTexts::kAnyWidth);

}  // namespace lanescope::ui
