// Shows a table of the model. Selected rows are copied as TSV; a parent window that writes files can write the whole table.
//
// A later state of the shown table with the same columns replaces it without moving anything: the selected lines, the current one and the scroll position stay,
// and rowChosen() is not emitted. A row that no longer exists is deselected.
#pragma once

#include <memory>
#include <set>

#include <QTableView>
#include <QVariantMap>

#include "tables/quiet_focus.h"
#include "tables/result_model.h"

namespace lanescope::ui {

class ResultTable;

// Writes tables to files for the user: implemented by a widget that contains the table.
class TableFiles {
 public:
  virtual void saveTable(const ResultTable& table) = 0;

 protected:
  ~TableFiles() = default;
};

class ResultTable : public QuietFocus<QTableView> {
  Q_OBJECT

 public:
  // `name`: the key under which the widths that the user chose are stored; empty: they are not stored.
  ResultTable(const QString& name, const QString& accessible_name, QWidget* parent = nullptr);

  // In the order of the table until the user sorts by a column; columns are fitted if they differ from the previous ones. Null: none, and the next table starts
  // at its top. `names`: identifies each row in later states; empty: identity_of_row() does. `leaders`: see ResultModel.
  void setTable(std::shared_ptr<const stats::Table> table, std::vector<std::string> names = {}, std::vector<TableRow> leaders = {});
  [[nodiscard]] const ResultModel& results() const { return *model_; }
  [[nodiscard]] std::optional<TableRow> chosenRow() const;
  void chooseRow(TableRow row);  // emits rowChosen()

  // Actions that are added to the table are offered in the context menu of its rows, for chosenRow().

  // Makes the columns as wide as their content, within the table if possible; columns whose widths the user chose are not changed. It runs by itself when the
  // width of the table changes.
  void fitColumns();
  void setHiddenColumns(std::set<int> sections);  // and fits the others
  // The column whose texts stay legible in a narrow table.
  void setTelling(const QString& title) { telling_ = title; }
  // Columns that are left out one after the other while the table is too narrow for all columns with legible texts, unless the table is sorted by one or the
  // user chose its width.
  void setDispensable(const QStringList& titles) { dispensable_ = titles; }
  // Widths in pixels that the user chose by dragging a border of the header, by the titles of the columns.
  [[nodiscard]] const QVariantMap& chosenWidths() const { return chosen_widths_; }
  void setChosenWidths(const QVariantMap& widths);

  // Copies selected rows in the order in which they are shown, with plain numbers and a line of headers.
  void copySelection() const;

 signals:
  void rowChosen(lanescope::ui::TableRow row);     // it became the current row
  void rowActivated(lanescope::ui::TableRow row);  // by a double-click or Enter

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showMenu(const QPoint& position);
  void showHeaderMenu(const QPoint& position);
  [[nodiscard]] QString title(int section) const;
  [[nodiscard]] std::uint64_t identityOf(TableRow row) const;
  [[nodiscard]] TableFiles* files() const;  // null: no parent writes files

  ResultModel* model_;
  bool fitting_ = false;
  bool is_being_filled_ = false;                                  // a line that becomes current meanwhile was not chosen by the user
  std::vector<std::string> names_;                                // identify the rows; empty: identity_of_row() does
  std::vector<std::string> titles_;                               // of the columns of the last table
  std::pair<int, Qt::SortOrder> sorted_{-1, Qt::AscendingOrder};  // by the user
  QVariantMap chosen_widths_;
  QString telling_;          // title of a column
  QStringList dispensable_;  // the same
  std::set<int> left_out_;   // sections of these
  std::set<int> hidden_;     // sections
};

}  // namespace lanescope::ui
