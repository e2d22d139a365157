#include "analysis/bubble_list.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/shown_name.h"
#include "model/analysis/loop.h"
#include "model/samples/most_sampled.h"
#include "model/samples/thread_samples.h"

namespace lanescope::ui {
namespace {

using analysis::Families;
using analysis::IdleGap;
using analysis::IdlePart;
using analysis::Loop;
using analysis::Recurrence;
using stats::Table;
using stats::Unit;

Nanoseconds time_within(const IdlePiece& piece, const std::optional<TimeRange>& window) {
  return window ? piece.part.range.intersected(*window).length() : piece.part.range.length();
}

BubbleGroup group_of(const BubbleList& bubbles, const IdlePiece& piece, BubbleGrouping by) {
  BubbleGroup group;
  if (bubbles.has_loop) group.recurrence = piece.recurrence;
  const bool by_all = by == BubbleGrouping::kCauseRangeAndCall;
  if (by_all || by == BubbleGrouping::kCause || by == BubbleGrouping::kGpu) group.cause = piece.part.cause;
  if (by_all || by == BubbleGrouping::kRange) group.family = piece.family;
  if (by_all || by == BubbleGrouping::kCall) group.call = piece.part.call;
  if (by == BubbleGrouping::kGpu) group.gpu = bubbles.gaps[piece.gap].gpu;
  return group;
}

// Adds what the launching thread was seen to run in the piece, as far as it lies within the window.
void count_samples(const samples::ThreadSamples& all, const BubbleList& bubbles, const IdlePiece& piece,
                   const std::optional<TimeRange>& window, samples::ChainCounts& chains) {
  const EventRef launch = bubbles.gaps[piece.gap].launch;
  if (all.empty() || piece.part.cause != analysis::IdleCause::kCpuCode || !launch.valid()) return;
  all.count(bubbles.trace->track_of(launch.lane).key.thread, window ? piece.part.range.intersected(*window) : piece.part.range, chains);
}

std::string sampled_text(const Trace& trace, const samples::ChainCounts& chains, std::size_t functions) {
  return samples::most_sampled_text(trace, chains, samples::ChainPart::kInnermostPython, functions);
}

struct Sum {
  samples::ChainCounts chains;
  Nanoseconds total = 0;
  std::int64_t pieces = 0;
  Nanoseconds longest_time = 0;
  std::uint32_t longest = 0;
  std::uint32_t last_gap = kNone;
  std::uint64_t gaps = 0;
  Nanoseconds in_short_gaps = 0;
};

std::string_view advice_about(const Trace& trace, const BubbleGroup& group, const Sum& sum) {
  if (!group.cause) return {};
  const std::string_view call = group.call && *group.call != 0 ? trace.name(*group.call) : std::string_view();
  return analysis::idle_advice({*group.cause, call, sum.gaps, sum.total, sum.in_short_gaps});
}

stats::TextId text(Table& table, std::string_view value) { return table.add_text(std::string(value)); }

std::string_view recurrence_text(Recurrence recurrence) { return recurrence == Recurrence::kOnce ? "setup" : "loop"; }

std::string operation_text(const Trace& trace, EventRef operation) {
  return shown_name(trace, event_kind(trace, operation), trace.event(operation).name).toStdString();
}

std::string_view call_text(const Trace& trace, NameId call) { return call == 0 ? std::string_view() : api_display_name(trace.name(call)); }

}  // namespace

BubbleList collect_bubbles(std::shared_ptr<const Trace> trace, Nanoseconds threshold, std::stop_token stop) {
  BubbleList bubbles;
  bubbles.trace = trace;
  bubbles.threshold = threshold;
  Families families(*trace);
  const Loop loop(*trace, families);
  bubbles.has_loop = loop.known();
  const auto visit = [&](const IdleGap& gap, std::span<const IdlePart> parts) {
    const Nanoseconds enqueued = gap.launch.valid() ? trace->lane(gap.launch.lane).start(gap.launch.index) : gap.range.begin;
    const ProcessId process = trace->track_of(gap.next.lane).key.process;
    for (const IdlePart& part : parts)
      bubbles.pieces.push_back({part, static_cast<std::uint32_t>(bubbles.gaps.size()), families.of(part.nvtx),
                                loop.recurrence(process, part.range.begin, enqueued)});
    bubbles.gaps.push_back(gap);
  };
  bubbles.gpus = analysis::visit_idle(*trace, threshold, visit, stop);
  for (analysis::FamilyId family = 0; family < families.size(); ++family) bubbles.families.push_back(families.text(family));
  return bubbles;
}

bool BubbleGroup::holds(const BubbleList& bubbles, const IdlePiece& piece) const {
  return (!recurrence || *recurrence == piece.recurrence) && (!cause || *cause == piece.part.cause) &&
         (!family || *family == piece.family) && (!call || *call == piece.part.call) && (!gpu || *gpu == bubbles.gaps[piece.gap].gpu);
}

GroupedBubbles group_bubbles(const BubbleList& bubbles, BubbleGrouping by, std::optional<TimeRange> window) {
  constexpr std::size_t kNamed = 3;
  GroupedBubbles grouped;
  const samples::ThreadSamples samples(*bubbles.trace);
  std::map<BubbleGroup, Sum> sums;
  for (std::uint32_t i = 0; i < bubbles.pieces.size(); ++i) {
    const Nanoseconds time = time_within(bubbles.pieces[i], window);
    if (time <= 0) continue;
    Sum& sum = sums[group_of(bubbles, bubbles.pieces[i], by)];
    sum.total += time;
    ++sum.pieces;
    const std::uint32_t gap = bubbles.pieces[i].gap;
    if (std::exchange(sum.last_gap, gap) != gap) ++sum.gaps;
    if (bubbles.gaps[gap].range.length() <= analysis::kShortGap) sum.in_short_gaps += time;
    if (time > sum.longest_time) {
      sum.longest_time = time;
      sum.longest = i;
    }
    grouped.total += time;
    count_samples(samples, bubbles, bubbles.pieces[i], window, sum.chains);
  }
  std::vector<std::pair<BubbleGroup, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    if (a.first.recurrence != b.first.recurrence) return a.first.recurrence < b.first.recurrence;  // what is paid once comes last
    return a.second.total > b.second.total;
  });

  Table table({stats::integers("Idle", Unit::kNanoseconds), stats::reals("Share", Unit::kPercent), stats::texts("GPU"),
               stats::texts("Cause"), stats::texts(kSampledCodeTitle), stats::texts("NVTX Range"), stats::texts("Call"),
               stats::texts("When"), stats::integers("Pieces"), stats::integers("Longest", Unit::kNanoseconds)});
  const Trace& trace = *bubbles.trace;
  std::map<std::optional<Recurrence>, Nanoseconds> totals;  // of the loop and of what lies outside of it, where there is one
  for (const auto& [group, sum] : sorted) totals[group.recurrence] += sum.total;
  for (const auto& [group, sum] : sorted) {
    table.add_row(sum.total, 100.0 * static_cast<double>(sum.total) / static_cast<double>(totals[group.recurrence]),
                  text(table, group.gpu ? "GPU " + std::to_string(trace.gpus()[*group.gpu].ordinal) : ""),
                  text(table, group.cause ? analysis::idle_cause_name(*group.cause) : ""),
                  table.add_text(sampled_text(trace, sum.chains, 1)), text(table, group.family ? bubbles.families[*group.family] : ""),
                  text(table, group.call ? call_text(trace, *group.call) : ""),
                  text(table, group.recurrence ? recurrence_text(*group.recurrence) : ""), sum.pieces, sum.longest_time);
    grouped.groups.push_back(group);
    grouped.longest.push_back(sum.longest);
    grouped.advice.push_back(advice_about(trace, group, sum));
    grouped.sampled.push_back(sampled_text(trace, sum.chains, kNamed));
  }
  grouped.table = std::move(table);
  return grouped;
}

