// Reads and writes .trace files as sequences of frames. The content of frames is not known here.
//
// Threads: a TraceFileWriter and a TraceFileReader may be used by one thread at a time. FrameViews of a reader may be opened from any thread, and stay valid
// after the reader is gone.
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

// A frame's entry in the index of a file.
struct IndexedFrame {
  std::uint64_t offset = 0;  // byte position of its header
  std::uint32_t type = 0;    // proto::FrameType
  std::uint32_t process = 0;
  std::uint32_t stored_size = 0;
  std::uint32_t event_count = 0;
  std::string segment_head;  // for a lane segment: a proto::SegmentHead; for values of counters in a compacted file: a proto::CounterHead; else empty
};

// Whole frames, one after another, and the content of each (content_of). `contents` is empty if the producer does not provide it.
struct FrameRun {
  std::span<const std::byte> frames;
  std::span<const FrameContent> contents;
};

// Identifies a file, independent of its name. Also distinguishes it from an earlier file with the same inode number.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  std::int64_t made = 0;  // creation time in ns since the Unix epoch; 0 if the file system does not provide it
  bool operator==(const FileIdentity&) const = default;
};
// Nothing if there is no file.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::filesystem::path& path);

// Where a file is that is being written: meanwhile others may have moved or removed it, and another file may have its name.
struct Whereabouts {
  enum Kind {
    kBeside,  // the file that it is to replace is still there
    kInPlace,
    kMoved,        // complete, under another name
    kRemoved,      // it has no name any more and disappears when it is closed
    kOverwritten,  // in its place, with bytes written by another program
    kCut,          // in its place, and was shorter at some time than what had been written: a part is lost
  };
  Kind kind = kBeside;
  std::filesystem::path moved_to;  // for kMoved; empty if the kernel does not say
};

// Appends frames to a new file. When append() returns, its frames are in the file (in the kernel's cache), so a killed host loses nothing. finish() adds the
// index; a file without an index can also be opened.
//
// A file that is replaced stays in its place until the new file has an event or is finished; until then the new file lies beside it. From then on it lies
// beside the new one, as NAME.earlier. It is removed once the new file is finished, and put back if that is discarded. If the process is killed before, both
// files are there. A writer holds a lock on its place (flock), so that no second writer can write there.
class TraceFileWriter {
 public:
  // Fails if the file exists and overwrite is kRefuse, if another writer has it open, or if it can't be created.
  static Result<TraceFileWriter> create(const std::filesystem::path& path, Overwrite overwrite, Readers readers = Readers::kAsUsual);
  // Writes into a file that the caller moves to its place and that outlives the writer. If it contains frames of a newer file, `minor_version` is that file's.
  static Result<TraceFileWriter> create(NewFile& file, std::uint16_t minor_version = kFormatMinor);

  // Continues behind the last frame of a finished file. Appended frames are kept in memory and the file stays unchanged until finish() writes them over the
  // index, with a new index behind them. Fails if the file has no sound index, can't be written, has another writer, or is not the file `meant`. Without
  // `meant`, any file is accepted.
  static Result<TraceFileWriter> reopen(const std::filesystem::path& path, const std::optional<FileIdentity>& meant = {});

  // True if a writer, in this process or another, has this file open now.
  static bool is_being_written(const std::filesystem::path& path);

  TraceFileWriter(TraceFileWriter&&) noexcept;
  TraceFileWriter& operator=(TraceFileWriter&&) noexcept;
  ~TraceFileWriter();

  // Appends one or more frames unchanged, as in a FrameRun. If a frame has so much content in so few bytes that readers would refuse the file (limits.h),
  // padding is written in front of it. Frames without `contents` are decompressed for that check once the file is no longer small. Fails if the disk is full;
  // a partly written frame is then cut off, so that the file stays complete.
  Result<void> append(std::span<const std::byte> frames, std::span<const FrameContent> contents = {});
  // Appends one frame in the same way; its index entry has this head (IndexedFrame).
  Result<void> append_segment(std::span<const std::byte> frame, const FrameContent& content, std::string segment_head);
  Result<void> append_segment(std::span<const std::byte> frame, std::string segment_head);

  // Makes room for `bytes` of frames and the index: drops whole frames from the end until these fit into the file's present size, or into `limit` bytes in
  // total if there is a limit. The first frame stays. The next frames are written over the dropped ones, which works even if the disk is full. Returns the
  // number of events in the dropped frames.
  std::uint64_t make_room(std::uint64_t bytes, std::optional<std::uint64_t> limit);

