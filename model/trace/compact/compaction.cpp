#include "model/trace/compact/compaction.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "counter_frames.h"
#include "event_runs.h"
#include "ingest/decoding_ahead.h"
#include "lane_writer.h"
#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/trace.pb.h"
#include "model/file/scratch_file.h"
#include "model/trace/compact/gpu_message.h"
#include "model/trace/ingest/frame_ingest.h"
#include "sink_thread.h"
#include "table_frames.h"

namespace lanescope {
namespace {

constexpr std::uint32_t kCompactedFromMinor = 2;  // of the format

// Frames that other readers would take for the complete recording.
constexpr const char* kForOlderReaders =
    "The events of this file stand by lanes (format 1.2), which this version of Lanescope does not read. Open it with a newer one, or write "
    "it there in the form that this one reads: lanescope export -t trace --form log FILE";

class Compaction {
 public:
  Compaction(TraceFileReader& reader, TraceFileWriter& writer, const std::filesystem::path& folder, const CompactionProgress& progress,
             const CompactionOptions& options)
      : reader_(reader),
        writer_(writer),
        progress_(progress),
        runs_(options.memory_bytes, folder),
        lanes_(folder, options.memory_bytes / 8, limits::compacted_bytes_of(reader.size())),
        aside_(folder, std::string(EventRuns::kNeed)),
        heads_(folder, std::string(EventRuns::kNeed)),
        placing_(runs_),
        builder_(placing_),
        ingest_(builder_) {}

  Result<Compacted> run() {
    Result<void> done = read();
    const auto then = [&](auto step) {
      if (done) done = (this->*step)();
    };
    then(&Compaction::write_surroundings);
    then(&Compaction::write_events);
    then(&Compaction::finish);
    if (!done) return done.error();
    return Compacted{lanes_.written(), runs_.written(), condition_};
  }

 private:
  static constexpr double kShareOfReading = 0.85;  // of the total time, approximately: most events go to lanes while it reads

  // Reads what describes the whole recording and is written before its events. Frames of events go to the runs, most others to `aside_`.
  Result<void> read() {
    const Spending spending(reader_.size());
    DecodingAhead decoding(reader_);
    while (const auto step = decoding.next()) {
      if (!step->frame || !spending.may_keep(ingest_.memory_bytes(), 0))
        return Error{"it unpacks to more than a recording of its size can hold (docs/file-format.md, Limits)."};
      const std::uint64_t aside = aside_.size(), malformed = ingest_.malformed();
      if (auto kept = keep(step->stored, *step->frame); !kept) return kept;
      ingest_.add(*step->frame);
      if (aside_.size() == aside) malformed_ += ingest_.malformed() - malformed;
      if (step->stored.header.type == proto::FRAME_SESSION_START) begin_session();
      if (runs_.has_failed()) break;
      if (auto go_on = report(kShareOfReading * step->fraction); !go_on) return go_on;
    }
    placing_.wait();
    if (!runs_.condition()) return runs_.condition();
    condition_ = reader_.condition();
    trace_ = builder_.snapshot();
    return {};
  }

  // Events may go to lanes once it is known from which time they count. If that changes, they are placed again.
  void begin_session() {
    placing_.wait();
    const Nanoseconds epoch = builder_.provenance().monotonic_epoch;
    if (epoch != lanes_.epoch()) runs_.take_back_all();
    lanes_.set_epoch(epoch);
    runs_.hand_on_to(&lanes_);
  }

