#include "panels/statistics_panel.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <QHeaderView>

#include "analysis/command_text.h"
#include "base/jobs/patience.h"
#include "base/room/elided_label.h"
#include "base/text/texts.h"
#include "events/value_chips.h"
#include "model/events/name_family.h"
#include "model/stats/report.h"
#include "model/trace/combining/parts.h"
#include "model/trace/segments/demanded_segments.h"
#include "tables/panel_layout.h"
#include "tables/quiet_focus.h"
#include "tables/table_look.h"
#include "tables/table_place.h"
#include "timeline/core/navigation.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kHistogramBins = 60;
constexpr std::size_t kUtilisationPieces = 200;
constexpr int kTableWidth = 950;    // px initially
constexpr int kChartWidth = 270;    // px initially
constexpr int kLegibleChart = 110;  // px of height: lower charts leave out the labels of their axes
constexpr int kCharactersOfColumn[StatisticsModel::kColumns] = {28, 11, 14, 12, 15, 15, 11, 11, 11, 11, 11};

// Those that begin before a part of time or end after it. O(events).
std::uint64_t count_partly_in(TimeRange part, const EventList& list, const std::stop_token& stop) {
  const Trace& trace = list.values.trace();
  std::uint64_t count = 0;
  const EventVisitor visit = [&](std::span<const EventRef> events) {
    count += static_cast<std::uint64_t>(std::count_if(events.begin(), events.end(), [&](EventRef event) {
      const Lane& lane = trace.lane(event.lane);
      return lane.start(event.index) < part.begin || lane.end(event.index) > part.end;
    }));
    return !stop.stop_requested();
  };
  list.stream ? list.stream->visit(visit, stop) : static_cast<void>(visit(list.events));
  return count;
}

// The files that the events of each entry come from; empty for a trace of one file and for two runs side by side. O(events).
StatisticsModel::Files files_of(const EventList& list, const std::vector<NameStatistics>& entries, Grouping by, const std::stop_token& stop) {
  const Trace& trace = list.values.trace();
  if (trace.parts().empty() || compares_runs(trace)) return {};
  using Occurrence = std::tuple<EventKind, NameId, const TracePart*>;
  std::set<Occurrence> occurrences;
  Occurrence last;
  const EventVisitor visit = [&](std::span<const EventRef> events) {
    for (const EventRef event : events) {
      const Occurrence each{event_kind(trace, event), listed_name(trace, event), part_of(trace, trace.track_of(event.lane))};
      if (std::exchange(last, each) != each) occurrences.insert(each);
    }
    return !stop.stop_requested();
  };
  list.stream ? list.stream->visit(visit, stop) : static_cast<void>(visit(list.events));
  const auto name_of = [&](NameId name) { return by == Grouping::kFamilies ? name_family(trace.name(name)) : std::string(trace.name(name)); };
  std::map<std::pair<EventKind, std::string>, std::set<const TracePart*>> parts;  // by address: in their order
  for (const auto& [kind, name, part] : occurrences)
    if (part != nullptr) parts[{kind, name_of(name)}].insert(part);
  StatisticsModel::Files files;
  for (const NameStatistics& entry : entries)
    for (const TracePart* part : parts[{entry.kind, name_of(entry.name)}]) files[{entry.kind, entry.name}] += QString::fromStdString(part->label);
  return files;
}

}  // namespace

