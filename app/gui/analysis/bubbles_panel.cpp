#include "analysis/bubbles_panel.h"

#include <algorithm>
#include <functional>
#include <map>

#include <QAction>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <QStyledItemDelegate>

#include "base/room/elided_label.h"
#include "base/text/texts.h"
#include "base/text/time_text.h"
#include "model/trace/segments/demanded_segments.h"
#include "panels/range_summary.h"
#include "samples/samples_panel.h"
#include "tables/panel_layout.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kGroupsWidth = 670, kGapsWidth = 450;  // px, initially; later in proportion

QString share_text(Nanoseconds part, Nanoseconds whole) {
  return whole <= 0 ? QString() : QString::fromStdString(timeline::format_share(static_cast<double>(part) / static_cast<double>(whole)));
}

// A function and its line are shortened in the middle: "__getitem__ in torch_tr…ng.py:30 (96 %)".
class SampledCodeDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.model()->headerData(index.column(), Qt::Horizontal, Qt::DisplayRole) == shown_text(kSampledCodeTitle)) option->textElideMode = Qt::ElideMiddle;
  }
};

constexpr auto kFolded = u"▸ ", kUnfolded = u"▾ ";

// Draws a mark in front of the time of a gap that unfolds, and the gap's parts in a weaker colour.
class GapDelegate : public SampledCodeDelegate {
 public:
  using Mark = std::function<QString(const QModelIndex&)>;
  GapDelegate(Mark mark, std::function<bool(const QModelIndex&)> is_part, QObject* parent)
      : SampledCodeDelegate(parent), mark_(std::move(mark)), is_part_(std::move(is_part)) {}

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    SampledCodeDelegate::initStyleOption(option, index);
    if (index.column() == 0) option->text.prepend(mark_(index));
    if (is_part_(index)) option->palette.setColor(QPalette::Text, option->palette.color(QPalette::PlaceholderText));
  }

 private:
  Mark mark_;
  std::function<bool(const QModelIndex&)> is_part_;
};

// "This gap: Running CPU code 13.968 ms (86.5 %), Launch-bound 1.954 ms (12.1 %)": the causes, longest first.
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
      flame_graph_(new QAction(tr("Show what ran in it in Flame Graph"), gaps_)),
      parts_(new QAction(tr("Show or hide its parts"), gaps_)) {
  layOut();
  gaps_->addAction(parts_);
  gaps_->addAction(flame_graph_);
  gaps_->installEventFilter(this);
  gaps_->viewport()->installEventFilter(this);
  connect(parts_, &QAction::triggered, this, [this] {
    if (const std::optional<TableRow> row = gaps_->chosenRow()) fold(*row, Fold::kToggle);
  });
  connect(gaps_, &ResultTable::rowActivated, this, [this](TableRow row) { fold(row, Fold::kToggle); });
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
  while_shown_.after(collecting_);
  while_shown_.after(grouping_);
  connect(&answered, &AnsweredTrace::changed, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return while_shown_.soon();
    chosen_.clear();
    unfolded_.clear();
    clear({});
    while_shown_.atOnce();
  });
  connect(&state, &SelectionState::boundRangeChanged, &while_shown_, &WhileShown::soon);
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
    if (table == groups_) table->setItemDelegate(new SampledCodeDelegate(table));
    table->setTelling(shown_text(kSampledCodeTitle));
  }
  const auto row_of = [this](const QModelIndex& index) { return gaps_->results().tableRow(index.row()); };
  const auto mark = [this, row_of](const QModelIndex& index) {
    const std::optional<bool> is_unfolded = isUnfolded(row_of(index));
    return is_unfolded ? QString::fromUtf16(*is_unfolded ? kUnfolded : kFolded) : QString();
  };
  const auto is_part = [this, row_of](const QModelIndex& index) {
    const TableRow row = row_of(index);
    return row < shown_.listed.pieces.size() && shown_.listed.pieces[row] != kNone;
  };
  gaps_->setDispensable({shown_text("Start"), shown_text("Before")});  // a click leads there, and Details says both
  gaps_->setItemDelegate(new GapDelegate(mark, is_part, gaps_));
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

void BubblesPanel::refresh() {
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
  while_shown_.atOnce();
}