  Result<void> keep(const FrameView& frame, const DecodedFrame& decoded) {
    switch (frame.header.type) {
      case proto::FRAME_SESSION_START:
        start_ = bytes_of(frame);
        return {};
      case proto::FRAME_SESSION_END:
        end_ = bytes_of(frame);
        return {};
      case proto::FRAME_EVENTS:
        return decoded.holds_counter_samples() ? keep_counters(frame, decoded) : Result<void>();
      case proto::FRAME_SYMBOLS:
      case proto::FRAME_NAMES:
      case proto::FRAME_CALL_STACKS:
      case proto::FRAME_DETAILS:
      case proto::FRAME_TRACKS:
      case proto::FRAME_LANE_SEGMENT:
      case proto::FRAME_PADDING:
        return {};  // are written again
      case proto::FRAME_DIAGNOSTIC: {
        proto::Diagnostic message;
        const auto payload = open_frame(frame);
        const bool is_said_anew = frame.header.source == proto::SOURCE_COMPACTION;
        if (payload && message.ParseFromString(*payload) && (message.known_from_minor_version() != 0 || is_said_anew)) return {};
        return aside_.append(bytes_of(frame));
      }
      case proto::FRAME_COUNTERS: {
        proto::Counters message;
        const auto payload = open_frame(frame);
        if (payload && message.ParseFromString(*payload)) invalid_[{frame.header.process, frame.header.source}] = message.invalid();
        return aside_.append(bytes_of(frame));
      }
      default:
        return aside_.append(bytes_of(frame));
    }
  }

  // There is no head for a chunk that makes no sense, nor where heads would be larger than the chunks themselves, as if each has one time: then readers would
  // refuse the index (limits.h). They look into such chunks.
  Result<void> keep_counters(const FrameView& frame, const DecodedFrame& decoded) {
    const auto head = decoded.counter_head();
    std::string encoded = head ? encode_counter_head(*head) : std::string();
    constexpr std::int64_t kSmall = 256 << 10;
    room_for_heads_ += static_cast<std::int64_t>(frame.stored.size());
    if (static_cast<std::int64_t>(encoded.size()) > room_for_heads_ + kSmall) encoded.clear();
    const std::uint64_t size = encoded.size();
    room_for_heads_ -= static_cast<std::int64_t>(size);
    auto kept = heads_.append(std::as_bytes(std::span(&size, 1)));
    if (kept) kept = heads_.append(std::as_bytes(std::span(encoded)));
    return kept ? aside_.append(bytes_of(frame)) : kept;
  }

  // The heads of chunks of counters, in their order.
  Result<std::string> next_head(std::uint64_t& at) const {
    std::uint64_t size = 0;
    if (auto read = heads_.read(at, std::as_writable_bytes(std::span(&size, 1))); !read) return read.error();
    std::string head(size, '\0');
    if (auto read = heads_.read(at + sizeof(size), std::as_writable_bytes(std::span(head))); !read) return read.error();
    at += sizeof(size) + size;
    return head;
  }

  static std::vector<std::byte> bytes_of(const FrameView& frame) {
    std::vector<std::byte> bytes(sizeof(FrameHeader));
    std::memcpy(bytes.data(), &frame.header, sizeof(FrameHeader));
    bytes.insert(bytes.end(), frame.stored.begin(), frame.stored.end());
    return bytes;
  }

  Result<void> write_surroundings() {
    Result<void> written = start_.empty() ? Result<void>() : writer_.append(start_);
    const auto emit = [this](proto::FrameType type, const std::string& payload) { return put(type, 0, payload); };
    if (written) written = write_threads(*trace_, emit);
    if (written) written = write_gpus();
    if (written) written = write_notice();
    if (written) written = write_aside();
    if (written) written = write_losses();
    if (written) written = write_tables(*trace_, builder_, emit);
    return written;
  }

  // Written so that GPUs are numbered as in the recording, in which work may have come before the description of its GPU.
  Result<void> write_gpus() {
    proto::Resources message;
    for (const Gpu& gpu : trace_->gpus())
      if (!gpu.name.empty() || !gpu.uuid.empty()) describe(gpu, gpu.ordinal, *message.add_devices());
    return message.devices_size() == 0 ? Result<void>() : put(proto::FRAME_RESOURCES, 0, message.SerializeAsString(), proto::SOURCE_COMPACTION);
  }

