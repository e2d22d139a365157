// Lines or instructions of a kernel, one below the other, the warmer the more samples they have.
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QTableView>

#include "tables/quiet_focus.h"

namespace lanescope::ui {

struct CodeRow {
  QString place;   // "45", "0x0120"
  QString text;
  double share = 0;  // of all samples, 0 to 1
  QString reason;    // that holds most of them
  QString tip;
  bool is_source = true;  // else a heading
};

class CodeTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kSamples, kReason, kPlace, kText, kColumns };
  explicit CodeTableModel(QObject* parent = nullptr);

  void setRows(std::vector<CodeRow> rows);
  [[nodiscard]] const std::vector<CodeRow>& rows() const { return rows_; }
  // Rows that belong to what was chosen elsewhere. Requires: ascending.
  void mark(std::vector<int> rows);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<CodeRow> rows_;
  std::vector<int> marked_;
  double hottest_ = 0;
};

class CodeTable : public QuietFocus<QTableView> {
  Q_OBJECT

 public:
  CodeTable(const QString& accessible_name, QWidget* parent = nullptr);

  [[nodiscard]] CodeTableModel& code() { return *model_; }
  [[nodiscard]] int chosenRow() const { return currentIndex().row(); }  // -1: none
  // Scrolls there; rowChosen() comes where it was another one.
  void chooseRow(int row);
  // The row with the next smaller share of samples than the chosen one has, and after the last the hottest; -1 where none has any.
  [[nodiscard]] int nextHotRow() const;
  // The next row below the chosen one, or from the top, whose text contains this, whatever its case; -1: none.
  [[nodiscard]] int find(const QString& text) const;

 signals:
  void rowChosen(int row);

 private:
  CodeTableModel* model_;
};

}  // namespace lanescope::ui
