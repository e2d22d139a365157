// Shows a table of the model. Selected rows are copied as TSV, the whole table is exported as CSV.
#pragma once

#include <memory>

#include <QTableView>

#include "model/file/result.h"
#include "tables/result_model.h"

namespace lanescope::ui {

class ResultTable : public QTableView {
  Q_OBJECT

 public:
  explicit ResultTable(const QString& accessible_name, QWidget* parent = nullptr);

  // In the table's own order; the columns are fitted where they are others than before.
  void setTable(std::shared_ptr<const stats::Table> table);
  [[nodiscard]] const ResultModel& results() const { return *model_; }
  [[nodiscard]] std::optional<TableRow> chosenRow() const;
  void chooseRow(TableRow row);  // emits rowChosen()

  // Actions that are added to the table are offered in the menu of its rows, about chosenRow().

  // Fits the columns anew, after some were hidden or shown; not where their user chose the widths. Comes by itself where the table's own
  // width changes.
  void fitColumns();

  // Selected rows in the order in which they are shown, with their plain numbers and a line of headers.
  void copySelection() const;
  [[nodiscard]] Result<void> exportCsv(const QString& path) const;

 signals:
  void rowChosen(lanescope::ui::TableRow row);     // it became the current one
  void rowActivated(lanescope::ui::TableRow row);  // double-clicked, or Enter was pressed

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showMenu(const QPoint& position);
  void chooseExport();

  ResultModel* model_;
  bool fitting_ = false;
  bool widths_are_chosen_ = false;  // by dragging a border of the header
};

}  // namespace lanescope::ui
