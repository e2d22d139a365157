#include "analysis/bubbles_panel.h"

#include <algorithm>
#include <map>

#include <QAction>
#include <QElapsedTimer>
#include <QSignalBlocker>
#include <QStyledItemDelegate>

#include "base/room/elided_label.h"
#include "base/text/texts.h"
#include "base/text/time_text.h"
#include "samples/samples_panel.h"
#include "tables/panel_layout.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kGroupsWidth = 660, kGapsWidth = 440;  // px, at first; later in proportion

QString share_text(Nanoseconds part, Nanoseconds whole) {
  return whole <= 0 ? QString() : QString::fromStdString(timeline::format_share(static_cast<double>(part) / static_cast<double>(whole)));
}

// A function and its line stay legible at both ends: "__getitem__ in torch_tr…ng.py:30 (96 %)".
class SampledCodeDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.model()->headerData(index.column(), Qt::Horizontal, Qt::DisplayRole) == shown_text(kSampledCodeTitle)) option->textElideMode = Qt::ElideMiddle;
  }
};

// "This gap: Running CPU code 13.968 ms (86.5 %), Launch-bound 1.954 ms (12.1 %)": the causes, that of the most time first.
QString parts_text(const BubbleList& bubbles, std::uint32_t gap) {
  std::map<analysis::IdleCause, Nanoseconds> times;
  const auto before = [](const IdlePiece& piece, std::uint32_t of) { return piece.gap < of; };
  for (auto piece = std::lower_bound(bubbles.pieces.begin(), bubbles.pieces.end(), gap, before); piece != bubbles.pieces.end() && piece->gap == gap; ++piece)
    times[piece->part.cause] += piece->part.range.length();
  std::vector<std::pair<Nanoseconds, analysis::IdleCause>> parts;
  for (const auto& [cause, time] : times) parts.emplace_back(time, cause);
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  QStringList texts;
  for (const auto& [time, cause] : parts)
    texts += BubblesPanel::tr("%1 %2 (%3)")
                 .arg(shown_text(analysis::idle_cause_name(cause)), duration_text(time), share_text(time, bubbles.gaps[gap].range.length()));
  return BubblesPanel::tr("This gap: %1").arg(texts.join(QStringLiteral(", ")));
}

}  // namespace

BubblesPanel::BubblesPanel(SelectionState& state, AnsweredTrace& answered, QWidget* parent)
    : QWidget(parent),
      state_(state),
      answered_(answered),
      of_(new AnsweredTraceBox(answered, this)),
      by_(new QComboBox(this)),
      threshold_text_(new QLineEdit(this)),
      summary_(new ElidedLabel(this)),
      groups_(new ResultTable(QStringLiteral("bubbles-groups"), tr("Idle time in groups"), this)),
      gaps_(new ResultTable(QStringLiteral("bubbles-gaps"), tr("Gaps of GPUs"), this)),
      advice_(new QLabel(this)),
      flame_graph_(new QAction(tr("Show what ran in it in Flame Graph"), gaps_)) {
  layOut();
  gaps_->addAction(flame_graph_);
  connect(flame_graph_, &QAction::triggered, this, &BubblesPanel::requestFlameGraph);
  connect(by_, &QComboBox::activated, this, [this] {
    chosen_.clear();
    group();
  });
  connect(threshold_text_, &QLineEdit::editingFinished, this, &BubblesPanel::applyThreshold);
  connect(groups_, &ResultTable::rowChosen, this, &BubblesPanel::showGroup);
  connect(groups_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    if (groups_->selectionModel()->hasSelection() || !shown_.bubbles) return;
    chosen_.clear();
    showAdvice({});
    list();
  });
  connect(gaps_, &ResultTable::rowChosen, this, &BubblesPanel::describeGap);
  paced_.after(collecting_);
  paced_.after(grouping_);
  connect(&paced_, &PacedUpdate::due, this, &BubblesPanel::refresh);
  connect(&answered, &AnsweredTrace::changed, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return paced_.request();
    chosen_.clear();
    clear({});
    refresh();
  });
  const auto follow = [this](TimeBinding binding) {
    if (state_.timeBinding() == binding) paced_.request();
  };
  connect(&state, &SelectionState::selectedRangeChanged, this, [follow] { follow(TimeBinding::kSelectedRange); });
  connect(&state, &SelectionState::visibleRangeChanged, this, [follow] { follow(TimeBinding::kVisibleRange); });
  connect(&state, &SelectionState::timeBindingChanged, this, &BubblesPanel::refresh);
  refresh();
}

