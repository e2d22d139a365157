// lanescope info: what a trace holds, and how complete it is.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <set>

#include "checks.h"
#include "commands.h"
#include "model/import/open_trace.h"
#include "model/kernels/instructions/pc_statistics.h"
#include "model/trace/by_process.h"
#include "model/trace/combining/combine.h"
#include "model/trace/compact/segment_check.h"
#include "model/trace/completeness.h"
#include "model/trace/kernel_records.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/text/grouped_digits.h"
#include "model/trace/text/percent.h"
#include "output/info_json.h"
#include "output/told.h"
#include "output/trace_summary.h"
#include "text.h"

namespace lanescope::cli {
namespace {

// "SIGSEGV in thread 4712, at address 0x10".
std::string signal_text(const Process& process) {
  const char* name = sigabbrev_np(process.signal);
  std::string text = name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(process.signal);
  if (process.crash_thread != 0) text += " in thread " + std::to_string(process.crash_thread);
  std::array<char, 24> address{};
  std::snprintf(address.data(), address.size(), "0x%" PRIx64, process.crash_address);
  const bool is_memory_fault = process.crash_thread != 0 && (process.signal == SIGSEGV || process.signal == SIGBUS);
  return is_memory_fault ? text + ", at address " + address.data() : text;
}

// "500.000 ms, from 9.000 s to 9.500 s of the recording"; empty if the trace is the whole recording.
std::string part_text(const Trace& trace) {
  const std::optional<SavedPart>& part = trace.provenance().part;
  if (!part) return {};
  return duration_text(part->time.length()) + ", from " + duration_text(part->time.begin) + " to " + duration_text(part->time.end) + " of the recording";
}

std::string end_text(const Process& process) {
  switch (process.end_kind) {
    case ProcessEndKind::kUnknown:
      return "how it ended was not recorded";
    case ProcessEndKind::kExited:
      return process.exit_code == 0 ? "exited" : "exited with code " + std::to_string(process.exit_code);
    case ProcessEndKind::kSignaled:
      return "ended by " + signal_text(process);
    case ProcessEndKind::kDetached:
      return "ran on after the recording";
    case ProcessEndKind::kLost:
      return "disappeared; how it ended is not known";
    case ProcessEndKind::kReplaced:
      return "replaced itself by another program (exec)";
  }
  return "";
}

constexpr int kTitleWidth = 14;

void print_line(std::string_view title, std::string_view text) {
  if (text.empty()) return;
  std::cout << "  " << title << std::string(std::max<int>(1, kTitleWidth - static_cast<int>(title.size())), ' ') << text << '\n';
}

std::string records_text(const Completeness& completeness) {
  std::string text = counted(completeness.produced, "record") + ", " + grouped_digits(completeness.dropped) + " dropped";
  if (completeness.late > 0) text += ", " + grouped_digits(completeness.late) + " late";
  if (completeness.invalid > 0) text += ", " + grouped_digits(completeness.invalid) + " invalid";
  if (completeness.unreturned_buffers > 0) text += "; it ended with " + counted(completeness.unreturned_buffers, "CUPTI buffer") + ", whose records are lost";
  return text;
}

std::string recording_end_text(const Provenance& from) {
  switch (from.end) {
    case RecordingEnd::kUnknown:
      return "";
    case RecordingEnd::kTargetExited:
      return "with the program";
    case RecordingEnd::kStopped:
      return "it was stopped";
    case RecordingEnd::kDuration:
      return "its time was over";
    case RecordingEnd::kDiskFull:
      return "the file could not be written any more (is the disk full?)";
    case RecordingEnd::kFileSize:
      return "the file had the size that it may have (--max-file-size)";
    case RecordingEnd::kRange:
      return "with the range that was to be recorded";
  }
  return "";
}

// "process 4711 (python)"
std::string attached_text(const Trace& trace) {
  const std::uint32_t pid = trace.provenance().attached_pid;
  std::string text = "process " + std::to_string(pid);
  for (const Process& process : trace.processes())
    if (process.pid == pid) return text + " (" + process.name + ")";
  return text;
}

// "rank 3 of 8 (torchrun), 3 on its machine; job 4711 (Slurm), step 0"
std::string place_text(const JobPlace& place) {
  std::string text;
  if (place.rank) {
    text = "rank " + std::to_string(*place.rank);
    if (place.world_size > 0) text += " of " + std::to_string(place.world_size);
    text += " (" + place.launcher + ")";
    if (place.local_rank) text += ", " + std::to_string(*place.local_rank) + " on its machine";
  }
  if (!place.job.empty()) text += (text.empty() ? "job " : "; job ") + place.job + " (" + place.scheduler + ")";
  if (!place.step.empty()) text += ", step " + place.step;
  return text;
}

// The place that all processes have that have one; empty if they differ.
JobPlace only_place(const Trace& trace) {
  JobPlace place;
  for (const Process& process : trace.processes()) {
    if (process.place == JobPlace{}) continue;
    if (place != JobPlace{} && place != process.place) return {};
    place = process.place;
  }
  return place;
}

// "synchronized to within 12.000 ms; 3.2 ppm fast against the hardware's clock"
std::string clock_text(const Provenance& from) {
  if (from.clocks.empty()) return {};
  const ClockReading& first = from.clocks.front();
  const ClockReading& last = from.clocks.back();
  std::string text = last.synchronized ? "synchronized to within " + duration_text(static_cast<std::int64_t>(last.maximum_error))
                                       : std::string("not synchronized with other machines");
  const std::int64_t span = last.monotonic_raw - first.monotonic_raw;
  constexpr std::int64_t kTellingSpan = 1'000'000'000;  // shorter spans are within the error of the readings
  if (first.monotonic_raw != 0 && span >= kTellingSpan) {
    std::array<char, 64> rate{};
    const double ppm = (static_cast<double>(last.utc - first.utc) / static_cast<double>(span) - 1) * 1e6;
    std::snprintf(rate.data(), rate.size(), "; the time of day ran %.1f ppm %s than the hardware's clock", std::abs(ppm), ppm < 0 ? "slower" : "faster");
    text += rate.data();
  }
  return text;
}

// "21 of 1 GPU, 1,234,567 values"
std::string metrics_text(const Trace& trace) {
  std::uint64_t values = 0;
  std::uint64_t counters = 0;
  std::set<GpuId> gpus;
  for (CounterId id = 0; id < trace.counters().size(); ++id) {
    const Counter& counter = trace.counters()[id];
    if (counter.gpu == kNone || counter.process != kNone || counter.origin == CounterOrigin::kComputed) continue;
    ++counters;
    gpus.insert(counter.gpu);
    values += trace.counter_series(id).size();
  }
  if (counters == 0) return {};
  return grouped_digits(counters) + " of " + counted(gpus.size(), "GPU") + ", " + counted(values, "value");
}

// "log, 3.1 MiB; 23.0 MiB of memory once open", "compact, 3.1 MiB; 0.1 MiB of memory once open, and up to 4.0 GiB for events that are read"; empty for files
// of other tools.
std::string form_text(const FileFacts& facts) {
  if (!facts.form) return {};
  const std::string text = std::string(form_name(*facts.form)) + ", " + bytes_text(facts.bytes) + "; " + bytes_text(facts.memory) + " of memory once open";
  return facts.event_budget == 0 ? text : text + ", and up to " + bytes_text(facts.event_budget) + " for events that are read";
}

// "12,345 in 40 windows, 3 code objects, 2 dropped"; empty if nothing was sampled.
std::string pc_samples_text(const Trace& trace) {
  const KernelRecords& records = trace.kernel_records();
  if (records.windows.empty()) return {};
  std::uint64_t samples = 0, dropped = 0, full = 0;
  for (const auto& window : records.windows) {
    for (const PcSample& sample : window->samples) samples += sample.samples;
    dropped += window->dropped;
    full += window->buffer_was_full ? 1 : 0;
  }
  std::string text = grouped_digits(samples) + " in " + counted(records.windows.size(), "window") + ", " + counted(records.code.size(), "code object");
  if (dropped > 0) text += ", " + grouped_digits(dropped) + " dropped";
  if (full > 0) text += ", the hardware's buffer was full in " + counted(full, "window");
  if (const auto part = kernels::sampled_part(trace)) text += ", sampled " + format_small_percent(part->percent()) + " of the time";
  return text;
}

// "of 3 launches, at 144 instructions"; empty if no instructions were counted.
std::string instruction_counts_text(const Trace& trace) {
  std::set<std::pair<ProcessId, std::uint32_t>> launches;
  std::uint64_t instructions = 0;
  for (const auto& counts : trace.kernel_records().counted) {
    launches.emplace(counts->process, counts->correlation);
    instructions += counts->rows.size();
  }
  if (launches.empty()) return {};
  return "of " + grouped_digits(launches.size()) + (launches.size() == 1 ? " launch" : " launches") + ", at " + counted(instructions, "instruction");
}

// "3 files, 12.1 KiB"; empty if there are none.
std::string sources_text(const Trace& trace) {
  std::uint64_t bytes = 0;
  for (const auto& source : trace.kernel_records().sources) bytes += source->text.size();
  const std::size_t files = trace.kernel_records().sources.size();
  return files == 0 ? "" : counted(files, "file") + ", " + bytes_text(bytes);
}

void print_heading(const std::string& file, const Trace& trace, const EventCounts& counts, const FileFacts& facts) {
  const Provenance& from = trace.provenance();
  std::cout << file << '\n';
  print_line("Format", from.format + (from.producer.empty() ? "" : ", written by " + from.producer));
  print_line("Form", form_text(facts));
  if (from.utc_epoch != 0) print_line("Recorded", utc_text(from.utc_epoch) + (from.host_name.empty() ? "" : " on " + from.host_name));
  print_line("System", from.operating_system);
  print_line("Processors", processors_text(from));
  print_line("Driver", from.driver_version.empty() ? "" : "NVIDIA " + from.driver_version);
  print_line("Options", from.options);
  print_line("Command", command_text(from.command));
  if (from.attached_pid != 0) print_line("Attached to", attached_text(trace));
  print_line("Directory", from.working_directory);
  print_line("Place", place_text(only_place(trace)));
  std::string labels;
  for (const Label& label : from.labels) labels += (labels.empty() ? "" : ", ") + label.key + "=" + label.value;
  print_line("Labels", labels);
  print_line("Machine",
             from.machine_id.empty() && from.boot_id.empty() ? "" : from.machine_id + (from.machine_id.empty() ? "boot " : ", boot ") + from.boot_id);
  print_line("Clock", clock_text(from));
  // Processor states are not counted as events, as in the recorder: they follow from thread states.
  const std::uint64_t derived = counts.by_kind.at("processor_states");
  print_line("Part", part_text(trace));
  print_line("Span", duration_text(trace.extent().length()) + ", " + counted(trace.event_count() - derived, "event") +
                         (derived == 0 ? "" : ", and " + counted(derived, "state") + " of processors made of them"));
  print_line("GPU metrics", metrics_text(trace));
  print_line("PC samples", pc_samples_text(trace));
  print_line("Counts", instruction_counts_text(trace));
  print_line("Sources", sources_text(trace));
  print_line("Ended", recording_end_text(from));
  print_line("Condition", from.condition);
  print_line("Contents", completeness_text(trace));
}

void print_counts(const EventCounts& counts) {
  std::cout << "\nEvents\n";
  for (const EventKind& kind : kEventKinds) {
    const std::string number = grouped_digits(counts.by_kind.at(kind.key));
    if (number == "0") continue;
    std::cout << "  " << kind.title << std::string(32 - kind.title.size(), ' ');
    std::cout << std::string(number.size() < 14 ? 14 - number.size() : 0, ' ') << number << '\n';
  }
}

enum class PlacesAre { kOne, kOfEachProcess };

void print_process(const Trace& trace, ProcessId id, const ByProcess<Thread>& threads, const EventCounts& counts, PlacesAre places) {
  const Process& process = trace.processes()[id];
  std::cout << "  [" << process.pid << "] " << process.name;
  if (process.parent_pid != 0) std::cout << (process.forked ? ", forked by [" : ", child of [") << process.parent_pid << "]";
  std::cout << ": " << end_text(process);
  if (process.end) std::cout << " after " << duration_text(*process.end - process.start);
  std::cout << "\n      ";
  if (places == PlacesAre::kOfEachProcess && process.place != JobPlace{}) std::cout << place_text(process.place) << "; ";
  std::cout << records_text(process.completeness) << '\n';
  for (const ThreadId thread : threads.positions(id)) {
    const Thread& description = trace.threads()[thread];
    const std::uint64_t events = count_of(counts.by_thread, thread);
    if (events == 0) continue;
    std::cout << "      thread [" << description.tid << "] " << description.name << (description.name.empty() ? "" : ": ") << counted(events, "event") << '\n';
  }
}

void print_gpus(const Trace& trace, const EventCounts& counts) {
  if (!trace.gpus().empty()) std::cout << "\nGPUs\n";
  for (const Gpu& gpu : trace.gpus()) {
    std::cout << "  " << gpu.ordinal << ": " << (gpu.name.empty() ? "unknown GPU" : gpu.name)
              << given_names(trace, static_cast<GpuId>(&gpu - trace.gpus().data()));
    if (gpu.compute_major > 0) std::cout << ", compute capability " << gpu.compute_major << "." << gpu.compute_minor;
    if (gpu.multiprocessor_count > 0) std::cout << ", " << gpu.multiprocessor_count << " multiprocessors";
    if (gpu.memory_bytes > 0) std::cout << ", " << bytes_text(gpu.memory_bytes);
    std::cout << '\n';
  }
  if (!trace.streams().empty()) std::cout << "\nStreams\n";
  const StreamDevices devices(trace);
  std::uint64_t unused = 0;
  for (const CudaStream& stream : trace.streams()) {
    const std::uint64_t events = count_of(counts.by_stream, StreamKey{stream.process, stream.context, stream.id});
    if (events == 0) {
      ++unused;
      continue;
    }
    std::cout << "  [" << trace.processes()[stream.process].pid << "] GPU " << devices.of(stream) << ", context "
              << context_label(trace, stream.process, stream.context) << ", stream " << stream.id << (stream.name.empty() ? "" : " \"" + stream.name + "\"")
              << ": " << counted(events, "event") << '\n';
  }
  if (unused > 0) std::cout << "  and " << counted(unused, "stream") << " without events\n";
}

void print_diagnostics(const Trace& trace) {
  if (!trace.diagnostics().empty()) std::cout << "\nDiagnostics\n";
  for (const DiagnosticMessage& message : trace.diagnostics()) {
    std::cout << "  " << severity_name(message) << ": ";
    if (message.process != kNone) std::cout << "[" << trace.processes()[message.process].pid << "] ";
    std::cout << message.text << '\n';
  }
}

void print_text(const std::string& file, const Trace& trace, const EventCounts& counts, const FileFacts& facts) {
  print_heading(file, trace, counts, facts);
  if (trace.event_count() > 0) print_counts(counts);
  std::cout << "\nProcesses\n";
  const ByProcess<Thread> threads(trace.threads());
  const PlacesAre places = only_place(trace) == JobPlace{} ? PlacesAre::kOfEachProcess : PlacesAre::kOne;
  for (ProcessId id = 0; id < trace.processes().size(); ++id) print_process(trace, id, threads, counts, places);
  print_gpus(trace, counts);
  print_diagnostics(trace);
}

// Reports damage of events that stay in the file, which nobody has checked yet.
std::shared_ptr<const Trace> with_damage_told(const std::shared_ptr<const Trace>& trace, const std::string& file) {
  const std::string damage = holds_events(*trace) ? std::string() : damaged_segments(file);
  if (!damage.empty()) Told::of_command().add_damage();
  const TraceRemark remark{TraceRemark::Kind::kCondition, damage};
  return damage.empty() ? trace : with_remarks(trace, std::span(&remark, 1));
}

}  // namespace

int run_info(Arguments arguments) {
  CLI::App app("Shows what a trace holds: processes, threads, GPUs, streams, counts of events, and how complete it is.", "lanescope info");
  std::string file;
  bool as_json = false;
  app.add_option("FILE", file, "The trace")->required()->transform(trace_file());
  app.add_flag("--json", as_json, "Print JSON; times are ns since the recording began");
  app.footer(
      "Examples:\n"
      "  lanescope info run.trace\n"
      "  lanescope info --json run.trace | jq .counts\n");
  if (const auto code = parse(app, std::move(arguments))) return *code;
  const Result<std::shared_ptr<const Trace>> opened = open_trace(file, {}, EventPlace::kInFile);
  if (!opened) return fail(opened.error());
  const Result<std::shared_ptr<const Trace>> trace = with_damage_told(*opened, file);
  const EventCounts counts = count_events(**trace);
  const FileFacts facts = facts_of(file, **trace);
  if (as_json)
    std::cout << info_json(file, **trace, counts, facts);
  else
    print_text(file, **trace, counts, facts);
  return kSuccess;
}

}  // namespace lanescope::cli
