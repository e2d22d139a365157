// Recordings that another machine asked for. Each has a folder in which its own recorder works, which outlives the process that asked.
//
// The folder has the trace files, `output` and `messages` (what the recorder and its program print), `messages-reserve` (what the recorder says once the disk
// is full, a continuation of `messages`) and `recorder` (its process and host). Once the recording is over, it has `code` (the recorder's exit code, which it
// writes itself) and `ended` (how it ended). `reading` says how far the printed output is read (collector/session/distant_reader.h). A keeper, which is a
// process in a session of its own, starts the recorder, waits for it and writes `ended`. No recorder starts without a note in `recorder`, and the room for
// the note about its end is reserved before, because the disk may be full by then.
// Several machines may share the folder, as nodes of a cluster share a home: each can follow all recordings, and end or discard its own.
#pragma once

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lanescope/remote.pb.h"
#include "model/file/result.h"

namespace lanescope::remote {

enum class Progress {
  kRuns,
  kEnded,
  kLost,       // its recorder is gone, and nobody saw how it ended
  kUnknown,    // there is no note who its recorder is: it has not started yet, or somebody has damaged the note
  kElsewhere,  // it was started on another machine that shares this folder, and its end is not written yet
};

struct RecordingState {
  Progress progress = Progress::kLost;
  int code = 0;      // kEnded: the exit code
  int signal = 0;    // kEnded: the signal that ended it; 0: none
  std::string host;  // on which it was started
};

// Names of files in a folder.
inline constexpr const char* kOutput = "output";
inline constexpr const char* kMessages = "messages";
inline constexpr const char* kReserve = "messages-reserve";
inline constexpr const char* kThrownAway = "thrown-away";
inline constexpr const char* kReading = "reading";

class Recordings {
 public:
  // Opens XDG_CACHE_HOME/lanescope/recordings, or ~/.cache/lanescope/recordings, or a folder below /tmp if there is no home. Only this user may enter it.
  // Fails with one sentence.
  static Result<Recordings> open();

  // Starts a recording, unless one of this name exists. `program`: lanescope. Fails with one sentence, for example on a full disk; nothing was started then.
  // Requires: one thread.
  Result<void> start(const proto::RemoteRequest::Record& request, const std::filesystem::path& program);
  // Fails with one sentence if the name is invalid, or there is no recording of this name.
  [[nodiscard]] Result<std::filesystem::path> folder_of(const std::string& name) const;
  [[nodiscard]] RecordingState state_of(const std::filesystem::path& folder) const;
  // stop() and discard() fail with one sentence if it is not known which process is its recorder.
  Result<void> stop(const std::string& name, int signal = SIGINT);  // SIGINT, SIGTERM or SIGQUIT
  Result<void> discard(const std::string& name);                    // also if it runs
  // Sends its recorder a signal for which passes_on() is true. Does nothing for other signals, and if its recorder does not run on this machine.
  void pass_on(const std::string& name, int signal) const;
  // Names of all recordings, the newest last.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  explicit Recordings(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace lanescope::remote
