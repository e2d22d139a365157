#include "model/kernels/code/cubin.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <unordered_map>

#include "line_table.h"

namespace lanescope::kernels {
namespace {

constexpr std::uint16_t kCudaMachine = 190;
constexpr std::uint8_t kFunctionSymbol = 2;
constexpr std::size_t kLongestChain = 64;
constexpr std::size_t kLongestName = 255;  // bytes, the limit of file systems

// The last parts of a path; all of it if it has no more.
std::string_view last_parts(std::string_view path, std::size_t parts) {
  std::size_t slash = path.size();
  for (; parts > 0; --parts) {
    slash = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1);
    if (slash == std::string_view::npos) return path;
  }
  return path.substr(slash + 1);
}

// The number of parts from their ends on in which two paths are equal.
std::size_t equal_parts(std::string_view a, std::string_view b) {
  const auto [at_a, at_b] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  const bool is_whole = (at_a == a.rend() || *at_a == '/') && (at_b == b.rend() || *at_b == '/');
  return static_cast<std::size_t>(std::count(a.rbegin(), at_a, '/')) + (is_whole && at_a != a.rbegin() ? 1 : 0);
}

// The last part of each path, or as many of its last parts as no other of these paths has. Two ways to write one path are one. O(bytes · log paths).
std::vector<std::string> names_of(const std::vector<std::string>& paths) {
  std::vector<std::string> normal;
  normal.reserve(paths.size());
  for (const std::string& path : paths) normal.push_back(std::filesystem::path(path).lexically_normal().string());
  std::vector<std::size_t> order(paths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&normal](std::size_t a, std::size_t b) {
    return std::lexicographical_compare(normal[a].rbegin(), normal[a].rend(), normal[b].rbegin(), normal[b].rend());
  });
  std::vector<std::size_t> shared(paths.size());  // parts that another path has at its end as well: one of the neighbours in this order has most
  for (std::size_t begin = 0, end = 0, before = paths.size(); begin < order.size(); before = order[begin], begin = end) {
    for (end = begin; end < order.size() && normal[order[end]] == normal[order[begin]];) ++end;
    std::size_t most = 0;
    if (before < paths.size()) most = equal_parts(normal[before], normal[order[begin]]);
    if (end < order.size()) most = std::max(most, equal_parts(normal[order[end]], normal[order[begin]]));
    for (std::size_t i = begin; i < end; ++i) shared[order[i]] = most;
  }
  std::vector<std::string> names;
  names.reserve(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) names.emplace_back(last_parts(normal[i], shared[i] + 1).substr(0, kLongestName));
  return names;
}

}  // namespace

struct Cubin::Content {
  std::string image;
  std::vector<ElfSection> sections;
  std::vector<CubinFunction> functions;
  std::unordered_map<std::string_view, std::size_t> by_name;  // indexes of functions; of equal names the first
  LineTable lines;
  std::vector<std::string> file_names;        // of lines.files
  std::vector<const LineSequence*> by_place;  // by section and first address
  std::vector<std::uint32_t> name_places;     // in .debug_str, for functions that were inlined, ascending
  std::vector<std::string_view> names;        // at these places
};

Cubin::Cubin(std::unique_ptr<Content> content) noexcept : content_(std::move(content)) {}
Cubin::Cubin(Cubin&&) noexcept = default;
Cubin& Cubin::operator=(Cubin&&) noexcept = default;
Cubin::~Cubin() = default;

