#include "trace_counters.h"

#include <algorithm>
#include <map>
#include <vector>

namespace lanescope::exporters {
namespace {

constexpr std::size_t kMaximumSamples = 1u << 14;
constexpr std::size_t kMaximumValues = 1u << 19;  // of all counters in a chunk, 10 bytes each at most

// Writes samples [first, last) of counters that are read together: one chunk for each stretch without a gap.
class ChunkWriter {
 public:
  ChunkWriter(const Trace& trace, std::vector<CounterId> counters, const EmitCounterChunk& emit)
      : trace_(trace), counters_(std::move(counters)), emit_(emit), last_values_(counters_.size()) {
    for (const CounterId id : counters_) readers_.emplace_back(trace.counter_series(id));
  }

  bool write(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const bool nothing_known = std::none_of(readers_.begin(), readers_.end(), [&](CounterReader& reader) { return reader.sample(i).has_value(); });
      const auto rows = static_cast<std::size_t>(chunk_.counter_samples().time_delta_size());
      const bool full = rows >= kMaximumSamples || (rows + 1) * counters_.size() > kMaximumValues;
      if ((nothing_known || full) && !flush()) return false;
      if (!nothing_known) add(i);
    }
    return flush();
  }

 private:
  void add(std::size_t i) {
    proto::CounterSamples& samples = *chunk_.mutable_counter_samples();
    const CounterSample first = readers_.front().sample(i);
    if (samples.time_delta_size() == 0) {
      chunk_.set_base_time(first.time + trace_.provenance().monotonic_epoch);
      last_time_ = first.time;
      for (const CounterId id : counters_) {
        samples.add_counter(id + 1);
        samples.add_columns();
      }
      std::fill(last_values_.begin(), last_values_.end(), 0);
    }
    for (std::size_t k = 0; k < counters_.size(); ++k) {
      const CounterSample value = readers_[k].sample(i);
      proto::CounterColumn& column = *samples.mutable_columns(static_cast<int>(k));
      if (!value.has_value()) column.add_missing(static_cast<std::uint32_t>(samples.time_delta_size()));
      const std::int64_t written = value.has_value() ? value.value : last_values_[k];
      column.add_value_delta(written - last_values_[k]);
      last_values_[k] = written;
    }
    samples.add_time_delta(first.time - last_time_);
    samples.set_last_duration(static_cast<std::uint64_t>(first.duration));
    last_time_ = first.time;
  }

  bool flush() {
    const bool taken = chunk_.counter_samples().time_delta_size() == 0 || emit_(chunk_);
    chunk_.Clear();
    return taken;
  }

  const Trace& trace_;
  std::vector<CounterId> counters_;
  std::vector<CounterReader> readers_;  // of each
  const EmitCounterChunk& emit_;
  proto::EventChunk chunk_;
  std::vector<std::int64_t> last_values_;
  Nanoseconds last_time_ = 0;
};

}  // namespace

proto::Resources counter_definitions(const Trace& trace, ProcessId process, std::span<const CounterId> counters) {
  proto::Resources resources;
  for (const CounterId id : counters) {
    const Counter& counter = trace.counters()[id];
    if (counter.origin == CounterOrigin::kComputed) continue;
    proto::Counter& added = *resources.add_counters();
    added.set_id(id + 1);
    added.set_name(counter.name);
    added.set_unit(counter.unit);
    added.set_resolution(counter.resolution);
    if (counter.gpu != kNone) added.set_gpu_uuid(trace.gpus()[counter.gpu].uuid);
    if (counter.gpu != kNone && added.gpu_uuid().empty()) added.set_gpu(1 + device_ordinal(trace, process, counter.gpu));
    added.set_group(counter.group);
    added.set_maximum(counter.maximum);
    added.set_source_name(counter.source_name);
    added.set_description(counter.description);
  }
  return resources;
}

bool write_counter_samples(const Trace& trace, std::span<const CounterId> counters, const ExportSelection& selection, const EmitCounterChunk& emit) {
  // Counters are read together if their series share their times.
  std::map<const void*, std::vector<CounterId>> groups;
  for (const CounterId id : counters) {
    const CounterSeries& series = trace.counter_series(id);
    const auto [first, last] = selection.values(trace, id);
    if (trace.counters()[id].origin == CounterOrigin::kRead && first < last) groups[series.times_identity()].push_back(id);
  }
  for (const auto& [times, together] : groups) {
    const auto [first, last] = selection.values(trace, together.front());
    if (!ChunkWriter(trace, together, emit).write(first, last)) return false;
  }
  return true;
}

}  // namespace lanescope::exporters
