#include "window/trace_status.h"

#include <QDateTime>
#include <QLocale>
#include <QPainter>
#include <QStyle>

#include "base/text/condition_text.h"
#include "base/text/texts.h"
#include "events/shown_events.h"
#include "model/trace/completeness.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kProgressSteps = 1000;
constexpr int kProgressWidth = 160;  // px
constexpr QStringView kBetweenParts = u"  ·  ";
constexpr int kEdge = 6;  // px between the text and the edges of the window

// In a part that was saved, events of its time are counted; calls before it, which are kept because they enqueued its GPU work, are `before`. If the events are
// not in memory, these are counted as well, because telling them apart takes long.
struct Counts {
  std::uint64_t listed = 0;
  std::uint64_t others = 0;  // thread states and samples
  std::uint64_t before = 0;
};
Counts counts_of(const Trace& trace) {
  std::optional<TimeRange> time;
  if (trace.provenance().part && has_memory_for_events(trace)) time = trace.scope();
  const auto count = [&](const Lane& lane) -> std::uint64_t {
    if (!time) return lane.size();
    const auto [first, last] = lane.overlapping(*time);
    return last - first;
  };
  Counts counts;
  std::uint64_t all = 0;
  for (const Lane& lane : trace.lanes()) all += count(lane);
  const EventScope scope = listed_scope(trace);
  for (const LaneId lane : scope.lanes()) {
    const std::uint64_t counted = count(trace.lane(lane));
    counts.listed += counted;
    counts.before += trace.lane(lane).size() - counted;
  }
  counts.others = all - counts.listed;
  return counts;
}

QString origin_text(const Provenance& from) {
  QString text;
  if (from.utc_epoch != 0) {
    const QDateTime began = QDateTime::fromMSecsSinceEpoch(from.utc_epoch / 1'000'000);
    text = QObject::tr("recorded %1").arg(age_text(began.secsTo(QDateTime::currentDateTime())));
  }
  if (!from.host_name.empty()) text += (text.isEmpty() ? QObject::tr("recorded on %1") : QObject::tr(" on %1")).arg(QString::fromStdString(from.host_name));
  if (from.format != "Lanescope" && !from.format.empty()) text += (text.isEmpty() ? QString() : QStringLiteral(" · ")) + QString::fromStdString(from.format);
  return text;
}

}  // namespace

QString events_text(const Trace* trace) {
  const Counts counts = trace ? counts_of(*trace) : Counts();
  const QString events = shown_text(timeline::format_counted(counts.listed, "event"));
  return counts.others == 0 ? events : QObject::tr("%1, %2 states and samples").arg(events, text_of(timeline::format_count(counts.others)));
}

void PartsLabel::setParts(const QStringList& parts, const QString& further_tip) {
  parts_ = parts;
  setText(parts.join(kBetweenParts));
  setToolTip(further_tip.isEmpty() ? text() : text() + u'\n' + further_tip);
}

QString PartsLabel::shown() const {
  const int room = contentsRect().width();
  if (fontMetrics().horizontalAdvance(text()) <= room) return text();
  for (qsizetype count = parts_.size() - 1; count > 0; --count) {
    const QString some = (parts_.first(count) + QStringList(QStringLiteral("…"))).join(kBetweenParts);
    if (fontMetrics().horizontalAdvance(some) <= room) return some;
  }
  return fontMetrics().elidedText(text(), Qt::ElideRight, room);
}

void PartsLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  style()->drawItemText(&painter, contentsRect(), Qt::AlignVCenter | Qt::AlignLeft, palette(), isEnabled(), shown(), foregroundRole());
}

QString age_text(qint64 seconds) {
  constexpr qint64 kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour, kMonth = 30 * kDay;
  if (seconds < kMinute) return QObject::tr("just now");
  if (seconds < kHour) return QObject::tr("%1 min ago").arg(seconds / kMinute);
  if (seconds < kDay) return QObject::tr("%1 h ago").arg(seconds / kHour);
  if (seconds < 2 * kDay) return QObject::tr("yesterday");
  if (seconds < kMonth) return QObject::tr("%1 days ago").arg(seconds / kDay);
  return QObject::tr("on %1").arg(QLocale().toString(QDateTime::currentDateTime().addSecs(-seconds).date(), QLocale::ShortFormat));
}

