#include "model/trace/load.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "compact/counter_frames.h"
#include "compact/head_outline.h"
#include "decoding_ahead.h"
#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/segment_reader.h"
#include "model/trace/completeness.h"
#include "model/trace/ingest/frame_ingest.h"
#include "model/trace/outline.h"
#include "model/trace/segments/demanded_segments.h"

namespace lanescope {
namespace {

// A coarse view of the whole trace from the file's outline; null if there is none.
std::shared_ptr<const Trace> load_outline(const TraceFileReader& reader) {
  static constexpr std::uint16_t kOutline[] = {proto::FRAME_OUTLINE};
  static constexpr std::uint16_t kSurroundings[] = {proto::FRAME_SESSION_START, proto::FRAME_PROCESS_START, proto::FRAME_RESOURCES};
  const auto outlines = reader.indexed(kOutline);
  if (outlines.empty()) return nullptr;
  TraceBuilder builder;
  FrameIngest ingest(builder);
  Spending spending(reader.size());
  for (const FrameView& frame : reader.indexed(kSurroundings)) {
    if (!spending.unpack(cost_to_decode(frame.header))) return nullptr;
    const DecodedFrame decoded(frame);
    if (!spending.unpack(decoded.cost()) || !spending.may_keep(ingest)) return nullptr;
    ingest.add(decoded);
  }
  const auto payload = open_frame(outlines.back());
  builder.provenance().outline_only = true;
  if (!payload || !add_outline(builder, *payload) || !spending.may_keep(ingest)) return nullptr;
  return builder.snapshot();
}

}  // namespace

void keep_memory_for_decoding() noexcept {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 16 << 20);  // otherwise the line before sets other limits back to their defaults
#endif
}

namespace {

Result<std::shared_ptr<const Trace>> load(const std::filesystem::path& path, const LoadProgress& progress) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPartialInterval = std::chrono::milliseconds(250);  // how often the trace so far is shown
  constexpr int kPausePerPartial = 9;                                // multiple of the time that showing takes: decoding waits meanwhile

  auto reader = TraceFileReader::open(path);
  if (!reader) return reader.error();
  bool has_outline = false;  // then the whole trace is shown coarsely, and a part of it would be less
  if (progress) {
    auto outline = load_outline(*reader);
    if (!outline) outline = outline_of_heads(*reader);
    if (outline) {
      has_outline = true;
      if (progress(0, outline) == LoadStep::kCancel) return outline;
    }
  }
  TraceBuilder builder(TraceBuilder::LaneWork::kOnAnotherThread);
  FrameIngest ingest(builder);
  builder.provenance().format = "Lanescope";
  const Spending spending(reader->size());
  std::optional<std::uint64_t> stopped_at;  // byte position after which nothing was read
  auto next_partial = Clock::now() + kPartialInterval;
  {
    DecodingAhead decoding(*reader);
    std::uint64_t end = 0;
    while (const auto step = decoding.next()) {
      if (!step->frame || !spending.may_keep(ingest)) {
        stopped_at = end;
        break;
      }
      ingest.add(*step->frame);
      end = step->end;
      if (!progress) continue;
      std::shared_ptr<const Trace> partial;
      if (const auto now = Clock::now(); !has_outline && now > next_partial) {
        partial = builder.snapshot();
        next_partial = Clock::now() + std::max<Clock::duration>(kPartialInterval, kPausePerPartial * (Clock::now() - now));
      }
      if (progress(step->fraction, std::move(partial)) == LoadStep::kCancel) break;
    }
  }

  Provenance& provenance = builder.provenance();
  FileCondition condition = reader->condition();
  provenance.finished = condition.finished && !ingest.source_was_cut() && !stopped_at;
  provenance.read_in_part = stopped_at.has_value();
  condition.finished |= provenance.read_in_part;  // otherwise it would be called cut off
  const auto say = [&provenance](std::string_view sentence) { add_sentence(provenance.condition, sentence); };
  say(condition.sentence());
  if (stopped_at)
    say("What follows byte " + std::to_string(*stopped_at) +
        " was not read: the file unpacks to more than a recording of its size may hold (docs/file-format.md, Limits). Where you trust it, this makes one that "
        "is "
        "read whole: lanescope export -t trace --form log -o NEW.trace " +
        path.string());
  say(ingest.skipped_text());
  return builder.snapshot();
}

// Memory for the values of counters of a compacted file, as far as its index says how many there are.
std::uint64_t bytes_of_counters(const TraceFileReader& file) {
  constexpr std::uint64_t kValueBytes = 6;
  std::uint64_t bytes = 0;
  for (const IndexedFrame& frame : file.index())
    if (frame.type == proto::FRAME_EVENTS)
      if (const auto head = decode_counter_head(frame.segment_head)) bytes += kValueBytes * head->rows * head->counters.size();
  return bytes;
}

// Returns null if the file must be loaded as a whole.
std::shared_ptr<const Trace> load_from_segments(const std::filesystem::path& path, const LoadProgress& progress, EventPlace place) {
  if (place == EventPlace::kInMemoryWhereTheyFit) {
    const auto file = TraceFileReader::open(path);
    if (!file || file->indexed_events() * limits::kEventMemory + bytes_of_counters(*file) <= SegmentCache::of_process().use().budget) return nullptr;
  }
  const auto reader = SegmentReader::open(path);
  if (!reader) return nullptr;
  const auto trace = reader->trace(progress);
  return trace ? *trace : nullptr;
}

}  // namespace

Result<std::shared_ptr<const Trace>> load_trace(const std::filesystem::path& path, const LoadProgress& progress, EventPlace place) {
  try {
    if (place != EventPlace::kInMemory)
      if (const auto trace = load_from_segments(path, progress, place)) return trace;
    return load(path, progress);
  } catch (const std::bad_alloc&) {
    return Error{"There is not enough memory to open " + path.string() + ". Close other programs, or open it on a machine with more."};
  }
}

}  // namespace lanescope
