// Which Python modules of --python-functions-trace have had no range yet.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/session/python_functions.h"
#include "lanescope/trace.pb.h"

namespace lanescope::session {

class MarkedModules {
 public:
  MarkedModules() = default;
  explicit MarkedModules(const std::vector<std::string>& names) : without_ranges_(names.begin(), names.end()) {
    without_ranges_.erase(std::string(kProgramItself));  // has none, which is told when the program starts
  }

  // Notes the ranges in a chunk whose names no earlier chunk of its process had: those of a marked function are "module.function". One search for each dot of
  // a name, O(log(missing modules)); O(1) once none is missing.
  void note(const proto::EventChunk& chunk);

  // A sentence that names the modules without ranges, the first time that it is asked for; nothing if there are none.
  [[nodiscard]] std::optional<std::string> take_sentence();

 private:
  std::set<std::string, std::less<>> without_ranges_;
};

}  // namespace lanescope::session
