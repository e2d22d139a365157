#include "loading/remote_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include <QObject>

#include "analysis/command_text.h"
#include "collector/session/planned_file.h"
#include "model/file/trace_file.h"
#include "model/trace/text/utf8.h"

namespace lanescope::ui {
namespace {

namespace fs = std::filesystem;

// Reads the frames of a file that another process writes, from its start, as they arrive. Threads: one.
class GrowingFrames {
 public:
  // `place`: its path; starts when another file than the present one is there.
  explicit GrowingFrames(fs::path place) : place_(std::move(place)), before_(number_of_file()) {}

  // Passes whole frames on, at most some megabytes, so that the caller is not blocked. Returns their number of events.
  std::uint64_t passOn(const session::FrameSink& sink) {
    constexpr std::size_t kMost = 4u << 20;
    if (is_over_ || (!reader_ && !open())) return 0;
    std::uint64_t events = 0;
    std::vector<std::byte> bytes;
    while (bytes.size() < kMost) {
      const std::optional<FrameView> frame = reader_->next();
      if (!frame) break;
      const auto* header = reinterpret_cast<const std::byte*>(&frame->header);
      bytes.insert(bytes.end(), header, header + sizeof(frame->header));
      bytes.insert(bytes.end(), frame->stored.begin(), frame->stored.end());
      events += frame->header.event_count;
    }
    if (!bytes.empty()) sink(bytes);
    // At its end, a file is written again from its index on; the drawing does not follow that.
    is_over_ = reader_->condition().finished || reader_->condition().changed;
    return events;
  }

 private:
  [[nodiscard]] ino_t number_of_file() const {
    struct stat facts {};
    return stat(place_.c_str(), &facts) == 0 ? facts.st_ino : 0;
  }
  bool open() {
    const ino_t now = number_of_file();
    if (now == 0 || now == before_) return false;
    Result<TraceFileReader> reader = TraceFileReader::open(place_);  // fails until its header has arrived
    if (reader) reader_.emplace(std::move(*reader));
    return reader_.has_value();
  }

  fs::path place_;
  ino_t before_;
  std::optional<TraceFileReader> reader_;
  bool is_over_ = false;
};

class RemoteSource : public RecordingSource {
 public:
  // `process`: a remote process to attach to; 0: a program is started.
  RemoteSource(RemoteWork work, std::string output, pid_t process, session::FrameSink sink, std::function<void(std::string_view)> outlines)
      : there_(std::move(work.there)), work_(std::move(work.work)), output_(std::move(output)), process_(process), sink_(std::move(sink)) {
    work_.outline = std::move(outlines);
    thread_ = std::thread([this] { run(); });
  }
  ~RemoteSource() override {
    wish_ = remote::Wish::kLeave;
    thread_.join();
  }

  void stop(Program) override { wish_ = remote::Wish::kStop; }
  void stopAtOnce() override { wish_ = remote::Wish::kLeave; }
  [[nodiscard]] bool hasEnded() const override { return has_ended_; }
  [[nodiscard]] session::RecordingOutcome outcome() const override {
    const std::lock_guard lock(mutex_);
    return outcome_;
  }
  // The copy equals the remote file, which is complete.
  Result<void> complete(const Trace&) override { return {}; }
  [[nodiscard]] fs::path path() const override {
    const std::lock_guard lock(mutex_);
    return path_;
  }
  [[nodiscard]] session::RecordingStatistics statistics() const override {
    const std::lock_guard lock(mutex_);
    session::RecordingStatistics statistics;
    statistics.events = events_;
    statistics.elapsed = std::chrono::steady_clock::now() - begin_;
    return statistics;
  }
  std::vector<std::string> takeMessages() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }
  [[nodiscard]] pid_t pid() const override { return process_; }
  [[nodiscard]] bool wasAttachedTo() const override { return process_ != 0; }
  [[nodiscard]] std::optional<Elsewhere> elsewhere() const override { return Elsewhere{QString::fromStdString(work_.target), behind_.load()}; }

