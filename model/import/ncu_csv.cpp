#include "model/import/ncu_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "chrome/text_source.h"

namespace lanescope {
namespace {

using kernels::KernelMetrics;
using kernels::Metric;
using kernels::ProfiledKernel;

// As Nsight Compute writes them, and as other programs write them after reading a table.
constexpr std::array<std::string_view, 2> kFirstColumns{"\"ID\",\"Process ID\",\"Process Name\"", "ID,Process ID,Process Name"};
constexpr std::string_view kMarkOfUtf8 = "\xef\xbb\xbf", kMarkOfUtf16 = "\xff\xfe";
constexpr std::size_t kLongestLine = 64u << 20;  // bytes
constexpr std::size_t kMostColumns = 65'536;     // thirty times the number in the largest set
constexpr std::size_t kMostValues = 32'000'000;  // of all kernels together: 256 MB

bool is_header(std::string_view line) {
  if (line.starts_with(kMarkOfUtf8)) line.remove_prefix(kMarkOfUtf8.size());
  return std::any_of(kFirstColumns.begin(), kFirstColumns.end(), [line](std::string_view columns) { return line.starts_with(columns); });
}

// True if the table's first line is in this beginning of a file.
bool has_header(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size(); begin = std::min(text.find('\n', begin), text.size() - 1) + 1)
    if (is_header(text.substr(begin))) return true;
  return false;
}

// The lines of a text, each at most kLongestLine long.
class Lines {
 public:
  explicit Lines(importers::TextSource& source) : source_(source), buffer_(1u << 16) {}
  // Reads a line without its end. Returns false after the last line, and if a line is too long.
  bool next(std::string& line) {
    line.clear();
    while (true) {
      if (begin_ == end_) {
        begin_ = 0;
        end_ = source_.read(buffer_);
        if (end_ == 0) return !line.empty();
      }
      const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
      const auto newline = rest.find('\n');
      line.append(rest.substr(0, newline));
      begin_ += newline == rest.npos ? rest.size() : newline + 1;
      if (line.size() > kLongestLine) return is_too_long_ = true, false;
      if (newline == rest.npos) continue;
      if (line.ends_with('\r')) line.pop_back();
      return true;
    }
  }
  [[nodiscard]] bool is_too_long() const noexcept { return is_too_long_; }

 private:
  importers::TextSource& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool is_too_long_ = false;
};

// Splits a line into cells, at most one more than can be read. Within quoted cells, quotes are doubled.
void split(std::string_view line, std::vector<std::string>& cells) {
  std::size_t count = 0;
  const auto cell = [&]() -> std::string& {
    if (count == cells.size()) cells.emplace_back();
    cells[count].clear();
    return cells[count++];
  };
  std::string* current = &cell();
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      *current += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      if (count > kMostColumns) break;
      current = &cell();
    } else {
      *current += c;
    }
  }
  cells.resize(count);
}

// "131,072", "0.516512"; NaN for other texts, such as "no data".
double number(std::string_view text) {
  std::array<char, 64> digits{};
  std::size_t count = 0;
  for (const char c : text) {
    if (c == ',') continue;
    if (count == digits.size()) return std::numeric_limits<double>::quiet_NaN();
    digits[count++] = c;
  }
  double value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + count, value);
  return count > 0 && failure == std::errc() && end == digits.data() + count ? value : std::numeric_limits<double>::quiet_NaN();
}

// "0,516512", "1.234,5": true for numbers of a language with a decimal comma; ours uses commas between thousands. "131,072" is valid in both.
bool has_decimal_comma(std::string_view text) {
  constexpr std::size_t kGroup = 3;  // digits between two of the commas that divide thousands
  if (text.find(',') == text.npos || text.find_first_not_of("-0123456789,.") != text.npos) return false;
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::string_view whole = text.substr(0, text.find('.'));
  std::size_t begin = 0;
  for (std::size_t comma = whole.find(','); comma != whole.npos; comma = whole.find(',', begin)) {
    const std::size_t digits = comma - begin;
    if (begin == 0 ? digits == 0 || digits > kGroup || whole[0] == '0' : digits != kGroup) return true;
    begin = comma + 1;
  }
  return begin == 0 || whole.size() - begin != kGroup;
}

