// What a live recording is a recording of: a program on this machine, or on others. It gives frames, as they come, to the sink that it
// was made with, on a thread of its own.
//
// Threads: the GUI thread only, but for complete().
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QString>

#include "collector/session/recording.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

class RecordingSource {
 public:
  RecordingSource() = default;
  virtual ~RecordingSource() = default;  // the recording ends, or goes on without us
  RecordingSource(const RecordingSource&) = delete;
  RecordingSource& operator=(const RecordingSource&) = delete;

  enum class Program { kEnds, kRunsOn };
  // Asks for the end, and returns at once.
  virtual void stop(Program program) = 0;
  virtual void stopAtOnce() = 0;
  [[nodiscard]] virtual bool hasEnded() const = 0;
  // Requires: hasEnded(), and that all frames were taken.
  [[nodiscard]] virtual session::RecordingOutcome outcome() const = 0;
  // Adds to the file what only the whole trace tells. From any thread; requires as above.
  virtual Result<void> complete(const Trace& whole) = 0;

  [[nodiscard]] virtual std::filesystem::path path() const = 0;  // of the last file; empty while there is none
  [[nodiscard]] virtual session::RecordingStatistics statistics() const = 0;
  virtual std::vector<std::string> takeMessages() = 0;
  // Files that make one trace with that one: of the same program, which ran on several machines.
  [[nodiscard]] virtual std::vector<std::filesystem::path> further() const { return {}; }
  [[nodiscard]] virtual pid_t pid() const = 0;  // 0: not known here
  [[nodiscard]] virtual bool wasAttachedTo() const = 0;
  // Of a program that runs elsewhere: which machine, and how far what is here is behind what is there.
  struct Elsewhere {
    QString machine;
    std::chrono::milliseconds behind{0};
  };
  [[nodiscard]] virtual std::optional<Elsewhere> elsewhere() const { return std::nullopt; }
};

[[nodiscard]] std::unique_ptr<RecordingSource> local_source(std::unique_ptr<session::Recording> recording);

}  // namespace lanescope::ui
