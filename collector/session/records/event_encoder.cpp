#include "records/event_encoder.h"

#include <algorithm>

namespace lanescope::session {
namespace {

// Appends to a column that may be left out while all its values are 0.
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

EncoderRoom encoder_room(std::uint64_t free, std::size_t encoders) noexcept {
  constexpr std::size_t kShare = 8;
  constexpr std::size_t kLeast = 256u << 10;  // with less, what is told of each chunk is more than the chunk
  const auto own = static_cast<std::size_t>(free / kShare / std::max<std::size_t>(encoders, 1));
  return {std::clamp(own, kLeast, kAmpleRoom.text_bytes), std::clamp(own, kLeast, kAmpleRoom.chunk_bytes)};
}

std::uint32_t EventEncoder::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto known = strings_.find(text)) return *known;
  strings_.set_budget(room_.text_bytes);
  strings_.add(std::string(text), ++string_count_);
  new_strings_.emplace_back(text);
  new_bytes_ += text.size();
  return string_count_;
}

EventEncoder::Chunk& EventEncoder::chunk(const Key& key) { return chunks_[key]; }

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
  constexpr std::size_t kEventBytes = 48;  // in columns that have grown by halves
  ++pending_;
  if (++chunk.events == kMaximumChunkEvents || new_bytes_ >= kMaximumChunkTextBytes) emit(chunk);
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

void EventEncoder::flush() {
  for (auto& [key, chunk] : chunks_)
    if (chunk.events > 0) emit(chunk);
  chunks_.clear();  // threads end, and a chunk that is empty has room for as many events as it had
}

}  // namespace lanescope::session
