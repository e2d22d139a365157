// One report of the model for the shown trace and the bound part of time, as a table.
#pragma once

#include <memory>

#include <QLabel>
#include <QTimer>
#include <QWidget>

#include "analysis/answered_trace.h"
#include "base/jobs/latest_job.h"
#include "base/jobs/while_shown.h"
#include "base/state/selection_state.h"
#include "model/stats/report.h"
#include "tables/result_table.h"

namespace lanescope::ui {

class ReportPage : public QWidget {
  Q_OBJECT

 public:
  ReportPage(SelectionState& state, AnsweredTrace& answered, QWidget* parent = nullptr);

  void setReport(const stats::Report* report);
  [[nodiscard]] ResultTable& table() { return *table_; }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || while_shown_.isPending(); }
  // The words of the command that prints the same, without the file.
  [[nodiscard]] QStringList command() const;

 signals:
  void commandChanged();

 private:
  void clear();
  void refresh();
  void showMessage(const QString& sentence);
  void followRange();

  SelectionState& state_;
  AnsweredTrace& answered_;
  const stats::Report* report_ = nullptr;
  ResultTable* table_;
  QLabel* message_;
  LatestJob job_;
  struct Made {
    AnsweredTrace::Subject subject;
    const stats::Report* report = nullptr;
    std::optional<TimeRange> time;
    bool operator==(const Made&) const = default;
  };
  Made asked_;             // the last request
  Made made_;              // what the table shows; has no trace if the table is empty
  QTimer patience_{this};  // how long the table of another part of time stays
  WhileShown while_shown_{*this, [this] { refresh(); }};
};

}  // namespace lanescope::ui