ListedBubbles list_bubbles(const BubbleList& bubbles, const BubbleGroup& group, std::optional<TimeRange> window) {
  ListedBubbles listed;
  for (std::uint32_t i = 0; i < bubbles.pieces.size(); ++i)
    if (time_within(bubbles.pieces[i], window) > 0 && group.holds(bubbles, bubbles.pieces[i])) listed.pieces.push_back(i);
  std::stable_sort(listed.pieces.begin(), listed.pieces.end(), [&](std::uint32_t a, std::uint32_t b) {
    return bubbles.pieces[a].part.range.length() > bubbles.pieces[b].part.range.length();
  });
  if (listed.pieces.size() > kListedPieces) {
    listed.omitted = listed.pieces.size() - kListedPieces;
    listed.pieces.resize(kListedPieces);
  }

  Table table({stats::integers("Idle", Unit::kNanoseconds), stats::integers("Start", Unit::kNanoseconds), stats::texts("Cause"),
               stats::texts(kSampledCodeTitle), stats::texts("NVTX Range"), stats::texts("Call"), stats::texts("Before"),
               stats::texts("GPU")});
  const Trace& trace = *bubbles.trace;
  const samples::ThreadSamples samples(trace);
  for (const std::uint32_t index : listed.pieces) {
    const IdlePiece& piece = bubbles.pieces[index];
    const IdleGap& gap = bubbles.gaps[piece.gap];
    const EventRef range = piece.part.nvtx;
    samples::ChainCounts chains;
    count_samples(samples, bubbles, piece, window, chains);
    table.add_row(piece.part.range.length(), piece.part.range.begin, text(table, analysis::idle_cause_name(piece.part.cause)),
                  table.add_text(sampled_text(trace, chains, 1)), text(table, range.valid() ? trace.name(trace.event(range).name) : ""),
                  text(table, call_text(trace, piece.part.call)), table.add_text(operation_text(trace, gap.next)),
                  text(table, bubbles.gpus.size() < 2 ? "" : "GPU " + std::to_string(trace.gpus()[gap.gpu].ordinal)));
  }
  listed.table = std::move(table);
  return listed;
}

}  // namespace lanescope::ui
