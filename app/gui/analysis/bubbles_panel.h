// Idle time of GPUs, grouped by cause, NVTX range and call, and gap by gap. Choosing a row shows its place in the timeline.
//
// Follows the bound part of time. Nothing is computed while the panel is hidden.
#pragma once

#include <memory>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QWidget>

#include "analysis/answered_trace.h"
#include "analysis/bubble_list.h"
#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class BubblesPanel : public QWidget {
  Q_OBJECT

 public:
  BubblesPanel(SelectionState& state, AnsweredTrace& answered, QWidget* parent = nullptr);

  [[nodiscard]] bool isComputing() const { return collecting_.isRunning() || grouping_.isRunning() || paced_.isPending(); }
  [[nodiscard]] ResultTable& groups() { return *groups_; }
  [[nodiscard]] ResultTable& gaps() { return *gaps_; }
  [[nodiscard]] QString summary() const { return summary_->text(); }
  [[nodiscard]] QString advice() const { return advice_->isVisible() ? advice_->text() : QString(); }

 signals:
  // Of what the thread that ended a gap ran in it; both as they are shown.
  void flameGraphRequested(lanescope::ThreadId thread, lanescope::TimeRange time);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void layOut();
  void refresh();  // collects again where the trace is another one, else groups
  void collect();
  void group();
  void list();
  void showListed();
  void clear(const QString& sentence);
  void applyThreshold();
  void showSummary();
  void hideSilentColumns(ResultTable& view);
  void selectChosenGroup();
  void showGroup(TableRow row);
  void showAdvice(const QString& parts);
  void showGap(std::uint32_t position);
  void describeGap(TableRow row);
  void requestFlameGraph();
  [[nodiscard]] BubbleGrouping grouping() const { return static_cast<BubbleGrouping>(by_->currentData().toInt()); }

  SelectionState& state_;
  AnsweredTrace& answered_;
  AnsweredTraceBox* of_;
  QComboBox* by_;
  QLineEdit* threshold_text_;
  QLabel* summary_;
  ResultTable* groups_;
  ResultTable* gaps_;
  QLabel* advice_;
  QAction* flame_graph_;  // of the chosen gap

  Nanoseconds threshold_ = 10'000;
  std::shared_ptr<const BubbleList> bubbles_;  // collected last; null: not yet
  AnsweredTrace::Subject made_of_;             // what they are of
  AnsweredTrace::Subject wanted_;              // of what they are being collected, or were last
  // What stands in the tables, and what their rows are about: replaced at once, while more is collected.
  struct Tables {
    AnsweredTrace::Subject subject;
    std::shared_ptr<const BubbleList> bubbles;  // null: the tables are empty
    GroupedBubbles grouped;
    ListedBubbles listed;
  };
  Tables shown_;
  QString advised_;     // about what is chosen
  std::string chosen_;  // the name of the group of which gaps are listed; empty: of all
  LatestJob collecting_;
  LatestJob grouping_;
  PacedUpdate paced_;
};

}  // namespace lanescope::ui
