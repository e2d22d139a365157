#include "analysis/bubble_list.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text/shown_name.h"
#include "model/analysis/loop/loop.h"
#include "model/samples/most_sampled.h"
#include "model/samples/thread_samples.h"
#include "model/text/message.h"
#include "model/text/to_translate.h"
#include "timeline/core/lanes/idle_time.h"

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

// Adds the samples of the launching thread in the piece, as far as it lies within the window.
void count_samples(const samples::ThreadSamples& all, const BubbleList& bubbles, const IdlePiece& piece, const std::optional<TimeRange>& window,
                   samples::ChainCounts& chains) {
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
  Nanoseconds longest_time = 0;
  std::uint32_t longest = 0;  // the gap with this time
  std::uint32_t last_gap = kNone;
  Nanoseconds in_last_gap = 0;
  std::uint64_t gaps = 0;
  Nanoseconds in_short_gaps = 0;
};

// The part of a gap that belongs to the requested pieces.
struct GapShare {
  std::uint32_t gap = 0;
  std::uint32_t first_piece = 0;  // among all pieces of the gap
  std::uint32_t end_piece = 0;    // one past the last
  Nanoseconds time = 0;
  Nanoseconds in_loop = 0;  // part of `time`
  [[nodiscard]] Recurrence recurrence() const { return in_loop > 0 ? Recurrence::kRecurring : Recurrence::kOnce; }
};

std::string_view advice_about(const Trace& trace, const BubbleGroup& group, const Sum& sum) {
  if (!group.cause) return {};
  const std::string_view call = group.call && *group.call != 0 ? trace.name(*group.call) : std::string_view();
  return analysis::idle_advice({*group.cause, call, sum.gaps, sum.total, sum.in_short_gaps});
}

stats::TextId text(Table& table, std::string_view value) { return table.add_text(std::string(value)); }

std::string_view recurrence_text(Recurrence recurrence) { return recurrence == Recurrence::kOnce ? to_translate("setup") : to_translate("loop"); }

std::string operation_text(const Trace& trace, EventRef operation) {
  return shown_name(trace, event_kind(trace, operation), trace.event(operation).name).toStdString();
}

std::string_view call_text(const Trace& trace, NameId call);

// The texts about a gap: its causes, and the range and the call of the longest piece.
struct GapWords {
  std::string causes;  // "Running CPU code, and 2 more"
  std::string sampled;
  std::string_view range;
  std::string_view call;
};

GapWords words_of(const BubbleList& bubbles, const samples::ThreadSamples& samples, const GapShare& share, const std::optional<TimeRange>& window) {
  std::map<analysis::IdleCause, Nanoseconds> causes;
  samples::ChainCounts chains;
  const IdlePiece* longest = &bubbles.pieces[share.first_piece];
  for (std::uint32_t i = share.first_piece; i < share.end_piece; ++i) {
    const IdlePiece& piece = bubbles.pieces[i];
    causes[piece.part.cause] += piece.part.range.length();
    if (piece.part.range.length() > longest->part.range.length()) longest = &piece;
    count_samples(samples, bubbles, piece, window, chains);
  }
  const auto main = std::max_element(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  GapWords words{std::string(analysis::idle_cause_name(main->first)), sampled_text(*bubbles.trace, chains, 1), {}, {}};
  if (causes.size() > 1)
    words.causes =
        Message("{cause}, and {number} more", {{"cause", Message(analysis::idle_cause_name(main->first))}, {"number", std::to_string(causes.size() - 1)}})
            .in(shown_language());
  if (longest->part.nvtx.valid()) words.range = bubbles.trace->name(bubbles.trace->event(longest->part.nvtx).name);
  words.call = call_text(*bubbles.trace, longest->part.call);
  return words;
}

// The state in which the thread was for most of the time; empty if its states are not known.
std::string_view state_text(const Trace& trace, ThreadId thread, TimeRange range) {
  std::map<ThreadState, Nanoseconds> times;
  for (const TrackId id : trace.tracks_of(trace.threads()[thread].process, TrackKind::kThreadStates)) {
    const Track& track = trace.tracks()[id];
    if (track.key.thread != thread) continue;
    for (const LaneId id_of_lane : track.lanes) {
      const Lane& lane = trace.lane(id_of_lane);
      const auto [first, end] = lane.overlapping(range);
      for (EventIndex i = first; i < end; ++i)
        times[trace.thread_state_detail(lane.detail(i)).state] += TimeRange{lane.start(i), lane.end(i)}.intersected(range).length();
    }
  }
  const auto most = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? std::string_view() : thread_state_name(most->first);
}

std::string name_of(const BubbleList& bubbles, const BubbleGroup& group) {
  std::string name;
  const auto add = [&name](std::string_view part) { name.append(part).push_back('\n'); };
  add(group.recurrence ? recurrence_text(*group.recurrence) : "");
  add(group.cause ? analysis::idle_cause_name(*group.cause) : "");
  add(group.family ? bubbles.families[*group.family] : "");
  add(group.call ? call_text(*bubbles.trace, *group.call) : "");
  add(group.gpu ? std::to_string(*group.gpu) : "");
  return name;
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
    const Nanoseconds enqueued = gap.enqueued();
    const ProcessId process = trace->track_of(gap.next.lane).key.process;
    for (const IdlePart& part : parts)
      bubbles.pieces.push_back(
          {part, static_cast<std::uint32_t>(bubbles.gaps.size()), families.of(part.nvtx), loop.recurrence(process, part.range.begin, enqueued)});
    bubbles.gaps.push_back(gap);
  };
  bubbles.gpus = analysis::visit_idle(*trace, threshold, visit, stop);
  for (analysis::FamilyId family = 0; family < families.size(); ++family) bubbles.families.push_back(families.text(family));
  return bubbles;
}

