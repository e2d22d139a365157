#include "sampled_code.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/events/event_values.h"
#include "wording.h"

namespace lanescope::analysis::bubbles {
namespace {

constexpr double kWorthNaming = 0.2;      // of samples: a function with this share shows what ran
constexpr std::uint64_t kNoChance = 3;    // samples: what was seen less often may have been seen by chance
constexpr std::uint64_t kFewSamples = 5;  // fewer say nothing about files either
constexpr double kWorthListing = 0.01;

std::uint64_t sample_count(const samples::ChainCounts& chains) {
  std::uint64_t count = 0;
  for (const auto& [chain, samples] : chains) count += samples;
  return count;
}

// The share of the samples that ran in files whose names start with one of these.
template <std::size_t N>
double share_of_files(const Trace& trace, const samples::ChainCounts& chains, const std::array<std::string_view, N>& beginnings) {
  double share = 0;
  for (const samples::MostSampledFile& file : samples::most_sampled_files(trace, chains, std::numeric_limits<std::size_t>::max()))
    if (std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) { return file.name.starts_with(beginning); })) share += file.share;
  return share;
}

bool has_python_samples(const Trace& trace) {
  const CallStacks& stacks = trace.call_stacks();
  for (CodeLocationId id = 1; id < stacks.location_count(); ++id)
    if (stacks.location(id).kind == CodeKind::kPython) return true;
  return false;
}

}  // namespace

Message sampled_text(const Trace& trace, const samples::ChainCounts& chains, std::size_t functions, double least_share) {
  return samples::most_sampled_text(trace, chains, samples::ChainPart::kInnermostPython, functions, least_share);
}

Message often_sampled_function(const Trace& trace, const samples::ChainCounts& chains) {
  const std::vector<samples::MostSampled> most = samples::most_sampled(trace, chains, samples::ChainPart::kInnermostPython, 1);
  if (most.empty() || most.front().function == 0 || most.front().count < kNoChance) return {};
  return sampled_text(trace, chains, 1, kWorthNaming);
}

Message mostly_sampled(const Trace& trace, const samples::ChainCounts& chains) {
  const Message function = often_sampled_function(trace, chains);
  if (!function.empty() || sample_count(chains) < kFewSamples) return function;
  return samples::most_sampled_files_text(trace, chains, 1, kMost);
}

Message unsampled_text(const Trace& trace, const std::set<ProcessId>& processes) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (const ProcessId process : processes) {
    const auto tracks = trace.tracks_of(process, TrackKind::kCpuSamples);
    const auto has_samples = [&](TrackId track) {
      return std::any_of(trace.tracks()[track].lanes.begin(), trace.tracks()[track].lanes.end(), [&](LaneId lane) { return !trace.lane(lane).empty(); });
    };
    if (std::any_of(tracks.begin(), tracks.end(), has_samples)) continue;
    const std::string file = file_of_process(trace, process);
    const std::string name = file.empty() ? process_label(trace, process) : file;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  Message text;
  for (std::size_t i = 0; i < std::min(kNamed, names.size()); ++i) text = listed(std::move(text), Message::verbatim(names[i]));
  return names.size() > kNamed ? listed(std::move(text), Message::verbatim("...")) : text;
}

Message samples_text(const Trace& trace, const samples::ChainCounts& chains) {
  constexpr std::size_t kNamed = 3;
  const Message files = samples::most_sampled_files_text(trace, chains, kNamed, kWorthListing);
  if (files.empty()) return {};
  const Message samples = counted(sample_count(chains), "sample");
  if (often_sampled_function(trace, chains).empty()) return Message(" {samples} of the CPU in it, by file: {files}.", {{"samples", samples}, {"files", files}});
  return Message(" {samples} of the CPU in it: {functions}.", {{"samples", samples}, {"functions", sampled_text(trace, chains, kNamed)}});
}

bool runs_python(const Trace& trace, const samples::ChainCounts& chains) {
  constexpr std::array<std::string_view, 3> kInterpreters{"python", "libpython", "Python"};
  return share_of_files(trace, chains, kInterpreters) >= kMost;
}

Message advice_for_code(const Trace& trace, const samples::ChainCounts& chains, const Message& advice) {
  constexpr std::array<std::string_view, 6> kCompilers{"libnvrtc", "libnvJitLink", "libnvptxcompiler", "libnvidia-ptxjitcompiler", "libLLVM", "libtriton"};
  if (share_of_files(trace, chains, kCompilers) >= kMost)
    return "Kernels are compiled while the program runs, mostly anew for each shape or type: keep shapes the same (pad them, or sort them into a few), compile "
           "before the loop, and keep what was compiled. In PyTorch, torch.backends.cudnn.benchmark tries and compiles for each new shape.";
  if (runs_python(trace, chains) && !has_python_samples(trace)) return followed_by(advice, "Record with --python-sampling to see which lines of Python run.");
  return advice;
}

bool waits_by_running(const Trace& trace, const samples::ChainCounts& chains) {
  constexpr std::array<std::string_view, 8> kWaits{"gomp_barrier_wait", "gomp_team_barrier_wait", "gomp_team_end", "do_spin", "do_wait", "__kmp_", "kmp_flag_",
                                                   "sched_yield"};
  double share = 0;
  for (const samples::MostSampled& each : samples::most_sampled(trace, chains, samples::ChainPart::kInnermost, std::numeric_limits<std::size_t>::max())) {
    const std::string_view name = trace.name(each.function);
    if (std::any_of(kWaits.begin(), kWaits.end(), [&](std::string_view beginning) { return name.starts_with(beginning); })) share += each.share;
  }
  return share >= kMost;
}

}  // namespace lanescope::analysis::bubbles
