// What the selected event waited for, hop by hop (model/analysis/threads/waits.h), worked out off the GUI thread. The chain stays while one of its
// events is selected, so that who follows it sees all of it.
//
// Threads: the GUI thread only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QObject>

#include "base/jobs/latest_job.h"
#include "base/state/selection_state.h"
#include "model/analysis/threads/waits.h"

namespace lanescope::ui {

class WaitSource : public QObject {
  Q_OBJECT

 public:
  explicit WaitSource(SelectionState& state, QObject* parent = nullptr);

  struct Chain {
    std::shared_ptr<const Trace> trace;
    EventRef event;                     // that waited
    std::vector<analysis::Wait> waits;  // the nearest first
    Nanoseconds waited = 0;             // of the kernel of a collective: for the last rank; the rest of it is transfer
    // It, and what it waited for, as far as these are events.
    [[nodiscard]] std::vector<EventRef> events() const;
  };
  // That of the selected event, or one that it is part of; null: not known (yet).
  [[nodiscard]] const std::shared_ptr<const Chain>& chain() const { return chain_; }
  [[nodiscard]] bool isComputing() const { return job_.isRunning(); }

  // Selects what the selected event waited for, as soon as that is known, and shows the chain from then on.
  void follow();

 signals:
  void changed();
  void followed(const std::vector<lanescope::EventRef>& events);  // somebody goes along this chain; none: no more
  void ended(const QString& sentence);                            // it leads no further

 private:
  struct Finder;  // of one trace, and the trace
  void compute();
  void set(std::shared_ptr<const Chain> chain);
  void step();

  SelectionState& state_;
  std::shared_ptr<const Chain> chain_;
  std::shared_ptr<Finder> finder_;
  bool follows_ = false;  // as soon as the chain is there
  LatestJob job_;
};

}  // namespace lanescope::ui
