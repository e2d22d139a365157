// Families of NVTX ranges, by number: ranges whose names differ only in their counters (see name_family).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "model/trace/trace.h"

namespace lanescope::analysis {

using FamilyId = std::uint32_t;  // 0: no range

class Families {
 public:
  explicit Families(const Trace& trace) : trace_(&trace), of_name_(trace.name_count(), kNone), texts_{""}, hashes_{0} {}

  [[nodiscard]] FamilyId of_name(NameId name);  // O(1), after the first time
  [[nodiscard]] FamilyId of(EventRef range) { return range.valid() ? of_name(trace_->lane(range.lane).name(range.index)) : 0; }
  [[nodiscard]] const std::string& text(FamilyId family) const { return texts_[family]; }  // stays where it is
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

 private:
  const Trace* trace_;
  std::vector<FamilyId> of_name_;
  // Each text is kept once, because a trace may have millions. `slots_` is a hash table with open addressing.
  void grow();
  std::deque<std::string> texts_;
  std::vector<std::uint64_t> hashes_;  // of the texts
  std::vector<FamilyId> slots_;
};

}  // namespace lanescope::analysis
