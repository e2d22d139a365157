#include "loading/live_recording.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "loading/remote_source.h"
#include "model/trace/ingest/frame_ingest.h"
#include "model/trace/outline.h"
#include "model/trace/trace_builder.h"
#include "timeline/widget/surely.h"

namespace lanescope::ui {
namespace {

constexpr std::chrono::milliseconds kSnapshotInterval{100};
constexpr int kPatienceWithProgram = 2'000;  // ms after the request to end

// Calls `use` for every frame of a sequence of whole frames.
template <typename Use>
void for_each_frame(std::span<const std::byte> bytes, Use use) {
  while (bytes.size() >= sizeof(FrameHeader)) {
    FrameView frame;
    std::memcpy(&frame.header, bytes.data(), sizeof(FrameHeader));
    bytes = bytes.subspan(sizeof(FrameHeader));
    if (frame.header.stored_size > bytes.size()) return;
    frame.stored = bytes.first(frame.header.stored_size);
    use(frame);
    bytes = bytes.subspan(frame.header.stored_size);
  }
}

// True if the part of a recording that is here is worth more than an outline of all of it: it covers half of that time.
bool tells_more(const Trace& here, const Trace& outline) {
  return here.event_count() > 0 && here.extent().end - outline.extent().begin >= outline.extent().length() / 2;
}

}  // namespace

// Passes frames from the recording's thread to the ingest thread, and the latest snapshot from there to the GUI thread.
class LiveRecording::FrameQueue {
 public:
  void push(std::span<const std::byte> frames) {
    {
      const std::lock_guard lock(mutex_);
      if (!abandoned_) bytes_.insert(bytes_.end(), frames.begin(), frames.end());
    }
    changed_.notify_one();
  }
  // Replaces an outline that nobody has taken.
  void pushOutline(std::string_view frames) {
    const auto bytes = std::as_bytes(std::span(frames));
    const std::lock_guard lock(mutex_);
    outline_.assign(bytes.begin(), bytes.end());
  }
  // Empty if there is none since the last call.
  std::vector<std::byte> popOutline() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outline_, {});
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
  }
  // The queued frames are no longer needed.
  void abandon() {
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
      closed_ = true;
      bytes_.clear();
    }
    changed_.notify_one();
  }
  [[nodiscard]] bool isAbandoned() const {
    const std::lock_guard lock(mutex_);
    return abandoned_;
  }
  // Frames since the last call, after waiting for some until the deadline; empty after the deadline. Returns false if the queue is closed and empty.
  bool pop(std::vector<std::byte>& frames, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [this] { return closed_ || !bytes_.empty(); });
    frames.clear();
    frames.swap(bytes_);
    return !frames.empty() || !closed_;
  }
  // Returns whether a snapshot was waiting already, so that nobody has to be told of this one.
  bool put(Snapshot snapshot) {
    const std::lock_guard lock(mutex_);
    return std::exchange(snapshot_, std::move(snapshot)).has_value();
  }
  std::optional<Snapshot> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(snapshot_, std::nullopt);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> outline_;
  bool closed_ = false;
  bool abandoned_ = false;
  std::optional<Snapshot> snapshot_;
};

