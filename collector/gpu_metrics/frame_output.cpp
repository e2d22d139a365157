#include "frame_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "collector/channel/clock.h"
#include "model/file/frame_codec.h"

namespace lanescope::gpu_metrics {

void FrameOutput::write(proto::FrameType type, const google::protobuf::MessageLite& message) {
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(type);
  header.source = proto::SOURCE_GPU_METRICS;
  const std::lock_guard lock(mutex_);
  buffer_.clear();
  append_frame(header, message.SerializeAsString(), buffer_);
  for (std::size_t done = 0; done < buffer_.size() && !broken_;) {
    const ssize_t written = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (written > 0) done += static_cast<std::size_t>(written);
    broken_ = written < 0 && errno != EINTR;
  }
}

void FrameOutput::diagnose(proto::Severity severity, proto::ComponentState state, std::string_view text) {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(channel::monotonic_now());
  diagnostic.set_severity(severity);
  diagnostic.set_component(proto::COMPONENT_GPU_METRICS);
  diagnostic.set_state(state);
  diagnostic.set_text(std::string(text));
  write(proto::FRAME_DIAGNOSTIC, diagnostic);
}

void FrameOutput::acknowledge() { write(proto::FRAME_UNKNOWN, proto::Resources()); }

std::uint32_t FrameOutput::new_counter_id() {
  const std::lock_guard lock(mutex_);
  return ++counters_;
}

CounterStream::CounterStream(FrameOutput& output, std::vector<proto::Counter> counters) : output_(output), last_values_(counters.size()) {
  proto::Resources resources;
  for (proto::Counter& counter : counters) {
    counter.set_id(output.new_counter_id());
    ids_.push_back(counter.id());
    *resources.add_counters() = std::move(counter);
  }
  output.write(proto::FRAME_RESOURCES, resources);
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
  if (chunk_.counter_samples().time_delta_size() > 0) output_.write(proto::FRAME_EVENTS, chunk_);
  chunk_.Clear();
}

}  // namespace lanescope::gpu_metrics
