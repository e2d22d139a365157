// The captures of a recording: what starts each, into which file it goes, and what follows it.
#include <algorithm>

#include "clock.h"
#include "collector/channel/layout.h"
#include "file/asked_options.h"
#include "file/session_start.h"
#include "file/trace_output.h"
#include "model/trace/text/grouped_digits.h"
#include "outside/observers.h"
#include "run.h"

namespace lanescope::session {
namespace {

proto::EndReason to_proto(EndReason reason) { return static_cast<proto::EndReason>(reason); }

constexpr const char* kDelayed = "No capture is under way, and none begins before the delay of the recording (-y) is over. Ask again then.";
constexpr std::int64_t kNamingPatience = 30'000'000'000;         // ns
constexpr std::int64_t kNamingPatienceOfTarget = 5'000'000'000;  // ns, if the target waits for its next capture (agent/channel/capture.h)
constexpr std::chrono::milliseconds kNamingLook{1};
constexpr std::int64_t kQuietNaming = 2'000'000'000;  // ns after which a message is given
constexpr std::int64_t kNoticedWait = 100'000'000;    // ns that a target waits without a message

bool is_by_target(const CaptureRange& range) { return range.trigger == CaptureTrigger::kProfilerApi || range.trigger == CaptureTrigger::kNvtxRange; }

// A variable that the name needs, that we lack, and by which files are not shared.
std::optional<std::string> variable_beside(const std::string& pattern, const std::vector<std::string>& shared_by) {
  for (std::string& name : missing_variables(pattern))
    if (std::find(shared_by.begin(), shared_by.end(), name) == shared_by.end()) return std::move(name);
  return std::nullopt;
}

// NFS renames a file that is removed until it is closed.
bool was_moved(const ClosedFile& file) {
  const Whereabouts& now = file.whereabouts;
  return now.kind == Whereabouts::kMoved && (now.moved_to.empty() || identity_of(now.moved_to) == file.identity);
}

// What happened to a file that is not at its place any more; nothing if it is there.
std::optional<Error> said_of_place(const ClosedFile& file) {
  const Whereabouts& now = file.whereabouts;
  const std::string name = file.path.string();
  const std::string to = now.moved_to.empty() ? "" : " to " + now.moved_to.string();
  if (now.kind == Whereabouts::kInPlace || (now.kind == Whereabouts::kBeside && file.failure)) return std::nullopt;
  if (now.kind == Whereabouts::kOverwritten) return Error{name + " was overwritten by another program while it was recorded: what was recorded can't be read."};
  if (now.kind == Whereabouts::kCut) return Error{name + " was cut by another program while it was recorded: part of what was recorded is lost."};
  const char* const taken = identity_of(file.path) ? ", and another file has its name now" : "";
  if (was_moved(file))
    return Error{name + " was moved" + to + " while it was recorded" + taken + ": all that was recorded is in " +
                 (now.moved_to.empty() ? "a file of another name." : "the file that was moved.")};
  return Error{name + " was removed while it was recorded" + taken + ": what was recorded, " + grouped_digits(file.events) + " events, is lost."};
}

bool makes_several(const CaptureRange& range) { return range.trigger != CaptureTrigger::kNone && range.after == AfterCapture::kRepeat; }

std::string said_of_earlier(const std::filesystem::path& file) { return "The file that was to be replaced is kept: " + file.string() + "."; }

}  // namespace

Result<void> check_range(const CaptureSettings& settings) {
  const CaptureRange& range = settings.range;
  if (range.trigger == CaptureTrigger::kProfilerApi && !settings.trace_cuda)
    return Error{"Captures between cudaProfilerStart and cudaProfilerStop need CUDA to be traced.", ErrorKind::kUsage};
  if (range.trigger != CaptureTrigger::kNvtxRange) return {};
  if (!settings.trace_nvtx) return Error{"Captures of an NVTX range need NVTX to be traced.", ErrorKind::kUsage};
  if (range.name.empty()) return Error{"Captures of an NVTX range need its name.", ErrorKind::kUsage};
  if (range.name.size() >= channel::kCaptureNameBytes || range.domain.value_or("").size() >= channel::kCaptureNameBytes)
    return Error{"The name of the NVTX range to capture is longer than 1,023 bytes.", ErrorKind::kUsage};
  return {};
}

bool Recording::Run::awaits_target() const { return is_by_target(range_) && !no_more_captures_; }

bool Recording::Run::range_is_over() const {
  return is_by_target(range_) && range_.after != AfterCapture::kGoOn && processes_.captures().ends >= answered_begins_;
}

// A target that started a capture waits for our answer, which comes once everything records, or it is clear that nothing will.
void Recording::Run::follow_target() {
  const std::uint32_t begins = processes_.captures().begins;
  if (begins == answered_begins_) return;
  if (state_ == RecordingState::kRecording && range_is_over()) return;  // it starts the next capture, once this one is complete
  const bool awaited = state_ == RecordingState::kWaiting && is_by_target(range_) && !no_more_captures_ && wish_.load() == Wish::kNone;
  if (awaited) {
    if (const auto file = begin_capture(awaited_); !file) note_lost(file.error());
  } else if (state_ == RecordingState::kRecording) {
    processes_.begin_recording();  // another process, within the capture under way
  }
  answered_begins_ = begins;
  processes_.answer_captures();
}

// Notes a capture of the target that has no file.
void Recording::Run::note_lost(const Error& reason) {
  {
    const std::lock_guard lock(mutex_);
    ++outcome_.lost_files;
    if (!outcome_.failure) outcome_.failure = reason;
  }
  report(reason.text);
}

void Recording::Run::take_order() {
  std::unique_lock lock(mutex_);
  if (orders_.empty()) return;
  Order order = std::move(orders_.front());
  orders_.pop_front();
  const RecordingState state = state_;
  lock.unlock();
  const bool awaits_range = state == RecordingState::kWaiting && by_request() && is_by_target(range_);
  if (order.kind == Order::kStart) {
    order.answer.set_value(state == RecordingState::kDelayed   ? Error{kDelayed}
                           : state != RecordingState::kWaiting ? Error{"A capture is under way already: " + path().string() + "."}
                           : awaits_range                      ? Error{"The session waits for a range already. Take that back with: lanescope cancel"}
                           : no_more_captures_                 ? Error{"This recording makes no more captures."}
                                                               : start_capture(order.request));
  } else if (awaits_range) {
    expect_no_range();
    order.answer.set_value(std::filesystem::path());
  } else if (state != RecordingState::kRecording) {
    order.answer.set_value(Error{state == RecordingState::kDelayed ? kDelayed : "No capture is under way."});
  } else {
    discards_file_ = order.kind == Order::kCancel;
    awaits_end_ = std::move(order.answer);
    begin_stopping(EndReason::kStopped);
  }
}

// Starts a capture, or waits for the range that starts it.
Result<std::filesystem::path> Recording::Run::start_capture(const CaptureRequest& request) {
  if (request.range && !by_request()) return Error{"The range that this recording captures was chosen when it began."};
  if (request.range) {
    CaptureSettings settings = request_.settings;
    settings.range = *request.range;
    if (Result<void> possible = check_range(settings); !possible) return possible.error();
  }
  if (request.range) {
    const std::string& name = request.output.empty() ? request_.output : request.output;
    if (Result<void> place = check_later_file(name, request.overwrite.value_or(request_.overwrite), request.range->after); !place) return place.error();
  }
  if (Result<void> observed = observe(request); !observed) return observed.error();
  note_earlier_files(request, request.range.value_or(range_));
  if (!request.range) {
    Result<std::filesystem::path> file = begin_capture(request);
    if (file) ++starts_;
    return file;
  }
  ++starts_;
  range_ = *request.range;
  awaited_ = request;
  captures_ = 0;
  answered_begins_ = processes_.captures().begins;
  processes_.await(range_);
  return std::filesystem::path();
}

// Observes threads and GPUs with the settings of this capture, which may differ from those before.
Result<void> Recording::Run::observe(const CaptureRequest& request) {
  std::vector<proto::Diagnostic> refusals;
  cpu::CpuSettings threads = request.cpu.value_or(request_.settings.cpu);
  threads.system_calls = request_.settings.cpu.system_calls;  // traced or not for the whole recording, as everything that is traced
  if (threads != observed_threads_) {
    if (threads.any() && !processes_.lives(pid_))
      return Error{"Process " + std::to_string(pid_) + " has ended: threads of what it started are observed as before, or not at all."};
    auto recorder = follow_threads(cpu::Recorder::attach, pid_, threads, cpu::Start::kWhenTold, log_->is_watched() ? Watched::kYes : Watched::kNo, refusals);
    if (!recorder) return recorder.error();
    processes_.follow_threads(std::move(*recorder), pid_);
    observed_threads_ = threads;
    describe_settings(threads, *start_.mutable_settings());
  }
  const GpuMetricsSettings metrics = request.gpu_metrics.value_or(request_.settings.gpu_metrics);
  if (metrics != observed_gpus_) {
    const auto say = [this](const std::string& sentence) { report(sentence); };
    if (gpu_metrics_) gpu_metrics_->end(*log_, GpuMetricsProcess::Samples::kLeaveOut, say);
    log_->forget(proto::SOURCE_GPU_METRICS);
    gpu_metrics_ = gpu_metrics_for(metrics, refusals);
    observed_gpus_ = metrics;
  }
  const machine_metrics::Settings machine = request.machine_metrics.value_or(request_.settings.machine_metrics);
  if (machine != observed_machine_) {
    machine_metrics_.reset();
    log_->forget(machine_metrics::kSource);
    machine_metrics_ = machine_metrics_for(machine, refusals);
    observed_machine_ = machine;
  }
  CaptureSettings settings = request_.settings;
  settings.cpu = observed_threads_;
  settings.gpu_metrics = observed_gpus_;
  settings.machine_metrics = observed_machine_;
  start_.set_options(asked_options(request_, settings));
  for (const proto::Diagnostic& refusal : refusals) {
    log_->write({proto::FRAME_DIAGNOSTIC}, refusal);
    report(refusal.text());
  }
  return {};
}

void Recording::Run::note_earlier_files(const CaptureRequest& request, const CaptureRange& range) {
  say_of_replaced();
  mark_of_files_ = RunningRecordersFile();  // whoever asks for a capture may replace an earlier one of this recording
  earlier_files_ = earlier_files(request.output.empty() ? request_.output : request.output, request.overwrite.value_or(request_.overwrite),
                                 makes_several(range) ? EarlierFiles::Captures::kSeveral : EarlierFiles::Captures::kOne);
}

// Other recordings of this name, which may begin before this one has ended, replace none of its files: they look at the first one. What somebody asks of a
// session may replace its files.
void Recording::Run::mark_file(const std::filesystem::path& path, const std::optional<FileIdentity>& identity) {
  if (!by_request() && !mark_of_files_.is_marked()) mark_of_files_ = RunningRecordersFile(path, identity);
}

void Recording::Run::say_of_replaced() {
  if (const std::string said = earlier_files_->said_of_replaced(); !said.empty()) report(said);
}

Result<std::filesystem::path> Recording::Run::begin_capture(const CaptureRequest& request) {
  const bool several = makes_several(range_);
  const std::string& asked = request.output.empty() ? request_.output : request.output;
  const Overwrite overwrite = request.overwrite.value_or(request_.overwrite);
  const std::string name = several ? pattern_of_capture(asked, captures_ + 1, overwrite) : asked;
  const OutputName output{name, overwrite, earlier_files_, several ? pattern_of_capture(asked, captures_ + 1, Overwrite::kRefuse) : std::string()};
  const Readers readers = readers_of(observed_threads_, user_);
  Result<CreatedFile> created = Error{};
  if (origin_ == Origin::kAttached) {
    created = create_attached_file(output, readers, pid_);
  } else if (const auto unknown = variable_beside(name, shared_by_)) {
    created = Error{"The output name \"" + name + "\" uses %q{" + *unknown + "}, but that variable is not set.", ErrorKind::kUsage};
  } else {
    created = create_trace_file(output, readers, pid_);
  }
  if (!created) return created.error();
  earlier_files_->note_taken(created->file.path());
  ++captures_;
  duration_ = request.duration ? request.duration : request_.duration;
  on_target_exit_ = request.on_target_exit.value_or(request_.on_target_exit);
  start_.set_epoch(monotonic_now());
  start_.set_utc_epoch(realtime_now());
  processes_.begin_part(start_.epoch());
  log_->open(std::move(created->file), start_, share_files(output, readers, pid_));
  if (!created->note.empty()) warn(created->note);
  write_clocks();
  recording_since_ = start_.epoch();
  if (range_.after == AfterCapture::kGoOn) processes_.take_trigger_away();
  processes_.begin_recording();
  {
    const std::lock_guard lock(mutex_);
    path_ = log_->path();
  }
  set_state(RecordingState::kRecording);
  return path();
}

bool Recording::Run::by_request() const { return request_.settings.range.trigger == CaptureTrigger::kRequest; }

bool Recording::Run::range_repeats_on() const { return range_.after == AfterCapture::kRepeat && (!range_.repeats || captures_ < *range_.repeats); }

Recording::Run::Next Recording::Run::next_after(EndReason reason) const {
  if (reason == EndReason::kStopped && !awaits_end_) return Next::kShutDown;
  // If we attached to a process, there is no program of ours to wait for.
  const Next without_captures = origin_ == Origin::kAttached ? Next::kShutDown : Next::kWaitForEnd;
  if (reason == EndReason::kStopped) return range_.trigger == CaptureTrigger::kNone ? without_captures : Next::kWait;
  if (reason == EndReason::kFileSize || reason == EndReason::kDiskFull) return without_captures;
  if (range_.trigger == CaptureTrigger::kNone) return Next::kShutDown;
  if (range_.trigger == CaptureTrigger::kRequest || range_repeats_on()) return Next::kWait;
  const AfterCapture after = range_.after == AfterCapture::kRepeat ? range_.after_repeats : range_.after;
  if (after != AfterCapture::kStop) return Next::kShutDown;
  return by_request() ? Next::kWait : Next::kWaitForEnd;
}

// Returns true if the code in the file has names, as far as there is time for that. Does not wait, because agents must be greeted meanwhile.
bool Recording::Run::has_named(std::int64_t now) {
  if (discards_file_ || !log_->is_open()) return true;
  if (naming_since_ == 0) {
    processes_.begin_naming();
    naming_since_ = now;
  }
  period_ = kNamingLook;
  const bool target_waits = range_repeats_on() && processes_.captures().begins != answered_begins_;
  const std::int64_t patience = target_waits ? kNamingPatienceOfTarget : kNamingPatience;
  if (processes_.is_naming() && wish_.load() != Wish::kAtOnce && now - naming_since_ < patience) {
    if (now - naming_since_ > kQuietNaming) report(kNamingMessage);
    return false;
  }
  processes_.stop_naming();
  processes_.write_names();
  if (const std::int64_t waited = now - naming_since_; target_waits && waited > kNoticedWait)
    report("The program waited at the start of a capture until names of code of the one before were looked up, up to " +
           grouped_digits(static_cast<std::uint64_t>(waited) / 1'000'000) + " ms. No file has this time.");
  naming_since_ = 0;
  return true;
}

// Called before names of code are looked up, which may take long: open ranges end with the recording, and what comes meanwhile belongs to no part.
void Recording::Run::end_part() {
  if (has_ended_part_) return;
  if (machine_metrics_) machine_metrics_->drain(take_machine_metrics());
  output_.flush();
  drain_rest(reason_);
  processes_.end_part();
  log_->end_nothing_more();
  has_ended_part_ = true;
}

void Recording::Run::end_capture(EndReason reason) {
  end_part();
  if (next_after(reason) == Next::kWaitForEnd) expect_no_more_captures();
  const Result<std::filesystem::path> file = close_file(reason);
  if (by_request() && !(reason == EndReason::kRangeEnd && range_repeats_on())) expect_no_range();
  has_ended_part_ = false;
  stopped_ = 0;
  set_state(RecordingState::kWaiting);
  answer_end(file);
}

// Whoever ordered the end sees the recording in the state after it.
void Recording::Run::answer_end(const Result<std::filesystem::path>& file) {
  if (awaits_end_) awaits_end_->set_value(file);
  awaits_end_.reset();
}

Result<std::filesystem::path> Recording::Run::close_file(EndReason reason) {
  if (!log_->is_open()) return std::filesystem::path();
  std::optional<Error> failure;
  output_.flush();
  processes_.write_last_words();
  const std::filesystem::path path = log_->path();
  if (discards_file_) {
    if (const Whereabouts now = log_->whereabouts(); now.kind == Whereabouts::kMoved)
      failure =
          Error{path.string() + " was moved" + (now.moved_to.empty() ? "" : " to " + now.moved_to.string()) + " while it was recorded: it is not thrown away."};
    for (const std::filesystem::path& earlier : log_->discard()) report(said_of_earlier(earlier));
    forget_replaced(path);
  } else {
    if (!shared_by_.empty() && !log_->has_shares())
      warn("No process was started with " + shared_by_.front() + " in its environment: all is in " + path.string() + ".");
    if (const std::optional<std::string> sentence = processes_.marked_modules().take_sentence()) warn(*sentence);
    write_clocks();
    proto::SessionEnd last;
    last.set_time(stopped_);
    last.set_reason(to_proto(reason));
    mark_file(path, log_->identity());  // before it is no longer being written, if it is in its place by now
    for (const ClosedFile& file : log_->close(last))
      if (const std::optional<Error> problem = note_closed(file, reason); problem && !failure) failure = problem;
  }
  discards_file_ = false;
  if (failure) return *failure;
  return path;
}

std::optional<Error> Recording::Run::note_closed(const ClosedFile& file, EndReason reason) {
  const std::optional<Error> elsewhere = said_of_place(file);
  const std::optional<Error> failure = elsewhere ? elsewhere : file.failure;
  forget_replaced(file.path);
  mark_file(file.path, file.identity);
  {
    const std::lock_guard lock(mutex_);
    if (file.whereabouts.kind == Whereabouts::kInPlace)
      outcome_.files.push_back({file.path, file.events, file.bytes, reason, starts_, file.unwritten, file.identity, file.kept_part});
    if (elsewhere) ++outcome_.lost_files;
    if (elsewhere && !was_moved(file)) outcome_.gone.push_back(file.path);
    if (failure && !outcome_.failure) outcome_.failure = failure;
  }
  if (file.failure) report(file.failure->text);
  if (!file.kept.empty()) report(file.kept);
  if (elsewhere) report(elsewhere->text);
  if (!file.earlier.empty()) report(said_of_earlier(file.earlier));
  return failure;
}

// Forgets an earlier file of this name that a later one has overwritten.
void Recording::Run::forget_replaced(const std::filesystem::path& path) {
  const std::optional<FileIdentity> there = identity_of(path);
  const std::lock_guard lock(mutex_);
  std::erase_if(outcome_.files, [&](const RecordedFile& before) { return before.path == path && before.identity != there; });
}

void Recording::Run::expect_no_more_captures() {
  no_more_captures_ = true;
  processes_.take_trigger_away();
}

// Until somebody asks for the next capture.
void Recording::Run::expect_no_range() {
  range_ = request_.settings.range;
  awaited_ = {};
  processes_.take_trigger_away();
}

}  // namespace lanescope::session
