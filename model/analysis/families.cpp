#include "model/analysis/families.h"

#include "model/events/name_family.h"

namespace lanescope::analysis {

FamilyId Families::of_name(NameId name) {
  FamilyId& family = of_name_[name];
  if (family != kNone) return family;
  std::string text = name_family(trace_->name(name));
  if (text.empty()) text = "(unnamed)";
  const auto [entry, is_new] = known_.try_emplace(text, static_cast<FamilyId>(texts_.size()));
  if (is_new) texts_.push_back(std::move(text));
  return family = entry->second;
}

}  // namespace lanescope::analysis
