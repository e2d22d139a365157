// What another machine follows: the files of a recording, or one file, and what the recorder prints. Each is sent from the position at which its copy ends.
//
// Files are looked at again each time, by their paths: they may grow, appear, be cut, replaced and thrown away while they are followed. What was sent may
// differ from the final files. The end message therefore describes the final files, and a copy that differs is followed once more. One thread.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "collector/session/distant_reader.h"
#include "lanescope/remote.pb.h"
#include "link/link.h"
#include "there/recordings.h"
#include "there/sent_outlines.h"

namespace lanescope::remote {

struct OpenFile;

class Followed {
 public:
  // Fails with one sentence if there is no such recording or file. `recordings` must outlive *this. `number`: of the request, for its answer. `outlines`: see
  // ServeSettings.
  static Result<Followed> begin(const proto::RemoteRequest::Follow& request, std::uint32_t number, const Recordings& recordings,
                                std::function<Outlines(const std::filesystem::path&)> outlines);

  // Takes what the other side says about the readers there.
  void take(const proto::RemoteRequest::Taken& taken);
  // Takes what it says about how much of the files has come.
  void take(const proto::RemoteRequest::Received& received);

  // Sends what is there, as far as the link takes it. Returns true if more may come, false once the end was sent.
  bool send_some(Link& link);

 private:
  struct File {
    std::filesystem::path path;
    std::uint32_t number = 0;
    std::uint64_t size = 0;  // at the last look
    std::uint64_t sent = 0;
    bool is_announced = false;
  };
  using Clock = std::chrono::steady_clock;

  Followed(const proto::RemoteRequest::Follow& request, std::uint32_t number) : request_(request), number_(number) {}
  [[nodiscard]] RecordingState state() const;
  // Returns errno if the files could not be listed, else 0.
  int find_files();
  [[nodiscard]] std::uint64_t next_piece() const;  // limit of the bytes of the next message
  bool send_file(Link& link, const std::string& name, File& file);
  [[nodiscard]] std::uint64_t most_sent(proto::RemoteReply::Stream stream) const;
  [[nodiscard]] bool is_taken(std::uint64_t output, std::uint64_t messages) const;
  // `behind`: bytes in the stream before this file. Returns true if all of the file is sent.
  bool send_text(Link& link, proto::RemoteReply::Stream stream, const char* name, std::uint64_t behind, std::uint64_t& sent);
  enum class Recorder { kRuns, kHasEnded };
  bool send_texts(Link& link, Recorder recorder);
  void announce(Link& link, const std::string& name, File& file, const OpenFile& opened);
  enum class Recording { kThere, kGone };
  bool refuse(Link& link, const std::string& sentence, Recording recording = Recording::kThere);
  bool refuse_as_gone(Link& link);
  void send_standing(Link& link);
  [[nodiscard]] std::chrono::milliseconds behind() const;
  [[nodiscard]] bool has_room(const Link& link) const;  // for another piece of a file
  void send_outline(Link& link);
  bool send_end(Link& link, const RecordingState& state);
  [[nodiscard]] std::filesystem::path renamed_file() const;
  void name_missing(proto::RemoteReply::End& end) const;

  proto::RemoteRequest::Follow request_;
  std::uint32_t number_;
  const Recordings* recordings_ = nullptr;
  std::filesystem::path folder_;                         // of a recording
  std::optional<session::DistantReadingKeeper> reader_;  // tells the recorder what was taken
  session::DistantReading reading_;
  std::map<std::string, File> files_;         // by name
  std::string outlined_;                      // the name of the file whose outlines are sent; empty: not chosen yet
  std::uint64_t sent_ = 0;                    // bytes of files and texts, over this link
  std::uint64_t sent_of_files_ = 0;           // bytes of files, over this link
  Clock::time_point running_ = Clock::now();  // when the recording was last seen to run, or to have ended
  struct Size {
    Clock::time_point seen;
    std::uint64_t bytes = 0;  // of all files
  };
  std::function<Outlines(const std::filesystem::path&)> make_outlines_;
  std::unique_ptr<SentOutlines> outlines_;  // of the first file
  std::deque<Size> received_;      // how much of the files had come when it was said, the oldest first: at least as old as kRateTime, and all later ones
  std::deque<Size> unsent_sizes_;  // sizes at which something was not sent yet, the oldest first
  Clock::time_point stood_ = Clock::now();  // when the standing was last sent
};

}  // namespace lanescope::remote
