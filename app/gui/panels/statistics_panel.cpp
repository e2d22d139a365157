#include "panels/statistics_panel.h"

#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>

namespace lanescope::ui {
namespace {

constexpr std::size_t kHistogramBins = 60;
constexpr int kTableWidth = 760;  // px at first
constexpr int kChartWidth = 360;  // px at first
constexpr int kCharactersOfColumn[StatisticsModel::kColumns] = {36, 13, 9, 11, 8, 11, 11, 11, 11, 11};

}  // namespace

StatisticsPanel::StatisticsPanel(SelectionState& state, ShownEvents& shown, QWidget* parent)
    : QWidget(parent),
      state_(state),
      shown_(shown),
      model_(new StatisticsModel(this)),
      table_(new QTableView(this)),
      chart_(new DurationChart(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  auto* splitter = new QSplitter(this);
  splitter->addWidget(table_);
  splitter->addWidget(chart_);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({kTableWidth, kChartWidth});
  splitter->setChildrenCollapsible(false);
  chart_->setMinimumWidth(kChartWidth / 2);
  column->addWidget(splitter);

  table_->setAccessibleName(tr("Statistics by name"));
  table_->setModel(model_);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setWordWrap(false);
  table_->setShowGrid(false);
  table_->setAlternatingRowColors(true);
  table_->setFrameShape(QFrame::NoFrame);
  table_->setToolTip(tr("Double-click a name to list its events"));
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 4);
  QHeaderView* header = table_->horizontalHeader();
  header->setHighlightSections(false);
  for (int i = 0; i < StatisticsModel::kColumns; ++i)
    header->resizeSection(i, table_->fontMetrics().horizontalAdvance(u'0') * kCharactersOfColumn[i]);
  header->setSortIndicator(StatisticsModel::kTotal, Qt::DescendingOrder);
  table_->setSortingEnabled(true);

  connect(&shown, &ShownEvents::changed, this, [this] {
    if (isVisible()) compute();
  });
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &StatisticsPanel::computeHistogram);
  connect(table_, &QTableView::doubleClicked, this, &StatisticsPanel::filterToName);
}

void StatisticsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (computed_ != shown_.list()) compute();
}

void StatisticsPanel::compute() {
  computed_ = shown_.list();
  if (!computed_) {
    statistics_job_.cancel();
    model_->setStatistics(nullptr, {});
    chart_->setHistogram({}, {});
    return;
  }
  statistics_job_.start([this, list = computed_, trace = state_.trace()](const LatestJob::Context& job) {
    std::vector<NameStatistics> statistics = statistics_by_name(list->values.trace(), list->events, job.stop());
    if (job.stop().stop_requested()) return;
    job.deliver([this, trace, statistics = std::move(statistics)]() mutable {
      std::optional<std::pair<EventKind, NameId>> selected;
      if (const NameStatistics* entry = selectedEntry()) selected.emplace(entry->kind, entry->name);
      model_->setStatistics(trace, std::move(statistics));
      for (int row = 0; selected && row < model_->rowCount(); ++row)
        if (model_->entry(row).kind == selected->first && model_->entry(row).name == selected->second) table_->selectRow(row);
      computeHistogram();
    });
  });
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
  histogram_job_.start([this, list = computed_, name, title](const LatestJob::Context& job) {
    const Trace& trace = list->values.trace();
    const DurationHistogram histogram =
        name ? duration_histogram(trace, events_named(trace, list->events, name->first, name->second), kHistogramBins)
             : duration_histogram(trace, list->events, kHistogramBins);
    job.deliver([this, title, histogram] { chart_->setHistogram(title, histogram); });
  });
}

void StatisticsPanel::filterToName(const QModelIndex& index) {
  const NameStatistics& entry = model_->entry(index.row());
  EventFilter filter = state_.filter();
  filter.text = state_.trace()->name(entry.name);
  filter.kind = entry.kind;
  state_.setFilter(filter);
}

}  // namespace lanescope::ui
