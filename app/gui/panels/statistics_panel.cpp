#include "panels/statistics_panel.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>

#include "analysis/command_text.h"
#include "model/events/name_family.h"
#include "model/stats/report.h"
#include "tables/quiet_focus.h"
#include "tables/table_look.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kHistogramBins = 60;
constexpr std::size_t kUtilisationPieces = 200;
constexpr int kTableWidth = 950;  // px at first
constexpr int kChartWidth = 270;  // px at first
constexpr int kCharactersOfColumn[StatisticsModel::kColumns] = {25, 11, 8, 11, 8, 11, 11, 11, 11, 11};

}  // namespace

StatisticsPanel::StatisticsPanel(SelectionState& state, AnsweredTrace& answered, ShownEvents& shown, QWidget* parent)
    : QWidget(parent),
      state_(state),
      answered_(answered),
      shown_(shown),
      of_(new AnsweredTraceBox(answered, this)),
      choice_(new QComboBox(this)),
      command_(new QLabel(this)),
      pages_(new QStackedWidget(this)),
      model_(new StatisticsModel(this)),
      table_(new QuietFocus<QTableView>(this)),
      report_(new ReportPage(state, answered, this)),
      durations_(new DurationChart(this)),
      utilisation_(new UtilisationChart(this)) {
  layOut();
  fillChoice();
  connect(choice_, &QComboBox::activated, this, &StatisticsPanel::showChoice);
  connect(report_, &ReportPage::commandChanged, this, &StatisticsPanel::showCommand);
  connect(&shown, &ShownEvents::changed, this, [this] {
    if (isVisible()) compute();
  });
  connect(&answered, &AnsweredTrace::changed, this, [this](TraceChange change) {
    showCommand();
    if (change == TraceChange::kOther) isVisible() ? compute() : clear();
  });
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &StatisticsPanel::computeHistogram);
  connect(table_, &QTableView::doubleClicked, this, &StatisticsPanel::filterToName);
  // The longest event of a name stands for it in other views, and the name of an event for the event here.
  connect(table_, &QTableView::entered, this,
          [this](const QModelIndex& index) { state_.setHoveredEvent(longestOf(index)); });
  connect(table_, &QTableView::clicked, this,
          [this](const QModelIndex& index) { state_.setSelectedEvent(longestOf(index)); });
  connect(&state, &SelectionState::hoveredEventChanged, this, [this](EventRef event) {
    const bool known = event.valid() && isVisible() && state_.trace();
    model_->setHovered(known ? event_kind(*state_.trace(), event) : EventKind::kKernel,
                       known ? listed_name(*state_.trace(), event) : kNone);
  });
  connect(&state, &SelectionState::selectedEventChanged, this, &StatisticsPanel::showSelected);
  showChoice();
}

void StatisticsPanel::layOut() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(4, 3, 8, 3);
  line->setSpacing(6);
  line->addWidget(of_);
  line->addWidget(choice_);
  line->addWidget(command_, 1);
  column->addLayout(line);
  auto* charts = new QSplitter(Qt::Vertical, this);
  charts->addWidget(durations_);
  charts->addWidget(utilisation_);
  auto* splitter = new QSplitter(this);
  splitter->addWidget(pages_);
  splitter->addWidget(charts);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({kTableWidth, kChartWidth});
  splitter->setObjectName(QStringLiteral("statistics-parts"));
  splitter->setChildrenCollapsible(false);
  pages_->addWidget(table_);
  pages_->addWidget(report_);
  for (QWidget* chart : {static_cast<QWidget*>(durations_), static_cast<QWidget*>(utilisation_)})
    chart->setMinimumSize(kChartWidth / 2, 60);
  column->addWidget(splitter, 1);

  command_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  command_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  command_->setForegroundRole(QPalette::PlaceholderText);
  command_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  command_->setToolTip(tr("The command that prints the same"));
  table_->setAccessibleName(tr("Statistics by name"));
  apply_table_look(*table_);
  table_->setModel(model_);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setMouseTracking(true);
  table_->viewport()->installEventFilter(this);
  QHeaderView* header = table_->horizontalHeader();
  for (int i = 0; i < StatisticsModel::kColumns; ++i)
    header->resizeSection(i, table_->fontMetrics().horizontalAdvance(u'0') * kCharactersOfColumn[i]);
  header->setObjectName(QStringLiteral("statistics-header"));
  header->setSortIndicator(StatisticsModel::kTotal, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
}

