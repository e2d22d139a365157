// Reads and writes .trace files as sequences of frames. What a frame says is not known here.
//
// Threads: a TraceFileWriter and a TraceFileReader belong to one thread at a time; FrameViews of a reader may be opened from any thread
// while the reader lives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/file/frame_codec.h"
#include "model/file/result.h"

namespace lanescope {

enum class Overwrite { kRefuse, kAllow };

// Appends frames to a new file. What append() was given is in the file (the kernel's cache) when it returns, so a killed host loses
// nothing; finish() adds the index, without which the file opens all the same.
class TraceFileWriter {
 public:
  // Fails when the file exists and overwrite is kRefuse, or when it can't be created.
  static Result<TraceFileWriter> create(const std::filesystem::path& path, Overwrite overwrite);

  // Goes on behind the last frame of a finished file: its index is cut off, and finish() writes it anew. Fails when the file has no sound
  // index or can't be written.
  static Result<TraceFileWriter> reopen(const std::filesystem::path& path);

  TraceFileWriter(TraceFileWriter&&) noexcept;
  TraceFileWriter& operator=(TraceFileWriter&&) noexcept;
  ~TraceFileWriter();

  // Appends frames exactly as they are: one or more whole frames, back to back. Fails when the disk is full; the partial frame is then
  // cut off again, so that the file stays whole.
  Result<void> append(std::span<const std::byte> frames);

  // Writes the index and the trailer. Nothing may be appended afterwards.
  Result<void> finish();

  [[nodiscard]] std::uint64_t size() const noexcept;  // bytes so far
  [[nodiscard]] const std::filesystem::path& path() const noexcept;

 private:
  struct State;
  explicit TraceFileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// How a file ends, and what was wrong with it on the way.
struct FileCondition {
  bool finished = false;                       // it has an index: the recording ended in an orderly way
  std::uint64_t frames = 0;                    // sound frames
  std::uint64_t damaged_frames = 0;            // skipped, because their checksum differs
  std::uint64_t first_damage = 0;              // byte position of the first damaged frame; 0 when none
  std::uint64_t unread_bytes = 0;              // at the end, behind the last whole frame: a write that was cut off
  [[nodiscard]] std::string sentence() const;  // what a user should know; empty when nothing
};

// Walks the frames of a file that may be finished, cut at any byte, or still growing. Memory is bounded by one frame: the file is mapped.
class TraceFileReader {
 public:
  // Fails with one sentence when the file can't be read, is empty, is not a .trace file (known foreign formats are named, with the
  // command that converts them), or is of a newer major version.
  static Result<TraceFileReader> open(const std::filesystem::path& path);

  TraceFileReader(TraceFileReader&&) noexcept;
  TraceFileReader& operator=(TraceFileReader&&) noexcept;
  ~TraceFileReader();

  // The frames of the given types, found by the index of a finished file; none where there is no sound index. Does not move next().
  // O(frames).
  [[nodiscard]] std::vector<FrameView> indexed(std::span<const std::uint16_t> types) const;

  // The next sound frame, else none at the end of what there is now. Damaged frames are skipped and counted: the scan goes on at the next
  // place where a sound frame begins. In a growing file, call again later. Index frames are not returned. O(1) for a sound file.
  std::optional<FrameView> next();

  [[nodiscard]] const FileCondition& condition() const noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept;      // bytes of the file at the last look
  [[nodiscard]] std::uint64_t position() const noexcept;  // bytes walked so far

 private:
  struct State;
  explicit TraceFileReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
