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

// Fields stay empty when the process is gone or belongs to someone else.
struct ProcessDescription {
  pid_t parent = 0;
  std::string executable;  // resolved path
  std::vector<std::string> arguments;
  bool operator==(const ProcessDescription&) const = default;
};
[[nodiscard]] ProcessDescription describe_process(pid_t pid);

// The same for a child that has just become `program`, run as `command`. When it has become yet another program in the meantime (a shell
// that calls exec), it is described as what was launched.
[[nodiscard]] ProcessDescription describe_launched(pid_t pid, const std::filesystem::path& program, const std::vector<std::string>& command);

// The path of a process's program; none where that is not to be had. The kernel says " (deleted)" behind one that is not there any more.
[[nodiscard]] std::optional<std::string> program_of(pid_t pid);

// Whether a process's program was started with a variable: kUnknown where the program has written over what it was started with, or the process is gone;
// kForbidden of another user's.
enum class StartEnvironment { kWith, kWithout, kUnknown, kForbidden };

// What a process's program was started with. What the program changed since is not seen.
struct StartVariables {
  std::map<std::string, std::string> found;                 // of those that were asked for
  StartEnvironment of_others = StartEnvironment::kUnknown;  // that were asked for
  [[nodiscard]] StartEnvironment of(std::string_view name) const { return found.contains(std::string(name)) ? StartEnvironment::kWith : of_others; }
};
// Reads it once, however many names there are. O(its size).
[[nodiscard]] StartVariables start_variables(pid_t pid, std::span<const std::string_view> names);

// Processes of our own user whose program was started with this variable, in ascending order: `limit` of them at most. Those of others are not looked at, who
// could hold us. O(processes of the machine).
[[nodiscard]] std::vector<pid_t> processes_started_with(std::string_view name, std::string_view value, std::size_t limit);

// Number of the task, process or thread, that the kernel made last; 0 where it does not say. Takes some microseconds.
[[nodiscard]] pid_t newest_task();

// ns, to be added to CLOCK_MONOTONIC as a process sees it for what we see: not 0 in another time namespace, as far as the system tells.
[[nodiscard]] std::int64_t clock_shift(pid_t pid);

// 0 where there is no process of this number: it may be a thread's.
[[nodiscard]] pid_t parent_of_process(pid_t pid);

// Whether a process of this number was there at `time` (CLOCK_MONOTONIC ns), and is there still, as exactly as the kernel tells: to within 10 ms.
[[nodiscard]] bool is_there_since(pid_t pid, std::int64_t time);

// When a process was started, in the kernel's ticks, which tell it from another one that gets its number; 0 where it is gone.
[[nodiscard]] std::uint64_t started(pid_t pid);

// Whether a process has the rights of another user than ours.
[[nodiscard]] bool is_of_another_user(pid_t pid);

// Whether a process's program has been given its arguments, and with them its environment, which exec does last; false for one without any.
[[nodiscard]] bool has_arguments(pid_t pid);

// Whether the process's user may not read the file, by the rights of it and of the folders that it lies in; false where that can't be told, and of our own
// user's processes.
[[nodiscard]] bool may_not_read(pid_t pid, const std::filesystem::path& file);

// Whether a process finds no file at this path, since its root folder is another one; false where that can't be told.
[[nodiscard]] bool is_missing_for(pid_t pid, const std::filesystem::path& file);

// Whether a process has loaded a file of this name, as far as that can be told.
[[nodiscard]] bool has_loaded(pid_t pid, const std::filesystem::path& file);

// Whether a process can open nothing: it has each descriptor that it may have. False where that can't be told, and where it may have none. O(1) but for
// one that has the last of these: O(descriptors).
[[nodiscard]] bool has_no_descriptor_left(pid_t pid);

// Of one thread of a process; empty where it has ended.
[[nodiscard]] std::string thread_name(pid_t pid, std::uint32_t thread);

// Names of the process's threads by kernel thread id, at most `limit` of them.
[[nodiscard]] std::map<std::uint32_t, std::string> thread_names(pid_t pid, std::size_t limit);

// Whether a process neither catches nor ignores this signal, so that it may end it; true where that is not known.
[[nodiscard]] bool may_end(pid_t pid, int signal);

// Whether a process that has ended, and was not waited for, had left its first thread no system calls but read, write and exit (the strict mode of seccomp(2)),
// where SIGKILL has ended it. False where that can't be told.
[[nodiscard]] bool was_strict(pid_t pid);

// Of what waitpid() says.
[[nodiscard]] ExitStatus to_exit_status(int wait_status) noexcept;

// Has a child of ours reaped when it ends, however long that takes. Where there is no thread left to wait, it is so once we end.
void wait_for_in_background(pid_t child) noexcept;

// How a process ended that is not our child: from /proc until its parent has waited for it, then from its pidfd (Linux 6.15 and newer).
// None while it runs, or when the kernel does not say.
[[nodiscard]] std::optional<ExitStatus> exit_status_of_stranger(pid_t pid, int pidfd);

}  // namespace lanescope::session
