#include "panels/range_summary.h"

#include <cmath>

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

QString name_html(const Trace& trace, const NameStatistics& entry) {
  QString text = shown_name(trace, entry.kind, entry.name);
  if (text.size() > kLongestName) text = text.left(kLongestName) + QChar(0x2026);
  return text.toHtmlEscaped();
}

}  // namespace

std::shared_ptr<const RangeSummary> summarize_range(const std::shared_ptr<const Trace>& trace,
                                                    const std::shared_ptr<const timeline::IdleTime>& idle,
                                                    const std::shared_ptr<const timeline::CommunicationTime>& communication, TimeRange range,
                                                    const std::stop_token& stop) {
  auto summary = std::make_shared<RangeSummary>(RangeSummary{trace, range, {}, {}, {}, {}, false});
  if (idle) summary->idle = idle->causes(range);
  if (communication) summary->communication = communication->within(range);
  for (const GpuUtilisation& gpu : UtilisationSource(trace).over(range, 1).gpus) summary->busy.emplace_back(gpu.name, gpu.shares.front());
  EventFilter filter;
  filter.window = range;
  const std::size_t most = most_listed(*trace);
  const std::vector<EventRef> events = gather_events(*trace, listed_scope(*trace).lanes(), filter, stop, most);
  summary->too_many = events.size() > most;
  if (!summary->too_many) summary->names = statistics_by_name(*trace, events, stop);
  if (stop.stop_requested()) return nullptr;
  return summary;
}

QString summary_html(const RangeSummary& summary) {
  const auto value = [](const QString& label, const QString& text) {  // lines break between values alone
    return QStringLiteral("<span class='label' style='white-space:pre'>%1</span>&nbsp;%2")
        .arg(QString(label).replace(u' ', QChar::Nbsp), QString(text).replace(u' ', QChar::Nbsp));
  };
  QString html;
  for (std::size_t i = 0; i < std::min(summary.names.size(), kShownNames); ++i) {
    const NameStatistics& entry = summary.names[i];
    const QStringList sums = {value(QObject::tr("count"), QString::fromStdString(timeline::format_count(entry.count))),
                              value(QObject::tr("total"), duration(entry.total)), value(QObject::tr("average"), duration(entry.average))};
    const QStringList spread = {value(QObject::tr("min"), duration(entry.minimum)), value(QObject::tr("median"), duration(entry.median)),
                                value(QObject::tr("95 %"), duration(entry.percentile_95)),
                                value(QObject::tr("max"), duration(entry.maximum))};
    html += QStringLiteral("<p style='margin-top:6px; margin-bottom:0'><b>%1</b> <span class='label'>%2</span><br>%3<br>%4</p>")
                .arg(name_html(*summary.trace, entry), shown_text(event_kind_name(entry.kind)), sums.join(QStringLiteral(" · ")),
                     spread.join(QStringLiteral(" · ")));
  }
  if (summary.too_many)
    html += QStringLiteral("<p class='label'>%1</p>")
                .arg(QObject::tr("There are more events in the range than the memory for events lets be summed by name. lanescope stats sums "
                                 "them: choose a part of time with --filter-time."));
  if (summary.names.size() > kShownNames)
    html += QStringLiteral("<p class='label'>%1</p>")
                .arg(QObject::tr("and %1 more names, which Statistics lists").arg(summary.names.size() - kShownNames));
  return html;
}

}  // namespace lanescope::ui
