#include "launch/launcher.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "collector/session/inheritance.h"
#include "launch/means.h"

namespace lanescope::session {
namespace {

enum class Step : int { kUser, kRead, kDirectory, kExecute };

// What the waiting process reports if it could not become the program.
struct Failure {
  Step step;
  int error;
};

// Variables by which a service manager (systemd) tells the process that it starts its own number: what they say is meant for that process alone. The program
// is that process without us.
constexpr std::array<std::string_view, 3> kOwnNumbers{"LISTEN_PID=", "WATCHDOG_PID=", "SYSTEMD_EXEC_PID="};

bool has_our_number(std::string_view entry) {
  const auto name = std::find_if(kOwnNumbers.begin(), kOwnNumbers.end(), [&](std::string_view each) { return entry.starts_with(each); });
  return name != kOwnNumbers.end() && inherited_number() != 0 && entry.substr(name->size()) == std::to_string(inherited_number());
}

// Names the same process as LISTEN_PID, by the number of its pidfd (systemd 258). A program looks at it only if it is there, so it is left out.
constexpr std::string_view kOwnPidfd = "LISTEN_PIDFDID=";

void leave_out_own_pidfd(std::vector<std::string>& entries) {
  const bool is_ours =
      std::any_of(entries.begin(), entries.end(), [](const std::string& entry) { return entry.starts_with(kOwnNumbers.front()) && has_our_number(entry); });
  if (is_ours) std::erase_if(entries, [](const std::string& entry) { return entry.starts_with(kOwnPidfd); });
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// The variables of a program.
class ProgramEnvironment {
 public:
  explicit ProgramEnvironment(std::vector<std::string> entries) : entries_(std::move(entries)) {
    leave_out_own_pidfd(entries_);
    for (std::string& entry : entries_) {
      if (!has_our_number(entry)) continue;
      const std::size_t value = entry.find('=') + 1;
      entry.resize(value + kDigits + 1, '\0');
      own_numbers_.push_back(entry.data() + value);
    }
    pointers_ = pointers(entries_);
  }
  // For the process that becomes the program. Safe between fork and exec.
  char* const* of_this_process() noexcept {
    for (char* const number : own_numbers_) *std::to_chars(number, number + kDigits, getpid()).ptr = '\0';
    return pointers_.data();
  }

 private:
  static constexpr std::size_t kDigits = 10;
  std::vector<std::string> entries_;
  std::vector<char*> own_numbers_;  // in the entries
  std::vector<char*> pointers_;
};

bool become_user(const TargetUser& user) { return setgroups(user.groups.size(), user.groups.data()) == 0 && setgid(user.group) == 0 && setuid(user.user) == 0; }

void lead(int descriptor, int to) {
  if (to >= 0 && inherited(descriptor)) dup2(to, descriptor);
}

// Becomes the program; returns only on failure. Makes only calls that are safe between fork and exec, because the host may have threads.
Failure become(const LaunchPlan& plan, char* const* arguments, ProgramEnvironment& environment) {
  give_back_inheritance();
  lead(STDOUT_FILENO, plan.standard_output);
  lead(STDERR_FILENO, plan.standard_error);
  if (plan.user && !become_user(*plan.user)) return {Step::kUser, errno};
  if (plan.user && !plan.must_read.empty() && access(plan.must_read.c_str(), R_OK) != 0) return {Step::kRead, errno};
  if (plan.user && plan.death_signal != 0) prctl(PR_SET_PDEATHSIG, plan.death_signal);  // another user's rights have taken it away
  if (!plan.working_directory.empty() && chdir(plan.working_directory.c_str()) != 0) return {Step::kDirectory, errno};
  execvpe(arguments[0], arguments, environment.of_this_process());
  return {Step::kExecute, errno};
}

// Runs in the waiting process.
[[noreturn]] void wait_and_become(const LaunchPlan& plan, char* const* arguments, ProgramEnvironment& environment, int gate, int report) {
  if (plan.death_signal != 0) prctl(PR_SET_PDEATHSIG, plan.death_signal);  // before it waits: then it learns if the host has ended already
  char go = 0;
  ssize_t got;
  do {
    got = read(gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(0);
  const Failure failure = become(plan, arguments, environment);
  [[maybe_unused]] const ssize_t ignored = write(report, &failure, sizeof(failure));
  _exit(127);
}

Error no_such_program(const std::string& program) { return {"Can't start " + program + ": there is no such program. Check its name and PATH."}; }

// Empty if it is in no folder of PATH.
std::filesystem::path find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/bin:/usr/bin";
  std::error_code missing;
  for (std::size_t begin = 0, end = 0; begin <= folders.size(); begin = end + 1) {
    end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);  // an empty one, also the last, is the current folder
    const std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / program;
    if (access(candidate.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(candidate, missing)) return candidate;
  }
  return {};
}

// Why the system refused a program, and what to do.
Error not_started(const std::string& program, int error) {
  const std::filesystem::path file = program.find('/') != std::string::npos ? std::filesystem::path(program) : find_in_path(program);
  const std::string begin = "Can't start " + program + ": ";
  std::error_code ignored;
  if (error == ENOENT && std::filesystem::exists(file, ignored))
    return {begin + "the interpreter or loader that it names is not there. Install it, or correct its first line."};
  if (error == ENOENT) return no_such_program(program);
  if (error == EACCES && std::filesystem::is_directory(file, ignored)) return {begin + "it is a folder. Name a program."};
  if (error == EACCES && std::filesystem::exists(file, ignored) && access(file.c_str(), X_OK) != 0)
    return {begin + "it is not executable. Allow it with: chmod +x " + program};
  return {begin + std::strerror(error) + "."};
}

Error why(const Failure& failure, const LaunchPlan& plan) {
  const std::string& program = plan.command.front();
  const std::string reason = std::strerror(failure.error);
  if (failure.step == Step::kUser) return {"Can't start " + program + " as " + plan.user->name + ": " + reason + "."};
  if (failure.step == Step::kRead)
    return {"Can't record " + program + " as " + plan.user->name + ", who may not read " + plan.must_read.string() +
            ". Install Lanescope where all users can read it."};
  if (failure.step == Step::kDirectory) return {"Can't start " + program + " in " + plan.working_directory.string() + ": " + reason + "."};
  return not_started(program, failure.error);
}

}  // namespace

Result<TargetUser> find_target_user(const std::string& name) {
  const bool is_number = !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == std::string::npos;
  const passwd* entry = getpwnam(name.c_str());
  if (entry == nullptr && is_number) entry = getpwuid(static_cast<uid_t>(std::stoul(name)));
  if (entry == nullptr) return Error{"There is no user " + name + " on this machine.", ErrorKind::kUsage};
  if (geteuid() != 0) return Error{"Only root may start a program as another user. Run: sudo lanescope profile --run-as=" + name + " ...", ErrorKind::kUsage};
  TargetUser user{entry->pw_name, entry->pw_uid, entry->pw_gid, {}, entry->pw_dir};
  int count = 64;
  user.groups.resize(static_cast<std::size_t>(count));
  while (getgrouplist(user.name.c_str(), user.group, user.groups.data(), &count) < 0) user.groups.resize(static_cast<std::size_t>(count));
  user.groups.resize(static_cast<std::size_t>(count));
  return user;
}

Result<std::filesystem::path> find_program(const std::string& program, const std::filesystem::path& working_directory) {
  std::error_code missing;
  if (!working_directory.empty() && !std::filesystem::is_directory(working_directory, missing))
    return Error{"Can't start " + program + " in " + working_directory.string() + ": there is no such folder."};
  const bool by_path = program.find('/') != std::string::npos;
  const std::filesystem::path found = by_path ? working_directory / program : find_in_path(program);
  if (found.empty()) return no_such_program(program);
  if (!std::filesystem::exists(found, missing)) return missing ? not_started(program, missing.value()) : no_such_program(program);
  const std::filesystem::path absolute = std::filesystem::absolute(found, missing);
  if (missing) return not_started(program, missing.value());
  return absolute;
}

int death_signal_of_this_thread() noexcept { return gettid() == getpid() ? inherited_death_signal() : 0; }

Error become_program(const LaunchPlan& plan) {
  const std::vector<char*> arguments = pointers(plan.command);
  ProgramEnvironment environment(plan.environment);
  return why(become(plan, arguments.data(), environment), plan);
}

Result<WaitingProcess> WaitingProcess::start(const LaunchPlan& plan) {
  int gate[2];
  int report[2];
  if (pipe2(gate, O_CLOEXEC) != 0) return shortage(errno);
  FileDescriptor gate_read(gate[0]);
  WaitingProcess process;
  process.gate_ = FileDescriptor(gate[1]);
  if (pipe2(report, O_CLOEXEC) != 0) return shortage(errno);
  process.report_ = FileDescriptor(report[0]);
  FileDescriptor report_write(report[1]);
  process.plan_ = plan;

  const std::vector<char*> arguments = pointers(plan.command);
  ProgramEnvironment environment(plan.environment);
  const pid_t pid = fork();
  if (pid < 0) return shortage(errno);
  if (pid == 0) {
    close(gate[1]);  // with its own copy, the gate would not close if the host dies
    close(report[0]);
    wait_and_become(plan, arguments.data(), environment, gate[0], report[1]);
  }
  process.pid_ = pid;
  return process;
}

WaitingProcess::WaitingProcess(WaitingProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), gate_(std::move(other.gate_)), report_(std::move(other.report_)), plan_(std::move(other.plan_)) {}

WaitingProcess::~WaitingProcess() {
  if (pid_ == 0) return;
  gate_.reset();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<void> WaitingProcess::release() {
  const char go = 1;
  [[maybe_unused]] const ssize_t ignored = write(gate_.get(), &go, 1);
  Failure failure{};
  ssize_t got;
  do {
    got = read(report_.get(), &failure, sizeof(failure));
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(failure))) return why(failure, plan_);
  pid_ = 0;  // from here on the caller waits for it
  return {};
}

}  // namespace lanescope::session
