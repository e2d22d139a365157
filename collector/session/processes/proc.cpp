#include "processes/proc.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "clock.h"
#include "collector/attach/process_list.h"
#include "collector/attach/process_text.h"

namespace lanescope::session {
namespace {

using attach::process_text;
using attach::status_value;

std::filesystem::path folder_of(pid_t pid) { return std::filesystem::path("/proc") / std::to_string(pid); }

// Limit of the variables in /proc/PID/environ.
constexpr std::size_t kMostVariables = 1u << 16;

// For a process that is gone, ours.
uid_t effective_user(pid_t pid) {
  std::istringstream users(status_value(process_text(folder_of(pid) / "status"), "Uid:"));
  uid_t real = 0;
  uid_t effective = 0;
  return users >> real >> effective ? effective : geteuid();
}

// Numbers of fields in /proc/PID/stat, as in proc(5).
constexpr std::size_t kParent = 4;
constexpr std::size_t kStart = 22;
constexpr std::size_t kExitStatus = 52;

// struct pidfd_info of linux/pidfd.h in its first version; system headers may be older than the kernel.
constexpr std::uint64_t kPidfdExit = 1u << 3;
struct PidfdInformation {
  std::uint64_t mask = kPidfdExit;
  std::uint64_t control_group = 0;
  std::uint32_t ids[11] = {};
  std::int32_t exit_status = 0;
};
static_assert(sizeof(PidfdInformation) == 64);
constexpr unsigned long kPidfdGetInformation = _IOWR(0xff, 11, PidfdInformation);

pid_t parent_of(pid_t pid) { return static_cast<pid_t>(attach::process_stat(folder_of(pid)).number(kParent)); }

// True if a process with these arguments may come from this command: they are equal, or an interpreter was put in front (#!).
bool may_come_from(const std::vector<std::string>& arguments, const std::vector<std::string>& command) {
  if (arguments.size() < command.size()) return false;
  const auto program = arguments.end() - static_cast<std::ptrdiff_t>(command.size());
  return std::equal(program + 1, arguments.end(), command.begin() + 1) &&
         std::filesystem::path(*program).filename() == std::filesystem::path(command.front()).filename();
}

}  // namespace

ProcessDescription describe_process(pid_t pid) {
  std::error_code failed;
  std::string executable = std::filesystem::read_symlink(folder_of(pid) / "exe", failed).string();
  if (failed == std::errc::permission_denied) executable = attach::process_stat(folder_of(pid)).name;
  return {parent_of(pid), std::move(executable), attach::process_arguments(folder_of(pid))};
}

std::optional<std::string> program_of(pid_t pid) {
  std::error_code failed;
  std::string program = std::filesystem::read_symlink(folder_of(pid) / "exe", failed).string();
  return failed ? std::nullopt : std::optional(std::move(program));
}

ProcessDescription describe_launched(pid_t pid, const std::filesystem::path& program, const std::vector<std::string>& command) {
  ProcessDescription now = describe_process(pid);
  if (may_come_from(now.arguments, command)) return now;
  std::error_code failed;
  const std::filesystem::path resolved = std::filesystem::canonical(program, failed);
  return {getpid(), failed ? program.string() : resolved.string(), command};
}

StartVariables start_variables(pid_t pid, std::span<const std::string_view> names) {
  StartVariables variables;
  std::size_t entries = 0;
  bool are_variables = true;
  const auto take = [&](std::string_view entry) {
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    if (equals == std::string_view::npos)
      are_variables = false;
    else if (std::find(names.begin(), names.end(), name) != names.end())
      variables.found.emplace(name, entry.substr(equals + 1));
    return ++entries < kMostVariables ? attach::Reading::kGoesOn : attach::Reading::kEnds;
  };
  switch (attach::read_parts(folder_of(pid) / "environ", attach::kMostEnvironmentBytes, take)) {
    case attach::PartsRead::kNone:
      variables.of_others = is_of_another_user(pid) ? StartEnvironment::kForbidden : StartEnvironment::kUnknown;
      break;
    case attach::PartsRead::kSome:  // there may be more
      variables.of_others = StartEnvironment::kUnknown;
      break;
    case attach::PartsRead::kAll:
      variables.of_others = are_variables ? StartEnvironment::kWithout : StartEnvironment::kUnknown;
  }
  return variables;
}

std::vector<pid_t> processes_started_with(std::string_view name, std::string_view value, std::size_t limit) {
  std::vector<pid_t> found;
  for (const pid_t pid : attach::process_numbers()) {
    if (found.size() >= limit) break;
    struct stat owner {};
    if (stat(folder_of(pid).c_str(), &owner) != 0 || owner.st_uid != geteuid()) continue;
    const auto variables = start_variables(pid, std::span(&name, 1)).found;
    if (!variables.empty() && variables.begin()->second == value) found.push_back(pid);
  }
  return found;
}

pid_t newest_task() {
  const std::string load = process_text("/proc/loadavg");
  return std::atoi(load.c_str() + load.rfind(' ') + 1);
}

bool may_be_process(pid_t number) {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, number, 0));
  if (process >= 0) close(process);
  return process >= 0 || (errno != ESRCH && errno != ENOENT && errno != EINVAL);
}

