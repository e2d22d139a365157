#include "panels/range_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <QUrl>

#include "base/text/shown_name.h"
#include "events/shown_events.h"
#include "model/events/event_query.h"
#include "model/events/name_family.h"
#include "model/trace/combining/parts.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/format.h"
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

// The name of the family, with a link that lists its events.
QString family_html(const std::string& family) {
  const QString text = QString::fromStdString(family);
  const QString shown = text.size() > kLongestName ? text.left(kLongestName) + QChar(0x2026) : text;
  return QStringLiteral("<a href='family:%1'>%2</a>").arg(QString::fromLatin1(QUrl::toPercentEncoding(text)), shown.toHtmlEscaped());
}

QString value(const QString& label, const QString& text) {  // lines are broken only between values
  return QStringLiteral("<span class='label' style='white-space:pre'>%1</span>&nbsp;%2")
      .arg(QString(label).replace(u' ', QChar::Nbsp), QString(text).replace(u' ', QChar::Nbsp));
}

// For NameStatistics or a NameSum.
template <typename Entry>
QStringList sums_of(const Entry& entry) {
  return {value(QObject::tr("count"), QString::fromStdString(timeline::format_count(entry.count))), value(QObject::tr("total"), duration(entry.total)),
          value(QObject::tr("average"), duration(static_cast<double>(entry.total) / static_cast<double>(entry.count)))};
}

template <typename Entry>
QString entry_html(const Trace& trace, const OfRun<Entry>& of_run, const QStringList& spread) {
  const Entry& entry = of_run.entry;
  const QString run =
      of_run.run.empty() ? QString() : QStringLiteral("<span class='label'>%1</span>&nbsp;").arg(QString::fromStdString(of_run.run).toHtmlEscaped());
  return QStringLiteral("<p style='margin-top:6px; margin-bottom:0'>%1<b>%2</b> <span class='label'>%3</span><br>%4<br>%5</p>")
      .arg(run, of_run.family.empty() ? name_html(trace, entry.kind, entry.name) : family_html(of_run.family), shown_text(event_kind_name(entry.kind)),
           sums_of(entry).join(QStringLiteral(" · ")), spread.join(QStringLiteral(" · ")));
}

template <typename Key>
void add_to(std::map<Key, NameSum>& sums, const Key& key, const NameSum& sum) {
  const auto [found, is_new] = sums.try_emplace(key, sum);
  NameSum& of = found->second;
  if (is_new) return;
  of.count += sum.count;
  of.total += sum.total;
  of.minimum = std::min(of.minimum, sum.minimum);
  of.maximum = std::max(of.maximum, sum.maximum);
}

template <typename Key>
std::vector<NameSum> values_of(const std::map<Key, NameSum>& sums) {
  std::vector<NameSum> all;
  for (const auto& [key, sum] : sums) all.push_back(sum);
  return all;
}

std::uint64_t count_within(const Trace& trace, std::span<const LaneId> lanes, TimeRange range) {
  std::uint64_t count = 0;
  for (const LaneId lane : lanes) {
    const auto [first, end] = trace.lane(lane).overlapping(range);
    count += end - first;
  }
  return count;
}

// The end of the part of a lane that has ended: where its open event begins, which is its last one.
Nanoseconds end_of_known(const Trace& trace, LaneId lane, const OpenEvents& open, Nanoseconds end) {
  const auto found = std::lower_bound(open.events.begin(), open.events.end(), EventRef{lane, 0});
  return found != open.events.end() && found->lane == lane ? std::min(end, trace.lane(lane).start(found->index)) : end;
}

std::uint64_t count_open(const Trace& trace, std::span<const LaneId> lanes, const OpenEvents& open, TimeRange range) {
  return static_cast<std::uint64_t>(std::count_if(open.events.begin(), open.events.end(), [&](EventRef event) {
    return std::binary_search(lanes.begin(), lanes.end(), event.lane) && trace.lane(event.lane).start(event.index) < range.end && open.now > range.begin;
  }));
}

// The sums of what has ended; like sums_by_name().
std::vector<NameSum> sums_of_known(const Trace& trace, std::span<const LaneId> lanes, const OpenEvents& open, TimeRange range, const std::stop_token& stop) {
  std::vector<LaneId> ended;
  std::vector<NameSum> parts;
  for (const LaneId lane : lanes) {
    const Nanoseconds end = end_of_known(trace, lane, open, range.end);
    if (end == range.end) {
      ended.push_back(lane);
      continue;
    }
    if (end <= range.begin) continue;
    for (const NameSum& sum : sums_by_name(trace, std::span(&lane, 1), {range.begin, end}, stop)) parts.push_back(sum);
  }
  std::vector<NameSum> all = sums_by_name(trace, ended, range, stop);
  if (parts.empty()) return all;
  parts.insert(parts.end(), all.begin(), all.end());
  std::map<std::pair<EventKind, NameId>, NameSum> together;
  for (const NameSum& part : parts) add_to(together, std::pair(part.kind, part.name), part);
  return values_of(together);
}

