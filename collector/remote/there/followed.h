// What another machine follows: the files of a recording, or one file, and what the recorder prints, each from where its copy ends.
//
// Files are looked at anew each time, by their paths: they grow, come, are cut, replaced and thrown away while they are followed. What was
// sent may differ from what is there in the end; so the end says what is there, and a copy that differs is followed once more. One thread.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "collector/session/distant_reader.h"
#include "lanescope/remote.pb.h"
#include "link/link.h"
#include "there/recordings.h"

namespace lanescope::remote {

struct OpenFile;

class Followed {
 public:
  // Fails with one sentence where there is no such recording or file. `recordings` must outlive *this.
  // `number`: of the request, for its answer.
  static Result<Followed> begin(const proto::RemoteRequest::Follow& request, std::uint32_t number, const Recordings& recordings);

  // What the other side says of who reads there.
  void take(const proto::RemoteRequest::Taken& taken);

  // Sends what there is to send, as far as the link takes it. Returns whether more may come: not once the end was said.
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
  // Returns why they could not be listed (errno), or 0.
  int find_files();
  bool send_file(Link& link, const std::string& name, File& file);
  [[nodiscard]] std::uint64_t most_sent(proto::RemoteReply::Stream stream) const;
  [[nodiscard]] bool is_taken(std::uint64_t output, std::uint64_t messages) const;
  // `behind`: what stands before this file in its stream, in bytes. Returns whether all of it is sent.
  bool send_text(Link& link, proto::RemoteReply::Stream stream, const char* name, std::uint64_t behind, std::uint64_t& sent);
  bool send_texts(Link& link, bool is_over);
  void announce(Link& link, const std::string& name, File& file, const OpenFile& opened);
  enum class Recording { kThere, kGone };
  bool refuse(Link& link, const std::string& sentence, Recording recording = Recording::kThere);
  bool refuse_as_gone(Link& link);
  void send_standing(Link& link);
  bool send_end(Link& link, const RecordingState& state);
  [[nodiscard]] std::filesystem::path renamed_file() const;
  void name_missing(proto::RemoteReply::End& end) const;

  proto::RemoteRequest::Follow request_;
  std::uint32_t number_;
  const Recordings* recordings_ = nullptr;
  std::filesystem::path folder_;                         // of a recording
  std::optional<session::DistantReadingKeeper> reader_;  // of who says what is taken
  session::DistantReading reading_;
  std::map<std::string, File> files_;         // by name
  Clock::time_point running_ = Clock::now();  // when it was last seen to run, or to have ended
  struct Size {
    Clock::time_point seen;
    std::uint64_t bytes = 0;  // of all files
  };
  std::deque<Size> unsent_sizes_;           // at which something was there that is not sent yet; the oldest first
  Clock::time_point stood_ = Clock::now();  // when that was last said
};

}  // namespace lanescope::remote