void BubblesPanel::layOut() {
  const auto [column, line] = lay_out(*this);
  line->addWidget(of_);
  line->addWidget(by_);
  line->addWidget(new QLabel(tr("Gaps from"), this));
  line->addWidget(threshold_text_);
  line->addWidget(summary_, 1);
  const std::pair<QWidget*, int> parts[] = {{groups_, kGroupsWidth}, {gaps_, kGapsWidth}};
  auto* splitter = beside_each_other(*this, QStringLiteral("bubbles-parts"), parts);
  splitter->setStretchFactor(0, kGroupsWidth);
  splitter->setStretchFactor(1, kGapsWidth);
  for (ResultTable* table : {groups_, gaps_}) {
    table->setItemDelegate(new SampledCodeDelegate(table));
    table->setTelling(shown_text(kSampledCodeTitle));
  }
  column->addWidget(splitter, 1);
  column->addWidget(advice_);

  by_->addItem(tr("By cause, range and call"), static_cast<int>(BubbleGrouping::kCauseRangeAndCall));
  by_->addItem(tr("By cause"), static_cast<int>(BubbleGrouping::kCause));
  by_->addItem(tr("By NVTX range"), static_cast<int>(BubbleGrouping::kRange));
  by_->addItem(tr("By call"), static_cast<int>(BubbleGrouping::kCall));
  by_->addItem(tr("By GPU and cause"), static_cast<int>(BubbleGrouping::kGpu));
  by_->setAccessibleName(tr("What idle time is grouped by"));
  threshold_text_->setText(duration_text(threshold_).replace(QStringLiteral(".000"), QString()));
  threshold_text_->setMaximumWidth(threshold_text_->fontMetrics().averageCharWidth() * 12);
  threshold_text_->setToolTip(tr("The shortest gap that counts, with its unit: ns, us, ms or s"));
  threshold_text_->setAccessibleName(tr("Shortest gap"));
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  advice_->setContentsMargins(8, 3, 8, 3);
  advice_->setWordWrap(true);
  advice_->hide();
}

void BubblesPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

void BubblesPanel::refresh() {
  if (!isVisible()) return;
  paced_.cancel();
  const AnsweredTrace::Subject subject = answered_.subject();
  const std::shared_ptr<const Trace>& trace = subject.trace;
  if (!trace) return clear(tr("Open a trace to see why its GPUs were idle."));
  if (trace->provenance().outline_only) return clear(tr("Only the outline of the trace is loaded so far."));
  if (wanted_ == subject && (!bubbles_ || bubbles_->threshold == threshold_)) {
    if (bubbles_) group();
    return;
  }
  collect();
}

void BubblesPanel::clear(const QString& sentence) {
  collecting_.cancel();
  grouping_.cancel();
  wanted_ = made_of_ = {};
  bubbles_ = nullptr;
  shown_ = {};
  groups_->setTable(nullptr);
  gaps_->setTable(nullptr);
  showAdvice({});
  summary_->setText(sentence);
}

void BubblesPanel::applyThreshold() {
  const std::optional<Nanoseconds> asked = parse_time(threshold_text_->text());
  QPalette colors;
  if (!asked || *asked < 1) {
    colors.setColor(QPalette::Text, Qt::red);
    return threshold_text_->setPalette(colors);
  }
  threshold_text_->setPalette(colors);
  if (*asked == threshold_) return;
  threshold_ = *asked;
  bubbles_ = nullptr;
  wanted_ = {};
  refresh();
}

void BubblesPanel::collect() {
  wanted_ = answered_.subject();
  if (!bubbles_) summary_->setText(tr("Looking for idle time…"));
  collecting_.start([this, subject = wanted_, threshold = threshold_](const LatestJob::Context& job) {
    QElapsedTimer clock;
    clock.start();
    auto bubbles = std::make_shared<const BubbleList>(collect_bubbles(subject.trace, threshold, job.stop()));
    if (job.stop().stop_requested()) return;
    job.deliver([this, subject, bubbles = std::move(bubbles), took = clock.elapsed()] {
      paced_.tookMilliseconds(took);
      made_of_ = subject;
      bubbles_ = bubbles;
      group();
    });
  });
}

void BubblesPanel::group() {
  if (!bubbles_) return;
  grouping_.start(
      [this, subject = made_of_, bubbles = bubbles_, by = grouping(), window = answered_.boundRange(), chosen = chosen_](const LatestJob::Context& job) {
        GroupedBubbles grouped = group_bubbles(*bubbles, by, window);
        ListedBubbles listed = list_bubbles(*bubbles, grouped.named(chosen), window);
        job.deliver([this, subject, bubbles, grouped = std::move(grouped), listed = std::move(listed)]() mutable {
          shown_ = {subject, bubbles, std::move(grouped), std::move(listed)};
          groups_->setTable(std::make_shared<const stats::Table>(std::move(shown_.grouped.table)), shown_.grouped.names);
          selectChosenGroup();
          hideSilentColumns(*groups_);
          showListed();
        });
      });
}

// What was chosen stays so, also where it was not there for a while; the timeline stays where its user left it.
void BubblesPanel::selectChosenGroup() {
  const QSignalBlocker blocker(groups_);
  const std::optional<TableRow> row = shown_.grouped.rowNamed(chosen_);
  if (row && groups_->chosenRow() != row) groups_->chooseRow(*row);
}

