// Sessions that are controlled from elsewhere: each capture follows the options of its start, and starts may come before their program.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "../collector/cpu/recorded.h"
#include "collector/channel/file_descriptor.h"
#include "model/trace/load.h"
#include "recorder.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

std::string captures() { return program("lanescope_program_nvtx_captures").string(); }

// Separate sessions, asked from another folder than theirs.
class Sessions {
 public:
  Ran ask(const std::vector<std::string>& arguments) const {
    return run_lanescope(elsewhere_.path(), arguments, {{"XDG_RUNTIME_DIR", folder_.path().string()}});
  }
  void await(const std::string& state) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (ask({"sessions", "list"}).output.find(state) == std::string::npos) {
      REQUIRE(std::chrono::steady_clock::now() < give_up);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] const std::filesystem::path& elsewhere() const { return elsewhere_.path(); }

 private:
  TemporaryFolder folder_;  // of the sessions; their programs run there, too
  TemporaryFolder elsewhere_;
};

// The sessions' folder, locked as by a process that begins a session.
class HeldFolder {
 public:
  explicit HeldFolder(const Sessions& sessions) : path_(sessions.folder() / "lanescope") {
    REQUIRE(sessions.ask({"sessions", "list"}).code == 0);  // creates the folder
    held_ = channel::FileDescriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(flock(held_.get(), LOCK_EX) == 0);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void release() const { REQUIRE(flock(held_.get(), LOCK_UN) == 0); }

  // Waits until this process waits for the folder, or has ended.
  void await(pid_t pid) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!has_opened(pid)) {
      REQUIRE(std::chrono::steady_clock::now() < give_up);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  [[nodiscard]] bool has_opened(pid_t pid) const {
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == pid) return true;
    std::error_code gone;
    for (std::filesystem::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", gone), end; !gone && entry != end; entry.increment(gone)) {
      std::error_code closed;
      if (std::filesystem::read_symlink(entry->path(), closed) == path_) return true;
    }
    return false;
  }

  std::filesystem::path path_;
  channel::FileDescriptor held_;
};

sockaddr_un address_of(const Sessions& sessions, const char* name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof(address.sun_path), "%s/lanescope/%s.session", sessions.folder().c_str(), name);
  return address;
}