 private:
  // On the thread of the link, like all functions below.
  void run() {
    work_.place = [this](std::size_t number) { return place_of(number); };
    work_.print = [this](remote::TextStream stream, std::string_view bytes) {
      if (stream == remote::TextStream::kMessages) take_text(bytes);
    };
    work_.tell = [this](const std::string& sentence) { say(sentence); };
    work_.behind = [this](std::chrono::milliseconds behind) { behind_ = behind; };
    work_.wish = [this] {
      draw();
      return wish_.load();
    };
    const remote::WorkOutcome outcome = remote::work_by(there_, recorder_here(), work_, remote::Preferred::kProgramThere, [] { return false; });
    draw();
    end(outcome);
    has_ended_ = true;
  }

  // If names have a counter, the first result is kept: after the file exists, planned_file() would return another name.
  Result<fs::path> place_of(std::size_t number) {
    if (first_.empty()) {
      const Result<std::optional<fs::path>> planned = session::planned_file(output_);
      if (!planned) return planned.error();
      if (!*planned) return Error{"The output name contains %p, but the process id is known on the other machine only. Leave %p out.", ErrorKind::kUsage};
      first_ = **planned;
      frames_.emplace(first_);
    }
    fs::path place = first_;
    return number == 1 ? place : place.replace_extension("." + std::to_string(number) + ".trace");
  }

  void draw() {
    if (!frames_) return;
    const std::uint64_t events = frames_->passOn(sink_);
    const std::lock_guard lock(mutex_);
    events_ += events;
    if (events > 0 && path_.empty()) path_ = first_;
  }

  // Messages of the remote recorder about itself; its output about files refers to remote files.
  void take_text(std::string_view bytes) {
    constexpr std::string_view kPrefix = "lanescope: ";
    constexpr std::size_t kLongest = 4'096;
    text_.append(bytes);
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1))
      if (text_.starts_with(kPrefix)) say(text_.substr(kPrefix.size(), std::min(end - kPrefix.size(), kLongest)));
    if (text_.size() > kLongest) text_.clear();
  }

  void say(const std::string& sentence) {
    constexpr std::size_t kMost = 100;  // messages that nobody has taken yet
    const std::lock_guard lock(mutex_);
    if (messages_.size() < kMost) messages_.push_back(printable(sentence, LineBreaks::kEscaped));
  }

  void end(const remote::WorkOutcome& outcome) {
    const std::lock_guard lock(mutex_);
    outcome_.reason = wish_.load() == remote::Wish::kGoOn ? session::EndReason::kTargetExited : session::EndReason::kStopped;
    if (outcome.failure) {
      Error failure = *outcome.failure;
      failure.text = printable(failure.text, LineBreaks::kEscaped);
      if (outcome.missing != remote::Missing::kNothing)
        failure.text += ' ' + QObject::tr("Copy this one there: Record > On another machine…, Copy it there.").toStdString();
      if (!outcome.recording.empty()) {
        QStringList fetch;
        for (const std::string& word : remote::fetch_command(there_, outcome.recording)) fetch += QString::fromStdString(word);
        failure.text += " The recording is on " + work_.target + " still: " + command_text(fetch).toStdString();
      }
      outcome_.failure = std::move(failure);
    }
    for (const remote::CopiedFile& file : outcome.files) {
      session::RecordedFile recorded;
      recorded.path = file.path;
      recorded.bytes = file.bytes;
      outcome_.files.push_back(std::move(recorded));
    }
    if (!outcome.files.empty()) path_ = outcome.files.front().path;
    if (!outcome.is_known || outcome.failure || process_ != 0) return;
    // The exit code of a recorder is that of its program: 128 + N if a signal ended it.
    constexpr int kSignals = 128;
    const bool was_signal = outcome.signal == 0 && outcome.code > kSignals && outcome.code < kSignals + NSIG;
    outcome_.target = session::ExitStatus{was_signal ? 0 : outcome.code, was_signal ? outcome.code - kSignals : outcome.signal};
  }

  remote::RecorderThere there_;
  remote::WorkSettings work_;
  std::string output_;
  pid_t process_;
  session::FrameSink sink_;
  fs::path first_;
  std::optional<GrowingFrames> frames_;
  std::string text_;  // an incomplete line

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<remote::Wish> wish_{remote::Wish::kGoOn};
  std::atomic<std::chrono::milliseconds> behind_{std::chrono::milliseconds(0)};
  std::atomic<bool> has_ended_{false};
  mutable std::mutex mutex_;  // of the members below
  fs::path path_;
  std::uint64_t events_ = 0;
  std::vector<std::string> messages_;
  session::RecordingOutcome outcome_;
  std::thread thread_;
};

