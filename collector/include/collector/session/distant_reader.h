// Who reads, on another machine, what a recorder's program prints to files here.
//
// A small file says how much of each stream is read there, and whether nobody reads it any more: what a pipe would say to who writes to it. Who copies the
// files writes it and holds a lock on it; while nobody does, nobody is waited for, since a recording goes on without whoever asked for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "collector/channel/file_descriptor.h"

namespace lanescope::session {

// By stream: standard output, standard error. As it stands in the file.
struct DistantReading {
  std::array<std::uint64_t, 2> taken{};    // bytes, from the begin of what is printed
  std::array<std::uint8_t, 2> has_left{};  // 1: nobody reads it any more, and nobody will
};

// From now on, what programs print that are recorded is read by who keeps this file: their writes wait while much of it is not taken, and fail once the
// reader has left. Only of what goes to files. Before there are other threads.
void print_for_distant_reader(std::filesystem::path note);

// The file, for whoever prints; not valid where there is none.
[[nodiscard]] channel::FileDescriptor open_distant_reading();

// One look at the file. Safe between fork and exec.
class DistantReadingLook {
 public:
  // `note`: of open_distant_reading().
  explicit DistantReadingLook(int note) noexcept;
  [[nodiscard]] bool has_left(std::size_t stream) const noexcept { return reading_.has_left[stream] != 0; }
  // Whether a write waits that would come behind so many bytes.
  [[nodiscard]] bool must_wait(std::size_t stream, std::uint64_t printed) const noexcept;

 private:
  DistantReading reading_;
  bool is_kept_ = false;
};

// For who copies the files. Keeps the note, which is there already, while it lives: as soon as nobody else does, for the one whose link broke may still wait
// for it. Where it can't, nobody is waited for.
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
