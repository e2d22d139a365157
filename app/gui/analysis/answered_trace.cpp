#include "analysis/answered_trace.h"

#include <QSignalBlocker>

#include "analysis/place.h"
#include "timeline/core/navigation.h"

namespace lanescope::ui {

AnsweredTrace::AnsweredTrace(SelectionState& state, TracePair& pair, QObject* parent) : QObject(parent), state_(state), pair_(pair) {
  connect(&state, &SelectionState::traceChanged, this, &AnsweredTrace::changed);
  connect(&pair, &TracePair::sidesChanged, this, [this] {
    if (!pair_.isOpen()) choice_ = Choice::kFirst;
  });
}

bool AnsweredTrace::isOfTwo() const { return pair_.isOpen() && state_.trace() && state_.trace()->parts().size() == 2; }

void AnsweredTrace::choose(Choice choice) {
  if (choice_ == choice) return;
  choice_ = choice;
  emit changed(TraceChange::kOther);
}

std::shared_ptr<const Trace> AnsweredTrace::trace() const {
  if (!isOfTwo() || choice_ == Choice::kBoth) return state_.trace();
  return choice_ == Choice::kFirst ? pair_.first().trace : pair_.second().trace;
}

Nanoseconds AnsweredTrace::shift() const {
  return isOfTwo() && choice_ == Choice::kSecond ? state_.trace()->parts().back().shift : Nanoseconds{0};
}

std::optional<TimeRange> AnsweredTrace::boundRange() const {
  std::optional<TimeRange> range = state_.boundRange();
  if (range) range = TimeRange{range->begin - shift(), range->end - shift()};
  return range;
}

QStringList AnsweredTrace::files(const QStringList& shown) const {
  if (!isOfTwo()) return shown;
  if (choice_ == Choice::kBoth) return {pair_.first().path, pair_.second().path};
  return {choice_ == Choice::kFirst ? pair_.first().path : pair_.second().path};
}

std::function<bool(EventRef)> AnsweredTrace::held() const {
  if (!isOfTwo() || choice_ == Choice::kBoth) return [](EventRef) { return true; };
  return [lanes = pair_.first().trace->lanes().size(), is_first = choice_ == Choice::kFirst](EventRef shown) { return (shown.lane < lanes) == is_first; };
}

TimeRange AnsweredTrace::shown(TimeRange time) const { return time.empty() ? time : TimeRange{time.begin + shift(), time.end + shift()}; }

EventRef AnsweredTrace::shown(EventRef event) const {
  if (isOfTwo() && choice_ == Choice::kSecond && event.valid())
    event.lane += static_cast<LaneId>(pair_.first().trace->lanes().size());  // its lanes follow those of A
  return event;
}

void AnsweredTrace::show(TimeRange time, EventRef event) { show_place(state_, shown(time), shown(event)); }

void AnsweredTrace::showIn(const std::shared_ptr<const Trace>& of, TimeRange time, EventRef event) {
  const std::shared_ptr<const Trace> now = trace();
  if (!now || !of) return;
  const EventRef there = timeline::find_again(*of, event, *now);
  if (there.valid() || !time.empty()) show(time, there);
}

QStringList AnsweredTrace::choices() const {
  return {QStringLiteral("A  ") + pair_.first().name(), QStringLiteral("B  ") + pair_.second().name(), tr("A and B as one")};
}

AnsweredTraceBox::AnsweredTraceBox(AnsweredTrace& answered, QWidget* parent) : QComboBox(parent), answered_(answered) {
  setAccessibleName(tr("Trace that is counted"));
  setToolTip(tr("Which of the two traces is counted"));
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  connect(this, &QComboBox::activated, this, [this](int index) { answered_.choose(static_cast<AnsweredTrace::Choice>(index)); });
  connect(&answered, &AnsweredTrace::changed, this, &AnsweredTraceBox::showChoices);
  showChoices();
}

void AnsweredTraceBox::showChoices() {
  setVisible(answered_.isOfTwo());
  if (!answered_.isOfTwo()) return;
  const QSignalBlocker blocker(this);
  const QStringList choices = answered_.choices();
  for (int i = 0; i < choices.size(); ++i) i < count() ? setItemText(i, choices[i]) : addItem(choices[i]);
  setCurrentIndex(static_cast<int>(answered_.choice()));
}

}  // namespace lanescope::ui
