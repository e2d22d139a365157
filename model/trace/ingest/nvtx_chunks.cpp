#include <algorithm>

#include "chunk_target.h"
#include "columns.h"

namespace lanescope {
namespace {

// The data that ranges and marks have in common, for the chunk's i-th event.
template <typename Chunk>
NvtxDetail detail_of(const ChunkTarget& into, const Chunk& c, int i) {
  NvtxDetail detail;
  detail.category = optional_value(c.category(), i);
  detail.color = optional_value(c.color(), i);
  detail.payload = optional_value(c.payload(), i);
  detail.payload_type = known_kind(optional_value(c.payload_type(), i), PayloadType::kReal);
  detail.payload_json = into.dictionary.strings[optional_value(c.payload_json(), i)];
  return detail;
}

}  // namespace

bool ingest(const ChunkTarget& into, const proto::NvtxRanges& c) {
  const int n = c.start_delta_size();
  const bool nested = c.style() == proto::NVTX_PUSH_POP;
  if (!same_length(n, c.duration(), c.name())) return false;
  if (nested && !same_length(n, c.depth())) return false;
  if (!same_length_or_empty(n, c.category(), c.color(), c.payload_type(), c.payload(), c.end_thread(), c.id_delta(), c.payload_json())) return false;
  const auto unfinished = marked(c.unfinished(), n);
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(n));
  std::int64_t time = into.base_time;
  std::int64_t id = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta(i));
    id = sum(id, optional_value(c.id_delta(), i));
    NvtxDetail detail = detail_of(into, c, i);
    if (const std::uint32_t tid = optional_value(c.end_thread(), i); tid != 0 && tid != c.thread()) detail.end_thread = into.builder.thread(into.process, tid);
    detail.finished = !unfinished.empty() && unfinished[static_cast<std::size_t>(i)] ? Finished::kNo : Finished::kYes;
    events.push_back(
        {time, static_cast<Nanoseconds>(c.duration(i)), into.dictionary.strings[c.name(i)], static_cast<std::uint32_t>(id), into.builder.intern(detail)});
  }
  TrackKey key{nested ? TrackKind::kNvtxRanges : TrackKind::kNvtxProcessRanges, into.process};
  key.thread = into.builder.thread(into.process, c.thread());
  key.domain = c.domain();
  if (nested) {
    const std::vector<std::uint32_t> depths(c.depth().begin(), c.depth().end());
    into.builder.add(key, std::move(events), depths);
  } else {
    into.builder.add(key, std::move(events));
  }
  return true;
}

OpenEvent open_event(const ChunkTarget& into, const OpenRange& range, std::int64_t epoch) {
  NvtxDetail detail;
  detail.category = range.category;
  detail.color = range.color;
  detail.finished = Finished::kNo;
  const bool nested = range.style == OpenRange::Style::kNested;
  OpenEvent open{{nested ? TrackKind::kNvtxRanges : TrackKind::kNvtxProcessRanges, into.process}, std::nullopt, {}};
  open.track.thread = into.builder.thread(into.process, range.thread);
  open.track.domain = range.domain;
  if (nested) open.depth = range.depth;
  const NameId name = range.text.empty() ? into.dictionary.strings[range.name] : into.builder.intern(range.text);
  open.event = {range.start - epoch, std::max<Nanoseconds>(0, range.seen - range.start), name, 0, into.builder.intern(detail)};
  return open;
}

bool ingest(const ChunkTarget& into, const proto::NvtxMarks& c) {
  const int n = c.time_delta_size();
  if (!same_length(n, c.name())) return false;
  if (!same_length_or_empty(n, c.category(), c.color(), c.payload_type(), c.payload(), c.id_delta(), c.payload_json())) return false;
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(n));
  std::int64_t time = into.base_time;
  std::int64_t id = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.time_delta(i));
    id = sum(id, optional_value(c.id_delta(), i));
    events.push_back({time, 0, into.dictionary.strings[c.name(i)], static_cast<std::uint32_t>(id), into.builder.intern(detail_of(into, c, i))});
  }
  TrackKey key{TrackKind::kNvtxMarks, into.process};
  key.thread = into.builder.thread(into.process, c.thread());
  key.domain = c.domain();
  into.builder.add(key, std::move(events));
  return true;
}

}  // namespace lanescope
