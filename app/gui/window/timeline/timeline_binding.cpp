#include "window/timeline/timeline_binding.h"

#include <array>

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>

#include "analysis/place.h"
#include "base/text/event_words.h"
#include "events/value_chips.h"
#include "kernels/kernel_facts.h"
#include "model/events/event_text.h"
#include "model/events/name_family.h"
#include "model/trace/kernel_records.h"
#include "samples/samples_panel.h"
#include "timeline/core/rows/row_pairs.h"
#include "timeline/core/words/describe.h"
#include "timeline/widget/timeline_command.h"

namespace lanescope::ui {

using timeline::TimelineView;

namespace {

// Pins both rows, one below the other, in one edit: the row of A first.
void pin_together(TimelineView& view, const QString& one, const QString& other) {
  const auto index = [&](const QString& key) { return *view.rows().find(key.toStdString()); };
  const bool in_order = index(one) < index(other);
  view.edits().beginMacro(TimelineBinding::tr("Pin both rows"));
  for (const QString& key : {in_order ? one : other, in_order ? other : one}) {
    view.unpin(key);  // so that they are next to each other
    view.pin(key);
  }
  view.edits().endMacro();
}

}  // namespace

TimelineBinding::TimelineBinding(TimelineView& view, SelectionState& state, QObject* parent) : QObject(parent), view_(view), state_(state) {
  connect(&view, &TimelineView::visibleRangeChanged, &state, &SelectionState::setVisibleRange);
  connect(&view, &TimelineView::rowContextMenuRequested, this, &TimelineBinding::showRowMenu);
  connect(&view, &TimelineView::eventContextMenuRequested, this, &TimelineBinding::showEventMenu);
  connect(&view, &TimelineView::gapContextMenuRequested, this, &TimelineBinding::showGapMenu);
  connect(&view, &TimelineView::timeContextMenuRequested, this, &TimelineBinding::showTimeMenu);
  connect(&state, &SelectionState::traceChanged, this, &TimelineBinding::showTrace);
  connect(&state, &SelectionState::selectedEventChanged, &view, &TimelineView::revealEvent);
  connect(&state, &SelectionState::revealed, &view, &TimelineView::revealEvent);
  connect(&state, &SelectionState::activated, this, [this](EventRef event, std::optional<TimeRange> around) {
    if (!around) return view_.zoomToEvent(event);
    view_.setVisibleRange(*around);
    const std::optional<timeline::Selection::Gap>& gap = state_.selection().gap();
    if (!event.valid() && gap) return view_.scrollToRow(QStringLiteral("gpu:%1/hw").arg(gap->gpu));
    view_.revealEvent(event);
  });
}

void TimelineBinding::showTrace(TraceChange change) {
  if (change == TraceChange::kOther) {
    view_.setTrace(state_.trace());
  } else {
    view_.updateTrace(state_.trace());
    if (const std::optional<ShownRow> row = state_.shownRow()) showRowEvents(row->key);
  }
  state_.setVisibleRange(view_.visibleRange());
}

void TimelineBinding::showRowEvents(const QString& row_key) { state_.setShownRow(ShownRow{row_key, view_.rowTitle(row_key), view_.rowEvents(row_key)}); }

// For the row of a thread, or a row below it.
std::optional<ThreadId> TimelineBinding::threadOf(const QString& row_key) const {
  const timeline::RowTree& rows = view_.rows();
  for (std::optional<timeline::RowIndex> row = rows.find(row_key.toStdString()); row && state_.trace(); row = rows.row(*row).parent)
    if (rows.row(*row).kind == timeline::RowKind::kThread && !rows.row(*row).all.empty())
      return state_.trace()->track_of(rows.row(*row).all.front().lane).key.thread;
  return std::nullopt;
}

// For the row of a process itself.
std::optional<ProcessId> TimelineBinding::processOf(const QString& row_key) const {
  const timeline::RowTree& rows = view_.rows();
  const std::optional<timeline::RowIndex> row = rows.find(row_key.toStdString());
  if (!row || rows.row(*row).kind != timeline::RowKind::kProcess) return std::nullopt;
  for (const timeline::RowIndex child : rows.row(*row).children)
    if (const std::optional<ThreadId> thread = threadOf(QString::fromStdString(rows.row(child).key))) return state_.trace()->threads()[*thread].process;
  return std::nullopt;
}

// The key that the timeline has for the command now; empty if it has none.
QKeySequence TimelineBinding::keyOf(QLatin1String command_id) const {
  for (const timeline::TimelineCommand& command : timeline::timeline_commands())
    if (command.id == command_id && !view_.keysOf(command).empty()) return QKeySequence(view_.keysOf(command).front());
  return {};
}

// What can be done with the selected range, if there is one.
void TimelineBinding::addRange(QMenu& menu) {
  const std::optional<TimeRange> range = state_.selectedRange();
  if (!range) return;
  menu.addSeparator();
  const auto answer = [this](auto requested) {  // panels that count a part of time count this one
    state_.setTimeBinding(TimeBinding::kSelectedRange);
    emit(this->*requested)();
  };
  const bool has_key = state_.selection().latestTime() == range;
  menu.addAction(tr("Zoom to the selected range"), has_key ? keyOf(QLatin1String("Zoom to selection")) : QKeySequence(), this,
                 [this, range] { view_.setVisibleRange(*range); });
  menu.addAction(tr("Statistics of the selected range"), this, [answer] { answer(&TimelineBinding::statisticsRequested); });
  const std::optional<timeline::Selection::Gap>& gap = state_.selection().gap();
  if (!gap || gap->range != range)  // of a gap, the panel lists all others, too
    menu.addAction(tr("Idle time in the selected range"), this, [answer] { answer(&TimelineBinding::bubblesRequested); });
  menu.addAction(tr("Mark the ends of the selected range"), has_key ? keyOf(QLatin1String("Mark the selected range or event")) : QKeySequence(), this,
                 [this, range] {
                   view_.addMarkers({{range->begin, {}}, {range->end, {}}});
                 });
  menu.addAction(tr("Save the selected range…"), this, &TimelineBinding::saveRequested);
  menu.addAction(tr("Select no range"), this, [this] { state_.setSelectedRange(std::nullopt); });
}

// Zoom commands that the mouse cannot reach otherwise.
void TimelineBinding::addZooms(QMenu& menu) {
  menu.addSeparator();
  if (view_.canGoBack()) menu.addAction(tr("Back to the previous view"), keyOf(QLatin1String("Back to the previous view")), &view_, &TimelineView::goBack);
  menu.addAction(tr("Fit everything"), keyOf(QLatin1String("Fit everything")), &view_, &TimelineView::zoomToFit);
  if (!view_.loops().empty()) menu.addAction(tr("Show the loop"), keyOf(QLatin1String("Show the loop")), &view_, &TimelineView::showLoop);
}

// For a kernel, or a call that launched one.
void TimelineBinding::addKernel(QMenu& menu, EventRef event) {
  const std::shared_ptr<const Trace> trace = state_.trace();
  const EventRef kernel = kernel_of(*trace, event);
  if (!kernel.valid()) return;
  menu.addAction(tr("Why is this kernel slow?"), this, [this, kernel, trace] { emit kernelRequested(state_.inTrace(kernel, *trace)); });
  if (!trace->kernel_records().windows.empty() || !trace->kernel_records().counted.empty())
    menu.addAction(tr("Show its source"), this, [this, kernel, trace] { emit sourceRequested(state_.inTrace(kernel, *trace)); });
  if (!trace->provenance().command.empty())
    menu.addAction(tr("Profile this kernel…"), this, [this, kernel, trace] { emit kernelProfileRequested(state_.inTrace(kernel, *trace)); });
}

// A right click has selected the gap.
void TimelineBinding::showGapMenu(const timeline::Gap& gap, const QString& row_key, const QPoint& position) {
  QMenu menu;
  menu.addAction(tr("Zoom to the gap"), keyOf(QLatin1String("Zoom to selection")), this, [this, gap] { view_.setVisibleRange(gap.range); });
  menu.addAction(tr("Go to what ended the gap"), this,
                 [this, gap, trace = state_.trace()] { state_.reveal(state_.inTrace(operation_behind(*trace, gap.range, gap.gpu), *trace)); });
  menu.addAction(tr("What it waited for"), keyOf(QLatin1String("What it waited for, hop by hop")), &view_, &TimelineView::askWhatItWaitedFor);
  menu.addAction(tr("Show the gaps in Bubbles"), this, &TimelineBinding::bubblesRequested);
  menu.addAction(tr("Mark the gap"), keyOf(QLatin1String("Mark the selected range or event")), &view_, &TimelineView::markSelection);
  menu.addSeparator();
  addRow(menu, row_key);
  addRange(menu);
  addZooms(menu);
  menu.exec(position);
}

// At a time of the ruler or of the overview.
void TimelineBinding::showTimeMenu(Nanoseconds time, const QPoint& position) {
  if (!state_.trace()) return;
  QMenu menu;
  const TimeRange visible = view_.visibleRange();
  if (time >= visible.begin && time < visible.end)
    menu.addAction(tr("Mark this time with a name…"), this, [this, time] { view_.askForMarkerAt(time); });
  else
    menu.addAction(tr("Show this time"), this, [this, time] { view_.goToTime(time); });
  menu.addAction(tr("Go to a time…"), keyOf(QLatin1String("Go to a time")), &view_, &TimelineView::askForTime);
  addRange(menu);
  addZooms(menu);
  menu.exec(position);
}

void TimelineBinding::showRowMenu(const QString& row_key, const QPoint& position) {
  QMenu menu;
  addRow(menu, row_key);
  addRange(menu);
  addZooms(menu);
  menu.addSeparator();
  menu.addAction(tr("Copy the row's name"), this, [this, row_key] { QGuiApplication::clipboard()->setText(view_.rowTitle(row_key)); });
  menu.exec(position);
}

void TimelineBinding::addRow(QMenu& menu, const QString& row_key) {
  menu.addAction(tr("Show in Events View"), this, [this, row_key] {
    showRowEvents(row_key);
    emit eventsRequested();
  });
  menu.addAction(tr("Show in Statistics"), this, [this, row_key] {
    showRowEvents(row_key);
    emit statisticsRequested();
  });
  if (const std::optional<ThreadId> thread = threadOf(row_key); thread && SamplesPanel::hasChainsOf(*state_.trace(), *thread))
    menu.addAction(tr("Show in Flame Graph"), this, [this, thread] { emit flameGraphRequested(*thread); });
  if (const std::optional<ProcessId> process = processOf(row_key); process && SamplesPanel::hasChainsOfProcess(*state_.trace(), *process))
    menu.addAction(tr("Show in Flame Graph"), this, [this, process] { emit flameGraphOfProcessRequested(*process); });
  menu.addSeparator();
  const bool expanded = view_.isExpanded(row_key);
  const auto row = view_.rows().find(row_key.toStdString());
  if (row && view_.rows().row(*row).expandable())
    menu.addAction(expanded ? tr("Collapse") : tr("Expand"), keyOf(QLatin1String("Open or close the row")), this,
                   [this, row_key, expanded] { expanded ? view_.collapseRow(row_key) : view_.expandRow(row_key); });
  const bool pinned = view_.isPinned(row_key);
  menu.addAction(pinned ? tr("Release from the top") : tr("Pin to the top"), keyOf(QLatin1String("Pin the row, or release it")), this,
                 [this, row_key, pinned] { pinned ? view_.unpin(row_key) : view_.pin(row_key); });
  if (const auto other = row ? timeline::row_of_other_trace(view_.rows(), *row) : std::nullopt)
    menu.addAction(tr("Pin with the same row of the other trace"), this,
                   [this, row_key, other_key = QString::fromStdString(view_.rows().row(*other).key)] { pin_together(view_, row_key, other_key); });
  menu.addAction(tr("Hide"), keyOf(QLatin1String("Hide the row")), this, [this, row_key] { view_.hideRow(row_key); });
  if (view_.hasHiddenRows()) menu.addAction(tr("Show hidden rows"), &view_, &TimelineView::showHiddenRows);
  menu.addAction(tr("Expand all rows"), &view_, &TimelineView::expandAll);
  menu.addAction(tr("Collapse all rows"), &view_, &TimelineView::collapseAll);
}

void TimelineBinding::showEventMenu(EventRef event, const QString& row_key, const QPoint& position) {
  if (!event.valid() || !state_.trace()) return showRowMenu(row_key, position);
  const std::shared_ptr<const Trace> trace = state_.trace();
  QMenu menu;
  menu.addAction(tr("Zoom to event"), keyOf(QLatin1String("Zoom to the event")), this,
                 [this, event, trace] { state_.activate(state_.inTrace(event, *trace)); });
  if (const std::optional<EventRef> launch = trace->launch_of(event); launch && *launch != event)  // launch_of() returns a call itself
    menu.addAction(tr("Go to the launching call"), keyOf(QLatin1String("Launching call, or GPU work")), this,
                   [this, launch, trace] { state_.reveal(state_.inTrace(*launch, *trace)); });
  if (const std::vector<EventRef> work = trace->work_of(event); !work.empty())
    menu.addAction(tr("Go to its GPU work"), keyOf(QLatin1String("Launching call, or GPU work")), this,
                   [this, first = work.front(), trace] { state_.reveal(state_.inTrace(first, *trace)); });
  menu.addAction(tr("What it waited for"), keyOf(QLatin1String("What it waited for, hop by hop")), this, [this, event, trace] {
    state_.setSelectedEvent(state_.inTrace(event, *trace));
    view_.askWhatItWaitedFor();
  });
  menu.addAction(tr("Mark it"), keyOf(QLatin1String("Mark the selected range or event")), this, [this, event, trace] {
    state_.setSelectedEvent(state_.inTrace(event, *trace));
    view_.markSelection();
  });
  if (const TimeRange time{trace->event(event).start, trace->event(event).end()}; !time.empty())
    menu.addAction(tr("Select its time"), this, [this, time] { state_.setSelectedRange(time); });
  addKernel(menu, event);
  if (const ThreadId thread = trace->track_of(event.lane).key.thread; thread != kNone && SamplesPanel::hasChainsOf(*trace, thread)) {
    const TimeRange time{trace->event(event).start, trace->event(event).end()};
    if (time.empty())
      menu.addAction(tr("Show the thread in Flame Graph"), this, [this, thread] { emit flameGraphRequested(thread); });
    else
      menu.addAction(tr("Show what ran in it in Flame Graph"), this, [this, thread, time] { emit flameGraphOfTimeRequested(thread, time); });
  }
  menu.addSeparator();
  menu.addAction(tr("Filter events to this name"), this, [this, event, trace] {
    filterToName(*trace, event);
    emit eventsRequested();
  });
  const std::string name(trace->name(trace->event(event).name));
  if (const std::string family = name_family(name); family != name)
    menu.addAction(tr("Filter events to this family"), this, [this, family] {
      filterToFamily(family);
      emit eventsRequested();
    });
  menu.addAction(tr("Show the row in Events View"), this, [this, row_key] {
    showRowEvents(row_key);
    emit eventsRequested();
  });
  menu.addAction(tr("Show the row in Statistics"), this, [this, row_key] {
    showRowEvents(row_key);
    emit statisticsRequested();
  });
  addRange(menu);
  addZooms(menu);
  menu.addSeparator();
  menu.addAction(tr("Copy as TSV"), this, [this, trace, event] {
    std::string text;
    const auto append = [&](std::string_view piece) {
      text.append(piece);
      return true;
    };
    const EventValues values(trace, EventScope::whole_trace(*trace), trace == state_.trace() ? state_.openEvents() : OpenEvents());
    if (write_events(values, std::array{event}, event_columns_of(*trace), Delimiter::kTab, append))
      QGuiApplication::clipboard()->setText(QString::fromStdString(text));
  });
  menu.addAction(tr("Copy the event's details"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), this, [this, trace, event] {
    if (const EventRef now = state_.inTrace(event, *trace); now.valid())
      QGuiApplication::clipboard()->setText(QString::fromStdString(timeline::as_text(words_of_event(state_, now))));
  });
  menu.exec(position);
}

void TimelineBinding::filterToFamily(const std::string& family) {
  EventFilter filter;
  keep_family(filter, std::nullopt, family);
  state_.setShownRow(std::nullopt);
  state_.setFilter(filter);
}

void TimelineBinding::filterToName(const Trace& trace, EventRef event) {
  EventFilter filter;
  keep_name(filter, event_kind(trace, event), trace.name(listed_name(trace, event)));
  state_.setShownRow(std::nullopt);
  state_.setFilter(filter);
}

}  // namespace lanescope::ui