  // Writes the index and the trailer. The file that was replaced is removed if the new one is in its place, else it is put back. append() must not be called
  // afterwards.
  Result<void> finish();
  // Removes the file. The file that it was to replace, or has replaced, is in its place then. If it can't be, because others have put a file there, returns
  // where it is; otherwise an empty path. No function may be called afterwards.
  std::filesystem::path discard();
  // The file that was replaced, while it lies beside its place; else empty. It is still there after finish() if it can't be put back.
  [[nodiscard]] std::filesystem::path earlier() const;

  [[nodiscard]] std::uint64_t size() const noexcept;           // bytes so far
  [[nodiscard]] std::uint64_t finished_size() const noexcept;  // upper bound of the size if it were finished now
  // The same after these frames are appended, with the necessary padding. O(frames) if their contents are known.
  [[nodiscard]] std::uint64_t finished_size_with(std::span<const std::byte> frames, std::span<const FrameContent> contents = {});
  [[nodiscard]] std::uint64_t finished_size_with(std::span<const FrameRun> runs);
  [[nodiscard]] const std::filesystem::path& path() const noexcept;
  [[nodiscard]] std::optional<FileIdentity> identity() const;
  [[nodiscard]] bool is_in_place() const noexcept;  // not beside its place any more
  [[nodiscard]] Whereabouts whereabouts() const;    // after changes by others

 private:
  struct State;
  explicit TraceFileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// How a file ends, and what is wrong with it.
struct FileCondition {
  bool finished = false;                       // it has an index: the recording ended normally
  std::uint64_t frames = 0;                    // sound frames
  std::uint64_t damaged_frames = 0;            // skipped because of a wrong checksum; if the index is sound, as many as it says
  std::uint64_t first_damage = 0;              // byte position of the first damaged frame; 0 when none
  std::uint64_t unread_bytes = 0;              // at the end, behind the last whole frame: an interrupted write
  std::uint64_t search_ended = 0;              // byte position where the search for frames behind damage was given up; 0 if it was not
  bool changed = false;                        // it became shorter, or another recording, while it was read
  std::string read_error;                      // one sentence; empty when every byte could be read
  [[nodiscard]] std::string sentence() const;  // for the user; empty if there is nothing to say
};

// Walks the frames of a file that may be finished, cut at any byte, still growing, or changed by another program meanwhile. Memory: one frame, and the frames
// that the caller keeps.
class TraceFileReader {
 public:
  // Fails with one sentence if the file can't be read, is empty, is not a .trace file (for known foreign formats, with the command that converts them), or has
  // a newer major version.
  static Result<TraceFileReader> open(const std::filesystem::path& path);

  TraceFileReader(TraceFileReader&&) noexcept;
  TraceFileReader& operator=(TraceFileReader&&) noexcept;
  ~TraceFileReader();

  // The frames of the given types, found by the index of a finished file; empty if there is no sound index. Does not move next(). O(frames).
  [[nodiscard]] std::vector<FrameView> indexed(std::span<const std::uint16_t> types) const;
  // The number of events by the index; 0 if there is no sound index. O(frames).
  [[nodiscard]] std::uint64_t indexed_events() const;
  // The index of a finished file; empty if there is no sound index. O(frames).
  [[nodiscard]] std::vector<IndexedFrame> index() const;
  // Reads a frame that the index names into memory of its own. Fails with one sentence if the file has another frame there, or a damaged one. Any thread may
  // call it, also while another thread calls next().
  [[nodiscard]] Result<FrameView> read(const IndexedFrame& frame) const;
  [[nodiscard]] std::uint16_t minor_version() const noexcept;  // of the format, as the file's header says

  // Returns the next sound frame, or nothing at the present end of the file. Damaged frames are skipped and counted: the scan continues at the next place
  // where a sound frame begins, within the limit for such searches (limits.h). For a growing file, call again later. Index frames are not returned. O(1) for a
  // sound file.
  std::optional<FrameView> next();

  [[nodiscard]] const FileCondition& condition() const noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept;      // bytes of the file when it was last examined
  [[nodiscard]] std::uint64_t position() const noexcept;  // bytes walked so far

 private:
  struct State;
  explicit TraceFileReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lanescope
