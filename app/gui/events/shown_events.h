// The events that lists and statistics are about: those of the shown row, the bound part of time and the filter, by start.
//
// Follows a SelectionState and gathers anew, off the GUI thread, when one of them changes. While the trace grows or the view moves, it
// gathers again only after a pause that grows with the time that gathering takes.
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

struct EventList {
  EventValues values;
  std::vector<EventRef> events;       // by start; none where they are too many to be held
  std::optional<EventStream> stream;  // which goes through them then
  // At most, where they are too many to be held.
  [[nodiscard]] std::uint64_t count() const { return stream ? stream->most : events.size(); }
};

// The lanes of a whole trace whose events are listed: those of samples and thread states only where they are asked for.
[[nodiscard]] EventScope listed_scope(const Trace& trace);

// How many events may be listed in memory: a list takes some 32 bytes for each while it is ordered. Of a trace whose events are not in memory,
// as many as a quarter of the memory for events holds; of more, the order is kept in a file.
[[nodiscard]] std::size_t most_listed(const Trace& trace);

class ShownEvents : public QObject {
  Q_OBJECT

 public:
  explicit ShownEvents(SelectionState& state, QObject* parent = nullptr);

  // Null while there is no trace, or only its outline, or where there are too many.
  [[nodiscard]] const std::shared_ptr<const EventList>& list() const { return list_; }
  // Whether there are more than most_listed(), and nobody asked for them all the same.
  [[nodiscard]] bool areTooMany() const { return too_many_; }
  // Lists them all the same, in a file, until another trace is shown.
  void listAllTheSame();
  // That there are more than can be listed, and what to choose then; empty where areTooMany() is not so.
  [[nodiscard]] QString whyTooMany() const;
  // Why there are none in a list(), and a link to list all: "There are no events on this row…". Requires: a trace.
  [[nodiscard]] QString whyNone() const;
  // That not all events of the trace are listed, on account of a row or of filters, and a link to list all; empty where all are, or those of a part of time.
  [[nodiscard]] QString whyNotAll() const;
  void listAll();  // of the whole trace, whatever row, part of time and filter were chosen
  [[nodiscard]] bool isGathering() const { return job_.isRunning() || moved_.isPending() || grown_.isPending(); }
  // Lists of later states of the trace come only while this does not run, which takes a list in.
  void waitFor(const LatestJob& job) { grown_.after(job); }

 signals:
  // kSnapshot where the list is a later state of the same list.
  void changed(lanescope::ui::TraceChange change);

 private:
  void gather(TraceChange change);

  SelectionState& state_;
  LatestJob job_;
  PacedUpdate moved_;  // the bound part of time
  PacedUpdate grown_;  // the trace
  std::shared_ptr<const EventList> list_;
  bool too_many_ = false;
  bool however_many_ = false;
};

}  // namespace lanescope::ui
