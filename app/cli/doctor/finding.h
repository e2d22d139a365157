// What an examination of a machine says about each of its parts.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/text/message.h"

namespace lanescope::cli {

enum class Verdict {
  kWorks,
  kLimited,  // something is not recorded, or not for all programs
  kFails,    // something that most recordings need is missing
};

struct Finding {
  Verdict verdict = Verdict::kWorks;
  std::string key;                // for scripts: does not change between versions
  Message subject;                // at most 16 letters in English
  Message text;                   // one or more lines
  std::vector<Message> remedies;  // what to run, or to do; empty if nothing has to be done
};

void print(std::ostream& to, const Finding& finding);
// `subject`, `text` and `remedies` are in English. In `said`, each is once more as a message that a reader can show in its own language: a text that is the
// same in all of them, or an object with the English template, `text`, and `values`, which are texts or such objects.
[[nodiscard]] nlohmann::json as_json(const Finding& finding);

}  // namespace lanescope::cli