void StatisticsPanel::fillChoice() {
  choice_->setAccessibleName(tr("What is shown"));
  choice_->addItem(tr("Durations by name"), QString());
  choice_->addItem(tr("Durations by family of names"), QString::fromLatin1(kFamilies));
  choice_->setItemData(1, tr("Names that differ in their counters only are one: step 7 and step 8 are step *"), Qt::ToolTipRole);
  choice_->insertSeparator(2);
  for (const stats::Report& report : stats::reports()) {
    choice_->addItem(shown_text(report.title),
                     QString::fromUtf8(report.name.data(), static_cast<qsizetype>(report.name.size())));
    choice_->setItemData(choice_->count() - 1,
                         shown_text(report.description), Qt::ToolTipRole);
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
  pages_->setCurrentIndex(report ? 1 : 0);
  report_->setReport(report);
  showCommand();
  if (!report && computed_ && model_->grouping() != grouping() && isVisible()) compute();
}

Grouping StatisticsPanel::grouping() const { return choice_->currentData() == QLatin1String(kFamilies) ? Grouping::kFamilies : Grouping::kNames; }

void StatisticsPanel::showCommand() {
  const QStringList files = answered_.files(files_);
  const bool is_report = pages_->currentIndex() == 1 && !files.isEmpty();
  command_->setText(is_report ? command_text(report_->command() << files) : QString());
}

void StatisticsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (taken_ != shown_.list())
    compute();
  else
    showSelected();
}

std::shared_ptr<const EventList> StatisticsPanel::answeredEvents() const {
  if (!taken_ || !answered_.isOfTwo() || answered_.choice() == AnsweredTrace::Choice::kBoth) return taken_;
  auto events = std::make_shared<EventList>(EventList{taken_->values, {}, {}});
  const std::function<bool(EventRef)> is_held = answered_.held();
  std::copy_if(taken_->events.begin(), taken_->events.end(), std::back_inserter(events->events), is_held);
  if (taken_->stream) events->stream = kept_of(*taken_->stream, is_held);
  return events;
}

void StatisticsPanel::clear() {
  for (LatestJob* job : {&statistics_job_, &histogram_job_, &utilisation_job_}) job->cancel();
  taken_ = computed_ = nullptr;
  utilisation_source_ = nullptr;
  model_->setStatistics(nullptr, {});
  durations_->setHistogram({}, {});
  utilisation_->setUtilisation({});
}

void StatisticsPanel::compute() {
  taken_ = shown_.list();
  computed_ = answeredEvents();
  computeUtilisation();
  if (!computed_) return clear();
  statistics_job_.start([this, list = computed_, trace = state_.trace(), by = grouping()](const LatestJob::Context& job) {
    const Trace& listed = list->values.trace();
    std::vector<NameStatistics> statistics =
        list->stream ? statistics_by_name(listed, *list->stream, job.stop(), by) : statistics_by_name(listed, list->events, job.stop(), by);
    if (job.stop().stop_requested()) return;
    job.deliver([this, trace, by, statistics = std::move(statistics)]() mutable {
      std::optional<std::pair<EventKind, NameId>> selected;
      if (const NameStatistics* entry = selectedEntry()) selected.emplace(entry->kind, entry->name);
      model_->setStatistics(trace, std::move(statistics), by);
      const std::optional<int> row = selected ? model_->rowOf(selected->first, selected->second) : std::nullopt;
      if (row)
        table_->selectRow(*row);
      else
        showSelected();
      computeHistogram();
    });
  });
}

