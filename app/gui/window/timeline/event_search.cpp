#include "window/timeline/event_search.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>

#include "base/input/leave_field.h"
#include "events/shown_events.h"
#include "model/trace/combining/parts.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/navigation.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

constexpr int kSearchPauseMs = 200;
constexpr std::uint64_t kSearchedWhileTyping = 4'000'000;  // events; a single letter may match most of them

}  // namespace

EventSearch::EventSearch(SelectionState& state, QWidget* parent) : QWidget(parent), state_(state), text_(new QLineEdit(this)), position_(new QLabel(this)) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(text_);
  line->addWidget(position_);
  text_->setPlaceholderText(tr("Search events  (Ctrl+F)"));
  text_->setToolTip(
      tr("Enter finds the next event whose name contains the text, or sample with such a function, Shift+Enter the previous one; Esc ends "
         "the search"));
  text_->setAccessibleName(tr("Search events"));
  text_->setClearButtonEnabled(true);
  text_->setMinimumWidth(fontMetrics().averageCharWidth() * 26);
  auto* backward = new QAction(text_);
  backward->setShortcuts({QKeySequence(Qt::SHIFT | Qt::Key_Return), QKeySequence(Qt::SHIFT | Qt::Key_Enter)});
  backward->setShortcutContext(Qt::WidgetShortcut);
  text_->addAction(backward);
  connect(backward, &QAction::triggered, this, &EventSearch::previous);
  connect(text_, &QLineEdit::returnPressed, this, &EventSearch::next);
  leave_with_escape(*text_, [this] { emit left(); });
  typing_.setSingleShot(true);
  typing_.setInterval(kSearchPauseMs);
  connect(&typing_, &QTimer::timeout, this, [this] { search(Step::kNone); });
  connect(text_, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (text.isEmpty()) return search(Step::kNone);
    if (state_.trace() && state_.trace()->event_count() <= kSearchedWhileTyping) typing_.start();
  });
  connect(&state, &SelectionState::selectedEventChanged, this, &EventSearch::showPosition);
  connect(&state, &SelectionState::traceChanged, this, &EventSearch::follow);
  paced_.after(job_);
  connect(&paced_, &PacedUpdate::due, this, [this] { search(Step::kNone); });
}

// The results belong to another trace, or to an earlier state of this one, which may have more matches now.
void EventSearch::follow(TraceChange change) {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  const bool has_others = searched_trace_ && trace && searched_trace_->parts().size() != trace->parts().size();  // a trace beside it was opened or closed
  if (change == TraceChange::kOther || !trace || has_others) forget();
  if (!text_->text().isEmpty() && trace && trace->event_count() <= kSearchedWhileTyping) paced_.request();
  showPosition();
}

void EventSearch::forget() {
  job_.cancel();
  paced_.cancel();
  searched_trace_.reset();
  searched_text_.clear();
  matches_ = {};
  too_many_ = 0;
}

void EventSearch::focusText() {
  text_->setFocus(Qt::ShortcutFocusReason);
  text_->selectAll();
}

void EventSearch::searchFor(const QString& text) {
  text_->setText(text);
  search(Step::kNone);
}

void EventSearch::next() { search(Step::kNext); }
void EventSearch::previous() { search(Step::kPrevious); }

void EventSearch::search(Step then) {
  typing_.stop();
  const std::shared_ptr<const Trace> trace = state_.trace();
  const QString text = text_->text();
  if (trace == searched_trace_ && text == searched_text_) return go(then);
  if (!trace || text.isEmpty()) {
    forget();
    return showPosition();
  }
  if (trace->event_count() > kSearchedWhileTyping) position_->setText(tr("Searching…"));
  job_.start([this, trace, text, then](const LatestJob::Context& job) {
    const std::size_t most = most_listed(*trace);
    std::vector<EventRef> matches = gather_by_start(*trace, EventScope::whole_trace(*trace).lanes(), {.text = text.toStdString()}, job.stop(), most);
    const std::uint64_t too_many = matches.size() > most ? matches.size() : 0;
    if (too_many > 0) matches = {};
    job.deliver([this, trace, text, then, too_many, matches = std::move(matches)]() mutable {
      searched_trace_ = trace;
      searched_text_ = text;
      matches_ = std::move(matches);
      too_many_ = too_many;
      go(then);
    });
  });
}

