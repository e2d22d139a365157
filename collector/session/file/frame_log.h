// Where the frames of a recording go: its file, or a file for each rank, and whoever watches.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "file/file_log.h"

namespace lanescope::session {

// What a frame's header says beyond its size.
struct FrameTag {
  proto::FrameType type = proto::FRAME_UNKNOWN;
  std::uint32_t process = 0;  // instance; 0: the session
  proto::FrameSource source = proto::SOURCE_SESSION;
  std::uint32_t events = 0;
};

// Variables of a process's environment, by name.
using Variables = std::map<std::string, std::string>;
// Makes the file of the processes that have these. Fails with one sentence.
using ShareFiles = std::function<Result<TraceFileWriter>(const Variables& share)>;

// A file that was closed.
struct ClosedFile {
  std::filesystem::path path;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unwritten = 0;
  Whereabouts whereabouts = {};  // before it was closed
  std::optional<Error> failure;
  std::optional<FileIdentity> identity;
};

// A recording has one file. Where its name depends on variables that the recorded program sets for its children (-o rank%q{RANK} around a
// launcher), processes that have them are in shares of the recording, each with a file of its own, which also says what is said of the
// whole machine; the file of the recording has the launcher, what the programs print, and processes without those variables.
//
// As file_log.h says, for all of its files. One thread.
class FrameLog {
 public:
  FrameLog(LogRules rules, FrameSink sink) : rules_(rules), sink_(std::move(sink)), main_(rules, sink_) {}

  // Who gets a sentence where a share can't have its file; what belongs there stays with the recording's.
  void tell(std::function<void(const std::string&)> told) { told_ = std::move(told); }

  // Requires: none is open. `files`: of shares.
  void open(TraceFileWriter file, const proto::SessionStart& start, ShareFiles files = {});
  [[nodiscard]] bool is_open() const noexcept { return main_.is_open(); }

  // Which share a process belongs to, before anything is said of it; none where `share` is empty.
  void assign(std::uint32_t process, const Variables& share);
  [[nodiscard]] bool has_shares() const noexcept { return !shares_.empty(); }

  void write(const FrameTag& tag, const google::protobuf::MessageLite& message);
  // Whole frames of one process that were made elsewhere, and how many events they hold.
  void pass_on(std::span<const std::byte> frames, std::uint64_t events);

  void keep_rest() noexcept;
  // The files that are open hold what was until now: processes that begin later are for later files alone.
  void begin_nothing_more() noexcept;
  // Nor do they hold how processes end from now on: of those that live it was said that they live on. Requires: begin_nothing_more() was called.
  void end_nothing_more() noexcept { part_ = Part::kTold; }
  void forget(proto::FrameSource source);
  // In the order of their names; the recording's own file first.
  std::vector<ClosedFile> close(const proto::SessionEnd& end);
  void discard();

  [[nodiscard]] bool is_full() const noexcept;  // any
  [[nodiscard]] std::uint64_t unwritten() const noexcept;
  [[nodiscard]] std::optional<Error> failure() const;  // the first
  [[nodiscard]] bool is_watched() const noexcept { return static_cast<bool>(sink_); }
  [[nodiscard]] std::uint64_t events() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::filesystem::path path() const { return main_.path(); }      // of the recording's own file
  [[nodiscard]] Whereabouts whereabouts() const { return main_.whereabouts(); }  // likewise

 private:
  enum class Part { kGoesOn, kOver, kTold };  // what the files that are open hold
  [[nodiscard]] bool is_for_later(const FrameHeader& header) const noexcept;
  void take(FrameHeader header, const FrameRun& run, std::uint64_t events);
  // The file of a process's share, opened where that is due; the recording's own for all others.
  FileLog& file_of(std::uint32_t process);
  void open_share(const Variables& share, FileLog& file);

  LogRules rules_;
  FrameSink sink_;
  std::function<void(const std::string&)> told_;
  FileLog main_;
  Prologue common_;  // what is said of the whole machine: of shares that come later, too
  std::map<Variables, FileLog> shares_;
  std::map<std::uint32_t, Variables> share_of_;  // by process; those that the recording's own file has are not there
  proto::SessionStart start_;                    // of the files that are open
  ShareFiles files_;
  Part part_ = Part::kGoesOn;
  std::uint32_t newest_ = 0;          // instance, of processes that have begun
  std::uint32_t newest_of_part_ = 0;  // likewise, once it is over
  std::vector<std::byte> buffer_;
  std::string payload_;
};

}  // namespace lanescope::session
