#include "output/info_json.h"

#include <array>
#include <nlohmann/json.hpp>

#include "model/trace/by_process.h"
#include "model/trace/completeness.h"
#include "text.h"

namespace lanescope::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view end_key(ProcessEndKind kind) {
  switch (kind) {
    case ProcessEndKind::kUnknown:
      return "unknown";
    case ProcessEndKind::kExited:
      return "exited";
    case ProcessEndKind::kSignaled:
      return "signaled";
    case ProcessEndKind::kDetached:
      return "detached";
    case ProcessEndKind::kLost:
      return "lost";
    case ProcessEndKind::kReplaced:
      return "replaced";
  }
  return "unknown";
}

constexpr std::array<std::string_view, 7> kEnds{"unknown", "target_exited", "stopped", "duration", "disk_full", "file_size", "range"};
constexpr std::array<std::string_view, 4> kComponents{"session", "cupti", "nvtx", "os_runtime"};
constexpr std::array<std::string_view, 8> kStates{"unspecified",    "recording",        "no_driver",     "no_library",
                                                  "owned_by_other", "version_mismatch", "no_permission", "failed"};
constexpr std::array<std::string_view, 4> kStreamKinds{"unknown", "default", "non_blocking", "null"};

template <std::size_t size>
std::string_view word(const std::array<std::string_view, size>& words, std::size_t index) {
  return index < size ? words[index] : "unknown";
}

Json json_of(const JobPlace& place) {
  if (place == JobPlace{}) return nullptr;
  const auto known = [](const std::optional<std::uint32_t>& number) { return number ? Json(*number) : Json(nullptr); };
  return {{"rank", known(place.rank)},  {"local_rank", known(place.local_rank)}, {"world_size", place.world_size > 0 ? Json(place.world_size) : Json(nullptr)},
          {"launcher", place.launcher}, {"scheduler", place.scheduler},          {"job", place.job},
          {"step", place.step}};
}

Json json_of(const ClockReading& reading) {
  return {{"time_ns", reading.time},
          {"utc_ns", reading.utc},
          {"monotonic_raw_ns", reading.monotonic_raw},
          {"boottime_ns", reading.boottime},
          {"uncertainty_ns", reading.uncertainty},
          {"synchronized", reading.synchronized},
          {"offset_ns", reading.offset},
          {"frequency_ppm", reading.frequency},
          {"estimated_error_ns", reading.estimated_error},
          {"maximum_error_ns", reading.maximum_error}};
}

Json json_of(const Trace& trace, ProcessId id, const ByProcess<Thread>& threads_by_process, const EventCounts& counts) {
  const Process& process = trace.processes()[id];
  Json threads = Json::array();
  for (const ThreadId thread : threads_by_process.positions(id)) {
    const Thread& description = trace.threads()[thread];
    threads.push_back({{"tid", description.tid}, {"name", description.name}, {"event_count", count_of(counts.by_thread, thread)}});
  }
  const Completeness& completeness = process.completeness;
  return {{"instance", process.instance},
          {"pid", process.pid},
          {"parent_pid", process.parent_pid},
          {"name", process.name},
          {"executable", process.executable},
          {"arguments", process.arguments},
          {"forked", process.forked},
          {"place", json_of(process.place)},
          {"start_ns", process.start},
          {"end_ns", process.end ? Json(*process.end) : Json(nullptr)},
          {"end",
           {{"kind", end_key(process.end_kind)},
            {"exit_code", process.exit_code},
            {"signal", process.signal},
            {"crash_thread", process.crash_thread},
            {"crash_address", process.crash_address}}},
          {"event_count", count_of(counts.by_process, id)},
          {"completeness",
           {{"produced", completeness.produced},
            {"dropped", completeness.dropped},
            {"late", completeness.late},
            {"invalid", completeness.invalid},
            {"unreturned_buffers", completeness.unreturned_buffers}}},
          {"threads", threads}};
}

Json json_of(const Gpu& gpu) {
  return {{"name", gpu.name},
          {"ordinal", gpu.ordinal},
          {"uuid", hexadecimal(gpu.uuid)},
          {"bus_id", gpu.bus_id},
          {"compute_capability", std::to_string(gpu.compute_major) + "." + std::to_string(gpu.compute_minor)},
          {"multiprocessor_count", gpu.multiprocessor_count},
          {"memory_bytes", gpu.memory_bytes},
          {"memory_bandwidth", gpu.memory_bandwidth}};
}

Json json_of(const Trace& trace, CounterId id) {
  const Counter& counter = trace.counters()[id];
  return {{"name", counter.name},
          {"unit", counter.unit},
          {"group", counter.group},
          {"source_name", counter.source_name},
          {"device", counter.gpu == kNone ? Json(nullptr) : Json(trace.gpus()[counter.gpu].ordinal)},
          {"pid", counter.process == kNone ? Json(nullptr) : Json(trace.processes()[counter.process].pid)},
          {"sample_count", trace.counter_series(id).size()}};
}

