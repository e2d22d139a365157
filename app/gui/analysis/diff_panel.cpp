#include "analysis/diff_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <QAction>
#include <QFileInfo>

#include "analysis/command_text.h"
#include "analysis/longest.h"
#include "analysis/place.h"
#include "base/text/texts.h"
#include "events/value_chips.h"
#include "kernels/kernel_html.h"
#include "model/analysis/diff/diff_words.h"
#include "model/text/language.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/text/percent.h"
#include "tables/panel_layout.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

using analysis::CounterChange;
using analysis::DiffItem;
using analysis::DiffKind;
using analysis::DiffVerdict;
using analysis::TraceDiff;

// For a DiffItem or a CounterChange.
std::string interval_text(const auto& changed) {
  if (!std::isfinite(changed.change_low) || !std::isfinite(changed.change_high)) return {};
  return format_change(changed.change_low) + " … " + format_change(changed.change_high);
}

// Numbers as texts, with their own units.
stats::Column written_numbers(const char* title) { return {title, stats::Unit::kNumber, stats::Texts{}}; }

// The name of an item that is not a kernel: iterations, busy time and causes of idle time have translated names; other items have names from the trace.
std::string name_of(const DiffItem& item) {
  const bool is_ours = item.kind == DiffKind::kDuration || item.kind == DiffKind::kGpuBusy || item.kind == DiffKind::kGpuIdle;
  if (is_ours) return shown_language().translate(item.name);
  return item.name;
}

// The columns that identify and judge a row come first, so that a narrow panel shows them without scrolling.
stats::Table table_of(const TraceDiff& diff) {
  stats::Table table({stats::reals("Difference", stats::Unit::kNanoseconds), stats::reals("Change", stats::Unit::kPercent), stats::texts("Name"),
                      stats::words("Verdict"), stats::reals("A", stats::Unit::kNanoseconds), stats::reals("B", stats::Unit::kNanoseconds), stats::words("Kind"),
                      stats::words("Reason"), written_numbers("Between"), stats::integers("Count A"), stats::integers("Count B")});
  std::vector<std::string_view> kernels;
  for (const DiffItem& item : diff.items)
    if (item.kind == DiffKind::kKernel) kernels.push_back(item.name);
  std::vector<std::string> kernel_names = timeline::distinct_kernel_names(kernels);
  auto kernel_name = kernel_names.begin();
  for (const DiffItem& item : diff.items)
    table.add_row(item.difference(), std::isfinite(item.change) ? item.change : stats::kNoReal,
                  table.add_text(item.kind == DiffKind::kKernel ? std::move(*kernel_name++) : name_of(item)),
                  table.add_text(std::string(analysis::diff_verdict_name(item.verdict))), item.first.per_iteration, item.second.per_iteration,
                  table.add_text(std::string(analysis::diff_kind_name(item.kind))), table.add_text(analysis::verdict_reason(item)),
                  table.add_text(interval_text(item)), static_cast<std::int64_t>(item.first.count), static_cast<std::int64_t>(item.second.count));
  return table;
}

// Metrics have different units, so values are texts.
stats::Table table_of(const std::vector<CounterChange>& changes) {
  stats::Table table({stats::reals("Change", stats::Unit::kPercent), stats::texts("Kernel"), stats::words("Metric"), stats::words("Verdict"),
                      written_numbers("A"), written_numbers("B"), stats::texts("GridXYZ"), stats::texts("BlockXYZ"), stats::words("Reason"),
                      written_numbers("Between"), stats::integers("Launches A"), stats::integers("Launches B")});
  const auto value = [&](double amount, kernels::ValueUnit unit) { return table.add_text(value_text(amount, unit).toStdString()); };
  for (const CounterChange& change : changes)
    table.add_row(std::isfinite(change.change) ? change.change : stats::kNoReal, table.add_text(timeline::compact_kernel_name(change.kernel)),
                  table.add_text(std::string(change.what)), table.add_text(std::string(analysis::diff_verdict_name(change.verdict))),
                  value(change.first, change.unit), value(change.second, change.unit), table.add_text(change.grid), table.add_text(change.block),
                  table.add_text(analysis::verdict_reason(change.verdict)), table.add_text(interval_text(change)),
                  static_cast<std::int64_t>(change.first_launches), static_cast<std::int64_t>(change.second_launches));
  return table;
}

// The event kinds that an item stands for.
std::optional<EventKind> event_kind_of(DiffKind kind) {
  switch (kind) {
    case DiffKind::kKernel:
      return EventKind::kKernel;
    case DiffKind::kApi:
      return EventKind::kCudaApi;
    case DiffKind::kRange:
    case DiffKind::kDuration:
    case DiffKind::kProducts:
      return EventKind::kNvtxRange;
    default:
      return std::nullopt;
  }
}

// The innermost family of ranges in which the products of an item were launched: "step * > forward: FP32 -> TF32".
std::string innermost_range(const std::string& name) {
  const std::string ranges = name.substr(0, name.rfind(": "));
  const std::size_t outer = ranges.rfind(" > ");
  return outer == std::string::npos ? ranges : ranges.substr(outer + 3);
}

