// The sessions of this user on this machine: where each listens, and how one is asked.
//
// A session is a `lanescope` that records, or waits to. It listens on a socket of its name in a folder that only this user may enter.
// One request, one answer, as JSON in one message each.
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

// XDG_RUNTIME_DIR/lanescope where that is a folder of this user (under su it may be somebody else's) of at most 56 bytes, so that the addresses of
// sockets in it have room for names of 32, else /tmp/lanescope-UID. Made where
// it is missing; fails when it belongs to somebody else.
Result<std::filesystem::path> session_folder();

// Names of sessions that answer. What killed ones left is cleared away.
std::vector<std::string> session_names();

// Whoever begins a session, leaves a start or takes one holds this, so that none of them changes what another has just seen. Keep it for moments: others
// wait five seconds at most, and then fail with one sentence.
Result<channel::FileDescriptor> hold_sessions();

// Where a session listens: requests wait there from when it is opened on. Its place is removed with it.
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
  // Nobody finds it any more.
  void remove_place();

 private:
  std::filesystem::path path_;
  channel::FileDescriptor listener_;  // not valid: of none
};
// A new session of this name. Requires: hold_sessions(). Fails with one sentence where there is one of this name.
Result<SessionSocket> open_session(const std::string& name);
// The same for who does not hold them.
Result<SessionSocket> hold_and_open_session(const std::string& name);

// A start that was asked for before its session runs: lanescope launch takes it, once. `name`: of the session that is to be.
// Requires: hold_sessions(), so that no session begins that neither finds it nor is found.
Result<void> leave_start(const std::string& name, const nlohmann::json& request);
std::vector<std::string> left_starts();  // less those that are held
// The one that is meant where none is named: the only one; empty where there is none. Fails with one sentence where there are several.
Result<std::string> only_left_start();
// Whether one was left under this name; it is then gone.
bool take_start_back(const std::string& name);

// The start that was left under a name, held for the recording that is to begin: meanwhile no other launch takes it. It is gone when it is used up,
// and else left for the next launch, also where this process is killed.
class HeldStart {
 public:
  HeldStart() = default;                        // none
  explicit HeldStart(const std::string& name);  // none where none was left, or another process holds it

  // What was asked for; null where there is none.
  [[nodiscard]] const nlohmann::json& message() const noexcept { return message_; }
  void use_up();  // holds the sessions meanwhile, where they can be had

 private:
  void remove();

  std::filesystem::path path_;
  channel::FileDescriptor file_;  // locked
  nlohmann::json message_;
};

// The session of this name; where it is empty, the only one there is. Fails with one sentence.
Result<std::string> choose_session(const std::string& name);

// How a session is, to who looks from outside.
struct SessionLook {
  enum State {
    kAnswers,
    kStopped,  // a signal stopped its recorder (Ctrl+Z)
    kSilent,   // it is about to begin, or has very much to do
    kGone,
  };
  State state = kGone;
  pid_t recorder = 0;          // of one that was stopped; 0: not known
  nlohmann::json description;  // that it answered with
};
// Waits for an answer for two seconds at most.
[[nodiscard]] SessionLook look_at_session(const std::string& name);

// What a session answered, and the way to it, for who has more to say of what was asked.
struct SessionAnswer {
  nlohmann::json words;
  channel::FileDescriptor connection;
};
// Asks a session, and waits for its answer: {"error": SENTENCE} becomes an Error. Where its recorder was stopped, nothing is asked of it, and that is
// one. What is waited for longer than two seconds is told on standard error.
Result<SessionAnswer> ask_session(const std::string& name, const nlohmann::json& request);

}  // namespace lanescope::cli