StatisticsPanel::StatisticsPanel(SelectionState& state, AnsweredTrace& answered, ShownEvents& shown, QWidget* parent)
    : QWidget(parent),
      state_(state),
      answered_(answered),
      shown_(shown),
      of_(new AnsweredTraceBox(answered, this)),
      choice_(new QComboBox(this)),
      partly_in_(new ElidedLabel(this)),
      command_(new ElidedLabel(this)),
      counted_(new QStackedWidget(this)),
      counting_(new QLabel(this)),
      pages_(new QStackedWidget(this)),
      model_(new StatisticsModel(this)),
      table_(new QuietFocus<QTableView>(this)),
      report_(new ReportPage(state, answered, this)),
      pivot_(new PivotPage(state, this)),
      nothing_(new QLabel(this)),
      charts_(new QSplitter(Qt::Vertical, this)),
      durations_(new DurationChart(this)),
      utilisation_(new UtilisationChart(this)) {
  layOut();
  fillChoice();
  connect(choice_, &QComboBox::activated, this, &StatisticsPanel::showChoice);
  connect(report_, &ReportPage::commandChanged, this, &StatisticsPanel::showCommand);
  connect(pivot_, &PivotPage::columnsChanged, this, &StatisticsPanel::showCommand);
  connect(pivot_, &PivotPage::groupChosen, this, &StatisticsPanel::computeHistogram);
  connect(pivot_, &PivotPage::eventsRequested, this, &StatisticsPanel::eventsRequested);
  connect(nothing_, &QLabel::linkActivated, this, &StatisticsPanel::followLink);
  for (const auto changed : {&SelectionState::filterChanged, &SelectionState::shownRowChanged, &SelectionState::timeBindingChanged})
    connect(&state, changed, this, &StatisticsPanel::showCommand);
  connect(&state, &SelectionState::selectedRangeChanged, this, &StatisticsPanel::showCommand);
  connect(&state, &SelectionState::visibleRangeChanged, this, &StatisticsPanel::showCommand);
  for (const LatestJob* job :
       std::initializer_list<const LatestJob*>{&picking_job_, &partly_in_job_, &statistics_job_, &histogram_job_, &utilisation_job_, &pivot_->summing()})
    shown.waitFor(*job);
  connect(&shown, &ShownEvents::changed, this, [this] {
    if (isVisible()) compute();
  });
  connect(&shown, &ShownEvents::choiceChanged, this, &StatisticsPanel::followChoice);
  connect(&pivot_->summing(), &LatestJob::runningChanged, this, &StatisticsPanel::followChoice);
  connect(&patience_, &QTimer::timeout, this, [this] {
    if (isOfChoice()) return;
    counting_->setText(whatIsCounted());
    counted_->setCurrentWidget(counting_);
  });
  connect(&answered, &AnsweredTrace::changed, this, [this](TraceChange change) {
    showCommand();
    // The listed events may still belong to the previous trace.
    const bool is_listed = shown_.list() && &shown_.list()->values.trace() == state_.trace().get();
    if (change != TraceChange::kOther) return;
    summed_ = nullptr;
    isVisible() && is_listed ? compute() : clear();
    followChoice();
  });
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &StatisticsPanel::computeHistogram);
  connect(table_, &QTableView::doubleClicked, this, &StatisticsPanel::filterToName);
  // The longest event of a name represents it in other views, and the name of an event represents the event here.
  connect(table_, &QTableView::entered, this, [this](const QModelIndex& index) { state_.setHoveredEvent(longestOf(index)); });
  connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) { state_.setSelectedEvent(longestOf(index)); });
  connect(&state, &SelectionState::hoveredEventChanged, this, [this](EventRef event) {
    const auto entry = entryOf(event);
    model_->setHovered(entry ? entry->first : EventKind::kKernel, entry ? entry->second : kNone);
  });
  connect(&state, &SelectionState::selectedEventChanged, this, [this](EventRef event) { event.valid() ? showSelected() : table_->clearSelection(); });
  showChoice();
}

