#include "panels/pivot_page.h"

#include <algorithm>
#include <utility>

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "base/text/texts.h"
#include "events/event_filter_bar.h"
#include "model/stats/pivot_table.h"
#include "model/trace/combining/parts.h"
#include "timeline/core/words/describe.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

PivotColumn column_at(const QComboBox& box) { return static_cast<PivotColumn>(box.currentData().toInt()); }

// The groups as the table shows them: kernels by their short names, as everywhere, and a word for events without a value.
std::vector<PivotGroup> as_shown(std::vector<PivotGroup> groups, const std::vector<PivotColumn>& columns, const Trace& trace) {
  for (PivotGroup& group : groups)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool is_name = columns[i] == PivotColumn::kName || columns[i] == PivotColumn::kFamily;
      std::string& text = group.values[i];
      if (text.empty())
        text = tr("(none)").toStdString();
      else if (is_name && event_kind(trace, group.longest) == EventKind::kKernel)
        text = timeline::compact_kernel_name(text);
    }
  return groups;
}

}  // namespace

PivotPage::PivotPage(SelectionState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      first_(new QComboBox(this)),
      second_(new QComboBox(this)),
      kind_(new QComboBox(this)),
      progress_(new QLabel(this)),
      table_(new ResultTable(QStringLiteral("statistics-pivot"), tr("Sums by columns"), this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(4, 0, 8, 3);
  line->setSpacing(6);
  auto* by = new QLabel(tr("By"), this);
  auto* and_by = new QLabel(tr("and"), this);
  by->setBuddy(first_);
  and_by->setBuddy(second_);
  for (QWidget* part : std::initializer_list<QWidget*>{by, first_, and_by, second_, kind_, new ValueChips(state, this), progress_}) line->addWidget(part);
  line->addStretch(1);
  column->addLayout(line);
  column->addWidget(table_, 1);
  first_->setObjectName(QStringLiteral("pivot_first"));
  first_->setAccessibleName(tr("Column that events are summed by"));
  second_->setObjectName(QStringLiteral("pivot_second"));
  second_->setAccessibleName(tr("Second column that events are summed by"));
  kind_->setAccessibleName(tr("Kind of event"));
  kind_->setToolTip(tr("The kind of events that are summed, here and in lists"));
  connect(kind_, &QComboBox::activated, this, [this] {
    EventFilter filter = state_.filter();
    filter.kind = chosen_kind(*kind_);
    state_.setFilter(filter);
  });
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) offer_kinds(*kind_, state_);
    offerRuns();
  });
  connect(&state, &SelectionState::filterChanged, this, [this] { choose_kind(*kind_, state_); });
  offer_kinds(*kind_, state_);
  progress_->setForegroundRole(QPalette::PlaceholderText);
  second_->addItem(tr("nothing else"), QVariant());
  for (const PivotColumn each : all_pivot_columns())
    for (QComboBox* box : {first_, second_})
      if (each != PivotColumn::kRun) box->addItem(shown_text(pivot_column_title(each)), static_cast<int>(each));
  chooseColumns({PivotColumn::kNvtxFamily, PivotColumn::kKind});
  for (QComboBox* box : {first_, second_})
    connect(box, &QComboBox::activated, this, [this] {
      offerColumns();
      compute();
      emit columnsChanged();
    });
  connect(table_, &ResultTable::rowChosen, this, &PivotPage::choose);
  connect(table_, &ResultTable::rowActivated, this, &PivotPage::listGroup);
  const auto add = [this](const QString& text, auto apply) {
    auto* action = new QAction(text, this);
    connect(action, &QAction::triggered, this, [this, apply] {
      if (const std::optional<TableRow> row = table_->chosenRow()) apply(*row);
    });
    table_->addAction(action);
  };
  add(tr("List its events"), [this](TableRow row) { listGroup(row); });
  add(tr("Zoom to its longest event"), [this](TableRow row) {
    if (made_of_ && row < groups_.size()) state_.activate(state_.inTrace(groups_[row].longest, made_of_->values.trace()));
  });
}

