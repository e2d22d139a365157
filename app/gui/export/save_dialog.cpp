#include "export/save_dialog.h"

#include <algorithm>
#include <utility>

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QPushButton>
#include <QSignalBlocker>

#include "base/text/texts.h"
#include "events/shown_events.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

enum class Time { kAll, kSelected, kVisible };
enum class Rows { kAll, kShown };

QString with_range(const QString& name, TimeRange range) {
  return SaveDialog::tr("%1: %2 from %3")
      .arg(name, QString::fromStdString(timeline::format_duration(range.length())), QString::fromStdString(timeline::format_time(range.begin)));
}

}  // namespace

std::vector<SavableTrace> savable_traces(const std::shared_ptr<const Trace>& shown, const TracePair& pair, const SavableParts& parts) {
  if (!pair.isOpen() || shown->parts().size() != 2) return {{QString(), shown, parts}};
  std::vector<SavableTrace> traces;
  LaneId first_lane = 0;
  for (const TracePair::Side* side : {&pair.first(), &pair.second()}) {
    const TracePart& part = shown->parts()[traces.size()];
    const auto back = [&part](TimeRange range) { return TimeRange{part.clock.back(range.begin), part.clock.back(range.end)}; };
    const LaneId end_lane = first_lane + static_cast<LaneId>(side->trace->lanes().size());
    SavableParts own{std::nullopt, back(parts.visible), {}};
    if (parts.selected) own.selected = back(*parts.selected);
    for (const LaneId lane : parts.shown_rows.lanes)
      if (first_lane <= lane && lane < end_lane) own.shown_rows.lanes.push_back(lane - first_lane);
    for (const CounterId counter : parts.shown_rows.counters)
      if (part.first_counter <= counter && counter < part.end_counter) own.shown_rows.counters.push_back(counter - part.first_counter);
    traces.push_back({QString::fromStdString(part.run) + QStringLiteral("  ") + side->name(), side->trace, std::move(own)});
    first_lane = end_lane;
  }
  return traces;
}

SaveDialog::SaveDialog(std::vector<SavableTrace> traces, QWidget* parent)
    : QDialog(parent),
      traces_(std::move(traces)),
      trace_(new QComboBox(this)),
      time_(new QComboBox(this)),
      rows_(new QComboBox(this)),
      count_(new QLabel(this)) {
  setWindowTitle(tr("Save as"));
  auto* form = new QFormLayout(this);
  for (const SavableTrace& each : traces_) trace_->addItem(each.name);
  if (traces_.size() > 1)
    form->addRow(tr("R&un:"), trace_);
  else
    trace_->hide();
  form->addRow(tr("&Time:"), time_);
  form->addRow(tr("&Rows:"), rows_);
  form->addRow(QString(), count_);
  showTimes();
  rows_->addItem(tr("All rows"), static_cast<int>(Rows::kAll));
  rows_->addItem(tr("Without rows that are hidden or filtered out"), static_cast<int>(Rows::kShown));
  rows_->setToolTip(tr("A closed row is saved with all that is below it. A row of one name is saved with the other work of its streams."));
  connect(trace_, &QComboBox::currentIndexChanged, this, &SaveDialog::showTimes);
  for (QComboBox* choice : {trace_, time_, rows_}) connect(choice, &QComboBox::currentIndexChanged, this, &SaveDialog::showCount);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  QPushButton* save = buttons->addButton(tr("&Choose the file…"), QDialogButtonBox::AcceptRole);
  save->setDefault(true);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  form->addRow(buttons);
  showCount();
}

std::size_t SaveDialog::chosen() const { return static_cast<std::size_t>(std::max(0, trace_->currentIndex())); }

// Shows the parts of time of the chosen trace, in its own times; keeps the choice.
void SaveDialog::showTimes() {
  const SavableParts& parts = traces_[chosen()].parts;
  const int before = time_->currentIndex();
  const QSignalBlocker quiet(time_);
  time_->clear();
  time_->addItem(tr("All of it"), static_cast<int>(Time::kAll));
  if (parts.selected) time_->addItem(with_range(tr("Selected range"), *parts.selected), static_cast<int>(Time::kSelected));
  time_->addItem(with_range(tr("Visible range"), parts.visible), static_cast<int>(Time::kVisible));
  time_->setCurrentIndex(before >= 0 ? before : parts.selected ? 1 : 0);
}

ExportSelection SaveDialog::selection() const {
  const SavableParts& parts = traces_[chosen()].parts;
  ExportSelection selection;
  const auto time = static_cast<Time>(time_->currentData().toInt());
  if (time == Time::kSelected) selection.window = parts.selected;
  if (time == Time::kVisible) selection.window = parts.visible;
  if (static_cast<Rows>(rows_->currentData().toInt()) == Rows::kShown) selection.rows = parts.shown_rows;
  return selection;
}

// If the events of the trace are in its file, they are not read for this.
void SaveDialog::showCount() {
  const Trace& trace = *traces_[chosen()].trace;
  if (!holds_events(trace)) return count_->clear();
  const ExportSelection selection = this->selection();
  const EventScope scope = listed_scope(trace);
  std::uint64_t listed = 0, others = 0;  // as the status bar of the window counts them
  for (LaneId lane = 0; lane < trace.lanes().size(); ++lane) {
    const auto [first, last] = selection.events(trace, lane);
    const bool is_listed = std::binary_search(scope.lanes().begin(), scope.lanes().end(), lane);
    (is_listed ? listed : others) += last - first;
  }
  const QString events = shown_text(timeline::format_counted(listed, "event"));
  count_->setText(others == 0 ? events : QObject::tr("%1, %2 states and samples").arg(events, text_of(timeline::format_count(others))));
}

}  // namespace lanescope::ui
