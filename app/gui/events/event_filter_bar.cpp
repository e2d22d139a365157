#include "events/event_filter_bar.h"

#include <algorithm>
#include <set>

#include <QSignalBlocker>
#include <QTimer>

#include "base/input/leave_field.h"
#include "base/input/offered_entries.h"
#include "base/text/breaking_line.h"
#include "base/text/time_text.h"
#include "model/trace/combining/parts.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kTypingPauseMs = 150;
constexpr int kNarrowestInCharacters = 8;  // of a field in a narrow window

struct EventSource {
  std::optional<ThreadId> thread;
  std::optional<StreamName> stream;
  bool operator==(const EventSource&) const = default;
};

std::set<EventKind> kinds_of(const Trace& trace) {
  std::set<EventKind> kinds;
  for (const Track& track : trace.tracks()) {
    for (const LaneId lane : track.lanes)
      if (!trace.lane(lane).empty()) kinds.insert(event_kind(trace, {lane, 0}));
    if (track.key.kind == TrackKind::kMemory) kinds.insert({EventKind::kCopy, EventKind::kSet});
  }
  return kinds;
}

}  // namespace

void offer_kinds(QComboBox& list, const SelectionState& state) {
  OfferedEntries kinds(1, {QObject::tr("All kinds"), QVariant()});
  if (state.trace())
    for (const EventKind kind : kinds_of(*state.trace())) kinds.emplace_back(shown_text(event_kind_name(kind)), static_cast<int>(kind));
  offer_entries(list, kinds);
  choose_kind(list, state);
}

void choose_kind(QComboBox& list, const SelectionState& state) {
  const std::optional<EventKind>& chosen = state.filter().kind;
  list.setCurrentIndex(chosen ? std::max(0, list.findData(static_cast<int>(*chosen))) : 0);
}

std::optional<EventKind> chosen_kind(const QComboBox& list) {
  return list.currentData().isValid() ? std::optional(static_cast<EventKind>(list.currentData().toInt())) : std::nullopt;
}

}  // namespace lanescope::ui

Q_DECLARE_METATYPE(lanescope::ui::EventSource)

