#include "model/export/trace_file_export.h"

#include <algorithm>
#include <cstring>

#include "../target.h"
#include "launches_of_part.h"
#include "message_parts.h"
#include "model/file/limits.h"
#include "model/trace/by_process.h"
#include "model/trace/compact/gpu_message.h"
#include "model/trace/completeness.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/text/grouped_digits.h"
#include "trace_chunks.h"
#include "trace_counters.h"
#include "trace_kernels.h"

namespace lanescope {
namespace {

using namespace exporters;

constexpr std::string_view kOwnFormat = "Lanescope";
constexpr std::string_view kOwnProducer = "lanescope ";

// For several recordings, the common part of their provenances, because a file has only one.
Provenance origin_of(const Trace& trace) {
  Provenance origin = trace.provenance();
  for (const TracePart& part : trace.parts()) {
    const Provenance& other = part.provenance;
    for (const auto of : {&Provenance::host_name, &Provenance::operating_system, &Provenance::processor, &Provenance::driver_version, &Provenance::options,
                          &Provenance::working_directory, &Provenance::machine_id, &Provenance::boot_id})
      if (origin.*of != other.*of) (origin.*of).clear();
    if (origin.processor_count != other.processor_count) origin.processor_count = 0;
    if (origin.command != other.command) origin.command.clear();
    if (origin.attached_pid != other.attached_pid) origin.attached_pid = 0;
    std::erase_if(origin.labels, [&](const Label& label) {
      return std::none_of(other.labels.begin(), other.labels.end(),
                          [&](const Label& of_part) { return of_part.key == label.key && of_part.value == label.value; });
    });
  }
  return origin;
}

proto::SessionStart session_start(const Provenance& from) {
  proto::SessionStart start;
  start.set_epoch(from.monotonic_epoch);
  start.set_utc_epoch(from.utc_epoch);
  start.set_host_name(from.host_name);
  start.set_operating_system(from.operating_system);
  start.set_processor(from.processor);
  start.set_processor_count(from.processor_count);
  start.set_driver_version(from.driver_version);
  start.set_options(from.options);
  start.set_working_directory(from.working_directory);
  start.set_attached_pid(from.attached_pid);
  for (const std::string& argument : from.command) start.add_command(argument);
  start.set_machine_id(from.machine_id);
  start.set_boot_id(from.boot_id);
  for (const Label& label : from.labels) {
    proto::Label& added = *start.add_labels();
    added.set_key(label.key);
    added.set_value(label.value);
  }
  const bool own = from.format == kOwnFormat && from.producer.starts_with(kOwnProducer);
  start.set_lanescope_version(own ? from.producer.substr(kOwnProducer.size()) : LANESCOPE_VERSION);
  if (!own) {
    start.set_source_format(from.format);
    start.set_source_producer(from.producer);
  }
  if (from.part) {
    start.set_part_begin(from.part->time.begin + from.monotonic_epoch);
    start.set_part_end(from.part->time.end + from.monotonic_epoch);
    start.set_part_launches(from.part->first_launch + from.monotonic_epoch);
  }
  return start;
}

proto::JobPlace described(const JobPlace& place) {
  proto::JobPlace message;
  if (place.rank) message.set_rank(*place.rank);
  if (place.local_rank) message.set_local_rank(*place.local_rank);
  message.set_world_size(place.world_size);
  message.set_launcher(place.launcher);
  message.set_scheduler(place.scheduler);
  message.set_job(place.job);
  message.set_step(place.step);
  return message;
}

proto::ClockSync described(const ClockReading& reading, std::int64_t epoch) {
  proto::ClockSync message;
  message.set_monotonic(reading.time + epoch);
  message.set_realtime(reading.utc);
  message.set_monotonic_raw(reading.monotonic_raw);
  message.set_boottime(reading.boottime);
  message.set_uncertainty(reading.uncertainty);
  proto::TimeKeeping& kept = *message.mutable_time_keeping();
  kept.set_synchronized(reading.synchronized);
  kept.set_offset(reading.offset);
  kept.set_frequency(reading.frequency);
  kept.set_estimated_error(reading.estimated_error);
  kept.set_maximum_error(reading.maximum_error);
  return message;
}

// A trace's data by process.
struct Tables {
  explicit Tables(const Trace& trace)
      : devices(trace.devices()),
        contexts(trace.contexts()),
        streams(trace.streams()),
        cuda_names(trace.cuda_names()),
        threads(trace.threads()),
        domains(trace.domains()),
        categories(trace.categories()),
        counters(trace.counters()),
        tracks(trace.tracks()) {}
  ByProcess<CudaDevice> devices;
  ByProcess<CudaContext> contexts;
  ByProcess<CudaStream> streams;
  ByProcess<CudaName> cuda_names;
  ByProcess<Thread> threads;
  ByProcess<NvtxDomainName> domains;
  ByProcess<NvtxCategoryName> categories;
  ByProcess<Counter> counters;
  ByProcess<Track> tracks;
};

proto::Resources resources(const Trace& trace, const Tables& tables, ProcessId process) {
  proto::Resources message;
  tables.devices.for_each(process, [&](const CudaDevice& device) { describe(trace.gpus()[device.gpu], device.ordinal, *message.add_devices()); });
  tables.contexts.for_each(process, [&](const CudaContext& context) {
    proto::Context& added = *message.add_contexts();
    added.set_id(context.id);
    added.set_device(context.device_ordinal);
    added.set_null_stream(context.null_stream);
  });
  tables.streams.for_each(process, [&](const CudaStream& stream) {
    proto::Stream& added = *message.add_streams();
    added.set_id(stream.id);
    added.set_context(stream.context);
    added.set_priority(stream.priority);
    added.set_kind(static_cast<proto::StreamKind>(stream.kind));
    added.set_name(stream.name);
  });
  tables.cuda_names.for_each(process, [&](const CudaName& name) {
    proto::CudaName& added = *message.add_cuda_names();
    added.set_resource(static_cast<proto::CudaResource>(name.resource));
    added.set_id(name.id);
    added.set_name(name.name);
  });
  tables.threads.for_each(process, [&](const Thread& thread) {
    proto::Thread& added = *message.add_threads();
    added.set_id(thread.tid);
    added.set_name(thread.name);
    if (thread.priority) added.set_priority(*thread.priority);
  });
  tables.domains.for_each(process, [&](const NvtxDomainName& domain) {
    proto::NvtxDomain& added = *message.add_nvtx_domains();
    added.set_id(domain.id);
    added.set_name(domain.name);
  });
  tables.categories.for_each(process, [&](const NvtxCategoryName& category) {
    proto::NvtxCategory& added = *message.add_nvtx_categories();
    added.set_domain(category.domain);
    added.set_id(category.id);
    added.set_name(category.name);
  });
  return message;
}

// Writes the frames of one trace. After a failure nothing more is written.
class TraceFileExport {
 public:
  TraceFileExport(const Trace& trace, const ExportSelection& selection, TraceFileWriter& writer)
      : trace_(trace),
        tables_(trace),
        kernel_records_(trace),
        selection_(selection),
        launches_(launches_of_part(trace, selection)),
        writer_(writer),
        epoch_(trace.provenance().monotonic_epoch) {}

