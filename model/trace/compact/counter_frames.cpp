#include "counter_frames.h"

#include <algorithm>
#include <cmath>

#include "ingest/columns.h"
#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "model/file/wire.h"

namespace lanescope {

std::optional<CounterHead> head_of(std::uint8_t source, const CounterSampleColumns& columns, Nanoseconds base_time) {
  if (static_cast<std::size_t>(columns.counter.size()) > kMostCountersOfHead) return std::nullopt;
  const auto rows = rows_of(columns, base_time);
  if (!rows || !times_of(columns.time_delta, base_time, rows->end)) return std::nullopt;
  CounterHead head{source, rows->times.front(), rows->end, static_cast<std::uint32_t>(rows->times.size()), {columns.counter.begin(), columns.counter.end()},
                   {}};
  for (const std::vector<std::int64_t>& values : rows->columns) head.summaries.push_back(CounterSegment::summary_of(rows->times, values, rows->end));
  return head;
}

std::string encode_counter_head(const CounterHead& head) {
  proto::CounterHead message;
  message.set_source(head.source);
  message.set_first_time(head.first_time);
  message.set_length(static_cast<std::uint64_t>(head.end - head.first_time));
  message.set_rows(head.rows);
  for (std::size_t i = 0; i < head.counters.size(); ++i) {
    const CounterSummary& summary = head.summaries[i];
    message.add_counter(head.counters[i]);
    message.add_covered(static_cast<std::uint64_t>(summary.covered));
    message.add_minimum(summary.empty() ? 0 : summary.minimum);
    message.add_maximum(summary.empty() ? 0 : summary.maximum);
    message.add_integral(summary.integral);
  }
  return message.SerializeAsString();
}

std::optional<CounterHead> decode_counter_head(std::string_view bytes) {
  thread_local proto::CounterHead message;  // its memory is used again for the next head
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  const auto length = static_cast<Nanoseconds>(message.length());
  CounterHead head{static_cast<std::uint8_t>(message.source()),
                   message.first_time(),
                   sum(message.first_time(), length),
                   message.rows(),
                   {message.counter().begin(), message.counter().end()},
                   {}};
  const bool has_sound_times = is_near(head.first_time) && is_near(head.end) && head.rows > 0 && head.rows <= limits::kChunkRows && length >= head.rows;
  const int counters = message.counter_size();
  if (!has_sound_times || message.source() > 255 || counters == 0 || message.counter_size() > static_cast<int>(kMostCountersOfHead)) return std::nullopt;
  if (!same_length(counters, message.covered(), message.minimum(), message.maximum(), message.integral())) return std::nullopt;
  if ((std::uint64_t{head.rows}) * static_cast<std::uint64_t>(counters) > limits::kChunkNumbers) return std::nullopt;
  head.summaries.reserve(head.counters.size());
  for (int i = 0; i < counters; ++i) {
    const auto covered = static_cast<Nanoseconds>(message.covered(i));
    if (covered == 0) {
      head.summaries.emplace_back();
      continue;
    }
    const CounterSummary summary{message.minimum(i), message.maximum(i), message.integral(i), covered};
    if (covered < 0 || covered > length || summary.minimum == kNoValue || summary.minimum > summary.maximum) return std::nullopt;
    constexpr double kRounding = 1e-9;
    const double most = std::max(std::abs(static_cast<double>(summary.minimum)), std::abs(static_cast<double>(summary.maximum)));
    if (!(std::abs(summary.integral) <= most * static_cast<double>(covered) * (1 + kRounding))) return std::nullopt;
    head.summaries.push_back(summary);
  }
  return head;
}

bool is_as_said(const CounterSummary& found, const CounterSummary& said) noexcept {
  if (found.covered != said.covered) return false;
  if (found.empty()) return true;
  constexpr double kRounding = 1e-9;
  const double most = std::max(std::abs(static_cast<double>(found.minimum)), std::abs(static_cast<double>(found.maximum)));
  return found.minimum == said.minimum && found.maximum == said.maximum &&
         std::abs(found.integral - said.integral) <= most * static_cast<double>(found.covered) * kRounding;
}

std::optional<CounterChunk> CounterChunk::of(std::string_view payload) {
  CounterChunk chunk;
  std::uint64_t last_duration = 0;
  bool has_samples = false;
  WireReader fields(payload);
  while (const auto field = fields.next()) {
    if (field->number == proto::EventChunk::kBaseTimeFieldNumber && field->type == WireField::kVarint)
      chunk.base_time_ = static_cast<Nanoseconds>((field->value >> 1) ^ (~(field->value & 1) + 1));
    if (field->number != proto::EventChunk::kCounterSamplesFieldNumber) continue;
    CounterSampleColumns samples;
    if (has_samples || field->type != WireField::kBytes || !samples.parse_without_values(field->bytes, chunk.columns_)) return std::nullopt;
    has_samples = true;
    last_duration = samples.last_duration;
    chunk.counters_ = std::move(samples.counter);
    chunk.time_delta_ = std::move(samples.time_delta);
  }
  if (!fields.sound() || !has_samples || chunk.time_delta_.empty() || chunk.columns_.size() != static_cast<std::size_t>(chunk.counters_.size()))
    return std::nullopt;
  chunk.end_ = chunk.base_time_;
  for (const std::int64_t delta : chunk.time_delta_) chunk.end_ = sum(chunk.end_, delta);
  chunk.end_ = sum(chunk.end_, static_cast<std::int64_t>(last_duration));
  return chunk;
}

std::optional<std::vector<std::int64_t>> CounterChunk::values(std::size_t column) const {
  CounterSampleColumns::OfCounter values;
  if (!values.parse(columns_[column])) return std::nullopt;
  return values_of(values, time_delta_.size());
}

}  // namespace lanescope
