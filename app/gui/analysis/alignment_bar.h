// One or two lines above the timeline that shows how two traces are aligned on one time axis, and lets the user change that.
#pragma once

#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "analysis/trace_pair.h"
#include "base/jobs/latest_job.h"
#include "base/state/selection_state.h"
#include "base/text/breaking_line.h"
#include "timeline/core/rows/row_layout.h"

namespace lanescope::ui {

// Shown while a pair is open.
class AlignmentBar : public QFrame {
  Q_OBJECT

 public:
  AlignmentBar(TracePair& pair, SelectionState& state, QWidget* parent = nullptr);

  // Shifts B so that the selected event, of A or B, coincides with its counterpart in the other trace, and shows both.
  void alignAtSelection();
  [[nodiscard]] bool isAligning() const { return job_.isRunning(); }

  void showRows(timeline::TraceSides sides);  // how the rows of A and B are arranged now

 signals:
  void rowsWished(lanescope::timeline::TraceSides sides);
  void refused(const QString& sentence);  // why something cannot be done
  void closeRequested();                  // B is to be closed

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showSides();
  void showNames();  // of both traces, as far as there is room
  void showAlignment();
  void chooseAlignment();
  void applyShift();
  void alignAt(const Trace& trace, EventRef selected, std::optional<EventRef> other);

  TracePair& pair_;
  SelectionState& state_;
  BreakingLine* line_ = nullptr;
  QWidget* traces_ = nullptr;  // names_ and what is done with the traces
  QLabel* names_;
  QComboBox* alignment_;
  QLineEdit* shift_;
  QPushButton* at_selection_;
  QPushButton* interleave_;
  LatestJob job_;  // searches the counterpart of the event
};

}  // namespace lanescope::ui
