// A table of the model, a report's or a rule's, as a view shows it: sorted by any column, with times, sizes and shares as people read them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <QAbstractTableModel>

#include "model/stats/table.h"
#include "model/trace/types.h"

namespace lanescope::ui {

using TableRow = std::size_t;  // of a stats::Table; where it is shown depends on the sorting

class ResultModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit ResultModel(QObject* parent = nullptr);

  // Null: none. Rows come in the table's order until a column is sorted by.
  void setTable(std::shared_ptr<const stats::Table> table);
  [[nodiscard]] const std::shared_ptr<const stats::Table>& table() const { return table_; }
  [[nodiscard]] std::vector<int> linesOfRows() const;  // where each row of the table is shown. O(rows)
  [[nodiscard]] TableRow tableRow(int row) const { return order_[static_cast<std::size_t>(row)]; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;  // missing values come last; -1: the table's order. O(rows · log rows)

 private:
  [[nodiscard]] const stats::Column& column(int section) const { return table_->columns()[static_cast<std::size_t>(section)]; }
  void sortRows(int section, Qt::SortOrder order);

  std::shared_ptr<const stats::Table> table_;
  std::vector<TableRow> order_;
};

// Whether the column says when something was, not how long it took.
[[nodiscard]] bool is_point_in_time(const stats::Column& column);

// What makes the row of a later state of a table the same as one of an earlier state: its texts, where it begins, and its identifiers, as a
// number that no other row has in practice. O(columns).
[[nodiscard]] std::uint64_t identity_of_row(const stats::Table& table, TableRow row);

// The part of time that a row is about, where its columns tell: "Start" with "Duration" or "End", also with a word in front of each.
[[nodiscard]] std::optional<TimeRange> time_of_row(const stats::Table& table, TableRow row);

}  // namespace lanescope::ui
