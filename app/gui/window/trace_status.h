// The status bar: what the trace holds, how complete it is, and what is going on.
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStatusBar>

#include "base/selection_state.h"

namespace lanescope::ui {

class TraceStatus : public QStatusBar {
  Q_OBJECT

 public:
  explicit TraceStatus(SelectionState& state, QWidget* parent = nullptr);

  void showLoading(const QString& file_name);
  void showProgress(double fraction);  // 0 to 1
  void showRecording(const QString& sentence);
  void showIdle();
  [[nodiscard]] QString text() const { return trace_->text(); }

 signals:
  void cancelRequested();

 private:
  void showTrace();
  void showTime();

  SelectionState& state_;
  QLabel* trace_;
  QLabel* time_;
  QLabel* activity_;
  QProgressBar* progress_;
  QPushButton* cancel_;
};

// "just now", "5 min ago", "2 h ago", "3 days ago", then the date.
[[nodiscard]] QString age_text(qint64 seconds);

}  // namespace lanescope::ui
