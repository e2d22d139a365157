#include "collector/attach/candidate.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "collector/attach/elf_headers.h"
#include "collector/attach/memory_map.h"
#include "collector/attach/process_text.h"

namespace lanescope::attach {
namespace {

std::string folder(pid_t pid) { return "/proc/" + std::to_string(pid); }

using StatusFields = std::map<std::string, std::string>;

// The lines "Name:\tvalue" of /proc/PID/status; empty if there is no such process.
StatusFields read_status(const std::string& process) {
  StatusFields fields;
  std::istringstream file(process_text(process + "/status"));
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    fields[line.substr(0, colon)] = value == std::string::npos ? "" : line.substr(value);
  }
  return fields;
}

long number(const StatusFields& fields, const char* name) {
  const auto found = fields.find(name);
  return found == fields.end() ? 0 : std::strtol(found->second.c_str(), nullptr, 10);
}

// The second number: "Uid: real effective saved filesystem".
uid_t effective(const std::string& ids) {
  const std::size_t blank = ids.find_first_of(" \t");
  return blank == std::string::npos ? 0 : static_cast<uid_t>(std::strtoul(ids.c_str() + blank, nullptr, 10));
}

RunState run_state(char letter) {
  switch (letter) {
    case 'R':
      return RunState::kRunning;
    case 'D':
      return RunState::kUninterruptible;
    case 'T':
      return RunState::kStopped;
    case 't':
      return RunState::kTraced;
    case 'Z':
    case 'X':
      return RunState::kZombie;
    default:
      return RunState::kSleeping;
  }
}

// True if it is one of the kernel's own threads. False if it has ended.
bool is_of_kernel(const std::string& process) {
  constexpr std::size_t kFlags = 9;                 // field of /proc/PID/stat
  constexpr std::uint64_t kKernelThread = 1 << 21;  // PF_KTHREAD
  return (process_stat(process).number(kFlags) & kKernelThread) != 0;
}

std::string read_command_line(const std::string& process) {
  std::string text = process_text(process + "/cmdline", kMostArgumentBytes);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

// Machine and linkage from the header of the executable.
void read_executable(const std::string& process, Candidate& candidate) {
  std::ifstream file(process + "/exe", std::ios::binary);
  const std::optional<ElfHeaders> headers = read_elf_headers(file);
  if (!headers) return;
  if (!headers->is_of_64_bits()) {
    candidate.machine = Machine::k32Bit;
    return;
  }
  if (headers->file.e_machine == EM_X86_64) candidate.machine = Machine::kX86_64;
  if (headers->file.e_machine == EM_AARCH64) candidate.machine = Machine::kAarch64;
  candidate.linkage = headers->find(PT_INTERP) == nullptr ? Linkage::kStatic : Linkage::kDynamic;
}

void read_loaded_files(pid_t pid, Candidate& candidate) {
  const std::optional<std::vector<Mapping>> map = read_memory_map(pid);
  if (!map || map->empty()) return;
  candidate.access = Access::kReadable;
  candidate.c_library = CLibrary::kNone;
  for (const Mapping& mapping : *map) {
    if (is_glibc(mapping.path)) candidate.c_library = CLibrary::kGlibc;
    if (is_musl(mapping.path)) candidate.c_library = CLibrary::kMusl;
    if (is_cuda_driver(mapping.path)) candidate.uses_cuda = true;
    if (is_agent(mapping.path)) candidate.has_agent = true;
  }
}

// True of the recorder and of the viewer, also of another installation.
bool runs_our_program(pid_t pid) {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink(folder(pid) + "/exe", failed);
  const std::string_view name = file_name(program.native());
  return name == "lanescope" || name == "lanescope-ui";
}

// For a thread that sleeps and can't be interrupted: a call that makes a process then waits for the end of its use of the memory.
bool is_in_a_fork(const std::string& process) {
  std::ifstream file(process + "/syscall");
  long number = -1;
  if (!(file >> number)) return false;
#ifdef SYS_vfork
  if (number == SYS_vfork) return true;
#endif
  return number == SYS_clone || number == SYS_clone3;
}

bool is_descendant_of(pid_t process, pid_t ancestor) {
  for (int depth = 0; process > 1 && depth < 1000; ++depth) {
    if (process == ancestor) return true;
    process = static_cast<pid_t>(number(read_status(folder(process)), "PPid"));
  }
  return false;
}

}  // namespace

Result<Candidate> read_candidate(pid_t pid) {
  const std::string process = folder(pid);
  const StatusFields status = read_status(process);
  if (pid <= 0 || status.empty()) return Error{"There is no process " + std::to_string(pid) + "."};
  Candidate candidate;
  candidate.pid = pid;
  const auto field = [&](const char* name) {
    const auto found = status.find(name);
    return found == status.end() ? std::string() : found->second;
  };
  candidate.name = field("Name");
  if (const long group = number(status, "Tgid"); group != pid)
    return Error{std::to_string(pid) + " is a thread of process " + std::to_string(group) + " (" + candidate.name + "); attach to " + std::to_string(group) +
                 "."};
  candidate.parent = static_cast<pid_t>(number(status, "PPid"));
  candidate.command_line = read_command_line(process);
  candidate.user = effective(field("Uid"));
  candidate.state = run_state(field("State").empty() ? 'S' : field("State").front());
  if (candidate.state == RunState::kZombie && number(status, "Threads") > 1) candidate.state = RunState::kHeadless;
  const bool has_memory_shown = candidate.state != RunState::kZombie && candidate.state != RunState::kHeadless;
  if (has_memory_shown && !status.contains("VmSize")) {  // it has no memory of its own
    candidate.kernel_thread = is_of_kernel(process);
    if (!candidate.kernel_thread) candidate.state = RunState::kEnding;
  }
  candidate.tracer = static_cast<pid_t>(number(status, "TracerPid"));
  candidate.is_tracer_recorder = candidate.tracer != 0 && runs_our_program(candidate.tracer);
  candidate.waits_for_vfork = candidate.state == RunState::kUninterruptible && is_in_a_fork(process);
  const long seccomp = number(status, "Seccomp");
  candidate.seccomp = seccomp == 1 ? SeccompMode::kStrict : seccomp == 2 ? SeccompMode::kFilter : SeccompMode::kOff;
  candidate.shadow_stack = field("x86_Thread_features").find("shstk") != std::string::npos;
  read_executable(process, candidate);
  read_loaded_files(pid, candidate);
  return candidate;
}

TracerRights read_rights(const Candidate& candidate) {
  TracerRights rights;
  rights.user = geteuid();
  const StatusFields own = read_status("/proc/self");
  if (const auto capabilities = own.find("CapEff"); capabilities != own.end())
    rights.may_trace_any = (std::strtoull(capabilities->second.c_str(), nullptr, 16) >> CAP_SYS_PTRACE & 1) != 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> rights.ptrace_scope;
  rights.kin = is_descendant_of(candidate.parent, getpid()) ? TracerRights::Kin::kDescendant : TracerRights::Kin::kOther;
  return rights;
}

}  // namespace lanescope::attach
