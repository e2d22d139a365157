#include "model/stats/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "model/trace/text/grouped_digits.h"
#include "model/trace/text/utf8.h"
#include "writers.h"

namespace lanescope::stats {
namespace {

constexpr std::array kFormats = {
    NamedFormat{"column", ".txt", "aligned columns, for people (the default on a terminal)", Format::kColumn},
    NamedFormat{"table", ".txt", "columns in boxes, for people", Format::kTable},
    NamedFormat{"csv", ".csv", "comma-separated values (the default for files)", Format::kCsv},
    NamedFormat{"tsv", ".tsv", "tab-separated values", Format::kTsv},
    NamedFormat{"json", ".json", "an array of objects, one a row, with the columns' titles as keys", Format::kJson},
};

struct NamedUnit {
  std::string_view name;    // of the option
  std::string_view symbol;  // after a title
  double nanoseconds;
  int decimals;        // for people, as nsys 2025.3.1 prints them
  int whole_decimals;  // for programs: a nanosecond
};
constexpr std::array<NamedUnit, 4> kTimeUnits = {{{"nsec", "ns", 1, 0, 0}, {"usec", "us", 1e3, 3, 3}, {"msec", "ms", 1e6, 4, 6}, {"sec", "s", 1e9, 4, 9}}};

constexpr double kBytesPerMegabyte = 1e6;
constexpr int kSizeDecimals = 3;
constexpr int kRealDecimals = 1;
constexpr double kLeastShownShare = 0.05;  // percent; less would be 0.0
constexpr int kReadableDigits = 9;         // of Unit::kNumber, for people
constexpr int kAllDigits = 17;             // that tell doubles apart

void append_number(std::string& text, double value, int decimals) {
  std::array<char, 400> digits;  // the longest double has 309 digits before the point
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, decimals);
  if (error == std::errc{}) text.append(digits.data(), end);
}

// As many digits as tell the value apart from others, at most `digits`.
void append_digits(std::string& text, double value, int digits) {
  std::array<char, 32> buffer;
  const auto end = digits >= kAllDigits ? std::to_chars(buffer.data(), buffer.data() + buffer.size(), value)
                                        : std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits);
  text.append(buffer.data(), end.ptr);
}

void append_number(std::string& text, std::int64_t value) {
  std::array<char, 24> digits;
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

// The value divided by ten as often as there are decimals: "1.234" for 1234 and 3.
void append_shifted(std::string& text, std::int64_t value, int decimals) {
  const std::size_t first = text.size() + (value < 0 ? 1 : 0), most = static_cast<std::size_t>(decimals);
  append_number(text, value);
  if (const std::size_t digits = text.size() - first; digits <= most) text.insert(first, most + 1 - digits, '0');
  text.insert(text.size() - most, 1, '.');
}

// Nsight Systems' averages round halves away from zero. With one decimal, only .25 and .75 are exact halves in binary, and the latter rounds up anyway:
// the former is moved beyond the half.
double past_half(double value) {
  return std::abs(value - std::trunc(value)) == 0.25 ? std::nextafter(value, std::copysign(std::numeric_limits<double>::infinity(), value)) : value;
}

// How a value of this unit is shown: its divisor, and its decimals (absent: as the whole number that it is).
struct Scale {
  double divisor = 1;
  std::optional<int> decimals;
};

// A time on its scale, to the last digit as nsys prints it: it is first rounded to a tenth of a nanosecond, then multiplied, not divided.
double time_on_scale(double nanoseconds, const Scale& scale) {
  const double tenths = std::round(past_half(nanoseconds) * 10) / 10;
  return tenths * (1 / scale.divisor);
}

double on_scale(double value, Unit unit, const Scale& scale) { return unit == Unit::kNanoseconds ? time_on_scale(value, scale) : value / scale.divisor; }

// Programs get all digits that they get in nanoseconds: of whole numbers a nanosecond, of averages a tenth of it.
enum class Digits : std::uint8_t { kForPeople, kOfWholeNumbers, kOfReals };

Scale scale_of(Unit unit, TimeUnit time_unit, Digits digits) {
  switch (unit) {
    case Unit::kNanoseconds: {
      if (time_unit == TimeUnit::kNanoseconds) return {};
      const NamedUnit& named = kTimeUnits[static_cast<std::size_t>(time_unit)];
      return {named.nanoseconds, digits == Digits::kForPeople        ? named.decimals
                                 : digits == Digits::kOfWholeNumbers ? named.whole_decimals
                                                                     : named.whole_decimals + kRealDecimals};
    }
    case Unit::kBytes:
    case Unit::kBytesPerSecond:
      return {kBytesPerMegabyte, kSizeDecimals};
    case Unit::kNone:
    case Unit::kNumber:
    case Unit::kWords:
    case Unit::kIdentifier:
    case Unit::kPercent:
      break;
  }
  return {};
}

}  // namespace

std::span<const NamedFormat> formats() noexcept { return kFormats; }

