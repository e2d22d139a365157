// Where the frames of a recording go: the file that is open, and whoever watches.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "collector/session/recording.h"
#include "file/prologue.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"

namespace lanescope::session {

// What a frame's header says beyond its size.
struct FrameTag {
  proto::FrameType type = proto::FRAME_UNKNOWN;
  std::uint32_t process = 0;  // instance; 0: the session
  proto::FrameSource source = proto::SOURCE_SESSION;
  std::uint32_t events = 0;
};

// What a recording asks of its log.
struct LogRules {
  bool several_files = false;                         // a later file says again what an earlier one said
  std::optional<std::chrono::nanoseconds> keep_last;  // frames that are older are given up; the rest reaches the file when it is closed
  std::optional<std::uint64_t> maximum_bytes;         // of a finished file
};

// Opened and closed any number of times; while it is closed, what later events will refer to is kept and events are dropped. One thread
// writes; events(), bytes() may be read anywhere.
//
// Once the disk or the size that the file may have does not take a frame, no later one is written: what it says of events is counted, and
// how processes ended is kept for close(), which takes room for that from the last events.
class FrameLog {
 public:
  FrameLog(LogRules rules, FrameSink sink) : rules_(rules), sink_(std::move(sink)) {}

  // Requires: none is open.
  void open(TraceFileWriter file, const proto::SessionStart& start);
  [[nodiscard]] bool is_open() const noexcept { return file_.has_value(); }

  void write(const FrameTag& tag, const google::protobuf::MessageLite& message);
  // Whole frames that were made elsewhere, and how many events they hold.
  void pass_on(std::span<const std::byte> frames, std::uint64_t events);
  // The recording is over: nothing more is given up until the file is closed, however long what is left to say takes. Without keep_last, it
  // makes no difference.
  void keep_rest() noexcept { gives_up_ = false; }
  // What that source said so far is not said again in later files: it begins anew. Requires: none is open.
  void forget(proto::FrameSource source) { prologue_.forget(source); }
  // The last frame, and the index. Returns whether the file is there: one that was to replace another is not where it has no event and could
  // not be finished.
  bool close(proto::SessionEnd end);
  // Closes the file and removes it; one that it was to replace stays where there was no event yet.
  void discard();

  // No more frames are taken, or hardly any: the file has the size that it may have.
  [[nodiscard]] bool is_full() const noexcept;
  // Events of the file that is or was open for which it had no room.
  [[nodiscard]] std::uint64_t unwritten() const noexcept { return unwritten_; }

  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }  // of the file that is or was open
  [[nodiscard]] bool is_watched() const noexcept { return static_cast<bool>(sink_); }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::filesystem::path path() const { return file_ ? file_->path() : std::filesystem::path(); }

 private:
  struct Held {
    std::int64_t time;  // CLOCK_MONOTONIC ns at which it came
    std::vector<std::byte> frames;
    std::uint64_t events;
  };

  void take(std::span<const std::byte> frames, std::uint64_t events);
  void hold(std::span<const std::byte> frames, std::uint64_t events);
  void write_held();
  bool append(std::span<const std::byte> frames, std::uint64_t events);
  void append_or_count(std::span<const std::byte> frames, std::uint64_t events);
  // What there is no room for.
  void set_aside(std::span<const std::byte> frames);
  bool finish(proto::SessionEnd& end);
  [[nodiscard]] std::vector<std::byte> last_words() const;
  void absorb(std::span<const std::byte> frames);
  void seal(const FrameTag& tag, const google::protobuf::MessageLite& message);  // into buffer_

  LogRules rules_;
  FrameSink sink_;
  std::optional<TraceFileWriter> file_;
  Prologue prologue_;
  std::deque<Held> held_;
  std::uint64_t held_bytes_ = 0;
  std::int64_t opened_ = 0;
  bool gives_up_ = true;  // what is older than keep_last
  std::optional<Error> failure_;
  bool has_no_room_ = false;  // more was said than fits; no frame is taken any more
  std::uint64_t unwritten_ = 0;
  using Word = std::tuple<std::uint16_t, std::uint32_t, std::uint8_t>;  // type, process, source of a frame
  std::map<Word, std::vector<std::byte>> last_words_;                    // of frames that there was no room for, those that close() writes
  std::uint64_t last_words_bytes_ = 0;
  std::vector<std::byte> buffer_;
  std::string payload_;
  std::atomic<std::uint64_t> events_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace lanescope::session
