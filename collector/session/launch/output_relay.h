// Passes what the target prints to our own standard output and error, and gives the host a copy.
//
// If our own standard output and error are one file, as in a terminal or after 2>&1, so are the target's, which keeps the order of its output; all of it
// counts as standard output then.
//
// The relay is a process of its own: if the host dies, or leaves a target running, what the target prints still arrives and none of its writes fails. Another
// process keeps the pipes. It begins the relay anew if something kills it, and lets it go on if something stops it alone. A write of the target waits while our
// own output takes nothing, and never for the host. Once nobody reads our output any more, the target's writes fail as they would without us; the same holds
// for a reader on another machine (collector/session/distant_reader.h). Both end once the target and all its descendants have closed both pipes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "collector/session/recording.h"
#include "file_descriptor.h"

namespace lanescope::session {

enum class OutputStream : std::uint8_t { kStandardOutput = 0, kStandardError = 1 };

class OutputRelay {
 public:
  // Fails if the system has no descriptors or processes left. With kLeave there is no relay, and nothing ever comes.
  static Result<OutputRelay> start(TargetOutput mode);

  // For the target: becomes its descriptor 1 or 2; -1: the target has ours. Both must be closed here once the target has them.
  [[nodiscard]] int write_end(OutputStream stream) const { return pipes_[static_cast<std::size_t>(stream)].get(); }
  void close_write_ends();

  // Readable if there is something to take, or nothing will come any more.
  [[nodiscard]] int descriptor() const { return copies_.get(); }

  using Take = std::function<void(OutputStream stream, std::span<const char> bytes)>;
  enum class Told { kNote, kLoss };  // a loss: the recording or our output lacks something
  using Tell = std::function<void(const std::string& sentence, Told what)>;
  // Passes on what has arrived, without waiting. Tells what was lost once the target has closed a stream, and if the relay was killed. Returns true if more
  // may come.
  bool drain(const Take& take, const Tell& tell);
  // True if it was told that something could not be written to our output, or may be missing there because a relay was killed within a call. A reader that left
  // does not count, because the target notices that itself.
  [[nodiscard]] bool has_cut_output() const noexcept { return has_cut_output_; }

 private:
  FileDescriptor pipes_[2];
  FileDescriptor copies_;
  bool has_cut_output_ = false;
};

}  // namespace lanescope::session
