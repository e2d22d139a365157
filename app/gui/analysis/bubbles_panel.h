// Idle time of GPUs: grouped by cause, NVTX range and call, and as a list of gaps, each of which unfolds into its parts. Choosing a row selects its gap and
// shows it in the timeline.
//
// Follows the bound part of time, unless that is a selected gap, which is one of the lines. Nothing is computed while the panel is hidden.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QWidget>

#include "analysis/answered_trace.h"
#include "analysis/bubble_list.h"
#include "base/jobs/latest_job.h"
#include "base/jobs/while_shown.h"
#include "base/state/selection_state.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class BubblesPanel : public QWidget {
  Q_OBJECT

 public:
  BubblesPanel(SelectionState& state, AnsweredTrace& answered, QWidget* parent = nullptr);

  [[nodiscard]] bool isComputing() const { return collecting_.isRunning() || grouping_.isRunning() || while_shown_.isPending(); }
  [[nodiscard]] ResultTable& groups() { return *groups_; }
  [[nodiscard]] ResultTable& gaps() { return *gaps_; }
  [[nodiscard]] QString summary() const { return summary_->text(); }
  [[nodiscard]] QString advice() const { return advice_->isVisible() ? advice_->text() : QString(); }

 signals:
  // Requests the samples of the thread that ended a gap, within the gap; both in ids and times of the shown trace.
  void flameGraphRequested(lanescope::ThreadId thread, lanescope::TimeRange time);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void layOut();
  void refresh();  // collects again if the trace has changed, else only groups
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
  enum class Fold { kOpen, kClose, kToggle };
  void fold(TableRow row, Fold how);
  // True if the row is a gap that is unfolded, false if it can be unfolded; nothing if it is a part, or a gap with only one part.
  [[nodiscard]] std::optional<bool> isUnfolded(TableRow row) const;
  [[nodiscard]] std::optional<TableRow> rowOfMark(const QPoint& place) const;
  [[nodiscard]] std::optional<TimeRange> window() const;
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
  QAction* flame_graph_;  // for the chosen gap
  QAction* parts_;        // likewise

  Nanoseconds threshold_ = 10'000;
  std::shared_ptr<const BubbleList> bubbles_;  // the last result; null: none yet
  AnsweredTrace::Subject made_of_;             // the subject of bubbles_
  AnsweredTrace::Subject wanted_;              // the subject of the running or the last computation
  // What the tables show and what their rows refer to. Replaced at once when a computation has finished.
  struct Tables {
    AnsweredTrace::Subject subject;
    std::shared_ptr<const BubbleList> bubbles;  // null: the tables are empty
    GroupedBubbles grouped;
    ListedBubbles listed;
  };
  Tables shown_;
  QString advised_;                 // what the advice is about
  std::set<std::string> unfolded_;  // names of gaps
  std::string chosen_;              // the name of the group whose gaps are listed; empty: all gaps
  LatestJob collecting_;
  LatestJob grouping_;
  WhileShown while_shown_{*this, [this] { refresh(); }};
};

}  // namespace lanescope::ui
