#include "input/tool_tip.h"

#include <algorithm>

#include <QCoreApplication>
#include <QFontMetrics>
#include <QRegularExpression>
#include <QTextDocument>
#include <QToolTip>

#include "timeline/core/lanes/stack_chart.h"
#include "timeline/core/pixels/counter_pixels.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::timeline {
namespace {

constexpr qsizetype kLongestName = 160;  // characters; the details panel shows the whole name
constexpr int kWidest = 72;              // characters of a line, about as in a book

// Names of functions and files have no blanks: a line may be broken after a separator of their parts, and anywhere in a long part.
QString breakable(const QString& text) {
  static const QRegularExpression separators(QStringLiteral("([,:<>(/_.-])(?=[^\\s])"));
  static const QRegularExpression long_parts(QStringLiteral("([^\\s\u200b]{24})(?=[^\\s\u200b])"));
  constexpr qsizetype kLongestWord = 24;
  QString broken;
  for (const QString& word : text.split(u' ')) {
    if (!broken.isNull()) broken += u' ';
    const QString between = QStringLiteral("\\1\u200b");
    broken += word.size() > kLongestWord ? QString(word).replace(separators, between).replace(long_parts, between) : word;
  }
  return broken;
}

// Unchanged if it is narrow, else in lines of readable length.
QString of_sensible_width(const QString& html) {
  QTextDocument document;
  document.setDefaultFont(QToolTip::font());
  document.setHtml(html);
  const int widest = QFontMetrics(QToolTip::font()).averageCharWidth() * kWidest;
  return document.idealWidth() <= widest ? html : QStringLiteral("<table width='%1'><tr><td>%2</td></tr></table>").arg(widest).arg(html);
}

QString table(const std::vector<Property>& properties) {
  QString title = shown_text(properties.front().value);
  if (title.size() > kLongestName) title = title.left(kLongestName) + QChar(0x2026);
  QString html = "<p style='white-space:pre-wrap; margin:0'><b>" + breakable(title).toHtmlEscaped() + "</b></p><table cellspacing='0' cellpadding='0'>";
  for (std::size_t index = 1; index < properties.size(); ++index)
    html += "<tr><td style='padding-right:14px; white-space:nowrap'>" + shown_text(properties[index].label).toHtmlEscaped() + "</td><td>" +
            breakable(shown_text(properties[index].value)).toHtmlEscaped() + "</td></tr>";
  return of_sensible_width(html + "</table>");
}

}  // namespace

QString event_tool_tip(const Trace& trace, EventRef event, std::optional<TimeRange> waited) {
  std::vector<Property> properties = describe_event(trace, event, Length::kBrief);
  if (waited) {
    const Nanoseconds whole = trace.event(event).duration;
    properties.push_back({"Waited for another rank", format_duration(waited->length())});
    properties.push_back({"Transfer", format_duration(whole - waited->length())});
    std::rotate(properties.begin() + 1, properties.end() - 2, properties.end());
  }
  return table(properties);
}

QString open_tool_tip(const Trace& trace, EventRef event, Nanoseconds now) { return table(describe_open_event(trace, event, now, Length::kBrief)); }

QString counter_tool_tip(const Trace& trace, CounterId counter, TimeRange pixel) { return table(describe_counter(trace, counter, pixel)); }

QString gap_tool_tip(const IdleTime& idle, const Gap& gap) { return table(idle.describe(gap)); }

QString call_tool_tip(const Trace& trace, EventRef first_sample, const Event& call) {
  return table(describe_call(trace, first_sample.lane, call, first_sample.index));
}

QString answer_tool_tip(const AnswerRow& answer, const PixelHit& pixel, double length) {
  if (!pixel.event.valid()) return pixel.column.longest.valid() ? column_tool_tip(answer.ranges(), pixel.column, length, 1) : QString();
  const Event range = answer.ranges().event(pixel.event);
  const std::string_view text = answer.ranges().name(range.name);
  return table({{"", text.empty() ? answer.title() : std::string(text)},
                {"Begins", format_time(range.start)},
                {"Ends", format_time(range.end())},
                {"Duration", format_duration(range.duration)}});
}

QString column_tool_tip(const Trace& trace, const Column& column, double length, std::size_t sharers) {
  const std::uint64_t events = std::uint64_t{column.count} + column.carried;
  std::vector<Property> properties{{"", Message("{events} in this pixel", {{"events", format_counted(events, "event")}})}};
  properties.push_back({"Length", format_duration(static_cast<Nanoseconds>(length))});
  properties.push_back({"Busy", format_share(busy_share(column, std::max(1.0, length), sharers))});
  const auto words = [&](NameId name) {
    return column.kind == TrackKind::kThreadStates ? Message(trace.name(name)) : Message::verbatim(std::string(trace.name(name)));
  };
  if (has_dominant(column)) {
    const double least = static_cast<double>(column.weight) / static_cast<double>(column.total);
    const Message share = least >= 1 ? Message("all of it") : Message("at least {share}", {{"share", format_share(least)}});
    properties.push_back({"Mostly", Message("{name} ({share})", {{"name", words(column.dominant)}, {"share", share}})});
  }
  const bool sampled = column.kind == TrackKind::kCpuSamples;  // a stack chart: calls, whose events are samples
  const Message longest = sampled ? words(column.longest_name) : event_words(trace, column.longest);
  properties.push_back({"Longest", Message("{name}, {duration}", {{"name", longest}, {"duration", format_duration(column.longest_duration)}})});
  return table(properties);
}

}  // namespace lanescope::timeline
