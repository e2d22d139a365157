// Regular expressions (ECMAScript) for whole names of tables. Internal to model/export.
#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/result.h"

namespace lanescope::exporters {

class NamePatterns {
 public:
  // Fails with a usage error if a pattern is no valid expression.
  static Result<NamePatterns> of(const std::vector<std::string>& patterns);
  // True if a pattern matches, and if there are no patterns.
  [[nodiscard]] bool match(std::string_view name) const;

 private:
  std::vector<std::regex> expressions_;
};

}  // namespace lanescope::exporters
