// Names of processes and threads, contexts and streams, and data about the recording itself.
#include <array>
#include <charconv>
#include <limits>

#include "model/import/nsys_sqlite.h"
#include "nsys_context.h"

namespace lanescope::importers {
namespace {

void read_processes(NsysContext& context) {
  constexpr std::array<std::string_view, 3> kColumns = {"globalPid", "pid", "name"};
  TableRows rows = context.database.rows("PROCESSES", kColumns);
  while (rows.next()) {
    const auto found = context.processes().find(rows.integer(0));
    if (found == context.processes().end()) continue;
    Process& process = context.builder.process(found->second);
    process.executable = context.builder.kept(rows.text(2));
    if (!rows.is_null(1)) process.pid = static_cast<std::uint32_t>(rows.integer(1));
  }
}

void read_threads(NsysContext& context) {
  constexpr std::array<std::string_view, 3> kColumns = {"nameId", "priority", "globalTid"};
  TableRows rows = context.database.rows("ThreadNames", kColumns);
  while (rows.next()) {
    const auto thread = context.known_thread(rows.integer(2));
    if (!thread) continue;
    context.name_thread(*thread, context.text(rows.integer(0)));
    if (context.is_too_much()) return;
    if (!rows.is_null(1)) context.builder.set_thread_priority(*thread, static_cast<std::int32_t>(rows.integer(1)));
  }
}

// Contexts and streams contain the parts of their process's id.
std::optional<ProcessId> process_of(const NsysContext& context, const TableRows& rows, int hardware, int machine, int pid) {
  const std::int64_t global_pid = rows.integer(hardware) << 56 | rows.integer(machine) << 48 | rows.integer(pid) << 24;
  const auto found = context.processes().find(global_pid);
  if (found == context.processes().end()) return std::nullopt;
  return found->second;
}

void read_contexts(NsysContext& context) {
  constexpr std::array<std::string_view, 6> kColumns = {"contextId", "deviceId", "nullStreamId", "hwId", "vmId", "processId"};
  TableRows rows = context.database.rows("TARGET_INFO_CUDA_CONTEXT_INFO", kColumns);
  while (rows.next()) {
    const auto process = process_of(context, rows, 3, 4, 5);
    if (!process) continue;
    context.builder.set_context(
        {*process, static_cast<std::uint32_t>(rows.integer(0)), static_cast<std::uint32_t>(rows.integer(1)), static_cast<std::uint32_t>(rows.integer(2))});
  }
}

void read_streams(NsysContext& context) {
  constexpr std::uint32_t kNullStream = 3;  // proto::StreamKind, with the numbers of ENUM_CUPTI_STREAM_TYPE
  constexpr std::array<std::string_view, 7> kColumns = {"contextId", "streamId", "priority", "flag", "hwId", "vmId", "processId"};
  TableRows rows = context.database.rows("TARGET_INFO_CUDA_STREAM", kColumns);
  while (rows.next()) {
    const auto process = process_of(context, rows, 4, 5, 6);
    if (!process) continue;
    CudaStream stream;
    stream.process = *process;
    stream.context = static_cast<std::uint32_t>(rows.integer(0));
    stream.id = static_cast<std::uint32_t>(rows.integer(1));
    stream.priority = static_cast<std::int32_t>(rows.integer(2));
    stream.kind = static_cast<std::uint32_t>(rows.integer(3));
    context.builder.set_stream(stream);
  }
  constexpr std::array<std::string_view, 5> kNullColumns = {"contextId", "streamId", "hwId", "vmId", "processId"};
  for (const std::string_view table : {"TARGET_INFO_CUDA_NULL_STREAM", "TARGET_INFO_CUDA_CONTEXT_INFO"}) {
    auto columns = kNullColumns;
    if (table == "TARGET_INFO_CUDA_CONTEXT_INFO") columns[1] = "nullStreamId";
    TableRows null_rows = context.database.rows(table, columns);
    while (null_rows.next())
      if (const auto process = process_of(context, null_rows, 2, 3, 4))
        context.builder.set_stream(
            {*process, static_cast<std::uint32_t>(null_rows.integer(0)), static_cast<std::uint32_t>(null_rows.integer(1)), 0, kNullStream, {}});
  }
}

void read_diagnostics(NsysContext& context) {
  constexpr std::array<std::string_view, 4> kColumns = {"timestamp", "severity", "text", "globalPid"};
  TableRows rows = context.database.rows("DIAGNOSTIC_EVENT", kColumns);
  while (rows.next()) {
    DiagnosticMessage message;
    message.time = rows.integer(0);
    const std::int64_t severity = rows.integer(1);  // 1 information, 2 warning, 3 error, 4 verbose
    message.severity = severity == 2 || severity == 3 ? static_cast<int>(severity) - 1 : 0;
    message.text = rows.text(2);
    if (const auto found = context.processes().find(rows.integer(3)); found != context.processes().end()) message.process = found->second;
    context.builder.add_diagnostic(std::move(message));
  }
}

std::map<std::string, std::string> read_pairs(const Database& database, std::string_view table) {
  constexpr std::array<std::string_view, 2> kColumns = {"name", "value"};
  std::map<std::string, std::string> pairs;
  TableRows rows = database.rows(table, kColumns);
  while (rows.next()) pairs.emplace(rows.text(0), rows.text(1));
  return pairs;
}

// The number, such as a time, in the pair of this name.
std::optional<std::int64_t> number_in(const std::map<std::string, std::string>& pairs, std::string_view name) {
  const auto pair = pairs.find(std::string(name));
  if (pair == pairs.end()) return std::nullopt;
  const std::string& text = pair->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && is_near(number) ? std::optional(number) : std::nullopt;
}

void read_provenance(NsysContext& context) {
  auto produced = read_pairs(context.database, "META_DATA_EXPORT");
  if (produced.empty()) produced = read_pairs(context.database, "EXPORT_META_DATA");  // the table's name until 2023
  auto captured = read_pairs(context.database, "META_DATA_CAPTURE");

  Provenance& provenance = context.builder.provenance();
  provenance.format = "Nsight Systems SQLite";
  provenance.producer = produced.contains("EXPORT_PRODUCT_NAME") ? produced["EXPORT_PRODUCT_NAME"] : "NVIDIA Nsight Systems";
  if (produced.contains("EXPORT_PRODUCT_VERSION")) provenance.producer += " " + produced["EXPORT_PRODUCT_VERSION"];
  if (captured.contains(std::string(kNsysSourceFormat))) {
    provenance.format = captured[std::string(kNsysSourceFormat)];
    provenance.producer = captured[std::string(kNsysSourceProducer)];
  }
  provenance.host_name = captured["DEVICE_DISPLAY_NAME"];
  provenance.working_directory = captured["PROCESS_0:WORKING_DIR"];
  if (captured.contains("PROCESS_0:COMMAND")) provenance.command.push_back(captured["PROCESS_0:COMMAND"]);
  for (int i = 0; captured.contains("PROCESS_0:ARGUMENT_" + std::to_string(i)); ++i)
    provenance.command.push_back(captured["PROCESS_0:ARGUMENT_" + std::to_string(i)]);
  provenance.finished = true;
  if (const auto attached = number_in(captured, kNsysAttachedPid); attached && *attached > 0 && *attached <= std::numeric_limits<std::uint32_t>::max())
    provenance.attached_pid = static_cast<std::uint32_t>(*attached);
  if (const auto begin = number_in(captured, kNsysPartBegin), end = number_in(captured, kNsysPartEnd); begin && end && *begin < *end)
    provenance.part = SavedPart{{*begin, *end}, std::min(number_in(captured, kNsysPartLaunches).value_or(*begin), *begin)};

  constexpr std::array<std::string_view, 2> kColumns = {"utcEpochNs", "systemClockNs"};
  TableRows rows = context.database.rows("TARGET_INFO_SESSION_START_TIME", kColumns);
  if (rows.next()) {
    provenance.utc_epoch = rows.integer(0);
    provenance.monotonic_epoch = rows.integer(1);
  }
}

}  // namespace

void import_resources(NsysContext& context) {
  read_processes(context);
  read_threads(context);
  read_contexts(context);
  read_streams(context);
  read_diagnostics(context);
  read_provenance(context);
}

}  // namespace lanescope::importers