  Result<void> write_notice() {
    proto::Diagnostic notice;
    notice.set_time(trace_->provenance().monotonic_epoch);
    notice.set_severity(proto::SEVERITY_WARNING);
    notice.set_text(kForOlderReaders);
    notice.set_kind(proto::DIAGNOSTIC_OTHER);
    notice.set_known_from_minor_version(kCompactedFromMinor);
    return put(proto::FRAME_DIAGNOSTIC, 0, notice.SerializeAsString());
  }

  Result<void> write_aside() {
    std::vector<std::byte> frame;
    std::uint64_t heads_at = 0;
    for (std::uint64_t at = 0; at < aside_.size(); at += frame.size()) {
      FrameHeader header;
      if (auto read = aside_.read(at, std::as_writable_bytes(std::span(&header, 1))); !read) return read;
      frame.resize(sizeof(header) + header.stored_size);
      if (auto read = aside_.read(at, frame); !read) return read;
      auto head = header.type == proto::FRAME_EVENTS ? next_head(heads_at) : Result<std::string>(std::string());
      if (!head) return head.error();
      if (auto written = writer_.append_segment(frame, *std::move(head)); !written) return written;
    }
    return {};
  }

  // Losses of the recording that can't be seen from the new file.
  Result<void> write_losses() {
    std::string sentence = trace_->provenance().condition;  // of the file from which the recording itself was made
    const auto say = [&sentence](const std::string& more) {
      if (!sentence.empty() && !more.empty()) sentence += ' ';
      sentence += more;
    };
    say(condition_.sentence());
    if (malformed_ > 0) say(malformed_frames(malformed_));
    if (!sentence.empty()) {
      proto::Diagnostic lost;
      lost.set_time(trace_->provenance().monotonic_epoch);
      lost.set_severity(ingest_.source_was_cut() || !condition_.finished ? proto::SEVERITY_ERROR : proto::SEVERITY_WARNING);
      lost.set_text(sentence);
      lost.set_kind(proto::DIAGNOSTIC_OTHER);
      if (auto written = put(proto::FRAME_DIAGNOSTIC, 0, lost.SerializeAsString(), proto::SOURCE_COMPACTION); !written) return written;
    }
    for (const Process& process : trace_->processes()) {
      std::uint64_t counted = 0;
      for (const auto& [source, invalid] : invalid_)
        if (source.first == process.instance) counted += invalid;
      if (process.completeness.invalid <= counted) continue;
      proto::Counters counters;
      counters.set_invalid(process.completeness.invalid - counted + invalid_[{process.instance, proto::SOURCE_COMPACTION}]);
      if (auto written = put(proto::FRAME_COUNTERS, process.instance, counters.SerializeAsString(), proto::SOURCE_COMPACTION); !written) return written;
    }
    return {};
  }

  Result<void> write_events() {
    Result<void> done = runs_.settle();
    if (done) done = lanes_.begin(writer_);
    for (TrackId track = 0; track < runs_.track_count() && done; ++track) {
      const ProcessId process = trace_->tracks()[track].key.process;
      done = lanes_.begin_track(track, process == kNone ? 0 : trace_->processes()[process].instance);
      if (done) done = runs_.drain(track, [&](EventRuns::Rows rows) { return write_rows(rows); });
      if (done) done = lanes_.end_track();
    }
    return done ? lanes_.finish() : done;
  }

  Result<void> write_rows(EventRuns::Rows rows) {
    const std::uint64_t before = lanes_.written();
    if (auto added = lanes_.add(rows); !added || lanes_.written() == before) return added;
    const double share = static_cast<double>(lanes_.written()) / static_cast<double>(std::max<std::uint64_t>(1, runs_.size()));
    return report(kShareOfReading + (1 - kShareOfReading) * share);
  }