bool BubbleGroup::holds(const BubbleList& bubbles, const IdlePiece& piece) const {
  return (!recurrence || *recurrence == piece.recurrence) && (!cause || *cause == piece.part.cause) && (!family || *family == piece.family) &&
         (!call || *call == piece.part.call) && (!gpu || *gpu == bubbles.gaps[piece.gap].gpu);
}

std::optional<std::size_t> GroupedBubbles::rowNamed(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
}

BubbleGroup GroupedBubbles::named(const std::string& name) const {
  const std::optional<std::size_t> row = rowNamed(name);
  return row ? groups[*row] : BubbleGroup{};
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
    const std::uint32_t gap = bubbles.pieces[i].gap;
    if (std::exchange(sum.last_gap, gap) != gap) {
      ++sum.gaps;
      sum.in_last_gap = 0;
    }
    sum.in_last_gap += time;
    if (bubbles.gaps[gap].range.length() <= analysis::kShortGap) sum.in_short_gaps += time;
    if (sum.in_last_gap > sum.longest_time) {
      sum.longest_time = sum.in_last_gap;
      sum.longest = gap;
    }
    grouped.total += time;
    count_samples(samples, bubbles, bubbles.pieces[i], window, sum.chains);
  }
  std::vector<std::pair<BubbleGroup, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    if (a.first.recurrence != b.first.recurrence) return a.first.recurrence < b.first.recurrence;  // one-time costs come last
    return a.second.total > b.second.total;
  });

  // "When" comes before columns that may not fit into a narrow panel: groups are sorted by it first, and shares are relative to it.
  Table table({stats::integers("Idle", Unit::kNanoseconds), stats::reals("Share", Unit::kPercent), stats::words("When"), stats::texts("GPU"),
               stats::words("Cause"), stats::texts(std::string(kSampledCodeTitle)), stats::texts("NVTX Range"), stats::texts("Call"), stats::integers("Gaps"),
               stats::integers("Longest", Unit::kNanoseconds)});
  const Trace& trace = *bubbles.trace;
  std::map<std::optional<Recurrence>, Nanoseconds> totals;  // of the loop and of the rest, if there is a loop
  for (const auto& [group, sum] : sorted) totals[group.recurrence] += sum.total;
  const timeline::GpuNames names(trace);
  for (const auto& [group, sum] : sorted) {
    grouped.names.push_back(name_of(bubbles, group));
    table.add_row(sum.total, 100.0 * static_cast<double>(sum.total) / static_cast<double>(totals[group.recurrence]),
                  text(table, group.recurrence ? recurrence_text(*group.recurrence) : ""), text(table, group.gpu ? names.of(*group.gpu) : ""),
                  text(table, group.cause ? analysis::idle_cause_name(*group.cause) : ""), table.add_text(sampled_text(trace, sum.chains, 1)),
                  text(table, group.family ? bubbles.families[*group.family] : ""), text(table, group.call ? call_text(trace, *group.call) : ""),
                  static_cast<std::int64_t>(sum.gaps), sum.longest_time);
    grouped.groups.push_back(group);
    grouped.longest.push_back(sum.longest);
    grouped.advice.push_back(advice_about(trace, group, sum));
    grouped.sampled.push_back(sampled_text(trace, sum.chains, kNamed));
  }
  grouped.table = std::move(table);
  return grouped;
}

