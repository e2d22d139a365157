#include "events/shown_events.h"

#include <algorithm>
#include <limits>

#include "events/value_chips.h"
#include "model/events/event_query.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

// True if all sources are whole lanes; a row that shows a part of a lane, for example one kernel name, lists only events of that part.
bool is_whole(const std::vector<timeline::LaneSource>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const timeline::LaneSource& source) { return source.whole(); });
}
bool is_of(const Trace& trace, const std::vector<timeline::LaneSource>& sources, EventRef ref) {
  const Event event = trace.event(ref);
  return std::any_of(sources.begin(), sources.end(),
                     [&](const timeline::LaneSource& source) { return source.lane == ref.lane && source.matches(trace, event); });
}

// Samples and thread states are numerous and rarely wanted in a list of all events: they are listed only if their kind is chosen.
bool is_listed_on_request(TrackKind kind) {
  return kind == TrackKind::kThreadStates || kind == TrackKind::kProcessors || kind == TrackKind::kCpuSamples || kind == TrackKind::kBacktraces;
}

EventScope lanes_of(const Trace& trace, bool (*is_wanted)(TrackKind)) {
  std::vector<LaneId> lanes;
  for (LaneId lane = 0; lane < trace.lanes().size(); ++lane)
    if (is_wanted(trace.track_of(lane).key.kind)) lanes.push_back(lane);
  return EventScope::lanes_of_trace(std::move(lanes));
}

EventScope scope_of(const Trace& trace, const std::optional<ShownRow>& row, std::optional<EventKind> kind) {
  const bool on_request = kind == EventKind::kThreadState || kind == EventKind::kProcessor || kind == EventKind::kCpuSample || kind == EventKind::kBacktrace;
  if (!row && !on_request) return listed_scope(trace);
  if (!row) return lanes_of(trace, [](TrackKind) { return true; });
  std::vector<LaneId> lanes;
  for (const timeline::LaneSource& source : row->sources)
    if (source.lane < trace.lanes().size()) lanes.push_back(source.lane);
  return EventScope::row(std::move(lanes));
}

}  // namespace

EventScope listed_scope(const Trace& trace) {
  return lanes_of(trace, [](TrackKind kind) { return !is_listed_on_request(kind); });
}

std::size_t most_listed(const Trace& trace) {
  constexpr std::uint64_t kBytes = 32;
  if (has_memory_for_events(trace)) return std::numeric_limits<std::size_t>::max();
  return SegmentCache::of_process().use().budget / 4 / kBytes;
}

ShownEvents::ShownEvents(SelectionState& state, QObject* parent) : QObject(parent), state_(state) {
  for (PacedUpdate* update : {&moved_, &grown_}) update->after(job_);
  connect(&moved_, &PacedUpdate::due, this, [this] { gather(TraceChange::kOther); });
  connect(&grown_, &PacedUpdate::due, this, [this] { gather(TraceChange::kSnapshot); });
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) {
      however_many_ = false;
      ++traces_;
    }
    change == TraceChange::kOther ? gather(change) : grown_.request();
  });
  connect(&state, &SelectionState::shownRowChanged, this, [this] { gather(TraceChange::kOther); });
  connect(&state, &SelectionState::filterChanged, this, [this] { gather(TraceChange::kOther); });
  connect(&state, &SelectionState::timeBindingChanged, this, [this] { gather(TraceChange::kOther); });
  connect(&state, &SelectionState::selectedRangeChanged, this, [this] {
    if (state_.timeBinding() == TimeBinding::kSelectedRange) move();
  });
  connect(&state, &SelectionState::visibleRangeChanged, this, [this] {
    if (state_.timeBinding() == TimeBinding::kVisibleRange) move();
  });
}

EventChoice ShownEvents::choice() const {
  EventChoice choice{traces_, state_.shownRow(), state_.filter()};
  choice.filter.window = state_.boundRange();
  // In front of a saved part are calls that launched its work; they lie outside of the time that the window shows.
  if (state_.trace() && !choice.filter.window)
    if (const std::optional<SavedPart>& part = state_.trace()->provenance().part) choice.filter.window = part->time;
  return choice;
}

