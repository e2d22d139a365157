// Shows a table of the model. Selected rows are copied as TSV; a window around it that writes files writes the whole table.
//
// A later state of the table that is shown, which has the same columns, takes its place without moving anything: the lines that are selected,
// the current one and what is in sight stay, and rowChosen() does not come. A row that is not there any more is not selected any more.
#pragma once

#include <memory>

#include <QTableView>
#include <QVariantMap>

#include "tables/quiet_focus.h"
#include "tables/result_model.h"

namespace lanescope::ui {

class ResultTable;

// Writes tables to files for its user: a widget around them.
class TableFiles {
 public:
  virtual void saveTable(const ResultTable& table) = 0;

 protected:
  ~TableFiles() = default;
};

class ResultTable : public QuietFocus<QTableView> {
  Q_OBJECT

 public:
  // `name`: by which the widths that a user chose are remembered; empty: they are not.
  ResultTable(const QString& name, const QString& accessible_name, QWidget* parent = nullptr);

  // In the table's own order until a column is sorted by; the columns are fitted where they are others than before. Null: none, and what comes
  // next begins at its top. `names`: of each row, what makes it the same in a later state, where that is not identity_of_row(); none: it is.
  void setTable(std::shared_ptr<const stats::Table> table, std::vector<std::string> names = {});
  [[nodiscard]] const ResultModel& results() const { return *model_; }
  [[nodiscard]] std::optional<TableRow> chosenRow() const;
  void chooseRow(TableRow row);  // emits rowChosen()

  // Actions that are added to the table are offered in the menu of its rows, about chosenRow().

  // Makes the columns as wide as what they hold, within the table where that can be; those whose widths a user chose stay as they are. Call
  // it after some were hidden or shown; it comes by itself where the table's own width changes.
  void fitColumns();
  // Of a column whose texts are to stay legible in a narrow table.
  void setTelling(const QString& title) { telling_ = title; }
  // Widths in pixels that a user chose by dragging a border of the header, by the columns' titles.
  [[nodiscard]] const QVariantMap& chosenWidths() const { return chosen_widths_; }
  void setChosenWidths(const QVariantMap& widths);

  // Selected rows in the order in which they are shown, with their plain numbers and a line of headers.
  void copySelection() const;

 signals:
  void rowChosen(lanescope::ui::TableRow row);     // it became the current one
  void rowActivated(lanescope::ui::TableRow row);  // double-clicked, or Enter was pressed

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showMenu(const QPoint& position);
  void showHeaderMenu(const QPoint& position);
  [[nodiscard]] QString title(int section) const;
  [[nodiscard]] std::uint64_t identityOf(TableRow row) const;
  [[nodiscard]] TableFiles* files() const;  // null: nobody around it writes files

  ResultModel* model_;
  bool fitting_ = false;
  bool is_being_filled_ = false;                                  // a line that becomes the current one by that was not chosen by anybody
  std::vector<std::string> names_;                                // of the table's rows; empty: they have none
  std::vector<std::string> titles_;                               // of the last table's columns
  std::pair<int, Qt::SortOrder> sorted_{-1, Qt::AscendingOrder};  // by the user
  QVariantMap chosen_widths_;
  QString telling_;  // title of a column
};

}  // namespace lanescope::ui
