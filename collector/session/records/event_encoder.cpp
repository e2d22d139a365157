#include "records/event_encoder.h"

#include <algorithm>

namespace lanescope::session {
namespace {

// Appends to a column that is left out while all its values are 0.
template <typename Value>
void append_sparse(google::protobuf::RepeatedField<Value>& column, std::uint32_t index, Value value) {
  if (value == 0 && column.empty()) return;
  column.Resize(static_cast<int>(index), 0);
  column.Add(value);
}

template <typename Columns>
void append_attributes(Columns& columns, std::uint32_t index, const NvtxAttributes& attributes) {
  columns.add_name(attributes.name);
  append_sparse<std::uint32_t>(*columns.mutable_category(), index, attributes.category);
  append_sparse<std::uint32_t>(*columns.mutable_color(), index, attributes.color);
  append_sparse<std::uint32_t>(*columns.mutable_payload_type(), index, static_cast<std::uint32_t>(attributes.payload_type));
  if (columns.payload_type_size() > 0) {
    columns.mutable_payload()->Resize(static_cast<int>(index), 0);
    columns.add_payload(attributes.payload_type == proto::PAYLOAD_NONE ? 0 : attributes.payload);
  }
  append_sparse<std::uint32_t>(*columns.mutable_payload_json(), index, attributes.payload_json);
}

}  // namespace

EncoderRoom encoder_room(std::uint64_t free, std::size_t encoders, std::optional<std::uint64_t> file_bytes) noexcept {
  constexpr std::size_t kShare = 8;
  constexpr std::size_t kLeast = 256u << 10;  // with less, the description of each chunk takes more than its events
  const auto own = static_cast<std::size_t>(free / kShare / std::max<std::size_t>(encoders, 1));
  EncoderRoom room;
  room.text_bytes = std::clamp(own, kLeast, kAmpleRoom.text_bytes);
  room.chunk_bytes = std::clamp(own, kLeast, kAmpleRoom.chunk_bytes);
  if (!file_bytes) return room;
  constexpr std::size_t kChunks = 16;                        // in a file
  constexpr std::size_t kEventBytes = 16;                    // in a file
  constexpr std::size_t kFewEvents = 64, kShortText = 4096;  // with less, the description of each chunk takes as much as its events
  const auto bytes = static_cast<std::size_t>(*file_bytes / kChunks);
  room.events_of_chunk = std::clamp(bytes / kEventBytes, kFewEvents, kAmpleRoom.events_of_chunk);
  room.text_bytes_of_chunk = std::clamp(bytes, kShortText, kAmpleRoom.text_bytes_of_chunk);
  return room;
}

std::uint32_t EventEncoder::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (text == last_string_.first) return last_string_.second;
  last_string_.first = text;
  if (const auto known = strings_.find(text)) return last_string_.second = *known;
  strings_.set_budget(room_.text_bytes);
  strings_.add(last_string_.first, ++string_count_);
  new_strings_.push_back(last_string_.first);
  new_bytes_ += text.size();
  return last_string_.second = string_count_;
}

std::string_view EventEncoder::text_of_new(std::uint32_t id) const noexcept {
  const std::uint32_t before = string_count_ - static_cast<std::uint32_t>(new_strings_.size());
  return id > before && id <= string_count_ ? std::string_view(new_strings_[id - before - 1]) : std::string_view();
}

EventEncoder::Chunk& EventEncoder::chunk(const Key& key) {
  if (last_.second == nullptr || last_.first != key) last_ = {key, &chunks_[key]};
  return *last_.second;
}

void EventEncoder::add(const NvtxRange& range) {
  const Column column = range.style == proto::NVTX_PUSH_POP ? Column::kPushPop : Column::kStartEnd;
  Chunk& target = chunk({column, range.thread, range.domain});
  proto::NvtxRanges& ranges = *target.message.mutable_nvtx_ranges();
  if (target.events == 0) {
    ranges.set_thread(range.thread);
    ranges.set_domain(range.domain);
    ranges.set_style(range.style);
    target.message.set_base_time(range.start);
    target.last_start = range.start;
  }
  ranges.add_start_delta(range.start - target.last_start);
  target.last_start = range.start;
  ranges.add_duration(static_cast<std::uint64_t>(range.end - range.start));
  if (range.style == proto::NVTX_PUSH_POP) ranges.add_depth(range.depth);
  append_attributes(ranges, target.events, range.attributes);
  if (range.end_thread != range.thread && ranges.end_thread_size() == 0)
    for (std::uint32_t i = 0; i < target.events; ++i) ranges.add_end_thread(range.thread);
  if (range.end_thread != range.thread || ranges.end_thread_size() > 0) ranges.add_end_thread(range.end_thread);
  if (range.ending == RangeEnding::kUnfinished) ranges.add_unfinished(target.events);
  count(target);
}

void EventEncoder::add(const NvtxMark& mark) {
  Chunk& target = chunk({Column::kMark, mark.thread, mark.domain});
  proto::NvtxMarks& marks = *target.message.mutable_nvtx_marks();
  if (target.events == 0) {
    marks.set_thread(mark.thread);
    marks.set_domain(mark.domain);
    target.message.set_base_time(mark.time);
    target.last_start = mark.time;
  }
  marks.add_time_delta(mark.time - target.last_start);
  target.last_start = mark.time;
  append_attributes(marks, target.events, mark.attributes);
  count(target);
}

void EventEncoder::add(const OsRuntimeCall& call) {
  Chunk& target = chunk({Column::kOsRuntime, 0, 0});
  proto::Spans& spans = *target.message.mutable_os_runtime();
  if (target.events == 0) {
    target.message.set_base_time(call.start);
    target.last_start = call.start;
  }
  spans.add_start_delta(call.start - target.last_start);
  target.last_start = call.start;
  spans.add_duration(static_cast<std::uint64_t>(call.duration));
  spans.add_name(call.name);
  spans.add_thread(call.thread);
  count(target);
}

void EventEncoder::count(Chunk& chunk) {
  constexpr std::size_t kEventBytes = 48;  // in columns whose capacity has grown by half
  ++pending_;
  if (++chunk.events >= room_.events_of_chunk || new_bytes_ >= room_.text_bytes_of_chunk) emit(chunk);
  if (pending_ * kEventBytes + new_bytes_ > room_.chunk_bytes) flush();
}

void EventEncoder::emit(Chunk& chunk) {
  if (!new_strings_.empty()) {
    chunk.message.set_first_string(string_count_ - static_cast<std::uint32_t>(new_strings_.size()) + 1);
    for (std::string& text : new_strings_) chunk.message.add_strings(std::move(text));
    new_strings_.clear();
    new_bytes_ = 0;
  }
  emit_(chunk.message, chunk.events);
  pending_ -= chunk.events;
  chunk.message.Clear();
  chunk.events = 0;
}

void EventEncoder::flush_thread(std::uint32_t thread) {
  for (const Column column : {Column::kPushPop, Column::kStartEnd, Column::kMark}) {
    auto chunk = chunks_.lower_bound({column, thread, 0});
    while (chunk != chunks_.end() && std::get<0>(chunk->first) == column && std::get<1>(chunk->first) == thread) {
      if (chunk->second.events > 0) emit(chunk->second);
      if (last_.second == &chunk->second) last_.second = nullptr;
      chunk = chunks_.erase(chunk);
    }
  }
}

void EventEncoder::flush() {
  for (auto& [key, chunk] : chunks_)
    if (chunk.events > 0) emit(chunk);
  last_.second = nullptr;
  chunks_.clear();  // threads end, and an empty chunk keeps room for as many events as it had
}

}  // namespace lanescope::session
