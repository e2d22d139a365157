// A reader, on another machine, of the files to which a recorder's program prints here.
//
// A small file says how much of each stream is read there, and whether the reader has left for good; a pipe would tell its writer the same. The process that
// copies the files writes this file and holds a lock on it. While nobody holds the lock, writes do not wait, because a recording continues without whoever
// asked for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "collector/channel/file_descriptor.h"

namespace lanescope::session {

// By stream: standard output, standard error. This is also the layout in the file.
struct DistantReading {
  std::array<std::uint64_t, 2> taken{};    // bytes, from the start of what is printed
  std::array<std::uint8_t, 2> has_left{};  // 1: nobody reads it any more, and nobody will
};

// From now on, the output of recorded programs counts as read by the process that keeps this file: their writes wait while much of it is not taken, and fail
// once the reader has left. This applies only to output that goes to files. Must be called before there are other threads.
void print_for_distant_reader(std::filesystem::path note);

// The file, for the process that prints. Not valid if no file was set.
[[nodiscard]] channel::FileDescriptor open_distant_reading();

// One look at the file. Safe between fork and exec.
class DistantReadingLook {
 public:
  // `note`: the descriptor from open_distant_reading().
  explicit DistantReadingLook(int note) noexcept;
  [[nodiscard]] bool has_left(std::size_t stream) const noexcept { return reading_.has_left[stream] != 0; }
  // True if a write must wait that follows `printed` bytes.
  [[nodiscard]] bool must_wait(std::size_t stream, std::uint64_t printed) const noexcept;

 private:
  DistantReading reading_;
  bool is_kept_ = false;
};

// For the process that copies the files. Holds the lock on the note, a file that must exist, during its lifetime. It gets the lock as soon as nobody else
// holds it: a predecessor whose link broke may still hold it. Without the lock, writes do not wait.
class DistantReadingKeeper {
 public:
  explicit DistantReadingKeeper(const std::filesystem::path& note);
  void write(const DistantReading& reading) noexcept;

 private:
  bool keep() noexcept;
  channel::FileDescriptor note_;
  bool is_kept_ = false;
};

}  // namespace lanescope::session
