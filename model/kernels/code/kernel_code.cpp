#include "model/kernels/code/kernel_code.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "code_lines.h"
#include "model/kernels/code/cubin.h"
#include "model/kernels/instructions/access_stride.h"
#include "model/trace/kernel_records.h"

namespace lanescope::kernels {
namespace {

constexpr std::size_t kMostInstructions = 1u << 20;  // that are listed
constexpr std::size_t kMostInlineBytes = 64u << 20;  // limit for all texts on inlining; beyond it, inlining is not described

struct SampleCounts {
  std::uint64_t samples = 0;
  std::uint64_t not_issued = 0;
};
using Reasons = std::map<std::uint32_t, SampleCounts>;

void merge(const Reasons& from, Reasons& into) {
  for (const auto& [reason, counts] : from) {
    into[reason].samples += counts.samples;
    into[reason].not_issued += counts.not_issued;
  }
}

// Sorts by samples, most first; returns their sum.
std::uint64_t stalls_of(const Reasons& reasons, const KernelRecords& records, std::vector<StallCount>& stalls) {
  std::uint64_t samples = 0;
  for (const auto& [reason, counts] : reasons) {
    stalls.push_back({records.reasons[reason], counts.samples, counts.not_issued});
    samples += counts.samples;
  }
  std::stable_sort(stalls.begin(), stalls.end(), [](const StallCount& a, const StallCount& b) { return a.samples > b.samples; });
  return samples;
}

// Samples of one function, by pc.
using SamplesByPc = std::map<std::uint32_t, Reasons>;

// The function of this name with most samples, and these samples; nothing if none was sampled.
std::optional<std::pair<GpuFunctionId, SamplesByPc>> sampled_function(const KernelRecords& records, ProcessId process, NameId kernel) {
  std::map<GpuFunctionId, SamplesByPc> functions;
  std::map<GpuFunctionId, std::uint64_t> totals;
  for (const auto& window : records.windows) {
    if (window->process != process) continue;
    for (const PcSample& sample : window->samples) {
      if (records.functions[sample.function].name != kernel) continue;
      SampleCounts& counts = functions[sample.function][sample.pc][sample.reason];
      counts.samples += sample.samples;
      counts.not_issued += sample.not_issued;
      totals[sample.function] += sample.samples;
    }
  }
  const auto most = std::max_element(totals.begin(), totals.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == totals.end()) return std::nullopt;
  return std::pair(most->first, std::move(functions[most->first]));
}

// Counts of one function, by pc.
using CountsByPc = std::map<std::uint32_t, Counts>;

// The counted functions of this name.
std::map<GpuFunctionId, CountsByPc> counted_functions(const KernelRecords& records, ProcessId process, NameId kernel) {
  std::map<GpuFunctionId, CountsByPc> functions;
  for (const auto& counts : records.counted) {
    if (counts->process != process) continue;
    const CountReader reader(records, *counts);
    for (std::size_t row = 0; row < counts->rows.size(); ++row)
      if (const auto [function, pc] = counts->rows[row]; records.functions[function].name == kernel) functions[function][pc] += reader.row(row);
  }
  return functions;
}

std::uint64_t executed(const CountsByPc& counts) {
  std::uint64_t sum = 0;
  for (const auto& [pc, each] : counts) sum += each.of(Count::kExecuted);
  return sum;
}

// The records of one function.
struct FunctionRecords {
  GpuFunctionId id = 0;
  SamplesByPc samples;
  CountsByPc counts;
};
std::optional<FunctionRecords> records_of(const KernelRecords& records, ProcessId process, NameId kernel) {
  std::map<GpuFunctionId, CountsByPc> counted = counted_functions(records, process, kernel);
  if (auto sampled = sampled_function(records, process, kernel)) {
    CountsByPc counts = std::move(counted[sampled->first]);
    return FunctionRecords{sampled->first, std::move(sampled->second), std::move(counts)};
  }
  const auto most = std::max_element(counted.begin(), counted.end(), [](const auto& a, const auto& b) { return executed(a.second) < executed(b.second); });
  if (most == counted.end()) return std::nullopt;
  return FunctionRecords{most->first, {}, std::move(most->second)};
}

// Moves samples of "drain" to the stores that warps wait for.
void move_drain(SamplesByPc& samples, std::span<const std::byte> code, const KernelRecords& records) {
  const auto drain = static_cast<std::uint32_t>(std::find(records.reasons.begin(), records.reasons.end(), "drain") - records.reasons.begin());
  SamplesByPc moved;
  for (auto entry = samples.begin(); entry != samples.end();) {
    Reasons& reasons = entry->second;
    if (const auto found = reasons.find(drain); found != reasons.end())
      if (const std::uint32_t store = store_before(code, entry->first); store != entry->first) {
        merge({*found}, moved[store]);
        reasons.erase(found);
      }
    entry = reasons.empty() ? samples.erase(entry) : std::next(entry);
  }
  for (const auto& [pc, reasons] : moved) merge(reasons, samples[pc]);
}

class CodeWriter {
 public:
  CodeWriter(const Cubin& cubin, const CubinFunction& function, KernelCode& code) : cubin_(cubin), function_(function), code_(code) {}

  void add(std::uint32_t pc, std::span<const std::byte> instruction) {
    CodeInstruction& added = code_.instructions.emplace_back();
    added.pc = pc;
    added.text = opcode_text(instruction);
    added.access_bytes = access_bytes(instruction);
    added.local_address = local_address(instruction);
    const std::vector<SourcePlace> places = cubin_.source(function_, pc);
    if (places.empty()) return;
    added.file = file(places.front());
    added.line = places.front().line;
    for (std::size_t i = 1; i < places.size() && inline_bytes_ < kMostInlineBytes; ++i)
      added.inlined_into += (i == 1 ? "" : " < ") + std::string(places[i].name) + ":" + std::to_string(places[i].line);
    inline_bytes_ += added.inlined_into.size();
  }

