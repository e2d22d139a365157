#include <map>

#include "chunk_target.h"
#include "columns.h"

namespace lanescope {

bool ingest(const ChunkTarget& into, const ApiCallColumns& c) {
  const int n = c.start_delta.size();
  if (!same_length(n, c.duration, c.name, c.correlation_delta) || !same_length_or_empty(n, c.result)) return false;
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(n));
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  ApiDetail detail;
  detail.domain = c.driver ? ApiDomain::kDriver : ApiDomain::kRuntime;
  DetailId id = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta[i]);
    correlation = sum(correlation, c.correlation_delta[i]);
    // Most calls succeed.
    if (const auto result = optional_value(c.result, i); i == 0 || result != detail.result) {
      detail.result = result;
      id = into.builder.intern(detail);
    }
    events.push_back({time, static_cast<Nanoseconds>(c.duration[i]), into.dictionary.strings[c.name[i]], static_cast<std::uint32_t>(correlation), id});
  }
  TrackKey key{TrackKind::kCudaApi, into.process};
  key.thread = into.builder.thread(into.process, c.thread);
  into.builder.add(key, std::move(events));
  return true;
}

bool ingest(const ChunkTarget& into, TrackKind kind, const proto::Spans& c) {
  const int n = c.start_delta_size();
  if (!same_length(n, c.duration(), c.name()) || !same_length_or_empty(n, c.thread(), c.correlation_delta())) return false;
  const auto partial = marked(c.partial(), n);
  const bool whole = partial.empty();
  std::map<std::uint32_t, std::vector<Event>> by_thread;
  std::int64_t time = into.base_time;
  std::int64_t correlation = 0;
  for (int i = 0; i < n; ++i) {
    time = sum(time, c.start_delta(i));
    correlation = sum(correlation, optional_value(c.correlation_delta(), i));
    by_thread[optional_value(c.thread(), i)].push_back({time, static_cast<Nanoseconds>(c.duration(i)), into.dictionary.strings[c.name(i)],
                                                        static_cast<std::uint32_t>(correlation),
                                                        whole || !partial[static_cast<std::size_t>(i)] ? kWholeCall : kPartialCall});
  }
  for (auto& [tid, events] : by_thread) {
    TrackKey key{kind, into.process};
    // Calls always belong to a thread: a call of unknown id belongs to thread 0. Time that the profiler takes may belong to a whole process.
    if (tid != 0 || kind == TrackKind::kOsRuntime) key.thread = into.builder.thread(into.process, tid);
    into.builder.add(key, std::move(events));
  }
  return true;
}

bool ingest(const ChunkTarget& into, const proto::PageFaults& c) {
  const int n = c.start_delta_size();
  if (!same_length(n, c.duration(), c.address(), c.count())) return false;
  if (!same_length_or_empty(n, c.device(), c.access(), c.program_counter(), c.function(), c.module(), c.source_file(), c.source_line())) return false;
  std::map<std::uint32_t, std::vector<Event>> by_device;
  std::int64_t time = into.base_time;
  for (int i = 0; i < n; ++i) {
    const auto text = [&](const auto& column) { return into.dictionary.strings[optional_value(column, i)]; };
    time = sum(time, c.start_delta(i));
    PageFaultDetail detail;
    detail.address = c.address(i);
    detail.program_counter = optional_value(c.program_counter(), i);
    detail.function = text(c.function());
    detail.module = text(c.module());
    detail.source_file = text(c.source_file());
    detail.source_line = optional_value(c.source_line(), i);
    detail.count = c.count(i);
    detail.access = optional_value(c.access(), i);
    const std::uint32_t device = optional_value(c.device(), i);
    by_device[device].push_back({time, static_cast<Nanoseconds>(c.duration(i)),
                                 into.builder.intern(page_fault_name(device == 0 ? PageFaultOf::kCpu : PageFaultOf::kGpu)), 0, into.builder.intern(detail)});
  }
  for (auto& [device, events] : by_device) {
    TrackKey key{TrackKind::kPageFaults, into.process};
    if (device != 0) key.gpu = into.builder.gpu_of_device(into.process, device - 1);
    into.builder.add(key, std::move(events));
  }
  return true;
}

}  // namespace lanescope
