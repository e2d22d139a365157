// A recording that answers to lanescope start, stop, cancel, shutdown and sessions.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "collector/session/recording.h"

namespace lanescope::cli {

class SessionServer {
 public:
  // Listens under this name, on a thread of its own. Without a folder for sessions, or where the name is taken, it says so and the
  // recording goes on without. `recording` must outlive *this.
  SessionServer(session::Recording& recording, const std::string& name);
  ~SessionServer();
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;

 private:
  Result<void> listen_as(const std::string& name);
  void serve();
  void answer(int connection);

  session::Recording& recording_;
  std::filesystem::path path_;
  int listener_ = -1;
  int ending_[2] = {-1, -1};  // a pipe that closes when it is over
  std::thread thread_;
};

}  // namespace lanescope::cli