void PivotPage::chooseColumns(const std::vector<PivotColumn>& columns) {
  first_->setCurrentIndex(first_->findData(static_cast<int>(columns.front())));
  second_->setCurrentIndex(columns.size() > 1 ? second_->findData(static_cast<int>(columns[1])) : 0);
  offerColumns();
  compute();
}

// Offers the column of runs if runs are compared.
void PivotPage::offerRuns() {
  const bool offers = state_.trace() && compares_runs(*state_.trace());
  for (QComboBox* box : {first_, second_}) {
    const int entry = box->findData(static_cast<int>(PivotColumn::kRun));
    if (offers && entry < 0) box->addItem(shown_text(pivot_column_title(PivotColumn::kRun)), static_cast<int>(PivotColumn::kRun));
    if (offers || entry < 0) continue;
    if (box->currentIndex() == entry) box->setCurrentIndex(0);
    box->removeItem(entry);
  }
  offerColumns();
}

// A column cannot be chosen twice.
void PivotPage::offerColumns() {
  if (second_->currentData().isValid() && column_at(*second_) == column_at(*first_)) second_->setCurrentIndex(0);
}

std::vector<PivotColumn> PivotPage::columns() const {
  std::vector<PivotColumn> chosen = {column_at(*first_)};
  if (second_->currentData().isValid()) chosen.push_back(column_at(*second_));
  return chosen;
}

void PivotPage::setEvents(std::shared_ptr<const EventList> events) {
  if (events == events_ && (!events || made_by_ == columns() || job_.isRunning())) return;
  events_ = std::move(events);
  offer_kinds(*kind_, state_);
  compute();
}

void PivotPage::compute() {
  if (!events_) {
    job_.cancel();
    groups_.clear();
    made_by_.clear();
    made_of_.reset();
    progress_->clear();
    return table_->setTable(nullptr);
  }
  job_.start([this, list = events_, by = columns()](const LatestJob::Context& job) {
    const auto progress = [&](std::uint64_t seen) {
      const int share = static_cast<int>(100 * seen / std::max<std::uint64_t>(1, list->stream->most));
      job.deliver([this, share] { progress_->setText(tr("Adding up the events: %1 %").arg(share)); });
    };
    std::vector<PivotGroup> groups =
        list->stream ? sum_by_columns(list->values, *list->stream, by, progress, job.stop()) : sum_by_columns(list->values, list->events, by, job.stop());
    if (job.stop().stop_requested()) return;
    job.deliver([this, list, by, groups = std::move(groups)]() mutable {
      made_by_ = by;
      made_of_ = list;
      progress_->clear();
      show(std::move(groups));
    });
  });
}

void PivotPage::show(std::vector<PivotGroup> groups) {
  groups_ = std::move(groups);
  const auto table =
      std::make_shared<stats::Table>(stats::pivot_table(made_by_, as_shown(groups_, made_by_, made_of_->values.trace()), stats::ValuesAt::kFront));
  table_->setTable(table);
  emit groupChosen();
}

std::vector<ColumnValue> PivotPage::valuesOf(TableRow row) const {
  std::vector<ColumnValue> values;
  for (std::size_t i = 0; i < made_by_.size(); ++i) values.push_back({made_by_[i], groups_[row].values[i]});
  return values;
}

std::vector<ColumnValue> PivotPage::chosenGroup() const {
  const std::optional<TableRow> row = table_->chosenRow();
  return row && *row < groups_.size() ? valuesOf(*row) : std::vector<ColumnValue>();
}

void PivotPage::choose(TableRow row) {
  if (made_of_ && row < groups_.size()) state_.setSelectedEvent(state_.inTrace(groups_[row].longest, made_of_->values.trace()));
  emit groupChosen();
}

void PivotPage::listGroup(TableRow row) {
  EventFilter filter = state_.filter();
  for (const ColumnValue& value : valuesOf(row)) {
    std::erase_if(filter.values, [&](const ColumnValue& before) { return before.column == value.column; });
    filter.values.push_back(value);
  }
  state_.setFilter(filter);
  emit eventsRequested();
}

}  // namespace lanescope::ui