  Result<void> finish() {
    if (auto go_on = report(1); !go_on) return go_on;
    if (!end_.empty())
      if (auto written = writer_.append(end_); !written) return written;
    const std::uint64_t events = lanes_.written();
    if (!Spending(writer_.size()).may_keep(ingest_.memory_bytes() + events * limits::kEventMemory, events))
      return Error{"it holds its events in so few bytes already that a compacted file of them would be refused (docs/file-format.md, Limits)."};
    return writer_.finish();
  }

  Result<void> put(proto::FrameType type, std::uint32_t instance, const std::string& payload, std::uint8_t source = proto::SOURCE_SESSION) {
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.source = source;
    header.process = instance;
    std::vector<std::byte> frame;
    append_frame(header, payload, frame);
    const FrameContent content = content_of(header.type, payload);
    return writer_.append(frame, std::span(&content, 1));
  }

  Result<void> report(double fraction) {
    if (progress_ && progress_(fraction) == LoadStep::kCancel) return Error{"compacting was stopped."};
    return {};
  }

  TraceFileReader& reader_;
  TraceFileWriter& writer_;
  const CompactionProgress& progress_;
  EventRuns runs_;
  LaneWriter lanes_;
  ScratchFile aside_;                // frames that are kept as the recording has them
  std::int64_t room_for_heads_ = 0;  // bytes of chunks of counters so far, less those of their heads
  ScratchFile heads_;                // of those of counters: for each its size in bytes, and the head
  SinkThread placing_;               // places events in the runs, while others are read
  TraceBuilder builder_;
  FrameIngest ingest_;
  FileCondition condition_;
  std::uint64_t malformed_ = 0;         // frames that are not in the new file; those in `aside_` are found there by its readers
  std::shared_ptr<const Trace> trace_;  // without events
  std::vector<std::byte> start_;        // frame of the session's start
  std::vector<std::byte> end_;          // frame of the session's end; empty if there is none
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint64_t> invalid_;  // by process and source, as the recording counts them
};

}  // namespace

Result<Compacted> compact_trace_file(const std::filesystem::path& source, const std::filesystem::path& destination, Overwrite overwrite,
                                     const CompactionProgress& progress, const CompactionOptions& options) {
  auto reader = TraceFileReader::open(source);
  if (!reader) return reader.error();
  if (TraceFileWriter::is_being_written(source)) return Error{source.string() + " is being recorded. Compact it when the recording has ended."};
  if (reader->minor_version() > kFormatMinor)
    return Error{source.string() + " has format version " + std::to_string(kFormatMajor) + "." + std::to_string(reader->minor_version()) +
                 ", of which this Lanescope does not know all. Compact it with a newer one."};
  auto file = NewFile::create(destination, overwrite, options.readers);
  if (!file) return file.error();
  auto writer = TraceFileWriter::create(*file);
  if (!writer) return writer.error();
  const std::filesystem::path folder = destination.has_parent_path() ? destination.parent_path() : ".";
  auto compacted = Compaction(*reader, *writer, folder, progress, options).run();
  if (!compacted) return Error{source.string() + " was not compacted: " + compacted.error().text};
  if (const auto placed = file->take_place(); !placed) return placed.error();
  return compacted;
}

Result<FileForm> form_of(const std::filesystem::path& path) {
  auto reader = TraceFileReader::open(path);
  if (!reader) return reader.error();
  const auto form_by = [](std::uint32_t type) {
    return type == proto::FRAME_TRACKS || type == proto::FRAME_LANE_SEGMENT ? FileForm::kCompacted : FileForm::kLog;
  };
  const std::vector<IndexedFrame> index = reader->index();
  for (const IndexedFrame& frame : index)
    if (form_by(frame.type) == FileForm::kCompacted) return FileForm::kCompacted;
  if (!index.empty()) return FileForm::kLog;
  // For a file that is damaged or cut off, the first frame that has events, or that says to which rows they belong, decides.
  while (const auto frame = reader->next())
    if (form_by(frame->header.type) == FileForm::kCompacted || frame->header.event_count > 0) return form_by(frame->header.type);
  return FileForm::kLog;
}

}  // namespace lanescope