namespace lanescope::ui {

EventFilterBar::EventFilterBar(SelectionState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      row_(new QToolButton(this)),
      values_(new ValueChips(state, this)),
      binding_(new QComboBox(this)),
      text_(new QLineEdit(this)),
      run_(new QComboBox(this)),
      kind_(new QComboBox(this)),
      source_(new QComboBox(this)),
      minimum_(new QLineEdit(this)) {
  auto* whole = new QHBoxLayout(this);
  whole->setContentsMargins(4, 3, 8, 3);
  row_->setToolTip(tr("The row whose events are listed. Click to list those of all rows."));
  row_->setAccessibleName(tr("Shown row"));
  row_->setAutoRaise(true);
  binding_->addItem(tr("All of the time"), static_cast<int>(TimeBinding::kWholeTrace));
  binding_->addItem(tr("Selected range, or all"), static_cast<int>(TimeBinding::kSelectedRange));
  binding_->addItem(tr("Visible range"), static_cast<int>(TimeBinding::kVisibleRange));
  binding_->setToolTip(tr("The part of time that is listed. Without a selected range, all of it."));
  binding_->setAccessibleName(tr("Part of time"));
  text_->setPlaceholderText(tr("Name contains"));
  text_->setClearButtonEnabled(true);
  text_->setAccessibleName(tr("Name contains"));
  run_->setObjectName(QStringLiteral("filter_run"));
  run_->setAccessibleName(tr("Run"));
  run_->setToolTip(tr("Which of the two runs the listed events are of"));
  run_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  run_->setMinimumContentsLength(12);
  kind_->setAccessibleName(tr("Kind of event"));
  kind_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  source_->setAccessibleName(tr("Thread or stream"));
  source_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  source_->setMinimumContentsLength(15);
  minimum_->setPlaceholderText(tr("At least, e.g. 10 µs"));
  minimum_->setToolTip(tr("The shortest duration that is listed, with its unit: ns, us, ms or s"));
  minimum_->setAccessibleName(tr("Shortest duration"));
  minimum_->setMaximumWidth(minimum_->fontMetrics().averageCharWidth() * 24);
  minimum_->setClearButtonEnabled(true);
  for (QWidget* field : {static_cast<QWidget*>(binding_), static_cast<QWidget*>(text_), static_cast<QWidget*>(run_), static_cast<QWidget*>(kind_),
                         static_cast<QWidget*>(source_), static_cast<QWidget*>(minimum_)})
    field->setMinimumWidth(fontMetrics().averageCharWidth() * kNarrowestInCharacters);
  text_->setMinimumWidth(fontMetrics().averageCharWidth() * 2 * kNarrowestInCharacters);
  const auto group = [this](std::initializer_list<QWidget*> fields) {
    auto* line = new QHBoxLayout(new QWidget(this));
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(4);
    for (QWidget* field : fields) line->addWidget(field, field == text_ ? 1 : 0);
    return line;
  };
  second_ = group({run_, kind_, source_, minimum_});
  second_->addStretch();
  auto* first = group({row_, values_, binding_, text_});
  whole->addWidget(new BreakingLine(first->parentWidget(), second_->parentWidget(), BreakingLine::Stretched::kFirst, this));

  auto* typing = new QTimer(this);
  typing->setSingleShot(true);
  typing->setInterval(kTypingPauseMs);
  connect(typing, &QTimer::timeout, this, &EventFilterBar::applyFilter);
  connect(text_, &QLineEdit::textEdited, typing, qOverload<>(&QTimer::start));
  connect(text_, &QLineEdit::returnPressed, this, &EventFilterBar::applyFilter);
  connect(minimum_, &QLineEdit::textEdited, typing, qOverload<>(&QTimer::start));
  connect(minimum_, &QLineEdit::returnPressed, this, &EventFilterBar::applyFilter);
  // A number without a unit is in nanoseconds, which is not what everyone means.
  connect(minimum_, &QLineEdit::editingFinished, this, [this] {
    const std::optional<Nanoseconds> minimum = parse_time(minimum_->text());
    if (minimum && *minimum > 0 && minimum_->text().trimmed().back().isDigit()) minimum_->setText(QString::fromStdString(timeline::format_duration(*minimum)));
  });
  for (QLineEdit* field : {text_, minimum_})
    leave_with_escape(*field, [this, typing] {
      typing->stop();
      applyFilter();
      emit left();
    });
  connect(run_, &QComboBox::activated, this, &EventFilterBar::applyFilter);
  connect(kind_, &QComboBox::activated, this, &EventFilterBar::applyFilter);
  connect(source_, &QComboBox::activated, this, &EventFilterBar::applyFilter);
  connect(binding_, &QComboBox::activated, this, [this] { state_.setTimeBinding(static_cast<TimeBinding>(binding_->currentData().toInt())); });
  connect(row_, &QToolButton::clicked, this, [this] { state_.setShownRow(std::nullopt); });
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kSnapshot) return paced_.request();
    showTrace();
    showFilter();  // not for snapshots, so that text that is being typed during a recording stays
  });
  connect(&paced_, &PacedUpdate::due, this, &EventFilterBar::showTrace);
  connect(&state, &SelectionState::filterChanged, this, &EventFilterBar::showFilter);
  connect(&state, &SelectionState::timeBindingChanged, this, &EventFilterBar::showFilter);
  connect(&state, &SelectionState::shownRowChanged, this, &EventFilterBar::showRow);
  showTrace();
  showRow();
}

void EventFilterBar::append(std::initializer_list<QWidget*> controls) {
  for (QWidget* control : controls) second_->addWidget(control);
}

void EventFilterBar::focusText() {
  text_->setFocus(Qt::ShortcutFocusReason);
  text_->selectAll();
}

