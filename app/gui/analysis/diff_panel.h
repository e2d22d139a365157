// What changed from another trace (A) to the shown one (B), and what of that is more than noise. Choosing a row shows the longest event of
// its name in the timeline.
#pragma once

#include <memory>

#include <QLabel>
#include <QPushButton>
#include <QWidget>

#include "base/latest_job.h"
#include "base/selection_state.h"
#include "model/analysis/trace_diff.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class DiffPanel : public QWidget {
  Q_OBJECT

 public:
  explicit DiffPanel(SelectionState& state, QWidget* parent = nullptr);

  void setFile(const QString& path);  // of the shown trace
  // Opens A and compares. What can't be opened or compared is said in the panel.
  void compareWith(const QString& path);

  [[nodiscard]] bool isComputing() const { return job_.isRunning(); }
  [[nodiscard]] ResultTable& table() { return *table_; }
  [[nodiscard]] QString summary() const { return summary_->text(); }

 signals:
  void compareRequested();  // the user wants to choose A
  void bubblesRequested();  // a row about idle time was activated
  void eventsRequested();   // the events of a row were listed

 private:
  void compare();
  void showDiff(const analysis::TraceDiff& diff);
  void showItem(const analysis::DiffItem& item);
  void listItem(const analysis::DiffItem& item);

  SelectionState& state_;
  QString file_;
  QString other_file_;
  QLabel* summary_;
  QLabel* command_;
  QPushButton* choose_;
  ResultTable* table_;
  LatestJob job_;
  LatestJob search_;
  std::shared_ptr<const Trace> other_;
  std::vector<analysis::DiffItem> items_;  // a row each
  std::string iterations_;                 // the family of ranges that traces were aligned by
};

}  // namespace lanescope::ui
