#include "analysis/answered_trace.h"

#include <utility>

#include <QSignalBlocker>

#include "analysis/place.h"
#include "timeline/core/navigation.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {

AnsweredTrace::AnsweredTrace(SelectionState& state, TracePair& pair, QObject* parent) : QObject(parent), state_(state), pair_(pair) {
  connect(&state, &SelectionState::traceChanged, this, &AnsweredTrace::follow);
}

void AnsweredTrace::follow(TraceChange change) {
  const std::shared_ptr<const Trace> second_before = two_ ? two_->second.trace : nullptr;
  two_.reset();
  if (pair_.isOpen() && state_.trace() && state_.trace()->parts().size() == 2)
    two_ = Two{pair_.first(), pair_.second(), state_.trace()->parts().back().clock.shift()};
  // A later state of the shown trace may have no B, or another one.
  if (change == TraceChange::kSnapshot && second_before != (two_ ? two_->second.trace : nullptr) && std::exchange(choice_, Choice::kFirst) != Choice::kFirst)
    change = TraceChange::kOther;
  if (!two_) choice_ = Choice::kFirst;
  if (change == TraceChange::kOther) ++subject_;
  emit changed(change);
}

void AnsweredTrace::choose(Choice choice) {
  if (choice_ == choice) return;
  choice_ = choice;
  ++subject_;
  emit changed(TraceChange::kOther);
}

std::shared_ptr<const Trace> AnsweredTrace::trace() const {
  if (!two_ || choice_ == Choice::kBoth) return state_.trace();
  return choice_ == Choice::kFirst ? two_->first.trace : two_->second.trace;
}

Nanoseconds AnsweredTrace::shift() const { return two_ && choice_ == Choice::kSecond ? two_->shift : Nanoseconds{0}; }

std::optional<TimeRange> AnsweredTrace::boundRange() const {
  std::optional<TimeRange> range = state_.boundRange();
  if (range) range = TimeRange{range->begin - shift(), range->end - shift()};
  return range;
}

QStringList AnsweredTrace::files(const QStringList& shown) const {
  if (!two_) return shown;
  if (choice_ == Choice::kBoth) return {two_->first.path, two_->second.path};
  return {choice_ == Choice::kFirst ? two_->first.path : two_->second.path};
}

std::function<bool(EventRef)> AnsweredTrace::held() const {
  if (!two_ || choice_ == Choice::kBoth) return [](EventRef) { return true; };
  return [lanes = two_->first.trace->lanes().size(), is_first = choice_ == Choice::kFirst](EventRef shown) { return (shown.lane < lanes) == is_first; };
}

TimeRange AnsweredTrace::shown(TimeRange time) const { return time.empty() ? time : TimeRange{time.begin + shift(), time.end + shift()}; }

EventRef AnsweredTrace::shown(EventRef event) const { return two_ && choice_ == Choice::kSecond ? two_->first.behind(event) : event; }

void AnsweredTrace::show(const Subject& of, TimeRange time, EventRef event) {
  const std::shared_ptr<const Trace> now = trace();
  if (!now || !of.trace || of.number != subject_) return;
  const EventRef there = timeline::find_again(*of.trace, event, *now);
  if (there.valid() && !time.empty()) {  // the combined traces may have been aligned differently since
    const Nanoseconds moved = now->event(there).start - of.trace->event(event).start;
    time = {time.begin + moved, time.end + moved};
  }
  const bool is_gap = there.valid() && idle_gpu(*now, time, there).has_value();
  if (there.valid() || !time.empty()) show_place(state_, shown(time), shown(there), is_gap ? shown(time) : TimeRange{});
}

QStringList AnsweredTrace::choices() const {
  if (!two_) return {};
  const QString second = QStringLiteral("B  ") + two_->second.name();
  return {QStringLiteral("A  ") + two_->first.name(), two_->shift == 0 ? second : tr("%1, at times of its own").arg(second), tr("A and B as one")};
}

AnsweredTraceBox::AnsweredTraceBox(AnsweredTrace& answered, QWidget* parent) : QComboBox(parent), answered_(answered) {
  setAccessibleName(tr("Trace that is counted"));
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  connect(this, &QComboBox::activated, this, [this](int index) { answered_.choose(static_cast<AnsweredTrace::Choice>(index)); });
  connect(&answered, &AnsweredTrace::changed, this, &AnsweredTraceBox::showChoices);
  showChoices();
}

void AnsweredTraceBox::showChoices() {
  setVisible(answered_.isOfTwo());
  if (!answered_.isOfTwo()) return;
  QString explained = tr("Which of the two traces is counted");
  if (const Nanoseconds shift = answered_.shiftOfSecond(); shift != 0)
    explained += u'\n' + tr("Of B, tables, queries and commands say its own times, as its file has them. The timeline shows it shifted by %1.")
                             .arg(QString::fromStdString(timeline::format_duration(shift)));
  setToolTip(explained);
  const QSignalBlocker blocker(this);
  const QStringList choices = answered_.choices();
  for (int i = 0; i < choices.size(); ++i) i < count() ? setItemText(i, choices[i]) : addItem(choices[i]);
  setCurrentIndex(static_cast<int>(answered_.choice()));
}

}  // namespace lanescope::ui
