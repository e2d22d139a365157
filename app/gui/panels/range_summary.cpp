#include "panels/range_summary.h"

#include <cmath>
#include <span>

#include "base/shown_name.h"
#include "events/shown_events.h"
#include "model/events/event_query.h"
#include "panels/utilisation.h"
#include "timeline/core/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr std::size_t kShownNames = 20;
constexpr qsizetype kLongestName = 120;  // characters

QString duration(double nanoseconds) { return QString::fromStdString(timeline::format_duration(std::llround(nanoseconds))); }
QString duration(Nanoseconds nanoseconds) { return duration(static_cast<double>(nanoseconds)); }

QString name_html(const Trace& trace, EventKind kind, NameId name) {
  QString text = shown_name(trace, kind, name);
  if (text.size() > kLongestName) text = text.left(kLongestName) + QChar(0x2026);
  return text.toHtmlEscaped();
}

QString value(const QString& label, const QString& text) {  // lines break between values alone
  return QStringLiteral("<span class='label' style='white-space:pre'>%1</span>&nbsp;%2")
      .arg(QString(label).replace(u' ', QChar::Nbsp), QString(text).replace(u' ', QChar::Nbsp));
}

// Of NameStatistics or a NameSum.
template <typename Entry>
QStringList sums_of(const Entry& entry) {
  return {value(QObject::tr("count"), QString::fromStdString(timeline::format_count(entry.count))), value(QObject::tr("total"), duration(entry.total)),
          value(QObject::tr("average"), duration(static_cast<double>(entry.total) / static_cast<double>(entry.count)))};
}

template <typename Entry>
QString entry_html(const Trace& trace, const Entry& entry, const QStringList& spread) {
  return QStringLiteral("<p style='margin-top:6px; margin-bottom:0'><b>%1</b> <span class='label'>%2</span><br>%3<br>%4</p>")
      .arg(name_html(trace, entry.kind, entry.name), shown_text(event_kind_name(entry.kind)), sums_of(entry).join(QStringLiteral(" · ")),
           spread.join(QStringLiteral(" · ")));
}

std::uint64_t count_within(const Trace& trace, std::span<const LaneId> lanes, TimeRange range) {
  std::uint64_t count = 0;
  for (const LaneId lane : lanes) {
    const auto [first, end] = trace.lane(lane).overlapping(range);
    count += end - first;
  }
  return count;
}

}  // namespace

std::shared_ptr<const RangeSummary> summarize_range(const std::shared_ptr<const Trace>& trace, const std::shared_ptr<const timeline::IdleTime>& idle,
                                                    const std::shared_ptr<const timeline::CommunicationTime>& communication, TimeRange range,
                                                    const std::stop_token& stop) {
  auto summary = std::make_shared<RangeSummary>(RangeSummary{trace, range, {}, {}, {}, {}, {}});
  if (idle) summary->idle = idle->causes(range);
  if (communication) summary->communication = communication->within(range);
  for (const GpuUtilisation& gpu : UtilisationSource(trace).over(range, 1).gpus) summary->busy.emplace_back(gpu.name, gpu.shares.front());
  EventFilter filter;
  filter.window = range;
  const EventScope scope = listed_scope(*trace);
  if (count_within(*trace, scope.lanes(), range) > most_listed(*trace))
    summary->sums = sums_by_name(*trace, scope.lanes(), range, stop);
  else
    summary->names = statistics_by_name(*trace, gather_events(*trace, scope.lanes(), filter, stop), stop);
  if (stop.stop_requested()) return nullptr;
  return summary;
}

QString summary_html(const RangeSummary& summary) {
  QString html;
  for (std::size_t i = 0; i < std::min(summary.names.size(), kShownNames); ++i) {
    const NameStatistics& entry = summary.names[i];
    html += entry_html(*summary.trace, entry,
                       {value(QObject::tr("min"), duration(entry.minimum)), value(QObject::tr("median"), duration(entry.median)),
                        value(QObject::tr("95 %"), duration(entry.percentile_95)), value(QObject::tr("max"), duration(entry.maximum))});
  }
  for (std::size_t i = 0; i < std::min(summary.sums.size(), kShownNames); ++i) {
    const NameSum& entry = summary.sums[i];
    html += entry_html(*summary.trace, entry, {value(QObject::tr("min"), duration(entry.minimum)), value(QObject::tr("max"), duration(entry.maximum))});
  }
  if (const std::size_t names = summary.names.size() + summary.sums.size(); names > kShownNames)
    html += QStringLiteral("<p class='label'>%1</p>").arg(QObject::tr("and %1 more names, which Statistics lists").arg(names - kShownNames));
  return html;
}

}  // namespace lanescope::ui