std::uint32_t natural(double value) {
  constexpr double kMost = 4294967295.0;
  return std::isnan(value) || value < 0 ? 0 : static_cast<std::uint32_t>(std::min(value, kMost));
}

struct Scale {
  double factor = 1;
  std::string unit;
};

double prefix_of(std::string_view unit, std::string_view base) {
  if (!unit.ends_with(base) || unit.size() != base.size() + 1) return 0;
  switch (unit.front()) {
    case 'K':
    case 'k':
      return 1e3;
    case 'M':
    case 'm':
      return 1e6;
    case 'G':
    case 'g':
      return 1e9;
    case 'T':
    case 't':
      return 1e12;
    default:
      return 0;
  }
}

// ns of a unit of time; 0 for other units.
double nanoseconds_of(std::string_view unit) {
  if (unit == "ns" || unit == "nsecond") return 1;
  if (unit == "us" || unit == "usecond") return 1e3;
  if (unit == "ms" || unit == "msecond") return 1e6;
  return unit == "s" || unit == "second" ? 1e9 : 0;
}

// "Gbyte/s" -> 1e9, "byte/s"; "us" -> 1000, "ns". Each kernel of a file has its metrics in the same units.
Scale scale_of(std::string_view unit) {
  Scale scale;
  const auto slash = unit.find('/');
  const std::string_view above = unit.substr(0, slash);
  std::string_view below = slash == unit.npos ? std::string_view() : unit.substr(slash + 1);
  if (slash == unit.npos && nanoseconds_of(above) > 0) return {nanoseconds_of(above), "ns"};
  scale.unit = above;
  if (const double factor = prefix_of(above, "byte"); factor > 0) scale = {factor, "byte"};
  for (const std::string_view hertz : {"hz", "Hz"})
    if (const double factor = prefix_of(above, hertz); factor > 0) scale = {factor, "hz"};
  if (const double time = nanoseconds_of(below); time > 0) {
    scale.factor *= 1e9 / time;
    below = "s";
  }
  if (!below.empty()) scale.unit.append("/").append(below);
  return scale;
}

// "(128, 1024, 1)"
void read_extent(std::string_view text, std::uint32_t (&extent)[3]) {
  std::size_t at = 0;
  for (std::uint32_t& part : extent) {
    while (at < text.size() && (text[at] < '0' || text[at] > '9')) ++at;
    const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), part);
    if (failure != std::errc()) part = 0;
    at = static_cast<std::size_t>(end - text.data());
  }
}

