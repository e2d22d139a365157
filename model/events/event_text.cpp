#include "model/events/event_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "model/trace/text/utf8.h"
#include "range_finder.h"
#include "row_gaps.h"

namespace lanescope {
namespace {

constexpr std::size_t kPieceBytes = 1u << 16;
constexpr std::size_t kPieceEvents = 1u << 16;

// True if CSV quotes the value. Works in blocks, which compilers vectorize, because names may be long.
bool is_quoted(std::string_view value) {
  const auto separates = [](char c) { return static_cast<int>(c == ',') | static_cast<int>(c == '"') | static_cast<int>(c == '\n'); };
  constexpr std::size_t kBlock = 64;
  for (; value.size() >= kBlock; value.remove_prefix(kBlock)) {
    int found = 0;
    for (std::size_t i = 0; i < kBlock; ++i) found |= separates(value[i]);
    if (found != 0) return true;
  }
  return std::any_of(value.begin(), value.end(), [&](char c) { return separates(c) != 0; });
}

void append_value(std::string& out, std::string_view value, Delimiter delimiter) {
  if (delimiter == Delimiter::kTab) {
    append_printable(out, value, LineBreaks::kEscaped);
    return;
  }
  const std::string shown = printable(value, LineBreaks::kKept);
  if (!is_quoted(shown)) {
    out.append(shown);
    return;
  }
  out.push_back('"');
  for (const char c : shown) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

// Writes the values of one column. Long ones, such as names of events, repeat often: the written form of the last one is kept.
class ValueWriter {
 public:
  void append(std::string& out, std::string_view value, Delimiter delimiter) {
    constexpr std::size_t kLong = 256;
    if (value.size() < kLong) return append_value(out, value, delimiter);
    if (value != value_) {
      value_ = value;
      written_.clear();
      append_value(written_, value, delimiter);
    }
    out += written_;
  }

 private:
  std::string value_, written_;
};

// The values of columns for some events that lie near each other: values that need a search are found for all events at once.
class PieceOfText {
 public:
  PieceOfText(const EventValues& values, const RangeFinder& finder, std::span<const EventRef> events, std::span<const EventColumn> columns)
      : values_(values), events_(events) {
    const auto asks_for = [&](EventColumn column) { return std::find(columns.begin(), columns.end(), column) != columns.end(); };
    if (asks_for(EventColumn::kGapBefore)) {
      gaps_.resize(events.size());
      gaps_before(values, events, gaps_);
    }
    if (asks_for(EventColumn::kNvtxRange)) {
      ranges_.resize(events.size());
      finder.find(events, ranges_);
    }
  }

  [[nodiscard]] std::string text(std::size_t i, EventColumn column) const {
    const Trace& trace = values_.trace();
    switch (column) {
      case EventColumn::kGapBefore:
        return gaps_[i] == ColumnReader::kMissing ? std::string() : std::to_string(gaps_[i]);
      case EventColumn::kNvtxRange:
        return ranges_[i].valid() ? std::string(trace.name(trace.lane(ranges_[i].lane).name(ranges_[i].index))) : std::string();
      default:
        return values_.text(events_[i], column);
    }
  }

 private:
  const EventValues& values_;
  std::span<const EventRef> events_;
  std::vector<std::int64_t> gaps_;
  std::vector<EventRef> ranges_;
};

}  // namespace

bool write_events(const EventValues& values, std::span<const EventRef> events, std::span<const EventColumn> columns, Delimiter delimiter, const TextSink& write,
                  std::span<const FurtherColumn> further, const Progress& progress) {
  const std::string_view line_end = delimiter == Delimiter::kComma ? "\r\n" : "\n";
  std::string piece;
  std::vector<ValueWriter> writers(columns.size());
  const auto append_line = [&](auto&& value_of, auto&& further_value) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) piece.push_back(static_cast<char>(delimiter));
      writers[i].append(piece, value_of(columns[i]), delimiter);
    }
    for (const FurtherColumn& column : further) {
      piece.push_back(static_cast<char>(delimiter));
      append_value(piece, further_value(column), delimiter);
    }
    piece.append(line_end);
  };
  append_line([](EventColumn column) { return event_column_header(column); }, [](const FurtherColumn& column) { return column.header; });
  const RangeFinder finder(values);
  progress.begin(events.size());
  for (std::span<const EventRef> rest = events; !rest.empty(); rest = rest.subspan(std::min(kPieceEvents, rest.size()))) {
    const PieceOfText some(values, finder, rest.first(std::min(kPieceEvents, rest.size())), columns);
    for (std::size_t i = 0; i < std::min(kPieceEvents, rest.size()); ++i) {
      append_line([&](EventColumn column) { return some.text(i, column); }, [&](const FurtherColumn& column) { return column.text(rest[i]); });
      if (piece.size() < kPieceBytes) continue;
      progress.reach(events.size() - rest.size() + i);
      if (!write(piece)) return false;
      piece.clear();
    }
  }
  progress.reach(events.size());
  return write(piece);
}

}  // namespace lanescope
