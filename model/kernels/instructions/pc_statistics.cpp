#include "model/kernels/instructions/pc_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "code/code_lines.h"
#include "model/trace/kernel_records.h"
#include "model/trace/sample_times.h"
#include "stall_reasons.h"

namespace lanescope::kernels {
namespace {

bool overlaps(const PcSampleWindow& window, const std::optional<TimeRange>& time) {
  return !time || (window.time.begin < time->end && window.time.end > time->begin);
}

// Samples with the same six numbers. Fractions are possible if a time contains a part of a window.
struct Sum {
  std::array<std::uint32_t, 6> key;
  double samples = 0;
  double not_issued = 0;
};

// For each kernel, the share of a window's samples that lies in a time.
class Shares {
 public:
  Shares(const Trace& trace, const TimeOfProcess& time) : times_(trace), time_of_(time) {}

  // Must be called before of(). Returns false if no samples lie in the time.
  bool look_at(const PcSampleWindow& window) {
    shares_.clear();
    time_ = time_of_(window.process);
    if (!time_) return true;
    const TimeRange within = sampled_within(window);
    if (within.begin >= time_->end || within.end <= time_->begin) return false;
    for (const auto& [name, runs] : times_.runs(window)) {
      Nanoseconds all = 0, in_time = 0;
      for (const TimeRange& run : runs) {
        all += run.length();
        in_time += std::max<Nanoseconds>(0, std::min(run.end, time_->end) - std::max(run.begin, time_->begin));
      }
      shares_[name] = static_cast<double>(in_time) / static_cast<double>(all);
    }
    return true;
  }

  // All samples if no run of the kernel is known, because they may lie in the time.
  [[nodiscard]] double of(NameId kernel) const {
    const auto found = shares_.find(kernel);
    return found == shares_.end() ? 1 : found->second;
  }

 private:
  SampleTimes times_;
  const TimeOfProcess& time_of_;
  std::optional<TimeRange> time_;  // of the window's process
  std::map<NameId, double> shares_;
};

constexpr std::string_view kDrain = "drain";

std::uint64_t rounded(double samples) { return static_cast<std::uint64_t>(std::llround(samples)); }

// Merges sums with equal keys, and sorts by key.
void merge_equal(std::vector<Sum>& sums) {
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.key < b.key; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (kept == 0 || sums[kept - 1].key != sums[i].key) {
      sums[kept++] = sums[i];
      continue;
    }
    sums[kept - 1].samples += sums[i].samples;
    sums[kept - 1].not_issued += sums[i].not_issued;
  }
  sums.resize(kept);
}

// Adds sums in any order; memory is proportional to the number of distinct keys.
class Summing {
 public:
  void add(const Sum& sum) {
    sums_.push_back(sum);
    if (sums_.size() < next_) return;
    merge_equal(sums_);
    next_ = std::max(kFewest, sums_.size() + sums_.size() / 2);
  }
  [[nodiscard]] std::vector<Sum> take() {
    merge_equal(sums_);
    return std::move(sums_);
  }

 private:
  static constexpr std::size_t kFewest = 1u << 20;
  std::vector<Sum> sums_;
  std::size_t next_ = kFewest;
};

// Samples at each place: code, GPU, function, offset, reason.
std::vector<Sum> sums_of_places(const Trace& trace, const CodeLines& code, SumBy by, const TimeOfProcess& time) {
  const KernelRecords& records = trace.kernel_records();
  Summing summing;
  Shares shares(trace, time);
  for (const auto& window : records.windows) {
    if (!shares.look_at(*window)) continue;
    for (const PcSample& sample : window->samples) {
      const double share = shares.of(records.functions[sample.function].name);
      if (share <= 0) continue;
      summing.add({{code.code_of(sample.function), window->gpu, sample.function, by == SumBy::kKernel ? 0 : sample.pc, sample.reason, 0},
                   share * sample.samples,
                   share * sample.not_issued});
    }
  }
  return summing.take();
}

}  // namespace

const StallCount* StallSum::decisive() const noexcept {
  for (const StallCount& stall : stalls)
    if (stall.reason != "selected" && stall.reason != "not_selected") return &stall;
  return nullptr;
}

std::vector<StallSum> sum_stalls(const Trace& trace, SumBy by, std::optional<TimeRange> time) {
  return sum_stalls(trace, by, [&time](ProcessId) { return time; });
}

