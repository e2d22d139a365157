#include "model/trace/building/thread_states.h"

#include <algorithm>
#include <map>
#include <string>

#include "model/file/last_path_part.h"

namespace lanescope {
namespace {

// "python (4711)": the thread that a processor runs. Made for each run of states.
NameId thread_label(TraceBuilder& builder, ProcessId process, std::uint32_t tid) {
  constexpr std::size_t kLongestName = 255;  // of a file, in bytes
  const std::string_view path = builder.process(process).executable;
  // Only the end of the path: a program whose name is longer than allowed has no name.
  const std::string_view program = last_path_part(path.substr(path.size() - std::min(path.size(), kLongestName + 1))).substr(0, kLongestName);
  return builder.intern(std::string(program.empty() ? "thread" : program) + " (" + std::to_string(tid) + ")");
}

}  // namespace

void add_thread_states(TraceBuilder& builder, ProcessId process, std::uint32_t tid, std::span<const ThreadStateSpan> spans) {
  const NameId label = thread_label(builder, process, tid);
  std::vector<Event> events;
  events.reserve(spans.size());
  std::map<std::uint32_t, std::vector<Event>> by_processor;
  for (const ThreadStateSpan& span : spans) {
    const DetailId detail = builder.intern(span.what);
    events.push_back({span.start, span.duration, builder.intern(thread_state_name(span.what.state)), 0, detail});
    if (span.what.state == ThreadState::kRunning && span.what.processor != kNone)
      by_processor[span.what.processor].push_back({span.start, span.duration, label, tid, detail});
  }
  TrackKey key{TrackKind::kThreadStates, process};
  key.thread = builder.thread(process, tid);
  builder.add(key, std::move(events));
  for (auto& [processor, running] : by_processor) {
    TrackKey track{TrackKind::kProcessors};
    track.processor = processor;
    builder.add(track, std::move(running));
  }
}

void add_samples(TraceBuilder& builder, ProcessId process, std::uint32_t tid, std::span<const SampleEvent> samples) {
  if (samples.empty()) return;
  std::vector<Event> events;
  events.reserve(samples.size());
  for (const SampleEvent& sample : samples)
    events.push_back({sample.start, sample.duration, builder.intern(sample_name(sample.what.origin)), sample.correlation, builder.intern(sample.what)});
  TrackKey key{samples.front().what.origin == SampleOrigin::kTimer ? TrackKind::kCpuSamples : TrackKind::kBacktraces, process};
  key.thread = builder.thread(process, tid);
  builder.add(key, std::move(events));
}

}  // namespace lanescope
