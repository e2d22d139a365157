#include "recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "model/trace/load.h"
#include "support/catch.h"
#include "support/file_content.h"
#include "support/paths.h"

namespace lanescope::test {
namespace {

// A process and all its descendants.
std::vector<pid_t> family(pid_t process) {
  std::vector<pid_t> members{process};
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
    std::ifstream file(task.path() / "children");
    for (pid_t child = 0; file >> child;) {
      const std::vector<pid_t> others = family(child);
      members.insert(members.end(), others.begin(), others.end());
    }
  }
  return members;
}

// "lanescope: S do_poll", for each thread of each process.
std::string activity_of(const std::vector<pid_t>& processes) {
  std::string text;
  for (const pid_t process : processes) {
    std::error_code gone;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
      const std::string state = content(task.path() / "stat");
      const std::string name = content(task.path() / "comm");
      text += std::to_string(process) + " " + name.substr(0, name.find('\n')) + ": " + state.substr(std::min(state.size(), state.rfind(')') + 2), 1) + " " +
              content(task.path() / "wchan") + "\n";
    }
  }
  return text;
}

}  // namespace

void become_lanescope(const std::filesystem::path& folder, std::vector<std::string> arguments, const std::vector<Environment>& environment, int output,
                      int messages) {
  std::signal(SIGINT, SIG_DFL);
  dup2(output, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);  // the folder's removal also removes what a killed host leaves
  for (const Environment& variable : environment) setenv(variable.name.c_str(), variable.value.c_str(), 1);
  const std::string binary = program("lanescope").string();
  arguments.insert(arguments.begin(), binary);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  if (chdir(folder.c_str()) == 0) execv(binary.c_str(), pointers.data());
  _exit(125);
}

LanescopeProcess::LanescopeProcess(const std::filesystem::path& folder, const std::vector<std::string>& arguments, const std::vector<Environment>& environment)
    : messages_file_(folder / "messages") {
  int pipe_ends[2];
  REQUIRE(pipe2(pipe_ends, O_CLOEXEC) == 0);
  const int messages = open(messages_file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  REQUIRE(messages >= 0);
  pid_ = fork();
  // In a separate group, whose parent is in another group of the session: in an orphaned group, stop signals do nothing.
  if (pid_ == 0 && setpgid(0, 0) != 0) _exit(127);
  if (pid_ == 0) become_lanescope(folder, arguments, environment, pipe_ends[1], messages);
  close(pipe_ends[1]);
  close(messages);
  output_end_ = pipe_ends[0];
}

LanescopeProcess::~LanescopeProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (output_end_ >= 0) close(output_end_);
}

void LanescopeProcess::wait_for_line(const std::string& line) {
  while (output_.find(line + "\n") == std::string::npos) {
    char buffer[4096];
    const ssize_t size = read(output_end_, buffer, sizeof(buffer));
    REQUIRE(size > 0);
    output_.append(buffer, static_cast<std::size_t>(size));
  }
}

void LanescopeProcess::wait_for_message(const std::string& text) const {
  constexpr timespec kPause{0, 2'000'000};
  while (content(messages_file_).find(text) == std::string::npos) {
    siginfo_t ended{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
    REQUIRE(ended.si_pid == 0);
    nanosleep(&kPause, nullptr);
  }
}

int LanescopeProcess::wait() {
  fcntl(output_end_, F_SETFL, O_NONBLOCK);  // a target that continues to run may hold the other end
  const auto read_all = [this] {
    char buffer[4096];
    ssize_t size = 0;
    while ((size = read(output_end_, buffer, sizeof(buffer))) > 0) output_.append(buffer, static_cast<std::size_t>(size));
    return size == 0;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  int status = 0;
  pid_t ended = 0;
  for (bool is_closed = false; ended == 0;) {
    if (std::chrono::steady_clock::now() > deadline) {
      const std::vector<pid_t> members = family(pid_);
      const std::string activity = activity_of(members);
      for (const pid_t member : members) kill(member, SIGKILL);
      FAIL("lanescope or its program did not end in two minutes:\n" << activity << output_ << content(messages_file_));
    }
    constexpr int kLookMilliseconds = 10;
    pollfd output{is_closed ? -1 : output_end_, POLLIN, 0};
    poll(&output, 1, kLookMilliseconds);
    is_closed = is_closed || read_all();
    ended = waitpid(pid_, &status, WNOHANG);
  }
  REQUIRE(ended == pid_);
  pid_ = 0;
  read_all();
  messages_ = content(messages_file_);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

pid_t LanescopeProcess::target() const {
  std::vector<pid_t> children;
  const std::string tasks = "/proc/" + std::to_string(pid_) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream file(task.path() / "children");
    children.insert(children.end(), std::istream_iterator<pid_t>(file), {});
  }
  // The recorder's own children run its programs, for example lanescope-code-names or the program about to become it, or have ended and are not reaped yet.
  std::erase_if(children, [](pid_t child) {
    std::error_code gone;
    const std::string runs = std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe", gone).filename();
    return gone || runs == "lanescope" || runs.starts_with("lanescope-");
  });
  REQUIRE(children.size() == 1);
  return children.front();
}

Ran run_lanescope(const std::filesystem::path& folder, const std::vector<std::string>& arguments, const std::vector<Environment>& environment) {
  // Attaching to a program is refused for now if the machine is too busy for the time limits.
  const auto is_refused_for_now = [&](const Ran& ran) { return arguments.front() == "attach" && ran.code == 1 && ran.messages.ends_with("Try again.\n"); };
  for (;;) {
    LanescopeProcess process(folder, arguments, environment);
    const int code = process.wait();
    Ran ran{code, process.output(), process.messages()};
    if (!is_refused_for_now(ran)) return ran;
  }
}

Ran run_alone(const std::vector<std::string>& command) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(125);
  }
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(ends[0], buffer, sizeof(buffer))) > 0;) output.append(buffer, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), output, {}};
}

std::string threads_program() { return program("lanescope_program_nvtx_threads").string(); }

std::shared_ptr<const Trace> load(const std::filesystem::path& path) {
  const auto trace = load_trace(path);
  INFO((trace ? "" : trace.error().text));
  REQUIRE(trace);
  return *trace;
}

std::uint64_t count_events(const Trace& trace, TrackKind kind, std::string_view name, ProcessId process) {
  std::uint64_t count = 0;
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != kind || (process != kNone && track.key.process != process)) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i) count += trace.name(lane.name(i)) == name ? 1 : 0;
    }
  }
  return count;
}

}  // namespace lanescope::test
