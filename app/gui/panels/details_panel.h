// All facts about the selected event, as text that can be selected and copied, with links to what it launched, what launched it and what it waited for; or
// about the selected range: the gap of a GPU that it is, how busy GPUs are in it, and durations by name. The latest selection is shown.
#pragma once

#include <QTextBrowser>
#include <QWidget>

#include "analysis/idle_time_source.h"
#include "analysis/wait_source.h"
#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "panels/range_summary.h"
#include "timeline/core/words/describe.h"

namespace lanescope::ui {

class DetailsPanel : public QWidget {
  Q_OBJECT

 public:
  DetailsPanel(SelectionState& state, const IdleTimeSource& idle, const WaitSource& waits, QWidget* parent = nullptr);

  [[nodiscard]] QString text() const { return browser_->toPlainText(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }

 signals:
  void sourceRequested(const QString& recorded_path, std::uint32_t line);
  void familyRequested(const QString& family);  // the events of the family are to be listed

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show();
  void alignBaselines();
  [[nodiscard]] QString eventHtml(EventRef event) const;
  [[nodiscard]] QString waitsHtml(EventRef event) const;  // what it waited for
  [[nodiscard]] std::optional<TimeRange> wantedRange() const;
  [[nodiscard]] QString rangeHtml(TimeRange range) const;
  void showRange();
  void summarize();  // the selected range
  void copyAll() const;

  SelectionState& state_;
  const IdleTimeSource& idle_;
  const WaitSource& waits_;
  QTextBrowser* browser_;
  QString shown_body_;
  QString shown_color_;
  std::pair<EventRef, std::optional<TimeRange>> shown_subject_;
  bool shows_range_ = false;  // instead of the selected event
  bool shows_open_ = false;   // an event that is open
  std::shared_ptr<const RangeSummary> summary_;
  PacedUpdate paced_;
  LatestJob job_;
};

}  // namespace lanescope::ui
