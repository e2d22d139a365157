#include "session/session_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "session/message_values.h"

namespace lanescope::cli {
namespace {

using session::Recording;
using session::RecordingState;

constexpr std::size_t kLargestRequest = 64u << 10;
constexpr std::size_t kMostSilent = 64;  // connections without a request yet; beyond this number the oldest is closed
constexpr int kUntilDescriptors = 100;   // ms, until a descriptor is looked for again if there was none

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

bool is_order(const nlohmann::json& request) {
  const std::string command = request.value("command", "");
  return command == "start" || command == "stop" || command == "cancel";
}

// Answers with a sentence if the request has values of wrong types.
template <typename Answer>
nlohmann::json understood(Answer answer) try {
  return answer();
} catch (const nlohmann::json::exception&) {
  return {{"error", "The session did not understand the request."}};
}

// Returns null if the other side has closed, or what it says makes no sense. Waits, unless flags say otherwise (recv()).
nlohmann::json received(int connection, int flags = 0) {
  std::string text(kLargestRequest, '\0');
  const ssize_t size = recv(connection, text.data(), text.size(), flags);
  return size <= 0 ? nlohmann::json() : nlohmann::json::parse(text.substr(0, static_cast<std::size_t>(size)), nullptr, false);
}

void reply(int connection, const nlohmann::json& answer) {
  const std::string text = answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace

nlohmann::json SessionServer::answer_at_once(const nlohmann::json& request) {
  const std::string command = request.value("command", "");
  if (command == "describe") return describe(recording_);
  if (command == "shutdown") {
    const Result<int> signal = request.contains("signal") ? signal_in(request, "signal") : Result<int>(recording_.was_attached_to() ? 0 : SIGTERM);
    if (!signal) return {{"error", signal.error().text}};
    recording_.shut_down(*signal != 0 ? std::optional<int>(*signal) : std::nullopt);
    return nlohmann::json::object();
  }
  return {{"error", "The session does not know \"" + command + "\"."}};
}

nlohmann::json SessionServer::carry_out(const nlohmann::json& request) {
  const std::string command = request.value("command", "");
  if (command == "start") return start(request);
  return command == "stop" ? stop() : answer_with(recording_.cancel_capture());
}

nlohmann::json SessionServer::start(const nlohmann::json& request) {
  StartOptions options = options_;
  Result<session::CaptureRequest> capture = read_start(request, options);
  if (!capture) return {{"error", capture.error().text}};
  const Result<std::filesystem::path> file = recording_.start_capture(std::move(*capture));
  const std::lock_guard lock(mutex_);
  if (file) starts_.push_back(options.reports);
  return answer_with(file);
}

nlohmann::json SessionServer::stop() {
  nlohmann::json answer = answer_with(recording_.end_capture());
  const std::string file = answer.value("file", "");
  const std::lock_guard lock(mutex_);
  if (file.empty() || starts_.empty() || !any(starts_.back())) return answer;
  const ReportOptions& wanted = starts_.back();
  std::optional<FileIdentity> identity;
  for (const session::RecordedFile& each : recording_.outcome().files)
    if (each.path == file) identity = each.identity;
  answer["exports"] = wanted.exports;
  answer["statistics"] = wanted.print_statistics;
  if (identity) answer["identity"] = {identity->device, identity->number, identity->made};
  answer["overwrite"] = wanted.overwrite == Overwrite::kAllow;
  handed_.push_back({file, identity, wanted, {}});
  return answer;
}

bool SessionServer::has_reports() const { return any(options_.reports) || std::any_of(starts_.begin(), starts_.end(), any); }

ReportOptions SessionServer::reports_of(const session::RecordedFile& file) {
  for (Handed& handed : handed_) {
    if (handed.file != file.path || handed.identity != file.identity) continue;
    if (handed.connection.valid())
      std::cerr << "lanescope: What was asked to be made of " << file.path.string() << " is made by lanescope stop. Waiting for that.\n";
    while (handed.connection.valid()) hear(handed);
    return handed.left;
  }
  const bool has_own = file.start > 0 && file.start <= starts_.size() && any(starts_[file.start - 1]);
  return has_own ? starts_[file.start - 1] : options_.reports;
}

SessionServer::SessionServer(Recording& recording, Result<SessionSocket> socket, StartOptions options)
    : recording_(recording), options_(std::move(options)), socket_(std::move(socket)), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (!socket_) {
    std::cerr << "lanescope: " << socket_.error().text << " This recording can't be asked from elsewhere.\n";
    return;
  }
  try {
    if (!wake_.valid()) throw std::system_error(errno, std::generic_category());
    order_thread_ = std::thread([this] { serve_orders(); });
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) {
    std::cerr << "lanescope: There is no thread or no descriptor left for requests: this recording can't be asked from elsewhere.\n";
    close();
    socket_ = SessionSocket();
  }
}

void SessionServer::close() {
  if (socket_) socket_->remove_place();
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ordered_.notify_all();
  wake();
  if (thread_.joinable()) thread_.join();
  if (order_thread_.joinable()) order_thread_.join();
  if (!socket_) return;
  const SessionSocket ended = std::move(*socket_);
}

void SessionServer::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(!write(wake_.get(), &one, sizeof(one)));
}

void SessionServer::serve() {
  std::vector<Connection> come;  // connections without a request yet, the oldest first
  bool has_descriptors = true;   // for the next connection
  for (;;) {
    const int listener = has_descriptors ? socket_->listener() : -1;  // otherwise poll() would report it all the time
    std::vector<pollfd> sources{{listener, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    for (const Connection& connection : come) sources.push_back({connection.get(), POLLIN, 0});
    std::vector<Handed*> heard;
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
      for (Handed& handed : handed_)
        if (handed.connection.valid()) heard.push_back(&handed);  // a deque does not move its elements
    }
    for (const Handed* handed : heard) sources.push_back({handed->connection.get(), POLLIN, 0});
    if (poll(sources.data(), sources.size(), std::exchange(has_descriptors, true) ? -1 : kUntilDescriptors) < 0) continue;
    std::uint64_t count = 0;
    if (sources[1].revents != 0) static_cast<void>(!read(wake_.get(), &count, sizeof(count)));
    for (std::size_t i = 0; i < heard.size(); ++i)
      if (sources[2 + come.size() + i].revents != 0) hear(*heard[i]);
    for (std::size_t i = 0; i < come.size(); ++i)
      if (sources[2 + i].revents != 0) take_request(std::move(come[i]));
    std::erase_if(come, [](const Connection& connection) { return !connection.valid(); });
    if (sources[0].revents == 0) continue;
    Connection connection(accept4(socket_->listener(), nullptr, nullptr, SOCK_CLOEXEC));
    has_descriptors = connection.valid();
    if (connection.valid()) come.push_back(std::move(connection));
    if (come.size() > kMostSilent) come.erase(come.begin());
  }
}

void SessionServer::take_request(Connection connection) {
  nlohmann::json request = received(connection.get(), MSG_DONTWAIT);
  if (request.is_null()) return;  // somebody who only checks whether we exist
  if (!request.is_object()) return reply(connection.get(), {{"error", "The session did not understand the request."}});
  bool waits = false;
  const nlohmann::json answer = understood([&] { return (waits = is_order(request)) ? nlohmann::json() : answer_at_once(request); });
  if (!waits) return reply(connection.get(), answer);
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back({std::move(request), std::move(connection)});
  }
  ordered_.notify_all();
}

void SessionServer::serve_orders() {
  for (std::unique_lock lock(mutex_);;) {
    ordered_.wait(lock, [this] { return is_over_ || !orders_.empty(); });
    if (orders_.empty()) return;
    Order order = std::move(orders_.front());
    orders_.pop_front();
    const std::size_t handed_before = handed_.size();
    lock.unlock();
    const nlohmann::json answer = understood([&] { return carry_out(order.request); });
    reply(order.connection.get(), answer);
    lock.lock();
    if (handed_.size() == handed_before) continue;
    handed_.back().connection = std::move(order.connection);
    wake();
  }
}

void SessionServer::hear(Handed& handed) {
  const nlohmann::json word = received(handed.connection.get());
  const std::string made = word.is_object() && word.contains("made") && word["made"].is_string() ? word["made"].get<std::string>() : std::string();
  if (made.empty()) return handed.connection.reset();
  if (made == kStatisticsMade) handed.left.print_statistics = false;
  std::erase(handed.left.exports, made);
}

}  // namespace lanescope::cli
