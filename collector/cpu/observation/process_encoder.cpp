#include "process_encoder.h"

#include <algorithm>

namespace lanescope::cpu {
namespace {

constexpr std::uint32_t kMaximumChunkEvents = 1u << 16;

template <typename Entry, typename Entries>
std::uint32_t move_entries(std::vector<Entry>& made, std::size_t all, Entries& entries) {
  if (made.empty()) return 0;
  const auto first = static_cast<std::uint32_t>(all - made.size() + 1);
  for (Entry& entry : made) *entries.Add() = std::move(entry);
  made.clear();
  return first;
}

}  // namespace

std::uint32_t ProcessEncoder::string(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto known = strings_.find(text)) return *known;
  strings_.add(std::string(text), ++string_count_);
  new_strings_.emplace_back(text);
  return string_count_;
}

std::uint32_t ProcessEncoder::location(const Place& place) {
  const std::tuple key{place.module, place.address};
  if (const auto known = locations_.find(key)) return *known;
  locations_.add(key, ++location_count_);
  proto::CodeLocation& made = new_locations_.emplace_back();
  made.set_address(place.address);
  if (place.module != nullptr && place.module->is_generated) {
    made.set_kind(proto::CODE_GENERATED);
  } else if (place.module != nullptr) {
    made.set_kind(place.module->path == "[kernel]" ? proto::CODE_KERNEL : proto::CODE_NATIVE);
    made.set_module(string(place.module->path));
    made.set_build_id(string(place.module->build_id));
  }
  if (unnamed_.size() < kMostUnnamed) unnamed_.push_back({location_count_, place.module, place.address});
  return location_count_;
}

std::uint32_t ProcessEncoder::location(const InterpretedFunction& function) {
  const std::uint32_t name = string(function.function);
  const std::uint32_t file = string(function.source_file);
  const std::tuple key{name, file, function.source_line};
  if (const auto known = interpreted_.find(key)) return *known;
  interpreted_.add(key, ++location_count_);
  proto::CodeLocation& made = new_locations_.emplace_back();
  made.set_kind(proto::CODE_PYTHON);
  made.set_function(name);
  made.set_source_file(file);
  made.set_source_line(function.source_line);
  return location_count_;
}

std::uint32_t ProcessEncoder::call(std::uint32_t caller, std::uint32_t location) {
  const std::uint64_t key = std::uint64_t{caller} << 32 | location;
  if (const auto known = calls_.find(key)) return *known;
  calls_.add(key, ++call_count_);
  proto::CallNode& made = new_calls_.emplace_back();
  made.set_parent(caller);
  made.set_location(location);
  return call_count_;
}

template <typename Columns>
void ProcessEncoder::begin_event(Chunk& chunk, Columns& columns, ThreadNumber thread, std::int64_t time) {
  if (chunk.events == 0) {
    columns.set_thread(thread);
    chunk.message.set_base_time(time);
    chunk.last_time = time;
  }
}

void ProcessEncoder::add(const StateInterval& interval) {
  Chunk& chunk = chunks_[{Kind::kStates, interval.thread}];
  proto::ThreadStates& states = *chunk.message.mutable_thread_states();
  begin_event(chunk, states, interval.thread, interval.start);
  states.add_start_delta(interval.start - chunk.last_time);
  chunk.last_time = interval.start;
  states.add_duration(static_cast<std::uint64_t>(interval.end - interval.start));
  states.add_state(static_cast<std::uint32_t>(interval.state));
  states.add_processor(interval.processor);
  states.add_waker(interval.waker);
  count(chunk);
}

void ProcessEncoder::add_sample(ThreadNumber thread, std::int64_t time, std::uint32_t processor, std::uint32_t call) {
  Chunk& chunk = chunks_[{Kind::kSamples, thread}];
  proto::Samples& samples = *chunk.message.mutable_samples();
  begin_event(chunk, samples, thread, time);
  if (chunk.events == 0) samples.set_period(sample_period_);
  samples.add_time_delta(time - chunk.last_time);
  chunk.last_time = time;
  samples.add_call_node(call);
  samples.add_processor(processor + 1);
  count(chunk);
}

