// The status bar: what the trace holds, how complete it is, and what is in progress.
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStatusBar>
#include <QStringList>

#include "base/state/selection_state.h"

namespace lanescope::ui {

// A line of parts, the most important first. Parts are shown as far as there is room, "…" stands for the others, and the tool tip has all.
class PartsLabel : public QLabel {
  Q_OBJECT

 public:
  using QLabel::QLabel;
  void setParts(const QStringList& parts, const QString& further_tip = {});
  [[nodiscard]] QString shown() const;  // the part of text() that is shown
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

  void showDamage();                          // of the files of this trace; shown until another trace is opened
  void showUnreadable(std::uint64_t events);  // events of this trace that can no longer be read
  void showLoading(const QString& file_name);
  void showProgress(double fraction);  // 0 to 1
  void showRecording(const QStringList& parts);
  void showIdle();
  [[nodiscard]] QString text() const { return trace_->text(); }

 signals:
  void cancelRequested();

 private:
  void showTrace();
  [[nodiscard]] QString completeness() const;  // requires a trace
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

// "1,204 events", counted as in lists of all events; thread states and samples are counted separately. Null: there is no trace yet.
[[nodiscard]] QString events_text(const Trace* trace);

// "just now", "5 min ago", "2 h ago", "3 days ago"; older ages are shown as a date.
[[nodiscard]] QString age_text(qint64 seconds);

}  // namespace lanescope::ui
