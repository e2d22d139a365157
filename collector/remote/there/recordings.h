// Recordings that another machine asked for: a folder each, in which a recorder of its own works that outlives whoever asked.
//
// In the folder: the trace files, `output` and `messages` (what the recorder and its program print), `messages-reserve` (what
// the recorder says once the disk is full, behind `messages`), `recorder` (its process and host) and,
// once it is over, `code` (of its exit, which it writes itself) and `ended` (how); `reading` says how far what is printed is read (collector/session/
// distant_reader.h). A keeper, which is a process in a session of its own, starts the recorder, waits for it and writes the last. No
// recorder begins that could not be noted, and the room for its end is there before, on a disk that may be full by then.
// Several machines may have the folder, as nodes of a cluster have a home: each can follow all recordings, and end or discard its own.
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
  kLost,       // its recorder is gone, and nobody saw how
  kUnknown,    // it is not noted who its recorder is: it has not begun yet, or somebody has damaged the note
  kElsewhere,  // it was begun on another machine that has this folder, too, and its end is not written yet
};

struct RecordingState {
  Progress progress = Progress::kLost;
  int code = 0;      // kEnded: of exit()
  int signal = 0;    // kEnded: that ended it; 0: none
  std::string host;  // on which it was begun
};

// Names of files in a folder.
inline constexpr const char* kOutput = "output";
inline constexpr const char* kMessages = "messages";
inline constexpr const char* kReserve = "messages-reserve";
inline constexpr const char* kThrownAway = "thrown-away";
inline constexpr const char* kReading = "reading";

class Recordings {
 public:
  // In XDG_CACHE_HOME/lanescope/recordings, or ~/.cache/lanescope/recordings, or below /tmp where there is no home; for this user alone.
  // Fails with one sentence.
  static Result<Recordings> open();

  // Starts one, unless there is one of this name. `program`: lanescope. Fails with one sentence, and nothing was started then, as on a disk that is
  // full. Requires: one thread.
  Result<void> start(const proto::RemoteRequest::Record& request, const std::filesystem::path& program);
  // Fails with one sentence where the name is none, or of no recording.
  [[nodiscard]] Result<std::filesystem::path> folder_of(const std::string& name) const;
  [[nodiscard]] RecordingState state_of(const std::filesystem::path& folder) const;
  // Both fail with one sentence where it is not known who makes it.
  Result<void> stop(const std::string& name, int signal = SIGINT);  // SIGINT, SIGTERM or SIGQUIT
  Result<void> discard(const std::string& name);                    // also where it runs
  // Its recorder gets a signal of passes_on(); nothing happens where none runs on this machine, or of another signal.
  void pass_on(const std::string& name, int signal) const;
  // The newest last.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  explicit Recordings(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace lanescope::remote