void StatisticsPanel::layOut() {
  const auto [column, line] = lay_out(*this);
  line->addWidget(of_);
  line->addWidget(choice_);
  line->addWidget(partly_in_);
  line->addWidget(command_, 1);
  line->addStretch();                                                       // takes the room of a line without text
  partly_in_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);  // whole where there is room; the command has the rest
  partly_in_->setMinimumWidth(1);
  partly_in_->setContentsMargins(4, 0, 12, 0);
  partly_in_->hide();
  partly_in_->setObjectName(QStringLiteral("statistics-partly-in"));
  partly_in_->setForegroundRole(QPalette::PlaceholderText);
  column->addWidget(nothing_);
  nothing_->setContentsMargins(8, 4, 8, 4);
  nothing_->setWordWrap(true);
  nothing_->hide();
  charts_->addWidget(durations_);
  charts_->addWidget(utilisation_);
  charts_->setStretchFactor(0, 1);
  charts_->setStretchFactor(1, 1);
  charts_->installEventFilter(this);
  const std::pair<QWidget*, int> parts[] = {{pages_, kTableWidth}, {charts_, kChartWidth}};
  auto* splitter = beside_each_other(*this, QStringLiteral("statistics-parts"), parts);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  pages_->addWidget(table_);
  pages_->addWidget(report_);
  pages_->addWidget(pivot_);
  for (QWidget* chart : {static_cast<QWidget*>(durations_), static_cast<QWidget*>(utilisation_)}) chart->setMinimumSize(kChartWidth / 2, 60);
  counting_->setAlignment(Qt::AlignCenter);
  counting_->setForegroundRole(QPalette::PlaceholderText);
  patience_.setObjectName(QStringLiteral("statistics-patience"));
  patience_.setSingleShot(true);
  patience_.setInterval(kPatience);
  counted_->addWidget(splitter);
  counted_->addWidget(counting_);
  column->addWidget(counted_, 1);

  show_commands_in(*command_);
  command_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  table_->setAccessibleName(tr("Statistics by name"));
  apply_table_look(*table_);
  table_->setModel(model_);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setMouseTracking(true);
  table_->viewport()->installEventFilter(this);
  QHeaderView* header = table_->horizontalHeader();
  for (int i = 0; i < StatisticsModel::kColumns; ++i) header->resizeSection(i, table_->fontMetrics().horizontalAdvance(u'0') * kCharactersOfColumn[i]);
  header->setObjectName(QStringLiteral("statistics-header"));
  header->setSortIndicator(StatisticsModel::kTotal, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
  table_->setColumnHidden(StatisticsModel::kFile, true);
}

void StatisticsPanel::fillChoice() {
  choice_->setAccessibleName(tr("What is shown"));
  choice_->addItem(tr("Durations by name"), QString());
  choice_->addItem(tr("Durations by family of names"), QString::fromLatin1(kFamilies));
  choice_->setItemData(1, tr("Names that differ in their counters only are one: step 7 and step 8 are step *"), Qt::ToolTipRole);
  choice_->addItem(tr("Durations by chosen columns"), QString::fromLatin1(kColumns));
  choice_->setItemData(2, tr("Sums of the listed events by one or two of their columns: stream, grid, range, process and others"), Qt::ToolTipRole);
  choice_->insertSeparator(3);
  for (const stats::Report& report : stats::reports()) {
    choice_->addItem(shown_text(report.title), QString::fromUtf8(report.name.data(), static_cast<qsizetype>(report.name.size())));
    choice_->setItemData(choice_->count() - 1, shown_text(report.description), Qt::ToolTipRole);
  }
}

void StatisticsPanel::setFiles(const QStringList& paths) {
  files_ = paths;
  showCommand();
}

void StatisticsPanel::chooseReport(const QString& name) {
  choice_->setCurrentIndex(std::max(0, choice_->findData(name)));
  showChoice();
}

void StatisticsPanel::showChoice() {
  const stats::Report* report = stats::find_report(choice_->currentData().toString().toStdString());
  pages_->setCurrentWidget(report ? static_cast<QWidget*>(report_) : isByColumns() ? static_cast<QWidget*>(pivot_) : table_);
  report_->setReport(report);
  sayPartlyIn(partly_in_->text());
  showCommand();
  showWhyNothing();
  followChoice();
  if (!report && computed_ && isVisible()) isByColumns() || named_ != computed_ || model_->grouping() != grouping() ? compute() : computeHistogram();
}