std::vector<StallSum> sum_stalls(const Trace& trace, SumBy by, const TimeOfProcess& time) {
  const KernelRecords& records = trace.kernel_records();
  CodeLines code(trace);
  std::vector<Sum> sums = sums_of_places(trace, code, by, time);
  // The same by the requested groups: GPU, process, name, line, offset, reason. Each place in the code is looked up once.
  std::map<std::string, std::uint32_t> line_ids{{"", 0}};
  std::vector<const std::string*> lines{&line_ids.begin()->first};
  std::array<std::uint32_t, 4> last{};  // place
  std::uint32_t line = 0;
  for (Sum& sum : sums) {
    const auto [of, gpu, id, sampled_pc, reason, unused] = sum.key;
    const GpuFunction& function = records.functions[id];
    const std::uint32_t pc = by != SumBy::kKernel && records.reasons[reason] == kDrain ? code.store_before(id, sampled_pc) : sampled_pc;
    if (by != SumBy::kKernel && (&sum == &sums.front() || last != std::array{of, gpu, id, pc})) {
      const auto [known, is_new] = line_ids.try_emplace(code.text(id, pc), static_cast<std::uint32_t>(lines.size()));
      if (is_new) lines.push_back(&known->first);
      line = known->second;
      last = {of, gpu, id, pc};
    }
    sum.key = {gpu, function.process, function.name, line, by == SumBy::kInstruction ? pc : 0, reason};
  }
  merge_equal(sums);
  std::vector<StallSum> result;
  for (std::size_t i = 0; i < sums.size();) {
    StallSum& group = result.emplace_back();
    const auto begin = sums[i].key;
    group.gpu = begin[0];
    group.process = begin[1];
    group.kernel = begin[2];
    group.line = *lines[begin[3]];
    group.pc = begin[4];
    for (; i < sums.size() && std::equal(begin.begin(), begin.begin() + 5, sums[i].key.begin()); ++i) {
      const StallCount stall{records.reasons[sums[i].key[5]], rounded(sums[i].samples), rounded(sums[i].not_issued)};
      if (stall.samples == 0) continue;
      group.stalls.push_back(stall);
      group.samples += stall.samples;
      group.not_issued += stall.not_issued;
    }
    if (group.stalls.empty()) {
      result.pop_back();
      continue;
    }
    std::sort(group.stalls.begin(), group.stalls.end(),
              [](const StallCount& a, const StallCount& b) { return a.samples != b.samples ? a.samples > b.samples : a.reason < b.reason; });
  }
  // Equal ones are sorted by text, because ids of texts differ between files.
  std::stable_sort(result.begin(), result.end(), [&trace](const StallSum& a, const StallSum& b) {
    if (a.samples != b.samples) return a.samples > b.samples;
    return std::tuple(trace.name(a.kernel), std::string_view(a.line), a.pc) < std::tuple(trace.name(b.kernel), std::string_view(b.line), b.pc);
  });
  return result;
}

std::optional<SampledPart> sampled_part(const Trace& trace, std::optional<TimeRange> time) {
  std::vector<TimeRange> windows;
  Nanoseconds every = 0;
  for (const auto& window : trace.kernel_records().windows) {
    if (window->every == 0 || !overlaps(*window, time)) continue;
    windows.push_back(window->time);
    every = std::max(every, window->every);
  }
  if (windows.empty()) return std::nullopt;
  std::sort(windows.begin(), windows.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  SampledPart part;
  part.of = std::max(windows.back().begin - windows.front().begin + every, windows.back().end - windows.front().begin);
  Nanoseconds end = windows.front().begin;
  for (const TimeRange& window : windows) {
    if (window.begin >= end) ++part.windows;  // several contexts may have the same window
    if (window.end > end) part.sampled += window.end - std::max(end, window.begin);
    end = std::max(end, window.end);
  }
  return part;
}

StallMeaning stall_meaning(std::string_view reason) noexcept {
  // Two reasons have other names in PC sampling than in metrics.
  if (reason == "warpgroup_arrive") reason = "gmma";
  if (reason == "no_instructions") reason = "no_instruction";
  const StallReason* const known = find_stall_reason(reason);
  return known == nullptr ? StallMeaning() : StallMeaning{known->waits_for, known->remedy};
}

}  // namespace lanescope::kernels
