// no_overlap and pageable: copies that cost more than necessary.
#include <algorithm>
#include <map>
#include <tuple>

#include "../own_rules.h"
#include "../wording.h"
#include "loop/loop_work.h"
#include "model/analysis/families.h"
#include "model/events/event_values.h"
#include "model/trace/median.h"
#include "ranks/rank_work.h"
#include "threads/range_lookup.h"

namespace lanescope::analysis {
namespace {

struct Exposure {
  Nanoseconds copies = 0;
  Nanoseconds hidden = 0;    // time behind kernels of the same process and GPU
  Nanoseconds winnable = 0;  // the most time for which copies and kernels that run alone could run beside each other
};

Exposure exposure_of(const RankWork& rank) {
  Exposure exposure;
  exposure.copies = rank.transfers.total();
  exposure.hidden = rank.transfers.beside();
  exposure.winnable = std::min(exposure.copies - exposure.hidden, rank.compute.total() - exposure.hidden);
  return exposure;
}

// If kernels could hide half of the copies, a pipeline is worthwhile; with shorter kernels most of the copies would still be seen.
bool are_kernels_too_short(const Exposure& exposure) noexcept { return exposure.winnable < (exposure.copies - exposure.hidden) / 2; }

// The rate of one kind of copy.
struct Rate {
  double bytes_per_second = 0;
  enum class Source : std::uint8_t { kMeasured, kAssumed } source = Source::kAssumed;
};

// PCI Express 4 with 16 lanes reaches about this rate; if the trace has pinned copies of its own, their rate counts.
constexpr double kAssumedPinnedRate = 25e9;
constexpr std::uint64_t kLargeCopy = 1'000'000;  // bytes from which on a copy's rate says something about the link

using Direction = std::pair<GpuId, CopyKind>;

// The median rate of large pinned copies, by GPU and direction.
std::map<Direction, Rate> pinned_rates(const Trace& trace) {
  std::map<Direction, std::vector<double>> samples;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kMemory) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) {
        const MemoryDetail& detail = trace.memory_detail(lane.detail(i));
        const bool pinned = detail.source_memory == MemoryKind::kPinned || detail.destination_memory == MemoryKind::kPinned;
        if (is_transfer(detail) && pinned && !moves_pageable_memory(detail) && detail.bytes >= kLargeCopy && lane.duration(i) > 0)
          samples[{track.key.gpu, detail.copy_kind}].push_back(static_cast<double>(detail.bytes) * 1e9 / static_cast<double>(lane.duration(i)));
      }
    }
  }
  std::map<Direction, Rate> rates;
  for (auto& [direction, values] : samples) rates[direction] = {median(std::move(values)), Rate::Source::kMeasured};
  return rates;
}

struct PageableGroup {
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
  Nanoseconds total = 0;
  Nanoseconds gain = 0;
  Nanoseconds longest = -1;
  EventRef longest_copy;
};
using PageableKey = std::tuple<GpuId, NameId, FamilyId, NameId>;  // GPU, operation, NVTX range, call

std::map<PageableKey, PageableGroup> pageable_copies(const RuleContext& context, const LoopWork& work, Families& families, std::uint64_t least_bytes) {
  const Trace& trace = context.trace;
  std::map<PageableKey, PageableGroup> groups;
  const std::map<Direction, Rate> rates = pinned_rates(trace);
  const LaunchIndex& launches = context.launches();
  RangeLookup ranges(trace);
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kMemory) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size() && !context.stop.stop_requested(); ++i) {
        const MemoryDetail& detail = trace.memory_detail(lane.detail(i));
        if (!moves_pageable_memory(detail) || !is_transfer(detail) || detail.bytes < least_bytes) continue;
        if (!context.time.contains(lane.start(i)) || !work.has({id, i}, lane.start(i))) continue;
        const EventRef launch = launches.find(track.key.process, lane.correlation(i), lane.start(i));
        FamilyId family = 0;
        NameId call = 0;
        if (launch.valid()) {
          const Lane& calls = trace.lane(launch.lane);
          family = families.of(ranges.innermost(trace.track_of(launch.lane).key.thread, calls.start(launch.index)));
          call = calls.name(launch.index);
        }
        const auto rate = rates.find({track.key.gpu, detail.copy_kind});
        const double pinned = rate == rates.end() ? kAssumedPinnedRate : rate->second.bytes_per_second;
        const auto expected = static_cast<Nanoseconds>(static_cast<double>(detail.bytes) / pinned * 1e9);
        PageableGroup& group = groups[{track.key.gpu, lane.name(i), family, call}];
        ++group.copies;
        group.bytes += detail.bytes;
        const Nanoseconds within = std::min(lane.end(i), context.time.end) - lane.start(i);
        group.total += within;
        group.gain += std::min(within, std::max<Nanoseconds>(0, lane.duration(i) - expected));
        if (lane.duration(i) > group.longest) {
          group.longest = lane.duration(i);
          group.longest_copy = {id, i};
        }
      }
    }
  }
  return groups;
}

