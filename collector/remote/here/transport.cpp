#include "here/transport.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace lanescope::remote {
namespace {

using channel::FileDescriptor;
using namespace std::chrono_literals;

constexpr std::size_t kMostMessages = 1u << 20;  // bytes

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  const Error none_left{"There are no descriptors left to reach another machine."};
  if (pipe2(ends, O_CLOEXEC) != 0) return none_left;
  Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  // If standard input, output or error are closed, a pipe may get their numbers, which the child replaces.
  for (FileDescriptor* end : {&pipe.read_end, &pipe.write_end})
    if (end->get() <= STDERR_FILENO) *end = FileDescriptor(fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!pipe.read_end.valid() || !pipe.write_end.valid()) return none_left;
  return pipe;
}

// Runs in the child. Writes errno to `report` on failure.
[[noreturn]] void become(const std::vector<char*>& arguments, Terminal terminal, int input, int output, int messages, int report) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  // Ctrl+C goes to every process of the terminal. The link must survive it, because it carries the request to stop.
  if (terminal == Terminal::kShared) {
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGQUIT, SIG_IGN);
  } else {
    setsid();
  }
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  execvp(arguments.front(), arguments.data());
  const int problem = errno;
  static_cast<void>(write(report, &problem, sizeof(problem)));
  _exit(127);
}

}  // namespace

Transport::Transport(Transport&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      messages_(std::move(other.messages_)),
      said_(other.said_) {}

Result<Transport> Transport::start(const std::vector<std::string>& command, Terminal terminal) {
  Result<Pipe> input = make_pipe(), output = make_pipe(), messages = make_pipe(), report = make_pipe();
  for (const Result<Pipe>* pipe : {&input, &output, &messages, &report})
    if (!*pipe) return pipe->error();
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Transport transport;
  transport.process_ = fork();
  if (transport.process_ < 0) return Error{"There are no processes left to reach another machine."};
  if (transport.process_ == 0) become(arguments, terminal, input->read_end.get(), output->write_end.get(), messages->write_end.get(), report->write_end.get());
  report->write_end.reset();
  int problem = 0;
  if (read(report->read_end.get(), &problem, sizeof(problem)) == sizeof(problem))
    return Error{command.front() + " can't be started: " + std::strerror(problem) + "."};
  transport.input_ = std::move(input->write_end);
  transport.output_ = std::move(output->read_end);
  transport.messages_ = std::move(messages->read_end);
  fcntl(transport.messages_.get(), F_SETFL, O_NONBLOCK);
  return transport;
}

std::string Transport::take_messages() {
  std::string text;
  std::array<char, 16u << 10> piece;
  for (int pieces = 0; pieces < 16 && messages_.valid(); ++pieces) {
    const ssize_t size = read(messages_.get(), piece.data(), piece.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (size <= 0) {
      messages_.reset();
      break;
    }
    if (said_ < kMostMessages) text.append(piece.data(), static_cast<std::size_t>(size));
    said_ += static_cast<std::size_t>(size);
  }
  return text;
}

int Transport::wait(std::chrono::milliseconds limit) {
  const auto give_up = std::chrono::steady_clock::now() + limit;
  for (;;) {
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    if (std::chrono::steady_clock::now() >= give_up) return -1;
    std::this_thread::sleep_for(5ms);
  }
}

Transport::~Transport() {
  if (process_ <= 0) return;
  input_.reset();
  output_.reset();
  messages_.reset();
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    if (signal != 0) kill(process_, signal);
    if (wait(signal == SIGKILL ? 5'000ms : 500ms) >= 0) return;
  }
}

}  // namespace lanescope::remote
