// What the selected event, or the operation that ended the selected gap, waited for, hop by hop (model/analysis/threads/waits.h), computed off the GUI thread.
// The chain is kept while one of its events is selected, so that a user who follows it sees all of it. For an NVTX range or a part of time, it is the critical
// path through that step (model/analysis/threads/critical_path.h), computed when the user asks for it and kept while the step or one of its events is selected.
// While the trace grows, both are computed again; until they are known, those of an earlier state of the trace stay.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QObject>

#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "model/analysis/threads/critical_path.h"
#include "model/analysis/threads/waits.h"
#include "timeline/core/pixels/path_arrows.h"

namespace lanescope::ui {

class WaitSource : public QObject {
  Q_OBJECT

 public:
  explicit WaitSource(SelectionState& state, QObject* parent = nullptr);

  struct Chain {
    std::shared_ptr<const Trace> trace;
    EventRef event;                     // the event that waited
    std::vector<analysis::Wait> waits;  // nearest first
    Nanoseconds waited = 0;             // for the kernel of a collective: the wait for the last rank; the rest of its time is transfer
    // The event and what it waited for, as far as these are events.
    [[nodiscard]] std::vector<EventRef> events() const;
    [[nodiscard]] std::vector<timeline::PathPlace> places() const;
  };
  // The chain of the selected event, or one that contains it, of the trace or an earlier state of it; null: not known (yet).
  [[nodiscard]] const std::shared_ptr<const Chain>& chain() const { return chain_; }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || grown_.isPending(); }

  struct StepPath {
    std::shared_ptr<const Trace> trace;
    EventRef step;   // the NVTX range; invalid: a part of time
    TimeRange time;  // of either
    analysis::CriticalPath path;
    std::vector<analysis::PathSum> sums;
    // The places on the path, the last first: the code of an NVTX range at each of its parts, and other events once, at their longest part. If there are very
    // many, those that took longest.
    [[nodiscard]] std::vector<timeline::PathPlace> places() const;
  };
  // Of the trace or an earlier state of it. Null: nobody asked for it, or it is not known yet.
  [[nodiscard]] const std::shared_ptr<const StepPath>& stepPath() const { return step_path_; }

  // Selects what the selected event waited for as soon as it is known, and shows the chain from then on; for a step, shows its critical path.
  void follow();

 signals:
  void changed();
  void followed(const std::vector<lanescope::timeline::PathPlace>& places);  // the user follows this chain; empty: no longer
  void ended(const QString& sentence);                                       // why the chain leads no further

 private:
  struct Finder;  // of one trace; holds the trace
  void compute();
  void renew();  // of a later state of the trace
  enum class Why { kAsked, kGrown };
  void findStepPath(EventRef step, TimeRange time, Why why);
  void leaveStepPath();
  void leaveStepPathOfOthers();
  // The selected event; of a gap that is selected, the operation that ended it.
  [[nodiscard]] EventRef subject() const;
  [[nodiscard]] bool isOnChain(EventRef event) const;
  [[nodiscard]] bool isOnStepPath(EventRef event) const;
  void set(std::shared_ptr<const Chain> chain);
  void step();

  SelectionState& state_;
  std::shared_ptr<const Chain> chain_;
  std::shared_ptr<const StepPath> step_path_;
  std::shared_ptr<Finder> finder_;
  bool follows_ = false;      // when the chain is known
  bool is_followed_ = false;  // the chain is shown
  LatestJob job_;
  PacedUpdate grown_;
};

}  // namespace lanescope::ui