std::string copy_name(const Trace& trace, EventRef copy) {
  return std::string(memory_operation_name(trace.memory_detail(trace.lane(copy.lane).detail(copy.index))));
}

}  // namespace

Result<RuleAnswer> find_no_overlap(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  RuleAnswer answer;
  stats::Table table({stats::texts("GPU"), stats::integers("PID"), stats::integers("Copy Time", stats::Unit::kNanoseconds),
                      stats::integers("Hidden", stats::Unit::kNanoseconds), stats::reals("Hidden", stats::Unit::kPercent),
                      stats::integers("Kernel Time", stats::Unit::kNanoseconds), stats::integers("Winnable", stats::Unit::kNanoseconds)});
  const LoopWork& work = loop_work(context);
  const GpuTexts texts_of_gpus(trace);
  std::vector<GpuId> gpus;
  for (const RankWork& rank : work.of_ranks()) {
    const Exposure exposure = exposure_of(rank);
    if (exposure.copies == 0) continue;
    table.add_row(table.add_text(gpu_label(trace, rank.gpu)), std::int64_t{trace.processes()[rank.process].pid}, exposure.copies, exposure.hidden,
                  percent_of(exposure.hidden, exposure.copies), rank.compute.total(), exposure.winnable);
    gpus.push_back(rank.gpu);
    const Nanoseconds span = work.span(rank.gpu, rank.extent), exposed = exposure.copies - exposure.hidden;
    const bool is_mostly_copies = are_kernels_too_short(exposure) && percent_of(exposed, span) >= arguments.real("most");
    const bool worth_it = is_mostly_copies || percent_of(exposure.winnable, span) >= arguments.real("share");
    if (!worth_it || percent_of(exposure.hidden, exposure.copies) > arguments.real("hidden")) continue;
    Finding finding;
    finding.rule = "no_overlap";
    finding.title = Message(
        is_mostly_copies
            ? "{gpu} copied for {copies}, and for {exposed} of that no kernel of the same process ran ({share} of {loop}): the program mostly copies."
            : "{gpu} copied for {copies}, and for {exposed} of that no kernel of the same process ran ({share} of {loop}): copies and kernels take turns.",
        {{"gpu", texts_of_gpus.named(rank.gpu)},
         {"copies", duration_text(exposure.copies)},
         {"exposed", duration_text(exposed)},
         {"share", percent_text(exposed, span)},
         {"loop", work.text()}});
    finding.seen = Message("Kernels ran for {kernels}; {hidden} of the copy time is hidden behind them. Run beside each other, they could save up to {won}.",
                           {{"kernels", duration_text(rank.compute.total())},
                            {"hidden", percent_text(exposure.hidden, exposure.copies)},
                            {"won", duration_text(exposure.winnable)}});
    finding.place.range = rank.transfers.longest_alone();  // the copies beside which the least ran
    finding.place.gpu = rank.gpu;
    finding.place.process = rank.process;
    finding.cost = is_mostly_copies ? exposed : exposure.winnable;
    if (are_kernels_too_short(exposure))
      finding.advice =
          "Copy less first, since kernels are too short to hide these copies: keep data on the GPU from kernel to kernel, compute there what "
          "the CPU does in between, copy only what is needed, and many small copies as one. Then split the rest in pieces and use two or more streams: copy "
          "one piece while kernels "
          "work on another, and results back beside both.";
    else
      finding.advice = "Split the work in pieces and use two or more streams: copy one piece while kernels work on another (double buffering).";
    answer.findings.push_back(std::move(finding));
  }
  add_files(trace, gpus, table);
  if (!table.empty()) answer.tables.push_back({"no_overlap", "Copies and kernels beside each other", std::move(table)});
  if (answer.findings.empty()) answer.message = "Copies take little time, or run beside kernels.";
  return answer;
}

