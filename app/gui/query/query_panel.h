// Questions in SQL about the shown trace (model/query): what is typed, or one of those that many ask, is answered by a table, and a column of
// numbers by a histogram. A row that says when something was leads to it; all of them can be a row of the timeline. :begin and :end are the
// bound part of time; an answer about it follows the selection. What was asked before comes back by Up and Down, or from a menu, over restarts.
//
// Nothing is computed while the panel is hidden.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>

#include "analysis/answered_trace.h"
#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "base/state/settings.h"
#include "model/query/query.h"
#include "panels/duration_chart.h"
#include "tables/result_table.h"
#include "timeline/core/rows/answer_row.h"

namespace lanescope::ui {

class QueryPanel : public QWidget {
  Q_OBJECT

 public:
  QueryPanel(SelectionState& state, AnsweredTrace& answered, Settings& settings, QWidget* parent = nullptr);

  [[nodiscard]] QString text() const { return editor_->toPlainText(); }
  void setText(const QString& sql) { editor_->setPlainText(sql); }
  void ask();   // what is typed
  void stop();  // what is being answered

  [[nodiscard]] ResultTable& table() { return *table_; }
  [[nodiscard]] QString message() const { return failure_->isHidden() ? message_->text() : failure_->text(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }

 signals:
  // The ranges of time of the answer are to be shown as a row of the timeline; null: none are any more.
  void rowChanged(std::shared_ptr<const lanescope::timeline::AnswerRow> row);

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void layOut();
  void write(const QString& sql);  // what stands there can be brought back by undoing this
  enum class Direction { kEarlier, kLater };
  [[nodiscard]] bool recall(Direction direction);  // whether there is one
  void fillRecent();
  // What an answer is of.
  struct Asked {
    AnsweredTrace::Subject subject;
    std::optional<TimeRange> window;
    Nanoseconds shift = 0;  // of the trace's times on the time axis
    bool operator==(const Asked&) const = default;
  };
  [[nodiscard]] Asked now() const;
  void follow();  // the trace, and the bound part of time, where the answer is about it
  void answer();
  void present(Result<query::QueryAnswer> answer, const Asked& of, std::shared_ptr<const timeline::AnswerRow> row);
  void clear();
  void showRow();
  void showHint();
  void showMessage(const QString& text);
  void showFailure(const QString& sentence);  // whole, however long it is
  void showHistogram();

  SelectionState& state_;
  AnsweredTrace& answered_;
  Settings& settings_;
  AnsweredTraceBox* of_;
  QComboBox* ready_;
  QToolButton* recent_;
  QPlainTextEdit* editor_;
  QPushButton* ask_;
  QPushButton* stop_;
  QLabel* message_;
  QLabel* failure_;  // in place of it, why there is no answer
  ResultTable* table_;
  DurationChart* chart_;
  QCheckBox* on_timeline_;
  std::shared_ptr<const timeline::AnswerRow> row_;  // of the answer; null where it says no times
  QString asked_;                                   // the question that was answered, or is being; empty: none
  QString answered_question_;                       // that of which the answer is in the table
  qsizetype recalled_ = -1;                         // which of those that were asked before stands in the field; -1: none
  QString draft_;                                   // that was typed before the first of them came
  query::TimeUse time_ = query::TimeUse::kWhole;
  Asked asked_of_;  // last
  Asked made_of_;   // what is in the table; of no trace where there is nothing
  LatestJob job_;
  PacedUpdate paced_;
};

}  // namespace lanescope::ui
