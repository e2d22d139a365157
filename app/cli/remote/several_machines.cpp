#include "remote/several_machines.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <list>
#include <optional>
#include <utility>

#include "collector/remote/signals.h"
#include "collector/remote/target.h"
#include "collector/session/planned_file.h"
#include "remote/machine_process.h"
#include "remote/named_lines.h"
#include "remote/question.h"
#include "session/ending.h"
#include "session/group_witness.h"
#include "text.h"

namespace lanescope::cli {
namespace {

// Signals that are for all machines. A stop by the terminal comes to their processes as it comes to us.
sigset_t signals_for_all() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal = 1; signal < NSIG; ++signal)
    if (remote::passes_on(signal)) sigaddset(&signals, signal);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

Questions questions_here() { return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 ? Questions::kAnswered : Questions::kNone; }

// An output name for this file: a percent sign begins a placeholder there.
std::string literal(const std::string& file) {
  std::string name;
  for (const char letter : file) name += letter == '%' ? std::string("%%") : std::string(1, letter);
  return name;
}

// The output names for the workers. A number is chosen here, so that it is known in the end which files they are; the rest is left to the workers, who refuse
// what can't be known here.
Result<std::vector<std::string>> outputs_of(const std::string& output, const std::vector<std::string>& targets, Arguments& files) {
  for (const std::string& target : targets)
    if (const Result<remote::Target> read = remote::parse_target(target); !read) return read.error();
  Result<std::vector<std::string>> outputs = remote::outputs_of_machines(output, targets);
  if (!outputs) return outputs;
  for (std::string& name : *outputs) {
    const Result<std::optional<std::filesystem::path>> planned = session::planned_file(name);
    if (!planned) return planned.error();
    files.push_back(*planned ? (**planned).string() : std::string());
    if (*planned && name.find("%n") != std::string::npos && name.find("%q") == std::string::npos) name = literal(files.back());
  }
  return outputs;
}

// The machines' processes, with what they print and ask.
class Machines {
 public:
  // Blocks these signals, which are then passed on to the processes.
  Machines(const Arguments& program, const std::vector<std::string>& names, sigset_t signals);

  // Starts the process of the next machine. Fails with one sentence.
  Result<void> start(const Arguments& arguments, const std::string& target);
  void end_all(int signal);
  // Waits until all have ended, and everything is printed that somebody reads. Returns the signals that came to us: bit n - 1 for signal n.
  std::uint64_t await();
  // As waitpid() has it, of each that was started, in order.
  [[nodiscard]] std::vector<int> statuses() const;

 private:
  struct Machine {
    MachineProcess process;
    std::array<NamedLines, 2> lines;
    std::string target;
  };
  using Places = std::vector<pollfd>;

  [[nodiscard]] bool has_ended() const;
  Places places_to_watch() const;
  void look_at_children();
  void look_at_signals();
  void read_texts();
  void print();
  void look_at_questions();
  void answer_question();
  void drop_question();