Json json_of(const Trace& trace, const CudaName& name) {
  constexpr std::array<std::string_view, 4> kResources{"unknown", "device", "context", "event"};
  return {{"pid", trace.processes()[name.process].pid},
          {"resource", word(kResources, static_cast<std::size_t>(name.resource))},
          {"id", name.id},
          {"name", name.name}};
}

Json json_of(const Trace& trace, const CudaStream& stream, const StreamDevices& devices, const EventCounts& counts) {
  const Process& process = trace.processes()[stream.process];
  return {{"pid", process.pid},
          {"instance", process.instance},
          {"device", devices.of(stream)},
          {"context", stream.context},
          {"id", stream.id},
          {"name", stream.name},
          {"kind", word(kStreamKinds, stream.kind)},
          {"priority", stream.priority},
          {"event_count", count_of(counts.by_stream, StreamKey{stream.process, stream.context, stream.id})}};
}

Json json_of(const Trace& trace, const DiagnosticMessage& message) {
  return {{"time_ns", message.time},
          {"severity", severity_name(message)},
          {"component", word(kComponents, static_cast<std::size_t>(message.component))},
          {"state", word(kStates, static_cast<std::size_t>(message.state))},
          {"pid", message.process == kNone ? Json(nullptr) : Json(trace.processes()[message.process].pid)},
          {"text", message.text}};
}

}  // namespace

std::string info_json(const std::string& file, const Trace& trace, const EventCounts& counts, const FileFacts& facts) {
  const Provenance& from = trace.provenance();
  Json document = {{"file", file},
                   {"format", from.format},
                   {"producer", from.producer},
                   {"form", facts.form ? Json(form_name(*facts.form)) : Json(nullptr)},
                   {"file_bytes", facts.bytes},
                   {"open_bytes", facts.memory},
                   {"event_budget_bytes", facts.event_budget},
                   {"finished", from.finished},
                   {"condition", from.condition},
                   {"contents", completeness_text(trace)},
                   {"ended", word(kEnds, static_cast<std::size_t>(from.end))},
                   {"unwritten_events", from.unwritten_events},
                   {"host_name", from.host_name},
                   {"operating_system", from.operating_system},
                   {"processor", from.processor},
                   {"processor_count", from.processor_count != 0 ? Json(from.processor_count) : Json(nullptr)},
                   {"driver_version", from.driver_version},
                   {"options", from.options},
                   {"working_directory", from.working_directory},
                   {"command", from.command},
                   {"attached_pid", from.attached_pid != 0 ? Json(from.attached_pid) : Json(nullptr)},
                   {"utc_epoch_ns", from.utc_epoch},
                   {"machine_id", from.machine_id},
                   {"boot_id", from.boot_id},
                   {"labels", Json::object()},
                   {"clocks", Json::array()},
                   {"span", {{"begin_ns", trace.extent().begin}, {"end_ns", trace.extent().end}, {"duration_ns", trace.extent().length()}}},
                   {"part", nullptr},
                   {"event_count", trace.event_count()}};
  if (from.part) document["part"] = {{"begin_ns", from.part->time.begin}, {"end_ns", from.part->time.end}, {"duration_ns", from.part->time.length()}};
  for (const Label& label : from.labels) document["labels"][label.key] = label.value;
  for (const ClockReading& reading : from.clocks) document["clocks"].push_back(json_of(reading));
  for (const EventKind& kind : kEventKinds) document["counts"][std::string(kind.key)] = counts.by_kind.at(kind.key);
  for (const char* list : {"processes", "devices", "streams", "diagnostics"}) document[list] = Json::array();
  const ByProcess<Thread> threads(trace.threads());
  for (ProcessId id = 0; id < trace.processes().size(); ++id) document["processes"].push_back(json_of(trace, id, threads, counts));
  for (const Gpu& gpu : trace.gpus()) document["devices"].push_back(json_of(gpu));
  document["counters"] = Json::array();
  for (CounterId id = 0; id < trace.counters().size(); ++id) document["counters"].push_back(json_of(trace, id));
  const StreamDevices devices(trace);
  for (const CudaStream& stream : trace.streams()) document["streams"].push_back(json_of(trace, stream, devices, counts));
  document["cuda_names"] = Json::array();
  for (const CudaName& name : trace.cuda_names()) document["cuda_names"].push_back(json_of(trace, name));
  for (const DiagnosticMessage& message : trace.diagnostics()) document["diagnostics"].push_back(json_of(trace, message));
  std::size_t output[2] = {0, 0};
  for (const OutputText& text : trace.output()) output[text.standard_error ? 1 : 0] += text.bytes.size();
  document["output"] = {{"stdout_bytes", output[0]}, {"stderr_bytes", output[1]}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lanescope::cli