void ProcessEncoder::add_backtrace(ThreadNumber thread, proto::SampleOrigin origin, std::int64_t time, std::uint64_t duration, std::uint32_t correlation,
                                   std::uint32_t call) {
  Chunk& chunk = chunks_[{origin == proto::SAMPLE_OS_CALL ? Kind::kOsCalls : Kind::kCudaCalls, thread}];
  proto::Samples& samples = *chunk.message.mutable_samples();
  begin_event(chunk, samples, thread, time);
  samples.set_origin(origin);
  samples.add_time_delta(time - chunk.last_time);
  chunk.last_time = time;
  samples.add_call_node(call);
  samples.add_duration(duration);
  if (chunk.events == 0) chunk.last_correlation = 0;
  samples.add_correlation_delta(std::int64_t{correlation} - chunk.last_correlation);
  chunk.last_correlation = correlation;
  count(chunk);
}

void ProcessEncoder::add_system_call(ThreadNumber thread, std::int64_t start, std::int64_t end, std::string_view name, std::optional<std::int64_t> result) {
  Chunk& chunk = chunks_[{Kind::kSystemCalls, thread}];
  proto::NvtxRanges& ranges = *chunk.message.mutable_nvtx_ranges();
  begin_event(chunk, ranges, thread, start);
  ranges.set_domain(kSystemCallDomain);
  ranges.set_style(proto::NVTX_PUSH_POP);
  ranges.add_start_delta(start - chunk.last_time);
  chunk.last_time = start;
  ranges.add_duration(static_cast<std::uint64_t>(std::max<std::int64_t>(end - start, 0)));
  ranges.add_name(string(name));
  ranges.add_depth(0);
  ranges.add_payload_type(result ? proto::PAYLOAD_SIGNED : proto::PAYLOAD_NONE);
  ranges.add_payload(static_cast<std::uint64_t>(result.value_or(0)));
  if (!result) ranges.add_unfinished(chunk.events);
  count(chunk);
}

void ProcessEncoder::add_tracepoint(ThreadNumber thread, std::int64_t time, std::string_view name, std::string_view values_as_json) {
  Chunk& chunk = chunks_[{Kind::kTracepoints, thread}];
  proto::NvtxMarks& marks = *chunk.message.mutable_nvtx_marks();
  begin_event(chunk, marks, thread, time);
  marks.set_domain(kTracepointDomain);
  marks.add_time_delta(time - chunk.last_time);
  chunk.last_time = time;
  marks.add_name(string(name));
  marks.add_payload_json(string(values_as_json));
  count(chunk);
}

void ProcessEncoder::count(Chunk& chunk) {
  ++produced_;
  ++pending_events_;
  if (++chunk.events == kMaximumChunkEvents) emit(chunk);
}

std::uint32_t ProcessEncoder::take_strings(google::protobuf::RepeatedPtrField<std::string>& strings) {
  return move_entries(new_strings_, string_count_, strings);
}

void ProcessEncoder::emit(Chunk& chunk) {
  proto::EventChunk& message = chunk.message;
  message.set_first_string(take_strings(*message.mutable_strings()));
  message.set_first_code_location(move_entries(new_locations_, location_count_, *message.mutable_code_locations()));
  message.set_first_call_node(move_entries(new_calls_, call_count_, *message.mutable_call_nodes()));
  pending_events_ -= chunk.events;
  emit_(message, chunk.events);
  message.Clear();
  chunk.events = 0;
}

void ProcessEncoder::flush() {
  for (auto& [key, chunk] : chunks_)
    if (chunk.events > 0) emit(chunk);
  chunks_.clear();
}

}  // namespace lanescope::cpu
