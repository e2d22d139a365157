// One file of a recording, and the watcher of its frames.
#pragma once

#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collector/session/recording.h"
#include "file/prologue.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

// Calls use(header, bytes of the frame, header included) for each whole frame of consecutive frames.
template <typename Use>
void for_each_frame(std::span<const std::byte> frames, Use use) {
  while (frames.size() >= sizeof(FrameHeader)) {
    FrameHeader header;
    std::memcpy(&header, frames.data(), sizeof(header));
    const std::size_t bytes = sizeof(header) + header.stored_size;
    if (bytes > frames.size()) return;
    use(header, frames.first(bytes));
    frames = frames.subspan(bytes);
  }
}

// What a recording requires of its log.
struct LogRules {
  bool several_files = false;                         // a later file repeats what an earlier one said
  std::optional<std::chrono::nanoseconds> keep_last;  // older frames are dropped; the rest is written to the file when it is closed
  std::optional<std::uint64_t> maximum_bytes;         // limit of a finished file; with keep_last, more of the oldest frames is dropped for it
  bool has_shares = false;                            // processes may have files of their own (frame_log.h)
};

// Can be opened and closed any number of times. While it is closed, it keeps what later events will refer to, and drops events. One thread.
//
// Once a frame does not fit because of a full disk or the limit of the file's size, no later frame is written. The events of these frames are counted. How
// processes ended is kept for close(), which takes room for it from the last events.
class FileLog {
 public:
  // `known`: what was said before.
  FileLog(LogRules rules, FrameSink sink, Prologue known = {}) : rules_(rules), sink_(std::move(sink)), prologue_(std::move(known)) {}

  // Requires: no file is open.
  void open(TraceFileWriter file, const proto::SessionStart& start);
  [[nodiscard]] bool is_open() const noexcept { return file_.has_value(); }

  // `events`: number of events in `run`.
  void take(const FrameRun& run, std::uint64_t events);
  // Keeps frames that the open file must not contain, and that later files may need.
  void keep_for_later(std::span<const std::byte> frames);
  // The recording does not end before this time (CLOCK_MONOTONIC ns), so that what came more than keep_last earlier is dropped. Has no effect without
  // keep_last.
  void goes_on(std::int64_t time);
  // What that source said so far is not repeated in later files, because the source starts again. Requires: no file is open.
  void forget(proto::FrameSource source) { prologue_.forget(source); }
  // What a file that is opened now would repeat first of what came before.
  [[nodiscard]] const Prologue& known() const noexcept { return prologue_; }
  // Writes the last frame, and the index. Returns where the file was then. A file that was to replace another is still beside it if it has no event and could
  // not be finished; it is removed then.
  Whereabouts close(proto::SessionEnd end);
  // Closes the file and removes it; a file that it has replaced is back in its place. Returns where that file is if it can't be there, else an empty path.
  std::filesystem::path discard();
  // Where the file is that the last file has replaced, if that could not be finished or was not in its place; else empty.
  [[nodiscard]] const std::filesystem::path& earlier() const noexcept { return earlier_; }

  // True if no more frames, or hardly any, are taken, because the file has reached its maximum size. Never true with keep_last.
  [[nodiscard]] bool is_full() const noexcept;
  // Events of the current or last file for which it had no room.
  [[nodiscard]] std::uint64_t unwritten() const noexcept { return unwritten_; }
  // Which part of the last file was kept, and one sentence about that; empty without keep_last, and if all of it was.
  [[nodiscard]] KeptPart kept_part() const noexcept { return kept_part_; }
  [[nodiscard]] const std::string& kept() const noexcept { return kept_; }

  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }  // of the current or last file
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::optional<FileIdentity> identity() const { return file_ ? file_->identity() : std::nullopt; }
  [[nodiscard]] Whereabouts whereabouts() const { return file_ ? file_->whereabouts() : Whereabouts(); }
  [[nodiscard]] std::filesystem::path path() const { return file_ ? file_->path() : std::filesystem::path(); }

 private:
  struct Held {
    std::int64_t time;      // CLOCK_MONOTONIC ns at which it came
    std::uint32_t process;  // instance, the same for all of its frames
    std::vector<std::byte> frames;
    std::vector<FrameContent> contents;  // empty if unknown
    std::uint64_t events;
    std::uint64_t bytes;  // in a file, including its entries in the index

    [[nodiscard]] FrameRun run() const { return {frames, contents}; }
  };

  void take_into_file(const FrameRun& run, std::uint64_t events);
  // True for frames of a process that ended before the part that is kept.
  [[nodiscard]] bool comes_late(const FrameRun& run) const;
  void hold(const FrameRun& run, std::uint64_t events);
  // Drops the oldest frames. This is possible because everything that happened after the time at which they came is still to come, or is held.
  void give_up_oldest();
  // What these frames said is remembered from then on.
  void let_oldest_go();
  // Drops what the file has no room for, the oldest first. Returns what must be said before the rest.
  std::vector<std::byte> held_to_size();
  // The number of held parts, the oldest first, for which the file has no room after these frames.
  [[nodiscard]] std::size_t too_many_behind(std::span<const std::byte> known);
  void write_held();
  bool append(const FrameRun& run, std::uint64_t events);
  void append_or_count(FrameRun run, std::uint64_t events);
  // Counts or keeps frames for which there is no room.
  void set_aside(std::span<const std::byte> frames);
  bool finish(proto::SessionEnd& end);
  [[nodiscard]] std::vector<std::byte> last_words() const;
  void absorb(std::span<const std::byte> frames);
  void absorb_later();
  // Sets what kept() and kept_part() return. Requires: keep_last, and something was dropped. `end`: of the recording, CLOCK_MONOTONIC ns.
  void note_kept(std::int64_t end);

  LogRules rules_;
  FrameSink sink_;
  std::optional<TraceFileWriter> file_;
  Prologue prologue_;
  std::deque<Held> held_;
  std::map<std::uint32_t, std::size_t> held_of_;  // how many held parts a process has
  std::uint64_t held_bytes_ = 0;
  std::int64_t whole_from_ = 0;  // CLOCK_MONOTONIC ns at which the last dropped events came; 0: none were dropped
  bool lacked_room_ = false;     // something was dropped that is not older than keep_last
  KeptPart kept_part_ = KeptPart::kAll;
  std::string kept_;
  std::filesystem::path earlier_;
  std::int64_t opened_ = 0;
  std::uint32_t first_new_ = 0;    // instances from here on started after the file was opened
  std::set<std::uint32_t> begun_;  // processes that started before it and had not ended then
  std::optional<Error> failure_;
  bool has_no_room_ = false;  // more was said than fits; no frame is taken any more
  std::uint64_t unwritten_ = 0;
  using Word = std::tuple<std::uint16_t, std::uint32_t, std::uint8_t>;  // type, process, source of a frame
  std::map<Word, std::vector<std::byte>> last_words_;                   // frames for which there was no room, and which close() writes
  std::uint64_t last_words_bytes_ = 0;
  std::vector<std::byte> for_later_;  // frames that become known once the file is closed
  std::uint64_t events_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace lanescope::session
