#include "remote/machine_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace lanescope::cli {
namespace {

using channel::FileDescriptor;

struct Ends {
  FileDescriptor ours;
  FileDescriptor its;
};

// Their numbers are beyond those of standard input, output and error, which may be closed here.
std::optional<Ends> taken(int ours, int its) {
  const FileDescriptor first(ours), second(its);
  Ends ends{FileDescriptor(fcntl(ours, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)), FileDescriptor(fcntl(its, F_DUPFD_CLOEXEC, STDERR_FILENO + 1))};
  if (!ends.ours.valid() || !ends.its.valid()) return std::nullopt;
  return ends;
}

std::optional<Ends> make_pipe() {
  int ends[2];
  return pipe2(ends, O_CLOEXEC) == 0 ? taken(ends[0], ends[1]) : std::nullopt;
}

std::optional<Ends> make_input(Questions questions) {
  if (questions == Questions::kNone) return Ends{FileDescriptor(), FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))};
  int ends[2];
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? taken(ends[0], ends[1]) : std::nullopt;
}

// Runs in the child. Writes errno to `report` on failure.
[[noreturn]] void become(char* const* words, const sigset_t& mask, pid_t parent, const std::array<int, 3>& standard, int report) {
  prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (getppid() != parent) _exit(kFailure);
  for (int number = 0; number < 3; ++number) dup2(standard[static_cast<std::size_t>(number)], number);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execv("/proc/self/exe", words);
  const int problem = errno;
  static_cast<void>(!write(report, &problem, sizeof(problem)));
  _exit(kFailure);
}

}  // namespace

Result<MachineProcess> start_machine_process(const Arguments& arguments, const sigset_t& mask, Questions questions) {
  const auto failed = [](int problem) { return Error{"Can't start lanescope for each machine: " + std::string(std::strerror(problem)) + "."}; };
  std::optional<Ends> input = make_input(questions), output = make_pipe(), messages = make_pipe(), report = make_pipe();
  if (!input || !output || !messages || !report) return failed(errno);
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t parent = getpid();
  MachineProcess started;
  started.process = fork();
  if (started.process < 0) return failed(errno);
  if (started.process == 0) become(words.data(), mask, parent, {input->its.get(), output->its.get(), messages->its.get()}, report->its.get());
  report->its.reset();
  int problem = 0;
  if (read(report->ours.get(), &problem, sizeof(problem)) == sizeof(problem)) return failed(problem);
  started.texts = {std::move(output->ours), std::move(messages->ours)};
  started.questions = std::move(input->ours);
  return started;
}

}  // namespace lanescope::cli
