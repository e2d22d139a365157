// A recording that answers to lanescope start, stop, cancel, shutdown and sessions.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collector/channel/file_descriptor.h"
#include "collector/session/recording.h"
#include "options/start_options.h"
#include "session/session_directory.h"

namespace lanescope::cli {

class SessionServer {
 public:
  // Answers at this socket, on two threads of its own, including requests that came earlier. Requests that take no time are answered at once; starts and ends
  // of captures are done one after the other. If there is no socket, it says why, and the recording continues without one. `recording` must outlive *this.
  // `options`: the defaults of a start.
  SessionServer(session::Recording& recording, Result<SessionSocket> socket, StartOptions options);
  ~SessionServer() { close(); }
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;

  // Stops listening.
  void close();
  // True if something is to be made of a file, by the command line or by a start. Requires: close() was called.
  [[nodiscard]] bool has_reports() const;
  // What is still to be made of a file, because no lanescope stop has made it. Waits for a lanescope stop that is making it, and says so on standard error.
  // Requires: close() was called.
  [[nodiscard]] ReportOptions reports_of(const session::RecordedFile& file);

 private:
  using Connection = channel::FileDescriptor;
  // A file of which a lanescope stop makes reports. Its connection says what was made.
  struct Handed {
    std::filesystem::path file;
    std::optional<FileIdentity> identity;
    ReportOptions left;
    Connection connection;  // not valid: the lanescope stop has ended
  };
  struct Order {
    nlohmann::json request;
    Connection connection;
  };

  [[nodiscard]] nlohmann::json answer_at_once(const nlohmann::json& request);
  [[nodiscard]] nlohmann::json carry_out(const nlohmann::json& request);
  nlohmann::json start(const nlohmann::json& request);
  nlohmann::json stop();
  void serve();
  void serve_orders();
  void take_request(Connection connection);
  // Reads what a lanescope stop says about the reports that it makes.
  static void hear(Handed& handed);
  void wake();  // wakes serve()

  session::Recording& recording_;
  StartOptions options_;
  Result<SessionSocket> socket_;
  channel::FileDescriptor wake_;
  std::mutex mutex_;
  std::condition_variable ordered_;
  std::deque<Order> orders_;           // this and the members below are guarded by it, until close() has returned
  std::vector<ReportOptions> starts_;  // of each start that was carried out
  std::deque<Handed> handed_;
  bool is_over_ = false;
  std::thread thread_, order_thread_;
};

}  // namespace lanescope::cli