std::int64_t clock_shift(pid_t pid) {
  const auto space = [](const std::filesystem::path& process, const char* kind) {
    std::error_code failed;
    return std::filesystem::read_symlink(process / "ns" / kind, failed).string();
  };
  // The offset of CLOCK_MONOTONIC from the machine's clock. The kernel shows the offset for the children of a process, which is its own unless it has
  // requested another.
  const auto offset = [&](const std::filesystem::path& process) -> std::optional<std::int64_t> {
    if (space(process, "time") != space(process, "time_for_children")) return std::nullopt;
    std::istringstream lines(process_text(process / "timens_offsets"));
    std::string clock;
    for (std::int64_t seconds = 0, nanoseconds = 0; lines >> clock >> seconds >> nanoseconds;)
      if (clock == "monotonic") return seconds * 1'000'000'000 + nanoseconds;
    return std::nullopt;
  };
  const std::filesystem::path own = "/proc/self", other = folder_of(pid);
  static const std::string our_space = space(own, "time");
  if (space(other, "time") == our_space) return 0;
  const auto ours = offset(own), theirs = offset(other);
  return ours && theirs ? *ours - *theirs : 0;
}

pid_t parent_of_process(pid_t pid) {
  const std::string status = process_text(folder_of(pid) / "status");
  return status_value(status, "Tgid:") == std::to_string(pid) ? std::atoi(status_value(status, "PPid:").c_str()) : 0;
}

std::uint64_t started(pid_t pid) { return attach::process_stat(folder_of(pid)).number(kStart); }

bool is_there_since(pid_t pid, std::int64_t time) {
  const auto start = static_cast<std::int64_t>(started(pid));
  if (start == 0) return false;
  timespec since_boot{};  // includes the time in which the machine slept, which the other clock does not
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const std::int64_t slept = since_boot.tv_sec * 1'000'000'000 + since_boot.tv_nsec - monotonic_now();
  const std::int64_t tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  return start * tick - slept <= time;
}

bool is_of_another_user(pid_t pid) { return effective_user(pid) != geteuid(); }

bool has_arguments(pid_t pid) { return !process_text(folder_of(pid) / "cmdline", 1).empty(); }

bool may_not_read(pid_t pid, const std::filesystem::path& file) {
  const std::string status = process_text(folder_of(pid) / "status");
  const auto numbers = [&](std::string_view word) {
    std::istringstream line(status_value(status, word));
    return std::vector<std::uint64_t>{std::istream_iterator<std::uint64_t>(line), {}};
  };
  const std::vector<std::uint64_t> users = numbers("Uid:"), groups = numbers("Gid:"), others = numbers("Groups:");
  if (users.size() != 4 || groups.size() != 4 || users[3] == 0 || users[3] == geteuid()) return false;
  constexpr std::uint64_t kReadsAll = 1u << 1 | 1u << 2;  // CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
  if ((std::strtoull(status_value(status, "CapEff:").c_str(), nullptr, 16) & kReadsAll) != 0) return false;
  // Checks the mode bits (those of others: 4 read, 1 pass) of the right class; access control lists may say otherwise.
  const auto may = [&](const std::filesystem::path& path, mode_t bits) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0 || getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0) return true;
    const bool is_of_group = found.st_gid == groups[3] || std::find(others.begin(), others.end(), found.st_gid) != others.end();
    const mode_t needed = found.st_uid == users[3] ? bits << 6 : is_of_group ? bits << 3 : bits;
    return (found.st_mode & needed) == needed;
  };
  for (std::filesystem::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (!may(folder, 1)) return true;
  return !may(file, 4);
}

bool is_missing_for(pid_t pid, const std::filesystem::path& file) {
  const std::filesystem::path root = folder_of(pid) / "root";
  const bool is_known = access((root / ".").c_str(), F_OK) == 0;
  return is_known && access((root / file.relative_path()).c_str(), F_OK) != 0 && errno == ENOENT && access((root / ".").c_str(), F_OK) == 0;
}