ListedBubbles list_bubbles(const BubbleList& bubbles, const BubbleGroup& group, std::optional<TimeRange> window, const std::set<std::string>& unfolded) {
  ListedBubbles listed;
  std::vector<GapShare> shares;
  for (std::uint32_t first = 0, end = 0; first < bubbles.pieces.size(); first = end) {
    GapShare share{bubbles.pieces[first].gap, first, first, 0};
    for (; end < bubbles.pieces.size() && bubbles.pieces[end].gap == share.gap; ++end) {
      const IdlePiece& piece = bubbles.pieces[end];
      if (!group.holds(bubbles, piece)) continue;
      const Nanoseconds time = std::max<Nanoseconds>(0, time_within(piece, window));
      share.time += time;
      if (piece.recurrence == Recurrence::kRecurring) share.in_loop += time;
    }
    share.end_piece = end;
    if (share.time > 0) shares.push_back(share);
  }
  std::stable_sort(shares.begin(), shares.end(), [](const GapShare& a, const GapShare& b) {
    return a.recurrence() != b.recurrence() ? a.recurrence() < b.recurrence() : a.time > b.time;  // one-time costs come last
  });
  if (shares.size() > kListedGaps) {
    listed.omitted = shares.size() - kListedGaps;
    shares.resize(kListedGaps);
  }

  Table table({stats::integers("Idle", Unit::kNanoseconds), stats::integers(std::string(kGapTitle), Unit::kNanoseconds), stats::texts("GPU"),
               stats::integers("Start", Unit::kNanoseconds), stats::words("When"), stats::words("Cause"), stats::texts(std::string(kSampledCodeTitle)),
               stats::words("Thread State"), stats::texts("NVTX Range"), stats::texts("Call"), stats::texts("Before"),
               stats::integers(std::string(kPartOfTitle), Unit::kNanoseconds)});
  const Trace& trace = *bubbles.trace;
  const samples::ThreadSamples samples(trace);
  const timeline::GpuNames names(trace);
  for (const GapShare& share : shares) {
    const IdleGap& gap = bubbles.gaps[share.gap];
    const std::string name = std::to_string(gap.gpu) + ' ' + std::to_string(gap.range.begin);
    const std::size_t leader = listed.gaps.size();
    const auto add = [&](const std::string& of, std::uint32_t piece) {
      listed.names.push_back(of);
      listed.gaps.push_back(share.gap);
      listed.pieces.push_back(piece);
      listed.leaders.push_back(leader);
    };
    add(name, kNone);
    const GapWords words = words_of(bubbles, samples, share, window);
    const stats::TextId gpu = text(table, bubbles.gpus.size() < 2 ? "" : names.of(gap.gpu));
    table.add_row(share.time, gap.range.length(), gpu, gap.range.begin, text(table, bubbles.has_loop ? recurrence_text(share.recurrence()) : ""),
                  table.add_text(words.causes), table.add_text(words.sampled), text(table, ""), text(table, words.range), text(table, words.call),
                  table.add_text(operation_text(trace, gap.next)), stats::kNoInteger);
    if (!unfolded.contains(name)) continue;
    for (std::uint32_t i = share.first_piece; i < share.end_piece; ++i) {
      const IdlePiece& piece = bubbles.pieces[i];
      samples::ChainCounts chains;
      count_samples(samples, bubbles, piece, std::nullopt, chains);
      const std::string_view state = gap.launch.valid() ? state_text(trace, trace.track_of(gap.launch.lane).key.thread, piece.part.range) : std::string_view();
      add(name + ' ' + std::to_string(piece.part.range.begin), i);
      table.add_row(piece.part.range.length(), gap.range.length(), gpu, piece.part.range.begin,
                    text(table, bubbles.has_loop ? recurrence_text(piece.recurrence) : ""), text(table, analysis::idle_cause_name(piece.part.cause)),
                    table.add_text(sampled_text(trace, chains, 1)), text(table, state),
                    text(table, piece.part.nvtx.valid() ? trace.name(trace.event(piece.part.nvtx).name) : std::string_view()),
                    text(table, call_text(trace, piece.part.call)), text(table, ""), gap.range.begin);
    }
  }
  listed.table = std::move(table);
  return listed;
}

}  // namespace lanescope::ui
