// The search box: finds events whose names contain the typed text, and steps through them by start, at the present zoom.
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
  void next();  // after the selected event, else after the start of the visible range; after the last match comes the first
  void previous();
  [[nodiscard]] bool isSearching() const { return job_.isRunning() || typing_.isActive() || paced_.isPending(); }

 signals:
  void left();                                    // by Esc
  void searchedTextChanged(const QString& text);  // the text that all found events contain; empty if there is no search

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
  PacedUpdate paced_;  // follows a growing trace
  LatestJob job_;
  std::shared_ptr<const Trace> searched_trace_;
  QString searched_text_;
  std::vector<EventRef> matches_;  // by start
  std::uint64_t too_many_ = 0;     // a lower bound of the number of matches if there are too many to keep
};

}  // namespace lanescope::ui
