// The source of a live recording: a program on this machine or on others. It passes frames as they arrive to the sink that it was created with, on a thread of
// its own.
//
// Threads: the GUI thread only, except for complete().
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
  virtual ~RecordingSource() = default;  // the recording ends, or continues without this process
  RecordingSource(const RecordingSource&) = delete;
  RecordingSource& operator=(const RecordingSource&) = delete;

  enum class Program { kEnds, kRunsOn };
  // Requests the end and returns at once.
  virtual void stop(Program program) = 0;
  virtual void stopAtOnce() = 0;
  [[nodiscard]] virtual bool hasEnded() const = 0;
  // Requires: hasEnded(), and all frames were taken.
  [[nodiscard]] virtual session::RecordingOutcome outcome() const = 0;
  // Adds to the file what only the whole trace tells. Threads: any. Requirements as above.
  virtual Result<void> complete(const Trace& whole) = 0;

  [[nodiscard]] virtual std::filesystem::path path() const = 0;  // of the last file; empty while there is none
  [[nodiscard]] virtual session::RecordingStatistics statistics() const = 0;
  virtual std::vector<std::string> takeMessages() = 0;
  // For a program on this machine: the ranges that are open now (Recording::open_ranges()). Any thread may call it.
  [[nodiscard]] virtual OpenRanges openRanges() const { return {}; }
  // Files that form one trace with path(): recordings of the same program on other machines.
  [[nodiscard]] virtual std::vector<std::filesystem::path> further() const { return {}; }
  [[nodiscard]] virtual pid_t pid() const = 0;  // 0: not known here
  [[nodiscard]] virtual bool wasAttachedTo() const = 0;
  // For a program that runs elsewhere: the machine, and how far the data here is behind.
  struct Elsewhere {
    QString machine;
    std::chrono::milliseconds behind{0};
  };
  [[nodiscard]] virtual std::optional<Elsewhere> elsewhere() const { return std::nullopt; }
};

[[nodiscard]] std::unique_ptr<RecordingSource> local_source(std::unique_ptr<session::Recording> recording);

}  // namespace lanescope::ui