// A recording on its way from the thread that attached to the one that follows it. If it does not arrive, its file is removed.
class LiveRecording::Attached {
 public:
  explicit Attached(Result<std::unique_ptr<session::Recording>> result) : result_(std::move(result)) {}
  ~Attached() {
    if (result_ && *result_ != nullptr) static_cast<void>((*result_)->cancel_capture());
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  Started follow(std::shared_ptr<FrameQueue> queue) {
    if (!result_) return result_.error();
    return std::unique_ptr<LiveRecording>(new LiveRecording(local_source(std::move(*result_)), std::move(queue), ProgramAtEnd::kRunsOn));
  }

 private:
  Result<std::unique_ptr<session::Recording>> result_;
};

LiveRecording::LiveRecording(std::unique_ptr<RecordingSource> source, std::shared_ptr<FrameQueue> queue, ProgramAtEnd program_at_end)
    : queue_(std::move(queue)), source_(std::move(source)), program_at_end_(program_at_end) {
  timer_.setInterval(kSnapshotInterval);
  connect(&timer_, &QTimer::timeout, this, &LiveRecording::look);
  ingest_thread_ = std::thread([this] { ingest(); });
  timer_.start();
  all_.push_back(this);
}

session::FrameSink LiveRecording::sinkOf(const std::shared_ptr<FrameQueue>& queue) {
  return [queue](std::span<const std::byte> frames) { queue->push(frames); };
}

LiveRecording::Started LiveRecording::launch(const LaunchSettings& settings) {
  Result<session::LaunchRequest> request = launch_request(settings);
  if (!request) return request.error();
  const auto queue = std::make_shared<FrameQueue>();
  Result<std::unique_ptr<session::Recording>> recording = session::Recording::launch(std::move(*request), sinkOf(queue));
  if (!recording) return recording.error();
  return std::unique_ptr<LiveRecording>(new LiveRecording(local_source(std::move(*recording)), queue, settings.capture.program_at_end));
}

void LiveRecording::attach(const AttachSettings& settings, LatestJob& job, std::function<void(Started)> done) {
  job.start([request = attach_request(settings), done = std::move(done)](const LatestJob::Context& context) {
    const auto queue = std::make_shared<FrameQueue>();
    const auto attached = std::make_shared<Attached>(session::Recording::attach(request, sinkOf(queue)));
    if (context.stop().stop_requested()) return;
    context.deliver([queue, attached, done] { done(attached->follow(queue)); });
  });
}

LiveRecording::Started LiveRecording::launchElsewhere(const RemoteSettings& settings) {
  const auto queue = std::make_shared<FrameQueue>();
  Result<std::unique_ptr<RecordingSource>> source = remote_source(settings, sinkOf(queue), [queue](std::string_view frames) { queue->pushOutline(frames); });
  if (!source) return source.error();
  const ProgramAtEnd at_end = settings.what == Target::kRunning ? ProgramAtEnd::kRunsOn : ProgramAtEnd::kEnds;
  return std::unique_ptr<LiveRecording>(new LiveRecording(std::move(*source), queue, at_end));
}

LiveRecording::~LiveRecording() {
  std::erase(all_, this);
  queue_->abandon();
  if (ingest_thread_.joinable()) ingest_thread_.join();
}

void LiveRecording::finishAll(const std::function<bool()>& is_hurried) {
  constexpr std::chrono::milliseconds kLook{10};
  for (LiveRecording* each : all_)
    if (!each->isStopping()) each->stop();
  while (!std::all_of(all_.begin(), all_.end(), [](const LiveRecording* each) { return each->source_->hasEnded(); })) {
    if (is_hurried())
      for (LiveRecording* each : all_) each->stop();
    std::this_thread::sleep_for(kLook);
  }
  for (LiveRecording* each : all_) {
    each->timer_.stop();
    each->queue_->close();
    if (each->ingest_thread_.joinable()) each->ingest_thread_.join();
  }
}

QStringList LiveRecording::filesOfAll() {
  QStringList files;
  for (const LiveRecording* each : all_) {
    if (const QString path = each->path(); !path.isEmpty()) files += path;
    files += each->further();
  }
  return files;
}

void LiveRecording::stop() {
  if (stops_++ > 0) {
    since_stop_.invalidate();
    return source_->stopAtOnce();
  }
  if (program_at_end_ == ProgramAtEnd::kEnds && source_->pid() != 0) since_stop_.start();
  source_->stop(program_at_end_ == ProgramAtEnd::kEnds ? RecordingSource::Program::kEnds : RecordingSource::Program::kRunsOn);
}

QString LiveRecording::path() const { return QString::fromStdString(source_->path().string()); }

QStringList LiveRecording::further() const {
  QStringList files;
  for (const std::filesystem::path& file : source_->further()) files << QString::fromStdString(file.string());
  return files;
}

void LiveRecording::ingest() {
  std::shared_ptr<const Trace> whole;
  const auto outcome = timeline::within_memory([&] { takeIn(whole); });
  if (outcome == timeline::Outcome::kOutOfMemory) leaveUnseen();
  if (queue_->isAbandoned()) return;
  if (outcome == timeline::Outcome::kDone) timeline::within_memory([&] { complete(whole.get()); });
  timeline::deliver_surely(this, [this, whole] {
    showLatest();
    emit ended(source_->outcome(), whole);
  });
}

// Runs until the recording has ended; `whole` is the trace up to then.
void LiveRecording::takeIn(std::shared_ptr<const Trace>& whole) {
  TraceBuilder builder(TraceBuilder::LaneWork::kWhereAdded, EventMemory::kBudget);
  FrameIngest frame_ingest(builder);
  std::vector<std::byte> frames;
  OpenRanges open_ranges;
  std::shared_ptr<const Trace> outline;  // null if none is drawn
  bool has_grown = false;
  const auto take_until = [&](std::chrono::steady_clock::time_point deadline) {
    const bool open = queue_->pop(frames, deadline);
    for_each_frame(frames, [&](const FrameView& frame) { frame_ingest.add(frame); });
    has_grown = has_grown || !frames.empty();
    return open;
  };
  auto next_snapshot = std::chrono::steady_clock::now() + kSnapshotInterval;
  for (bool open = true; open;) {
    open = take_until(next_snapshot);
    if (open && std::chrono::steady_clock::now() < next_snapshot) continue;
    // Ranges that have ended when this is queried are in the queue by then.
    OpenRanges now_open = open ? source_->openRanges() : OpenRanges();
    if (open) open = take_until(std::chrono::steady_clock::now());
    if (!open) now_open = {};
    const bool was_outlined = outline != nullptr, has_outline = takeOutline(outline);
    if (has_grown || has_outline || now_open != open_ranges) {
      open_ranges = std::move(now_open);
      frame_ingest.set_open(open_ranges.ranges);
      whole = builder.snapshot();
      if (outline && (!open || tells_more(*whole, *outline))) outline = nullptr;
      if (!outline)
        publish({whole, builder.open_events()});
      else if (has_outline || !was_outlined)
        publish({outline, {}});
    }
    has_grown = false;
    next_snapshot = std::chrono::steady_clock::now() + kSnapshotInterval;
  }
}

// Returns whether there is a new outline.
bool LiveRecording::takeOutline(std::shared_ptr<const Trace>& outline) {
  const std::vector<std::byte> frames = queue_->popOutline();
  std::shared_ptr<const Trace> taken = frames.empty() ? nullptr : trace_of_outline(frames);
  if (!taken) return false;
  outline = std::move(taken);
  return true;
}

// Further frames are only in the file and are not shown.
void LiveRecording::leaveUnseen() {
  std::vector<std::byte> frames;
  for (bool open = true; open;) open = queue_->pop(frames, std::chrono::steady_clock::now() + kSnapshotInterval);
}

void LiveRecording::complete(const Trace* whole) {
  if (whole == nullptr) return;
  if (const Result<void> added = source_->complete(*whole); !added)
    QMetaObject::invokeMethod(
        this, [this, sentence = QString::fromStdString(added.error().text)] { emit message(sentence); }, Qt::QueuedConnection);
}

void LiveRecording::publish(Snapshot snapshot) {
  if (queue_->put(std::move(snapshot))) return;
  QMetaObject::invokeMethod(this, &LiveRecording::showLatest, Qt::QueuedConnection);
}

void LiveRecording::showLatest() {
  std::optional<Snapshot> latest = queue_->take();
  if (!latest) return;
  std::erase_if(open_events_, [](const OpenEventsOf& each) { return each.trace.expired(); });
  open_events_.push_back({latest->trace, std::move(latest->open)});
  emit grown(latest->trace);
}

std::vector<EventRef> LiveRecording::openEvents(const Trace* trace) const {
  for (const OpenEventsOf& each : open_events_)
    if (trace != nullptr && each.trace.lock().get() == trace) return each.events;
  return {};
}

void LiveRecording::look() {
  for (const std::string& sentence : source_->takeMessages()) emit message(QString::fromStdString(sentence));
  emit progressed(source_->statistics());
  if (!source_->hasEnded()) {
    if (since_stop_.isValid() && since_stop_.hasExpired(kPatienceWithProgram) && kill(source_->pid(), 0) == 0) {
      since_stop_.invalidate();
      emit programOutlivesStop();
    }
    return;
  }
  timer_.stop();
  queue_->close();  // ended() follows when everything has been ingested
}

}  // namespace lanescope::ui
