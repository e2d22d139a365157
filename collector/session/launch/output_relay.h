// Passes what the target prints on to our own standard output and error, and gives the host a copy.
//
// Where our own standard output and error are one, as in a terminal and behind 2>&1, the target's are as well, so that all that it prints keeps its order;
// it counts as standard output then.
//
// It is a process of its own: when the host dies, or leaves a target running, what the target prints still arrives and no write of it
// fails. A write of the target's waits while our own output takes nothing, and never for the host. Once nobody reads our output any more,
// the target's writes fail as they would without us; so it is with a reader on another machine (collector/session/distant_reader.h). It ends once the target
// and all its descendants have closed both pipes.
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
  // Fails when the system has no descriptors or processes left. With kLeave there is no relay, and nothing ever comes.
  static Result<OutputRelay> start(TargetOutput mode);

  // For the target: becomes its descriptor 1 or 2; -1: it has ours. Close both here once the target has them.
  [[nodiscard]] int write_end(OutputStream stream) const { return pipes_[static_cast<std::size_t>(stream)].get(); }
  void close_write_ends();

  // Readable when there is something to take, or nothing will come any more.
  [[nodiscard]] int descriptor() const { return copies_.get(); }

  using Take = std::function<void(OutputStream stream, std::span<const char> bytes)>;
  using Tell = std::function<void(const std::string& sentence)>;
  // Hands over what has arrived, without waiting, and tells what was lost once the target has closed a stream. Returns whether more may
  // come.
  bool drain(const Take& take, const Tell& tell);
  // Whether it was told that something could not be written to our output. Not of a reader that went away: of that the target learns itself.
  [[nodiscard]] bool has_cut_output() const noexcept { return has_cut_output_; }

 private:
  FileDescriptor pipes_[2];
  FileDescriptor copies_;
  bool has_cut_output_ = false;
};

}  // namespace lanescope::session
