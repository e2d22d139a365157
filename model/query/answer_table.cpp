#include "answer_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "trace_tables.h"

namespace lanescope::query {
namespace {

using stats::Unit;

constexpr std::size_t kTextOverhead = 96;  // for each stored text: its entry in the map and in the table
constexpr std::size_t kShownBytes = 32;    // for a value that is not a text

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

Unit unit_of_declaration(std::string_view type) {
  if (type.ends_with(kTimeWord)) return Unit::kNanoseconds;
  if (type.ends_with(kIdentifierWord)) return Unit::kIdentifier;
  return Unit::kNumber;
}

// Recognizes functions that keep the unit of their argument: "sum(k.duration)"; names that end with "_ns"; and names of times in the tables.
Unit unit_of_title(std::string_view title, AnswerTable::Periods periods) {
  const std::string text = lower(title);
  if (text.ends_with("_ns") || text == "start" || text == "end" || text == "duration") return Unit::kNanoseconds;
  constexpr std::array<std::string_view, 5> kKeeping = {"sum(", "min(", "max(", "avg(", "total("};
  for (const std::string_view function : kKeeping) {
    if (!text.starts_with(function) || !text.ends_with(')')) continue;
    std::string_view inner = std::string_view(text).substr(function.size());
    inner.remove_suffix(1);
    inner = inner.substr(inner.find('.') == std::string_view::npos ? 0 : inner.find('.') + 1);
    if (inner == "period" && periods == AnswerTable::Periods::kTimes) return Unit::kNanoseconds;
    constexpr std::array<std::string_view, 6> kTimes = {"start", "duration", "launch_start", "launch_duration", "spent", "every"};
    if (std::find(kTimes.begin(), kTimes.end(), inner) != kTimes.end()) return Unit::kNanoseconds;
  }
  return Unit::kNumber;
}

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kShown = 64;
  std::string text = "x'";
  for (std::size_t i = 0; i < std::min(count, kShown); ++i) text.append({kDigits[bytes[i] >> 4], kDigits[bytes[i] & 15]});
  return text.append(count > kShown ? "…" : "'");
}

std::string text_of(double value) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

}  // namespace

AnswerTable::AnswerTable(sqlite3_stmt* statement, Periods periods) {
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    Column column;
    if (const char* title = sqlite3_column_name(statement, i)) column.title = title;
    const char* declared = sqlite3_column_decltype(statement, i);
    column.unit = declared != nullptr ? unit_of_declaration(declared) : unit_of_title(column.title, periods);
    column.title = own_title(std::move(column.title));
    columns_.push_back(std::move(column));
  }
}

std::string AnswerTable::own_title(std::string title) const {
  const auto is_taken = [&](const std::string& wanted) { return std::ranges::any_of(columns_, [&](const Column& column) { return column.title == wanted; }); };
  if (!is_taken(title)) return title;
  const std::size_t before_digits = title.find_last_not_of("0123456789");
  if (before_digits + 1 < title.size() && before_digits != std::string::npos && title[before_digits] == ':') title.resize(before_digits);
  std::size_t number = 1;
  while (is_taken(title + ':' + std::to_string(number))) ++number;
  return title + ':' + std::to_string(number);
}

stats::TextId AnswerTable::keep(std::string text) {
  if (text.empty()) return stats::TextId{0};
  const auto [entry, is_new] = texts_.try_emplace(std::move(text));
  if (is_new) {
    entry->second = table_.add_text(entry->first);
    bytes_ += 2 * entry->first.size() + kTextOverhead;
  }
  return entry->second;
}

AnswerTable::Value AnswerTable::value_of(sqlite3_stmt* statement, int index) {
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, index);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, index);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, index));
      return text == nullptr ? Value() : keep(std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, index))));
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, index));
      return keep(hexadecimal(bytes, bytes == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(statement, index))));
    }
    default:
      return {};
  }
}

void AnswerTable::add_row(sqlite3_stmt* statement) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    column.values.push_back(value_of(statement, static_cast<int>(i)));
    column.has_texts |= std::holds_alternative<stats::TextId>(column.values.back());
    column.has_reals |= std::holds_alternative<double>(column.values.back());
  }
  ++rows_;
  bytes_ += columns_.size() * kShownBytes;
}

stats::Column AnswerTable::finished(Column& column) {
  if (column.has_texts) {
    stats::Texts texts;
    for (const Value& value : column.values) {
      if (const auto* text = std::get_if<stats::TextId>(&value))
        texts.push_back(*text);
      else if (const auto* number = std::get_if<std::int64_t>(&value))
        texts.push_back(keep(std::to_string(*number)));
      else if (const auto* real = std::get_if<double>(&value))
        texts.push_back(keep(text_of(*real)));
      else
        texts.push_back(stats::TextId{0});
    }
    return {column.title, Unit::kNone, std::move(texts)};
  }
  if (column.has_reals) {
    stats::Reals reals;
    for (const Value& value : column.values) {
      const auto* number = std::get_if<std::int64_t>(&value);
      const auto* real = std::get_if<double>(&value);
      const double shown = real != nullptr ? *real : number != nullptr ? static_cast<double>(*number) : stats::kNoReal;
      reals.push_back(std::isfinite(shown) ? shown : stats::kNoReal);
    }
    return {column.title, column.unit, std::move(reals)};
  }
  stats::Integers integers;
  for (const Value& value : column.values) {
    const auto* number = std::get_if<std::int64_t>(&value);
    integers.push_back(number != nullptr ? *number : stats::kNoInteger);
  }
  return {column.title, column.unit == Unit::kNumber ? Unit::kNone : column.unit, std::move(integers)};
}

stats::Table AnswerTable::take() {
  std::vector<stats::Column> columns;
  for (Column& column : columns_) {
    columns.push_back(finished(column));
    column.values = {};
  }
  table_.set_columns(std::move(columns), rows_);
  return std::move(table_);
}

}  // namespace lanescope::query