// Events of a lane do not overlap, so only its first one and its last one there can lie partly within the range.
std::uint64_t count_partly_within(const Trace& trace, std::span<const LaneId> lanes, const OpenEvents& open, TimeRange range) {
  std::uint64_t count = 0;
  for (const LaneId id : lanes) {
    const Lane& lane = trace.lane(id);
    auto [first, end] = lane.overlapping(range);
    if (first != end && std::binary_search(open.events.begin(), open.events.end(), EventRef{id, end - 1})) --end;
    if (first == end) continue;
    const bool begins_before = lane.start(first) < range.begin;
    count += begins_before ? 1 : 0;
    count += (end - first > 1 || !begins_before) && lane.end(end - 1) > range.end ? 1 : 0;
  }
  return count;
}

// The lanes of each compared run; all lanes if the trace compares none.
std::vector<std::pair<std::string, std::vector<LaneId>>> lanes_by_run(const Trace& trace, std::span<const LaneId> lanes) {
  std::vector<std::pair<std::string, std::vector<LaneId>>> runs;
  for (const LaneId lane : lanes) {
    const std::string_view run = run_of(trace, trace.track_of(lane));
    auto of = std::find_if(runs.begin(), runs.end(), [&](const auto& each) { return each.first == run; });
    if (of == runs.end()) of = runs.insert(of, {std::string(run), {}});
    of->second.push_back(lane);
  }
  return runs;
}

using NamesOfFamilies = std::map<std::pair<EventKind, std::string>, std::set<NameId>>;  // and their names

std::pair<EventKind, std::string> family_of(const Trace& trace, EventKind kind, NameId name) { return {kind, name_family(trace.name(name))}; }

NamesOfFamilies families_of(const Trace& trace, const std::vector<NameSum>& sums) {
  NamesOfFamilies families;
  for (const NameSum& sum : sums) families[family_of(trace, sum.kind, sum.name)].insert(sum.name);
  return families;
}

std::vector<NameSum> by_family(const Trace& trace, const std::vector<NameSum>& sums) {
  std::map<std::pair<EventKind, std::string>, NameSum> together;
  for (const NameSum& sum : sums) add_to(together, family_of(trace, sum.kind, sum.name), sum);
  return values_of(together);
}

template <typename Entry>
void add(const Trace& trace, std::vector<OfRun<Entry>>& all, const std::string& run, const NamesOfFamilies& families, std::vector<Entry> entries) {
  for (Entry& entry : entries) {
    const auto family = families.find(family_of(trace, entry.kind, entry.name));
    all.push_back({run, family == families.end() || family->second.size() < 2 ? std::string() : family->first.second, std::move(entry)});
  }
  std::stable_sort(all.begin(), all.end(), [](const OfRun<Entry>& a, const OfRun<Entry>& b) { return a.entry.total > b.entry.total; });
}

}  // namespace

namespace {

// From the start of its first work to the end of its last; empty if nothing ran.
TimeRange time_of_work(const Trace& trace, GpuId gpu) {
  TimeRange all{std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min()};
  for (const Track& track : trace.tracks()) {
    if (!is_gpu_work(track.key.kind) || track.key.gpu != gpu) continue;
    for (const LaneId id : track.lanes) {
      const TimeRange lane = trace.lane(id).extent();
      all = {std::min(all.begin, lane.begin), std::max(all.end, lane.end)};
    }
  }
  return all;
}

// What is left of the idle time of each GPU once the gaps with causes are taken away.
void add_short_idle(RangeSummary& summary) {
  for (const GpuTime& of : summary.gpus) {
    Nanoseconds left = of.idle;
    for (const auto& [id, causes] : summary.idle)
      if (id == of.gpu)
        for (const timeline::IdleTime::CauseTime& cause : causes) left -= cause.time;
    if (left > 0) summary.short_idle.emplace_back(of.gpu, left);
  }
}

}  // namespace