// While the trace grows, this is called only as often as paced_ allows.
void EventFilterBar::showTrace() {
  paced_.cancel();
  if (state_.trace() && shown_trace_.lock() == state_.trace()) return;
  shown_trace_ = state_.trace();
  OfferedEntries sources_now(1, {tr("All threads and streams"), QVariant()});
  if (const std::shared_ptr<const Trace>& trace = state_.trace()) {
    std::set<StreamName> streams;
    std::set<ThreadId> threads;
    for (const Track& track : trace->tracks()) {
      if (is_on_stream(track.key.kind))
        streams.insert({track.key.process, track.key.context, track.key.stream});
      else if (track.key.thread != kNone)
        threads.insert(track.key.thread);
    }
    const bool several_processes = trace->processes().size() > 1;
    const bool several_runs = compares_runs(*trace);
    const auto of_run = [&](ProcessId process, const QString& label) {
      const TracePart* const part = several_runs ? part_of_process(*trace, process) : nullptr;
      return part == nullptr ? label : QString::fromStdString(part->run) + QStringLiteral(" · ") + label;
    };
    for (const StreamName& stream : streams) {
      QString label = shown_text(stream_label(*trace, stream.process, stream.context, stream.stream));
      if (several_processes) label += QStringLiteral(" · ") + QString::fromStdString(process_label(*trace, stream.process));
      sources_now.emplace_back(isolated(of_run(stream.process, label)), QVariant::fromValue(EventSource{std::nullopt, stream}));
    }
    for (const ThreadId thread : threads)
      sources_now.emplace_back(isolated(of_run(trace->threads()[thread].process, tr("Thread %1").arg(QString::fromStdString(thread_label(*trace, thread))))),
                               QVariant::fromValue(EventSource{thread, std::nullopt}));
  }
  OfferedEntries runs(1, {tr("Both runs"), QString()});
  if (state_.trace())
    for (const TracePart& part : state_.trace()->parts())
      if (!part.run.empty()) runs.emplace_back(isolated(QString::fromStdString(part.label)), QString::fromStdString(part.run));
  offer_entries(*run_, runs);
  run_->setVisible(runs.size() > 1);
  offer_entries(*source_, sources_now);
  offer_kinds(*kind_, state_);
  showChoices();
}

void EventFilterBar::showFilter() {
  const EventFilter& filter = state_.filter();
  const QString text = QString::fromStdString(filter.text);
  if (text_->text() != text) text_->setText(text);
  if (parse_time(minimum_->text()).value_or(0) != filter.minimum_duration)
    minimum_->setText(filter.minimum_duration > 0 ? QString::fromStdString(timeline::format_duration(filter.minimum_duration)) : QString());
  showChoices();
}

void EventFilterBar::showChoices() {
  const EventFilter& filter = state_.filter();
  choose_kind(*kind_, state_);
  const auto of_run = std::find_if(filter.values.begin(), filter.values.end(), [](const ColumnValue& value) { return value.column == PivotColumn::kRun; });
  run_->setCurrentIndex(of_run == filter.values.end() ? 0 : std::max(0, run_->findData(QString::fromStdString(of_run->text))));
  int source = 0;
  for (int i = 1; i < source_->count(); ++i) {
    const auto entry = source_->itemData(i).value<EventSource>();
    if ((filter.thread && entry.thread == filter.thread) || (filter.stream && entry.stream == filter.stream)) source = i;
  }
  source_->setCurrentIndex(source);
  binding_->setCurrentIndex(binding_->findData(static_cast<int>(state_.timeBinding())));
}

void EventFilterBar::showRow() {
  const std::optional<ShownRow>& row = state_.shownRow();
  row_->setText(row ? row->title + QStringLiteral("  ✕") : tr("All rows"));
  row_->setEnabled(row.has_value());
}

void EventFilterBar::applyFilter() {
  EventFilter filter;
  filter.values = state_.filter().values;
  std::erase_if(filter.values, [](const ColumnValue& value) { return value.column == PivotColumn::kRun; });
  if (const std::string run = run_->currentData().toString().toStdString(); !run.empty()) filter.values.push_back({PivotColumn::kRun, run});
  filter.text = text_->text().toStdString();
  const std::optional<Nanoseconds> minimum = parse_time(minimum_->text());
  QPalette colors;
  if (!minimum && !minimum_->text().isEmpty()) colors.setColor(QPalette::Text, Qt::red);
  minimum_->setPalette(colors);
  filter.minimum_duration = std::max<Nanoseconds>(0, minimum.value_or(0));
  filter.kind = chosen_kind(*kind_);
  if (source_->currentData().isValid()) {
    const auto source = source_->currentData().value<EventSource>();
    filter.thread = source.thread;
    filter.stream = source.stream;
  }
  state_.setFilter(filter);
}

}  // namespace lanescope::ui
