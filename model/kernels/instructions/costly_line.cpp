#include "model/kernels/instructions/costly_line.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <utility>

#include "model/kernels/code/kernel_code.h"
#include "model/text/to_translate.h"
#include "model/trace/kernel_records.h"

namespace lanescope::kernels {
namespace {

using Cost = std::uint64_t (*)(const CodeInstruction&);

// The cost of a cause at an instruction, and its description.
struct Measure {
  std::string_view rule;
  Cost cost;
  std::string_view what;
};

bool is_one_of(const CodeInstruction& instruction, std::initializer_list<std::string_view> opcodes) {
  return std::any_of(opcodes.begin(), opcodes.end(), [&](std::string_view opcode) { return instruction.text == opcode; });
}
bool is_atomic(const CodeInstruction& each) { return is_one_of(each, {"ATOM", "ATOMG", "ATOMS", "RED"}); }
bool is_local(const CodeInstruction& each) { return is_one_of(each, {"LDL", "STL"}); }
bool is_double(const CodeInstruction& each) { return is_one_of(each, {"DADD", "DMUL", "DFMA", "DMMA", "DSETP"}); }
bool is_unfused(const CodeInstruction& each) { return is_one_of(each, {"FADD", "FMUL", "DADD", "DMUL"}); }

std::uint64_t executed(const CodeInstruction& each) { return each.counts.of(Count::kExecuted); }
std::uint64_t samples_of(const CodeInstruction& each, std::initializer_list<std::string_view> reasons) {
  std::uint64_t samples = 0;
  for (const StallCount& stall : each.stalls)
    if (std::find(reasons.begin(), reasons.end(), stall.reason) != reasons.end()) samples += stall.samples;
  return samples;
}
// Threads of the instruction's warps that did not take part.
std::uint64_t idle_threads(const CodeInstruction& each) {
  constexpr std::uint64_t kWarp = 32;
  const Count count = each.counts.has(Count::kThreadsOn) ? Count::kThreadsOn : Count::kThreads;
  const std::uint64_t all = kWarp * executed(each);
  return each.counts.has(count) && all > each.counts.of(count) ? all - each.counts.of(count) : 0;
}

// For each rule, the first measure that is not 0 counts.
constexpr std::array kMeasures{
    Measure{"global_access", [](const CodeInstruction& each) { return each.counts.excess_sectors(); },
            to_translate("of the sectors beyond those that are needed")},
    Measure{"global_access",
            [](const CodeInstruction& each) {
              return samples_of(each, {"long_scoreboard", "lg_throttle", "drain"});
            },
            to_translate("of the samples that wait for global memory")},
    Measure{"bank_conflicts", [](const CodeInstruction& each) { return each.counts.excess_wavefronts(); },
            to_translate("of the wavefronts beyond those that are needed")},
    Measure{"bank_conflicts",
            [](const CodeInstruction& each) {
              return samples_of(each, {"mio_throttle", "short_scoreboard"});
            },
            to_translate("of the samples that wait for shared memory")},
    Measure{"local_memory", [](const CodeInstruction& each) { return each.counts.of(Count::kLocalSectors); }, to_translate("of the sectors of local memory")},
    Measure{"local_memory", [](const CodeInstruction& each) { return is_local(each) ? each.samples : 0; },
            to_translate("of the samples at local loads and stores")},
    Measure{"divergence", idle_threads, to_translate("of the threads that rest while their warp works")},
    Measure{"atomics", [](const CodeInstruction& each) { return is_atomic(each) ? executed(each) : 0; }, to_translate("of the atomic operations")},
    Measure{"atomics", [](const CodeInstruction& each) { return is_atomic(each) ? each.samples : 0; }, to_translate("of the samples at atomic operations")},
    Measure{"fp64", [](const CodeInstruction& each) { return is_double(each) ? executed(each) : 0; }, to_translate("of the instructions of double precision")},
    Measure{"fp64", [](const CodeInstruction& each) { return is_double(each) ? each.samples : 0; },
            to_translate("of the samples at instructions of double precision")},
    Measure{"fusion", [](const CodeInstruction& each) { return is_unfused(each) ? executed(each) : 0; },
            to_translate("of the sums and products that stand alone")},
    Measure{"fusion", [](const CodeInstruction& each) { return is_unfused(each) ? each.samples : 0; },
            to_translate("of the samples at sums and products that stand alone")},
};

// Two reasons have other names in PC sampling than in metrics.
std::string_view name_in_samples(std::string_view stall) {
  if (stall == "gmma") return "warpgroup_arrive";
  return stall == "no_instruction" ? "no_instructions" : stall;
}

std::string place_text(const KernelCode& code, const CodeInstruction& instruction) {
  std::string text = code.file_names[instruction.file] + ":" + std::to_string(instruction.line);
  if (!instruction.inlined_into.empty()) text += " < " + instruction.inlined_into;
  return text;
}

template <typename CostOf>
std::optional<CostlyLine> most_costly(const KernelCode& code, const CostOf& cost_of, std::string_view what) {
  struct Line {
    std::uint64_t cost = 0;
    const CodeInstruction* most = nullptr;
    std::uint64_t its_cost = 0;
  };
  std::map<std::string, Line> lines;
  std::uint64_t all = 0;
  for (const CodeInstruction& each : code.instructions) {
    const std::uint64_t cost = cost_of(each);
    all += cost;
    if (cost == 0 || each.file == kNoFile) continue;
    Line& line = lines[place_text(code, each)];
    line.cost += cost;
    if (cost <= line.its_cost) continue;
    line.its_cost = cost;
    line.most = &each;
  }
  const auto most = std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second.cost < b.second.cost; });
  if (most == lines.end()) return std::nullopt;
  CostlyLine found;
  found.place = most->first;
  found.pc = most->second.most->pc;
  found.share = static_cast<double>(most->second.cost) / static_cast<double>(all);
  found.what = Message(what);
  const CodeInstruction& instruction = *most->second.most;
  if (const auto stride = stride_of(instruction.counts, instruction.access_bytes)) found.stride = stride_text(*stride);
  const auto wavefronts = static_cast<double>(instruction.counts.of(Count::kSharedWavefronts));
  const auto ideal = static_cast<double>(instruction.counts.of(Count::kSharedWavefrontsIdeal));
  if (const auto stride = bank_stride(wavefronts, ideal, instruction.access_bytes)) found.bank_stride = stride_text(*stride);
  return found;
}

