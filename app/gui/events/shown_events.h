// The events that lists and statistics cover: those of the shown row, the bound part of time and the filter, ordered by start.
//
// Follows a SelectionState and gathers the events again off the GUI thread when it changes. While the trace grows or the view moves, it gathers again only
// after a pause that grows with the time that gathering takes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QObject>

#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "model/events/event_query.h"
#include "model/events/event_values.h"

namespace lanescope::ui {

// What decides which events are listed.
struct EventChoice {
  std::uint64_t trace = 0;  // how many traces were shown before
  std::optional<ShownRow> row;
  EventFilter filter;  // with the part of time
  bool operator==(const EventChoice&) const = default;
};

struct EventList {
  EventValues values;
  std::vector<EventRef> events;       // by start; empty if they are too many for memory
  std::optional<EventStream> stream;  // reads the events in that case
  EventChoice choice;                 // the events were gathered for
  // An upper bound if they are too many for memory.
  [[nodiscard]] std::uint64_t count() const { return stream ? stream->most : events.size(); }
};

// The lanes of a whole trace whose events are listed: lanes of samples and thread states are included only on request.
[[nodiscard]] EventScope listed_scope(const Trace& trace);

// How many events may be listed in memory: a list takes about 32 bytes per event while it is ordered. If the events of the trace are not in memory, the limit
// is what a quarter of the memory for events holds. The order of longer lists is stored in a file.
[[nodiscard]] std::size_t most_listed(const Trace& trace);

class ShownEvents : public QObject {
  Q_OBJECT

 public:
  explicit ShownEvents(SelectionState& state, QObject* parent = nullptr);

  // Null if there is no trace, or only its outline, or if there are too many events.
  [[nodiscard]] const std::shared_ptr<const EventList>& list() const { return list_; }
  // What is to be listed now. list() is of another choice while other events are gathered.
  [[nodiscard]] EventChoice choice() const;
  // True if there are more than most_listed() and listAllTheSame() was not called.
  [[nodiscard]] bool areTooMany() const { return too_many_; }
  // Lists them all the same, with a file, until another trace is shown.
  void listAllTheSame();
  // Says that there are more events than can be listed, and what to choose instead; empty unless areTooMany().
  [[nodiscard]] QString whyTooMany() const;
  // Why list() is empty, and a link to list all: "There are no events on this row…". Requires: a trace.
  [[nodiscard]] QString whyNone() const;
  // Says that a row or filters hide events of the trace, with a link to list all; empty if all events are listed, or all of a part of time.
  [[nodiscard]] QString whyNotAll() const;
  void listAll();  // of the whole trace; clears the chosen row, part of time and filter
  [[nodiscard]] bool isGathering() const { return job_.isRunning() || moved_.isPending() || grown_.isPending(); }
  // Lists of later states of the trace are published only while this job does not run, which takes a list in.
  void waitFor(const LatestJob& job) { grown_.after(job); }

 signals:
  void choiceChanged();  // changed() follows when the events are gathered
  // kSnapshot if the list is a later state of the same list.
  void changed(lanescope::ui::TraceChange change);

 private:
  void gather(TraceChange change);
  void move();  // the bound part of time changed

  SelectionState& state_;
  LatestJob job_;
  PacedUpdate moved_;  // for changes of the bound part of time
  PacedUpdate grown_;  // for changes of the trace
  std::shared_ptr<const EventList> list_;
  std::uint64_t traces_ = 0;  // that were shown
  bool too_many_ = false;
  bool however_many_ = false;
};

}  // namespace lanescope::ui