  Result<void> write() {
    Provenance origin = origin_of(trace_);
    origin.part = saved_part(trace_, selection_, launches_);
    put(proto::FRAME_SESSION_START, 0, session_start(origin));
    for (const ClockReading& reading : trace_.provenance().clocks) put(proto::FRAME_CLOCK_SYNC, 0, described(reading, epoch_));
    put_counters(kNone, 0);
    for (ProcessId id = 0; id < trace_.processes().size(); ++id) put_process(id);
    static_cast<void>(kernel_records_.write_sources([this](const proto::SourceFile& source) {
      put_frame(static_cast<proto::FrameType>(proto::FRAME_SOURCE_FILE), 0, source, 0, proto::SOURCE_SESSION);
      return written_.has_value();
    }));
    put_messages();
    if (trace_.provenance().finished || trace_.provenance().end != RecordingEnd::kUnknown) {
      proto::SessionEnd end;
      end.set_time(trace_.extent().end + epoch_);
      end.set_reason(static_cast<proto::EndReason>(trace_.provenance().end));
      end.set_unwritten_events(trace_.provenance().unwritten_events);
      put(proto::FRAME_SESSION_END, 0, end);
    }
    if (selection_.stop.stop_requested()) return stopped_export();
    selection_.progress.reach(selection_.event_count(trace_));  // some lanes repeat others and are not written
    if (written_) written_ = check_memory();
    return written_ ? writer_.finish() : written_;
  }

 private:
  template <typename Message>
  void put(proto::FrameType type, std::uint32_t instance, const Message& message, std::uint32_t events = 0) {
    if (!written_) return;
    if constexpr (HasTables<Message>)
      if (message.ByteSizeLong() > limits::kWrittenPayloadBytes) return put_in_parts(type, instance, message, events);
    put_frame(type, instance, message, events);
  }