void BubblesPanel::list() {
  if (shown_.bubbles != bubbles_) return group();  // newer ones are on their way, with what is chosen
  grouping_.start([this, bubbles = bubbles_, window = answered_.boundRange(), group = shown_.grouped.named(chosen_)](const LatestJob::Context& job) {
    ListedBubbles listed = list_bubbles(*bubbles, group, window);
    job.deliver([this, listed = std::move(listed)]() mutable {
      shown_.listed = std::move(listed);
      showListed();
    });
  });
}

void BubblesPanel::showListed() {
  gaps_->setTable(std::make_shared<const stats::Table>(std::move(shown_.listed.table)), shown_.listed.names);
  hideSilentColumns(*gaps_);
  showSummary();
}

// What is not grouped by, and what was not recorded, leaves an empty column; in a group, some lines all say the same.
void BubblesPanel::hideSilentColumns(ResultTable& view) {
  const stats::Table& table = *view.results().table();
  const bool in_group = &view == gaps_ && shown_.grouped.rowNamed(chosen_).has_value();
  for (std::size_t section = 0; section < table.columns().size(); ++section) {
    const stats::Column& column = table.columns()[section];
    const auto text = [&](TableRow row) { return table.text(column.text(row)); };
    bool silent = column.has_texts() && !table.empty() && (in_group || text(0).empty());
    for (TableRow row = 1; row < table.row_count() && silent; ++row) silent = text(row) == text(0);
    if (column.title == kGapTitle)
      silent = std::get<stats::Integers>(column.values) == std::get<stats::Integers>(table.columns().front().values);  // all of each gap counts
    view.setColumnHidden(static_cast<int>(section), silent);
  }
  view.fitColumns();
}

void BubblesPanel::showSummary() {
  Nanoseconds idle = 0, extent = 0, short_idle = 0;
  for (const analysis::GpuIdle& gpu : shown_.bubbles->gpus) {
    idle += gpu.idle;
    extent += gpu.extent.length();
    short_idle += gpu.short_idle;
  }
  QString text;
  if (shown_.bubbles->gpus.empty())
    text = tr("No GPU work was recorded.");
  else if (const std::optional<TimeRange> window = answered_.boundRange())
    text = tr("Within %1: %2 idle in such gaps").arg(duration_text(window->length()), duration_text(shown_.grouped.total));
  else
    text = tr("Idle %1 of %2 (%3); shorter gaps take %4 of it")
               .arg(duration_text(idle), duration_text(extent), share_text(idle, extent), duration_text(short_idle));
  if (shown_.listed.omitted > 0) text += tr("; the longest %1 are listed").arg(QString::fromStdString(timeline::format_count(kListedGaps)));
  summary_->setText(text);
  summary_->setToolTip(text);
}

void BubblesPanel::showGroup(TableRow row) {
  chosen_ = shown_.grouped.names[row];
  advised_.clear();
  if (shown_.grouped.groups[row].cause) {
    const std::string_view advice = shown_.grouped.advice[row];
    const QString sampled = QString::fromStdString(shown_.grouped.sampled[row]);
    advised_ = (sampled.isEmpty() ? QString() : tr("Samples of the CPU: %1.\n").arg(sampled)) + shown_text(advice);
  }
  showAdvice({});
  showGap(shown_.grouped.longest[row]);
  list();
}

// About the chosen group, and of the chosen gap, what it is made of.
void BubblesPanel::showAdvice(const QString& parts) {
  if (chosen_.empty()) advised_.clear();
  QStringList lines{advised_, parts};
  lines.removeAll(QString());
  advice_->setText(unbroken(lines.join(u'\n')));
  advice_->setVisible(!lines.isEmpty());
}

void BubblesPanel::requestFlameGraph() {
  const std::optional<TableRow> row = gaps_->chosenRow();
  if (!row || *row >= shown_.listed.gaps.size() || shown_.subject != answered_.subject()) return;
  const analysis::IdleGap& gap = shown_.bubbles->gaps[shown_.listed.gaps[*row]];
  const EventRef launch = answered_.shown(gap.launch);
  if (launch.valid()) emit flameGraphRequested(state_.trace()->track_of(launch.lane).key.thread, answered_.shown(gap.range));
}

void BubblesPanel::describeGap(TableRow row) {
  const std::uint32_t gap = shown_.listed.gaps[row];
  showAdvice(parts_text(*shown_.bubbles, gap));
  const EventRef launch = shown_.bubbles->gaps[gap].launch;
  flame_graph_->setEnabled(launch.valid() && SamplesPanel::hasChainsOf(*shown_.bubbles->trace, shown_.bubbles->trace->track_of(launch.lane).key.thread));
  showGap(gap);
}

void BubblesPanel::showGap(std::uint32_t position) {
  const BubbleList& bubbles = *shown_.bubbles;
  const analysis::IdleGap& gap = bubbles.gaps[position];
  answered_.show(shown_.subject, {gap.range.begin, bubbles.trace->event(gap.next).end()}, gap.next);
}

}  // namespace lanescope::ui
