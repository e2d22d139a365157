#include "model/kernels/instructions/instruction_mix.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "code/code_lines.h"
#include "counted_places.h"

namespace lanescope::kernels {

std::vector<InstructionMix> instruction_mixes(const Trace& trace, std::optional<TimeRange> time) {
  const KernelRecords& records = trace.kernel_records();
  CodeLines code(trace);
  std::map<std::pair<ProcessId, NameId>, std::map<std::string, OpcodeCount>> mixes;
  const CountedPlaces places = counted_places(trace, SumBy::kInstruction, time);
  for (const auto& place : in_order_of_code(places, code)) {
    const auto& [id, pc] = place->first;
    const std::string opcode = code.opcode(id, pc);
    if (opcode.empty()) continue;
    OpcodeCount& count = mixes[{records.functions[id].process, records.functions[id].name}][opcode];
    count.executed += place->second.of(Count::kExecuted);
    count.threads += place->second.of(Count::kThreadsOn);
  }
  const auto launches = counted_launches(trace, time);
  std::vector<InstructionMix> result;
  for (auto& [kernel, opcodes] : mixes) {
    InstructionMix& mix = result.emplace_back(InstructionMix{kernel.first, kernel.second, launches.at(kernel), {}, 0});
    for (auto& [name, count] : opcodes) {
      if (count.executed == 0) continue;
      mix.executed += static_cast<double>(count.executed);
      mix.opcodes.push_back({name, count.executed, count.threads});
    }
    std::stable_sort(mix.opcodes.begin(), mix.opcodes.end(), [](const OpcodeCount& a, const OpcodeCount& b) { return a.executed > b.executed; });
  }
  // Name ids differ between files, also for another form of the same recording.
  std::sort(result.begin(), result.end(), [&](const InstructionMix& a, const InstructionMix& b) {
    return std::tuple(a.process, b.executed, trace.name(a.kernel)) < std::tuple(b.process, a.executed, trace.name(b.kernel));
  });
  return result;
}

const InstructionMix* mix_of(const std::vector<InstructionMix>& mixes, ProcessId process, NameId kernel) noexcept {
  const InstructionMix* other = nullptr;
  for (const InstructionMix& mix : mixes) {
    if (mix.kernel != kernel) continue;
    if (mix.process == process) return &mix;
    if (other == nullptr) other = &mix;
  }
  return other;
}

std::vector<OpcodeCount> opcodes_of_a_launch(const InstructionMix& mix) {
  std::vector<OpcodeCount> opcodes = mix.opcodes;
  for (OpcodeCount& each : opcodes) {
    each.executed /= mix.launches;
    each.threads /= mix.launches;
  }
  return opcodes;
}

std::vector<SectionRow> opcode_rows(const std::vector<OpcodeCount>& opcodes) {
  std::vector<SectionRow> rows;
  for (const OpcodeCount& each : opcodes) rows.push_back({Message::verbatim(each.opcode), static_cast<double>(each.executed), ValueUnit::kNumber});
  return rows;
}

}  // namespace lanescope::kernels
