#include "output/told.h"

#include <algorithm>
#include <utility>

#include "model/trace/segments/demanded_segments.h"

namespace lanescope::cli {

Told& Told::of_command() {
  static Told told;
  return told;
}

void Told::begin() { *this = {}; }

void Told::add(std::string sentence) { sentences_.push_back(std::move(sentence)); }

void Told::add_damage() noexcept { damage_ = true; }

std::vector<std::string> Told::left() {
  std::vector<std::string> problems = SegmentCache::of_process().take_problems();
  if (damage_) return {};
  std::erase_if(problems, [this](const std::string& problem) {
    return std::any_of(sentences_.begin(), sentences_.end(), [&](const std::string& sentence) { return sentence.find(problem) != std::string::npos; });
  });
  return problems;
}

}  // namespace lanescope::cli
