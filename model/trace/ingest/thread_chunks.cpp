#include "chunk_target.h"
#include "columns.h"
#include "model/trace/building/thread_states.h"

namespace lanescope {
namespace {

std::uint32_t processor_number(std::uint32_t one_more) { return one_more == 0 ? kNone : one_more - 1; }

}  // namespace

bool ingest(const ChunkTarget& into, const proto::ThreadStates& c) {
  const int n = c.start_delta_size();
  if (!same_length(n, c.duration(), c.state()) || !same_length_or_empty(n, c.processor(), c.waker())) return false;
  std::vector<ThreadStateSpan> spans;
  spans.reserve(static_cast<std::size_t>(n));
  std::int64_t time = into.base_time;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta(i));
    spans.push_back({time,
                     static_cast<Nanoseconds>(c.duration(i)),
                     {known_kind(c.state(i), ThreadState::kBlocked), processor_number(optional_value(c.processor(), i)), optional_value(c.waker(), i)}});
  }
  add_thread_states(into.builder, into.process, c.thread(), spans);
  return true;
}

bool ingest(const ChunkTarget& into, const proto::Samples& c) {
  const int n = c.time_delta_size();
  if (!same_length(n, c.call_node()) || !same_length_or_empty(n, c.processor(), c.duration(), c.correlation_delta())) return false;
  if (c.origin() < proto::SAMPLE_TIMER || c.origin() > proto::SAMPLE_OS_CALL) return false;
  const auto origin = static_cast<SampleOrigin>(c.origin());
  std::vector<SampleEvent> samples;
  samples.reserve(static_cast<std::size_t>(n));
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.time_delta(i));
    correlation = sum(correlation, optional_value(c.correlation_delta(), i));
    samples.push_back(
        {time,
         origin == SampleOrigin::kTimer ? 0 : static_cast<Nanoseconds>(optional_value(c.duration(), i)),
         {into.dictionary.call_nodes[c.call_node(i)], origin, processor_number(optional_value(c.processor(), i)), static_cast<Nanoseconds>(c.period())},
         static_cast<std::uint32_t>(correlation)});
  }
  add_samples(into.builder, into.process, c.thread(), samples);
  return true;
}

}  // namespace lanescope
