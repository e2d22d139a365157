// Tables of events: CSV, tab-separated text, JSON.
#include <algorithm>

#include "event_order.h"
#include "json_writer.h"
#include "model/events/event_query.h"
#include "model/events/event_text.h"
#include "model/export/text_export.h"
#include "model/trace/combining/parts.h"

namespace lanescope {
namespace {

using namespace exporters;

std::vector<EventRef> selected_events(const EventValues& values, const ExportSelection& selection) {
  EventFilter filter;
  filter.window = selection.window;
  std::vector<LaneId> lanes = values.scope().lanes();
  const auto repeats_threads = [&](LaneId lane) { return values.trace().track_of(lane).key.kind == TrackKind::kProcessors; };
  std::erase_if(lanes, [&](LaneId lane) { return !selection.takes(lane) || repeats_threads(lane); });
  return gather_by_start(values.trace(), lanes, filter, selection.stop);
}

// True for events that count as part of a saved part (SavedPart), and for all events of whole recordings.
bool is_counted(const Trace& trace, EventRef event) {
  const std::optional<SavedPart> saved = saved_part_of(trace, part_of(trace, trace.track_of(event.lane)));
  const Lane& lane = trace.lane(event.lane);
  return !saved || saved->time.takes({lane.start(event.index), lane.end(event.index)});
}

// The processor of a state or sample of a thread; kNone if it is unknown, and for all other events.
std::uint32_t processor_of(const Trace& trace, EventRef ref) {
  const DetailId detail = trace.lane(ref.lane).detail(ref.index);
  switch (trace.track_of(ref.lane).key.kind) {
    case TrackKind::kThreadStates:
      return trace.thread_state_detail(detail).processor;
    case TrackKind::kCpuSamples:
      return trace.sample_detail(detail).processor;
    default:
      return kNone;
  }
}

bool knows_processors(const Trace& trace) {
  return std::ranges::any_of(trace.tracks(),
                             [](const Track& track) { return track.key.kind == TrackKind::kThreadStates || track.key.kind == TrackKind::kCpuSamples; });
}

bool write_table(std::shared_ptr<const Trace> trace, Delimiter delimiter, const TextConsumer& write, const ExportSelection& selection) {
  const EventScope scope = EventScope::whole_trace(*trace);
  const EventValues values(std::move(trace), scope);
  const std::vector<EventColumn> columns = event_columns_of(values.trace());
  std::vector<FurtherColumn> further;
  if (knows_processors(values.trace()))
    further.push_back({"Processor", [&values](EventRef event) {
                         const std::uint32_t processor = processor_of(values.trace(), event);
                         return processor == kNone ? std::string() : std::to_string(processor);
                       }});
  if (values.trace().provenance().part)
    further.push_back({"In part", [&values](EventRef event) { return std::string(is_counted(values.trace(), event) ? "yes" : "no"); }});
  return write_events(values, selected_events(values, selection), columns, delimiter, write, further, selection.progress);
}

void write_work(const Trace& trace, EventKind kind, const Event& event, JsonWriter& json) {
  if (kind == EventKind::kKernel) {
    const KernelDetail& detail = trace.kernel_detail(event.detail);
    json.field("grid", detail.grid).field("block", detail.block).field("registers_per_thread", detail.registers_per_thread);
    json.field("static_shared_memory", detail.static_shared_memory).field("dynamic_shared_memory", detail.dynamic_shared_memory);
  } else if (kind == EventKind::kCopy || kind == EventKind::kSet) {
    const MemoryDetail& detail = trace.memory_detail(event.detail);
    json.field("bytes", detail.bytes).field("destination_memory", memory_kind_name(detail.destination_memory));
    if (kind == EventKind::kCopy) json.field("source_memory", memory_kind_name(detail.source_memory));
  }
}

// "main;work;leaf": the format of flame graph scripts.
std::string folded_chain(const Trace& trace, CallNodeId chain) {
  std::string folded;
  const CallStacks& stacks = trace.call_stacks();
  const std::vector<CodeLocationId> locations = stacks.chain(chain);
  for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
    const auto functions = stacks.functions(*location);
    for (auto function = functions.rbegin(); function != functions.rend(); ++function)
      folded.append(folded.empty() ? "" : ";").append(trace.name(function->function));
  }
  return folded;
}

void write_object(const Trace& trace, EventRef ref, JsonWriter& json) {
  const Event event = trace.event(ref);
  const TrackKey& key = trace.track_of(ref.lane).key;
  const EventKind kind = event_kind(trace, ref);
  json.field("kind", event_kind_name(kind)).field("name", trace.name(event.name));
  json.field("start_ns", event.start).field("duration_ns", event.duration);
  if (key.process != kNone) json.field("pid", trace.processes()[key.process].pid);
  if (key.thread != kNone) json.field("tid", trace.threads()[key.thread].tid);
  if (const std::uint32_t processor = processor_of(trace, ref); processor != kNone) json.field("processor", processor);
  if (kind == EventKind::kCpuSample || kind == EventKind::kBacktrace)
    json.field("stack", std::string_view(folded_chain(trace, trace.sample_detail(event.detail).call_node)));
  if (is_on_stream(key.kind)) {
    json.field("device", device_ordinal(trace, key.process, key.gpu)).field("context", key.context).field("stream", key.stream);
    write_work(trace, kind, event, json);
  }
  if (event.correlation != 0 && kind != EventKind::kNvtxRange && kind != EventKind::kNvtxMark) json.field("correlation", event.correlation);
  if (const auto domain = trace.domain_name(key.process, key.domain); !domain.empty()) json.field("domain", domain);
  if (trace.provenance().part) json.key("in_part").raw(is_counted(trace, ref) ? "true" : "false");
}

}  // namespace

bool export_csv(std::shared_ptr<const Trace> trace, const TextConsumer& write, const ExportSelection& selection) {
  return write_table(std::move(trace), Delimiter::kComma, write, selection);
}

bool export_text(std::shared_ptr<const Trace> trace, const TextConsumer& write, const ExportSelection& selection) {
  return write_table(std::move(trace), Delimiter::kTab, write, selection);
}

bool export_json(const Trace& trace, const TextConsumer& write, const ExportSelection& selection) {
  const std::shared_ptr<const Trace> shared(std::shared_ptr<const Trace>{}, &trace);  // borrowed for the call
  const EventValues values(shared, EventScope::whole_trace(trace));
  JsonWriter json(write);
  json.open('[');
  const std::vector<EventRef> events = selected_events(values, selection);
  selection.progress.begin(events.size());
  std::uint64_t written = 0;
  for (const EventRef ref : events) {
    json.element().raw("\n").open('{');
    write_object(trace, ref, json);
    json.close('}');
    selection.progress.reach(++written);
    if (!json.flush_some()) return false;
  }
  json.raw("\n]\n");
  return json.flush();
}

}  // namespace lanescope