bool StatisticsPanel::isByColumns() const { return choice_->currentData() == QLatin1String(kColumns); }

Grouping StatisticsPanel::grouping() const { return choice_->currentData() == QLatin1String(kFamilies) ? Grouping::kFamilies : Grouping::kNames; }

void StatisticsPanel::showCommand() {
  const QStringList files = answered_.files(files_);
  QStringList command = pages_->currentWidget() == report_ ? report_->command() : isByColumns() ? sumCommand() : QStringList();
  if (!command.isEmpty() && !files.isEmpty()) command << files;
  command_->setText(files.isEmpty() || command.isEmpty() ? QString() : command_text(command));
  command_->setVisible(!command_->text().isEmpty());
}

// Empty if a row or a filter other than the kind leaves events out: commands sum up everything in a part of time.
QStringList StatisticsPanel::sumCommand() const {
  EventFilter others = state_.filter();
  const std::optional<EventKind> kind = std::exchange(others.kind, std::nullopt);
  if (state_.shownRow() || others != EventFilter{}) return {};
  QString report = QStringLiteral("event_sum");
  for (const PivotColumn column : pivot_->columns()) report += QStringLiteral(":by=") + text_of(pivot_column_word(column));
  if (kind) report += QStringLiteral(":kind=") + QString::fromStdString(event_kind_word(*kind));
  if (!stats::parse_report(report.toStdString(), {})) return {};  // thread states and samples are not summed by the command
  QStringList words = {QStringLiteral("lanescope"), QStringLiteral("stats"), QStringLiteral("-r"), report};
  if (const std::optional<TimeRange> range = answered_.boundRange())
    words << QStringLiteral("--filter-time") << QStringLiteral("%1/%2").arg(range->begin).arg(range->end);
  return words;
}

void StatisticsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (taken_ != shown_.list())
    compute();
  else
    showSelected();
  followChoice();
}

// Sums of what was chosen before are not shown for long as if they were of what is chosen now.
void StatisticsPanel::followChoice() {
  if (isOfChoice()) {
    patience_.stop();
    counted_->setCurrentIndex(0);
  } else if (!patience_.isActive() && counted_->currentWidget() != counting_) {
    patience_.start();
  }
}

// Reports say by themselves of what they are. If nothing is counted, whyNothing() says why.
bool StatisticsPanel::isOfChoice() const {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!isVisible() || pages_->currentWidget() == report_ || !trace || trace->provenance().outline_only || shown_.areTooMany()) return true;
  const EventList* const summed = isByColumns() ? pivot_->summed() : summed_.get();
  return summed != nullptr && summed->choice == shown_.choice();
}

QString StatisticsPanel::whatIsCounted() const {
  if (!state_.boundRange()) return tr("Counting the events…");
  return state_.timeBinding() == TimeBinding::kVisibleRange ? tr("Counting the events of the visible range…")
                                                            : tr("Counting the events of the selected range…");
}

void StatisticsPanel::clear() {
  for (LatestJob* job : {&picking_job_, &partly_in_job_, &statistics_job_, &histogram_job_, &utilisation_job_}) job->cancel();
  taken_ = computed_ = named_ = summed_ = nullptr;
  utilisation_source_ = nullptr;
  model_->setStatistics(nullptr, {});
  pivot_->setEvents(nullptr);
  durations_->setHistogram({}, {});
  sayPartlyIn({});
  utilisation_->setUtilisation({});
  showUtilisation();
  followChoice();
}