  // Writes the message's tables in frames of their own, then the rest: the events of a chunk.
  template <typename Message>
  void put_in_parts(proto::FrameType type, std::uint32_t instance, Message message, std::uint32_t events) {
    const auto put_part = [&](const google::protobuf::MessageLite& part) {
      put_frame(type, instance, part, 0);
      return written_.has_value();
    };
    if (emit_tables(message, limits::kWrittenPayloadBytes, put_part) && message.ByteSizeLong() > 0) put_frame(type, instance, message, events);
  }

  void put_frame(proto::FrameType type, std::uint32_t instance, const google::protobuf::MessageLite& message, std::uint32_t events,
                 proto::FrameSource source = proto::SOURCE_AGENT) {
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.source = static_cast<std::uint8_t>(source);
    header.process = instance;
    header.event_count = events;
    frame_.clear();
    const std::string payload = message.SerializeAsString();
    append_frame(header, payload, frame_);
    const FrameContent content = content_of(header.type, payload);
    written_ = writer_.append(frame_, std::span(&content, 1));
  }

  // Includes the GPUs of counters without a process, because a GPU that no process used is known only by these.
  void put_counters(ProcessId process, std::uint32_t instance) {
    const std::span<const CounterId> counters = tables_.counters.positions(process);
    proto::Resources message = counter_definitions(trace_, process, counters);
    if (message.counters_size() == 0) return;
    for (GpuId id = 0; process == kNone && id < trace_.gpus().size(); ++id) describe(trace_.gpus()[id], trace_.gpus()[id].ordinal, *message.add_devices());
    put(proto::FRAME_RESOURCES, instance, message);
    write_counter_samples(trace_, counters, selection_, [&](const proto::EventChunk& chunk) {
      put(proto::FRAME_EVENTS, instance, chunk);
      return written_.has_value();
    });
  }

  void put_process(ProcessId id) {
    const Process& process = trace_.processes()[id];
    proto::ProcessStart start;
    start.set_pid(process.pid);
    start.set_parent_pid(process.parent_pid);
    start.set_time(process.start + epoch_);
    start.set_executable(!process.executable.empty() ? process.executable : process.name);
    for (const std::string& argument : process.arguments) start.add_arguments(argument);
    start.set_forked(process.forked);
    if (process.place != JobPlace{}) *start.mutable_place() = described(process.place);
    put(proto::FRAME_PROCESS_START, process.instance, start);
    put(proto::FRAME_RESOURCES, process.instance, resources(trace_, tables_, id));

    TraceChunks chunks(trace_, id, selection_, launches_.events, [&](const proto::EventChunk& chunk, std::uint32_t events) {
      selection_.progress.reach(events_written_ += events);
      put(proto::FRAME_EVENTS, process.instance, chunk, events);
      return written_.has_value();
    });
    for (const TrackId track : tables_.tracks.positions(id))
      if (!chunks.add(trace_.tracks()[track])) return;
    unreadable_ += chunks.unreadable();
    put_counters(id, process.instance);
    const auto put_record = [&](std::uint16_t type) {
      return [this, type, &process](const auto& message) {
        put_frame(static_cast<proto::FrameType>(type), process.instance, message, 0);
        return written_.has_value();
      };
    };
    if (!kernel_records_.write(id, selection_, put_record(proto::FRAME_CODE_OBJECT), put_record(proto::FRAME_PC_SAMPLES),
                               put_record(proto::FRAME_KERNEL_METRICS), put_record(proto::FRAME_INSTRUCTION_COUNTS)))
      return;
    if (const proto::Symbols symbols = chunks.symbols(); symbols.locations_size() > 0) put(proto::FRAME_SYMBOLS, process.instance, symbols);

    const Completeness& known = process.completeness;
    if (known.produced + known.dropped + known.late + known.invalid > 0) {
      proto::Counters counters;
      counters.set_produced(known.produced);
      counters.set_dropped(known.dropped);
      counters.set_late(known.late);
      counters.set_invalid(known.invalid);
      put(proto::FRAME_COUNTERS, process.instance, counters);
    }
    if (process.end || process.end_kind != ProcessEndKind::kUnknown) {
      proto::ProcessEnd end;
      end.set_time(process.end.value_or(trace_.extent().end) + epoch_);
      end.set_kind(static_cast<proto::ProcessEndKind>(process.end_kind));
      end.set_exit_code(process.exit_code);
      end.set_signal(process.signal);
      end.set_crash_thread(process.crash_thread);
      end.set_crash_address(process.crash_address);
      end.set_unreturned_buffers(known.unreturned_buffers);
      put(proto::FRAME_PROCESS_END, process.instance, end);
    }
  }