  sigset_t signals_;
  sigset_t mask_before_{};
  channel::FileDescriptor signal_places_;  // readable while a signal waits
  GroupWitness witness_;
  std::vector<std::string> prefixes_;
  std::array<SharedOutput, 2> outputs_{SharedOutput(STDOUT_FILENO), SharedOutput(STDERR_FILENO)};
  std::list<Machine> machines_;
  Machine* asking_ = nullptr;  // whose question stands at the terminal
  std::uint64_t came_ = 0;
  bool is_given_up_ = false;  // a signal came after all had ended
};

Machines::Machines(const Arguments& program, const std::vector<std::string>& names, sigset_t signals) : signals_(signals), prefixes_(line_prefixes(names)) {
  sigaddset(&signals_, SIGCHLD);
  sigset_t blocked = signals_;
  sigaddset(&blocked, SIGPIPE);  // a reader that has left is told to the processes
  pthread_sigmask(SIG_BLOCK, &blocked, &mask_before_);
  signal_places_ = channel::FileDescriptor(signalfd(-1, &signals_, SFD_CLOEXEC));
  witness_ = GroupWitness::start(program);
}

Result<void> Machines::start(const Arguments& arguments, const std::string& target) {
  Result<MachineProcess> process = start_machine_process(arguments, mask_before_, questions_here());
  if (!process) return process.error();
  for (const channel::FileDescriptor& text : process->texts) fcntl(text.get(), F_SETFL, O_NONBLOCK);
  const std::string& prefix = prefixes_[machines_.size()];
  machines_.push_back({std::move(*process), {NamedLines(prefix, outputs_[0]), NamedLines(prefix, outputs_[1])}, target});
  return {};
}

void Machines::end_all(int signal) {
  for (const Machine& machine : machines_)
    if (!machine.process.status) kill(machine.process.process, signal);
}

std::vector<int> Machines::statuses() const {
  std::vector<int> statuses;
  for (const Machine& machine : machines_) statuses.push_back(machine.process.status.value_or(0));
  return statuses;
}

bool Machines::has_ended() const {
  return std::all_of(machines_.begin(), machines_.end(), [](const Machine& machine) { return machine.process.status.has_value(); });
}

Machines::Places Machines::places_to_watch() const {
  Places places{{signal_places_.get(), POLLIN, 0}};
  if (asking_ != nullptr) places.push_back({STDIN_FILENO, POLLIN, 0});
  for (const Machine& machine : machines_) {
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (machine.process.texts[i].valid() && !outputs_[i].is_full()) places.push_back({machine.process.texts[i].get(), POLLIN, 0});
    if (machine.process.questions.valid() && (asking_ == nullptr || asking_ == &machine)) places.push_back({machine.process.questions.get(), POLLIN, 0});
  }
  for (const SharedOutput& output : outputs_)
    if (!output.is_empty() && asking_ == nullptr) places.push_back({output.file(), POLLOUT, 0});
  return places;
}

std::uint64_t Machines::await() {
  while (true) {
    look_at_children();
    const bool is_over = has_ended();  // then nothing more is printed than what can be read now
    read_texts();
    look_at_questions();
    print();
    const bool is_printed = std::all_of(outputs_.begin(), outputs_.end(), [](const SharedOutput& output) { return output.is_empty(); });
    const bool is_read = std::all_of(outputs_.begin(), outputs_.end(), [](const SharedOutput& output) { return !output.is_full(); });
    if (is_over && is_read && (is_printed || is_given_up_)) break;
    Places places = places_to_watch();
    if (poll(places.data(), places.size(), -1) < 0 && errno != EINTR) break;
    look_at_signals();
    if (asking_ != nullptr && places.size() > 1 && places[1].fd == STDIN_FILENO && places[1].revents != 0) answer_question();
  }
  return came_;
}

void Machines::look_at_children() {
  for (Machine& machine : machines_)
    if (int status = 0; !machine.process.status && waitpid(machine.process.process, &status, WNOHANG) == machine.process.process)
      machine.process.status = status;
}

void Machines::look_at_signals() {
  siginfo_t signal{};
  constexpr timespec kNoWait{0, 0};
  while (sigtimedwait(&signals_, &signal, &kNoWait) > 0) {
    if (signal.si_signo == SIGCHLD) continue;
    came_ |= std::uint64_t{1} << (signal.si_signo - 1);
    is_given_up_ = is_given_up_ || has_ended();
    if (is_from_terminal_to_all(signal) || witness_.has_got(signal.si_signo)) continue;  // it came to them as well
    end_all(signal.si_signo);
  }
}

void Machines::read_texts() {
  std::array<char, 16u << 10> piece;
  for (Machine& machine : machines_) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      channel::FileDescriptor& text = machine.process.texts[i];
      while (text.valid() && !outputs_[i].is_full()) {
        const ssize_t size = read(text.get(), piece.data(), piece.size());
        if (size > 0) {
          machine.lines[i].take({piece.data(), static_cast<std::size_t>(size)});
          continue;
        }
        if (size < 0 && errno == EINTR) continue;
        // What a process that has ended left to others of its descriptors is not waited for.
        if (size < 0 && errno == EAGAIN && !machine.process.status) break;
        machine.lines[i].finish();
        text.reset();
      }
    }
  }
}

