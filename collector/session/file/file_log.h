// One file of a recording, which gets frames, and whoever watches.
#pragma once

#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "collector/session/recording.h"
#include "file/prologue.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

// Whole frames in a row, one after another: use(header, bytes of the frame, header included).
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

// What a recording asks of its log.
struct LogRules {
  bool several_files = false;                         // a later file says again what an earlier one said
  std::optional<std::chrono::nanoseconds> keep_last;  // frames that are older are given up; the rest reaches the file when it is closed
  std::optional<std::uint64_t> maximum_bytes;         // of a finished file; with keep_last, more that is older is given up for it
  bool has_shares = false;                            // processes may have files of their own (frame_log.h)
};

// Opened and closed any number of times; while it is closed, what later events will refer to is kept and events are dropped. One thread.
//
// Once the disk or the size that the file may have does not take a frame, no later one is written: what it says of events is counted, and
// how processes ended is kept for close(), which takes room for that from the last events.
class FileLog {
 public:
  // `known`: what was said before.
  FileLog(LogRules rules, FrameSink sink, Prologue known = {}) : rules_(rules), sink_(std::move(sink)), prologue_(std::move(known)) {}

  // Requires: none is open.
  void open(TraceFileWriter file, const proto::SessionStart& start);
  [[nodiscard]] bool is_open() const noexcept { return file_.has_value(); }

  // How many events these hold.
  void take(const FrameRun& run, std::uint64_t events);
  // What the file that is open is not to hold, and later ones may need.
  void keep_for_later(std::span<const std::byte> frames);
  // The recording is over: nothing more is given up until the file is closed, however long what is left to say takes. Without keep_last, it
  // makes no difference.
  void keep_rest() noexcept { gives_up_ = false; }
  // What that source said so far is not said again in later files: it begins anew. Requires: none is open.
  void forget(proto::FrameSource source) { prologue_.forget(source); }
  // What a file that is opened would say first of what came before.
  [[nodiscard]] const Prologue& known() const noexcept { return prologue_; }
  // The last frame, and the index. Returns where the file was then: one that was to replace another is beside it where it has no event and could
  // not be finished, and gone with that.
  Whereabouts close(proto::SessionEnd end);
  // Closes the file and removes it; one that it was to replace stays where there was no event yet.
  void discard();

  // No more frames are taken, or hardly any: the file has the size that it may have. Never of what keeps the last part.
  [[nodiscard]] bool is_full() const noexcept;
  // Events of the file that is or was open for which it had no room.
  [[nodiscard]] std::uint64_t unwritten() const noexcept { return unwritten_; }

  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }  // of the file that is or was open
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::optional<FileIdentity> identity() const { return file_ ? file_->identity() : std::nullopt; }
  [[nodiscard]] Whereabouts whereabouts() const { return file_ ? file_->whereabouts() : Whereabouts(); }
  [[nodiscard]] std::filesystem::path path() const { return file_ ? file_->path() : std::filesystem::path(); }

 private:
  struct Held {
    std::int64_t time;      // CLOCK_MONOTONIC ns at which it came
    std::uint32_t process;  // instance, of all of its frames
    std::vector<std::byte> frames;
    std::vector<FrameContent> contents;  // none where they are not known
    std::uint64_t events;
    std::uint64_t bytes;  // in a file, with their entries in its index

    [[nodiscard]] FrameRun run() const { return {frames, contents}; }
  };

  // Of a process that ended before what is kept.
  [[nodiscard]] bool comes_late(const FrameRun& run) const;
  void hold(const FrameRun& run, std::uint64_t events);
  // Whatever happened behind the time at which it came is still to come, or is held.
  void give_up_oldest();
  // It is known from then on what it said.
  void let_oldest_go();
  // Gives up what the file has no room for, the oldest first. Returns what is to be said before the rest.
  std::vector<std::byte> held_to_size();
  // How many parts that are held, the oldest first, the file has no room for behind these frames.
  [[nodiscard]] std::size_t too_many_behind(std::span<const std::byte> known);
  void write_held();
  bool append(const FrameRun& run, std::uint64_t events);
  void append_or_count(FrameRun run, std::uint64_t events);
  // What there is no room for.
  void set_aside(std::span<const std::byte> frames);
  bool finish(proto::SessionEnd& end);
  [[nodiscard]] std::vector<std::byte> last_words() const;
  void absorb(std::span<const std::byte> frames);
  void absorb_later();

  LogRules rules_;
  FrameSink sink_;
  std::optional<TraceFileWriter> file_;
  Prologue prologue_;
  std::deque<Held> held_;
  std::map<std::uint32_t, std::size_t> held_of_;  // how many are held of a process
  std::uint64_t held_bytes_ = 0;
  std::int64_t whole_from_ = 0;  // CLOCK_MONOTONIC ns at which the last events came that were given up; 0: none were
  std::int64_t opened_ = 0;
  std::uint32_t first_new_ = 0;    // instances from here on began after the file was opened
  std::set<std::uint32_t> begun_;  // processes before it that had not ended then
  bool gives_up_ = true;           // what is older than keep_last
  std::optional<Error> failure_;
  bool has_no_room_ = false;  // more was said than fits; no frame is taken any more
  std::uint64_t unwritten_ = 0;
  using Word = std::tuple<std::uint16_t, std::uint32_t, std::uint8_t>;  // type, process, source of a frame
  std::map<Word, std::vector<std::byte>> last_words_;                   // of frames that there was no room for, those that close() writes
  std::uint64_t last_words_bytes_ = 0;
  std::vector<std::byte> for_later_;  // frames that are known once the file is closed
  std::uint64_t events_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace lanescope::session