TraceStatus::TraceStatus(SelectionState& state, QWidget* parent)
    : QStatusBar(parent),
      state_(state),
      trace_(new PartsLabel(this)),
      time_(new QLabel(this)),
      activity_(new PartsLabel(this)),
      progress_(new QProgressBar(this)),
      cancel_(new QPushButton(tr("Cancel"), this)) {
  setSizeGripEnabled(false);
  trace_->setContentsMargins(kEdge, 0, 0, 0);
  activity_->setContentsMargins(0, 0, 2 * kEdge, 0);
  time_->setContentsMargins(0, 0, kEdge, 0);
  addWidget(trace_);
  addPermanentWidget(activity_);
  addPermanentWidget(progress_);
  addPermanentWidget(cancel_);
  addPermanentWidget(time_);
  progress_->setRange(0, kProgressSteps);
  progress_->setTextVisible(false);
  progress_->setFixedWidth(kProgressWidth);
  progress_->setMaximumHeight(fontMetrics().height());
  cancel_->setFlat(true);
  connect(cancel_, &QPushButton::clicked, this, &TraceStatus::cancelRequested);
  connect(&state, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) {
      is_damaged_ = false;
      unreadable_ = 0;
    }
    showTrace();
  });
  connect(&state, &SelectionState::selectedRangeChanged, this, &TraceStatus::showTime);
  connect(&state, &SelectionState::visibleRangeChanged, this, &TraceStatus::showTime);
  showIdle();
}

void TraceStatus::showLoading(const QString& file_name) {
  activity_->setParts({tr("Loading %1").arg(file_name)});
  activity_->show();
  progress_->setValue(0);
  progress_->show();
  cancel_->show();
}

void TraceStatus::showProgress(double fraction) { progress_->setValue(static_cast<int>(fraction * kProgressSteps)); }

// The parts tell what the trace holds so far. Its completeness is not known before the end.
void TraceStatus::showRecording(const QStringList& parts) {
  activity_->setParts(parts);
  activity_->show();
  trace_->hide();
}

void TraceStatus::showIdle() {
  activity_->hide();
  trace_->show();
  progress_->hide();
  cancel_->hide();
  showTrace();
}

void TraceStatus::showDamage() {
  is_damaged_ = true;
  showTrace();
}

void TraceStatus::showUnreadable(std::uint64_t events) {
  if (std::exchange(unreadable_, events) != events) showTrace();
}

QString TraceStatus::completeness() const {
  if (unreadable_ > 0) return tr("incomplete: %1 can't be read any more").arg(shown_text(timeline::format_counted(unreadable_, "event")));
  std::string text = completeness_text(*state_.trace());
  if (is_damaged_ && !text.starts_with("incomplete")) text = "incomplete: not all of it could be read";
  return shown_text(completeness_message(text));
}

void TraceStatus::showTrace() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace) {
    trace_->setParts({tr("No trace")});
    return showTime();
  }
  QStringList parts = {events_text(trace.get())};
  const bool is_loading = !progress_->isHidden();  // what is missing is not known before the end
  if (!is_loading) parts += completeness();
  if (const QString origin = origin_text(trace->provenance()); !origin.isEmpty()) parts += origin;
  const Counts counts = counts_of(*trace);
  QStringList tips;
  if (counts.others > 0) tips += tr("Events lists states of threads and samples where their kind is chosen.");
  const std::optional<SavedPart>& part = trace->provenance().part;
  const bool has_launches_before = part && part->first_launch < part->time.begin;
  if (counts.before > 0 && has_launches_before)
    tips += tr("Events lists %n more, which lie in front of this part of a recording and enqueued its GPU work.", nullptr, static_cast<int>(counts.before));
  trace_->setParts(parts, tips.join(u'\n'));
  showTime();
}

void TraceStatus::showTime() {
  if (!state_.trace()) return time_->clear();
  const TimeRange range = state_.selectedRange().value_or(state_.visibleRange());
  const Nanoseconds resolution = std::max<Nanoseconds>(1, range.length() / 1000);
  time_->setText(tr("%1 %2 – %3   Δ %4")
                     .arg(state_.selectedRange() ? tr("selected") : tr("visible"), QString::fromStdString(timeline::format_time(range.begin, resolution)),
                          QString::fromStdString(timeline::format_time(range.end, resolution)),
                          QString::fromStdString(timeline::format_duration(range.length()))));
}

}  // namespace lanescope::ui