// Of a family that several domains have, only the ranges of the item's own domain.
void keep_ranges(EventFilter& filter, const DiffItem& item) {
  keep_family(filter, EventKind::kNvtxRange, analysis::family_of_ranges(item));
  if (item.domain) filter.values.push_back({PivotColumn::kDomain, *item.domain});
}

EventFilter filter_of(const DiffItem& item, const std::string& iterations) {
  EventFilter filter;
  const std::optional<EventKind> kind = event_kind_of(item.kind);
  if (item.kind == DiffKind::kDuration)
    keep_family(filter, kind, iterations);
  else if (item.kind == DiffKind::kProducts)
    keep_family(filter, kind, innermost_range(item.name));
  else if (item.kind == DiffKind::kRange)
    keep_ranges(filter, item);
  else
    keep_name(filter, kind, item.name);
  return filter;
}

}  // namespace

DiffPanel::DiffPanel(SelectionState& state, TracePair& pair, QWidget* parent)
    : QWidget(parent),
      state_(state),
      pair_(pair),
      summary_(new QLabel(this)),
      summary_room_(new ScrolledLabel(*summary_, this)),
      command_(new QLabel(this)),
      choose_(new QPushButton(tr("Open beside…"), this)),
      pages_(new QTabWidget(this)),
      table_(new ResultTable(QStringLiteral("diff-table"), tr("What changed"), pages_)),
      counters_(new ResultTable(QStringLiteral("diff-counters-table"), tr("Kernels by their counters"), pages_)) {
  const auto [column, line] = lay_out(*this);
  line->addWidget(choose_);
  line->addWidget(summary_room_, 1);
  column->addWidget(command_);
  column->addWidget(pages_, 1);
  pages_->setDocumentMode(true);
  pages_->setTabBarAutoHide(true);
  pages_->addTab(table_, tr("What changed"));
  counters_->hide();
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  command_->setContentsMargins(8, 0, 8, 3);
  show_commands_in(*command_);
  command_->hide();
  connect(choose_, &QPushButton::clicked, this, &DiffPanel::compareRequested);
  offerSides(*table_, [this](TableRow row, Side side) { showItem(items_[row], side); });
  offerSides(*counters_, [this](TableRow row, Side side) { showLaunches(changes_[row], side); });
  connect(table_, &ResultTable::rowActivated, this, [this](TableRow row) { listItem(items_[row]); });
  auto* list = new QAction(tr("Show in Events View"), table_);
  connect(list, &QAction::triggered, this, [this] {
    if (const std::optional<TableRow> row = table_->chosenRow()) listItem(items_[*row]);
  });
  table_->addAction(list);
  connect(counters_, &ResultTable::rowActivated, this, &DiffPanel::kernelRequested);
  connect(&pair, &TracePair::sidesChanged, this, &DiffPanel::forget);
  forget();
}

void DiffPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  constexpr int kPart = 4;  // of the height of the panel
  summary_room_->setMostHeight(height() / kPart);
}

void DiffPanel::offerSides(ResultTable& table, std::function<void(TableRow, Side)> show) {
  connect(&table, &ResultTable::rowChosen, this, [show](TableRow row) { show(row, Side::kFirst); });
  for (const Side side : {Side::kFirst, Side::kSecond}) {
    auto* action = new QAction(side == Side::kFirst ? tr("Select it in A") : tr("Select it in B"), &table);
    connect(action, &QAction::triggered, this, [&table, show, side] {
      if (const std::optional<TableRow> row = table.chosenRow()) show(*row, side);
    });
    table.addAction(action);
  }
}

void DiffPanel::showSentence(const QString& sentence) {
  table_->setTable(nullptr);
  showCounters({});
  command_->hide();
  summary_->setText(sentence);
}

void DiffPanel::forget() {
  job_.cancel();
  search_.cancel();
  is_compared_ = false;
  showSentence({});
  while_shown_.atOnce();
}

void DiffPanel::compare() {
  if (std::exchange(is_compared_, true)) return;
  if (!pair_.isOpen())
    return showSentence(tr("Open another trace of the same program beside this one, to see what changed and what of that is more than noise."));
  showSentence(tr("Comparing…"));
  job_.start([this, first = pair_.first().trace, second = pair_.second().trace](const LatestJob::Context& job) {
    analysis::DiffOptions options;
    options.stop = job.stop();
    Result<TraceDiff> diff = analysis::compare_traces(*first, *second, options);
    std::vector<CounterChange> changes = analysis::compare_counters(std::array{first}, std::array{second}, job.stop());
    if (job.stop().stop_requested()) return;
    for (const auto& side : {first, second})
      if (const Result<void> all = check_all_was_read(*side); !all) diff = all.error();
    std::stable_partition(changes.begin(), changes.end(), analysis::is_worth_a_look);
    job.deliver([this, diff = std::move(diff), changes = std::move(changes)] {
      if (!diff) return showSentence(QString::fromStdString(diff.error().text));
      showDiff(*diff);
      showCounters(changes);
    });
  });
}

