// A recording that answers to lanescope start, stop, cancel, shutdown and sessions.
#pragma once

#include <atomic>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collector/session/recording.h"
#include "options/start_options.h"
#include "session/session_directory.h"

namespace lanescope::cli {

class SessionServer {
 public:
  // Answers at this socket, on a thread of its own, also those who came before. Where there is none, it says why and the recording goes on
  // without. `recording` must outlive *this. `options`: what a start has that says nothing else.
  SessionServer(session::Recording& recording, Result<SessionSocket> socket, StartOptions options);
  ~SessionServer() { close(); }
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;

  // Listens no more.
  void close();
  // What is left to be made of a file: what lanescope stop did not take upon itself. Requires: close() was called.
  [[nodiscard]] ReportOptions reports_of(const session::RecordedFile& file) const;

 private:
  nlohmann::json carry_out(const nlohmann::json& request);
  nlohmann::json start(const nlohmann::json& request);
  nlohmann::json stop();
  void serve();
  void answer(int connection);

  session::Recording& recording_;
  StartOptions options_;
  std::vector<ReportOptions> starts_;            // of each start that was carried out
  std::set<std::filesystem::path> handed_over_;  // files of which lanescope stop makes reports
  Result<SessionSocket> socket_;
  int ending_[2] = {-1, -1};  // a pipe that closes when it is over
  std::thread thread_;
};

}  // namespace lanescope::cli
