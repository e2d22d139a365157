#include "remote/several_machines.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "collector/remote/signals.h"
#include "collector/remote/target.h"
#include "collector/session/planned_file.h"
#include "session/ending.h"
#include "session/group_witness.h"
#include "text.h"

namespace lanescope::cli {
namespace {

// A process for one machine.
struct Worker {
  pid_t process = 0;
  std::optional<int> status;  // as waitpid() has it, once it has ended
};

// Signals that are for all workers. A stop by the terminal comes to them as it comes to us.
sigset_t signals_for_all() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal = 1; signal < NSIG; ++signal)
    if (remote::passes_on(signal)) sigaddset(&signals, signal);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// Nothing can be asked at the terminal, because several would ask at once.
Result<Worker> start_worker(const Arguments& arguments, const sigset_t& signals) {
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  Worker worker;
  const int failure = posix_spawn(&worker.process, "/proc/self/exe", &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) return Error{"Can't start lanescope for each machine: " + std::string(std::strerror(failure)) + "."};
  return worker;
}

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

// Waits until all have ended. Returns the signals that came to us: bit n - 1 for signal n.
std::uint64_t await_all(std::vector<Worker>& workers, GroupWitness& witness, sigset_t signals) {
  sigaddset(&signals, SIGCHLD);
  std::uint64_t came = 0;
  const auto runs = [](const Worker& worker) { return !worker.status; };
  while (true) {
    for (Worker& worker : workers)
      if (int status = 0; runs(worker) && waitpid(worker.process, &status, WNOHANG) == worker.process) worker.status = status;
    if (std::none_of(workers.begin(), workers.end(), runs)) return came;
    siginfo_t signal{};
    if (sigwaitinfo(&signals, &signal) < 0 || signal.si_signo == SIGCHLD) continue;
    came |= std::uint64_t{1} << (signal.si_signo - 1);
    if (is_from_terminal_to_all(signal) || witness.has_got(signal.si_signo)) continue;  // it came to them as well
    for (const Worker& worker : workers)
      if (runs(worker)) kill(worker.process, signal.si_signo);
  }
}

int exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// Of the files that were there before, those that were written since.
void tell_how_to_open(const Arguments& files, std::filesystem::file_time_type begin) {
  Arguments command{"lanescope-ui", "--together"};
  std::error_code missing;
  for (const std::string& file : files)
    if (std::filesystem::is_regular_file(file, missing) && std::filesystem::last_write_time(file, missing) >= begin) command.push_back(file);
  if (command.size() > 3) std::cerr << "Open them as one trace with: " << command_text(command) << '\n';
}

}  // namespace

int record_on_each(const RemoteOptions& remote, const std::string& command, const Arguments& options, const Arguments& program, const std::string& output) {
  Arguments files;
  const Result<std::vector<std::string>> outputs = outputs_of(output, remote.targets, files);
  if (!outputs) return fail(outputs.error());
  // File systems round times, some to two seconds.
  const std::filesystem::file_time_type begin = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(2);
  const sigset_t signals = signals_for_all();
  sigset_t blocked = signals, before;
  sigaddset(&blocked, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  GroupWitness witness = GroupWitness::start(program);
  std::vector<Worker> workers;
  std::optional<Error> failure;
  for (std::size_t i = 0; i < outputs->size() && !failure; ++i) {
    Arguments arguments{"lanescope", command};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--on=" + remote.targets[i], "--remote-lanescope=" + remote.lanescope, "--output=" + (*outputs)[i]});
    if (!remote.folder.empty()) arguments.push_back("--remote-folder=" + remote.folder);
    if (remote.copies_recorder) arguments.emplace_back("--copy-recorder");
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    Result<Worker> worker = start_worker(arguments, before);
    if (worker)
      workers.push_back(*worker);
    else
      failure = worker.error();
  }
  if (failure)
    for (const Worker& worker : workers) kill(worker.process, SIGTERM);
  const std::uint64_t came = await_all(workers, witness, signals);
  if (failure) return fail(*failure);
  tell_how_to_open(files, begin);
  const auto bad = std::find_if(workers.begin(), workers.end(), [](const Worker& worker) { return exit_code(*worker.status) != kSuccess; });
  if (bad == workers.end()) return kSuccess;
  if (WIFSIGNALED(*bad->status) && (came >> (WTERMSIG(*bad->status) - 1) & 1) != 0) end_by(WTERMSIG(*bad->status));
  return exit_code(*bad->status);
}

}  // namespace lanescope::cli
