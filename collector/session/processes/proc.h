// What the kernel says about a process (/proc).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/attach/program_number.h"
#include "collector/session/recording.h"

namespace lanescope::session {

using attach::program_state;
using attach::ProgramNumber;
using attach::ProgramState;

// Fields stay empty if the process is gone or belongs to another user.
struct ProcessDescription {
  pid_t parent = 0;
  std::string executable;  // resolved path
  std::vector<std::string> arguments;
  bool operator==(const ProcessDescription&) const = default;
};
[[nodiscard]] ProcessDescription describe_process(pid_t pid);

// As describe_process(), for a child that has just become `program`, run as `command`. If it has become another program in the meantime (a shell that calls
// exec), it is described as what was launched.
[[nodiscard]] ProcessDescription describe_launched(pid_t pid, const std::filesystem::path& program, const std::vector<std::string>& command);

// The path of a process's program; nothing if it can't be read. The kernel appends " (deleted)" if the file does not exist any more.
[[nodiscard]] std::optional<std::string> program_of(pid_t pid);

// Whether a process's program was started with a variable. kUnknown: the program has overwritten its environment, or the process is gone. kForbidden: it is
// another user's.
enum class StartEnvironment { kWith, kWithout, kUnknown, kForbidden };

// The environment with which a process's program was started. Later changes by the program are not seen.
struct StartVariables {
  std::map<std::string, std::string> found;                 // those of the requested variables that were found
  StartEnvironment of_others = StartEnvironment::kUnknown;  // for the other requested variables
  [[nodiscard]] StartEnvironment of(std::string_view name) const { return found.contains(std::string(name)) ? StartEnvironment::kWith : of_others; }
};
// Reads the environment once, for any number of names. O(its size).
[[nodiscard]] StartVariables start_variables(pid_t pid, std::span<const std::string_view> names);

// Processes of our own user whose program was started with this variable, in ascending order, at most `limit`. Processes of other users are not read, because
// those users could block us. O(processes of the machine).
[[nodiscard]] std::vector<pid_t> processes_started_with(std::string_view name, std::string_view value, std::size_t limit);

// Number of the task (process or thread) that the kernel made last; 0 if it is not known. Takes some microseconds.
[[nodiscard]] pid_t newest_task();

// False if no process has this number, which may be a thread's. Takes about a microsecond.
[[nodiscard]] bool may_be_process(pid_t number);

// ns to add to CLOCK_MONOTONIC as a process sees it, to get ours. Not 0 in another time namespace, as far as the system tells.
[[nodiscard]] std::int64_t clock_shift(pid_t pid);

// Returns 0 if there is no process of this number, which may be a thread's.
[[nodiscard]] pid_t parent_of_process(pid_t pid);

// True if a process of this number existed at `time` (CLOCK_MONOTONIC ns), and still exists. The kernel's times are exact to 10 ms.
[[nodiscard]] bool is_there_since(pid_t pid, std::int64_t time);

// When a process was started, in the kernel's ticks, which distinguish it from another process that gets its number; 0 if it is gone.
[[nodiscard]] std::uint64_t started(pid_t pid);

// True if a process has the rights of another user than ours.
[[nodiscard]] bool is_of_another_user(pid_t pid);

// True if a process's program has its arguments, and with them its environment, which exec sets last; false for a program without any.
[[nodiscard]] bool has_arguments(pid_t pid);

// True if the process's user may not read the file, by the rights of the file and of the folders around it. False if that can't be found out, and for
// processes of our own user.
[[nodiscard]] bool may_not_read(pid_t pid, const std::filesystem::path& file);

// True if a process has, or had when it started, rights that its user lacks: its file has set-user-ID or set-group-ID mode, or capabilities. Its loader ignores
// LD_PRELOAD then. `executable`: its file's path, or another name if that can't be read.
[[nodiscard]] bool gains_rights(pid_t pid, const std::string& executable);

// True if a process finds no /proc, as in many sandboxes; false if that can't be found out.
[[nodiscard]] bool has_no_proc(pid_t pid);

// True if a process finds no file at this path, because it has another root folder; false if that can't be found out.
[[nodiscard]] bool is_missing_for(pid_t pid, const std::filesystem::path& file);

// True if a process has loaded a file of this name, as far as that can be found out. False if the loader has given up: it leaves what it has mapped before it
// had no room for the file's data.
[[nodiscard]] bool has_loaded(pid_t pid, const std::filesystem::path& file);

// True if a process can't open anything, because it has used all descriptors that it may have. False if that can't be found out, and if it may have none.
// O(1), except for a process that has the last of these: O(descriptors).
[[nodiscard]] bool has_no_descriptor_left(pid_t pid);

// True if a limit leaves a process no room to load an agent: for data of its own (RLIMIT_DATA), or for addresses (RLIMIT_AS). False if that can't be found out.
[[nodiscard]] bool has_no_room_for_agent(pid_t pid);

// True if a process has forbidden itself system calls by a seccomp filter, beyond the filters of this process. False if that can't be found out, and for a
// process that has released its memory, as at its end.
[[nodiscard]] bool has_filter_of_its_own(pid_t pid);

// The same for an ended process that nobody has waited for. False if the kernel no longer says so.
[[nodiscard]] bool had_filter_of_its_own(pid_t pid);

// How many filters of system calls this process has (seccomp(2)); nothing if the kernel does not count them.
[[nodiscard]] std::optional<unsigned> own_filters();

// The name of one thread of a process; empty if the thread has ended.
[[nodiscard]] std::string thread_name(pid_t pid, std::uint32_t thread);

// Names of the process's threads by kernel thread id, at most `limit` of them.
[[nodiscard]] std::map<std::uint32_t, std::string> thread_names(pid_t pid, std::size_t limit);

// True if a process neither catches nor ignores this signal, so that the signal may end it, and if that is not known.
[[nodiscard]] bool may_end(pid_t pid, int signal);

// True if an ended process that nobody has waited for had restricted its first thread to the system calls read, write and exit (the strict mode of
// seccomp(2)), if SIGKILL ended it. False if that can't be found out.
[[nodiscard]] bool was_strict(pid_t pid);
// True if such a process's first thread had a seccomp filter. False if that can't be found out.
[[nodiscard]] bool was_filtered(pid_t pid);

// Converts a status of waitpid().
[[nodiscard]] ExitStatus to_exit_status(int wait_status) noexcept;

// Waits on another thread for a child of ours to end, however long that takes. If no thread can be made, the child is reaped once we end.
void wait_for_in_background(pid_t child) noexcept;

// How a process ended that is not our child: from /proc until its parent has waited for it, then from its pidfd (Linux 6.15 and newer). Nothing while it
// runs, or if the kernel does not say.
[[nodiscard]] std::optional<ExitStatus> exit_status_of_stranger(pid_t pid, int pidfd);

}  // namespace lanescope::session
