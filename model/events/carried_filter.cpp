#include "model/events/carried_filter.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "model/trace/combining/parts.h"
#include "track_texts.h"

namespace lanescope {
namespace {

// The run and key of a track. In a trace that compares no runs, it is the first run, to which others are added.
using RunTrack = std::pair<std::string, TrackKey>;

RunTrack run_track(const Trace& trace, TrackId track) {
  const TracePart* const part = part_of(trace, track);
  const bool is_first = part == nullptr || part == trace.parts().data();
  return {is_first ? std::string() : part->label, trace.tracks()[track].key};
}

StreamName stream_of(const TrackKey& key) { return {key.process, key.context, key.stream}; }

// Finds the first track that fulfils the condition and exists in the other trace; returns its place there.
template <typename Condition>
std::optional<TrackId> place_of_first(const Trace& from, const TrackPlace& place, Condition condition) {
  for (TrackId track = 0; track < from.tracks().size(); ++track)
    if (condition(track))
      if (const std::optional<TrackId> there = place(track)) return there;
  return std::nullopt;
}

// None if the named thing does not exist there.
std::optional<ColumnValue> carried(const ColumnValue& value, const Trace& from, const Trace& to, const TrackPlace& place) {
  if (!is_of_track(value.column) || value.text.empty()) return value;
  const std::vector<std::string> texts = track_texts(from, value.column);
  if (std::find(texts.begin(), texts.end(), value.text) == texts.end()) return value;
  const std::optional<TrackId> there = place_of_first(from, place, [&](TrackId track) { return texts[track] == value.text; });
  if (!there) return std::nullopt;
  std::string text = track_texts(to, value.column)[*there];
  return text.empty() ? std::nullopt : std::optional(ColumnValue{value.column, std::move(text)});
}

}  // namespace

TrackPlace same_track(const Trace& from, const Trace& to) {
  std::map<RunTrack, TrackId> tracks;
  for (TrackId track = 0; track < to.tracks().size(); ++track) tracks.emplace(run_track(to, track), track);
  return [&from, tracks = std::move(tracks)](TrackId track) {
    const auto found = tracks.find(run_track(from, track));
    return found == tracks.end() ? std::nullopt : std::optional(found->second);
  };
}

TrackPlace swapped_track(const Trace& from, const Trace& to) {
  return [&from, &to](TrackId track) -> std::optional<TrackId> {
    const TracePart* const part = part_of(from, track);
    const bool was_first = part == nullptr || part == from.parts().data();
    const TracePart& there = to.parts()[was_first ? 1 : 0];
    const TrackId found = there.first_track + (track - (part == nullptr ? 0 : part->first_track));
    return found < there.end_track ? std::optional(found) : std::nullopt;
  };
}

EventFilter carried_filter(const EventFilter& filter, const Trace& from, const Trace& to, const TrackPlace& place) {
  EventFilter there = filter;
  if (filter.thread) {
    const auto track = place_of_first(
        from, place, [&](TrackId each) { return !is_on_stream(from.tracks()[each].key.kind) && from.tracks()[each].key.thread == *filter.thread; });
    there.thread = track ? std::optional(to.tracks()[*track].key.thread) : std::nullopt;
  }
  if (filter.stream) {
    const auto track = place_of_first(
        from, place, [&](TrackId each) { return is_on_stream(from.tracks()[each].key.kind) && stream_of(from.tracks()[each].key) == *filter.stream; });
    there.stream = track ? std::optional(stream_of(to.tracks()[*track].key)) : std::nullopt;
  }
  there.values.clear();
  for (const ColumnValue& value : filter.values)
    if (std::optional<ColumnValue> same = carried(value, from, to, place)) there.values.push_back(std::move(*same));
  return there;
}

}  // namespace lanescope
