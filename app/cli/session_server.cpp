#include "session_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "session_directory.h"

namespace lanescope::cli {
namespace {

using session::Recording;
using session::RecordingState;

constexpr std::size_t kLargestRequest = 64u << 10;

const char* state_name(RecordingState state) {
  switch (state) {
    case RecordingState::kDelayed:
      return "Delayed";
    case RecordingState::kWaiting:
      return "Waiting";
    case RecordingState::kRecording:
      return "Collection";
    case RecordingState::kStopping:
      return "Stopping";
    case RecordingState::kEnded:
      return "Ended";
  }
  return "";
}

nlohmann::json answer_with(const Result<std::filesystem::path>& file) {
  if (!file) return {{"error", file.error().text}};
  return {{"file", file->string()}};
}

nlohmann::json describe(const Recording& recording) {
  const session::RecordingStatistics statistics = recording.statistics();
  return {{"pid", getpid()},
          {"target", recording.target_pid()},
          {"state", state_name(recording.state())},
          {"seconds", std::chrono::duration<double>(statistics.elapsed).count()},
          {"file", recording.path().string()},
          {"events", statistics.events}};
}

nlohmann::json carry_out(Recording& recording, const nlohmann::json& request) try {
  const std::string command = request.value("command", "");
  if (command == "describe") return describe(recording);
  if (command == "start") {
    session::CaptureRequest capture;
    capture.output = request.value("output", "");
    if (request.value("overwrite", false)) capture.overwrite = Overwrite::kAllow;
    return answer_with(recording.start_capture(std::move(capture)));
  }
  if (command == "stop") return answer_with(recording.end_capture());
  if (command == "cancel") return answer_with(recording.cancel_capture());
  if (command == "shutdown") {
    const int signal = request.value("signal", recording.was_attached_to() ? 0 : SIGTERM);
    recording.shut_down(signal != 0 ? std::optional<int>(signal) : std::nullopt);
    return nlohmann::json::object();
  }
  return {{"error", "The session does not know \"" + command + "\"."}};
} catch (const nlohmann::json::exception&) {
  return {{"error", "The session did not understand the request."}};
}

}  // namespace

SessionServer::SessionServer(Recording& recording, const std::string& name) : recording_(recording) {
  if (const Result<void> listens = listen_as(name); !listens) {
    std::cerr << "lanescope: " << listens.error().text << '\n';
    return;
  }
  thread_ = std::thread([this] { serve(); });
}

Result<void> SessionServer::listen_as(const std::string& name) {
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return folder.error();
  session_names();  // clears away what killed sessions of this name left
  const std::filesystem::path path = *folder / (name + ".session");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.find('/') != std::string::npos || path.native().size() >= sizeof(address.sun_path))
    return Error{"A session can't be named \"" + name + "\": it is too long or has a slash. This one can't be asked from elsewhere."};
  std::strcpy(address.sun_path, path.c_str());
  listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 || listen(listener_, 16) != 0 ||
      pipe2(ending_, O_CLOEXEC) != 0) {
    close(std::exchange(listener_, -1));
    return Error{"There is another session " + name + "; this one can't be asked from elsewhere."};
  }
  path_ = path;
  return {};
}

SessionServer::~SessionServer() {
  if (!thread_.joinable()) return;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  close(ending_[1]);
  thread_.join();
  close(ending_[0]);
  close(listener_);
}

void SessionServer::serve() {
  for (;;) {
    pollfd sources[2] = {{listener_, POLLIN, 0}, {ending_[0], POLLIN, 0}};
    if (poll(sources, 2, -1) < 0 && errno != EINTR) return;
    if (sources[1].revents != 0) return;
    const int connection = sources[0].revents != 0 ? accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC) : -1;
    if (connection < 0) continue;
    answer(connection);
    close(connection);
  }
}

void SessionServer::answer(int connection) {
  constexpr timeval kPatience{.tv_sec = 2, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  std::string text(kLargestRequest, '\0');
  const ssize_t size = recv(connection, text.data(), text.size(), 0);
  if (size <= 0) return;  // somebody who only looks whether we are there
  const nlohmann::json request = nlohmann::json::parse(text.substr(0, static_cast<std::size_t>(size)), nullptr, false);
  const nlohmann::json answer =
      request.is_object() ? carry_out(recording_, request) : nlohmann::json{{"error", "The session did not understand the request."}};
  const std::string reply = answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  send(connection, reply.data(), reply.size(), MSG_NOSIGNAL);
}

}  // namespace lanescope::cli
