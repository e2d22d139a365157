#include "running.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <utility>

extern char** environ;

namespace lanescope::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::minutes kLimit{2};

class Pipe {
 public:
  Pipe() { static_cast<void>(pipe2(ends_.data(), O_CLOEXEC)); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int end(int which) const { return ends_.at(static_cast<std::size_t>(which)); }
  void close_end(int which) {
    int& descriptor = ends_.at(static_cast<std::size_t>(which));
    if (descriptor >= 0) close(std::exchange(descriptor, -1));
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Reads what is available. Closes the pipe at its end.
void take(Pipe& pipe, std::string& text) {
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t size = read(pipe.end(0), buffer.data(), buffer.size());
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
    if (size == 0) pipe.close_end(0);
    if (size <= 0) return;
  }
}

void give(Pipe& pipe, const std::string& text, std::size_t& given) {
  const ssize_t size = write(pipe.end(1), text.data() + given, text.size() - given);
  if (size > 0) given += static_cast<std::size_t>(size);
  if (given == text.size() || (size < 0 && errno == EPIPE)) pipe.close_end(1);
}

pid_t start(const Command& command, const Pipe& input, const Pipe& output, const Pipe& messages) {
  std::vector<std::string> words{"/bin/sh", "-c", "cd \"$0\" || exit 99\n" + command.before + "\nexec \"$@\"", command.folder.string()};
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string folder = "XDG_RUNTIME_DIR=" + command.folder.string();
  std::vector<char*> environment{folder.data()};
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("XDG_RUNTIME_DIR=")) environment.push_back(*variable);
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.end(0), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.end(1), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, messages.end(1), STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);  // other threads may just have opened files
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t ours;
  sigset_t none;
  sigemptyset(&ours);
  sigaddset(&ours, SIGPIPE);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &ours);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int failure = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failure == 0 ? pid : 0;
}

}  // namespace

Ended run(const Command& command) {
  Pipe input;
  Pipe output;
  Pipe messages;
  const pid_t pid = start(command, input, output, messages);
  if (pid == 0) return {127, true, {}, "it can't be started"};
  input.close_end(0);
  output.close_end(1);
  messages.close_end(1);
  for (const int descriptor : {input.end(1), output.end(0), messages.end(0)}) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  if (command.input.empty()) input.close_end(1);

  Ended ended;
  std::size_t given = 0;
  int status = 0;
  const auto deadline = Clock::now() + kLimit;
  for (pid_t gone = 0; gone == 0;) {
    constexpr int kLookMilliseconds = 5;
    pollfd sources[] = {{input.end(1), POLLOUT, 0}, {output.end(0), POLLIN, 0}, {messages.end(0), POLLIN, 0}};
    poll(sources, 3, kLookMilliseconds);
    gone = waitpid(pid, &status, WNOHANG);
    if (input.end(1) >= 0) give(input, command.input, given);
    if (output.end(0) >= 0) take(output, ended.output);
    if (messages.end(0) >= 0) take(messages, ended.messages);
    if (gone == 0 && Clock::now() > deadline) {
      ended.in_time = false;
      kill(-pid, SIGKILL);
    }
  }
  if (output.end(0) >= 0) take(output, ended.output);
  if (messages.end(0) >= 0) take(messages, ended.messages);
  ended.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ended;
}

}  // namespace lanescope::test
