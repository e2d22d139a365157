// A table of the model, from a report or a rule, for a view: sorted by any column, with times, sizes and shares formatted for people.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <QAbstractTableModel>

#include "model/stats/table.h"
#include "model/trace/types.h"

namespace lanescope::ui {

using TableRow = std::size_t;  // of a stats::Table; its line in the view depends on the sorting

class ResultModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit ResultModel(QObject* parent = nullptr);

  // Null: none. Rows have the order of the table until the user sorts by a column. `leaders`: for each row, the row that it follows in any order; a row that is
  // its own leader is sorted by its values, and its followers come behind it in the table. Empty: each row is its own leader.
  void setTable(std::shared_ptr<const stats::Table> table, std::vector<TableRow> leaders = {});
  [[nodiscard]] const std::shared_ptr<const stats::Table>& table() const { return table_; }
  [[nodiscard]] std::vector<int> linesOfRows() const;  // the line that shows each row of the table. O(rows)
  [[nodiscard]] TableRow tableRow(int row) const { return order_[static_cast<std::size_t>(row)]; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;  // missing values come last; -1: the order of the table. O(rows · log rows)

 private:
  [[nodiscard]] const stats::Column& column(int section) const { return table_->columns()[static_cast<std::size_t>(section)]; }
  void sortRows(int section, Qt::SortOrder order);

  std::shared_ptr<const stats::Table> table_;
  std::vector<TableRow> order_;
  std::vector<TableRow> leaders_;  // none: each row is its own
};

// True if the column holds points in time, not durations.
[[nodiscard]] bool is_point_in_time(const stats::Column& column);

// Identifies a row across states of a table by its texts, its start and its identifiers, as a number that is unique in practice. O(columns).
[[nodiscard]] std::uint64_t identity_of_row(const stats::Table& table, TableRow row);

// The part of time of a row, if its columns tell it: "Start" with "Duration" or "End", also with a word in front of each.
[[nodiscard]] std::optional<TimeRange> time_of_row(const stats::Table& table, TableRow row);

}  // namespace lanescope::ui