  [[nodiscard]] bool leaves_out_rows() const {
    return selection_.rows && (selection_.rows->lanes.size() < trace_.lanes().size() || selection_.rows->counters.size() < trace_.counters().size());
  }

  // True for a snapshot of a recording that has not ended.
  [[nodiscard]] bool goes_on() const {
    const Provenance& from = trace_.provenance();
    return from.format == "Lanescope" && !from.finished && from.end == RecordingEnd::kUnknown && from.condition.empty();
  }

  void put_messages() {
    for (const DiagnosticMessage& message : trace_.diagnostics()) {
      proto::Diagnostic diagnostic;
      diagnostic.set_time(message.time + epoch_);
      diagnostic.set_severity(static_cast<proto::Severity>(message.severity));
      diagnostic.set_component(static_cast<proto::Component>(message.component));
      diagnostic.set_state(static_cast<proto::ComponentState>(message.state));
      diagnostic.set_text(message.text);
      diagnostic.set_kind(static_cast<proto::DiagnosticKind>(message.content.kind));
      diagnostic.set_count(message.content.count);
      put(proto::FRAME_DIAGNOSTIC, message.process == kNone ? 0 : trace_.processes()[message.process].instance, diagnostic);
    }
    const auto is_said = [](const DiagnosticMessage& message) { return message.content.kind == DiagnosticKind::kRowsLeftOut; };
    if (leaves_out_rows() && std::none_of(trace_.diagnostics().begin(), trace_.diagnostics().end(), is_said)) {
      proto::Diagnostic diagnostic;
      diagnostic.set_time(trace_.extent().begin + epoch_);
      diagnostic.set_text(std::string(kRowsLeftOut));
      diagnostic.set_kind(proto::DIAGNOSTIC_ROWS_LEFT_OUT);
      put(proto::FRAME_DIAGNOSTIC, 0, diagnostic);
    }
    // Damage of the source is not damage of this file, but the lost data is missing here, too.
    std::string condition = trace_.provenance().condition;
    if (goes_on()) add_sentence(condition, "The recording was still running when this was saved: what came later is not here.");
    if (unreadable_ > 0)
      add_sentence(condition, grouped_digits(unreadable_) + (unreadable_ == 1 ? " event" : " events") + " could not be read any more and were left out.");
    if (const std::uint64_t unwritten = trace_.provenance().unwritten_events; unwritten > 0 && !trace_.provenance().finished)
      add_sentence(condition, grouped_digits(unwritten) + (unwritten == 1 ? " event" : " events") + " had no room in the file.");
    if (!condition.empty()) {
      proto::Diagnostic diagnostic;
      diagnostic.set_time(trace_.extent().end + epoch_);
      diagnostic.set_severity(trace_.provenance().finished ? proto::SEVERITY_WARNING : proto::SEVERITY_ERROR);
      diagnostic.set_text(condition);
      diagnostic.set_kind(proto::DIAGNOSTIC_OTHER);
      if (written_) put_frame(proto::FRAME_DIAGNOSTIC, 0, diagnostic, 0, proto::SOURCE_COMPACTION);
    }
    for (const OutputText& text : trace_.output()) {
      proto::Output output;
      output.set_time(text.time + epoch_);
      output.set_stream(text.standard_error ? proto::OUTPUT_STDERR : proto::OUTPUT_STDOUT);
      output.set_data(text.bytes);
      put(proto::FRAME_OUTPUT, 0, output);
    }
  }

  // Fails if events were replaced for lack of memory: with more memory they could be read.
  [[nodiscard]] Result<void> check_memory() const {
    const bool lacked = std::any_of(trace_.lanes().begin(), trace_.lanes().end(), [](const Lane& lane) {
      const DemandedSegments* const demanded = demanded_segments(lane);
      return demanded != nullptr && demanded->lacked_memory();
    });
    return lacked ? check_all_was_read(trace_) : Result<void>();
  }