// The same recording on several machines; the first is drawn.
class RemoteSources : public RecordingSource {
 public:
  explicit RemoteSources(std::vector<std::unique_ptr<RecordingSource>> sources) : sources_(std::move(sources)) {}

  void stop(Program program) override {
    for (const auto& source : sources_) source->stop(program);
  }
  void stopAtOnce() override {
    for (const auto& source : sources_) source->stopAtOnce();
  }
  [[nodiscard]] bool hasEnded() const override {
    return std::all_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->hasEnded(); });
  }
  // The outcome of the first one, with all files, and with the problems of the others.
  [[nodiscard]] session::RecordingOutcome outcome() const override {
    session::RecordingOutcome whole;
    for (const auto& source : sources_) {
      const session::RecordingOutcome part = source->outcome();
      if (source == sources_.front())
        whole = part;
      else
        whole.files.insert(whole.files.end(), part.files.begin(), part.files.end());
      if (source == sources_.front() || !part.failure) continue;
      whole.failure = whole.failure ? Error{whole.failure->text + " " + part.failure->text} : *part.failure;
    }
    return whole;
  }
  Result<void> complete(const Trace&) override { return {}; }
  [[nodiscard]] fs::path path() const override {
    const std::vector<fs::path> all = paths();
    return all.empty() ? fs::path() : all.front();
  }
  [[nodiscard]] std::vector<fs::path> further() const override {
    std::vector<fs::path> all = paths();
    if (!all.empty()) all.erase(all.begin());
    return all;
  }
  [[nodiscard]] session::RecordingStatistics statistics() const override {
    session::RecordingStatistics sum;
    for (const auto& source : sources_) {
      const session::RecordingStatistics part = source->statistics();
      sum.events += part.events;
      sum.elapsed = std::max(sum.elapsed, part.elapsed);
    }
    return sum;
  }
  std::vector<std::string> takeMessages() override {
    std::vector<std::string> all;
    for (const auto& source : sources_)
      for (const std::string& sentence : source->takeMessages()) all.push_back(source->elsewhere()->machine.toStdString() + ": " + sentence);
    return all;
  }
  [[nodiscard]] pid_t pid() const override { return 0; }
  [[nodiscard]] bool wasAttachedTo() const override { return false; }
  [[nodiscard]] std::optional<Elsewhere> elsewhere() const override {
    Elsewhere all{QObject::tr("%n machines", nullptr, static_cast<int>(sources_.size()))};
    for (const auto& source : sources_) all.behind = std::max(all.behind, source->elsewhere()->behind);
    return all;
  }

 private:
  [[nodiscard]] std::vector<fs::path> paths() const {
    std::vector<fs::path> all;
    for (const auto& source : sources_)
      if (fs::path path = source->path(); !path.empty()) all.push_back(std::move(path));
    return all;
  }

  std::vector<std::unique_ptr<RecordingSource>> sources_;
};

}  // namespace

Result<std::unique_ptr<RecordingSource>> remote_source(const RemoteSettings& settings, session::FrameSink sink,
                                                       std::function<void(std::string_view frames)> outlines) {
  Result<std::vector<RemoteWork>> all = remote_work(settings);
  if (!all) return all.error();
  const pid_t process = settings.what == Target::kRunning ? process_of(settings) : 0;
  if (all->size() == 1)
    return std::unique_ptr<RecordingSource>(
        new RemoteSource(std::move(all->front()), output_pattern(settings.launch.output, {}), process, std::move(sink), std::move(outlines)));
  std::vector<std::unique_ptr<RecordingSource>> sources;
  for (RemoteWork& each : *all) {
    std::string output = output_pattern(each.output, {});
    session::FrameSink drawn = sources.empty() ? std::move(sink) : session::FrameSink([](std::span<const std::byte>) {});
    auto outlined = sources.empty() ? std::move(outlines) : std::function<void(std::string_view)>();
    sources.push_back(std::make_unique<RemoteSource>(std::move(each), std::move(output), 0, std::move(drawn), std::move(outlined)));
  }
  return std::unique_ptr<RecordingSource>(new RemoteSources(std::move(sources)));
}

}  // namespace lanescope::ui