std::optional<Format> format_of(std::string_view name) noexcept {
  for (const NamedFormat& format : kFormats)
    if (format.name == name) return format.format;
  return std::nullopt;
}

std::optional<TimeUnit> time_unit_of(std::string_view name) noexcept {
  if (name.empty()) return std::nullopt;
  for (std::size_t i = 0; i < kTimeUnits.size(); ++i)
    if (kTimeUnits[i].name.starts_with(name) || kTimeUnits[i].symbol == name) return static_cast<TimeUnit>(i);
  return std::nullopt;
}

std::string shown_title(const Column& column, TimeUnit unit) {
  switch (column.unit) {
    case Unit::kPercent:
      return column.title + " (%)";
    case Unit::kNanoseconds:
      return column.title + " (" + std::string(kTimeUnits[static_cast<std::size_t>(unit)].symbol) + ")";
    case Unit::kBytes:
      return column.title + " (MB)";
    case Unit::kBytesPerSecond:
      return column.title + " (MB/s)";
    case Unit::kNone:
    case Unit::kNumber:
    case Unit::kWords:
    case Unit::kIdentifier:
      break;
  }
  return column.title;
}

void append_cell(std::string& text, const Table& table, const Column& column, std::size_t row, TimeUnit unit, Separators separators) {
  if (column.has_texts()) {
    text += table.text(column.text(row));
    return;
  }
  const std::size_t first = text.size();
  const Digits digits = separators == Separators::kThousands ? Digits::kForPeople : column.has_reals() ? Digits::kOfReals : Digits::kOfWholeNumbers;
  const Scale scale = scale_of(column.unit, unit, digits);
  if (!column.has_reals()) {
    const std::int64_t value = column.integer(row);
    if (value == kNoInteger) return;
    if (scale.decimals && digits == Digits::kOfWholeNumbers && column.unit == Unit::kNanoseconds)
      append_shifted(text, value, *scale.decimals);
    else if (scale.decimals)
      append_number(text, static_cast<double>(value) / scale.divisor, *scale.decimals);
    else
      append_number(text, value);
  } else {
    const double value = column.real(row);
    if (std::isnan(value)) return;
    if (separators == Separators::kThousands && column.unit == Unit::kPercent && value > 0 && value < kLeastShownShare) return void(text += "<0.1");
    if (column.unit == Unit::kNumber)
      append_digits(text, value, separators == Separators::kThousands ? kReadableDigits : kAllDigits);
    else
      append_number(text, scale.decimals ? on_scale(value, column.unit, scale) : past_half(value), scale.decimals.value_or(kRealDecimals));
  }
  if (separators == Separators::kThousands && column.unit != Unit::kIdentifier && column.unit != Unit::kNumber) group_digits(text, first);
}

void append_shown_cell(std::string& text, const Table& table, const Column& column, std::size_t row, TimeUnit unit) {
  if (column.has_texts())
    append_printable(text, table.text(column.text(row)), LineBreaks::kEscaped);
  else
    append_cell(text, table, column, row, unit, Separators::kThousands);
}

std::size_t shown_width(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void append_aligned(std::string& line, std::string_view text, std::size_t width, Alignment alignment) {
  std::size_t shown = shown_width(text);
  if (shown > width) {
    line.append(first_characters(text, width - 1)).append("…");
    return;
  }
  const std::size_t padding = width - shown;
  const std::size_t left = alignment == Alignment::kLeft ? 0 : alignment == Alignment::kRight ? padding : padding / 2;
  line.append(left, ' ').append(text).append(padding - left, ' ');
}

std::vector<std::size_t> column_widths(const Table& table, TimeUnit unit) {
  constexpr std::size_t kRowsLookedAt = 100;
  constexpr std::size_t kWidest = 100;
  std::vector<std::size_t> widths;
  std::string cell;
  for (const Column& column : table.columns()) {
    std::size_t width = shown_width(shown_title(column, unit));
    for (std::size_t row = 0; row < std::min(kRowsLookedAt, table.row_count()); ++row) {
      cell.clear();
      append_shown_cell(cell, table, column, row, unit);
      width = std::max(width, shown_width(cell));
    }
    widths.push_back(std::min(width, kWidest));
  }
  return widths;
}

bool write_table(const Table& table, Format format, TimeUnit unit, const std::function<bool(std::string_view)>& write) {
  TextInParts parts(write);
  switch (format) {
    case Format::kColumn:
      write_column(table, unit, parts);
      break;
    case Format::kTable:
      write_box(table, unit, parts);
      break;
    case Format::kCsv:
      write_csv(table, unit, parts);
      break;
    case Format::kTsv:
      write_tsv(table, unit, parts);
      break;
    case Format::kJson:
      write_json(table, unit, parts);
      break;
  }
  return parts.pass_on();
}

std::string format_table(const Table& table, Format format, TimeUnit unit) {
  std::string text;
  write_table(table, format, unit, [&](std::string_view part) {
    text += part;
    return true;
  });
  return text;
}

}  // namespace lanescope::stats
