#include "window/trace_status.h"

#include <QDateTime>
#include <QLocale>

#include "base/condition_text.h"
#include "base/texts.h"
#include "events/shown_events.h"
#include "model/trace/completeness.h"
#include "timeline/core/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kProgressSteps = 1000;
constexpr int kProgressWidth = 160;  // px
constexpr int kEdge = 6;             // px between the text and the window's edges

std::uint64_t listed_count(const Trace& trace) {
  const EventScope scope = listed_scope(trace);
  std::uint64_t count = 0;
  for (const LaneId lane : scope.lanes()) count += trace.lane(lane).size();
  return count;
}

// As lists of all events count them; the others by themselves.
QString events_text(std::uint64_t listed, std::uint64_t others) {
  const QString events = shown_text(timeline::format_counted(listed, "event"));
  return others == 0 ? events : QObject::tr("%1, %2 states and samples").arg(events, text_of(timeline::format_count(others)));
}

QString origin_text(const Provenance& from) {
  QString text;
  if (from.utc_epoch != 0) {
    const QDateTime began = QDateTime::fromMSecsSinceEpoch(from.utc_epoch / 1'000'000);
    text = QObject::tr("recorded %1").arg(age_text(began.secsTo(QDateTime::currentDateTime())));
  }
  if (!from.host_name.empty())
    text += (text.isEmpty() ? QObject::tr("recorded on %1") : QObject::tr(" on %1")).arg(QString::fromStdString(from.host_name));
  if (from.format != "Lanescope" && !from.format.empty())
    text += (text.isEmpty() ? QString() : QStringLiteral(" · ")) + QString::fromStdString(from.format);
  return text;
}

}  // namespace

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
      trace_(new QLabel(this)),
      time_(new QLabel(this)),
      activity_(new QLabel(this)),
      progress_(new QProgressBar(this)),
      cancel_(new QPushButton(tr("Cancel"), this)) {
  setSizeGripEnabled(false);
  trace_->setMinimumWidth(1);  // a long name of a host does not keep the window wide
  trace_->setContentsMargins(kEdge, 0, 0, 0);
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
  connect(&state, &SelectionState::traceChanged, this, &TraceStatus::showTrace);
  connect(&state, &SelectionState::selectedRangeChanged, this, &TraceStatus::showTime);
  connect(&state, &SelectionState::visibleRangeChanged, this, &TraceStatus::showTime);
  showTrace();
  showIdle();
}

void TraceStatus::showLoading(const QString& file_name) {
  activity_->setText(tr("Loading %1").arg(file_name));
  activity_->show();
  progress_->setValue(0);
  progress_->show();
  cancel_->show();
}

void TraceStatus::showProgress(double fraction) { progress_->setValue(static_cast<int>(fraction * kProgressSteps)); }

// The sentence says what the trace holds so far. Whether it is complete is not known before the end.
void TraceStatus::showRecording(const QString& sentence) {
  activity_->setText(sentence);
  activity_->show();
  trace_->hide();
}

void TraceStatus::showIdle() {
  activity_->hide();
  trace_->show();
  progress_->hide();
  cancel_->hide();
}

void TraceStatus::showTrace() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace) {
    trace_->setText(tr("No trace"));
    return showTime();
  }
  const std::uint64_t listed = listed_count(*trace), others = trace->event_count() - listed;
  QStringList parts = {events_text(listed, others), shown_text(completeness_message(completeness_text(*trace)))};
  if (const QString origin = origin_text(trace->provenance()); !origin.isEmpty()) parts += origin;
  trace_->setText(parts.join(QStringLiteral("  ·  ")));
  trace_->setToolTip(others == 0 ? trace_->text() : trace_->text() + u'\n' + tr("Events lists states of threads and samples where their kind is chosen."));
  showTime();
}

void TraceStatus::showTime() {
  if (!state_.trace()) return time_->clear();
  const TimeRange range = state_.selectedRange().value_or(state_.visibleRange());
  const Nanoseconds resolution = std::max<Nanoseconds>(1, range.length() / 1000);
  time_->setText(tr("%1 %2 – %3   Δ %4")
                     .arg(state_.selectedRange() ? tr("selected") : tr("visible"),
                          QString::fromStdString(timeline::format_time(range.begin, resolution)),
                          QString::fromStdString(timeline::format_time(range.end, resolution)),
                          QString::fromStdString(timeline::format_duration(range.length()))));
}

}  // namespace lanescope::ui
