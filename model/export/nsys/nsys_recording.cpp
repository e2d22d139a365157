#include "nsys_recording.h"

#include <ctime>

#include "model/import/nsys_sqlite.h"
#include "model/trace/completeness.h"

namespace lanescope::exporters {
namespace {

constexpr std::int64_t kGlobalVirtualMachine = std::int64_t{1} << 48;

std::string utc_text(std::int64_t nanoseconds) {
  const std::time_t seconds = nanoseconds / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

std::string uuid_text(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

void write_machine(const Trace& trace, NsysDatabase& database, const NsysIds& ids) {
  for (GpuId id = 0; id < trace.gpus().size(); ++id) {
    const Gpu& gpu = trace.gpus()[id];
    if (gpu.name.empty() || !database.wants(NsysTable::kGpus)) continue;
    std::optional<std::string> uuid;
    if (!gpu.uuid.empty()) uuid = uuid_text(gpu.uuid);
    database.insert(NsysTable::kGpus, kGlobalVirtualMachine, id, gpu.name, gpu.bus_id, 1, kNull, gpu.memory_bytes, gpu.memory_bandwidth,
                    std::int64_t{gpu.core_clock_khz} * 1000, gpu.multiprocessor_count, id, uuid, 0, "", gpu.ordinal, "", "", kNull, kNull, kNull, kNull, kNull,
                    kNull, kNull, gpu.max_shared_memory_per_multiprocessor, gpu.max_registers_per_multiprocessor, 32, kNull, gpu.max_warps_per_multiprocessor,
                    gpu.max_blocks_per_multiprocessor, kNull, kNull, kNull, kNull, kNull, kNull, kNull, gpu.compute_major, gpu.compute_minor, gpu.compute_major,
                    gpu.compute_minor);
  }
  for (const CudaDevice& device : trace.devices())
    if (!trace.gpus()[device.gpu].name.empty() && database.wants(NsysTable::kDevices))
      database.insert(NsysTable::kDevices, device.gpu, device.ordinal, ids.pid(device.process));
  for (const CudaContext& context : trace.contexts())
    if (database.wants(NsysTable::kContexts))
      database.insert(NsysTable::kContexts, context.null_stream, 0, ids.virtual_machine(context.process), ids.pid(context.process), context.device_ordinal,
                      context.id, kNull, kNull);
  for (const CudaStream& stream : trace.streams())
    if (database.wants(NsysTable::kStreams))
      database.insert(NsysTable::kStreams, stream.id, 0, ids.virtual_machine(stream.process), ids.pid(stream.process), stream.context, stream.priority,
                      stream.kind);
}

void write_processes(const Trace& trace, NsysDatabase& database, const NsysIds& ids, NsysStrings& strings) {
  for (ProcessId id = 0; id < trace.processes().size(); ++id) {
    const Process& process = trace.processes()[id];
    if (database.wants(NsysTable::kProcesses))
      database.insert(NsysTable::kProcesses, ids.global_pid(id), ids.pid(id), process.executable.empty() ? process.name : process.executable);
  }
  for (ThreadId id = 0; id < trace.threads().size(); ++id) {
    const Thread& thread = trace.threads()[id];
    if ((!thread.name.empty() || thread.priority) && database.wants(NsysTable::kThreadNames))
      database.insert(NsysTable::kThreadNames, strings.id(std::string_view(thread.name)), thread.priority, ids.global_tid(id));
  }
  for (const DiagnosticMessage& message : trace.diagnostics()) {
    std::optional<std::int64_t> process;
    if (message.process != kNone) process = ids.global_pid(message.process);
    if (database.wants(NsysTable::kDiagnostics)) database.insert(NsysTable::kDiagnostics, message.time, 1, 1, message.severity + 1, message.text, process);
  }
  constexpr int kDaemon = 2, kWarning = 2;
  if (const std::string losses = losses_text(trace); !losses.empty() && database.wants(NsysTable::kDiagnostics))
    database.insert(NsysTable::kDiagnostics, trace.extent().end, 1, kDaemon, kWarning, losses, std::optional<std::int64_t>());
}

void write_metadata(const Trace& trace, const std::optional<SavedPart>& part, NsysDatabase& database) {
  const Provenance& from = trace.provenance();
  const TimeRange extent = trace.extent();
  if (database.wants(NsysTable::kSessionStart)) {
    const std::string utc = utc_text(from.utc_epoch);
    database.insert(NsysTable::kSessionStart, from.utc_epoch, utc, utc, from.monotonic_epoch);
  }
  if (database.wants(NsysTable::kAnalysisDetails))
    database.insert(NsysTable::kAnalysisDetails, kGlobalVirtualMachine, extent.end, from.monotonic_epoch, from.monotonic_epoch + extent.end);
  const auto captured = [&](std::string_view name, std::string_view value) {
    if (!value.empty() && database.wants(NsysTable::kCaptureMetadata)) database.insert(NsysTable::kCaptureMetadata, name, value);
  };
  captured("DEVICE_DISPLAY_NAME", from.host_name);
  captured("PROCESS_0:WORKING_DIR", from.working_directory);
  for (std::size_t i = 0; i < from.command.size(); ++i)
    captured(i == 0 ? std::string("PROCESS_0:COMMAND") : "PROCESS_0:ARGUMENT_" + std::to_string(i - 1), from.command[i]);
  if (from.format != "Lanescope") {
    captured(kNsysSourceFormat, from.format);
    captured(kNsysSourceProducer, from.producer);
  }
  if (from.attached_pid != 0) captured(kNsysAttachedPid, std::to_string(from.attached_pid));
  if (part) {
    captured(kNsysPartBegin, std::to_string(part->time.begin));
    captured(kNsysPartEnd, std::to_string(part->time.end));
    captured(kNsysPartLaunches, std::to_string(part->first_launch));
  }
  const auto exported = [&](std::string_view name, std::string_view value) { database.insert(NsysTable::kExportMetadata, name, value); };
  exported("EXPORT_PRODUCT_NAME", "Lanescope");
  exported("EXPORT_PRODUCT_VERSION", LANESCOPE_VERSION);
  exported("EXPORT_SCHEMA_VERSION", "3.20.2");
  exported("EXPORT_SCHEMA_VERSION_MAJOR", "3");
  exported("EXPORT_SCHEMA_VERSION_MINOR", "20");
  exported("EXPORT_SCHEMA_VERSION_MICRO", "2");
  exported("EXPORT_PLATFORM", "linux-desktop");
  exported("EXPORT_TIME_UTC", utc_text(std::int64_t{std::time(nullptr)} * 1'000'000'000));
  exported("EXPORT_PARAM_LAZY", "true");
}

}  // namespace

void write_recording(const Trace& trace, const std::optional<SavedPart>& part, NsysDatabase& database, const NsysIds& ids, NsysStrings& strings) {
  write_machine(trace, database, ids);
  write_processes(trace, database, ids, strings);
  write_metadata(trace, part, database);
}

}  // namespace lanescope::exporters