  const Trace& trace_;
  const Tables tables_;
  const KernelRecordsWriter kernel_records_;
  const ExportSelection& selection_;
  const KeptLaunches launches_;
  TraceFileWriter& writer_;
  std::int64_t epoch_;
  std::vector<std::byte> frame_;
  std::uint64_t unreadable_ = 0;  // events that were left out
  std::uint64_t events_written_ = 0;
  Result<void> written_;
};

bool read_message(const FrameView& frame, google::protobuf::MessageLite& message) {
  const auto payload = open_frame(frame);
  return payload && message.ParseFromString(*payload);
}

// Writes what the copy lacks of the source and can't show itself: a Diagnostic of source 5, as in compacted files.
Result<void> write_losses(const FileCondition& condition, std::string known, std::int64_t epoch, TraceFileWriter& writer) {
  const std::string more = condition.sentence();
  if (more.empty()) return {};
  proto::Diagnostic lost;
  lost.set_time(epoch);
  lost.set_severity(condition.finished ? proto::SEVERITY_WARNING : proto::SEVERITY_ERROR);
  lost.set_text(std::move(known) + more);
  lost.set_kind(proto::DIAGNOSTIC_OTHER);
  FrameHeader header;
  header.type = proto::FRAME_DIAGNOSTIC;
  header.source = proto::SOURCE_COMPACTION;
  std::vector<std::byte> frame;
  append_frame(header, lost.SerializeAsString(), frame);
  return writer.append(frame);
}

Result<FileCondition> copy_frames(TraceFileReader& reader, TraceFileWriter& writer) {
  std::int64_t epoch = 0;
  std::string known;  // losses that the source itself reports of its origin; the last report counts
  while (const auto frame = reader.next()) {
    if (frame->header.type == proto::FRAME_PADDING) continue;  // the copy adds its own padding
    if (frame->header.type == proto::FRAME_SESSION_START)
      if (proto::SessionStart start; read_message(*frame, start)) epoch = start.epoch();
    if (frame->header.type == proto::FRAME_DIAGNOSTIC && frame->header.source == proto::SOURCE_COMPACTION)
      if (proto::Diagnostic lost; read_message(*frame, lost)) known = lost.text() + " ";
    std::vector<std::byte> bytes(sizeof(FrameHeader));
    std::memcpy(bytes.data(), &frame->header, sizeof(FrameHeader));
    bytes.insert(bytes.end(), frame->stored.begin(), frame->stored.end());
    if (const auto appended = writer.append(bytes); !appended) return appended.error();
  }
  const FileCondition condition = reader.condition();
  if (const auto written = write_losses(condition, std::move(known), epoch, writer); !written) return written.error();
  if (const auto finished = writer.finish(); !finished) return finished.error();
  return condition;
}

}  // namespace

Result<void> export_trace_file(const Trace& trace, const std::filesystem::path& path, Overwrite overwrite, const ExportSelection& selection, FileForm form,
                               Readers readers) {
  if (const auto& part = trace.provenance().part; part && selection.window && selection.window->intersected(part->time).empty())
    return Error{"The trace is a part of a recording, and has nothing of the time that was asked for. Of which time it is, says: lanescope info",
                 ErrorKind::kUsage};
  if (form == FileForm::kCompacted) {
    // It is compacted from a temporary log beside it.
    auto log = NewFile::create(path, Overwrite::kAllow, Readers::kOwnerAlone);
    if (!log) return log.error();
    auto writer = TraceFileWriter::create(*log);
    if (!writer) return writer.error();
    const std::uint64_t events = selection.event_count(trace);
    selection.progress.begin(2 * events);  // each is written to the log, and compacted
    if (auto written = TraceFileExport(trace, selection, *writer).write(); !written) return written;
    const auto go_on = [&](double share) {
      selection.progress.reach(events + static_cast<std::uint64_t>(share * static_cast<double>(events)));
      return selection.stop.stop_requested() ? LoadStep::kCancel : LoadStep::kContinue;
    };
    const auto compacted = compact_trace_file(log->to_read(), path, overwrite, go_on, {.readers = readers});
    if (!compacted && selection.stop.stop_requested()) return stopped_export();
    return compacted ? Result<void>() : compacted.error();
  }
  selection.progress.begin(selection.event_count(trace));
  return write_beside(path, overwrite, readers, [&](NewFile& place) -> Result<void> {
    auto writer = TraceFileWriter::create(place);
    if (!writer) return writer.error();
    return TraceFileExport(trace, selection, *writer).write();
  });
}

Result<FileCondition> recover_trace_file(const std::filesystem::path& source, const std::filesystem::path& path, Overwrite overwrite) {
  auto reader = TraceFileReader::open(source);
  if (!reader) return reader.error();
  std::error_code ignored;
  if (std::filesystem::equivalent(source, path, ignored))
    return Error{path.string() + " can't be written over itself. Name another file with -o.", ErrorKind::kUsage};
  return write_beside(path, overwrite, Readers::kAsUsual, [&](NewFile& place) -> Result<FileCondition> {
    auto writer = TraceFileWriter::create(place, std::max(kFormatMinor, reader->minor_version()));
    if (!writer) return writer.error();
    return copy_frames(*reader, *writer);
  });
}

}  // namespace lanescope
