#include "model/kernels/source_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "code_lines.h"
#include "model/trace/kernel_records.h"
#include "model/trace/last_path_part.h"

namespace lanescope::kernels {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargest = 16u << 20;  // bytes
constexpr std::size_t kMostParts = 64;          // of a recorded path that are looked for below a folder

std::vector<std::string> lines_in(std::istream& text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(std::move(line));
  return lines;
}

std::optional<std::vector<std::string>> read_lines(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) > kLargest) return std::nullopt;
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return lines_in(file);
}

std::string_view without_space_around(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

SourceFiles::SourceFiles(const Trace& trace, std::vector<fs::path> folders) : trace_(trace), folders_(std::move(folders)) {
  const KernelRecords& records = trace.kernel_records();
  std::set<std::pair<GpuFunctionId, std::uint32_t>> places;
  for (const auto& window : records.windows)
    for (const PcSample& sample : window->samples) places.emplace(sample.function, sample.pc);
  for (const auto& counts : records.counted)
    for (const InstructionCounts::Row& row : counts->rows) places.emplace(row.function, row.pc);
  CodeLines code(trace);
  for (const auto& [function, pc] : places) {
    const std::string_view file = code.file(function, pc);
    if (file.empty()) continue;
    std::vector<std::string>& paths = paths_[std::string(last_path_part(file))];
    if (std::find(paths.begin(), paths.end(), file) == paths.end()) paths.emplace_back(file);
  }
}

std::optional<SourceFiles::Lines> SourceFiles::find(const std::string& recorded) const {
  if (const SourceText* const kept = trace_.kernel_records().find_source(recorded)) {
    std::istringstream text(kept->text);
    return lines_in(text);
  }
  const fs::path path(recorded);
  if (path.is_absolute())
    if (auto lines = read_lines(path)) return lines;
  std::vector<fs::path> parts;
  for (const fs::path& part : path.relative_path())
    if (!part.empty() && part != ".") parts.push_back(part);
  for (const fs::path& folder : folders_)
    for (std::size_t first = parts.size() > kMostParts ? parts.size() - kMostParts : 0; first < parts.size(); ++first) {
      if (std::find(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(), "..") != parts.end()) continue;
      fs::path below = folder;
      for (std::size_t i = first; i < parts.size(); ++i) below /= parts[i];
      if (auto lines = read_lines(below)) return lines;
    }
  return std::nullopt;
}

const SourceFiles::Lines* SourceFiles::lines_of(const std::string& name) {
  const auto [known, is_new] = texts_.try_emplace(name);
  if (is_new)
    if (const auto paths = paths_.find(name); paths != paths_.end())
      for (const std::string& path : paths->second)
        if ((known->second = find(path))) break;
  return known->second ? &*known->second : nullptr;
}

std::string_view SourceFiles::line(std::string_view place) {
  place = place.substr(0, place.find(" < "));
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return {};
  std::size_t number = 0;
  const std::string_view digits = place.substr(colon + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const Lines* const lines = lines_of(std::string(place.substr(0, colon)));
  return lines == nullptr || number == 0 || number > lines->size() ? std::string_view() : without_space_around((*lines)[number - 1]);
}

std::vector<std::string> SourceFiles::missing() const {
  std::vector<std::string> missing;
  for (const auto& [name, text] : texts_)
    if (const auto paths = paths_.find(name); !text && paths != paths_.end()) missing.push_back(paths->second.front());
  return missing;
}

std::vector<std::string> SourceFiles::recorded_paths() const {
  std::vector<std::string> all;
  for (const auto& [name, paths] : paths_) all.insert(all.end(), paths.begin(), paths.end());
  return all;
}

}  // namespace lanescope::kernels