// "(FFMA: 1,048,576; LDG: 262,144)", with any separators; the most executed first.
std::vector<kernels::OpcodeCount> opcodes_of(std::string_view instances) {
  constexpr std::size_t kMostOpcodes = 1024, kLongest = 32;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_of_name = [&](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' || c == '_'; };
  std::vector<kernels::OpcodeCount> opcodes;
  for (std::size_t colon = instances.find(": "); colon != instances.npos && opcodes.size() < kMostOpcodes; colon = instances.find(": ", colon + 1)) {
    std::size_t begin = colon, end = colon + 2;
    while (begin > 0 && is_of_name(instances[begin - 1])) --begin;
    // A comma between thousands has a digit after it.
    while (end < instances.size() &&
           (is_digit(instances[end]) || instances[end] == '.' || (instances[end] == ',' && end + 1 < instances.size() && is_digit(instances[end + 1]))))
      ++end;
    const double executed = number(instances.substr(colon + 2, end - colon - 2));
    constexpr double kMost = 1e17;
    if (begin < colon && colon - begin <= kLongest && executed > 0 && executed <= kMost)
      opcodes.push_back({std::string(instances.substr(begin, colon - begin)), static_cast<std::uint64_t>(executed), 0});
  }
  std::stable_sort(opcodes.begin(), opcodes.end(), [](const auto& a, const auto& b) { return a.executed > b.executed; });
  return opcodes;
}

// True for the beginning of a row of the table: it starts with the number of a launch, which other programs may write as 1.0.
bool begins_row(std::string_view line) {
  const std::size_t begin = line.starts_with('"') ? 1 : 0, end = line.find(begin == 1 ? "\"," : ",", begin);
  return end != line.npos && !std::isnan(number(line.substr(begin, end - begin)));
}

// The rows of the table, each with all lines of its texts. Lines that the program printed between them are skipped.
class Rows {
 public:
  explicit Rows(Lines& lines) : lines_(lines) {}
  // Returns false after the last row, and if a line is too long.
  bool next(std::string& row) {
    bool has_line = std::exchange(has_ahead_, false);
    if (has_line)
      row.swap(ahead_);
    else
      while ((has_line = lines_.next(row)) && !begins_row(row)) {
      }
    if (!has_line) return false;
    // An unterminated text ends before the next row.
    bool is_open = has_odd_quotes(row);
    while (is_open && row.size() <= kLongestLine && (has_ahead_ = lines_.next(ahead_)) && !begins_row(ahead_)) {
      is_open ^= has_odd_quotes(ahead_);
      row.append(1, '\n').append(ahead_);
      has_ahead_ = false;
    }
    return true;
  }

 private:
  static bool has_odd_quotes(std::string_view line) { return std::count(line.begin(), line.end(), '"') % 2 != 0; }

  Lines& lines_;
  std::string ahead_;  // the next row, if has_ahead_
  bool has_ahead_ = false;
};

// Adds the names of rows with too few cells, up to a limit.
void leave_out(std::string_view name, std::size_t cells, std::size_t columns, std::vector<LeftOutKernel>& left_out) {
  constexpr std::size_t kMostNamed = 100;
  if (left_out.size() > kMostNamed) return;
  if (left_out.size() == kMostNamed) name = "further kernels";
  left_out.push_back({kNone, std::string(name.empty() ? "a kernel" : name),
                      "Its row of the table has " + std::to_string(cells) + " cells, and the table " + std::to_string(columns) +
                          " columns: the file was cut off or changed."});
}

// The columns that describe the launch.
class Columns {
 public:
  explicit Columns(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) by_name_.try_emplace(names[i], i);
  }
  [[nodiscard]] std::string_view text(const std::vector<std::string>& cells, std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() || found->second >= cells.size() ? std::string_view() : std::string_view(cells[found->second]);
  }
  [[nodiscard]] std::uint32_t natural(const std::vector<std::string>& cells, std::string_view name) const {
    return lanescope::natural(number(text(cells, name)));
  }

 private:
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

Gpu gpu_of(const Columns& columns, const std::vector<std::string>& cells) {
  Gpu gpu;
  const auto natural = [&](const char* attribute) { return columns.natural(cells, std::string("device__attribute_") + attribute); };
  gpu.name = columns.text(cells, "device__attribute_display_name");
  gpu.ordinal = columns.natural(cells, "Device");
  const std::string_view capability = columns.text(cells, "CC");
  gpu.compute_major = lanescope::natural(number(capability.substr(0, capability.find('.'))));
  if (const auto point = capability.find('.'); point != capability.npos) gpu.compute_minor = lanescope::natural(number(capability.substr(point + 1)));
  if (gpu.name.empty()) gpu.name = "GPU of compute capability " + std::string(capability);
  gpu.multiprocessor_count = natural("multiprocessor_count");
  if (gpu.multiprocessor_count == 0) gpu.multiprocessor_count = columns.natural(cells, "launch__sm_count");
  gpu.max_warps_per_multiprocessor = natural("max_warps_per_multiprocessor");
  gpu.max_blocks_per_multiprocessor = natural("max_blocks_per_multiprocessor");
  gpu.max_registers_per_multiprocessor = natural("max_registers_per_multiprocessor");
  gpu.max_shared_memory_per_multiprocessor = natural("max_shared_memory_per_multiprocessor");
  gpu.core_clock_khz = natural("clock_rate");
  return gpu;
}

// The first two lines of the table.
struct Head {
  std::vector<std::string> names;  // of columns
  bool is_quoted = false;          // each cell
  std::vector<Metric> metrics;
  std::vector<double> factors;      // convert the values of each metric to its unit
  std::vector<std::size_t> places;  // its column
};

// The table's first line; lines that the program printed before it are skipped.
Result<std::string> read_names(Lines& lines) {
  std::string line;
  for (bool is_first = true; lines.next(line); is_first = false) {
    if (is_header(line)) return line.substr(line.starts_with(kMarkOfUtf8) ? kMarkOfUtf8.size() : 0);
    if (is_first && line.starts_with(kMarkOfUtf16))
      return Error{"it is UTF-16, as PowerShell writes what a program prints. Let ncu write it: ncu --import REPORT --csv --page raw --log-file kernels.csv"};
  }
  return Error{"there is no table of Nsight Compute's in it. Export one with: ncu --import REPORT --csv --page raw > kernels.csv"};
}

Result<Head> read_head(Lines& lines) {
  const Result<std::string> columns = read_names(lines);
  if (!columns) return columns.error();
  Head head;
  head.is_quoted = columns->starts_with('"');
  split(*columns, head.names);
  if (head.names.size() > kMostColumns)
    return Error{"there are more than " + std::to_string(kMostColumns) + " columns, which no table of Nsight Compute's has."};
  for (const char* of_details : {"Metric Name", "Section Name"})
    if (std::find(head.names.begin(), head.names.end(), of_details) != head.names.end())
      return Error{"this is CSV of Nsight Compute's page of details. Export the page of raw values: ncu --import REPORT --csv --page raw > kernels.csv"};
  std::string line;
  if (!lines.next(line)) return Error{"the table of Nsight Compute's ends behind its first line."};
  std::vector<std::string> units;
  split(line, units);
  if (!units.front().empty())
    return Error{
        "the second line of Nsight Compute's table, which has the units, is not there. Export it as it comes: ncu --import REPORT --csv --page raw > "
        "kernels.csv"};
  units.resize(head.names.size());
  for (std::size_t i = 0; i < head.names.size(); ++i) {
    if (head.names[i].find("__") == std::string::npos && !head.names[i].starts_with("memory_")) continue;  // not a counter: "Kernel Name"
    const Scale scale = scale_of(units[i]);
    head.metrics.push_back({head.names[i], scale.unit});
    head.factors.push_back(scale.factor);
    head.places.push_back(i);
  }
  if (head.metrics.empty())
    return Error{
        "no column of Nsight Compute's table is a metric. If it has labels in place of names, print the names: ncu --import REPORT --csv --page raw "
        "--print-metric-name name > kernels.csv"};
  return head;
}

// Requires: a cell for each column.
Result<ProfiledKernel> read_kernel(const Head& head, const Columns& columns, const std::vector<std::string>& cells) {
  ProfiledKernel kernel;
  kernel.name = columns.text(cells, "Kernel Name");
  kernel.process = columns.text(cells, "Process Name");
  kernel.pid = columns.natural(cells, "Process ID");
  kernel.context = columns.natural(cells, "Context");
  kernel.stream = columns.natural(cells, "Stream");
  kernel.device = columns.natural(cells, "Device");
  kernel.gpu = gpu_of(columns, cells);
  read_extent(columns.text(cells, "Grid Size"), kernel.detail.grid);
  read_extent(columns.text(cells, "Block Size"), kernel.detail.block);
  for (std::size_t i = 0; i < head.places.size(); ++i) {
    const std::string& cell = cells[head.places[i]];
    const std::string& name = head.names[head.places[i]];
    // "25,165,824 (FFMA: 1,048,576; LDG: ...)": the total of all opcodes, then each opcode if instances were exported.
    const std::size_t instances = cell.find(" (");
    const std::string_view value = std::string_view(cell).substr(0, instances);
    if (!name.starts_with("launch__") && !name.starts_with("device__") && has_decimal_comma(value))
      return Error{"its numbers have commas before the fraction (" + cell +
                   "). Export it with points: LC_ALL=C ncu --import REPORT --csv --page raw > kernels.csv"};
    kernel.values.push_back(number(value) * head.factors[i]);
    if (instances != cell.npos && name == "sass__inst_executed_per_opcode") kernel.opcodes = opcodes_of(std::string_view(cell).substr(instances));
  }
  return kernel;
}

// Takes properties of the launch from metrics.
void describe_launch(const KernelMetrics& metrics, ProfiledKernel& kernel) {
  const auto measured = [&](const char* metric) { return natural(std::round(metrics.value(kernel, metric).value_or(0))); };
  const auto read = [&](std::uint32_t(&extent)[3], std::array<const char*, 3> parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) extent[i] = measured(parts[i]);
  };
  // Some versions and other programs omit these two columns.
  if (kernel.detail.grid[0] == 0) read(kernel.detail.grid, {"launch__grid_dim_x", "launch__grid_dim_y", "launch__grid_dim_z"});
  if (kernel.detail.block[0] == 0) read(kernel.detail.block, {"launch__block_dim_x", "launch__block_dim_y", "launch__block_dim_z"});
  read(kernel.detail.cluster, {"launch__cluster_dim_x", "launch__cluster_dim_y", "launch__cluster_dim_z"});
  kernel.detail.registers_per_thread = measured("launch__registers_per_thread");
  kernel.detail.static_shared_memory = measured("launch__shared_mem_per_block_static");
  kernel.detail.dynamic_shared_memory = measured("launch__shared_mem_per_block_dynamic");
  kernel.detail.shared_memory_executed = measured("launch__shared_mem_config_size");
}

