// What changed from trace A to trace B of a pair, and what of that is more than noise. Choosing a row shows the longest event of its name, the longest
// idle time of its cause, the longest range that matrix products were launched in, or an iteration of about the mean, in both traces: they begin together
// then, and that of A is selected, or that of B where it is asked for. What counters said of kernels that both traces measured
// stands in a table of its own, whose rows show a measured launch of each trace. Nothing is compared while the panel is hidden.
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
  [[nodiscard]] QTabWidget& pages() { return *pages_; }  // of the two tables; one page alone has no tab
  [[nodiscard]] QString summary() const { return summary_->text(); }

 signals:
  void compareRequested();                                         // the user wants to choose B
  void bubblesRequested(lanescope::ui::AnsweredTrace::Choice of);  // a row about idle time was activated: of the run that is idle longer
  void eventsRequested();                                          // the events of a row were listed
  void kernelRequested();                                          // a row about a kernel's counters was activated: the launch is selected
  void said(const QString& sentence);                              // why a row that was chosen leads nowhere

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void forget();
  void compare();
  void showSentence(const QString& sentence);
  void showDiff(const analysis::TraceDiff& diff);
  void showCounters(std::vector<analysis::CounterChange> changes);
  enum class Side { kFirst, kSecond };  // of which an event is to be selected
  void offerSides(ResultTable& table, std::function<void(TableRow, Side)> show);
  void showItem(const analysis::DiffItem& item, Side selected);
  [[nodiscard]] bool hasNoPlace(const analysis::DiffItem& item) const;  // it is a sum over all of the traces
  void sayNoPlace(const analysis::DiffItem& item);
  void listItem(const analysis::DiffItem& item);
  void showLaunches(const analysis::CounterChange& change, Side selected);

  SelectionState& state_;
  TracePair& pair_;
  QLabel* summary_;
  QLabel* command_;
  QPushButton* choose_;
  QTabWidget* pages_;
  ResultTable* table_;
  ResultTable* counters_;
  LatestJob job_;
  LatestJob search_;
  bool is_compared_ = false;                      // what the pair holds now
  std::vector<analysis::DiffItem> items_;         // a row each
  std::vector<analysis::CounterChange> changes_;  // the same
  std::string iterations_;                        // the family of ranges that traces were aligned by
  bool is_by_iteration_ = false;
};

}  // namespace lanescope::ui