 private:
  std::uint32_t file(const SourcePlace& place) {
    const auto [known, is_new] = files_.try_emplace(std::string(place.file), static_cast<std::uint32_t>(code_.files.size()));
    if (is_new) {
      code_.files.emplace_back(place.file);
      code_.file_names.emplace_back(place.name);
      code_.file_bytes.push_back(place.file_bytes);
    }
    return known->second;
  }

  const Cubin& cubin_;
  const CubinFunction& function_;
  KernelCode& code_;
  std::unordered_map<std::string, std::uint32_t> files_;
  std::size_t inline_bytes_ = 0;
};

struct LineRecords {
  Reasons reasons;
  Counts counts;
};

void sum_up_lines(const std::map<std::pair<std::uint32_t, std::uint32_t>, LineRecords>& lines, const KernelRecords& records, KernelCode& code) {
  for (const auto& [place, known] : lines) {
    CodeLine& line = code.lines.emplace_back();
    std::tie(line.file, line.line) = place;
    line.samples = stalls_of(known.reasons, records, line.stalls);
    line.counts = known.counts;
  }
}

}  // namespace

const std::string* code_image(const Trace& trace, ProcessId process, std::uint64_t crc) {
  const CodeObject* const object = trace.kernel_records().find_code(process, crc);
  return object != nullptr && object->whole() ? &object->image : nullptr;
}

ProcessId process_with_code(const Trace& trace, ProcessId process, NameId kernel) noexcept {
  ProcessId other = kNone;
  for (const GpuFunction& function : trace.kernel_records().functions) {
    if (function.name != kernel) continue;
    if (function.process == process) return process;
    if (other == kNone) other = function.process;
  }
  return other == kNone ? process : other;
}

Result<KernelCode> kernel_code(const Trace& trace, ProcessId process, NameId kernel) {
  const KernelRecords& records = trace.kernel_records();
  if (records.windows.empty() && records.counted.empty())
    return Error{"The trace has no code of kernels. Sample where their warps stand, and the code comes with it: lanescope profile --kernels=pc PROGRAM"};
  auto known = records_of(records, process, kernel);
  if (!known && records.windows.empty()) return Error{"The instructions of this kernel were not counted, so its code was not kept."};
  if (!known)
    return Error{"No warp of this kernel was sampled, so its code was not kept. It may be too short: sample more often, with --kernels=pc:period=16."};
  const GpuFunction& function = records.functions[known->id];
  const std::string* const image = code_image(trace, process, function.code_object);
  if (image == nullptr) return Error{"The code of this kernel is not in the trace, or not all of it: the recording ended before it was written."};
  Result<Cubin> cubin = Cubin::read(*image);
  if (!cubin) return cubin.error();
  const CubinFunction* const found = find_function(*cubin, function, trace);
  if (found == nullptr) return Error{"The code in the trace has no function of this kernel."};
  KernelCode code;
  code.function = found->name;
  code.symbol = found->index;
  code.crc = function.code_object;
  const std::span<const std::byte> bytes = cubin->code(*found);
  move_drain(known->samples, bytes, records);
  CodeWriter writer(*cubin, *found, code);
  std::map<std::pair<std::uint32_t, std::uint32_t>, LineRecords> lines;
  for (std::uint32_t pc = 0; pc + kInstructionBytes <= bytes.size() && code.instructions.size() < kMostInstructions; pc += kInstructionBytes) {
    writer.add(pc, bytes.subspan(pc, kInstructionBytes));
    CodeInstruction& instruction = code.instructions.back();
    const auto samples = known->samples.find(pc);
    if (samples != known->samples.end()) instruction.samples = stalls_of(samples->second, records, instruction.stalls);
    if (const auto counts = known->counts.find(pc); counts != known->counts.end()) instruction.counts = counts->second;
    code.samples += instruction.samples;
    code.counts += instruction.counts;
    if (instruction.file == kNoFile) continue;
    LineRecords& line = lines[{instruction.file, instruction.line}];
    if (samples != known->samples.end()) merge(samples->second, line.reasons);
    line.counts += instruction.counts;
  }
  sum_up_lines(lines, records, code);
  return code;
}

Disassembly parse_disassembly(std::string_view printed, std::string_view function) {
  Disassembly texts;
  bool within = false;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    constexpr std::string_view kSection = ".text.";
    if (line.starts_with(kSection) && line.ends_with(':')) {
      within = line.substr(kSection.size(), line.size() - kSection.size() - 1) == function;
      continue;
    }
    const std::size_t open = line.find("/*"), close = line.find("*/", open == line.npos ? 0 : open);
    if (!within || open == line.npos || close == line.npos || line.find_first_not_of(" \t") != open) continue;
    const std::string_view digits = line.substr(open + 2, close - open - 2);
    std::uint32_t pc = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), pc, 16);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) continue;
    line.remove_prefix(close + 2);
    const std::size_t first = line.find_first_not_of(" \t{"), last = line.find(';');
    if (first == line.npos) continue;
    std::string_view text = line.substr(first, last == line.npos ? line.npos : last - first);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    if (!text.empty()) texts.emplace(pc, text);
  }
  return texts;
}

void apply_disassembly(const Disassembly& texts, KernelCode& code) {
  for (CodeInstruction& instruction : code.instructions)
    if (const auto found = texts.find(instruction.pc); found != texts.end()) instruction.text = found->second;
}

}  // namespace lanescope::kernels
