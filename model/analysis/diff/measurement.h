// The data of one trace for each compared item: how often, how long, and in which samples.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/analysis/diff/trace_diff.h"
#include "model/analysis/families.h"
#include "samples.h"

namespace lanescope::analysis {

struct Measured {
  std::uint64_t count = 0;
  Nanoseconds total = 0;
  TimeBySample samples;                            // ns, the mean of the ranks
  std::unique_ptr<std::set<std::string>> kernels;  // for matrix products: their kernels
};
// Ranges of one family in several NVTX domains are different things.
struct ItemKey {
  DiffKind kind = DiffKind::kDuration;
  std::string_view name;
  std::string_view domain = {};  // of ranges; empty for the default domain
  auto operator<=>(const ItemKey&) const = default;
};

// Items by key, each once. Ranges have the names of their families, whose texts are not copied: there may be millions.
struct Measurements {
  Measurements() = default;
  Measurements(Measurements&&) = default;  // not copyable
  Measurements& operator=(Measurements&&) = default;
  std::vector<std::pair<ItemKey, Measured>> items;
  std::deque<std::string> names;  // names of items other than ranges
};
// O(n log n). When asked to stop, it ends early. Requires: `families` are those of the trace; both outlive the result.
[[nodiscard]] Measurements measure(const Trace& trace, Families& families, const Samples& samples, const std::stop_token& stop = {});

}  // namespace lanescope::analysis
