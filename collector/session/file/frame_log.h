// Where the frames of a recording go: its file, or a file for each rank, and the watcher.
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
struct CreatedFile {
  TraceFileWriter file;
  std::string note;  // one sentence if it has another name than was asked for; else empty
};
// Makes the file of the processes that have these variables. Fails with one sentence.
using ShareFiles = std::function<Result<CreatedFile>(const Variables& share)>;

// A file that was closed.
struct ClosedFile {
  std::filesystem::path path;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unwritten = 0;
  Whereabouts whereabouts = {};  // before it was closed
  std::optional<Error> failure;
  std::optional<FileIdentity> identity;
  KeptPart kept_part = KeptPart::kAll;
  std::string kept = {};               // one sentence about which part was kept; empty if all of it was
  std::filesystem::path earlier = {};  // of a file that it has replaced and that was kept; empty if none was
};

// A recording has one file. If its name depends on variables that the recorded program sets for its children (-o rank%q{RANK} around a launcher), processes
// that have these variables belong to shares of the recording. Each share has a file of its own, which also repeats what is said about the whole machine. The
// recording's own file has the launcher, what the programs print, and processes without these variables.
//
// The rules of file_log.h apply to all of its files. One thread.
class FrameLog {
 public:
  FrameLog(LogRules rules, FrameSink sink) : rules_(rules), sink_(std::move(sink)), main_(rules, sink_) {}

  // Sets who gets a sentence if a share can't have its file, or one of another name. Without a file, its frames go to the recording's file.
  void tell(std::function<void(const std::string&)> told) { told_ = std::move(told); }

  // Requires: no file is open. `files`: makes files of shares.
  void open(TraceFileWriter file, const proto::SessionStart& start, ShareFiles files = {});
  [[nodiscard]] bool is_open() const noexcept { return main_.is_open(); }

  // Sets the share of a process, before anything is said about it; none if `share` is empty.
  void assign(std::uint32_t process, const Variables& share);
  [[nodiscard]] bool has_shares() const noexcept { return !shares_.empty(); }

  void write(const FrameTag& tag, const google::protobuf::MessageLite& message);
  // Appends whole frames of one process that were made elsewhere. `events`: number of events in them.
  void pass_on(std::span<const std::byte> frames, std::uint64_t events);

  void goes_on(std::int64_t time);
  // The open files cover the time until now: processes that start later belong only to later files.
  void begin_nothing_more() noexcept;
  // The open files also no longer say how processes end: for processes that live, it was said that they live on. Requires: begin_nothing_more() was called.
  void end_nothing_more() noexcept { part_ = Part::kTold; }
  void forget(proto::FrameSource source);
  // Closes all files. The recording's own file is first in the result; the others are in the order of their names.
  std::vector<ClosedFile> close(const proto::SessionEnd& end);
  // Removes all files. Returns where files are that they had replaced and that can't be put back, because others have put a file there.
  std::vector<std::filesystem::path> discard();

  [[nodiscard]] std::optional<std::uint64_t> maximum_bytes() const noexcept { return rules_.maximum_bytes; }  // of each file
  [[nodiscard]] bool is_full() const noexcept;                                                                // true if any file is full
  [[nodiscard]] std::uint64_t unwritten() const noexcept;
  [[nodiscard]] std::optional<Error> failure() const;  // the first one
  [[nodiscard]] bool is_watched() const noexcept { return static_cast<bool>(sink_); }
  [[nodiscard]] std::uint64_t events() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::filesystem::path path() const { return main_.path(); }                // of the recording's own file
  [[nodiscard]] std::optional<FileIdentity> identity() const { return main_.identity(); }  // of the recording's own file
  [[nodiscard]] Whereabouts whereabouts() const { return main_.whereabouts(); }            // of the recording's own file

 private:
  enum class Part { kGoesOn, kOver, kTold };  // what the open files contain
  [[nodiscard]] bool is_for_later(const FrameHeader& header) const noexcept;
  void take(FrameHeader header, const FrameRun& run, std::uint64_t events);
  // The file of a process's share, which is opened if necessary; the recording's own file for all other processes.
  FileLog& file_of(std::uint32_t process);
  void open_share(const Variables& share, FileLog& file);

  LogRules rules_;
  FrameSink sink_;
  std::function<void(const std::string&)> told_;
  FileLog main_;
  Prologue common_;  // what is said about the whole machine, also for later shares
  std::map<Variables, FileLog> shares_;
  std::map<std::uint32_t, Variables> share_of_;  // by process; processes in the recording's own file have no entry
  proto::SessionStart start_;                    // of the files that are open
  ShareFiles files_;
  Part part_ = Part::kGoesOn;
  std::uint32_t newest_ = 0;          // highest instance of processes that have started
  std::uint32_t newest_of_part_ = 0;  // newest_ at the time when this part was over
  std::vector<std::byte> buffer_;
  std::string payload_;
};

}  // namespace lanescope::session
