#include "label_groups.h"

#include <bit>
#include <cstring>
#include <tuple>

#include "model/trace/saturated.h"
#include "model/trace/workers/parallel.h"

namespace lanescope::stats {
namespace {

constexpr std::size_t kKeyBytes = sizeof(std::uint64_t);

// The first bytes of a text from `begin` on, as a number, such that numbers compare as the texts do; padded with zeros.
std::uint64_t key_of(std::string_view text, std::size_t begin) noexcept {
  std::uint64_t key = 0;
  if (begin < text.size()) std::memcpy(&key, text.data() + begin, std::min(kKeyBytes, text.size() - begin));
  if constexpr (std::endian::native == std::endian::little) key = __builtin_bswap64(key);
  return key;
}

constexpr std::size_t kRowsAtOnce = 65'536;  // rows that are summed up on all cores
constexpr std::size_t kParts = 1'024;        // of these rows: the first ones, which have the most samples, are in different parts

}  // namespace

// A group, and a key that tells it apart from others whose labels are the same up to some byte.
struct LabelGroups::Place {
  std::uint64_t key = 0;
  std::uint32_t group = 0;
  std::uint32_t left = 0;  // bytes of the key that are text
  bool operator<(const Place& other) const noexcept {
    return key != other.key ? key < other.key : left != other.left ? left < other.left : group < other.group;
  }
};

// The values that rows are sorted by, and no more: with millions of rows, the rest of a summary would double the memory.
struct LabelGroups::Sum {
  std::int64_t total = 0, count = 0;
  std::uint32_t group = 0;
};

void LabelGroups::add(std::span<const std::string_view> labels, Samples samples) {
  labels_of_group_ = labels.size();
  for (std::size_t i = 0; i < labels.size(); ++i) add_label(i, labels[i]);
  samples_.push_back(std::move(samples));
}

void LabelGroups::add(std::span<const std::string_view> labels, std::string_view last, Samples samples) {
  labels_of_group_ = labels.size() + 1;
  for (std::size_t i = 0; i < labels.size(); ++i) add_label(i, labels[i]);
  add_label(labels.size(), last);
  samples_.push_back(std::move(samples));
}

// Millions of groups may share a label, such as their style: a label that equals the previous group's is stored once.
void LabelGroups::add_label(std::size_t number, std::string_view text) {
  const std::size_t before = samples_.size();
  labels_.push_back(before > 0 && label(before - 1, number) == text ? labels_[(before - 1) * labels_of_group_ + number] : texts_.add(text));
}

bool LabelGroups::same(std::size_t a, std::size_t b) const {
  for (std::size_t i = 0; i < labels_of_group_; ++i)
    if (label(a, i) != label(b, i)) return false;
  return true;
}

// All groups, sorted by their labels; groups with the same labels are in the order in which they were added. The sort compares eight bytes at a time,
// after the bytes that all have in common, because names with counters differ in their last bytes.
std::vector<LabelGroups::Place> LabelGroups::in_order() const {
  std::vector<Place> places(samples_.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i].group = static_cast<std::uint32_t>(i);
  // Consecutive places whose labels are the same up to one label and a byte of it.
  struct Part {
    std::size_t first, end;
    std::size_t label, byte;
  };
  std::vector<Part> parts{{0, places.size(), 0, 0}};
  while (!parts.empty()) {
    const Part part = parts.back();
    parts.pop_back();
    if (part.end - part.first < 2) continue;
    const std::span<Place> some(places.data() + part.first, part.end - part.first);
    if (part.label == labels_of_group_) {
      std::sort(some.begin(), some.end(), [](const Place& a, const Place& b) { return a.group < b.group; });
      continue;
    }
    const std::string_view first = label(some.front().group, part.label);
    std::size_t common = first.size();
    for (const Place& place : some) {
      const std::string_view text = label(place.group, part.label);
      if (text.size() >= common && std::memcmp(first.data(), text.data(), common) == 0) continue;
      common = std::min(common, text.size());
      common = static_cast<std::size_t>(std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(common), text.begin()).first - first.begin());
    }
    for (Place& place : some) {
      const std::string_view text = label(place.group, part.label);
      place.key = key_of(text, common);
      place.left = static_cast<std::uint32_t>(std::min(kKeyBytes, text.size() - common));
    }
    std::sort(some.begin(), some.end());
    for (std::size_t begin = 0; begin < some.size();) {
      std::size_t end = begin + 1;
      while (end < some.size() && some[end].key == some[begin].key && some[end].left == some[begin].left) ++end;
      const bool ended = some[begin].left < kKeyBytes;
      parts.push_back({part.first + begin, part.first + end, part.label + (ended ? 1 : 0), ended ? 0 : common + kKeyBytes});
      begin = end;
    }
  }
  return places;
}

// For each row, by labels. The first group with these labels gets the samples of all of them.
std::vector<LabelGroups::Sum> LabelGroups::sums() {
  std::vector<Place> places = in_order();
  std::size_t rows = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0 && same(places[rows - 1].group, places[i].group))
      samples_[places[rows - 1].group].append(std::move(samples_[places[i].group]));
    else
      places[rows++] = places[i];
  }
  std::vector<Sum> sums;
  sums.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    Sum sum{.group = places[row].group};
    const auto [plain, counted] = samples_[sum.group].all();
    for (const std::int64_t sample : plain) {
      sum.total = saturated_sum(sum.total, sample);
      ++sum.count;
    }
    for (const auto& [sample, count] : counted) {
      sum.total = saturated_sum(sum.total, saturated_product(sample, static_cast<std::int64_t>(count)));
      sum.count += static_cast<std::int64_t>(count);
    }
    if (sum.count > 0) sums.push_back(sum);
  }
  return sums;
}

Table LabelGroups::time_summary(std::string_view count_title, const std::vector<std::string>& label_titles, const Percentiles& percentiles) {
  std::vector<Column> columns = {reals("Time", Unit::kPercent), integers("Total Time", Unit::kNanoseconds), integers(std::string(count_title))};
  append_summary_columns(columns, "", Unit::kNanoseconds, percentiles);
  for (const std::string& title : label_titles) columns.push_back(texts(title));

  std::vector<Sum> rows = sums();
  double everything = 0;
  for (const Sum& row : rows) everything += static_cast<double>(row.total);
  std::stable_sort(rows.begin(), rows.end(), [](const Sum& a, const Sum& b) { return std::tie(a.total, a.count) > std::tie(b.total, b.count); });
  Table table(std::move(columns), std::move(texts_));
  table.reserve(rows.size());
  std::vector<Cell> cells;
  std::vector<Summary> summaries;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row % kRowsAtOnce == 0) {
      summaries.resize(std::min(kRowsAtOnce, rows.size() - row));
      parallel_for(std::min(kParts, summaries.size()), [&](std::size_t part) {
        for (std::size_t i = part; i < summaries.size(); i += kParts) summaries[i] = summarize(samples_[rows[row + i].group], percentiles);
      });
    }
    const std::uint32_t group = rows[row].group;
    const Summary& s = summaries[row % kRowsAtOnce];
    cells.clear();
    cells.insert(cells.end(), {everything > 0 ? 100.0 * static_cast<double>(s.total) / everything : 0.0, s.total, s.count});
    append_summary_cells(cells, s, percentiles);
    for (std::size_t i = 0; i < labels_of_group_; ++i) cells.emplace_back(labels_[group * labels_of_group_ + i]);
    samples_[group] = {};  // freed here, because there may be millions
    table.add_cells(cells);
  }
  *this = {};
  return table;
}

}  // namespace lanescope::stats
