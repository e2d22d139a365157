// What an examination of a machine says about each of its parts.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace lanescope::cli {

enum class Verdict {
  kWorks,
  kLimited,  // something is not recorded, or not for all programs
  kFails,    // something that most recordings need is missing
};

struct Finding {
  Verdict verdict = Verdict::kWorks;
  std::string key;                    // for scripts: does not change between versions
  std::string subject;                // at most 16 letters
  std::string text;                   // one or more lines
  std::vector<std::string> remedies;  // what to run, or to do; empty if nothing has to be done
};

void print(std::ostream& to, const Finding& finding);
[[nodiscard]] nlohmann::json as_json(const Finding& finding);

}  // namespace lanescope::cli
