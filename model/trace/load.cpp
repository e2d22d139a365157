#include "model/trace/load.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "batch_queue.h"
#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "model/file/trace_file.h"
#include "model/trace/frame_ingest.h"
#include "model/trace/outline.h"

namespace lanescope {
namespace {

// Counts what reading a file takes, against what a file of its size may take (limits.h).
class Spending {
 public:
  explicit Spending(std::uint64_t file_bytes) : budget_(limits::budget_of(file_bytes)) {}

  // False where this is beyond the budget.
  bool unpack(const FrameCost& cost) {
    unpacked_ += cost.unpacked;
    entries_ += cost.entries;
    return unpacked_ <= budget_.unpacked && entries_ <= budget_.entries;
  }
  [[nodiscard]] bool may_keep(std::uint64_t memory_bytes) const { return memory_bytes <= budget_.memory; }

 private:
  const limits::FileBudget budget_;
  std::uint64_t unpacked_ = 0;
  std::uint64_t entries_ = 0;
};

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
    std::optional<DecodedFrame> frame;  // none where the file unpacks to more than it may: the last step
    std::uint64_t end = 0;              // position behind the frame
    double fraction = 0;                // of the file that has been read
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
  void run() noexcept {
    try {
      decode();
      steps_.close();
    } catch (...) {
      steps_.fail(std::current_exception());
    }
  }

  void decode() {
    Spending spending(reader_.size());
    while (const auto frame = reader_.next()) {
      Step step;
      step.end = reader_.position();
      step.fraction = static_cast<double>(step.end) / static_cast<double>(std::max<std::uint64_t>(1, reader_.size()));
      std::size_t weight = frame->stored.size();
      if (spending.unpack(cost_to_decode(frame->header))) {
        step.frame.emplace(*frame);
        FrameCost cost = step.frame->cost();
        cost.unpacked = 0;
        if (!spending.unpack(cost)) step.frame.reset();
        weight = std::max<std::size_t>(weight, cost.memory / kMemoryPerStored);
      }
      const bool is_last = !step.frame;
      if (!steps_.put(std::move(step), weight) || is_last) return;
    }
  }

  // A message takes some ten times the bytes of its frame; one that takes more counts as a longer one, so that few of them lie ahead.
  static constexpr std::size_t kMemoryPerStored = 64;

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
  TraceBuilder builder;
  FrameIngest ingest(builder);
  Spending spending(reader.size());
  for (const FrameView& frame : reader.indexed(kSurroundings)) {
    if (!spending.unpack(cost_to_decode(frame.header))) return nullptr;
    const DecodedFrame decoded(frame);
    if (!spending.unpack(decoded.cost()) || !spending.may_keep(ingest.memory_bytes())) return nullptr;
    ingest.add(decoded);
  }
  const auto payload = open_frame(outlines.back());
  builder.provenance().outline_only = true;
  if (!payload || !add_outline(builder, *payload) || !spending.may_keep(builder.memory_bytes())) return nullptr;
  return builder.snapshot();
}

}  // namespace

void keep_memory_for_decoding() noexcept {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 16 << 20);  // else the first sets how memory is kept back to what it is without
#endif
}

namespace {

Result<std::shared_ptr<const Trace>> load(const std::filesystem::path& path, const LoadProgress& progress) {
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
  const Spending spending(reader->size());
  std::optional<std::uint64_t> stopped_at;  // byte position behind which nothing was read
  auto next_partial = Clock::now() + kPartialInterval;
  {
    DecodingAhead decoding(*reader);
    std::uint64_t end = 0;
    while (const auto step = decoding.next()) {
      if (!step->frame || !spending.may_keep(ingest.memory_bytes())) {
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
  provenance.finished = condition.finished && !stopped_at;
  condition.finished |= stopped_at.has_value();  // how the file ends is not known
  provenance.condition = condition.sentence();
  const auto say = [&provenance](const std::string& sentence) {
    if (!provenance.condition.empty()) provenance.condition += ' ';
    provenance.condition += sentence;
  };
  if (stopped_at)
    say("What follows byte " + std::to_string(*stopped_at) +
        " was not read: the file unpacks to more than a recording of its size can hold (docs/file-format.md, Limits).");
  if (const std::uint64_t malformed = ingest.malformed(); malformed > 0)
    say(std::to_string(malformed) + (malformed == 1 ? " frame" : " frames") + " could not be understood and " +
        (malformed == 1 ? "was" : "were") + " skipped.");
  return builder.snapshot();
}

}  // namespace

Result<std::shared_ptr<const Trace>> load_trace(const std::filesystem::path& path, const LoadProgress& progress) {
  try {
    return load(path, progress);
  } catch (const std::bad_alloc&) {
    return Error{"There is not enough memory to open " + path.string() + ". Close other programs, or open it on a machine with more."};
  }
}

}  // namespace lanescope
