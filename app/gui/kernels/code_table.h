// Lines or instructions of a kernel, one per row. Rows with more samples, or higher counts, have warmer colours.
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QStringList>
#include <QTableView>

#include "tables/quiet_focus.h"

namespace lanescope::ui {

// A value in one of the further columns.
struct CodeNumber {
  QString text;
  double warmth = 0;  // relative to the other rows of the column
};

struct CodeRow {
  QString place;  // "45", "0x0120"
  QString text;
  double share = 0;  // of all samples, 0 to 1
  QString reason;    // the reason of most of them
  QString tip;
  bool is_source = true;                 // false: a heading
  std::vector<CodeNumber> numbers = {};  // one for each further column, or empty
};

class CodeTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kSamples, kReason, kPlace, kText, kColumns };
  explicit CodeTableModel(QObject* parent = nullptr);

  // `further`: titles of the columns after those that all tables have.
  void setRows(std::vector<CodeRow> rows, QStringList further = {});
  [[nodiscard]] const std::vector<CodeRow>& rows() const { return rows_; }
  [[nodiscard]] bool hasSamples() const { return hottest_ > 0; }
  // By samples; if no row has any, by the first further column.
  [[nodiscard]] double warmth(int row) const;
  // Marks rows that belong to a choice in another table. Requires: ascending.
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
  // Scrolls to the row; rowChosen() is emitted if the choice changed.
  void chooseRow(int row);
  // The row with the next smaller warmth after the chosen one, and after the last row the hottest; -1 if no row has any warmth.
  [[nodiscard]] int nextHotRow() const;
  // The next row below the chosen one, continuing from the top, whose text contains `text`, ignoring case; -1: none.
  [[nodiscard]] int find(const QString& text) const;

  // Scrolls only vertically, so that choosing a long line does not move the columns beside it out of sight.
  void scrollTo(const QModelIndex& index, ScrollHint hint = EnsureVisible) override;

 signals:
  void rowChosen(int row);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitText();
  CodeTableModel* model_;
  int text_width_ = 0;  // px of the longest line
};

}  // namespace lanescope::ui
