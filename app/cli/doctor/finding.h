// What an examination of a machine says of each of its parts.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace lanescope::cli {

enum class Verdict {
  kWorks,
  kLimited,  // something is not recorded, or only of some
  kFails,    // what most recordings need
};

struct Finding {
  Verdict verdict = Verdict::kWorks;
  std::string key;                    // for scripts: stays the same
  std::string subject;                // of 16 letters at most
  std::string text;                   // one or more lines
  std::vector<std::string> remedies;  // what to run, or to do; empty where nothing has to be
};

void print(std::ostream& to, const Finding& finding);
[[nodiscard]] nlohmann::json as_json(const Finding& finding);

}  // namespace lanescope::cli