// For two traces, the events of the one that is answered about are picked first. Ranges that have not ended have no duration yet.
void StatisticsPanel::compute() {
  taken_ = shown_.list();
  const bool is_of_one = answered_.isOfTwo() && answered_.choice() != AnsweredTrace::Choice::kBoth;
  if (!taken_ || (!is_of_one && !taken_->values.has_open())) {
    picking_job_.cancel();
    return computeOf(taken_);
  }
  std::function<bool(EventRef)> is_held;
  if (is_of_one)
    is_held = answered_.held();
  else
    is_held = [list = taken_](EventRef event) { return !list->values.is_open(event); };
  picking_job_.start([this, list = taken_, is_held](const LatestJob::Context& job) {
    auto events = std::make_shared<EventList>(EventList{list->values, {}, {}, list->choice});
    std::copy_if(list->events.begin(), list->events.end(), std::back_inserter(events->events), is_held);
    if (list->stream) events->stream = kept_of(*list->stream, is_held);
    job.deliver([this, events] { computeOf(events); });
  });
}

void StatisticsPanel::computeOf(const std::shared_ptr<const EventList>& events) {
  computed_ = events;
  is_nothing_counted_ = computed_ && !computed_->stream && computed_->events.empty();
  computeUtilisation();
  countPartlyIn();
  showWhyNothing();
  if (!computed_) return clear();
  if (!isByColumns()) return computeStatistics();
  pivot_->setEvents(computed_);
  computeHistogram();
}

// Sums have whole durations, also of events that lie only partly in the part of time.
void StatisticsPanel::countPartlyIn() {
  const std::optional<TimeRange> part = computed_ ? computed_->choice.filter.window : std::nullopt;
  if (!part) {
    partly_in_job_.cancel();
    return sayPartlyIn({});
  }
  const bool is_visible_part = state_.timeBinding() == TimeBinding::kVisibleRange;
  partly_in_job_.start([this, list = computed_, part = *part, is_visible_part](const LatestJob::Context& job) {
    const std::uint64_t count = count_partly_in(part, *list, job.stop());
    job.deliver([this, count, is_visible_part] {
      const QString counted = shown_text(timeline::format_counted(count, "event"));
      sayPartlyIn(count == 0        ? QString()
                  : is_visible_part ? tr("Only partly in the visible range, but counted whole: %1").arg(counted)
                                    : tr("Only partly in the selected range, but counted whole: %1").arg(counted));
    });
  });
}

void StatisticsPanel::sayPartlyIn(const QString& text) {
  partly_in_->setText(text);
  partly_in_->setVisible(!text.isEmpty() && pages_->currentWidget() != report_);
}

void StatisticsPanel::showWhyNothing() {
  const QString why = state_.trace() && pages_->currentWidget() != report_ ? whyNothing() : QString();
  nothing_->setText(why);
  nothing_->setVisible(!why.isEmpty());
}

// Empty if everything is counted.
QString StatisticsPanel::whyNothing() const {
  if (shown_.areTooMany()) return shown_.whyTooMany() + QStringLiteral("<br>") + tr("<a href='same'>Add up all of them</a>");
  if (!computed_) return {};
  if (!lack_.isEmpty()) return tr("Nothing is counted here, since not all events could be read.") + u' ' + lack_.toHtmlEscaped();
  if (!is_nothing_counted_) return shown_.whyNotAll();
  if (!taken_ || taken_->count() == 0) return shown_.whyNone();
  if (!answered_.isOfTwo()) return tr("Everything that is listed is still open. It is counted once it has ended.");
  const auto other = static_cast<qsizetype>(otherChoice());
  return tr("All events that are listed are of %1.<br><a href='other'>Count these</a>").arg(answered_.choices().value(other).toHtmlEscaped());
}

// For two traces.
AnsweredTrace::Choice StatisticsPanel::otherChoice() const {
  return answered_.choice() == AnsweredTrace::Choice::kFirst ? AnsweredTrace::Choice::kSecond : AnsweredTrace::Choice::kFirst;
}

void StatisticsPanel::followLink(const QString& link) {
  if (link == QLatin1String("same")) return shown_.listAllTheSame();
  link == QLatin1String("other") ? answered_.choose(otherChoice()) : shown_.listAll();
}