void Machines::print() {
  if (asking_ != nullptr) return;  // the question stands at the end of the terminal
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    pollfd room{outputs_[i].file(), POLLOUT, 0};
    while (!outputs_[i].is_empty() && poll(&room, 1, 0) > 0) outputs_[i].write_on();
    if (!outputs_[i].has_left()) continue;
    for (Machine& machine : machines_) machine.process.texts[i].reset();  // by this, each knows that nobody reads it any more
  }
}

void Machines::look_at_questions() {
  for (Machine& machine : machines_) {
    channel::FileDescriptor& questions = machine.process.questions;
    if (!questions.valid() || (asking_ != nullptr && asking_ != &machine)) continue;
    char question = 0;
    const ssize_t size = recv(questions.get(), &question, 1, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size == 1 && question == kMayCopy && asking_ == nullptr) {
      print();
      asking_ = &machine;
      ask_whether_to_copy(machine.target);
      continue;
    }
    if (asking_ == &machine) drop_question();
    questions.reset();
  }
}

void Machines::answer_question() {
  const char answer = is_answered_by_yes() ? kAnswerYes : kAnswerNo;
  static_cast<void>(send(asking_->process.questions.get(), &answer, 1, MSG_NOSIGNAL));
  asking_ = nullptr;
}

void Machines::drop_question() {
  std::cerr << std::endl;
  asking_ = nullptr;
}

int exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// Differs once the file was replaced or written to. Nothing if there is no such file.
using FileState = std::optional<std::array<std::uint64_t, 5>>;

FileState state_of(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return std::array{std::uint64_t{status.st_dev}, std::uint64_t{status.st_ino}, static_cast<std::uint64_t>(status.st_size),
                    static_cast<std::uint64_t>(status.st_mtim.tv_sec), static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

// Names the files that were made: those that are not as they were before.
void tell_how_to_open(const Arguments& files, const std::vector<FileState>& before) {
  Arguments command{"lanescope-ui", "--together"};
  for (std::size_t i = 0; i < files.size(); ++i)
    if (const FileState now = state_of(files[i]); now && now != before[i]) command.push_back(files[i]);
  if (command.size() > 3) std::cerr << "Open them as one trace with: " << command_text(command) << '\n';
}

}  // namespace

int record_on_each(const RemoteOptions& remote, const std::string& command, const Arguments& options, const Arguments& program, const std::string& output) {
  Arguments files;
  const Result<std::vector<std::string>> outputs = outputs_of(output, remote.targets, files);
  if (!outputs) return fail(outputs.error());
  std::vector<FileState> before;
  for (const std::string& file : files) before.push_back(state_of(file));
  const Result<std::vector<std::string>> names = remote::names_of_machines(remote.targets);
  if (!names) return fail(names.error());
  Machines machines(program, *names, signals_for_all());
  std::optional<Error> failure;
  for (std::size_t i = 0; i < outputs->size() && !failure; ++i) {
    Arguments arguments{"lanescope", command};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--on=" + remote.targets[i], "--one-of-several", "--remote-lanescope=" + remote.lanescope, "--output=" + (*outputs)[i]});
    if (!remote.folder.empty()) arguments.push_back("--remote-folder=" + remote.folder);
    if (remote.copies_recorder) arguments.emplace_back("--copy-recorder");
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    if (const Result<void> started = machines.start(arguments, remote.targets[i]); !started) failure = started.error();
  }
  if (failure) machines.end_all(SIGTERM);
  const std::uint64_t came = machines.await();
  if (failure) return fail(*failure);
  tell_how_to_open(files, before);
  const std::vector<int> statuses = machines.statuses();
  const auto bad = std::find_if(statuses.begin(), statuses.end(), [](int status) { return exit_code(status) != kSuccess; });
  if (bad == statuses.end()) return kSuccess;
  if (WIFSIGNALED(*bad) && (came >> (WTERMSIG(*bad) - 1) & 1) != 0) end_by(WTERMSIG(*bad));
  return exit_code(*bad);
}

}  // namespace lanescope::cli
