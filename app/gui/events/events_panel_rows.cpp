// What can be done with the rows of the events view: their menus, copies and exports.
#include <algorithm>

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>

#include "events/events_panel.h"
#include "events/value_chips.h"
#include "export/trace_writing.h"
#include "model/events/event_text.h"
#include "model/stats/table.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

// A line for each family, as on the screen.
stats::Table table_of(const std::vector<EventFold>& folds) {
  stats::Table table({stats::texts("Family"), stats::words("Kind"), stats::integers("Instances"), stats::integers("Start", stats::Unit::kNanoseconds),
                      stats::integers("Total Time", stats::Unit::kNanoseconds), stats::integers("Bytes")});
  for (const EventFold& fold : folds)
    table.add_row(table.add_text(fold.family), table.add_text(std::string(event_kind_name(fold.kind))), static_cast<std::int64_t>(fold.count), fold.start,
                  fold.duration, fold.bytes > 0 ? static_cast<std::int64_t>(fold.bytes) : stats::kNoInteger);
  return table;
}

}  // namespace

QString EventsPanel::whyNoExport() const {
  if (showsFamilies())
    return model_->folds() && model_->isWhole() ? QString() : tr("The families are still being added up. Export them when the table is complete.");
  if (model_->isStored()) return tr("There are too many events to write them in this order. Use File > Save as, or: lanescope export -t csv");
  if (!model_->events() || model_->order().size() != model_->events()->events.size())
    return tr("The events are still being sorted. Export them when the table is complete.");
  return {};
}

void EventsPanel::showHeaderMenu(const QPoint& position) {
  QHeaderView* header = table_->horizontalHeader();
  QMenu menu;
  for (int section = 0; section < model_->columnCount(); ++section) {
    if (section == EventTableModel::columnOf(EventColumn::kRun) && !shows_runs_) continue;
    QAction* choice = menu.addAction(model_->headerData(section, Qt::Horizontal, Qt::DisplayRole).toString());
    choice->setCheckable(true);
    choice->setChecked(!header->isSectionHidden(section));
    choice->setEnabled(section != EventTableModel::columnOf(EventColumn::kName));
    connect(choice, &QAction::toggled, header, [header, section](bool shown) { header->setSectionHidden(section, !shown); });
  }
  menu.exec(header->mapToGlobal(position));
}

void EventsPanel::showFoldMenu(int row, const QPoint& position) {
  const EventFold& fold = *model_->foldAt(row);
  const QPersistentModelIndex line = model_->index(row, 0);  // the list may be replaced while the menu is open
  const bool is_open = model_->stateOf(fold) == FoldState::kOpen;
  QMenu menu;
  if (EventTableModel::canOpen(fold)) {
    menu.addAction(is_open ? tr("Collapse") : tr("Expand"), QKeySequence(Qt::Key_Return), this, [this, line, is_open] {
      if (line.isValid() && model_->foldAt(line.row())) setFoldState(line.row(), is_open ? FoldState::kClosed : FoldState::kOpen);
    });
    menu.addAction(tr("Expand all"), this, [this] { model_->setAllStates(FoldState::kOpen); });
    menu.addAction(tr("Collapse all"), this, [this] { model_->setAllStates(FoldState::kClosed); });
    menu.addSeparator();
  } else {
    menu.addAction(tr("List its events"), QKeySequence(Qt::Key_Return), this, [this, kind = fold.kind, family = fold.family] { listFamily(kind, family); });
  }
  menu.addAction(tr("Filter to this family"), this, [this, kind = fold.kind, family = fold.family] { filterTo(kind, family); });
  menu.exec(table_->viewport()->mapToGlobal(position));
}