bool StatisticsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_->viewport() && event->type() == QEvent::Leave) state_.setHoveredEvent({});
  if (watched == table_->viewport() && event->type() == QEvent::Resize) fitNames();
  return QWidget::eventFilter(watched, event);
}

// Names have what room the numbers leave, until somebody chooses another width.
void StatisticsPanel::fitNames() {
  QHeaderView* header = table_->horizontalHeader();
  const int least = table_->fontMetrics().horizontalAdvance(u'0') * kCharactersOfColumn[StatisticsModel::kName];
  if (fitted_ > 0 && header->sectionSize(StatisticsModel::kName) != fitted_) return;
  const int others = header->length() - header->sectionSize(StatisticsModel::kName);
  fitted_ = std::max(least, table_->viewport()->width() - others);
  header->resizeSection(StatisticsModel::kName, fitted_);
}

// The name of the selected event, where it is listed.
void StatisticsPanel::showSelected() {
  const EventRef event = state_.selectedEvent();
  if (!event.valid() || !state_.trace() || !isVisible()) return;
  const std::optional<int> row = model_->rowOf(event_kind(*state_.trace(), event), listed_name(*state_.trace(), event));
  if (!row) return;
  table_->selectRow(*row);
  table_->scrollTo(model_->index(*row, 0));
}

// As it stands in the trace that is shown.
EventRef StatisticsPanel::longestOf(const QModelIndex& index) const {
  return state_.inTrace(model_->entry(index.row()).longest, *model_->trace());
}

const NameStatistics* StatisticsPanel::selectedEntry() const {
  const QModelIndexList rows = table_->selectionModel()->selectedRows();
  return rows.isEmpty() ? nullptr : &model_->entry(rows.first().row());
}

void StatisticsPanel::computeHistogram() {
  if (!computed_) return;
  std::optional<std::pair<EventKind, NameId>> name;
  QString title = tr("Durations of all listed events");
  if (const NameStatistics* entry = selectedEntry()) {
    name.emplace(entry->kind, entry->name);
    title = tr("Durations of %1").arg(model_->nameOf(*entry));
  }
  histogram_job_.start([this, list = computed_, name, title, by = model_->grouping()](const LatestJob::Context& job) {
    const Trace& trace = list->values.trace();
    DurationHistogram histogram;
    if (list->stream)
      histogram = duration_histogram(trace, name ? events_named(trace, *list->stream, name->first, name->second, by) : *list->stream, kHistogramBins, job.stop());
    else
      histogram = name ? duration_histogram(trace, events_named(trace, list->events, name->first, name->second, by), kHistogramBins)
                       : duration_histogram(trace, list->events, kHistogramBins);
    job.deliver([this, title, histogram] { durations_->setHistogram(title, histogram); });
  });
}

void StatisticsPanel::computeUtilisation() {
  const std::shared_ptr<const Trace> trace = answered_.trace();
  if (!computed_ || !trace) {
    utilisation_job_.cancel();
    utilisation_source_ = nullptr;
    return utilisation_->setUtilisation({});
  }
  const TimeRange range = answered_.boundRange().value_or(trace->extent());
  utilisation_job_.start([this, trace, range, source = utilisation_source_](const LatestJob::Context& job) mutable {
    if (!source || source->trace() != trace) source = std::make_shared<const UtilisationSource>(trace, std::make_shared<const timeline::CommunicationTime>(*trace, job.stop()));
    const Utilisation utilisation = source->over(range, kUtilisationPieces);
    job.deliver([this, source, utilisation] {
      utilisation_source_ = source;
      utilisation_->setUtilisation(utilisation);
    });
  });
}

void StatisticsPanel::filterToName(const QModelIndex& index) {
  const NameStatistics& entry = model_->entry(index.row());
  EventFilter filter = state_.filter();
  filter.text = state_.trace()->name(entry.name);
  if (model_->grouping() == Grouping::kFamilies) filter.text = name_family(filter.text);  // which stands for all of them
  filter.kind = entry.kind;
  state_.setFilter(filter);
}

}  // namespace lanescope::ui
