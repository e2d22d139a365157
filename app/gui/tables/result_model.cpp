#include "tables/result_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "model/trace/text/percent.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

using stats::Column;
using stats::Table;
using stats::Unit;

bool is_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](unsigned char c) { return std::tolower(c); }, [](unsigned char c) { return std::tolower(c); });
}

bool ends_with_word(std::string_view title, std::string_view word) {
  if (title.size() < word.size() || !is_same(title.substr(title.size() - word.size()), word)) return false;
  return title.size() == word.size() || title[title.size() - word.size() - 1] == ' ';
}

// Numbers, also those in texts, are right-aligned and shown whole.
Qt::Alignment alignment(const Column& column) { return column.has_texts() && column.unit != Unit::kNumber ? Qt::AlignLeft : Qt::AlignRight; }

QString as_text(const std::string& text) { return QString::fromStdString(text); }

QString number_text(const Column& column, std::int64_t value) {
  switch (column.unit) {
    case Unit::kNanoseconds:
      return as_text(is_point_in_time(column) ? timeline::format_time(value) : timeline::format_duration(value));
    case Unit::kBytes:
      return as_text(timeline::format_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value))));
    case Unit::kBytesPerSecond:
      return as_text(timeline::format_throughput(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)), 1'000'000'000));
    case Unit::kPercent:
      return as_text(format_percent(static_cast<double>(value), 0));
    case Unit::kIdentifier:
      return QString::number(value);
    case Unit::kNumber:
    case Unit::kNone:
    case Unit::kWords:
      return value < 0 ? QString::number(value) : as_text(timeline::format_count(static_cast<std::uint64_t>(value)));
  }
  return {};
}

QString real_text(const Column& column, double value) {
  if (column.unit == Unit::kPercent) return as_text(timeline::format_share(value / 100));
  if (column.unit == Unit::kNumber) return QString::number(value, 'g', 9);
  if (column.unit == Unit::kNone || column.unit == Unit::kIdentifier) return QString::number(value, 'f', 1);
  // Answers of SQL may be larger than any time: no integer holds them.
  if (constexpr double kLargest = 9.2e18; std::abs(value) > kLargest)
    return column.unit == Unit::kNanoseconds ? QString::number(value / 1e9, 'g', 9) + QStringLiteral(" s") : QString::number(value, 'g', 9);
  return number_text(column, std::llround(value));
}

QString cell_text(const Table& table, const Column& column, TableRow row) {
  if (column.has_texts()) {
    const std::string_view text = table.text(column.text(row));
    return column.has_words() ? shown_text(text) : isolated(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())));
  }
  if (column.has_reals()) return std::isfinite(column.real(row)) ? real_text(column, column.real(row)) : QString();
  return column.integer(row) == stats::kNoInteger ? QString() : number_text(column, column.integer(row));
}

bool is_missing(std::int64_t value) { return value == stats::kNoInteger; }
bool is_missing(double value) { return std::isnan(value); }

template <typename Number>
void sort_by_number(Number number, Qt::SortOrder direction, std::vector<TableRow>& order) {
  std::stable_sort(order.begin(), order.end(), [&](TableRow left, TableRow right) {
    const auto a = number(left), b = number(right);
    if (is_missing(a) || is_missing(b)) return !is_missing(a) && is_missing(b);
    return direction == Qt::AscendingOrder ? a < b : b < a;
  });
}

void sort_by_text(const Table& table, const Column& column, Qt::SortOrder direction, std::vector<TableRow>& order) {
  const auto smaller = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) < std::tolower(static_cast<unsigned char>(b)); };
  std::stable_sort(order.begin(), order.end(), [&](TableRow left, TableRow right) {
    const std::string_view a = table.text(column.text(left)), b = table.text(column.text(right));
    if (a.empty() || b.empty()) return !a.empty() && b.empty();
    return direction == Qt::AscendingOrder ? std::ranges::lexicographical_compare(a, b, smaller) : std::ranges::lexicographical_compare(b, a, smaller);
  });
}

std::optional<std::int64_t> time_value(const Table& table, const std::string& title, TableRow row) {
  for (const Column& column : table.columns()) {
    const bool is_time = column.unit == Unit::kNanoseconds && !column.has_texts() && !column.has_reals();
    if (is_time && is_same(column.title, title) && !is_missing(column.integer(row))) return column.integer(row);
  }
  return std::nullopt;
}

}  // namespace

bool is_point_in_time(const Column& column) {
  return column.unit == Unit::kNanoseconds && (ends_with_word(column.title, "Start") || ends_with_word(column.title, "End"));
}

