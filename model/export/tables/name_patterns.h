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
  // Fails, as a wrong use, where one is no expression.
  static Result<NamePatterns> of(const std::vector<std::string>& patterns);
  // Also where there is no pattern.
  [[nodiscard]] bool match(std::string_view name) const;

 private:
  std::vector<std::regex> expressions_;
};

}  // namespace lanescope::exporters