// If there are too many matches to keep, the next one is searched from the user's position.
void EventSearch::lookFor(Step step) {
  const EventRef selected = selectedInSearch();
  const EventPosition from =
      selected.valid() ? EventPosition{searched_trace_->event(selected).start, selected} : EventPosition{state_.visibleRange().begin, {0, 0}};
  const auto direction = step == Step::kNext ? SearchDirection::kForward : SearchDirection::kBackward;
  job_.start([this, trace = searched_trace_, text = searched_text_, from, direction](const LatestJob::Context& job) {
    const auto found = find_event(*trace, EventScope::whole_trace(*trace).lanes(), {.text = text.toStdString()}, from, direction, job.stop());
    if (!found) return;
    job.deliver([this, trace, found] {
      if (state_.trace()) state_.reveal(state_.inTrace(*found, *trace));
      showPosition();
    });
  });
}

void EventSearch::go(Step step) {
  if (step != Step::kNone && too_many_ > 0 && state_.trace()) return lookFor(step);
  if (step != Step::kNone && !matches_.empty() && state_.trace()) {
    const Trace& trace = *searched_trace_;
    const EventRef selected = selectedInSearch();
    const auto key = [&](EventRef event) { return std::pair(trace.event(event).start, event); };
    const auto from = selected.valid() ? key(selected) : std::pair(state_.visibleRange().begin, EventRef{0, 0});
    const auto before = [&](EventRef event, const auto& limit) { return key(event) < limit; };
    const auto after = [&](const auto& limit, EventRef event) { return limit < key(event); };
    if (step == Step::kNext) {
      const auto found = std::upper_bound(matches_.begin(), matches_.end(), from, after);
      state_.reveal(state_.inTrace(found == matches_.end() ? matches_.front() : *found, trace));
    } else {
      const auto found = std::lower_bound(matches_.begin(), matches_.end(), from, before);
      state_.reveal(state_.inTrace(found == matches_.begin() ? matches_.back() : *std::prev(found), trace));
    }
  }
  showPosition();
}

// The searched trace may be an earlier state of the shown one.
EventRef EventSearch::selectedInSearch() const {
  return searched_trace_ && state_.trace() ? timeline::find_again(*state_.trace(), state_.selectedEvent(), *searched_trace_) : EventRef{};
}

void EventSearch::showPosition() {
  emit searchedTextChanged(searched_text_);
  if (searched_text_.isEmpty()) return position_->clear();
  if (too_many_ > 0) return position_->setText(tr("more than %1 found").arg(QString::fromStdString(timeline::format_count(too_many_))));
  const EventRef selected = selectedInSearch();
  const std::optional<std::size_t> at = selected.valid() ? position_by_start(*searched_trace_, matches_, selected) : std::nullopt;
  const QString count = QString::fromStdString(timeline::format_count(matches_.size()));
  const bool lacks_events = searched_trace_ && has_substitutes(*searched_trace_);  // which can no longer be read
  if (!at) return position_->setText((lacks_events ? tr("%1 or more found") : tr("%1 found")).arg(count));
  const std::string_view run = run_of(*searched_trace_, searched_trace_->track_of(matches_[*at].lane));
  const QString place = tr("%1 of %2").arg(QString::fromStdString(timeline::format_count(*at + 1)), count);
  position_->setText(run.empty() ? place : tr("%1, in %2").arg(place, QString::fromUtf8(run.data(), static_cast<qsizetype>(run.size()))));
}

}  // namespace lanescope::ui
