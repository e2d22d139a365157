// The reasons against attaching, one sentence each, in the order in which a user would have to remove them.
#include <unistd.h>

#include "collector/attach/candidate.h"

namespace lanescope::attach {
namespace {

std::string start_armed(const Candidate& candidate) {
  return "start it with: lanescope profile --arm -- " + (candidate.command_line.empty() ? candidate.name : candidate.command_line);
}

std::optional<std::string> refused_by_state(const Candidate& candidate) {
  if (candidate.state == RunState::kZombie) return "it has ended and only waits for its parent to notice.";
  if (candidate.state == RunState::kHeadless)
    return "its first thread has ended, and the kernel shows nothing of what the others run under its number. Start it with lanescope profile.";
  if (candidate.state == RunState::kEnding) return "it is ending.";
  if (candidate.kernel_thread) return "it is a thread of the kernel.";
  if (is_of_a_recorder(candidate)) return "it belongs to a recording that runs, and only looks like the program. Attach to that.";
  return std::nullopt;
}

std::optional<std::string> refused_by_owner(const Candidate& candidate, const TracerRights& rights) {
  if (rights.may_trace_any || candidate.user == rights.user) return std::nullopt;
  return "it belongs to another user (uid " + std::to_string(candidate.user) + "). Run lanescope as that user, or with sudo.";
}

std::optional<std::string> refused_by_rights(const Candidate& candidate, const TracerRights& rights) {
  if (rights.may_trace_any && rights.ptrace_scope < 3) return std::nullopt;
  if (std::optional<std::string> reason = refused_by_owner(candidate, rights)) return reason;
  switch (rights.ptrace_scope) {
    case 0:
      return std::nullopt;
    case 1:
      if (rights.kin == TracerRights::Kin::kDescendant) return std::nullopt;
      return "kernel.yama.ptrace_scope is 1. Run: sudo sysctl kernel.yama.ptrace_scope=0, or " + start_armed(candidate);
    case 2:
      return "kernel.yama.ptrace_scope is 2, which lets only root attach. Run lanescope with sudo, or: sudo sysctl "
             "kernel.yama.ptrace_scope=0, or " +
             start_armed(candidate);
    default:
      return "kernel.yama.ptrace_scope is 3, which forbids attaching until this machine restarts (then: sudo sysctl "
             "kernel.yama.ptrace_scope=0). Instead, " +
             start_armed(candidate);
  }
}

std::optional<std::string> refused_by_access(const Candidate& candidate) {
  if (candidate.access != Access::kDenied) return std::nullopt;
  if (geteuid() == 0)
    return "its memory map can't be read, by root either: it is about to end, or this container or the kernel's security module forbids it. Run lanescope "
           "outside the container, or allow it CAP_SYS_PTRACE.";
  return "its memory map can't be read (it runs with other privileges than its user, or is about to end). Run lanescope with sudo.";
}

std::optional<std::string> refused_by_kind(const Candidate& candidate) {
  if (std::optional<std::string> reason = refused_by_access(candidate)) return reason;
  switch (candidate.machine) {
    case Machine::k32Bit:
      return "it is a 32-bit program; only 64-bit programs can be recorded.";
    case Machine::kAarch64:
      return "attaching works on x86-64 so far; on this machine, " + start_armed(candidate);
    case Machine::kUnknown:
      return "its executable can't be read or is of a machine that is not known here.";
    case Machine::kX86_64:
      break;
  }
  if (candidate.linkage == Linkage::kStatic) return "it is linked statically, so there is no loader in it that could load the agent. Link it dynamically.";
  if (candidate.c_library == CLibrary::kMusl) return "it uses musl as its C library; the agent needs glibc.";
  if (candidate.c_library != CLibrary::kGlibc) return "glibc is not loaded in it (yet); the agent needs glibc. Try again once it runs.";
  return std::nullopt;
}

std::optional<std::string> refused_by_moment(const Candidate& candidate) {
  if (candidate.is_tracer_recorder) return "another recording of it is under way. End that first.";
  if (candidate.tracer != 0) return "process " + std::to_string(candidate.tracer) + " traces it already (a debugger, strace?). Detach that first.";
  if (candidate.state == RunState::kStopped || candidate.state == RunState::kTraced)
    return "it is stopped. Continue it first: kill -CONT " + std::to_string(candidate.pid);
  if (candidate.state == RunState::kUninterruptible && candidate.waits_for_vfork)
    return "it waits for a child that it started by vfork(), and that has neither become another program nor ended yet. Try again once it has.";
  if (candidate.state == RunState::kUninterruptible)
    return "it waits in the kernel for a device or file system and can't be interrupted. Try again once that is over.";
  if (candidate.seccomp == SeccompMode::kStrict) return "it runs in strict seccomp mode: the kernel would kill it for loading the agent.";
  if (candidate.shadow_stack)
    return "its return addresses are guarded by a shadow stack, which a call from outside would violate. Instead, " + start_armed(candidate);
  return std::nullopt;
}

}  // namespace

bool is_of_a_recorder(const Candidate& candidate) {
  return candidate.name == kRelayName || candidate.name == kPipesName || candidate.name == kWitnessName || candidate.name == kGuardName;
}

std::string title(const Candidate& candidate) { return std::to_string(candidate.pid) + " (" + candidate.name + ")"; }

std::optional<std::string> refusal(const Candidate& candidate, const TracerRights& rights) {
  std::optional<std::string> reason = refused_by_state(candidate);
  if (!reason) reason = refused_by_rights(candidate, rights);
  if (!reason) reason = refused_by_kind(candidate);
  if (!reason) reason = refused_by_moment(candidate);
  if (reason) return "Can't attach to " + title(candidate) + ": " + *reason;
  return std::nullopt;
}

std::optional<std::string> observation_refusal(const Candidate& candidate, const TracerRights& rights) {
  std::optional<std::string> reason = refused_by_state(candidate);
  if (!reason) reason = refused_by_owner(candidate, rights);
  if (!reason) reason = refused_by_access(candidate);
  if (reason) return "Can't observe the threads of " + title(candidate) + ": " + *reason;
  return std::nullopt;
}

std::vector<std::string> warnings(const Candidate& candidate) {
  std::vector<std::string> sentences;
  if (candidate.seccomp == SeccompMode::kFilter)
    sentences.push_back(title(candidate) + " runs under a seccomp filter, which may deny the agent what it needs (sockets, shared memory).");
  return sentences;
}

}  // namespace lanescope::attach
