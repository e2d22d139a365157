// The status bar: what the trace holds, how complete it is, and what is going on.
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStatusBar>
#include <QStringList>

#include "base/state/selection_state.h"

namespace lanescope::ui {

// A line of parts, the most important first: those that there is room for are shown, with "…" for the others, and all in the tip.
class PartsLabel : public QLabel {
  Q_OBJECT

 public:
  using QLabel::QLabel;
  void setParts(const QStringList& parts, const QString& further_tip = {});
  [[nodiscard]] QString shown() const;  // of text()
  [[nodiscard]] QSize minimumSizeHint() const override { return {1, QLabel::minimumSizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QStringList parts_;
};

class TraceStatus : public QStatusBar {
  Q_OBJECT

 public:
  explicit TraceStatus(SelectionState& state, QWidget* parent = nullptr);

  void showDamage();                          // of the files of this trace; what it said of them ends with the trace
  void showUnreadable(std::uint64_t events);  // of this trace, which can't be read any more
  void showLoading(const QString& file_name);
  void showProgress(double fraction);  // 0 to 1
  void showRecording(const QStringList& parts);
  void showIdle();
  [[nodiscard]] QString text() const { return trace_->text(); }

 signals:
  void cancelRequested();

 private:
  void showTrace();
  void showTime();

  SelectionState& state_;
  bool is_damaged_ = false;
  std::uint64_t unreadable_ = 0;  // events
  PartsLabel* trace_;
  QLabel* time_;
  PartsLabel* activity_;
  QProgressBar* progress_;
  QPushButton* cancel_;
};

// "1,204 events", as lists of all events count them, and states of threads and samples by themselves. Null: none yet.
[[nodiscard]] QString events_text(const Trace* trace);

// "just now", "5 min ago", "2 h ago", "3 days ago", then the date.
[[nodiscard]] QString age_text(qint64 seconds);

}  // namespace lanescope::ui
