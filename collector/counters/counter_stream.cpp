#include "collector/counters/counter_stream.h"

#include <algorithm>
#include <utility>

namespace lanescope::counters {

CounterStream::CounterStream(CounterSink& sink, std::vector<proto::Counter> counters) : sink_(&sink), last_values_(counters.size()) {
  proto::Resources resources;
  for (proto::Counter& counter : counters) {
    counter.set_id(sink.new_counter_id());
    ids_.push_back(counter.id());
    *resources.add_counters() = std::move(counter);
  }
  sink.write(proto::FRAME_RESOURCES, resources);
}

void CounterStream::add(std::int64_t begin, std::int64_t end, std::span<const std::int64_t> values) {
  constexpr int kMaximumSamples = 1 << 14;
  begin = std::max(begin, last_end_);
  if (begin >= end) return;
  if (begin > last_end_ || chunk_.counter_samples().time_delta_size() >= kMaximumSamples) flush();
  proto::CounterSamples& samples = *chunk_.mutable_counter_samples();
  if (samples.time_delta_size() == 0) {
    chunk_.set_base_time(begin);
    last_begin_ = begin;
    for (const std::uint32_t id : ids_) {
      samples.add_counter(id);
      samples.add_columns();
    }
    std::fill(last_values_.begin(), last_values_.end(), 0);
  }
  for (int i = 0; i < samples.columns_size(); ++i) {
    proto::CounterColumn& column = *samples.mutable_columns(i);
    std::int64_t& last = last_values_[static_cast<std::size_t>(i)];
    std::int64_t value = values[static_cast<std::size_t>(i)];
    if (value == kMissing) {
      column.add_missing(static_cast<std::uint32_t>(samples.time_delta_size()));
      value = last;
    }
    column.add_value_delta(value - last);
    last = value;
  }
  samples.add_time_delta(begin - last_begin_);
  samples.set_last_duration(static_cast<std::uint64_t>(end - begin));
  last_begin_ = begin;
  last_end_ = end;
}

void CounterStream::flush() {
  if (chunk_.counter_samples().time_delta_size() > 0) sink_->write(proto::FRAME_EVENTS, chunk_);
  chunk_.Clear();
}

}  // namespace lanescope::counters