Result<Cubin> Cubin::read(std::string image) {
  auto content = std::make_unique<Content>();
  content->image = std::move(image);
  auto sections = elf_sections(content->image, kCudaMachine);
  if (!sections) return Error{"The GPU code is not a cubin: it is not an ELF file for NVIDIA's GPUs."};
  content->sections = std::move(*sections);
  const std::vector<ElfSymbol> symbols = elf_symbols(content->sections);
  for (std::size_t index = 0; index < symbols.size(); ++index) {
    const ElfSymbol& symbol = symbols[index];
    if (symbol.type != kFunctionSymbol || symbol.section >= content->sections.size()) continue;
    content->functions.push_back({symbol.name, static_cast<std::uint32_t>(index), symbol.section, symbol.value, symbol.size, symbol.is_global});
  }
  // Names that overlap could take much longer to read than the size of the file.
  std::size_t name_bytes = 0;
  for (std::size_t i = 0; i < content->functions.size() && name_bytes <= content->image.size(); ++i) {
    name_bytes += content->functions[i].name.size();
    content->by_name.try_emplace(content->functions[i].name, i);
  }
  content->lines = read_line_table(content->sections, symbols);
  content->file_names = names_of(content->lines.files);
  for (const LineSequence& sequence : content->lines.sequences)
    for (const LineRow& row : sequence.rows)
      if (row.caller != 0 && (content->name_places.empty() || content->name_places.back() != row.function)) content->name_places.push_back(row.function);
  std::sort(content->name_places.begin(), content->name_places.end());
  content->name_places.erase(std::unique(content->name_places.begin(), content->name_places.end()), content->name_places.end());
  const ElfSection* const names = find_section(content->sections, ".debug_str");
  content->names = texts_at(names == nullptr ? std::string_view() : names->bytes, content->name_places);
  for (const LineSequence& sequence : content->lines.sequences) content->by_place.push_back(&sequence);
  std::stable_sort(content->by_place.begin(), content->by_place.end(), [](const LineSequence* a, const LineSequence* b) {
    return std::pair(a->section, a->rows.front().address) < std::pair(b->section, b->rows.front().address);
  });
  return Cubin(std::move(content));
}

const std::vector<CubinFunction>& Cubin::functions() const noexcept { return content_->functions; }

const CubinFunction* Cubin::function(std::uint32_t index) const noexcept {
  const auto found = std::lower_bound(content_->functions.begin(), content_->functions.end(), index,
                                      [](const CubinFunction& function, std::uint32_t wanted) { return function.index < wanted; });
  return found == content_->functions.end() || found->index != index ? nullptr : &*found;
}

const CubinFunction* Cubin::function(std::string_view mangled) const noexcept {
  const auto found = content_->by_name.find(mangled);
  return found == content_->by_name.end() ? nullptr : &content_->functions[found->second];
}

std::span<const std::byte> Cubin::code(const CubinFunction& function) const noexcept {
  const std::string_view section = content_->sections[function.section].bytes;
  if (function.offset >= section.size()) return {};
  const std::string_view code = section.substr(static_cast<std::size_t>(function.offset), static_cast<std::size_t>(function.size));
  return std::as_bytes(std::span(code.data(), code.size()));
}

bool Cubin::has_lines() const noexcept { return !content_->lines.sequences.empty(); }

std::vector<SourcePlace> Cubin::source(const CubinFunction& function, std::uint64_t pc) const {
  const std::uint64_t address = function.offset + pc;
  // The last sequence that begins at or before the address.
  const auto behind = std::upper_bound(content_->by_place.begin(), content_->by_place.end(), std::pair(function.section, address),
                                       [](const std::pair<std::uint32_t, std::uint64_t>& place, const LineSequence* sequence) {
                                         return place < std::pair(sequence->section, sequence->rows.front().address);
                                       });
  std::vector<SourcePlace> places;
  if (behind == content_->by_place.begin()) return places;
  const LineSequence& sequence = **(behind - 1);
  if (sequence.section != function.section || address >= sequence.end) return places;
  const auto next =
      std::upper_bound(sequence.rows.begin(), sequence.rows.end(), address, [](std::uint64_t wanted, const LineRow& row) { return wanted < row.address; });
  if (next == sequence.rows.begin()) return places;
  auto at = static_cast<std::size_t>(next - sequence.rows.begin()) - 1;
  while (places.size() < kLongestChain) {
    const LineRow& row = sequence.rows[at];
    SourcePlace& place = places.emplace_back();
    if (row.file < content_->lines.files.size()) {
      place.file = content_->lines.files[row.file];
      place.name = content_->file_names[row.file];
      place.file_bytes = content_->lines.file_bytes[row.file];
    }
    place.line = row.line;
    if (row.caller == 0) break;
    const auto name = std::lower_bound(content_->name_places.begin(), content_->name_places.end(), row.function);
    place.function = content_->names[static_cast<std::size_t>(name - content_->name_places.begin())];
    at = row.caller - 1;
  }
  return places;
}

}  // namespace lanescope::kernels
