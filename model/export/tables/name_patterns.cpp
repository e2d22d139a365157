#include "name_patterns.h"

#include <algorithm>

namespace lanescope::exporters {

Result<NamePatterns> NamePatterns::of(const std::vector<std::string>& patterns) {
  NamePatterns made;
  for (const std::string& pattern : patterns) {
    try {
      made.expressions_.emplace_back(pattern);
    } catch (const std::regex_error&) {
      return Error{"The table pattern " + pattern + " is not a regular expression.", ErrorKind::kUsage};
    }
  }
  return made;
}

bool NamePatterns::match(std::string_view name) const {
  return expressions_.empty() ||
         std::any_of(expressions_.begin(), expressions_.end(), [&](const std::regex& each) { return std::regex_match(name.begin(), name.end(), each); });
}

}  // namespace lanescope::exporters
