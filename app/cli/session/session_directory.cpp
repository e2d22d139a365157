#include "session/session_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "session/stopped_program.h"

namespace lanescope::cli {
namespace {

constexpr std::string_view kExtension = ".session";
constexpr std::string_view kStartExtension = ".start";
constexpr std::size_t kLargestAnswer = 64u << 10;
constexpr std::chrono::seconds kHolding{5};          // how long others wait to start their sessions: each takes microseconds
constexpr int kMostWaitingConnections = 1024;        // connections that wait to be accepted: each look at a stopped recorder leaves two
constexpr std::chrono::seconds kUnseenPatience{30};  // for a recorder if it is not known whether it was stopped
constexpr std::chrono::seconds kUntilTold{2};        // then it is said what is waited for
constexpr std::chrono::milliseconds kLettingIn{10};  // for a session to accept, if we only need to know whether it exists

// Waits for `limit`, or for ever if that is 0; each answer is then waited for as long. Returns -1 if nobody answers. errno is EAGAIN if nobody did in that
// time, because a stopped recorder accepts nobody.
int connect_to(const std::filesystem::path& path, std::chrono::milliseconds limit) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path)) return -1;
  std::strcpy(address.sun_path, path.c_str());
  const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const timeval most{limit.count() / 1'000, limit.count() % 1'000 * 1'000};
  for (const int option : {SO_SNDTIMEO, SO_RCVTIMEO}) setsockopt(connection, SOL_SOCKET, option, &most, sizeof(most));
  if (connection >= 0 && connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return connection;
  const int problem = errno;
  if (connection >= 0) close(connection);
  errno = problem;
  return -1;
}

// Locks the folder. This is done by whoever starts a session, or removes what an old one left, because a socket that is bound and does not listen yet looks
// like one that a killed session left.
channel::FileDescriptor hold(const std::filesystem::path& folder, std::chrono::milliseconds patience) {
  channel::FileDescriptor held(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (held.valid() && flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return held;  // a file system without locks
    if (std::chrono::steady_clock::now() >= give_up) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return held;
}

// Requires: the folder is held.
void remove_if_left(const std::filesystem::path& socket) {
  const int connection = connect_to(socket, kLettingIn);
  std::error_code ignored;
  if (connection >= 0)
    close(connection);
  else if (errno == ECONNREFUSED)
    std::filesystem::remove(socket, ignored);
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// True if the descriptor is still that of the file at the path, and no other file has taken its place.
bool is_file_at(int descriptor, const std::filesystem::path& path) {
  struct stat file {
  }, there{};
  return fstat(descriptor, &file) == 0 && stat(path.c_str(), &there) == 0 && file.st_dev == there.st_dev && file.st_ino == there.st_ino;
}

// Uses locks of open files, so that asking does not take the lock.
bool is_locked(const std::filesystem::path& path) {
  const channel::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  return file.valid() && fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// Not valid if there is no such file, or another process has locked it.
channel::FileDescriptor locked_file(const std::filesystem::path& path) {
  while (true) {
    channel::FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    if (!file.valid() || fcntl(file.get(), F_OFD_SETLK, &lock) != 0) return {};
    if (is_file_at(file.get(), path)) return file;
  }
}

// Others may not change it either: they could put a folder of theirs in place of the one in it.
bool is_folder_of_ours(const char* path) {
  constexpr std::size_t kLongestFolder = 56;
  struct stat status {};
  return path != nullptr && std::strlen(path) <= kLongestFolder && stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

Result<std::filesystem::path> session_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::filesystem::path folder =
      is_folder_of_ours(runtime) ? std::filesystem::path(runtime) / "lanescope" : std::filesystem::path("/tmp/lanescope-" + std::to_string(getuid()));
  mkdir(folder.c_str(), 0700);
  struct stat status {};
  const bool is_ours = lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid() && (status.st_mode & 077) == 0;
  if (is_ours) return folder;
  return Error{"The folder of sessions " + folder.string() + " is not there or not yours alone. Set XDG_RUNTIME_DIR to one that is."};
}

Result<channel::FileDescriptor> hold_sessions() {
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return folder.error();
  channel::FileDescriptor held = hold(*folder, kHolding);
  if (!held.valid()) return Error{"Another lanescope holds the folder of sessions " + folder->string() + "."};
  return held;
}

void SessionSocket::remove_place() {
  std::error_code ignored;
  if (listener_.valid() && !path_.empty()) std::filesystem::remove(std::exchange(path_, {}), ignored);
}

std::vector<std::string> session_names() {
  std::vector<std::string> names;
  std::vector<std::filesystem::path> silent;
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return names;
  std::error_code failed;
  std::filesystem::directory_iterator entry(*folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    if (entry->path().extension() != kExtension) continue;
    const int connection = connect_to(entry->path(), kLettingIn);
    if (connection >= 0 || errno == EAGAIN) {
      names.push_back(entry->path().stem().string());
      if (connection >= 0) close(connection);
    } else if (errno == ECONNREFUSED) {
      silent.push_back(entry->path());
    }
  }
  std::sort(names.begin(), names.end());
  if (silent.empty()) return names;
  if (const channel::FileDescriptor held = hold(*folder, std::chrono::milliseconds(0)); held.valid())
    for (const std::filesystem::path& socket : silent) remove_if_left(socket);
  return names;
}

Result<SessionSocket> open_session(const std::string& name) {
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return folder.error();
  const std::filesystem::path path = *folder / (name + std::string(kExtension));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.find('/') != std::string::npos || path.native().size() >= sizeof(address.sun_path))
    return Error{"A session can't be named \"" + name + "\": it is too long or has a slash."};
  std::strcpy(address.sun_path, path.c_str());
  remove_if_left(path);
  channel::FileDescriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 && listen(listener.get(), kMostWaitingConnections) == 0)
    return SessionSocket(path, std::move(listener));
  if (errno == EADDRINUSE) return Error{"There is a session " + name + " already. Give this one another name with --session-new.", ErrorKind::kUsage};
  return Error{"The session can't listen at " + path.string() + ": " + std::strerror(errno) + "."};
}

Result<SessionSocket> hold_and_open_session(const std::string& name) {
  const Result<channel::FileDescriptor> held = hold_sessions();
  return held ? open_session(name) : held.error();
}

Result<void> leave_start(const std::string& name, const nlohmann::json& request) {
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return folder.error();
  // Replaced in one step, because a launch may hold the file that is replaced.
  const std::filesystem::path path = *folder / (name + std::string(kStartExtension)), partial = path.string() + '.' + std::to_string(getpid());
  std::ofstream file(partial);
  file << request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(partial, path, failed);
  if (file && !failed) return {};
  std::filesystem::remove(partial, failed);
  return Error{"Nothing can be written to the folder of sessions " + folder->string() + "."};
}

std::vector<std::string> left_starts() {
  std::vector<std::string> names;
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return names;
  std::error_code failed;
  std::filesystem::directory_iterator entry(*folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    if (entry->path().extension() == kStartExtension && !is_locked(entry->path())) names.push_back(entry->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> only_left_start() {
  const std::vector<std::string> left = left_starts();
  if (left.size() > 1) return Error{"Which start? --session=NAME, one of " + listed(left), ErrorKind::kUsage};
  return left.empty() ? std::string() : left.front();
}

bool take_start_back(const std::string& name) {
  HeldStart start(name);
  const bool is_there = !start.message().is_null();
  start.use_up();
  return is_there;
}

HeldStart::HeldStart(const std::string& name) {
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return;
  path_ = *folder / (name + std::string(kStartExtension));
  file_ = locked_file(path_);
  if (!file_.valid()) return;
  std::ifstream file("/proc/self/fd/" + std::to_string(file_.get()));  // reads this file, even if another takes its place meanwhile
  message_ = nlohmann::json::parse(file, nullptr, false);
  if (message_.is_object()) return;
  remove();  // it contains nothing usable
}

void HeldStart::use_up() {
  if (!file_.valid()) return;
  const Result<channel::FileDescriptor> held = hold_sessions();  // otherwise a new start that is left in its place now would be removed
  remove();
}

void HeldStart::remove() {
  if (file_.valid() && is_file_at(file_.get(), path_)) unlink(path_.c_str());
  file_.reset();
  message_ = nullptr;
}

Result<std::string> choose_session(const std::string& name) {
  const std::vector<std::string> names = session_names();
  if (names.empty()) return Error{"There is no session. Begin one with: lanescope launch PROGRAM"};
  if (name.empty() && names.size() == 1) return names.front();
  if (name.empty()) return Error{"Which session? --session=NAME, one of " + listed(names), ErrorKind::kUsage};
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  return Error{"There is no session " + name + ", but " + listed(names) + ".", ErrorKind::kUsage};
}

namespace {

// The process that listens; 0: not known.
pid_t listener_of(int connection) {
  ucred process{};
  socklen_t size = sizeof(process);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &process, &size) == 0 ? process.pid : 0;
}

Error stopped(const std::string& name, pid_t recorder) {
  return {"The session " + name + " does not answer: its recorder was stopped. Let it go on with: kill -CONT " +
          (recorder != 0 ? std::to_string(recorder) : "PID")};
}

enum class Asked { kAnswered, kNoAnswerYet, kNeverAnswered };

// Sends the request, if it is not empty, and waits for its answer, or for the rest of that.
Asked exchange(int connection, const std::string& request, nlohmann::json& answer) {
  if (!request.empty() && send(connection, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return Asked::kNeverAnswered;
  std::string text(kLargestAnswer, '\0');
  ssize_t size = 0;
  do size = recv(connection, text.data(), text.size(), 0);
  while (size < 0 && errno == EINTR);
  if (size < 0 && errno == EAGAIN) return Asked::kNoAnswerYet;
  answer = nlohmann::json::parse(text.substr(0, size > 0 ? static_cast<std::size_t>(size) : 0), nullptr, false);
  return answer.is_object() ? Asked::kAnswered : Asked::kNeverAnswered;
}

Result<channel::FileDescriptor> connect_to_session(const std::string& name) {
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return folder.error();
  return channel::FileDescriptor(connect_to(*folder / (name + std::string(kExtension)), kUntilTold));
}

}  // namespace

SessionLook look_at_session(const std::string& name) {
  const Result<channel::FileDescriptor> connection = connect_to_session(name);
  if (!connection) return {};
  if (!connection->valid()) return {errno == EAGAIN ? SessionLook::kStopped : SessionLook::kGone, 0, {}};
  SessionLook look;
  const Asked asked = exchange(connection->get(), nlohmann::json{{"command", "describe"}}.dump(), look.description);
  if (asked == Asked::kAnswered) look.state = SessionLook::kAnswers;
  if (asked != Asked::kNoAnswerYet) return look;
  look.recorder = listener_of(connection->get());
  look.state = is_stopped(look.recorder) ? SessionLook::kStopped : SessionLook::kSilent;
  return look;
}

Result<SessionAnswer> ask_session(const std::string& name, const nlohmann::json& request) {
  SessionLook look = look_at_session(name);
  if (look.state == SessionLook::kSilent)
    std::cerr << "lanescope: The session " << name << " does not answer yet: it begins, or has much to do. Waiting for it.\n";
  const auto give_up = std::chrono::steady_clock::now() + kUnseenPatience;
  while (look.state == SessionLook::kSilent) {
    if (look.recorder == 0 && std::chrono::steady_clock::now() > give_up)
      return Error{"The session " + name + " has not answered for " + std::to_string(kUnseenPatience.count()) +
                   " s, and its recorder can't be seen from here (it is in another container): look there whether it was stopped."};
    look = look_at_session(name);
  }
  if (look.state == SessionLook::kStopped) return stopped(name, look.recorder);
  Result<channel::FileDescriptor> connection = connect_to_session(name);
  if (!connection) return connection.error();
  if (look.state == SessionLook::kGone || !connection->valid()) return Error{"The session " + name + " does not answer."};
  nlohmann::json answer;
  Asked asked = exchange(connection->get(), request.dump(), answer);
  for (bool is_told = false; asked == Asked::kNoAnswerYet; asked = exchange(connection->get(), {}, answer)) {
    const pid_t recorder = listener_of(connection->get());
    if (is_stopped(recorder) && !std::exchange(is_told, true))
      std::cerr << "lanescope: " << stopped(name, recorder).text << ". It then does what it was asked.\n";
  }
  if (asked == Asked::kNeverAnswered) return Error{"The session " + name + " ended before it answered."};
  if (const auto error = answer.find("error"); error != answer.end())
    return Error{error->is_string() ? error->get<std::string>() : "The session " + name + " refuses it, and says nothing that makes sense."};
  return SessionAnswer{std::move(answer), std::move(*connection)};
}

}  // namespace lanescope::cli