void BubblesPanel::collect() {
  wanted_ = answered_.subject();
  if (!bubbles_) summary_->setText(tr("Looking for idle time…"));
  collecting_.start([this, subject = wanted_, threshold = threshold_](const LatestJob::Context& job) {
    auto bubbles = std::make_shared<const BubbleList>(collect_bubbles(subject.trace, threshold, job.stop()));
    if (job.stop().stop_requested()) return;
    const Result<void> all = check_all_was_read(*subject.trace);
    job.deliver([this, subject, bubbles = std::move(bubbles), lack = all ? QString() : QString::fromStdString(all.error().text)] {
      if (!lack.isEmpty()) {
        clear(lack);
        wanted_ = subject;  // not tried again
        return;
      }
      made_of_ = subject;
      bubbles_ = bubbles;
      group();
    });
  });
}

void BubblesPanel::group() {
  if (!bubbles_) return;
  grouping_.start([this, subject = made_of_, bubbles = bubbles_, by = grouping(), window = window(), chosen = chosen_,
                   unfolded = unfolded_](const LatestJob::Context& job) {
    GroupedBubbles grouped = group_bubbles(*bubbles, by, window);
    if (window)
      for (const GpuTime& gpu : idle_in(*bubbles->trace, UtilisationSource(bubbles->trace).over(*window, 1))) {
        grouped.idle += gpu.idle;
        grouped.outside += gpu.before + gpu.after;
      }
    ListedBubbles listed = list_bubbles(*bubbles, grouped.named(chosen), window, unfolded);
    job.deliver([this, subject, bubbles, grouped = std::move(grouped), listed = std::move(listed)]() mutable {
      shown_ = {subject, bubbles, std::move(grouped), std::move(listed)};
      groups_->setTable(std::make_shared<const stats::Table>(std::move(shown_.grouped.table)), shown_.grouped.names);
      selectChosenGroup();
      hideSilentColumns(*groups_);
      showListed();
    });
  });
}

// The chosen group stays chosen, even if it was missing for a while; the timeline is not moved.
void BubblesPanel::selectChosenGroup() {
  const QSignalBlocker blocker(groups_);
  const std::optional<TableRow> row = shown_.grouped.rowNamed(chosen_);
  if (row && groups_->chosenRow() != row) groups_->chooseRow(*row);
}

void BubblesPanel::list() {
  if (shown_.bubbles != bubbles_) return group();  // a newer list is being computed for the present choice
  grouping_.start([this, bubbles = bubbles_, window = window(), group = shown_.grouped.named(chosen_), unfolded = unfolded_](const LatestJob::Context& job) {
    ListedBubbles listed = list_bubbles(*bubbles, group, window, unfolded);
    job.deliver([this, listed = std::move(listed)]() mutable {
      shown_.listed = std::move(listed);
      showListed();
    });
  });
}

void BubblesPanel::showListed() {
  gaps_->setTable(std::make_shared<const stats::Table>(std::move(shown_.listed.table)), shown_.listed.names, shown_.listed.leaders);
  hideSilentColumns(*gaps_);
  showSummary();
}

// Hides columns that are empty, because groups do not use them or the data was not recorded, and in a group also columns with the same value in all lines.
// Hides the length of gaps if all of each gap counts, and what tells copied parts from gaps: here, the mark and the colour do.
void BubblesPanel::hideSilentColumns(ResultTable& view) {
  const stats::Table& table = *view.results().table();
  std::set<int> hidden;
  const bool in_group = &view == gaps_ && shown_.grouped.rowNamed(chosen_).has_value();
  for (std::size_t section = 0; section < table.columns().size(); ++section) {
    const stats::Column& column = table.columns()[section];
    const auto text = [&](TableRow row) { return table.text(column.text(row)); };
    bool silent = column.has_texts() && !table.empty() && (in_group || text(0).empty());
    for (TableRow row = 1; row < table.row_count() && silent; ++row) silent = text(row) == text(0);
    if (column.title == kGapTitle) {
      silent = true;
      for (TableRow row = 0; row < table.row_count() && silent; ++row)
        silent = shown_.listed.pieces[row] != kNone || column.integer(row) == table.columns().front().integer(row);
    }
    if (column.title == kPartOfTitle) silent = true;
    if (silent) hidden.insert(static_cast<int>(section));
  }
  view.setHiddenColumns(std::move(hidden));
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
  else if (const std::optional<TimeRange> window = this->window())
    text = tr("Within %1: %2 idle; shorter gaps take %3 of it")
               .arg(duration_text(window->length()), duration_text(std::max(shown_.grouped.idle, shown_.grouped.total)),
                    duration_text(std::max<Nanoseconds>(0, shown_.grouped.idle - shown_.grouped.total)));
  else
    text = tr("Idle %1 of %2 (%3); shorter gaps take %4 of it")
               .arg(duration_text(idle), duration_text(extent), share_text(idle, extent), duration_text(short_idle));
  if (shown_.grouped.outside > 0) text += tr("; %1 before the first or after the last operation of a GPU").arg(duration_text(shown_.grouped.outside));
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

// Shows the advice about the chosen group, and the parts of the chosen gap.
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
  const std::uint32_t piece = shown_.listed.pieces[*row];
  const TimeRange time = piece == kNone ? gap.range : shown_.bubbles->pieces[piece].part.range;
  const EventRef launch = answered_.shown(gap.launch);
  if (launch.valid()) emit flameGraphRequested(state_.trace()->track_of(launch.lane).key.thread, answered_.shown(time));
}

