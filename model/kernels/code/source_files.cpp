#include "model/kernels/code/source_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <numeric>
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
    std::vector<Path>& paths = files_[std::string(last_path_part(place.file))].paths;
    if (std::none_of(paths.begin(), paths.end(), [&place](const Path& path) { return path.recorded == place.file; }))
      paths.push_back({std::string(place.file), place.file_bytes});
  }
  if (std::none_of(files_.begin(), files_.end(), [](const auto& named) { return named.second.paths.size() > 1; })) return;
  for (const auto& [function, pc] : order)
    for (const std::uint32_t at : {pc, code.store_before(function, pc)}) note_places(code, function, at);  // sums name the store for a wait behind it
}

void SourceFiles::note_places(CodeLines& code, GpuFunctionId function, std::uint32_t pc) {
  const SourcePlace place = code.place(function, pc);
  const auto named = files_.find(last_path_part(place.file));
  if (named == files_.end() || named->second.paths.size() < 2) return;
  const std::vector<Path>& paths = named->second.paths;
  const auto path = std::find_if(paths.begin(), paths.end(), [&place](const Path& one) { return one.recorded == place.file; });
  if (path == paths.end()) return;
  std::vector<std::size_t>& numbers = named->second.of_places[code.text(function, pc)];
  const auto number = static_cast<std::size_t>(path - paths.begin());
  if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
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
  for (const fs::path& part : path.lexically_normal().relative_path())  // "outer/../inner/a.cu" is looked for below "inner"
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

std::string_view SourceFiles::line(std::string_view place) {
  const std::string_view innermost = place.substr(0, place.find(" < "));
  const std::size_t colon = innermost.rfind(':');
  if (colon == std::string_view::npos) return {};
  std::size_t number = 0;
  const std::string_view digits = innermost.substr(colon + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const std::string_view name = innermost.substr(0, colon);
  const auto named = files_.find(last_path_part(name));
  if (named == files_.end() || number == 0) return {};
  Named& files = named->second;
  std::vector<std::size_t> candidates(files.paths.size());
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  if (const auto known = files.of_places.find(place); known != files.of_places.end())
    candidates = known->second;
  else if (name.find('/') != std::string_view::npos)
    std::erase_if(candidates, [&](std::size_t candidate) {
      const std::string path = fs::path(files.paths[candidate].recorded).lexically_normal().string();
      return path != name && !path.ends_with("/" + std::string(name));
    });
  std::optional<std::string_view> found;
  files.texts.resize(files.paths.size());
  for (const std::size_t candidate : candidates) {
    std::optional<std::optional<Text>>& text = files.texts[candidate];
    if (!text) text = find(files.paths[candidate]);
    if (!*text || number > (*text)->lines.size()) continue;
    const std::string_view here = without_space_around((*text)->lines[number - 1]);
    if (found && *found != here) return {};
    found = here;
  }
  return found.value_or(std::string_view());
}

std::vector<std::string> SourceFiles::changed() const {
  std::vector<std::string> changed;
  for (const auto& [name, files] : files_)
    for (const auto& text : files.texts)
      if (text && *text && (*text)->of.bytes != 0 && (*text)->of.bytes != (*text)->bytes) changed.push_back((*text)->of.recorded);
  return changed;
}

// A file may have several paths, as seen from several folders: it is not missing if it was found by one of them.
std::vector<std::string> SourceFiles::missing() const {
  std::vector<std::string> missing;
  for (const auto& [name, files] : files_) {
    const auto is_found = [](const auto& text) { return text && *text; };
    if (std::any_of(files.texts.begin(), files.texts.end(), is_found)) continue;
    for (std::size_t i = 0; i < files.texts.size(); ++i)
      if (files.texts[i]) {
        missing.push_back(files.paths[i].recorded);
        break;
      }
  }
  return missing;
}

std::vector<std::string> SourceFiles::recorded_paths() const {
  std::vector<std::string> all;
  for (const auto& [name, files] : files_)
    for (const Path& path : files.paths) all.push_back(path.recorded);
  return all;
}

}  // namespace lanescope::kernels