// A session that does not listen yet.
channel::FileDescriptor bound_session(const Sessions& sessions, const char* name) {
  const sockaddr_un address = address_of(sessions, name);
  channel::FileDescriptor bound(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  REQUIRE(bind(bound.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  return bound;
}

// Receives one message of a connection to a session; null at its end.
nlohmann::json received(const channel::FileDescriptor& connection) {
  std::string text(64u << 10, '\0');
  const ssize_t size = recv(connection.get(), text.data(), text.size(), 0);
  return size <= 0 ? nlohmann::json() : nlohmann::json::parse(text.substr(0, static_cast<std::size_t>(size)));
}
void answer(const channel::FileDescriptor& connection, const nlohmann::json& words) {
  const std::string text = words.dump();
  REQUIRE(send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
}

// Connects to a session, as lanescope stop does.
channel::FileDescriptor connected(const Sessions& sessions, const char* name) {
  const sockaddr_un address = address_of(sessions, name);
  channel::FileDescriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  REQUIRE(connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  return connection;
}

// Events of nvtx_captures' rounds in the file.
struct Rounds {
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  bool operator==(const Rounds&) const = default;
};
Rounds rounds(const std::filesystem::path& file) {
  const auto trace = load(file);
  return {count_events(*trace, TrackKind::kNvtxRanges, "inside"), count_events(*trace, TrackKind::kNvtxMarks, "outside")};
}

struct Observed {
  std::uint64_t states = 0;
  std::size_t sixty = 0;
  std::size_t forty = 0;
  std::size_t samples = 0;
};
Observed observed(const std::filesystem::path& file) {
  const auto trace = load(file);
  Observed found;
  for (const Track& track : trace->tracks())
    if (track.key.kind == TrackKind::kThreadStates)
      for (const LaneId id : track.lanes) found.states += trace->lane(id).size();
  const std::vector<Chain> chains = samples_of_process(*trace, 0);
  found.samples = chains.size();
  found.sixty = count_with(chains, "sixty");
  found.forty = count_with(chains, "forty");
  return found;
}

}  // namespace

TEST_CASE("a start that comes first records the next program from its first range on, and only that one") {
  const Sessions sessions;
  const Ran start = sessions.ask({"start", "-o", "first", "--session-new=mine"});
  CHECK(start.code == 0);
  CHECK_THAT(start.messages, contains_text("The next lanescope launch is recorded from its start on."));
  CHECK_THAT(sessions.ask({"sessions", "list"}).output, contains_text("Awaited") && contains_text("mine"));
  const Ran first = run_lanescope(sessions.folder(), {"launch", "-t", "nvtx", captures(), "plain"});
  CHECK(first.code == 3);
  CHECK(rounds(sessions.elsewhere() / "first.trace") == Rounds{20, 20});
  const Ran second = run_lanescope(sessions.folder(), {"launch", "-t", "nvtx", captures(), "plain"});
  CHECK(second.code == 3);
  CHECK_THAT(second.messages, contains_text("No file was made"));
}

TEST_CASE("a session whose recorder was stopped is listed as that, and nobody waits for it, nor is anything done for who gave up") {
  const Sessions sessions;
  LanescopeProcess recording(sessions.folder(), {"launch", "-t", "nvtx", "--session-new=mine", program("lanescope_program_lives").string(), "wait"});
  recording.wait_for_line("ready");
  sessions.await("Waiting");
  kill(recording.pid(), SIGSTOP);
  const std::string advice = "its recorder was stopped. Let it go on with: kill -CONT " + std::to_string(recording.pid());
  for (int look = 0; look < 10; ++look) {  // each leaves unanswered requests
    const Ran list = sessions.ask({"sessions", "list"});
    CHECK(list.code == 0);
    CHECK_THAT(list.output, contains_text("Stopped") && contains_text("mine"));
  }
  for (const std::vector<std::string>& command : {std::vector<std::string>{"start", "-o", "never"}, {"stop"}, {"cancel"}, {"shutdown"}}) {
    const Ran ran = sessions.ask(command);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.messages, contains_text(advice));
  }
  kill(recording.pid(), SIGCONT);
  CHECK(sessions.ask({"start", "-o", "wanted"}).code == 0);
  CHECK_FALSE(std::filesystem::exists(sessions.elsewhere() / "never.trace"));
  kill(recording.pid(), SIGTERM);
  CHECK(recording.wait() == 128 + SIGTERM);
}

TEST_CASE("who connects to a session and asks nothing keeps no place in it, and nobody from it") {
  const Sessions sessions;
  LanescopeProcess recording(sessions.folder(), {"launch", "-t", "nvtx", "--session-new=mine", program("lanescope_program_lives").string(), "wait"});
  recording.wait_for_line("ready");
  sessions.await("Waiting");
  const auto descriptors = [&] {
    return std::distance(std::filesystem::directory_iterator("/proc/" + std::to_string(recording.pid()) + "/fd"), std::filesystem::directory_iterator());
  };
  const auto before = descriptors();
  std::vector<channel::FileDescriptor> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(connected(sessions, "mine"));
  CHECK(received(silent.front()).is_null());  // the session has dropped it
  CHECK_THAT(sessions.ask({"sessions", "list"}).output, contains_text("Waiting"));
  CHECK(descriptors() <= before + 70);
  kill(recording.pid(), SIGTERM);
  CHECK(recording.wait() == 128 + SIGTERM);
}

TEST_CASE("a session that is about to begin is listed as that, and who asks it is told what is waited for") {
  const Sessions sessions;
  const HeldFolder held(sessions);
  const channel::FileDescriptor session = bound_session(sessions, "mine");
  REQUIRE(listen(session.get(), 16) == 0);
  held.release();
  CHECK_THAT(sessions.ask({"sessions", "list"}).output, contains_text("Beginning") && !contains_text("Stopped"));
  LanescopeProcess start(sessions.folder(), {"start", "-o", "x"});
  std::vector<channel::FileDescriptor> unanswered;
  for (std::string command; command != "start";) {
    channel::FileDescriptor connection(accept(session.get(), nullptr, nullptr));
    const nlohmann::json request = received(connection);
    if (request.is_null()) continue;  // this client only checked that the session is there
    command = request.value("command", "");
    if (command == "start")
      answer(connection, {{"file", "there.trace"}});
    else if (unanswered.size() < 2)
      unanswered.push_back(std::move(connection));  // of the list, and the first of start
    else
      answer(connection, {{"state", "Waiting"}});
  }
  CHECK(start.wait() == 0);
  CHECK_THAT(start.messages(), contains_text("The session mine does not answer yet") && contains_text("Recording into\n\tthere.trace"));
}

TEST_CASE("what a killed session left is cleared away, and never one that is about to listen") {
  const Sessions sessions;
  const HeldFolder held(sessions);  // like a process that begins a session
  const channel::FileDescriptor bound = bound_session(sessions, "mine");
  const std::filesystem::path place = held.path() / "mine.session";
  CHECK(sessions.ask({"sessions", "list"}).code == 0);
  CHECK(std::filesystem::exists(place));
  // Nobody else can begin one meanwhile, and the program runs nevertheless.
  const Ran beside = sessions.ask({"profile", "-t", "nvtx", "--session-new=other", "--", "sh", "-c", "exit 3"});
  CHECK(beside.code == 3);
  CHECK_THAT(beside.messages, contains_text("holds the folder of sessions"));
  held.release();
  CHECK(sessions.ask({"sessions", "list"}).code == 0);
  CHECK_FALSE(std::filesystem::exists(place));
}

TEST_CASE("a launch and a start that come at once find each other, whichever is first") {
  const Sessions sessions;
  const HeldFolder held(sessions);
  LanescopeProcess launch(sessions.folder(), {"launch", "-t", "nvtx", "-s", "none", "--cpuctxsw=none", program("lanescope_program_lives").string(), "wait"});
  held.await(launch.pid());
  LanescopeProcess start(sessions.folder(), {"start", "-o", "first"});
  held.await(start.pid());
  held.release();
  CHECK(start.wait() == 0);
  launch.wait_for_line("ready");
  sessions.await("Collection");
  kill(launch.pid(), SIGTERM);
  CHECK(launch.wait() == 128 + SIGTERM);
  CHECK(std::filesystem::exists(sessions.folder() / "first.trace"));
  CHECK_THAT(sessions.ask({"sessions", "list"}).output, !contains_text("Awaited"));
}

TEST_CASE("of two launches of one name, the second one runs nothing") {
  const Sessions sessions;
  const HeldFolder held(sessions);
  LanescopeProcess second(sessions.folder(), {"launch", "-t", "nvtx", "--session-new=mine", captures(), "plain"});
  held.await(second.pid());
  const channel::FileDescriptor first = bound_session(sessions, "mine");
  REQUIRE(listen(first.get(), 1) == 0);
  held.release();
  CHECK(second.wait() == 2);
  CHECK_THAT(second.messages(), contains_text("There is a session mine already."));
}

TEST_CASE("a start that comes first waits on where a launch fails") {
  const Sessions sessions;
  REQUIRE(sessions.ask({"start", "-c", "nvtx", "--capture-range-end=stop", "-o", "first"}).code == 0);
  CHECK(run_lanescope(sessions.folder(), {"launch", "-t", "nvtx", captures(), "plain"}).code == 2);  // which range?
  CHECK(run_lanescope(sessions.folder(), {"launch", "-t", "nvtx", "-p", "wanted", "no-such-program-anywhere"}).code == 1);
  CHECK_THAT(sessions.ask({"sessions", "list"}).output, contains_text("Awaited"));
  CHECK(run_lanescope(sessions.folder(), {"launch", "-t", "nvtx", "-p", "wanted", captures(), "plain"}).code == 3);
  CHECK(rounds(sessions.elsewhere() / "first.trace") == Rounds{20, 0});
  CHECK(sessions.ask({"start", "-o", "%z"}).code == 2);
  CHECK_THAT(sessions.ask({"sessions", "list"}).output, !contains_text("Awaited"));
}

TEST_CASE("a start that comes first is taken back by cancel, stop and shutdown") {
  const Sessions sessions;
  for (const char* command : {"cancel", "stop", "shutdown"}) {
    CHECK(sessions.ask({"start"}).code == 0);
    CHECK(sessions.ask({command}).code == 0);
    CHECK_THAT(sessions.ask({"sessions", "list"}).output, !contains_text("Awaited"));
  }
  CHECK(sessions.ask({"cancel"}).code == 1);
}

TEST_CASE("a start that comes first may wait for a range that the launch names, and is taken by the session that it is for") {
  const Sessions sessions;
  CHECK(sessions.ask({"start", "-c", "nvtx", "--capture-range-end=stop", "-o", "one", "--session-new=a"}).code == 0);
  CHECK(sessions.ask({"start", "-c", "nvtx", "-p", "none of these", "-o", "two", "--session-new=b"}).code == 0);
  CHECK(run_lanescope(sessions.folder(), {"launch", "-t", "nvtx", captures(), "plain"}).code == 2);  // which?
  const Ran ran = run_lanescope(sessions.folder(), {"launch", "-t", "nvtx", "-p", "wanted", "--session=a", captures(), "plain", "3"});
  CHECK(ran.code == 3);  // it continued to its end
  CHECK(rounds(sessions.elsewhere() / "one.trace") == Rounds{20, 0});
  const Ran none = run_lanescope(sessions.folder(), {"launch", "-t", "nvtx", "--session=b", captures(), "plain"});
  CHECK(none.code == 3);
  CHECK_FALSE(std::filesystem::exists(sessions.elsewhere() / "two.trace"));
  CHECK(run_lanescope(sessions.folder(), {"launch", "--session=b", "true"}).code == 2);  // the session has taken its start
}

TEST_CASE("each capture observes threads as its start has it") {
  if (const auto reason = cannot_observe(); reason) {
    WARN(*reason);
    return;
  }
  const Sessions sessions;
  LanescopeProcess session(
      sessions.folder(), {"launch", "-t", "none", "-s", "none", "--cpuctxsw=none", "--kill=sigkill", program("lanescope_program_cpu_work").string(), "steady"});
  session.wait_for_line("ready");
  const auto capture = [&](const std::string& name, std::vector<std::string> options) {
    options.insert(options.begin(), {"start", "-d", "1", "-o", name});
    const Ran start = sessions.ask(options);
    INFO(start.messages);
    REQUIRE(start.code == 0);
    sessions.await("Waiting");
    return observed(sessions.elsewhere() / (name + ".trace"));
  };
  CHECK(capture("as_launched", {}).states == 0);
  for (const std::string name : {"sampled", "sampled_again"}) {  // names of code are sent again, too
    REQUIRE(sessions.ask({"start", "-o", name, "-s", "process-tree", "--cpuctxsw=process-tree"}).code == 0);
    const std::filesystem::path file = sessions.elsewhere() / (name + ".trace");
    while (!load_trace(file)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (Observed so_far; so_far.states <= 10 || so_far.samples <= 50; so_far = observed(file)) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    REQUIRE(sessions.ask({"stop"}).code == 0);
    const Observed found = observed(file);
    CHECK(found.states > 10);
    CHECK(found.samples > 50);
    CHECK(found.sixty + found.forty > found.samples / 2);
    CHECK(found.sixty > 0);
    CHECK(found.forty > 0);
    const Observed between = capture(name + "_between", {});
    CHECK(between.states == 0);
    CHECK(between.samples == 0);
  }
  REQUIRE(sessions.ask({"start", "-o", "slow", "--sample=cpu", "--sampling-frequency=20", "--backtrace", "none"}).code == 0);
  const std::filesystem::path slow = sessions.elsewhere() / "slow.trace";
  while (!load_trace(slow) || observed(slow).samples < 5) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  REQUIRE(sessions.ask({"stop"}).code == 0);
  // At most 20 in each second of work; the default would be a thousand.
  CHECK(static_cast<double>(observed(slow).samples - 1) < 1.5 * 20 * static_cast<double>(load(slow)->extent().length()) / 1e9);
  CHECK(sessions.ask({"shutdown", "--kill", "sigkill"}).code == 0);
  CHECK(session.wait() == 128 + SIGKILL);
}

TEST_CASE("a capture goes on after its program where its start says so, until it is stopped") {
  const Sessions sessions;
  CHECK(sessions.ask({"start", "--stop-on-exit=false", "-o", "on"}).code == 0);
  LanescopeProcess session(sessions.folder(), {"launch", "-t", "nvtx", captures(), "plain"});
  session.wait_for_line("done");
  sessions.await("Collection");
  CHECK(kill(session.pid(), 0) == 0);
  CHECK(sessions.ask({"stop"}).code == 0);
  CHECK(session.wait() == 3);
  CHECK(rounds(sessions.elsewhere() / "on.trace") == Rounds{20, 20});
}

TEST_CASE("what a start asks to be made of its file is made by the stop, or by the session where the program ends first") {
  const Sessions sessions;
  LanescopeProcess session(sessions.folder(), {"launch", "-t", "nvtx", program("lanescope_program_nvtx_endless").string(), "5"});
  session.wait_for_line("ready");
  CHECK(sessions.ask({"start", "-o", "one", "--export=csv", "--stats=true"}).code == 0);
  const Ran stop = sessions.ask({"stop"});
  CHECK(stop.code == 0);
  CHECK_THAT(stop.messages, contains_text("one.trace does not contain"));  // the reports were made; the program was idle
  CHECK(std::filesystem::exists(sessions.elsewhere() / "one.csv"));
  std::filesystem::remove(sessions.elsewhere() / "one.csv");

  CHECK(sessions.ask({"start", "-o", "two", "--export", "csv"}).code == 0);
  CHECK(sessions.ask({"shutdown"}).code == 0);
  CHECK(session.wait() == 5);
  CHECK(std::filesystem::exists(sessions.elsewhere() / "two.csv"));
  CHECK_FALSE(std::filesystem::exists(sessions.elsewhere() / "one.csv"));
  CHECK_THAT(session.messages(), !contains_text("does not contain"));
}

TEST_CASE("what a stop that ends early has not made of a file, the session makes, and waits for one that is at it") {
  const Sessions sessions;
  const auto folder = [&sessions](const char* name) { return sessions.elsewhere() / name; };
  LanescopeProcess session(sessions.folder(), {"launch", "-t", "nvtx", "--session-new=mine", program("lanescope_program_nvtx_endless").string(), "5"});
  session.wait_for_line("ready");
  const auto stopped = [&](const char* name) {
    CHECK(sessions.ask({"start", "-o", name, "--export=csv,text", "--stats=true"}).code == 0);
    channel::FileDescriptor stop = connected(sessions, "mine");
    answer(stop, {{"command", "stop"}});
    return stop;
  };
  stopped("killed");  // before it was told that its file exists
  {
    const channel::FileDescriptor stop = stopped("interrupted");
    CHECK(received(stop)["exports"] == nlohmann::json{"csv", "text"});
    answer(stop, {{"made", "csv"}});
  }
  channel::FileDescriptor working = stopped("whole");
  CHECK(received(working)["statistics"] == true);
  CHECK(sessions.ask({"shutdown"}).code == 0);
  // First the session reports that it waits, then that the other is ready.
  std::thread rest([&] {
    for (const char* what : {"csv", "text", "statistics"}) answer(working, {{"made", what}});
    working.reset();
  });
  CHECK(session.wait() == 5);
  rest.join();
  CHECK(std::filesystem::exists(folder("killed.csv")));
  CHECK(std::filesystem::exists(folder("killed.txt")));
  CHECK_FALSE(std::filesystem::exists(folder("interrupted.csv")));
  CHECK(std::filesystem::exists(folder("interrupted.txt")));
  CHECK_FALSE(std::filesystem::exists(folder("whole.csv")));
  CHECK_THAT(session.messages(), contains_text("killed.trace does not contain") && contains_text("interrupted.trace does not contain"));
  CHECK_THAT(session.messages(), !contains_text("whole.trace does not contain"));
}

TEST_CASE("a session answers whoever asks, though others have come before and say nothing") {
  const Sessions sessions;
  LanescopeProcess session(sessions.folder(), {"launch", "-t", "nvtx", "--session-new=mine", program("lanescope_program_nvtx_endless").string(), "5"});
  session.wait_for_line("ready");
  sessions.await("Waiting");
  std::vector<channel::FileDescriptor> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(connected(sessions, "mine"));
  const channel::FileDescriptor asking = connected(sessions, "mine");
  answer(asking, {{"command", "describe"}});
  pollfd source{asking.get(), POLLIN, 0};
  REQUIRE(poll(&source, 1, 60'000) == 1);
  CHECK(received(asking)["state"] == "Waiting");
  CHECK(sessions.ask({"shutdown"}).code == 0);
  CHECK(session.wait() == 5);
}

TEST_CASE("a capture whose file was moved, or replaced, is none for who stops it, and none for the session") {
  const Sessions sessions;
  LanescopeProcess session(sessions.folder(), {"launch", "-t", "nvtx", program("lanescope_program_nvtx_endless").string(), "0"});
  session.wait_for_line("ready");
  const std::filesystem::path file = sessions.elsewhere() / "x.trace", kept = sessions.elsewhere() / "kept.trace";
  const auto begin = [&] {
    CHECK(sessions.ask({"start", "-o", "x", "--export=csv"}).code == 0);
    std::filesystem::rename(file, kept);
  };
  begin();
  std::ofstream(file) << "other";
  const Ran stop = sessions.ask({"stop"});
  CHECK(stop.code == 1);
  CHECK_THAT(stop.messages, contains_text(file.string() + " was moved to " + kept.string() + " while it was recorded, and another file has its name now"));
  CHECK_THAT(stop.messages, !contains_text("Generated"));
  CHECK(load(kept)->provenance().finished);
  std::filesystem::remove(file);
  begin();
  const Ran cancel = sessions.ask({"cancel"});
  CHECK(cancel.code == 1);
  CHECK_THAT(cancel.messages, contains_text("it is not thrown away"));
  // A complete recording stays, wherever the next one of its name went.
  CHECK(sessions.ask({"start", "-o", "x"}).code == 0);
  CHECK(sessions.ask({"stop"}).code == 0);
  CHECK(sessions.ask({"shutdown"}).code == 0);
  CHECK(session.wait() == 1);
  CHECK_THAT(session.messages(), contains_text("was moved to") && contains_text("Generated:\n\t" + file.string()));
  CHECK_FALSE(std::filesystem::exists(sessions.elsewhere() / "x.csv"));
}

TEST_CASE("a capture that is cancelled leaves the file that it was to replace") {
  const Sessions sessions;
  LanescopeProcess session(sessions.folder(), {"launch", "-t", "nvtx", program("lanescope_program_nvtx_ticking").string(), "-1", "5"});
  session.wait_for_line("ready");
  const std::filesystem::path file = sessions.elsewhere() / "x.trace";
  const std::filesystem::path earlier = sessions.elsewhere() / "x.trace.earlier";
  CHECK(sessions.ask({"start", "-o", "x"}).code == 0);
  CHECK(sessions.ask({"stop"}).code == 0);
  const auto first = identity_of(file);
  REQUIRE(first);
  CHECK(sessions.ask({"start", "-f", "-o", "x"}).code == 0);
  while (identity_of(file) == first) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until it has an event
  CHECK(std::filesystem::exists(earlier));
  CHECK(sessions.ask({"cancel"}).code == 0);
  CHECK(identity_of(file) == first);
  CHECK(load(file)->provenance().finished);
  CHECK_FALSE(std::filesystem::exists(earlier));
  CHECK(sessions.ask({"start", "-f", "-o", "x"}).code == 0);
  CHECK(sessions.ask({"stop"}).code == 0);
  CHECK(identity_of(file) != first);
  CHECK_FALSE(std::filesystem::exists(earlier));
  CHECK(sessions.ask({"start", "-f", "-o", "x"}).code == 0);
  CHECK(sessions.ask({"cancel"}).code == 0);
  CHECK(sessions.ask({"shutdown"}).code == 0);
  CHECK(session.wait() == 5);
  CHECK_THAT(session.messages(), contains_text("Generated:\n\t" + file.string()));
}

TEST_CASE("what is asked of a session before its delay is over is answered with that") {
  const Sessions sessions;
  LanescopeProcess session(sessions.folder(), {"launch", "-t", "nvtx", "-y", "1000", program("lanescope_program_nvtx_endless").string(), "5"});
  session.wait_for_line("ready");
  sessions.await("Delayed");
  for (const char* command : {"start", "stop"}) {
    const Ran ran = sessions.ask({command});
    CHECK(ran.code == 1);
    CHECK_THAT(ran.messages, contains_text("none begins before the delay of the recording (-y) is over"));
  }
  CHECK(sessions.ask({"shutdown"}).code == 0);
  CHECK(session.wait() == 5);
}

TEST_CASE("what a start can't have is one sentence") {
  const Sessions sessions;
  LanescopeProcess session(sessions.folder(), {"launch", "--session-new=mine", "-t", "none", program("lanescope_program_nvtx_endless").string(), "5"});
  session.wait_for_line("ready");
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string words;
  };
  const std::vector<Case> cases{
      {{"start", "-t", "cuda"}, 2, "Give it to lanescope launch"},
      {{"start", "--cuda-graph-trace=node"}, 2, "Give it to lanescope launch"},
      {{"start", "--strict", "--gpuctxsw=true"}, 2, "--gpu-metrics-devices"},
      {{"start", "-c", "cuda"}, 2, "Did you mean --trace=cuda?"},
      {{"start", "-s", "all"}, 2, "--sample"},
      {{"start", "-c", "nvtx", "-p", "x"}, 1, "need NVTX to be traced"},
      {{"start", "-c", "cudaProfilerApi"}, 1, "need CUDA to be traced"},
      {{"start", "--session=other"}, 2, "There is no session other, but mine."},
      {{"start", "--session-new=mine"}, 2, "--session=mine"},
      {{"launch", "--session=mine", "true"}, 2, "is for one alone"},
      {{"launch", "-c", "nvtx", "-p", "x", "true"}, 2, "lanescope start --capture-range=nvtx"},
      {{"status", "--session=other"}, 2, "There is no session other, but mine."},
  };
  for (const Case& each : cases) {
    CAPTURE(each.arguments);
    const Ran ran = sessions.ask(each.arguments);
    CHECK(ran.code == each.code);
    CHECK_THAT(ran.messages, contains_text(each.words));
    CHECK(std::count(ran.messages.begin(), ran.messages.end(), '\n') == 1);
  }
  CHECK_THAT(sessions.ask({"status", "--session", "mine"}).output, contains_text("Waiting") && contains_text("mine"));
  CHECK(sessions.ask({"shutdown"}).code == 0);
  CHECK(session.wait() == 5);  // a host that is killed at once would leave its program running
}

TEST_CASE("a session that is asked to end its program by what is no signal says so, and the program runs on") {
  const Sessions sessions;
  LanescopeProcess recording(sessions.folder(), {"launch", "-t", "nvtx", "--session-new=mine", program("lanescope_program_lives").string(), "wait"});
  recording.wait_for_line("ready");
  sessions.await("Waiting");
  for (const char* signal : {"1e99", "-1", "1.5", "true", "4294967311"}) {
    const channel::FileDescriptor asker = connected(sessions, "mine");
    const std::string request = std::string(R"({"command":"shutdown","signal":)") + signal + "}";
    REQUIRE(send(asker.get(), request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()));
    CHECK(received(asker)["error"] == "The session did not understand the request: its \"signal\" is no whole number from 0 to 64.");
  }
  CHECK_THAT(sessions.ask({"sessions", "list"}).output, contains_text("Waiting"));
  CHECK(sessions.ask({"shutdown", "--kill", "sigkill"}).code == 0);
  CHECK(recording.wait() == 128 + SIGKILL);
}

TEST_CASE("a session that answers with numbers that make no sense is listed without them") {
  const Sessions sessions;
  const HeldFolder held(sessions);
  const channel::FileDescriptor session = bound_session(sessions, "mine");
  REQUIRE(listen(session.get(), 16) == 0);
  held.release();
  LanescopeProcess list(sessions.folder(), {"sessions", "list"});
  for (bool is_answered = false; !is_answered;) {  // a client that only checks that we are there asks nothing
    const channel::FileDescriptor connection(accept(session.get(), nullptr, nullptr));
    is_answered = !received(connection).is_null();
    if (is_answered) answer(connection, nlohmann::json::parse(R"({"pid":1e99,"seconds":-1e99,"state":"Waiting","target":3.5})"));
  }
  CHECK(list.wait() == 0);
  CHECK_THAT(list.output(), contains_text("         ?         ?  Waiting            ?  mine"));
}
