// What the kernel reports about a process that we might attach to, and whether attaching can work.
//
// read_candidate() collects facts from /proc. refusal() decides from facts alone, so that every reason can be tested without a process in that state.
// Nothing here stops or changes a process.
//
// Threads: all functions are safe to call from any thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "model/file/result.h"

namespace lanescope::attach {

// kEnding: it has released its memory, or is releasing it. kHeadless: its first thread has ended by pthread_exit() and others still run; the kernel
// then shows nothing of the process under its number.
enum class RunState { kRunning, kSleeping, kUninterruptible, kStopped, kTraced, kHeadless, kEnding, kZombie };
enum class Machine { kUnknown, kX86_64, kAarch64, k32Bit };
enum class Linkage { kUnknown, kStatic, kDynamic };
enum class CLibrary { kUnknown, kNone, kGlibc, kMusl };
enum class SeccompMode { kOff, kStrict, kFilter };
enum class Access { kDenied, kReadable };  // whether its memory map may be read; if not, the fields below `access` are unknown

// Names (PR_SET_NAME) of processes that a recorder starts beside the program: the one that passes on its output, the one that keeps the pipes of that output,
// the one that gets the signals of its process group and has its arguments, and the one that releases memory if the recorder is killed.
inline constexpr char kRelayName[] = "lanescope-relay";
inline constexpr char kPipesName[] = "lanescope-pipes";
inline constexpr char kWitnessName[] = "signal-witness";
inline constexpr char kGuardName[] = "lanescope-guard";

// Facts about one process at the time of reading.
struct Candidate {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;          // of the executable, at most 15 characters, as the kernel keeps it
  std::string command_line;  // arguments separated by blanks
  uid_t user = 0;            // effective
  RunState state = RunState::kSleeping;
  bool kernel_thread = false;
  pid_t tracer = 0;                 // 0: none
  bool is_tracer_recorder = false;  // the tracer is a lanescope
  bool waits_for_vfork = false;     // its first thread waits for a child that has its memory (vfork)
  SeccompMode seccomp = SeccompMode::kOff;
  bool shadow_stack = false;  // the processor protects return addresses (x86 CET)

  Access access = Access::kDenied;
  Machine machine = Machine::kUnknown;
  Linkage linkage = Linkage::kUnknown;
  CLibrary c_library = CLibrary::kUnknown;
  bool uses_cuda = false;  // libcuda is loaded
  bool has_agent = false;  // our agent is loaded: launched by us, armed, or attached to before
};

// True if its name is that of a recorder's process.
[[nodiscard]] bool is_of_a_recorder(const Candidate& candidate);

// What we are allowed to do.
struct TracerRights {
  uid_t user = 0;                                            // ours, effective
  bool may_trace_any = false;                                // CAP_SYS_PTRACE
  int ptrace_scope = 0;                                      // kernel.yama.ptrace_scope; 0 if the kernel does not have it
  enum class Kin { kOther, kDescendant } kin = Kin::kOther;  // the candidate's relation to us
};

// Fails with one sentence if there is no such process, or if the number belongs to a thread that is not the first of its process.
Result<Candidate> read_candidate(pid_t pid);

TracerRights read_rights(const Candidate& candidate);

// Why attaching can't work, as one sentence that says what to do about it; nothing if attaching may work.
std::optional<std::string> refusal(const Candidate& candidate, const TracerRights& rights);

// The same for observing its threads from outside, for which nothing of ours enters the process.
std::optional<std::string> observation_refusal(const Candidate& candidate, const TracerRights& rights);

// What may go wrong if attaching is tried, one sentence each.
std::vector<std::string> warnings(const Candidate& candidate);

// "4711 (python)"
std::string title(const Candidate& candidate);

}  // namespace lanescope::attach
