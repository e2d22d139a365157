#include "model/kernels/code/source_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "code_lines.h"
#include "model/file/last_path_part.h"
#include "model/trace/kernel_records.h"

namespace lanescope::kernels {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargest = 16u << 20;  // bytes
constexpr std::size_t kMostParts = 64;          // of a recorded path that are searched below a folder

std::vector<std::string> lines_in(std::istream& text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(std::move(line));
  return lines;
}

struct ReadFile {
  std::vector<std::string> lines;
  std::uint64_t bytes;
};
std::optional<ReadFile> read_file(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  const std::uintmax_t bytes = fs::file_size(path, ignored);
  std::ifstream file(path);
  if (bytes > kLargest || !file) return std::nullopt;
  return ReadFile{lines_in(file), bytes};
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
  // Functions of one code file follow each other, so that it is read once.
  std::vector<std::pair<GpuFunctionId, std::uint32_t>> order(places.begin(), places.end());
  std::stable_sort(order.begin(), order.end(), [&code](const auto& a, const auto& b) { return code.code_of(a.first) < code.code_of(b.first); });
  for (const auto& [function, pc] : order) {
    const SourcePlace place = code.place(function, pc);
    if (place.file.empty()) continue;
    std::vector<Path>& paths = paths_[std::string(last_path_part(place.file))];
    if (std::none_of(paths.begin(), paths.end(), [&place](const Path& path) { return path.recorded == place.file; }))
      paths.push_back({std::string(place.file), place.file_bytes});
  }
}

std::optional<SourceFiles::Text> SourceFiles::find(const Path& recorded) const {
  if (const SourceText* const kept = trace_.kernel_records().find_source(recorded.recorded)) {
    std::istringstream text(kept->text);
    return Text{lines_in(text), kept->text.size(), recorded};
  }
  const fs::path path(recorded.recorded);
  if (path.is_absolute())
    if (auto file = read_file(path)) return Text{std::move(file->lines), file->bytes, recorded};
  std::vector<fs::path> parts;
  for (const fs::path& part : path.relative_path())
    if (!part.empty() && part != ".") parts.push_back(part);
  for (const fs::path& folder : folders_)
    for (std::size_t first = parts.size() > kMostParts ? parts.size() - kMostParts : 0; first < parts.size(); ++first) {
      if (std::find(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(), "..") != parts.end()) continue;
      fs::path below = folder;
      for (std::size_t i = first; i < parts.size(); ++i) below /= parts[i];
      if (auto file = read_file(below)) return Text{std::move(file->lines), file->bytes, recorded};
    }
  return std::nullopt;
}

const SourceFiles::Text* SourceFiles::text_of(const std::string& name) {
  const auto [known, is_new] = texts_.try_emplace(name);
  if (is_new)
    if (const auto paths = paths_.find(name); paths != paths_.end())
      for (const Path& path : paths->second)
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
  const Text* const text = text_of(std::string(place.substr(0, colon)));
  return text == nullptr || number == 0 || number > text->lines.size() ? std::string_view() : without_space_around(text->lines[number - 1]);
}

std::vector<std::string> SourceFiles::changed() const {
  std::vector<std::string> changed;
  for (const auto& [name, text] : texts_)
    if (text && text->of.bytes != 0 && text->of.bytes != text->bytes) changed.push_back(text->of.recorded);
  return changed;
}

std::vector<std::string> SourceFiles::missing() const {
  std::vector<std::string> missing;
  for (const auto& [name, text] : texts_)
    if (const auto paths = paths_.find(name); !text && paths != paths_.end()) missing.push_back(paths->second.front().recorded);
  return missing;
}

std::vector<std::string> SourceFiles::recorded_paths() const {
  std::vector<std::string> all;
  for (const auto& [name, paths] : paths_)
    for (const Path& path : paths) all.push_back(path.recorded);
  return all;
}

}  // namespace lanescope::kernels
