#include "model/analysis/families.h"

#include <algorithm>
#include <functional>

#include "model/events/name_family.h"

namespace lanescope::analysis {

FamilyId Families::of_name(NameId name) {
  FamilyId& family = of_name_[name];
  if (family != kNone) return family;
  std::string text = name_family(trace_->name(name));
  if (text.empty()) text = "(unnamed)";
  if (2 * texts_.size() >= slots_.size()) grow();
  const std::uint64_t hash = std::hash<std::string>()(text);
  std::size_t slot = hash & (slots_.size() - 1);  // the number of slots is a power of two
  for (; slots_[slot] != kNone; slot = (slot + 1) & (slots_.size() - 1))
    if (hashes_[slots_[slot]] == hash && texts_[slots_[slot]] == text) return family = slots_[slot];
  family = slots_[slot] = static_cast<FamilyId>(texts_.size());
  texts_.push_back(std::move(text));
  hashes_.push_back(hash);
  return family;
}

void Families::grow() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), kNone);
  for (FamilyId family = 1; family < texts_.size(); ++family) {
    std::size_t slot = hashes_[family] & (slots_.size() - 1);
    while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = family;
  }
}

}  // namespace lanescope::analysis