void StatisticsPanel::computeStatistics() {
  named_ = computed_;
  statistics_job_.start([this, list = computed_, by = grouping()](const LatestJob::Context& job) {
    const Trace& listed = list->values.trace();
    std::vector<NameStatistics> statistics =
        list->stream ? statistics_by_name(listed, *list->stream, job.stop(), by) : statistics_by_name(listed, list->events, job.stop(), by);
    if (job.stop().stop_requested()) return;
    const Result<void> all = check_all_was_read(listed);
    if (!all) statistics.clear();
    StatisticsModel::Files files = files_of(*list, statistics, by, job.stop());
    if (job.stop().stop_requested()) return;
    job.deliver([this, list, by, lack = all ? QString() : QString::fromStdString(all.error().text), statistics = std::move(statistics),
                 files = std::move(files)]() mutable {
      const TablePlace place(*table_);
      const bool is_same = model_->trace() && model_->grouping() == by;
      std::vector<std::pair<EventKind, std::string>> names;
      for (const int line : place.lines()) names.emplace_back(model_->entry(line).kind, model_->trace()->name(model_->entry(line).name));
      is_nothing_counted_ = statistics.empty();
      lack_ = lack;
      showWhyNothing();
      model_->setStatistics(std::shared_ptr<const Trace>(list, &list->values.trace()), std::move(statistics), by, std::move(files));
      table_->setColumnHidden(StatisticsModel::kFile, !model_->isOfFiles());
      fitNames();
      std::vector<int> lines;
      for (const auto& [kind, name] : names) lines.push_back(model_->rowNamed(kind, name).value_or(TablePlace::kGone));
      is_same ? place.restore(*table_, lines) : table_->scrollToTop();
      summed_ = list;
      followChoice();
      if (!selectedEntry()) showSelected();
      computeHistogram();
    });
  });
}

bool StatisticsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_->viewport() && event->type() == QEvent::Leave) state_.setHoveredEvent({});
  if (watched == table_->viewport() && event->type() == QEvent::Resize) fitNames();
  if (watched == charts_ && event->type() == QEvent::Resize) showUtilisation();
  return QWidget::eventFilter(watched, event);
}

// Shown if it has content and there is room for two charts.
void StatisticsPanel::showUtilisation() {
  const bool was_there = !utilisation_->isHidden();
  utilisation_->setVisible(!utilisation_->isEmpty() && charts_->height() >= 2 * kLegibleChart + charts_->handleWidth());
  if (!was_there && !utilisation_->isHidden()) charts_->setSizes({charts_->height() / 2, charts_->height() / 2});
}

// The column of names gets the room that numbers leave, until the user chooses another width.
void StatisticsPanel::fitNames() {
  QHeaderView* header = table_->horizontalHeader();
  const int least = table_->fontMetrics().horizontalAdvance(u'0') * kCharactersOfColumn[StatisticsModel::kName];
  if (fitted_ > 0 && header->sectionSize(StatisticsModel::kName) != fitted_) return;
  const int others = header->length() - header->sectionSize(StatisticsModel::kName);
  fitted_ = std::max(least, table_->viewport()->width() - others);
  header->resizeSection(StatisticsModel::kName, fitted_);
}

// The entry of an event in the trace of the table, which may be an earlier state of the shown one.
std::optional<std::pair<EventKind, NameId>> StatisticsPanel::entryOf(EventRef event) const {
  if (!event.valid() || !isVisible() || !state_.trace() || !model_->trace()) return std::nullopt;
  const EventRef listed = timeline::find_again(*state_.trace(), event, *model_->trace());
  if (!listed.valid()) return std::nullopt;
  return std::pair(event_kind(*model_->trace(), listed), listed_name(*model_->trace(), listed));
}

// Selects the name of the selected event, if it is listed.
void StatisticsPanel::showSelected() {
  const auto entry = entryOf(state_.selectedEvent());
  const std::optional<int> row = entry ? model_->rowOf(entry->first, entry->second) : std::nullopt;
  if (!row) return;
  table_->selectRow(*row);
  table_->scrollTo(model_->index(*row, 0));
}