std::optional<CostlyLine> line_of(const KernelCode& code, const Advice& cause) {
  if (!cause.stall.empty()) {
    const std::string_view stall = name_in_samples(cause.stall);
    const auto samples = [stall](const CodeInstruction& each) { return samples_of(each, {stall}); };
    return most_costly(code, samples, to_translate("of the samples in that state"));
  }
  for (const Measure& measure : kMeasures)
    if (measure.rule == cause.rule)
      if (auto line = most_costly(code, measure.cost, measure.what)) {
        if (cause.rule != "global_access") line->stride = {};
        if (cause.rule != "bank_conflicts") line->bank_stride = {};
        if (cause.rule == "local_memory")
          for (const CodeInstruction& each : code.instructions) line->local_address = std::max(line->local_address, each.local_address);
        return line;
      }
  return std::nullopt;
}

bool has_line(const Advice& cause) {
  return !cause.stall.empty() || std::any_of(kMeasures.begin(), kMeasures.end(), [&](const Measure& each) { return each.rule == cause.rule; });
}

}  // namespace

std::vector<std::optional<CostlyLine>> costly_lines(const Trace& trace, ProcessId process, NameId kernel, std::span<const Advice> causes) {
  std::vector<std::optional<CostlyLine>> lines(causes.size());
  const KernelRecords& records = trace.kernel_records();
  if (std::none_of(causes.begin(), causes.end(), has_line) || (records.windows.empty() && records.counted.empty())) return lines;
  const Result<KernelCode> code = kernel_code(trace, process_with_code(trace, process, kernel), kernel);
  for (std::size_t i = 0; code && i < causes.size(); ++i) lines[i] = line_of(*code, causes[i]);
  return lines;
}

std::optional<CostlyLine> costly_line(const Trace& trace, ProcessId process, NameId kernel, const Advice& cause) {
  return std::move(costly_lines(trace, process, kernel, {&cause, 1}).front());
}

Message line_text(const CostlyLine& line) {
  char share[32];
  std::snprintf(share, sizeof(share), "%.0f %%", 100 * line.share);
  if (line.local_address != LocalAddress::kNone)
    return Message(line.local_address == LocalAddress::kFixed
                       ? "{share} {what} are of {line}. All addresses in local memory are fixed, as those of spilled registers."
                       : "{share} {what} are of {line}. Addresses in local memory are computed at run time, as those of an array.",
                   {{"share", std::string(share)}, {"what", line.what}, {"line", line.place}});
  if (!line.bank_stride.empty())
    return Message(
        "{share} {what} are of {line}, where threads access shared memory as with a stride of {stride}. A stride of one element more has no conflicts.",
        {{"share", std::string(share)}, {"what", line.what}, {"line", line.place}, {"stride", line.bank_stride}});
  return Message(line.stride.empty() ? "{share} {what} are of {line}."
                                     : "{share} {what} are of {line}, where threads access memory as with a stride of {stride}, or scattered.",
                 {{"share", std::string(share)}, {"what", line.what}, {"line", line.place}, {"stride", line.stride}});
}

}  // namespace lanescope::kernels
