// Lines or instructions of a kernel, one below the other, the warmer the more samples they have, and the more was counted at them.
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QStringList>
#include <QTableView>

#include "tables/quiet_focus.h"

namespace lanescope::ui {

// In one of a table's further columns.
struct CodeNumber {
  QString text;
  double warmth = 0;  // in proportion to that of other rows of the column
};

struct CodeRow {
  QString place;  // "45", "0x0120"
  QString text;
  double share = 0;  // of all samples, 0 to 1
  QString reason;    // that holds most of them
  QString tip;
  bool is_source = true;                 // else a heading
  std::vector<CodeNumber> numbers = {};  // one for each further column; or none
};

class CodeTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kSamples, kReason, kPlace, kText, kColumns };
  explicit CodeTableModel(QObject* parent = nullptr);

  // `further`: titles of columns beyond those that every table has.
  void setRows(std::vector<CodeRow> rows, QStringList further = {});
  [[nodiscard]] const std::vector<CodeRow>& rows() const { return rows_; }
  [[nodiscard]] bool hasSamples() const { return hottest_ > 0; }
  // By its samples; where no row has any, by its first further column.
  [[nodiscard]] double warmth(int row) const;
  // Rows that belong to what was chosen elsewhere. Requires: ascending.
  void mark(std::vector<int> rows);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<CodeRow> rows_;
  QStringList further_;
  std::vector<double> warmest_;  // of each further column
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
  // The row with the next smaller warmth than the chosen one has, and after the last the hottest; -1 where none has any.
  [[nodiscard]] int nextHotRow() const;
  // The next row below the chosen one, or from the top, whose text contains this, whatever its case; -1: none.
  [[nodiscard]] int find(const QString& text) const;

  // Up and down alone: a long line that is chosen leaves the columns beside it in sight.
  void scrollTo(const QModelIndex& index, ScrollHint hint = EnsureVisible) override;

 signals:
  void rowChosen(int row);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  [[nodiscard]] bool leadsToWhatIsTyped() const override { return false; }  // N leads to the next hot row, and lines begin with their numbers

 private:
  void fitText();
  CodeTableModel* model_;
  int text_width_ = 0;  // px of the longest line
};

}  // namespace lanescope::ui
