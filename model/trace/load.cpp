#include "model/trace/load.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "batch_queue.h"
#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"
#include "model/trace/frame_ingest.h"
#include "model/trace/outline.h"

namespace lanescope {
namespace {

// Decodes the frames of a file on a thread of its own, some ahead of the thread that takes them.
class DecodingAhead {
 public:
  explicit DecodingAhead(TraceFileReader& reader) : reader_(reader), thread_([this] { run(); }) {}
  ~DecodingAhead() {
    steps_.cancel();
    thread_.join();
  }
  DecodingAhead(const DecodingAhead&) = delete;
  DecodingAhead& operator=(const DecodingAhead&) = delete;

  struct Step {
    DecodedFrame frame;
    double fraction;  // of the file that has been read
  };
  // None at the end of the file.
  std::optional<Step> next() {
    if (next_ == taken_.size()) {
      taken_ = steps_.take();
      next_ = 0;
      if (taken_.empty()) return std::nullopt;
    }
    return std::move(taken_[next_++]);
  }

 private:
  void run() {
    while (const auto frame = reader_.next()) {
      const double fraction = static_cast<double>(reader_.position()) / static_cast<double>(std::max<std::uint64_t>(1, reader_.size()));
      const std::size_t bytes = frame->stored.size();
      if (!steps_.put(Step{DecodedFrame(*frame), fraction}, bytes)) return;
    }
    steps_.close();
  }

  TraceFileReader& reader_;
  BatchQueue<Step> steps_{256 << 10};  // bytes of the file; a frame is at most 64 MiB, and normally less than one
  std::vector<Step> taken_;
  std::size_t next_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

// The whole trace in little from the file's outline; null where there is none.
std::shared_ptr<const Trace> load_outline(const TraceFileReader& reader) {
  static constexpr std::uint16_t kOutline[] = {proto::FRAME_OUTLINE};
  static constexpr std::uint16_t kSurroundings[] = {proto::FRAME_SESSION_START, proto::FRAME_PROCESS_START, proto::FRAME_RESOURCES};
  const auto outlines = reader.indexed(kOutline);
  if (outlines.empty()) return nullptr;
  const auto payload = open_frame(outlines.back());
  if (!payload) return nullptr;
  TraceBuilder builder;
  FrameIngest ingest(builder);
  for (const FrameView& frame : reader.indexed(kSurroundings)) ingest.add(frame);
  builder.provenance().outline_only = true;
  return add_outline(builder, *payload) ? builder.snapshot() : nullptr;
}

}  // namespace

void keep_memory_for_decoding() noexcept {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 16 << 20);  // else the first sets how memory is kept back to what it is without
#endif
}

Result<std::shared_ptr<const Trace>> load_trace(const std::filesystem::path& path, const LoadProgress& progress) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPartialInterval = std::chrono::milliseconds(250);  // how often what has come so far is shown
  constexpr int kPausePerPartial = 9;                                // of the time that it takes: decoding waits meanwhile

  auto reader = TraceFileReader::open(path);
  if (!reader) return reader.error();
  bool has_outline = false;  // then all is shown in little: a part of it would be less
  if (progress) {
    if (auto outline = load_outline(*reader)) {
      has_outline = true;
      if (progress(0, outline) == LoadStep::kCancel) return outline;
    }
  }
  TraceBuilder builder(TraceBuilder::LaneWork::kOnAnotherThread);
  FrameIngest ingest(builder);
  builder.provenance().format = "Lanescope";
  auto next_partial = Clock::now() + kPartialInterval;
  {
    DecodingAhead decoding(*reader);
    while (const auto step = decoding.next()) {
      ingest.add(step->frame);
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
  provenance.finished = reader->condition().finished;
  provenance.condition = reader->condition().sentence();
  if (const std::uint64_t malformed = ingest.malformed(); malformed > 0) {
    if (!provenance.condition.empty()) provenance.condition += ' ';
    provenance.condition += std::to_string(malformed) + (malformed == 1 ? " frame" : " frames") + " could not be understood and " +
                            (malformed == 1 ? "was" : "were") + " skipped.";
  }
  return builder.snapshot();
}

}  // namespace lanescope
