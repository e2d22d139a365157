#include "model/events/pivot_column.h"

#include <algorithm>

namespace lanescope {
namespace {

struct PivotColumnNames {
  std::string_view title;
  std::string_view word;
};

constexpr std::array<PivotColumnNames, kPivotColumnCount> kPivotColumns = {{
    {"Name", "name"},
    {"Family", "family"},
    {"Kind", "kind"},
    {"Process", "process"},
    {"Thread", "thread"},
    {"Device", "device"},
    {"Context", "context"},
    {"Stream", "stream"},
    {"NVTX Range", "range"},
    {"Family of NVTX Ranges", "range-family"},
    {"Grid", "grid"},
    {"Block", "block"},
    {"Registers", "registers"},
    {"Shared Memory", "shared-memory"},
    {"Occupancy (%)", "occupancy"},
    {"Waves", "waves"},
    {"Memory", "memory"},
    {"Bytes", "bytes"},
    {"NVTX domain", "domain"},
    {"Run", "run"},
}};

}  // namespace

std::array<PivotColumn, kPivotColumnCount> all_pivot_columns() noexcept {
  std::array<PivotColumn, kPivotColumnCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<PivotColumn>(i);
  return all;
}

std::string_view pivot_column_title(PivotColumn column) noexcept { return kPivotColumns[static_cast<std::size_t>(column)].title; }
std::string_view pivot_column_word(PivotColumn column) noexcept { return kPivotColumns[static_cast<std::size_t>(column)].word; }

std::optional<PivotColumn> pivot_column_of(std::string_view word) noexcept {
  const auto found = std::find_if(kPivotColumns.begin(), kPivotColumns.end(), [&](const PivotColumnNames& each) { return each.word == word; });
  return found == kPivotColumns.end() ? std::nullopt : std::optional(static_cast<PivotColumn>(found - kPivotColumns.begin()));
}

}  // namespace lanescope
