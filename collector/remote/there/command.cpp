#include "there/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "collector/session/inheritance.h"

namespace lanescope::remote {
namespace {

using channel::FileDescriptor;

// Commands that answer at once, and concern the machine on which they run. attach and fetch are allowed for --list. Commands that record are allowed for an
// option's value `help`, which prints what the option takes there.
constexpr std::array<std::string_view, 9> kAllowed{"sessions", "status", "doctor", "start", "stop", "cancel", "shutdown", "attach", "fetch"};

constexpr std::array<std::string_view, 3> kAllowedForHelp{"profile", "launch", "attach"};

bool asks_for_values(std::string_view argument) { return argument == "help" || argument.ends_with("=help") || argument.ends_with(",help"); }

bool is_allowed(const proto::RemoteRequest::Run& request) {
  if (request.arguments().empty()) return false;
  const std::string& command = request.arguments(0);
  const auto& arguments = request.arguments();
  const bool lists = std::find(arguments.begin(), arguments.end(), "--list=true") != arguments.end();
  if (std::find(kAllowedForHelp.begin(), kAllowedForHelp.end(), command) != kAllowedForHelp.end() &&
      std::any_of(arguments.begin(), arguments.end(), asks_for_values))
    return true;
  return std::find(kAllowed.begin(), kAllowed.end(), command) != kAllowed.end() && (lists || (command != "attach" && command != "fetch"));
}

}  // namespace

Command::Command(Command&& other) noexcept
    : number_(other.number_), process_(std::exchange(other.process_, 0)), streams_(std::move(other.streams_)), sent_(other.sent_) {}

// Ends the command by a signal, so that it removes what it has started to write.
Command::~Command() {
  constexpr auto kPatience = std::chrono::seconds(5);
  constexpr auto kLook = std::chrono::milliseconds(5);
  if (process_ <= 0) return;
  streams_ = {};  // nobody reads what it prints
  kill(process_, SIGTERM);
  for (const auto give_up = std::chrono::steady_clock::now() + kPatience; std::chrono::steady_clock::now() < give_up; std::this_thread::sleep_for(kLook))
    if (waitpid(process_, nullptr, WNOHANG) != 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

Result<Command> Command::start(const proto::RemoteRequest::Run& request, std::uint32_t number, const std::filesystem::path& program) {
  if (!is_allowed(request)) return Error{"That command is not one that is asked of another machine.", ErrorKind::kUsage};
  int output[2];
  int messages[2];
  if (pipe2(output, O_CLOEXEC) != 0) return Error{"There are no descriptors left to run a command."};
  FileDescriptor output_end(output[1]);
  Command command;
  command.number_ = number;
  command.streams_[proto::RemoteReply::STREAM_OUTPUT] = FileDescriptor(output[0]);
  if (pipe2(messages, O_CLOEXEC) != 0) return Error{"There are no descriptors left to run a command."};
  FileDescriptor messages_end(messages[1]);
  command.streams_[proto::RemoteReply::STREAM_MESSAGES] = FileDescriptor(messages[0]);
  std::vector<std::string> arguments{"lanescope"};
  arguments.insert(arguments.end(), request.arguments().begin(), request.arguments().end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  command.process_ = fork();
  if (command.process_ < 0) return Error{"There are no processes left to run a command."};
  if (command.process_ == 0) {
    session::give_back_inheritance();  // first, because it opens what was closed for us
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing != STDIN_FILENO) dup2(nothing, STDIN_FILENO);
    dup2(output_end.get(), STDOUT_FILENO);
    dup2(messages_end.get(), STDERR_FILENO);
    execv(program.c_str(), pointers.data());
    _exit(1);
  }
  for (FileDescriptor& stream : command.streams_) fcntl(stream.get(), F_SETFL, O_NONBLOCK);
  return command;
}

bool Command::send_some(Link& link) {
  constexpr std::size_t kMostUnsent = 1u << 20;
  bool is_open = false;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    std::array<char, 64u << 10> piece;
    while (streams_[i].valid() && link.unsent() < kMostUnsent) {
      const ssize_t size = read(streams_[i].get(), piece.data(), piece.size());
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (size <= 0) {
        streams_[i].reset();
        break;
      }
      proto::RemoteReply reply;
      auto& text = *reply.mutable_text();
      text.set_stream(static_cast<proto::RemoteReply::Stream>(i));
      text.set_offset(sent_[i]);
      text.set_data(piece.data(), static_cast<std::size_t>(size));
      sent_[i] += static_cast<std::uint64_t>(size);
      link.send(reply);
    }
    is_open = is_open || streams_[i].valid();
  }
  if (is_open) return true;
  int status = 0;
  const pid_t ended = waitpid(process_, &status, WNOHANG);
  if (ended == 0) return true;
  process_ = 0;
  proto::RemoteReply reply;
  reply.set_request(number_);
  auto& end = *reply.mutable_end();
  end.set_is_known(ended > 0);
  if (WIFSIGNALED(status))
    end.set_signal(WTERMSIG(status));
  else
    end.set_code(WEXITSTATUS(status));
  link.send(reply);
  return false;
}

}  // namespace lanescope::remote