namespace {

// What the kernel told the program's loader. Nothing if we may not read it, as is usual if the program has rights that we lack.
std::optional<bool> was_told_to_be_careful(pid_t pid) {
  const std::string text = process_text(folder_of(pid) / "auxv");
  Elf64_auxv_t entry{};
  for (std::size_t at = 0; at + sizeof(entry) <= text.size(); at += sizeof(entry)) {
    std::memcpy(&entry, text.data() + at, sizeof(entry));
    if (entry.a_type == AT_SECURE) return entry.a_un.a_val != 0;
  }
  return std::nullopt;
}

struct Rights {
  std::uint64_t user = 0, effective_user = 0, group = 0, effective_group = 0, capabilities = 0;
  bool may_gain = true;
};

std::optional<Rights> rights_of(pid_t pid) {
  const std::string status = process_text(folder_of(pid) / "status");
  Rights rights;
  std::istringstream users(status_value(status, "Uid:")), groups(status_value(status, "Gid:"));
  if (!(users >> rights.user >> rights.effective_user) || !(groups >> rights.group >> rights.effective_group)) return std::nullopt;
  rights.capabilities = std::strtoull(status_value(status, "CapPrm:").c_str(), nullptr, 16);
  rights.may_gain = status_value(status, "NoNewPrivs:") != "1";
  return rights;
}

bool file_gives_rights(const std::string& path, const Rights& to) {
  struct stat facts {};
  struct statvfs system {};
  constexpr mode_t kGroup = S_ISGID | S_IXGRP;
  if (!to.may_gain || stat(path.c_str(), &facts) != 0 || statvfs(path.c_str(), &system) != 0 || (system.f_flag & ST_NOSUID) != 0) return false;
  if ((facts.st_mode & S_ISUID) != 0 && facts.st_uid != to.user) return true;
  if ((facts.st_mode & kGroup) == kGroup && facts.st_gid != to.group) return true;
  return to.user != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

// A process that has ended has the file alone.
bool gains_rights(pid_t pid, const std::string& executable) {
  if (program_of(pid) == executable)
    if (const std::optional<bool> told = was_told_to_be_careful(pid)) return *told;
  const std::optional<Rights> theirs = rights_of(pid), ours = rights_of(getpid());
  if (!ours) return false;
  if (executable.starts_with('/')) return file_gives_rights(executable, theirs.value_or(*ours));
  return theirs && (theirs->user != theirs->effective_user || theirs->group != theirs->effective_group || (theirs->capabilities & ~ours->capabilities) != 0);
}

// In a namespace of processes that is not ours, the link leads nowhere for us.
bool has_no_proc(pid_t pid) {
  const std::filesystem::path root = folder_of(pid) / "root";
  struct stat status {};
  return lstat((root / "proc/self").c_str(), &status) != 0 && errno == ENOENT && access((root / ".").c_str(), F_OK) == 0;
}

bool has_loaded(pid_t pid, const std::filesystem::path& file) {
  const std::string name = '/' + file.filename().string();
  std::istringstream maps(process_text(folder_of(pid) / "maps"));
  for (std::string line; std::getline(maps, line);)
    if (line.find(" rw") != std::string::npos && line.find(name) != std::string::npos) return true;
  return false;
}

bool has_no_descriptor_left(pid_t pid) {
  constexpr rlim_t kMostDescriptors = 65'536;  // limit of the descriptors that are counted
  rlimit limit{};
  const std::filesystem::path descriptors = folder_of(pid) / "fd";
  if (prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0 || limit.rlim_cur == 0 || limit.rlim_cur > kMostDescriptors) return false;
  struct stat last {};  // the one that is used when all others are
  if (lstat((descriptors / std::to_string(limit.rlim_cur - 1)).c_str(), &last) != 0) return false;
  std::error_code failed;
  rlim_t low = 0;  // number of descriptors below the limit; others were opened under a higher limit
  for (std::filesystem::directory_iterator each(descriptors, failed); !failed && each != std::filesystem::directory_iterator(); each.increment(failed))
    if (std::strtoull(each->path().filename().c_str(), nullptr, 10) < limit.rlim_cur) ++low;
  return !failed && low == limit.rlim_cur;
}

bool has_no_room_for_agent(pid_t pid) {
  constexpr std::uint64_t kDataOfAgent = 1'400'000;       // bytes
  constexpr std::uint64_t kAddressesOfAgent = 2'200'000;  // of the file; what it maps later has a message of its own
  const std::string status = process_text(folder_of(pid) / "status");
  const auto leaves_too_little = [&](auto resource, std::string_view used, std::uint64_t needed) {
    rlimit limit{};
    const std::string kibibytes = status_value(status, used);
    if (kibibytes.empty() || prlimit(pid, resource, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
    return limit.rlim_cur < (std::strtoull(kibibytes.c_str(), nullptr, 10) << 10) + needed;
  };
  return leaves_too_little(RLIMIT_DATA, "VmData:", kDataOfAgent) || leaves_too_little(RLIMIT_AS, "VmSize:", kAddressesOfAgent);
}

namespace {

struct Filters {
  bool is_filtered = false;
  std::optional<unsigned> count;  // nothing: Linux before 5.9

  explicit Filters(const std::string& status) : is_filtered(status_value(status, "Seccomp:") == "2") {
    if (const std::string number = status_value(status, "Seccomp_filters:"); !number.empty())
      count = static_cast<unsigned>(std::strtoul(number.c_str(), nullptr, 10));
  }
};

Filters filters_of_this_process() { return Filters(process_text("/proc/self/status")); }

}  // namespace

bool has_filter_of_its_own(pid_t pid) {
  const std::string status = process_text(folder_of(pid) / "status");
  if (status_value(status, "VmSize:").empty()) return false;
  const Filters own = filters_of_this_process();
  const Filters theirs(status);
  return theirs.is_filtered && (!own.is_filtered || theirs.count != own.count);
}

bool had_filter_of_its_own(pid_t pid) {
  const Filters own = filters_of_this_process();
  const Filters theirs(process_text(folder_of(pid) / "status"));
  return theirs.is_filtered && (!own.is_filtered || theirs.count > own.count);
}

std::optional<unsigned> own_filters() {
  const Filters own = filters_of_this_process();
  return own.is_filtered ? own.count : 0;
}

bool may_end(pid_t pid, int signal) {
  for (const int harmless : {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH})
    if (signal == harmless) return false;
  const std::string status = process_text(folder_of(pid) / "status");
  std::uint64_t handled = 0;
  for (const std::string_view word : {"SigCgt:", "SigIgn:"}) handled |= std::strtoull(status_value(status, word).c_str(), nullptr, 16);
  return signal <= 0 || (handled >> (signal - 1) & 1) == 0;
}

ExitStatus to_exit_status(int wait_status) noexcept {
  if (WIFSIGNALED(wait_status)) return {0, WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), 0};
}

void wait_for_in_background(pid_t child) noexcept {
  try {
    std::thread([child] { waitpid(child, nullptr, 0); }).detach();
  } catch (const std::system_error&) {
  }
}

namespace {

// Of an ended process. Linux 5.16 and newer report 3 for one that was ended for a forbidden call, in either mode.
bool had_seccomp_mode(pid_t pid, std::string_view mode) {
  const std::string value = status_value(process_text(folder_of(pid) / "status"), "Seccomp:");
  return value == mode || value == "3";
}

}  // namespace

// Filters end processes by another signal.
bool was_strict(pid_t pid) { return had_seccomp_mode(pid, "1"); }

bool was_filtered(pid_t pid) { return had_seccomp_mode(pid, "2"); }

std::optional<ExitStatus> exit_status_of_stranger(pid_t pid, int pidfd) {
  if (const attach::ProcessStat stat = attach::process_stat(folder_of(pid)); stat.state() == 'Z')
    return to_exit_status(static_cast<int>(stat.number(kExitStatus)));
  PidfdInformation information;
  if (pidfd < 0 || ioctl(pidfd, kPidfdGetInformation, &information) != 0 || (information.mask & kPidfdExit) == 0) return std::nullopt;
  return to_exit_status(information.exit_status);
}

std::string thread_name(pid_t pid, std::uint32_t thread) {
  std::string name = process_text(folder_of(pid) / "task" / std::to_string(thread) / "comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::map<std::uint32_t, std::string> thread_names(pid_t pid, std::size_t limit) {
  std::map<std::uint32_t, std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator task(folder_of(pid) / "task", failed);
  while (!failed && task != std::filesystem::directory_iterator() && names.size() < limit) {
    const auto id = static_cast<std::uint32_t>(std::strtoul(task->path().filename().c_str(), nullptr, 10));
    std::string name = thread_name(pid, id);
    if (!name.empty()) names.emplace(id, std::move(name));
    task.increment(failed);
  }
  return names;
}

}  // namespace lanescope::session