// Bytes for the kernel here and in the trace that is made from it.
std::uint64_t bytes_of(const ProfiledKernel& kernel) {
  constexpr std::uint64_t kTimes = 2;  // number of copies of a text
  return sizeof(kernel) + kTimes * (kernel.name.size() + kernel.process.size() + kernel.gpu.name.size()) + kernel.values.size() * sizeof(double) +
         kernel.opcodes.size() * sizeof(kernels::OpcodeCount);
}

}  // namespace

bool looks_like_ncu_csv(std::string_view head) noexcept { return head.starts_with("==PROF==") || has_header(head); }

Result<NcuTable> read_ncu_csv(const std::filesystem::path& path, const LoadProgress& progress) {
  auto source = importers::TextSource::open(path);
  if (!source) return source.error();
  const auto unreadable = [&path](const std::string& what) { return Error{path.string() + ": " + what}; };
  Lines lines(**source);
  Result<Head> head = read_head(lines);
  if (!head) return unreadable(head.error().text);
  const Columns columns(head->names);
  NcuTable table{KernelMetrics(std::move(head->metrics)), {}};
  KernelMetrics& result = table.metrics;
  const importers::ImportLimits limits = (*source)->limits();
  std::uint64_t kept = 0;  // bytes
  Rows rows(lines);
  std::string line;
  std::vector<std::string> cells;
  while (rows.next(line)) {
    split(line, cells);
    if (cells.size() != head->names.size()) {
      if (head->is_quoted && !line.starts_with('"')) continue;  // printed by the program
      leave_out(columns.text(cells, "Kernel Name"), cells.size(), head->names.size(), table.left_out);
      continue;
    }
    if ((result.kernels().size() + 1) * head->places.size() > kMostValues)
      return unreadable("there are more values than can be read: " + std::to_string(kMostValues) +
                        " at most. Export fewer kernels (--kernel-name) or metrics (--metrics).");
    if (result.kernels().size() >= limits.kernels() || kept > limits.memory())
      return unreadable("it holds more kernels than any table of its size does (if it is compressed, gunzip it first to read all of it).");
    Result<ProfiledKernel> kernel = read_kernel(*head, columns, cells);
    if (!kernel) return unreadable(kernel.error().text);
    describe_launch(result, *kernel);
    kept += bytes_of(*kernel);
    result.add(std::move(*kernel));
    if (progress && progress((*source)->fraction(), nullptr) == LoadStep::kCancel) break;
  }
  if (lines.is_too_long()) return unreadable("a line is longer than " + std::to_string(kLongestLine >> 20) + " MiB, which no table of Nsight Compute's has.");
  if (const std::string damage = (*source)->damage(); !damage.empty()) return unreadable(damage);
  if (result.kernels().empty())
    return unreadable(table.left_out.empty() ? "Nsight Compute measured no kernel." : "no row of the table is whole. " + table.left_out.front().reason);
  return table;
}

}  // namespace lanescope
