// The sessions of this user on this machine: where each listens, and how to ask one.
//
// A session is a `lanescope` that records, or waits to. It listens on a socket of its name in a folder that only this user may enter. A request and its
// answer are one message each, in JSON.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "collector/channel/file_descriptor.h"
#include "model/file/result.h"

namespace lanescope::cli {

// XDG_RUNTIME_DIR/lanescope if XDG_RUNTIME_DIR is a folder of this user (under su it may be somebody else's), nobody else may write to it, and it is at most
// 56 bytes long, so that the address of a socket in it has room for a name of 32 bytes; else /tmp/lanescope-UID. The folder is made if it is missing. Fails if
// it belongs to somebody else, is a link, or is open to others.
Result<std::filesystem::path> session_folder();

// Names of sessions that answer. Sockets left by killed sessions are removed.
std::vector<std::string> session_names();

// A lock that must be held to start a session, to leave a start or to take one, so that none of these changes what another process has just seen. It must be
// held only for moments: others wait at most five seconds, and then fail with one sentence.
Result<channel::FileDescriptor> hold_sessions();

// Where a session listens. Requests wait there from the moment it is opened. The destructor removes it.
class SessionSocket {
 public:
  SessionSocket() = default;
  SessionSocket(std::filesystem::path path, channel::FileDescriptor listener) : path_(std::move(path)), listener_(std::move(listener)) {}
  SessionSocket(SessionSocket&&) noexcept = default;
  SessionSocket& operator=(SessionSocket&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(listener_, other.listener_);
    return *this;
  }
  ~SessionSocket() { remove_place(); }

  [[nodiscard]] int listener() const noexcept { return listener_.get(); }
  // Removes the socket's file, so that nobody finds it any more.
  void remove_place();

 private:
  std::filesystem::path path_;
  channel::FileDescriptor listener_;  // not valid: there is none
};
// Makes a new session of this name. Requires: hold_sessions(). Fails with one sentence if there is one of this name.
Result<SessionSocket> open_session(const std::string& name);
// The same for callers that do not hold them.
Result<SessionSocket> hold_and_open_session(const std::string& name);

// Leaves a start that was asked for before its session runs: lanescope launch takes it, once. `name`: of the session that will take it. Requires:
// hold_sessions(), because a session that starts meanwhile would neither find it nor be found.
Result<void> leave_start(const std::string& name, const nlohmann::json& request);
std::vector<std::string> left_starts();  // except those that are held
// The start that is meant if no name is given: the only one; empty if there is none. Fails with one sentence if there are several.
Result<std::string> only_left_start();
// Removes the start that was left under this name. Returns true if there was one.
bool take_start_back(const std::string& name);

// The start that was left under a name, held for the recording that is about to start: no other launch takes it meanwhile. It is removed when it is used up.
// Otherwise it is left for the next launch, even if this process is killed.
class HeldStart {
 public:
  HeldStart() = default;                        // holds none
  explicit HeldStart(const std::string& name);  // holds none if no start was left, or another process holds it

  // The request; null if there is none.
  [[nodiscard]] const nlohmann::json& message() const noexcept { return message_; }
  void use_up();  // holds the sessions meanwhile, if possible

 private:
  void remove();

  std::filesystem::path path_;
  channel::FileDescriptor file_;  // locked
  nlohmann::json message_;
};

// The session of this name; if the name is empty, the only session. Fails with one sentence.
Result<std::string> choose_session(const std::string& name);

// The state of a session as seen from outside.
struct SessionLook {
  enum State {
    kAnswers,
    kStopped,  // a signal stopped its recorder (Ctrl+Z)
    kSilent,   // it is about to start, or is very busy
    kGone,
  };
  State state = kGone;
  pid_t recorder = 0;          // the session's answer
  nlohmann::json description;  // that it answered with
};
// Waits at most two seconds for an answer.
[[nodiscard]] SessionLook look_at_session(const std::string& name);

// The answer of a session, and the connection to it, for a caller that has more to say about the request.
struct SessionAnswer {
  nlohmann::json words;
  channel::FileDescriptor connection;
};
// Asks a session, and waits for its answer: {"error": SENTENCE} becomes an Error. If its recorder was stopped, it is not asked, and that is an Error, too. If
// the answer takes longer than two seconds, this is said on standard error.
Result<SessionAnswer> ask_session(const std::string& name, const nlohmann::json& request);

}  // namespace lanescope::cli