std::vector<GpuTime> idle_in(const Trace& trace, const Utilisation& of_range) {
  std::vector<GpuTime> times;
  const TimeRange range = of_range.range;
  for (const GpuUtilisation& gpu : of_range.gpus) {
    const TimeRange work = time_of_work(trace, gpu.id);
    if (work.end < work.begin) continue;
    const Nanoseconds busy = std::llround(gpu.shares.front() * static_cast<double>(range.length()));
    GpuTime time{gpu.id};
    time.before = std::max<Nanoseconds>(0, std::min(range.end, work.begin) - range.begin);
    time.after = std::max<Nanoseconds>(0, range.end - std::max(range.begin, work.end));
    time.idle = std::max<Nanoseconds>(0, range.length() - time.before - time.after - busy);
    times.push_back(time);
  }
  return times;
}

std::shared_ptr<const RangeSummary> summarize_range(const std::shared_ptr<const Trace>& trace, const std::shared_ptr<const timeline::IdleTime>& idle,
                                                    const std::shared_ptr<const timeline::CommunicationTime>& communication, TimeRange range,
                                                    const OpenEvents& open, const std::stop_token& stop) {
  auto summary = std::make_shared<RangeSummary>();
  summary->trace = trace;
  summary->range = range;
  if (idle) summary->idle = idle->causes(range);
  if (communication) summary->communication = communication->within(range);
  const Utilisation utilisation = UtilisationSource(trace).over(range, 1);
  for (const GpuUtilisation& gpu : utilisation.gpus) summary->busy.emplace_back(gpu.name, gpu.shares.front());
  summary->gpus = idle_in(*trace, utilisation);
  if (idle) {
    summary->shortest_gap = idle->threshold();
    add_short_idle(*summary);
  }
  EventFilter filter;
  filter.window = range;
  const EventScope scope = listed_scope(*trace);
  const bool are_too_many = count_within(*trace, scope.lanes(), range) > most_listed(*trace);
  for (const auto& [run, lanes] : lanes_by_run(*trace, scope.lanes())) {
    const std::vector<NameSum> sums = sums_of_known(*trace, lanes, open, range, stop);
    const NamesOfFamilies families = families_of(*trace, sums);
    if (are_too_many) {
      add(*trace, summary->sums, run, families, by_family(*trace, sums));
      continue;
    }
    std::vector<EventRef> events = gather_events(*trace, lanes, filter, stop);
    std::erase_if(events, [&](EventRef event) { return std::binary_search(open.events.begin(), open.events.end(), event); });
    add(*trace, summary->names, run, families, statistics_by_name(*trace, events, stop, Grouping::kFamilies));
  }
  summary->partly_within = count_partly_within(*trace, scope.lanes(), open, range);
  summary->open = count_open(*trace, scope.lanes(), open, range);
  if (stop.stop_requested()) return nullptr;
  if (const Result<void> all = check_all_was_read(*trace); !all) {
    summary->busy.clear();
    summary->gpus.clear();
    summary->names.clear();
    summary->sums.clear();
    summary->lack = all.error().text;
  }
  return summary;
}

QString summary_html(const RangeSummary& summary) {
  if (!summary.lack.empty())
    return QStringLiteral("<p>%1 %2</p>")
        .arg(QObject::tr("Nothing is counted here, since not all events could be read."), QString::fromStdString(summary.lack).toHtmlEscaped());
  QString html;
  if (summary.partly_within > 0)
    html += QStringLiteral("<p class='label'>%1</p>")
                .arg(QObject::tr("Only partly in the selected range, but counted whole: %1")
                         .arg(shown_text(timeline::format_counted(summary.partly_within, "event"))));
  if (summary.open > 0)
    html += QStringLiteral("<p class='label'>%1</p>")
                .arg(QObject::tr("Not counted, since they have not ended: %1").arg(shown_text(timeline::format_counted(summary.open, "event"))));
  for (std::size_t i = 0; i < std::min(summary.names.size(), kShownNames); ++i) {
    const NameStatistics& entry = summary.names[i].entry;
    html += entry_html(*summary.trace, summary.names[i],
                       {value(QObject::tr("min"), duration(entry.minimum)), value(QObject::tr("median"), duration(entry.median)),
                        value(QObject::tr("95 %"), duration(entry.percentile_95)), value(QObject::tr("max"), duration(entry.maximum))});
  }
  for (std::size_t i = 0; i < std::min(summary.sums.size(), kShownNames); ++i) {
    const NameSum& entry = summary.sums[i].entry;
    html +=
        entry_html(*summary.trace, summary.sums[i], {value(QObject::tr("min"), duration(entry.minimum)), value(QObject::tr("max"), duration(entry.maximum))});
  }
  if (const std::size_t names = summary.names.size() + summary.sums.size(); names > kShownNames)
    html += QStringLiteral("<p class='label'>%1</p>").arg(QObject::tr("and %1 more names, which Statistics lists").arg(names - kShownNames));
  return html;
}

}  // namespace lanescope::ui
