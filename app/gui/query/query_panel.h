// SQL queries over the shown trace (model/query): the typed query, or one of the common ones, is answered by a table, and by a histogram for a column of
// numbers. A row with a time leads to its place; all rows together can be a row of the timeline. :begin and :end are the bound part of time; an answer that
// uses them follows the selection. Previous queries are available by Up and Down, or from a menu, also after a restart.
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
#include "base/jobs/while_shown.h"
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
  void ask();   // runs the typed query
  void stop();  // stops the query that runs

  [[nodiscard]] ResultTable& table() { return *table_; }
  [[nodiscard]] QString message() const { return failure_->isHidden() ? message_->text() : failure_->text(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || while_shown_.isPending(); }

 signals:
  // The time ranges of the answer are to be shown as a row of the timeline; null: no longer.
  void rowChanged(std::shared_ptr<const lanescope::timeline::AnswerRow> row);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void layOut();
  void write(const QString& sql);  // undo restores the previous text
  enum class Direction { kEarlier, kLater };
  [[nodiscard]] bool recall(Direction direction);  // true if there is one
  void fillRecent();
  // The input of an answer.
  struct Asked {
    AnsweredTrace::Subject subject;
    std::optional<TimeRange> window;
    Nanoseconds shift = 0;  // from the trace's times to the time axis
    bool operator==(const Asked&) const = default;
  };
  [[nodiscard]] Asked now() const;
  void refresh();  // answers again if the trace has changed, or the bound part of time and the answer uses it
  void answer();
  void present(Result<query::QueryAnswer> answer, const Asked& of, std::shared_ptr<const timeline::AnswerRow> row);
  void clear();
  void showPlace(TableRow row);  // on the timeline
  void showRow();
  void showHint();
  void showMessage(const QString& text);
  void showFailure(const QString& sentence);  // completely, even if it is long
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
  QLabel* failure_;  // why there is no answer; replaces the table
  ResultTable* table_;
  DurationChart* chart_;
  QCheckBox* on_timeline_;
  std::shared_ptr<const timeline::AnswerRow> row_;  // of the answer; null if it has no times
  QString asked_;                                   // the query that was answered or is running; empty: none
  QString answered_question_;                       // the query whose answer is in the table
  qsizetype recalled_ = -1;                         // index of the previous query that is in the field; -1: none
  QString draft_;                                   // the text that was typed before a previous query replaced it
  query::TimeUse time_ = query::TimeUse::kWhole;
  std::optional<Asked> asked_of_;  // of the last query; nothing: it was not run yet
  Asked made_of_;                  // of the table; has no trace if the table is empty
  LatestJob job_;
  WhileShown while_shown_{*this, [this] { refresh(); }};
};

}  // namespace lanescope::ui