std::uint64_t identity_of_row(const Table& table, TableRow row) {
  std::uint64_t identity = 0;
  const auto add = [&identity](std::size_t part) { identity = (identity ^ part) * 0x9e3779b97f4a7c15 + (identity >> 29); };  // mixes all bits
  for (const Column& column : table.columns()) {
    if (column.has_texts())
      add(std::hash<std::string_view>()(table.text(column.text(row))));
    else if (!column.has_reals() && (column.unit == Unit::kIdentifier || (column.unit == Unit::kNanoseconds && ends_with_word(column.title, "Start"))))
      add(std::hash<std::int64_t>()(column.integer(row)));
  }
  return identity;
}

std::optional<TimeRange> time_of_row(const Table& table, TableRow row) {
  for (const Column& column : table.columns()) {
    if (column.unit != Unit::kNanoseconds || !ends_with_word(column.title, "Start")) continue;
    const std::optional<std::int64_t> start = time_value(table, column.title, row);
    if (!start || !is_near(*start)) continue;
    const std::string word = column.title.substr(0, column.title.size() - std::string_view("Start").size());
    if (const auto end = time_value(table, word + "End", row); end && is_near(*end) && *end > *start) return TimeRange{*start, *end};
    for (const std::string& title : {word + "Duration", word + "Dur", word.substr(0, word.find(' '))})
      if (const auto duration = time_value(table, title, row); duration && is_near(*duration) && *duration > 0) return TimeRange{*start, *start + *duration};
    if (const auto duration = time_value(table, "Duration", row); duration && is_near(*duration) && *duration > 0) return TimeRange{*start, *start + *duration};
    return TimeRange{*start, *start + 1};
  }
  return std::nullopt;
}

ResultModel::ResultModel(QObject* parent) : QAbstractTableModel(parent) {}

void ResultModel::setTable(std::shared_ptr<const Table> table, std::vector<TableRow> leaders) {
  beginResetModel();
  table_ = std::move(table);
  leaders_ = std::move(leaders);
  order_.resize(table_ ? table_->row_count() : 0);
  std::iota(order_.begin(), order_.end(), TableRow{0});
  endResetModel();
}

int ResultModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(order_.size()); }
int ResultModel::columnCount(const QModelIndex& parent) const { return parent.isValid() || !table_ ? 0 : static_cast<int>(table_->columns().size()); }

QVariant ResultModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Column& shown = column(index.column());
  if (role == Qt::TextAlignmentRole) return QVariant(alignment(shown) | Qt::AlignVCenter);
  if (role == Qt::DisplayRole || (role == Qt::ToolTipRole && shown.has_texts())) return cell_text(*table_, shown, tableRow(index.row()));
  return {};
}

QVariant ResultModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || !table_) return {};
  const Column& shown = column(section);
  if (role == Qt::TextAlignmentRole) return QVariant(alignment(shown) | Qt::AlignVCenter);
  if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return shown_text(shown.title);
  if (role == Qt::InitialSortOrderRole) return shown.has_texts() || is_point_in_time(shown) ? Qt::AscendingOrder : Qt::DescendingOrder;
  return {};
}

void ResultModel::sort(int section, Qt::SortOrder order) {
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::vector<TableRow> rows;
  for (const QModelIndex& index : before) rows.push_back(tableRow(index.row()));
  sortRows(section, order);
  const std::vector<int> place = linesOfRows();
  QModelIndexList after;
  for (qsizetype i = 0; i < before.size(); ++i) after += index(place[rows[static_cast<std::size_t>(i)]], before[i].column());
  changePersistentIndexList(before, after);
  emit layoutChanged({}, VerticalSortHint);
}

std::vector<int> ResultModel::linesOfRows() const {
  std::vector<int> lines(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) lines[order_[i]] = static_cast<int>(i);
  return lines;
}

void ResultModel::sortRows(int section, Qt::SortOrder order) {
  std::iota(order_.begin(), order_.end(), TableRow{0});
  if (!table_ || section < 0 || section >= columnCount()) return;
  const Column& by = column(section);
  if (by.has_texts())
    sort_by_text(*table_, by, order, order_);
  else if (by.has_reals())
    sort_by_number([&by](TableRow row) { return by.real(row); }, order, order_);
  else
    sort_by_number([&by](TableRow row) { return by.integer(row); }, order, order_);
  if (leaders_.empty()) return;
  std::vector<TableRow> led;
  for (const TableRow leader : order_)
    for (TableRow row = leader; leaders_[leader] == leader && row < leaders_.size() && leaders_[row] == leader; ++row) led.push_back(row);
  order_ = std::move(led);
}

}  // namespace lanescope::ui
