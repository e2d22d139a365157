#include "session/session_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

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

bool any(const ReportOptions& reports) { return reports.print_statistics || !reports.exports.empty(); }

}  // namespace

nlohmann::json SessionServer::carry_out(const nlohmann::json& request) try {
  const std::string command = request.value("command", "");
  if (command == "describe") return describe(recording_);
  if (command == "start") return start(request);
  if (command == "stop") return stop();
  if (command == "cancel") return answer_with(recording_.cancel_capture());
  if (command == "shutdown") {
    const int signal = request.value("signal", recording_.was_attached_to() ? 0 : SIGTERM);
    recording_.shut_down(signal != 0 ? std::optional<int>(signal) : std::nullopt);
    return nlohmann::json::object();
  }
  return {{"error", "The session does not know \"" + command + "\"."}};
} catch (const nlohmann::json::exception&) {
  return {{"error", "The session did not understand the request."}};
}

nlohmann::json SessionServer::start(const nlohmann::json& request) {
  StartOptions options = options_;
  Result<session::CaptureRequest> capture = read_start(request, options);
  if (!capture) return {{"error", capture.error().text}};
  const Result<std::filesystem::path> file = recording_.start_capture(std::move(*capture));
  if (file) starts_.push_back(options.reports);
  return answer_with(file);
}

nlohmann::json SessionServer::stop() {
  nlohmann::json answer = answer_with(recording_.end_capture());
  const std::string file = answer.value("file", "");
  if (file.empty() || starts_.empty() || !any(starts_.back())) return answer;
  handed_over_.insert(file);
  answer["exports"] = starts_.back().exports;
  answer["statistics"] = starts_.back().print_statistics;
  for (const session::RecordedFile& each : recording_.outcome().files)
    if (each.path == file && each.identity) answer["identity"] = {each.identity->device, each.identity->number, each.identity->made};
  answer["overwrite"] = starts_.back().overwrite == Overwrite::kAllow;
  return answer;
}

ReportOptions SessionServer::reports_of(const session::RecordedFile& file) const {
  if (handed_over_.contains(file.path)) return {};
  const bool has_own = file.start > 0 && file.start <= starts_.size() && any(starts_[file.start - 1]);
  return has_own ? starts_[file.start - 1] : options_.reports;
}

SessionServer::SessionServer(Recording& recording, Result<SessionSocket> socket, StartOptions options)
    : recording_(recording), options_(std::move(options)), socket_(std::move(socket)) {
  if (!socket_) {
    std::cerr << "lanescope: " << socket_.error().text << " This recording can't be asked from elsewhere.\n";
    return;
  }
  try {
    if (pipe2(ending_, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) {
    std::cerr << "lanescope: There is no thread or no descriptor left for requests: this recording can't be asked from elsewhere.\n";
    socket_ = SessionSocket();
  }
}

void SessionServer::close() {
  if (!thread_.joinable()) return;
  socket_->remove_place();
  ::close(ending_[1]);
  thread_.join();
  ::close(ending_[0]);
  const SessionSocket ended = std::move(*socket_);  // who came last is not answered any more
}

void SessionServer::serve() {
  for (;;) {
    pollfd sources[2] = {{socket_->listener(), POLLIN, 0}, {ending_[0], POLLIN, 0}};
    if (poll(sources, 2, -1) < 0 && errno != EINTR) return;
    if (sources[1].revents != 0) return;
    const int connection = sources[0].revents != 0 ? accept4(socket_->listener(), nullptr, nullptr, SOCK_CLOEXEC) : -1;
    if (connection < 0) continue;
    answer(connection);
    ::close(connection);
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
      request.is_object() ? carry_out(request) : nlohmann::json{{"error", "The session did not understand the request."}};
  const std::string reply = answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  send(connection, reply.data(), reply.size(), MSG_NOSIGNAL);
}

}  // namespace lanescope::cli
