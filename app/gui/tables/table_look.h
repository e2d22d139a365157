// How all tables of the viewer look: dense, without a grid, rows of equal height.
#pragma once

#include <map>
#include <set>

#include <QTableView>

namespace lanescope::ui {

// A table that is sorted by a click on its header begins at its top: the largest or the first is what was asked for.
void apply_table_look(QTableView& table);

// Of a line of a table or of another list, in pixels.
[[nodiscard]] int line_height(const QAbstractItemView& list);

// Behind what is under the cursor, here or in another view.
[[nodiscard]] QColor hover_color();

// Makes columns as wide as what their first rows hold, within limits, and within the table where that can be; `chosen` ones, by section, as
// wide as that (pixels). Texts of `telling` sections, which say what a line is about, stay legible beside those of the first ones.
void fit_columns(QTableView& table, const std::map<int, int>& chosen, const std::set<int>& telling = {});

}  // namespace lanescope::ui
