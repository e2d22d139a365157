#include "records/marked_modules.h"

#include <string_view>

namespace lanescope::session {

void MarkedModules::note(const proto::EventChunk& chunk) {
  if (without_ranges_.empty() || !chunk.has_nvtx_ranges()) return;
  for (const std::string_view name : chunk.strings())
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1))
      if (const auto module = without_ranges_.find(name.substr(0, dot)); module != without_ranges_.end()) without_ranges_.erase(module);
}

std::optional<std::string> MarkedModules::take_sentence() {
  constexpr std::size_t kMostNamed = 10;
  if (without_ranges_.empty()) return std::nullopt;
  std::string names;
  std::size_t named = 0;
  for (const std::string& module : without_ranges_) {
    if (named == kMostNamed) break;
    names += (named++ == 0 ? "" : ", ") + module;
  }
  if (without_ranges_.size() > named) names += " and " + std::to_string(without_ranges_.size() - named) + " more";
  const bool is_one = without_ranges_.size() == 1;
  without_ranges_.clear();
  return is_one ? "No range was recorded of the Python module " + names + ": no program imported it, or none called a function of it that the file names."
                : "No range was recorded of the Python modules " + names + ": no program imported them, or none called a function of them that the file names.";
}

}  // namespace lanescope::session
