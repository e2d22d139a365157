// What changed from trace A to trace B of a pair, and which changes are more than noise. Choosing a row shows an example in both traces: the longest event of
// the name, the gap with the longest idle time of the cause, the longest range in which the matrix products were launched, or an iteration of about the mean
// duration. Both are aligned at their starts, and that of A is selected, or that of B if the user asks for it. Counters of kernels that both traces measured
// are in a table of their own, whose rows show a measured launch of each trace. Nothing is compared while the panel is hidden.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <QWidget>

#include "analysis/answered_trace.h"
#include "analysis/trace_pair.h"
#include "base/jobs/latest_job.h"
#include "base/jobs/while_shown.h"
#include "base/room/scrolled_label.h"
#include "base/state/selection_state.h"
#include "model/analysis/diff/counter_diff.h"
#include "model/analysis/diff/trace_diff.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class DiffPanel : public QWidget {
  Q_OBJECT

 public:
  DiffPanel(SelectionState& state, TracePair& pair, QWidget* parent = nullptr);

  [[nodiscard]] bool isComputing() const { return job_.isRunning() || search_.isRunning(); }
  [[nodiscard]] ResultTable& table() { return *table_; }
  [[nodiscard]] ResultTable& counters() { return *counters_; }
  [[nodiscard]] QTabWidget& pages() { return *pages_; }  // of the two tables; a single page has no tab
  [[nodiscard]] QString summary() const { return summary_->text(); }

 signals:
  void compareRequested();                                         // the user wants to choose B
  void bubblesRequested(lanescope::ui::AnsweredTrace::Choice of);  // a row about idle time was activated: for the run that is idle longer
  void eventsRequested();                                          // the events of a row were listed
  void kernelRequested();                                          // a row about counters of a kernel was activated: the launch is selected
  void said(const QString& sentence);                              // why a chosen row has no place to show

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void forget();
  void compare();
  void showSentence(const QString& sentence);
  void showDiff(const analysis::TraceDiff& diff);
  void showCounters(std::vector<analysis::CounterChange> changes);
  enum class Side { kFirst, kSecond };  // the trace whose event is selected
  void offerSides(ResultTable& table, std::function<void(TableRow, Side)> show);
  void showItem(const analysis::DiffItem& item, Side selected);
  [[nodiscard]] bool hasNoPlace(const analysis::DiffItem& item) const;  // the item is a sum over the whole traces
  void sayNoPlace(const analysis::DiffItem& item);
  void listItem(const analysis::DiffItem& item);
  void showLaunches(const analysis::CounterChange& change, Side selected);

  SelectionState& state_;
  TracePair& pair_;
  QLabel* summary_;
  ScrolledLabel* summary_room_;
  QLabel* command_;
  QPushButton* choose_;
  QTabWidget* pages_;
  ResultTable* table_;
  ResultTable* counters_;
  LatestJob job_;
  LatestJob search_;
  bool is_compared_ = false;                      // the present content of the pair was compared
  std::vector<analysis::DiffItem> items_;         // one for each row
  std::vector<analysis::CounterChange> changes_;  // one for each row
  std::string iterations_;                        // the family of ranges by which the traces were aligned
  bool is_by_iteration_ = false;
  WhileShown while_shown_{*this, [this] { compare(); }};
};

}  // namespace lanescope::ui
