// The search box: finds the events whose names contain what is typed, and walks through them by start, at the zoom that is.
#pragma once

#include <memory>
#include <vector>

#include <QLabel>
#include <QLineEdit>
#include <QTimer>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"

namespace lanescope::ui {

class EventSearch : public QWidget {
  Q_OBJECT

 public:
  explicit EventSearch(SelectionState& state, QWidget* parent = nullptr);

  void focusText();
  void searchFor(const QString& text);
  void next();  // after the selected event, else after the beginning of what is visible; from the last to the first
  void previous();
  [[nodiscard]] bool isSearching() const { return job_.isRunning() || typing_.isActive() || paced_.isPending(); }

 signals:
  void left();                                    // by Esc
  void searchedTextChanged(const QString& text);  // that what was found contains; empty when there is no search

 private:
  enum class Step { kNone, kNext, kPrevious };
  void search(Step then);
  void follow(TraceChange change);
  void forget();
  void go(Step step);
  void lookFor(Step step);
  [[nodiscard]] EventRef selectedInSearch() const;
  void showPosition();

  SelectionState& state_;
  QLineEdit* text_;
  QLabel* position_;
  QTimer typing_;
  PacedUpdate paced_;  // of a trace that grows
  LatestJob job_;
  std::shared_ptr<const Trace> searched_trace_;
  QString searched_text_;
  std::vector<EventRef> matches_;  // by start
  std::uint64_t too_many_ = 0;     // matches, at least: so many that none are kept
};

}  // namespace lanescope::ui