// The longest event of the entry, mapped to the shown trace.
EventRef StatisticsPanel::longestOf(const QModelIndex& index) const { return state_.inTrace(model_->entry(index.row()).longest, *model_->trace()); }

const NameStatistics* StatisticsPanel::selectedEntry() const {
  const QModelIndexList rows = table_->selectionModel()->selectedRows();
  return rows.isEmpty() ? nullptr : &model_->entry(rows.first().row());
}

void StatisticsPanel::computeHistogram() {
  if (!computed_) return;
  std::optional<std::pair<EventKind, NameId>> name;
  std::vector<ColumnValue> values;
  QString title = tr("Durations of all listed events");
  if (isByColumns()) {
    values = pivot_->chosenGroup();
    QStringList words;
    for (const ColumnValue& value : values) words += value_text(value);
    if (!values.empty()) title = tr("Durations of %1").arg(words.join(QStringLiteral(", ")));
  } else if (const NameStatistics* entry = selectedEntry()) {
    name.emplace(entry->kind, entry->name);
    title = tr("Durations of %1").arg(model_->nameOf(*entry));
  }
  histogram_job_.start([this, list = computed_, name, values, title, by = model_->grouping()](const LatestJob::Context& job) {
    const Trace& trace = list->values.trace();
    std::function<bool(EventRef)> is_meant;
    if (!values.empty()) is_meant = [has = std::make_shared<const HasValues>(trace, values)](EventRef event) { return (*has)(event); };
    DurationHistogram histogram;
    if (list->stream) {
      const EventStream events = name       ? events_named(trace, *list->stream, name->first, name->second, by)
                                 : is_meant ? kept_of(*list->stream, is_meant)
                                            : *list->stream;
      histogram = duration_histogram(trace, events, kHistogramBins, job.stop());
    } else if (name || is_meant) {
      std::vector<EventRef> events;
      if (name)
        events = events_named(trace, list->events, name->first, name->second, by);
      else
        std::copy_if(list->events.begin(), list->events.end(), std::back_inserter(events),
                     [&](EventRef event) { return !job.stop().stop_requested() && is_meant(event); });
      histogram = duration_histogram(trace, events, kHistogramBins);
    } else {
      histogram = duration_histogram(trace, list->events, kHistogramBins);
    }
    job.deliver([this, title, histogram] { durations_->setHistogram(title, histogram); });
  });
}

void StatisticsPanel::computeUtilisation() {
  const std::shared_ptr<const Trace> trace = answered_.trace();
  if (!computed_ || !trace) {
    utilisation_job_.cancel();
    utilisation_source_ = nullptr;
    utilisation_->setUtilisation({});
    return showUtilisation();
  }
  const TimeRange range = answered_.boundRange().value_or(trace->scope());
  // Its axis is that of the timeline, on which B is shifted.
  utilisation_job_.start([this, trace, range, shown = answered_.shown(range), source = utilisation_source_](const LatestJob::Context& job) mutable {
    if (!source || source->trace() != trace)
      source = std::make_shared<const UtilisationSource>(trace, std::make_shared<const timeline::CommunicationTime>(*trace, job.stop()));
    Utilisation utilisation = source->over(range, kUtilisationPieces);
    utilisation.range = shown;
    job.deliver([this, source, utilisation] {
      utilisation_source_ = source;
      utilisation_->setUtilisation(utilisation);
      showUtilisation();
    });
  });
}

void StatisticsPanel::filterToName(const QModelIndex& index) {
  const NameStatistics& entry = model_->entry(index.row());
  EventFilter filter = state_.filter();
  const std::string_view name = model_->trace()->name(entry.name);
  model_->grouping() == Grouping::kFamilies ? keep_family(filter, entry.kind, name_family(name)) : keep_name(filter, entry.kind, name);
  state_.setFilter(filter);
}

}  // namespace lanescope::ui
