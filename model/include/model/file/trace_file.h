// Reads and writes .trace files as sequences of frames. What a frame says is not known here.
//
// Threads: a TraceFileWriter and a TraceFileReader belong to one thread at a time; FrameViews of a reader may be opened from any thread, and
// stay valid without it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/file/frame_codec.h"
#include "model/file/message_size.h"
#include "model/file/new_file.h"
#include "model/file/result.h"

namespace lanescope {

// What the index of a file says of one of its frames.
struct IndexedFrame {
  std::uint64_t offset = 0;  // byte position of its header
  std::uint32_t type = 0;    // proto::FrameType
  std::uint32_t process = 0;
  std::uint32_t stored_size = 0;
  std::uint32_t event_count = 0;
  std::string segment_head;  // of a lane segment: a proto::SegmentHead; else empty
};

// Whole frames, back to back, and what each of them holds (content_of); none where whoever made them does not say.
struct FrameRun {
  std::span<const std::byte> frames;
  std::span<const FrameContent> contents;
};

// Which file it is, whatever has its name by now: also apart from one that was there before it and had the same number.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  std::int64_t made = 0;  // ns since the Unix epoch; 0 where the file system does not say
  bool operator==(const FileIdentity&) const = default;
};
// None where nothing is there.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::filesystem::path& path);

// Where a file is that somebody writes: others may have moved it meanwhile, or removed it, and another may have its name.
struct Whereabouts {
  enum Kind {
    kBeside,  // the file that it is to replace is still there
    kInPlace,
    kMoved,        // whole, under another name
    kRemoved,      // it has no name any more, and is gone once it is closed
    kOverwritten,  // in its place, with bytes of another program
    kCut,          // in its place, and had fewer bytes than were written at some time: part of them is lost
  };
  Kind kind = kBeside;
  std::filesystem::path moved_to;  // of kMoved; empty where the kernel does not say
};

// Appends frames to a new file. What append() was given is in the file (the kernel's cache) when it returns, so a killed host loses
// nothing; finish() adds the index, without which the file opens all the same.
//
// A file that is replaced stays as it was until the new one has an event, or is finished; the new one lies beside it before. While a writer
// lives, it holds a lock on its place (flock): no second one writes there.
class TraceFileWriter {
 public:
  // Fails when the file exists and overwrite is kRefuse, when another writer is at it, or when it can't be created.
  static Result<TraceFileWriter> create(const std::filesystem::path& path, Overwrite overwrite, Readers readers = Readers::kAsUsual);
  // Into a file that somebody else brings to its place, and that outlives the writer. What holds frames of a newer file is of its version.
  static Result<TraceFileWriter> create(NewFile& file, std::uint16_t minor_version = kFormatMinor);

  // Goes on behind the last frame of a finished file. What is appended is kept in memory, and the file stays as it is until finish() puts it in
  // the place of the index, with a new one behind it. Fails when the file has no sound index, can't be written, or another writer is at it,
  // and where it is not the one that is meant; none: any is.
  static Result<TraceFileWriter> reopen(const std::filesystem::path& path, const std::optional<FileIdentity>& meant = {});

  // Whether a writer is at this file now, in this process or another.
  static bool is_being_written(const std::filesystem::path& path);

  TraceFileWriter(TraceFileWriter&&) noexcept;
  TraceFileWriter& operator=(TraceFileWriter&&) noexcept;
  ~TraceFileWriter();

  // Appends frames as they are: one or more, as of a FrameRun. In front of one that says so much in so few bytes that readers would refuse the
  // file (limits.h) comes padding. To know that of frames without contents, they are decompressed, once a file is no longer small. Fails when the disk is full;
  // the partial frame is then cut off again, so that the file stays whole.
  Result<void> append(std::span<const std::byte> frames, std::span<const FrameContent> contents = {});
  // The same of one frame, of which the index has this head (IndexedFrame).
  Result<void> append_segment(std::span<const std::byte> frame, const FrameContent& content, std::string segment_head);

  // Makes room for `bytes` of frames and the index: takes whole frames from the end until all of that fits into the place that the file has
  // now, where `limit` is none, else into `limit` bytes in all. The first frame stays. What is appended next is written over the others:
  // that works on a full disk, too. Returns how many events they held.
  std::uint64_t make_room(std::uint64_t bytes, std::optional<std::uint64_t> limit);

  // Writes the index and the trailer. Nothing may be appended afterwards.
  Result<void> finish();
  // Removes the file; what it was to replace stays where the new one had no event yet. Nothing may be called afterwards.
  void discard();

  [[nodiscard]] std::uint64_t size() const noexcept;           // bytes so far
  [[nodiscard]] std::uint64_t finished_size() const noexcept;  // at most so many if it were finished now
  // And if these were appended before, with the padding that they need. O(frames), where their contents are known.
  [[nodiscard]] std::uint64_t finished_size_with(std::span<const std::byte> frames, std::span<const FrameContent> contents = {});
  [[nodiscard]] std::uint64_t finished_size_with(std::span<const FrameRun> runs);
  [[nodiscard]] const std::filesystem::path& path() const noexcept;
  [[nodiscard]] std::optional<FileIdentity> identity() const;
  [[nodiscard]] bool is_in_place() const noexcept;  // not beside it any more
  [[nodiscard]] Whereabouts whereabouts() const;    // as others have left it

 private:
  struct State;
  explicit TraceFileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// How a file ends, and what was wrong with it on the way.
struct FileCondition {
  bool finished = false;                       // it has an index: the recording ended in an orderly way
  std::uint64_t frames = 0;                    // sound frames
  std::uint64_t damaged_frames = 0;            // skipped, because their checksum differs; as many as the index says, where that is sound
  std::uint64_t first_damage = 0;              // byte position of the first damaged frame; 0 when none
  std::uint64_t unread_bytes = 0;              // at the end, behind the last whole frame: a write that was cut off
  std::uint64_t search_ended = 0;              // byte position where the search for frames behind damage was given up; 0 when it was not
  bool changed = false;                        // it became shorter, or another recording, while it was read
  std::string read_error;                      // one sentence; empty when every byte could be read
  [[nodiscard]] std::string sentence() const;  // what a user should know; empty when nothing
};

// Walks the frames of a file that may be finished, cut at any byte, still growing, or changed by another program meanwhile. Memory is that of
// one frame, and of those that the caller keeps.
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
  // How many events the index says there are; 0 where there is no sound index. O(frames).
  [[nodiscard]] std::uint64_t indexed_events() const;
  // The index of a finished file; empty where there is no sound one. O(frames).
  [[nodiscard]] std::vector<IndexedFrame> index() const;
  // A frame that the index names, in memory of its own. Fails with one sentence where the file has another there, or a damaged one. Any
  // thread may call it, also while another walks.
  [[nodiscard]] Result<FrameView> read(const IndexedFrame& frame) const;
  [[nodiscard]] std::uint16_t minor_version() const noexcept;  // of the format, as the file's header says

  // The next sound frame, else none at the end of what there is now. Damaged frames are skipped and counted: the scan goes on at the next
  // place where a sound frame begins, as far as the limit of such searches (limits.h) allows. In a growing file, call again later. Index
  // frames are not returned. O(1) for a sound file.
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
