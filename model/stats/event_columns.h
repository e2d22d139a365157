// Columns over events, each filled by itself, so that all cores work and what rows have in common is kept once. Internal to reports.
#pragma once

#include <functional>
#include <vector>

#include "model/stats/table.h"
#include "parallel.h"

namespace lanescope::stats {

// value(row) for each row of a column.
template <typename Values, typename Row, typename Value>
[[nodiscard]] Values column_of(const std::vector<Row>& rows, Value value) {
  Values values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(value(row));
  return values;
}

// Where the shared value of each row stands: place(row).
template <typename Row, typename Place>
[[nodiscard]] Places places_of(const std::vector<Row>& rows, Place place) {
  return std::make_shared<const std::vector<std::uint32_t>>(column_of<std::vector<std::uint32_t>>(rows, place));
}

// value(thing) for each thing that places may name.
template <typename Things, typename Value>
[[nodiscard]] Shared<Integers> shared_integers(Places places, const Things& things, Value value) {
  Shared<Integers> column{std::move(places), {}};
  for (const auto& thing : things) column.values.push_back(static_cast<std::int64_t>(value(thing)));
  return column;
}
template <typename Things, typename Value>
[[nodiscard]] Shared<Texts> shared_texts(Places places, const Things& things, Value value) {
  Shared<Texts> column{std::move(places), {}};
  for (const auto& thing : things) column.values.push_back(value(thing));
  return column;
}

// Runs the tasks on all cores.
inline void run_all(const std::vector<std::function<void()>>& tasks) {
  parallel_for(tasks.size(), [&](std::size_t i) { tasks[i](); });
}

}  // namespace lanescope::stats
