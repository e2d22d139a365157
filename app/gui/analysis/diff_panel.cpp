#include "analysis/diff_panel.h"

#include <algorithm>
#include <cmath>

#include <QFileInfo>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "analysis/command_text.h"
#include "analysis/place.h"
#include "model/events/event_query.h"
#include "model/import/open_trace.h"
#include "timeline/core/format.h"

namespace lanescope::ui {
namespace {

using analysis::DiffItem;
using analysis::DiffKind;
using analysis::DiffVerdict;
using analysis::TraceDiff;

std::string percent_text(double value) {
  return std::isfinite(value) ? QStringLiteral("%1%2 %").arg(QLatin1String(value > 0 ? "+" : "")).arg(value, 0, 'f', 1).toStdString()
                              : std::string();
}

std::string interval_text(const DiffItem& item) {
  if (!std::isfinite(item.change_low) || !std::isfinite(item.change_high)) return {};
  return percent_text(item.change_low) + " … " + percent_text(item.change_high);
}

stats::Table table_of(const TraceDiff& diff) {
  const std::string per = diff.aligned_by.empty() ? "" : " per Iteration";
  stats::Table table({stats::reals("Difference" + per, stats::Unit::kNanoseconds), stats::reals("Change", stats::Unit::kPercent),
                      stats::texts("Between"), stats::texts("Verdict"), stats::texts("Kind"), stats::texts("Name"),
                      stats::reals("A" + per, stats::Unit::kNanoseconds), stats::reals("B" + per, stats::Unit::kNanoseconds),
                      stats::integers("Count A"), stats::integers("Count B")});
  for (const DiffItem& item : diff.items)
    table.add_row(item.difference(), std::isfinite(item.change) ? item.change : stats::kNoReal, table.add_text(interval_text(item)),
                  table.add_text(std::string(analysis::diff_verdict_name(item.verdict))),
                  table.add_text(std::string(analysis::diff_kind_name(item.kind))), table.add_text(item.name), item.first.per_iteration,
                  item.second.per_iteration, static_cast<std::int64_t>(item.first.count), static_cast<std::int64_t>(item.second.count));
  return table;
}

QString duration_text(double nanoseconds) { return QString::fromStdString(timeline::format_duration(std::llround(nanoseconds))); }

QString aligned_text(const TraceDiff& diff) {
  if (diff.aligned_by.empty()) return QObject::tr("Whole traces are compared: no NVTX range repeats in both.");
  return QObject::tr("Compared by iteration of \"%1\": %2 in A, %3 in B.")
      .arg(QString::fromStdString(diff.aligned_by))
      .arg(diff.first_iterations)
      .arg(diff.second_iterations);
}

QString headline_text(const DiffItem& item) {
  QString text =
      QStringLiteral("%1 %2 → %3")
          .arg(QString::fromStdString(item.name), duration_text(item.first.per_iteration), duration_text(item.second.per_iteration));
  if (std::isfinite(item.change)) text += QStringLiteral(" (%1)").arg(QString::fromStdString(percent_text(item.change)));
  if (item.verdict == DiffVerdict::kSame) text += QObject::tr(", no more than noise");
  return text;
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
      return EventKind::kNvtxRange;
    default:
      return std::nullopt;
  }
}

// What the names of an item's events contain: a family ("step *") has the part in front of its counter in common.
EventFilter filter_of(const DiffItem& item, const std::string& iterations) {
  EventFilter filter;
  filter.text = item.kind == DiffKind::kDuration ? iterations : item.name;
  if (item.kind == DiffKind::kRange || item.kind == DiffKind::kDuration) filter.text = filter.text.substr(0, filter.text.find('*'));
  filter.kind = event_kind_of(item.kind);
  return filter;
}

}  // namespace