std::optional<bool> BubblesPanel::isUnfolded(TableRow row) const {
  if (row >= shown_.listed.gaps.size() || shown_.listed.pieces[row] != kNone) return std::nullopt;
  const std::uint32_t gap = shown_.listed.gaps[row];
  const auto before = [](const IdlePiece& piece, std::uint32_t of) { return piece.gap < of; };
  const auto& pieces = shown_.bubbles->pieces;
  const auto first = std::lower_bound(pieces.begin(), pieces.end(), gap, before);
  const bool has_parts = pieces.end() - first > 1 && (first + 1)->gap == gap;
  return has_parts ? std::optional(unfolded_.contains(shown_.listed.names[row])) : std::nullopt;
}

void BubblesPanel::fold(TableRow row, Fold how) {
  if (row >= shown_.listed.leaders.size() || shown_.bubbles != bubbles_) return;
  const TableRow leader = shown_.listed.leaders[row];
  const std::optional<bool> is_unfolded = isUnfolded(leader);
  if (!is_unfolded || (how != Fold::kToggle && *is_unfolded == (how == Fold::kOpen))) return;
  if (*is_unfolded)
    unfolded_.erase(shown_.listed.names[leader]);
  else
    unfolded_.insert(shown_.listed.names[leader]);
  if (leader != row) gaps_->chooseRow(leader);
  list();
}

std::optional<TableRow> BubblesPanel::rowOfMark(const QPoint& place) const {
  const QModelIndex index = gaps_->indexAt(place);
  if (!index.isValid() || index.column() != 0) return std::nullopt;
  const TableRow row = gaps_->results().tableRow(index.row());
  if (!isUnfolded(row)) return std::nullopt;
  const QFontMetrics metrics = gaps_->fontMetrics();
  const int mark = metrics.horizontalAdvance(QString::fromUtf16(kFolded)), room = metrics.averageCharWidth();
  const int text = metrics.horizontalAdvance(index.data().toString());  // the text is aligned to the right
  const int end = gaps_->visualRect(index).right() - text;
  return place.x() <= end && place.x() >= end - mark - 2 * room ? std::optional(row) : std::nullopt;
}

bool BubblesPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == gaps_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const std::optional<TableRow> row = gaps_->chosenRow();
    if ((key == Qt::Key_Right || key == Qt::Key_Left) && row) {
      fold(*row, key == Qt::Key_Right ? Fold::kOpen : Fold::kClose);
      return true;
    }
  }
  if (watched == gaps_->viewport() && event->type() == QEvent::MouseButtonRelease && static_cast<QMouseEvent*>(event)->button() == Qt::LeftButton)
    if (const std::optional<TableRow> row = rowOfMark(static_cast<QMouseEvent*>(event)->pos())) fold(*row, Fold::kToggle);
  return QWidget::eventFilter(watched, event);
}

// A selected gap is one of the lines, and does not limit them.
std::optional<TimeRange> BubblesPanel::window() const {
  const std::optional<timeline::Selection::Gap>& gap = state_.selection().gap();
  const bool is_gap = gap && state_.timeBinding() == TimeBinding::kSelectedRange && state_.selectedRange() == gap->range;
  return is_gap ? std::nullopt : answered_.boundRange();
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
  answered_.show(shown_.subject, gap.range, gap.next);
}

}  // namespace lanescope::ui
