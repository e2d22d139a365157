#include <csignal>
#include <utility>

#include "loading/recording_source.h"
#include "model/trace/outline.h"

namespace lanescope::ui {
namespace {

class LocalSource : public RecordingSource {
 public:
  explicit LocalSource(std::unique_ptr<session::Recording> recording) : recording_(std::move(recording)) {}

  void stop(Program program) override {
    if (program == Program::kEnds)
      recording_->shut_down(SIGTERM);
    else
      recording_->stop(session::StopMode::kOrderly);
  }
  void stopAtOnce() override { recording_->stop(session::StopMode::kAtOnce); }
  [[nodiscard]] bool hasEnded() const override { return recording_->state() == session::RecordingState::kEnded; }
  [[nodiscard]] session::RecordingOutcome outcome() const override { return recording_->outcome(); }
  // Appends an outline, so that a large file is drawn at once when it is opened again. A recording of several files is not in one trace.
  Result<void> complete(const Trace& whole) override {
    const auto files = recording_->outcome().files;
    return files.size() == 1 ? append_outline(files.front().path, whole, files.front().identity) : Result<void>();
  }
  [[nodiscard]] std::filesystem::path path() const override { return recording_->path(); }
  [[nodiscard]] session::RecordingStatistics statistics() const override { return recording_->statistics(); }
  std::vector<std::string> takeMessages() override { return recording_->take_messages(); }
  [[nodiscard]] OpenRanges openRanges() const override { return recording_->open_ranges(); }
  [[nodiscard]] pid_t pid() const override { return recording_->target_pid(); }
  [[nodiscard]] bool wasAttachedTo() const override { return recording_->was_attached_to(); }

 private:
  std::unique_ptr<session::Recording> recording_;
};

}  // namespace

std::unique_ptr<RecordingSource> local_source(std::unique_ptr<session::Recording> recording) { return std::make_unique<LocalSource>(std::move(recording)); }

}  // namespace lanescope::ui