void ShownEvents::move() {
  moved_.request();
  emit choiceChanged();
}

void ShownEvents::listAllTheSame() {
  however_many_ = true;
  gather(TraceChange::kOther);
}

void ShownEvents::listAll() {
  state_.setFilter({});
  state_.setShownRow(std::nullopt);
  state_.setTimeBinding(TimeBinding::kWholeTrace);
}

QString ShownEvents::whyTooMany() const {
  if (!too_many_) return {};
  const QString most = QString::fromStdString(timeline::format_count(most_listed(*state_.trace())));
  if (state_.shownRow())
    return tr("There are more than %1 events on this row. Choose a shorter part of time or a filter, or give the events more memory (View > Memory for "
              "events).")
        .arg(most);
  return tr("There are more than %1 events. Choose a row, a part of time or a filter, or give the events more memory (View > Memory for events).").arg(most);
}

QString ShownEvents::whyNone() const {
  if (state_.trace()->event_count() == 0) return tr("The trace has no events.");
  QStringList reasons;
  if (state_.shownRow()) reasons += tr("on this row");
  if (state_.boundRange()) reasons += tr("in this part of time");
  if (state_.filter() != EventFilter{}) reasons += tr("that pass the filters");
  if (reasons.isEmpty()) return tr("Only samples and states of threads were recorded: choose their kind in Events to list them.");
  return tr("There are no events %1.<br><a href='all'>List all events</a>").arg(reasons.join(u' '));
}

QString ShownEvents::whyNotAll() const {
  QStringList reasons;
  if (state_.shownRow()) reasons += tr("on the row %1").arg(state_.shownRow()->title.toHtmlEscaped());
  const EventFilter& filter = state_.filter();
  QStringList what;
  if (!filter.text.empty()) what += QString::fromStdString(filter.text);
  for (const ColumnValue& value : filter.values) what += value_text(value);
  if (!what.isEmpty())
    reasons += tr("that pass the filters of Events (%1)").arg(what.join(QStringLiteral(", ")).toHtmlEscaped());
  else if (filter != EventFilter{})
    reasons += tr("that pass the filters of Events");
  if (reasons.isEmpty()) return {};
  return tr("Counted are only events %1. <a href='all'>Count all events</a>").arg(reasons.join(u' '));
}

void ShownEvents::gather(TraceChange change) {
  grown_.cancel();
  if (change == TraceChange::kOther) moved_.cancel();
  const std::shared_ptr<const Trace> trace = state_.trace();
  too_many_ = false;
  if (!trace || trace->provenance().outline_only) {  // an outline has no events to list
    job_.cancel();
    list_ = nullptr;
    emit changed(TraceChange::kOther);
    return;
  }
  job_.start([this, trace, chosen = choice(), open = state_.openEvents(), change, however_many = however_many_](const LatestJob::Context& job) {
    const std::optional<ShownRow>& row = chosen.row;
    const EventFilter& filter = chosen.filter;
    const std::size_t most = most_listed(*trace);
    EventList found{EventValues(trace, scope_of(*trace, row, filter.kind), open), {}, {}, chosen};
    found.events = gather_by_start(*trace, found.values.scope().lanes(), filter, job.stop(), most);
    const bool too_many = found.events.size() > most;
    if (too_many && !however_many) {
      job.deliver([this] {
        list_ = nullptr;
        too_many_ = true;
        emit changed(TraceChange::kOther);
      });
      return;
    }
    if (too_many) {
      found.events = {};
      found.stream = stream_by_start(*trace, found.values.scope().lanes(), filter);
    }
    if (row && !is_whole(row->sources)) {
      const auto wanted = [&trace = *trace, sources = row->sources](EventRef event) { return is_of(trace, sources, event); };
      std::erase_if(found.events, [&](EventRef event) { return !wanted(event); });
      if (found.stream) found.stream = kept_of(*std::move(found.stream), wanted);
    }
    if (job.stop().stop_requested()) return;
    auto list = std::make_shared<const EventList>(std::move(found));
    job.deliver([this, list = std::move(list), change] {
      list_ = list;
      emit changed(change);
    });
  });
  if (change == TraceChange::kOther) emit choiceChanged();
}

}  // namespace lanescope::ui
