#include "chunk_target.h"
#include "columns.h"

namespace lanescope {
namespace {

std::uint32_t processor_number(std::uint32_t one_more) { return one_more == 0 ? kNone : one_more - 1; }

// "python (4711)": who a processor runs.
NameId thread_label(const ChunkTarget& into, std::uint32_t tid) {
  const Process& process = into.builder.process(into.process);
  const std::string_view path = process.executable;
  const auto slash = path.rfind('/');
  const std::string_view program = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return into.builder.intern(std::string(program.empty() ? "thread" : program) + " (" + std::to_string(tid) + ")");
}

}  // namespace

bool ingest(const ChunkTarget& into, const proto::ThreadStates& c) {
  const int n = c.start_delta_size();
  if (!same_length(n, c.duration(), c.state()) || !same_length_or_empty(n, c.processor())) return false;
  const NameId label = thread_label(into, c.thread());
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(n));
  std::map<std::uint32_t, std::vector<Event>> by_processor;
  std::int64_t time = into.base_time;
  for (int i = 0; i < n; ++i) {
    time += c.start_delta(i);
    const ThreadStateDetail detail{static_cast<ThreadState>(c.state(i)), processor_number(optional_value(c.processor(), i))};
    const DetailId detail_id = into.builder.intern(detail);
    const auto duration = static_cast<Nanoseconds>(c.duration(i));
    events.push_back({time, duration, into.builder.intern(thread_state_name(detail.state)), 0, detail_id});
    if (detail.state == ThreadState::kRunning && detail.processor != kNone)
      by_processor[detail.processor].push_back({time, duration, label, c.thread(), detail_id});
  }
  TrackKey key{TrackKind::kThreadStates, into.process};
  key.thread = into.builder.thread(into.process, c.thread());
  into.builder.add(key, std::move(events));
  for (auto& [processor, running] : by_processor) {
    TrackKey track{TrackKind::kProcessors};
    track.processor = processor;
    into.builder.add(track, std::move(running));
  }
  return true;
}

bool ingest(const ChunkTarget& into, const proto::Samples& c) {
  const int n = c.time_delta_size();
  if (!same_length(n, c.call_node()) || !same_length_or_empty(n, c.processor(), c.duration())) return false;
  const bool timed = c.origin() == proto::SAMPLE_TIMER;
  const NameId name = into.builder.intern(timed                                   ? "CPU sample"
                                          : c.origin() == proto::SAMPLE_CUDA_CALL ? "Backtrace of a CUDA call"
                                                                                  : "Backtrace of an OS call");
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(n));
  std::int64_t time = into.base_time;
  for (int i = 0; i < n; ++i) {
    time += c.time_delta(i);
    const SampleDetail detail{lookup(into.dictionary.call_nodes, c.call_node(i)), processor_number(optional_value(c.processor(), i)),
                              static_cast<Nanoseconds>(c.period())};
    events.push_back({time, timed ? 0 : static_cast<Nanoseconds>(optional_value(c.duration(), i)), name, 0, into.builder.intern(detail)});
  }
  TrackKey key{timed ? TrackKind::kCpuSamples : TrackKind::kBacktraces, into.process};
  key.thread = into.builder.thread(into.process, c.thread());
  into.builder.add(key, std::move(events));
  return true;
}

}  // namespace lanescope