Result<RuleAnswer> find_pageable(const RuleContext& context, const RuleArguments& arguments) {
  const Trace& trace = context.trace;
  const LoopWork& work = loop_work(context);
  Families families = work.families();
  const auto groups = pageable_copies(context, work, families, static_cast<std::uint64_t>(std::max<std::int64_t>(0, arguments.integer("bytes"))));
  std::vector<std::pair<PageableKey, PageableGroup>> sorted(groups.begin(), groups.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.gain > b.second.gain; });

  RuleAnswer answer;
  stats::Table table({stats::integers("Gain", stats::Unit::kNanoseconds), stats::integers("Total Time", stats::Unit::kNanoseconds), stats::integers("Copies"),
                      stats::integers("Total", stats::Unit::kBytes), stats::reals("Rate", stats::Unit::kBytesPerSecond), stats::integers("GPU"),
                      stats::texts("Operation"), stats::texts("NVTX Range"), stats::texts("Call")});
  PageableGroup all;
  std::vector<GpuId> gpus;
  for (const auto& [key, group] : sorted) {
    const auto& [gpu, name, family, call] = key;
    const double rate = group.total > 0 ? static_cast<double>(group.bytes) * 1e9 / static_cast<double>(group.total) : 0;
    table.add_row(group.gain, group.total, static_cast<std::int64_t>(group.copies), static_cast<std::int64_t>(group.bytes), rate,
                  static_cast<std::int64_t>(trace.gpus()[gpu].ordinal), table.add_text(copy_name(trace, group.longest_copy)),
                  table.add_text(families.text(family)), table.add_text(std::string(api_display_name(trace.name(call)))));
    gpus.push_back(gpu);
    all.copies += group.copies;
    all.bytes += group.bytes;
    all.total += group.total;
    all.gain += group.gain;
  }
  Nanoseconds span = 0;
  for (const RankWork& rank : work.of_ranks()) span += work.span(rank.gpu, rank.extent);
  constexpr double kMostOfTheTime = 50;  // percent
  if (all.gain > 0 && percent_of(all.gain, span) >= arguments.real("share")) {
    const PageableGroup& longest =
        std::max_element(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.longest < b.second.longest; })->second;
    const std::string range = families.text(std::get<2>(sorted.front().first));
    Finding finding;
    finding.rule = "pageable";
    finding.title = Message(
        "{time} ({share} of {loop}) went into copies of pageable memory; from pinned memory they would take about {pinned}.",
        {{"time", duration_text(all.total)}, {"share", percent_text(all.total, span)}, {"loop", work.text()}, {"pinned", duration_text(all.total - all.gain)}});
    finding.seen = Message("{transfers} of {bytes} in total{where}; the longest took {longest}.",
                           {{"transfers", counted(all.copies, "transfer")},
                            {"bytes", bytes_text(all.bytes)},
                            {"where", range.empty() ? Message() : Message(", mostly in {place}", {{"place", range_text(trace, range)}})},
                            {"longest", duration_text(longest.longest)}});
    const Lane& lane = trace.lane(longest.longest_copy.lane);
    const TrackKey& track = trace.track_of(longest.longest_copy.lane).key;
    finding.place.range = {lane.start(longest.longest_copy.index), lane.end(longest.longest_copy.index)};
    finding.place.event = longest.longest_copy;
    finding.place.gpu = track.gpu;
    finding.place.process = track.process;
    finding.cost = all.gain;
    finding.advice =
        "Allocate the host side with cudaMallocHost or cudaHostAlloc, or register it (PyTorch: pin_memory=True and non_blocking=True); "
        "then the copy "
        "goes at full speed and can run beside kernels.";
    if (percent_of(all.total, span) >= kMostOfTheTime)
      finding.advice = followed_by(
          "Copy less first, since copies take most of the time: keep data on the GPU from kernel to kernel, copy only what is needed, "
          "and many small copies as one.",
          finding.advice);
    answer.findings.push_back(std::move(finding));
  }
  add_files(trace, gpus, table);
  if (!table.empty()) answer.tables.push_back({"pageable", "Copies of pageable memory", std::move(table)});
  if (answer.findings.empty()) answer.message = "No copies of pageable memory that would be faster from pinned memory.";
  return answer;
}

}  // namespace lanescope::analysis
