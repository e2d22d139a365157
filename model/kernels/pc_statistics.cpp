#include "model/kernels/pc_statistics.h"

#include <algorithm>
#include <tuple>

#include "model/trace/kernel_records.h"
#include "stall_reasons.h"

namespace lanescope::kernels {
namespace {

// The code of the trace, read where something is asked of it.
class CodeReader {
 public:
  explicit CodeReader(const KernelRecords& records) : records_(records) {}

  [[nodiscard]] const Cubin* of(const GpuFunction& function) {
    const auto [known, is_new] = cubins_.try_emplace({function.process, function.code_object});
    if (is_new) {
      const CodeObject* const object = records_.find_code(function.process, function.code_object);
      if (object != nullptr && object->whole())
        if (Result<Cubin> cubin = Cubin::read(object->image)) known->second = std::make_unique<Cubin>(std::move(*cubin));
    }
    return known->second.get();
  }

 private:
  const KernelRecords& records_;
  std::map<std::pair<ProcessId, std::uint64_t>, std::unique_ptr<Cubin>> cubins_;
};

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string line_text(const Cubin* cubin, const GpuFunction& function, std::uint32_t pc) {
  const CubinFunction* const of = cubin == nullptr ? nullptr : cubin->function(function.index);
  std::string text;
  if (of == nullptr) return text;
  for (const SourcePlace& place : cubin->source(*of, pc)) {
    if (!text.empty()) text += " < ";
    text += std::string(last_part(place.file)) + ":" + std::to_string(place.line);
  }
  return text;
}

bool overlaps(const PcSampleWindow& window, const std::optional<TimeRange>& time) {
  return !time || (window.time.begin < time->end && window.time.end > time->begin);
}

struct Counts {
  std::uint64_t samples = 0;
  std::uint64_t not_issued = 0;
};
using Reasons = std::map<std::uint32_t, Counts>;

void append(const Reasons& reasons, const KernelRecords& records, StallSum& sum) {
  for (const auto& [reason, counts] : reasons) {
    sum.stalls.push_back({records.reasons[reason], counts.samples, counts.not_issued});
    sum.samples += counts.samples;
    sum.not_issued += counts.not_issued;
  }
  std::stable_sort(sum.stalls.begin(), sum.stalls.end(), [](const StallCount& a, const StallCount& b) { return a.samples > b.samples; });
}

}  // namespace

const StallCount* StallSum::decisive() const noexcept {
  for (const StallCount& stall : stalls)
    if (stall.reason != "selected" && stall.reason != "not_selected") return &stall;
  return nullptr;
}

std::vector<StallSum> sum_stalls(const Trace& trace, SumBy by, std::optional<TimeRange> time) {
  const KernelRecords& records = trace.kernel_records();
  // First by what is cheap to tell apart, so that each place in the code is looked up once.
  std::map<std::tuple<GpuId, GpuFunctionId, std::uint32_t>, Reasons> by_pc;
  for (const auto& window : records.windows) {
    if (!overlaps(*window, time)) continue;
    for (const PcSample& sample : window->samples) {
      Counts& counts = by_pc[{window->gpu, sample.function, by == SumBy::kKernel ? 0 : sample.pc}][sample.reason];
      counts.samples += sample.samples;
      counts.not_issued += sample.not_issued;
    }
  }
  CodeReader code(records);
  std::map<std::tuple<GpuId, ProcessId, NameId, std::string, std::uint32_t>, Reasons> groups;
  for (const auto& [key, reasons] : by_pc) {
    const auto& [gpu, id, pc] = key;
    const GpuFunction& function = records.functions[id];
    std::string line = by == SumBy::kKernel ? std::string() : line_text(code.of(function), function, pc);
    Reasons& group = groups[{gpu, function.process, function.name, std::move(line), by == SumBy::kInstruction ? pc : 0}];
    for (const auto& [reason, counts] : reasons) {
      group[reason].samples += counts.samples;
      group[reason].not_issued += counts.not_issued;
    }
  }
  std::vector<StallSum> sums;
  for (const auto& [key, reasons] : groups) {
    StallSum& sum = sums.emplace_back();
    std::tie(sum.gpu, sum.process, sum.kernel, sum.line, sum.pc) = key;
    append(reasons, records, sum);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const StallSum& a, const StallSum& b) { return a.samples > b.samples; });
  return sums;
}

SampleLosses sample_losses(const Trace& trace) {
  SampleLosses losses;
  for (const auto& window : trace.kernel_records().windows) {
    losses.dropped += window->dropped;
    losses.full_buffers += window->buffer_was_full ? 1 : 0;
  }
  return losses;
}

StallMeaning stall_meaning(std::string_view reason) noexcept {
  // Two have other names in PC sampling than in metrics.
  if (reason == "warpgroup_arrive") reason = "gmma";
  if (reason == "no_instructions") reason = "no_instruction";
  const StallReason* const known = find_stall_reason(reason);
  return known == nullptr ? StallMeaning() : StallMeaning{known->waits_for, known->remedy};
}

}  // namespace lanescope::kernels
