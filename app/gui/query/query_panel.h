// Questions in SQL about the shown trace (model/query): what is typed, or one of those that many ask, is answered by a table, and a column of
// numbers by a histogram. A row that says when something was leads to it; all of them can be a row of the timeline. :begin and :end are the
// bound part of time; an answer about it follows the selection.
//
// Nothing is computed while the panel is hidden.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QWidget>

#include "analysis/answered_trace.h"
#include "base/latest_job.h"
#include "base/paced_update.h"
#include "base/selection_state.h"
#include "model/query/query.h"
#include "panels/duration_chart.h"
#include "tables/result_table.h"
#include "timeline/core/answer_row.h"

namespace lanescope::ui {

class QueryPanel : public QWidget {
  Q_OBJECT

 public:
  QueryPanel(SelectionState& state, AnsweredTrace& answered, QWidget* parent = nullptr);

  [[nodiscard]] QString text() const { return editor_->toPlainText(); }
  void setText(const QString& sql) { editor_->setPlainText(sql); }
  void ask();   // what is typed
  void stop();  // what is being answered

  [[nodiscard]] ResultTable& table() { return *table_; }
  [[nodiscard]] QString message() const { return message_->text(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }

 signals:
  // The ranges of time of the answer are to be shown as a row of the timeline; null: none are any more.
  void rowChanged(std::shared_ptr<const lanescope::timeline::AnswerRow> row);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void layOut();
  void follow();  // the bound part of time, where the answer is about it
  void answer();
  void present(Result<query::QueryAnswer> answer, std::shared_ptr<const timeline::AnswerRow> row);
  void showRow();
  void showMessage(const QString& text);
  void showHistogram();

  SelectionState& state_;
  AnsweredTrace& answered_;
  AnsweredTraceBox* of_;
  QComboBox* ready_;
  QPlainTextEdit* editor_;
  QPushButton* ask_;
  QPushButton* stop_;
  QLabel* message_;
  ResultTable* table_;
  DurationChart* chart_;
  QCheckBox* on_timeline_;
  std::shared_ptr<const timeline::AnswerRow> row_;  // of the answer; null where it says no times
  QString asked_;                             // the question that was answered, or is being; empty: none
  query::TimeUse time_ = query::TimeUse::kWhole;
  std::shared_ptr<const Trace> made_of_;
  std::optional<TimeRange> made_for_;
  Nanoseconds made_shift_ = 0;  // of its times on the time axis
  LatestJob job_;
  PacedUpdate paced_;
};

}  // namespace lanescope::ui