void EventsPanel::showRowMenu(const QPoint& position) {
  if (const int row = table_->indexAt(position).row(); model_->foldAt(row)) return showFoldMenu(row, position);
  const EventRef event = model_->event(table_->indexAt(position).row());
  if (!event.valid()) return;
  const std::shared_ptr<const EventList> list = model_->events();  // another list may be shown while the menu is open
  const Trace& trace = list->values.trace();
  QMenu menu;
  menu.addAction(tr("Zoom to event"), this, [this, event, list] {
    if (model_->events() == list) zoomTo(event);
  });
  menu.addAction(tr("Filter to this name"), this, [this, event, &trace] {
    EventFilter filter = state_.filter();
    keep_name(filter, event_kind(trace, event), trace.name(listed_name(trace, event)));
    state_.setFilter(filter);
  });
  const TrackKey& key = trace.track_of(event.lane).key;
  const auto keep = [this](auto change) {
    EventFilter filter = state_.filter();
    filter.thread.reset();
    filter.stream.reset();
    change(filter);
    state_.setFilter(filter);
  };
  if (is_gpu_work(key.kind))
    menu.addAction(tr("Filter to this stream"), this,
                   [keep, stream = StreamName{key.process, key.context, key.stream}] { keep([&](EventFilter& filter) { filter.stream = stream; }); });
  else if (key.thread != kNone)
    menu.addAction(tr("Filter to this thread"), this, [keep, thread = key.thread] { keep([&](EventFilter& filter) { filter.thread = thread; }); });
  if (const std::optional<EventRef> launch = trace.launch_of(event); launch && *launch != event)  // launch_of() returns a call itself
    menu.addAction(tr("Go to the launching call"), this, [this, launch, &trace] { state_.reveal(state_.inTrace(*launch, trace)); });
  if (const std::vector<EventRef> work = trace.work_of(event); !work.empty())
    menu.addAction(tr("Go to its GPU work"), this, [this, first = work.front(), &trace] { state_.reveal(state_.inTrace(first, trace)); });
  menu.addAction(tr("What it waited for"), this, [this, event, &trace] {
    state_.setSelectedEvent(state_.inTrace(event, trace));
    emit waitsRequested();
  });
  menu.addAction(tr("Mark it"), this, [this, event, &trace] {
    state_.setSelectedEvent(state_.inTrace(event, trace));
    emit marksRequested();
  });
  if (const TimeRange time{trace.event(event).start, trace.event(event).end()}; !time.empty())
    menu.addAction(tr("Select its time"), this, [this, time] { state_.setSelectedRange(time); });
  menu.addSeparator();
  menu.addAction(tr("Copy as TSV"), QKeySequence::Copy, this, &EventsPanel::copySelection);
  menu.addAction(tr("Export as CSV…"), this, &EventsPanel::exportRequested);
  menu.exec(table_->viewport()->mapToGlobal(position));
}

std::vector<EventColumn> EventsPanel::shownColumns() const {
  const QHeaderView* header = table_->horizontalHeader();
  std::vector<EventColumn> columns;
  for (int visual = 0; visual < header->count(); ++visual) {
    const int section = header->logicalIndex(visual);
    const std::optional<EventColumn> column = EventTableModel::eventColumn(section);
    if (column && !header->isSectionHidden(section)) columns.push_back(*column);
  }
  return columns;
}

EventsPanel::Chosen EventsPanel::selectedEvents() const {
  std::vector<std::pair<int, int>> spans;
  for (const QItemSelectionRange& range : table_->selectionModel()->selection()) spans.emplace_back(range.top(), range.bottom());
  std::sort(spans.begin(), spans.end());
  Chosen chosen;
  const auto choose = [&chosen](EventRef event) {
    if (chosen.count++ < kLargestCopy) chosen.events.push_back(event);
  };
  int next = 0;
  for (const auto& [top, bottom] : spans) {
    for (int row = std::max(top, next); row <= bottom; ++row) {
      if (chosen.count >= kLargestCopy && model_->folding() == Folding::kNone) {  // every row is an event
        chosen.count += static_cast<std::size_t>(bottom - row + 1);
        break;
      }
      if (const EventRef event = model_->event(row); event.valid()) choose(event);
      // A closed family is copied with its events; the events of an open one have lines of their own.
      const EventFold* fold = model_->foldAt(row);
      if (fold != nullptr && EventTableModel::canOpen(*fold) && model_->stateOf(*fold) == FoldState::kClosed)
        std::for_each(fold->events.begin(), fold->events.end(), choose);
    }
    next = std::max(next, bottom + 1);
  }
  return chosen;
}

void EventsPanel::copySelection() {
  const Chosen chosen = selectedEvents();
  if (chosen.events.empty()) return;
  copying_.start([this, list = model_->events(), chosen, columns = shownColumns()](const LatestJob::Context& job) {
    std::string text;
    const bool complete = write_events(list->values, chosen.events, columns, Delimiter::kTab, [&](std::string_view piece) {
      text.append(piece);
      return !job.stop().stop_requested();
    });
    if (!complete) return;
    job.deliver([this, text = QString::fromStdString(text), copied_events = chosen.events.size(), count = chosen.count] {
      QGuiApplication::clipboard()->setText(text);
      emit copied(copied_events == count
                      ? QString()
                      : tr("The first %1 of %2 selected events are in the clipboard, which takes no more. Export them as CSV to have all.")
                            .arg(QString::fromStdString(timeline::format_count(copied_events)), QString::fromStdString(timeline::format_count(count))));
    });
  });
}

Exports::Write EventsPanel::csvWriter() const {
  if (model_->folds()) return csv_writer(std::make_shared<const stats::Table>(table_of(*model_->folds())));
  return [list = model_->events(), order = model_->sharedOrder(), columns = shownColumns()](const Exports::Destination& to, const std::stop_token& stop) {
    return write_text(to, stop,
                      [&](const TextConsumer& consumer) { return write_events(list->values, *order, columns, Delimiter::kComma, consumer, {}, to.progress); });
  };
}

}  // namespace lanescope::ui
