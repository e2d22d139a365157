#include "timeline/core/lanes/event_matches.h"

#include <algorithm>
#include <tuple>

#include "model/events/name_family.h"

namespace lanescope::timeline {
namespace {

constexpr LaneSplit::Key kMatch = 0;

bool has_chains(const Trace& trace, LaneId lane) {
  const TrackKind kind = trace.track_of(lane).key.kind;
  return kind == TrackKind::kCpuSamples || kind == TrackKind::kBacktraces;
}

}  // namespace

EventMatches::EventMatches(std::shared_ptr<const Trace> trace, std::string text) : trace_(std::move(trace)), text_(std::move(text)) { match_names(); }

void EventMatches::grow(std::shared_ptr<const Trace> trace) {
  trace_ = std::move(trace);
  lanes_.merge(before_);
  before_ = std::exchange(lanes_, {});
  // Names of functions may arrive late: earlier matches in chains may be outdated.
  std::erase_if(before_, [this](const auto& entry) { return has_chains(*trace_, entry.first); });
  match_names();
}

void EventMatches::match_names() {
  if (text_.empty() || !trace_) return;
  for (std::size_t name = matching_.size(); name < trace_->name_count(); ++name)
    matching_.push_back(name_matches(trace_->name(static_cast<NameId>(name)), text_) ? 1 : 0);
  match_chains();
}

void EventMatches::match_chains() {
  const CallStacks& stacks = trace_->call_stacks();
  matching_chains_.assign(stacks.node_count(), 0);
  for (CallNodeId node = 1; node < stacks.node_count(); ++node) {  // callers come before their callees
    const auto functions = stacks.functions(stacks.node(node).location);
    const bool found = std::any_of(functions.begin(), functions.end(), [this](const CodeFunction& at) { return matches(at.function); });
    matching_chains_[node] = found || matching_chains_[stacks.node(node).parent] != 0 ? 1 : 0;
  }
}

const LaneSubset& EventMatches::in_lane(LaneId id) {
  static const LaneSubset none;
  if (text_.empty()) return none;
  const auto [entry, is_new] = lanes_.try_emplace(id);
  if (is_new) {
    const auto before = before_.extract(id);
    const auto key_of = [this, chained = has_chains(*trace_, id)](const Lane& lane, EventIndex first, std::span<LaneSplit::Key> into) {
      for (LaneSplit::Key& key : into) {
        const bool found = matching_[lane.name(first)] != 0 || (chained && matching_chains_[trace_->sample_detail(lane.detail(first)).call_node] != 0);
        key = found ? kMatch : kNone;
        ++first;
      }
    };
    entry->second = LaneSplit(std::shared_ptr<const Lane>(trace_, &trace_->lane(id)), key_of, before.empty() ? nullptr : &before.mapped());
  }
  return entry->second.subset(kMatch);
}

std::uint64_t EventMatches::events_to_search() const {
  std::uint64_t events = 0;
  if (text_.empty() || !trace_) return events;
  for (LaneId lane = 0; lane < trace_->lanes().size(); ++lane)
    if (is_at_hand(lane) && !lanes_.contains(lane) && !before_.contains(lane)) events += trace_->lane(lane).size();
  return events;
}

void EventMatches::search_lanes(const std::stop_token& stop) {
  for (LaneId lane = 0; lane < trace_->lanes().size() && !stop.stop_requested(); ++lane)
    if (is_at_hand(lane)) in_lane(lane);
}

std::uint64_t EventMatches::count() {
  std::uint64_t events = 0;
  if (!text_.empty())
    for (LaneId lane = 0; lane < trace_->lanes().size(); ++lane) events += in_lane(lane).size();
  return events;
}

std::optional<EventRef> EventMatches::find(EventRef from, Nanoseconds time, Direction direction) {
  if (text_.empty() || !trace_) return std::nullopt;
  if (from.valid()) time = trace_->event(from).start;
  using Place = std::tuple<Nanoseconds, LaneId, EventIndex>;
  const bool forward = direction == Direction::kNext;
  const Place here = from.valid() ? Place{time, from.lane, from.index} : Place{time, 0, 0};
  std::optional<Place> nearest, outermost;  // on the wanted side, and the first one from the other end
  const auto better = [&](const Place& a, const std::optional<Place>& b) { return !b || (forward ? a < *b : a > *b); };
  for (LaneId lane = 0; lane < trace_->lanes().size(); ++lane) {
    const LaneSubset& found = in_lane(lane);
    if (found.empty()) continue;
    const auto place = [&](EventIndex i) { return Place{found.start(i), lane, found.source_index(i)}; };
    if (const Place end = place(forward ? 0 : found.size() - 1); better(end, outermost)) outermost = end;
    // Matches with the same start may be on both sides of `here`.
    EventIndex i = found.lower_bound(forward ? time : time + 1);
    if (forward) {
      while (i < found.size() && from.valid() && place(i) <= here) ++i;
      if (i < found.size() && better(place(i), nearest)) nearest = place(i);
    } else {
      while (i > 0 && place(i - 1) >= here) --i;
      if (i > 0 && better(place(i - 1), nearest)) nearest = place(i - 1);
    }
  }
  if (!nearest) nearest = outermost;
  if (!nearest) return std::nullopt;
  return EventRef{std::get<1>(*nearest), std::get<2>(*nearest)};
}

}  // namespace lanescope::timeline