void DiffPanel::showDiff(const TraceDiff& diff) {
  QString aligned = shown_text(analysis::alignment_words(diff));
  if (diff.by_iteration()) aligned = tr("%1 Times are of one iteration.").arg(aligned);
  // The files A and B are shown above the timeline, and the largest changes in the first rows.
  QStringList lines = {aligned};
  if (QFileInfo(pair_.first().path).canonicalFilePath() == QFileInfo(pair_.second().path).canonicalFilePath()) lines += tr("A and B are the same file.");
  if (const Message caution = analysis::caution_about(diff); !caution.empty()) lines += shown_text(caution);
  summary_->setText(lines.join(u'\n'));
  command_->setText(command_text({QStringLiteral("lanescope"), QStringLiteral("diff"), pair_.first().path, pair_.second().path}));
  command_->show();
  items_ = diff.items;
  iterations_ = diff.aligned_by;
  is_by_iteration_ = diff.by_iteration();
  table_->setTable(std::make_shared<const stats::Table>(table_of(diff)));
}

void DiffPanel::showCounters(std::vector<CounterChange> changes) {
  changes_ = std::move(changes);
  counters_->setTable(changes_.empty() ? nullptr : std::make_shared<const stats::Table>(table_of(changes_)));
  const int page = pages_->indexOf(counters_);
  if (changes_.empty() && page >= 0) pages_->removeTab(page);
  if (!changes_.empty() && page < 0) pages_->addTab(counters_, tr("Kernels by their counters"));
}

// Aligns the launches, like showItem().
void DiffPanel::showLaunches(const CounterChange& change, Side selected) {
  const EventRef a = change.first_place.event, b = change.second_place.event;
  if (!pair_.isOpen() || !a.valid() || !b.valid()) return;
  search_.cancel();
  const Event first = pair_.first().trace->event(a), second = pair_.second().trace->event(b);
  pair_.alignPlaces({{first.start, first.end()}, {second.start, second.end()}, selected == Side::kFirst ? a : pair_.ofSecond(b)});
}

// If only one of the traces has the item, that one's event is selected.
void DiffPanel::showItem(const DiffItem& item, Side selected) {
  if (!pair_.isOpen()) return;
  if (hasNoPlace(item)) return sayNoPlace(item);
  search_.start([this, item, selected, first = pair_.first().trace, second = pair_.second().trace, filter = filter_of(item, iterations_),
                 compared = is_by_iteration_ ? Compared::kIterations : Compared::kWholeTraces](const LatestJob::Context& job) {
    const auto find = [&](const Trace& trace, double mean) {
      if (item.kind == DiffKind::kGpuIdle) return longest_idle(trace, item.name, job.stop());
      // The longest iteration would be the one with the largest disturbance.
      if (item.kind == DiffKind::kDuration) return event_like(trace, filter, compared, std::llround(mean), job.stop());
      return longest_event(trace, filter, compared, job.stop());
    };
    const std::optional<Spot> a = find(*first, item.first.per_iteration), b = find(*second, item.second.per_iteration);
    if (job.stop().stop_requested()) return;
    job.deliver([this, a, b, selected] {
      if (!a && !b) return emit said(tr("Neither trace has an event by itself that this row is about."));
      const bool is_of_first = a && (selected == Side::kFirst || !b);
      const Spot& spot = is_of_first ? *a : *b;
      const EventRef event = is_of_first ? a->event : pair_.ofSecond(b->event);
      const Nanoseconds shift = is_of_first ? 0 : a ? a->range.begin - b->range.begin : pair_.shift();
      const TimeRange gap = spot.gap.empty() ? spot.gap : TimeRange{spot.gap.begin + shift, spot.gap.end + shift};
      if (a && b) return pair_.alignPlaces({a->range, b->range, event, gap});
      show_place(state_, {spot.range.begin + shift, spot.range.end + shift}, event, gap);
    });
  });
}

bool DiffPanel::hasNoPlace(const DiffItem& item) const { return item.kind == DiffKind::kGpuBusy || (item.kind == DiffKind::kDuration && !is_by_iteration_); }

void DiffPanel::sayNoPlace(const DiffItem& item) {
  if (item.kind == DiffKind::kDuration) return emit said(tr("Without iterations, this row is about the whole of both traces."));
  emit said(tr("The time in which GPUs worked is the sum of all that they ran, and has no place of its own. Statistics has its course over time."));
}

void DiffPanel::listItem(const DiffItem& item) {
  if (!state_.trace()) return;
  if (item.kind == DiffKind::kGpuIdle) return emit bubblesRequested(item.difference() > 0 ? AnsweredTrace::Choice::kSecond : AnsweredTrace::Choice::kFirst);
  if (hasNoPlace(item)) return sayNoPlace(item);
  state_.setShownRow(std::nullopt);
  state_.setFilter(filter_of(item, iterations_));
  emit eventsRequested();
}

}  // namespace lanescope::ui