DiffPanel::DiffPanel(SelectionState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      summary_(new QLabel(this)),
      command_(new QLabel(this)),
      choose_(new QPushButton(tr("Compare with…"), this)),
      table_(new ResultTable(tr("What changed"), this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(4, 3, 8, 3);
  line->setSpacing(6);
  line->addWidget(choose_);
  line->addWidget(summary_, 1);
  column->addLayout(line);
  column->addWidget(command_);
  column->addWidget(table_, 1);
  summary_->setWordWrap(true);
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  command_->setContentsMargins(8, 0, 8, 3);
  command_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  command_->setForegroundRole(QPalette::PlaceholderText);
  command_->setToolTip(tr("The command that prints the same"));
  command_->hide();
  summary_->setText(tr("Choose a trace of the same program from before, to see what changed and what of that is more than noise."));
  connect(choose_, &QPushButton::clicked, this, &DiffPanel::compareRequested);
  connect(table_, &ResultTable::rowChosen, this, [this](TableRow row) { showItem(items_[row]); });
  connect(table_, &ResultTable::rowActivated, this, [this](TableRow row) { listItem(items_[row]); });
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) table_->setTable(nullptr);
  });
}

void DiffPanel::setFile(const QString& path) {
  file_ = path;
  if (other_) compare();
}

void DiffPanel::compareWith(const QString& path) {
  other_file_ = path;
  other_ = nullptr;
  table_->setTable(nullptr);
  summary_->setText(tr("Opening %1…").arg(QFileInfo(path).fileName()));
  job_.start([this, path](const LatestJob::Context& job) {
    const LoadProgress progress = [&](double, const std::shared_ptr<const Trace>&) {
      return job.stop().stop_requested() ? LoadStep::kCancel : LoadStep::kContinue;
    };
    Result<std::shared_ptr<const Trace>> other = open_trace(path.toStdString(), progress);
    if (job.stop().stop_requested()) return;
    job.deliver([this, other = std::move(other)] {
      if (!other) return summary_->setText(QString::fromStdString(other.error().text));
      other_ = *other;
      compare();
    });
  });
}

void DiffPanel::compare() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace || trace->provenance().outline_only) return;
  summary_->setText(tr("Comparing…"));
  job_.start([this, trace, other = other_](const LatestJob::Context& job) {
    Result<TraceDiff> diff = analysis::compare_traces(*other, *trace);
    job.deliver([this, diff = std::move(diff)] {
      if (!diff) return summary_->setText(QString::fromStdString(diff.error().text));
      showDiff(*diff);
    });
  });
}

void DiffPanel::showDiff(const TraceDiff& diff) {
  QStringList lines = {tr("A: %1, B: %2. %3").arg(QFileInfo(other_file_).fileName(), QFileInfo(file_).fileName(), aligned_text(diff))};
  QStringList headlines;
  for (const DiffItem& item : diff.items)
    if (item.kind == DiffKind::kDuration || item.kind == DiffKind::kGpuBusy || item.name == "GPU idle") headlines += headline_text(item);
  lines += headlines.join(QStringLiteral("   ·   "));
  summary_->setText(lines.join(u'\n'));
  command_->setText(command_text({QStringLiteral("lanescope"), QStringLiteral("diff"), other_file_, file_}));
  command_->show();
  items_ = diff.items;
  iterations_ = diff.aligned_by;
  table_->setTable(std::make_shared<const stats::Table>(table_of(diff)));
}

void DiffPanel::showItem(const DiffItem& item) {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace || item.second.count == 0 || item.kind == DiffKind::kGpuBusy || item.kind == DiffKind::kGpuIdle) return;
  search_.start([this, trace, filter = filter_of(item, iterations_)](const LatestJob::Context& job) {
    const EventScope all = EventScope::whole_trace(*trace);
    const std::vector<EventRef> events = gather_events(*trace, all.lanes(), filter, job.stop());
    const auto longest = std::max_element(events.begin(), events.end(), [&](EventRef a, EventRef b) {
      return trace->lane(a.lane).duration(a.index) < trace->lane(b.lane).duration(b.index);
    });
    if (longest == events.end() || job.stop().stop_requested()) return;
    job.deliver([this, trace, event = *longest] {
      if (state_.trace() == trace) state_.activate(event);
    });
  });
}

void DiffPanel::listItem(const DiffItem& item) {
  if (!state_.trace()) return;
  if (item.kind == DiffKind::kGpuIdle) return emit bubblesRequested();
  if (item.kind == DiffKind::kGpuBusy) return;
  state_.setShownRow(std::nullopt);
  state_.setFilter(filter_of(item, iterations_));
  emit eventsRequested();
}

}  // namespace lanescope::ui
