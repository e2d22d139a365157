#include "ways.h"

#include <csignal>

namespace lanescope::test {
namespace {

// The signals that end a process by default: those that are no fault of its code, and faults.
constexpr int kDeadly[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,   SIGABRT, SIGBUS,    SIGFPE,  SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,
                           SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGSTKFLT, SIGPOLL, SIGPWR,  SIGSYS,  34,      64};

std::string many_lines() {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "a line of input\n";
  return text;
}

void add_endings(std::vector<Way>& ways) {
  for (const char* code : {"0", "1", "2", "7", "125", "127", "255"}) ways.push_back({.arguments = {"exit", code}});
  for (const char* how : {"_exit", "exit_group"}) ways.push_back({.arguments = {how}});
  ways.push_back({.arguments = {"pthread_exit"}, .ranges = 200});
  for (const char* how : {"abort", "fault", "exit-among-threads"}) ways.push_back({.arguments = {how}});
  for (const char* how : {"quick_exit", "fault-on-thread", "exit-on-thread", "first-thread-exits"}) ways.push_back({.arguments = {how}, .ranges = 150});
  ways.push_back({.arguments = {"overflows"}, .ranges = 105});
  ways.push_back({.arguments = {"jumps"}, .ranges = 200});
  ways.push_back({.arguments = {"no-caller"}, .ranges = 200});
  ways.push_back({.arguments = {"handlers"}, .ranges = 200});
  ways.push_back({.arguments = {"slow-end"}, .ranges = 150});
  ways.push_back({.arguments = {"exec-on-thread"}, .ranges = 200, .ranges_if_attached = 100});
  ways.push_back({.arguments = {"cancel"}, .ranges = 120});
  for (const int signal : kDeadly) ways.push_back({.arguments = {"signal", std::to_string(signal)}});
}

void add_families(std::vector<Way>& ways) {
  ways.push_back({.arguments = {"children", "100"}, .ranges = 100 + 100 * 10});
  ways.push_back({.arguments = {"tree", "6"}, .ranges = 100 + 64 * 10});
  ways.push_back({.arguments = {"threads", "100"}, .ranges = 100 + 100 * 100});
  ways.push_back({.arguments = {"forks-among-threads"}, .ranges = 100 + 4 * 20 + 20});
  ways.push_back({.arguments = {"exec", "20"}, .ranges = 21 * 100, .ranges_if_attached = 100});
  ways.push_back({.arguments = {"exec-fails"}, .ranges = 200});
  ways.push_back({.arguments = {"vfork-exec"}, .ranges = 300, .ranges_if_attached = 200});
  ways.push_back({.arguments = {"vfork-first"}, .ranges = 250, .traced = "osrt"});
  ways.push_back({.arguments = {"spawn"}, .ranges = 200, .ranges_if_attached = 100});
  for (const char* how : {"vfork-exit", "clone-vm", "setsid", "orphan", "daemon"}) ways.push_back({.arguments = {how}, .ranges = 200});
  ways.push_back({.arguments = {"daemon-without-descriptors"}, .ranges = 200, .only = Joining::kLaunched});
  ways.push_back({.arguments = {"subreaper"}, .ranges = 150});
  ways.push_back({.arguments = {"forks-in-handlers"}, .ranges = 200});
  for (const char* how : {"clone", "_Fork"}) ways.push_back({.arguments = {how}, .ranges = 250});
}

void add_surroundings(std::vector<Way>& ways) {
  ways.push_back({.arguments = {"unlocks"}, .ranges = 150, .before = "exec 9> lock; flock 9", .only = Joining::kLaunched});
  for (const char* how : {"close", "close_range", "dup2", "not-dumpable"}) ways.push_back({.arguments = {how}, .ranges = 200});
  ways.push_back({.arguments = {"seccomp", "1000000"}, .ranges = 1'000'100});
  ways.push_back({.arguments = {"seccomp-threads"}, .ranges = 150});
  ways.push_back({.arguments = {"seccomp-forks"}, .ranges = 160, .said = "its seccomp filter has the kernel end it"});
  ways.push_back({.arguments = {"seccomp-children"}, .ranges = 130});
  for (const char* how : {"seccomp-loads", "seccomp-loads-no-signals", "seccomp-loads-all-threads"}) ways.push_back({.arguments = {how}, .ranges = 200});
  ways.push_back({.arguments = {"seccomp-vfork"}, .ranges = 250});
  ways.push_back({.arguments = {"seccomp-strict"}, .ranges = 220, .said = "it asks for seccomp's strict mode"});
  ways.push_back({.arguments = {"seccomp-first", "100000"}, .ranges = 100'000, .traced = "osrt"});
  ways.push_back({.arguments = {"seccomp-ends"}});
  ways.push_back({.arguments = {"seccomp-late"}, .ranges = 150, .said = "seccomp filter"});
  ways.push_back({.arguments = {"seccomp-exec"}, .ranges = 360, .said = "seccomp filter", .ranges_if_attached = 250});
  ways.push_back({.arguments = {"seccomp-loading-exec"}, .ranges = 200, .said = "seccomp filter", .ranges_if_attached = 100});
  ways.push_back({.arguments = {"seccomp-harmless-exec"}, .ranges = 200, .ranges_if_attached = 100});
  for (const char* how : {"seccomp-no-handlers-exec", "seccomp-no-links-exec"})
    ways.push_back({.arguments = {how}, .ranges = 200, .said = "seccomp filter", .ranges_if_attached = 100});
  for (const char* how : {"seccomp-threads-exec", "seccomp-refused-exec"}) ways.push_back({.arguments = {how}, .only = Joining::kLaunched});
  ways.push_back({.arguments = {"sandbox-exec", "LIVES"}, .ranges = 200, .said = "seccomp filter", .rights = Rights::kRoot, .ranges_if_attached = 100});
  ways.push_back({.arguments = {"seccomp-no-sockets"}, .said = "it may have no socket by which it could report", .only = Joining::kLaunched});
  ways.push_back({.arguments = {"no-growth"}, .said = "it has no room for the memory in which it would report", .only = Joining::kLaunched});
  ways.push_back({.arguments = {"no-data"}, .said = " dropped", .only = Joining::kLaunched, .traced = "osrt"});
  for (const char* closed : {"exec <&-", "exec >&-", "exec 2>&-", "exec <&- >&- 2>&-"}) {
    ways.push_back({.arguments = {"exit"}, .before = closed});
    ways.push_back({.arguments = {"inherited"}, .ranges = 0, .before = closed, .only = Joining::kLaunched});
  }
  ways.push_back({.arguments = {"inherited"}, .ranges = 0, .only = Joining::kLaunched});
  ways.push_back({.arguments = {"inherited"}, .ranges = 0, .before = "trap '' CHLD HUP USR1 PIPE INT; umask 027", .only = Joining::kLaunched});
  ways.push_back({.arguments = {"inherited"},
                  .ranges = 0,
                  .before = "ulimit -S -n 1000; ulimit -S -v 8000000; ulimit -S -t 500; ulimit -c 0",
                  .only = Joining::kLaunched});
  ways.push_back({.arguments = {"children", "5"}, .ranges = 150, .before = "trap '' CHLD"});
  ways.push_back({.arguments = {"small-stacks"}, .ranges = 200});
  ways.push_back({.arguments = {"mlockall"}, .said = "it can't map", .rights = Rights::kRoot});
  ways.push_back({.arguments = {"copy"}, .input = many_lines()});
  ways.push_back({.arguments = {"lines", "200000"}});
}

// Boundaries that keep a child from reaching the recorder.
void add_boundaries(std::vector<Way>& ways) {
  ways.push_back({.arguments = {"no-descriptors"}, .ranges = 250, .said = "has no file descriptor left by which it could report"});
  ways.push_back({.arguments = {"opens-nothing"},
                  .ranges = 150,
                  .said = "has no file descriptor left by which it could report",
                  .only = Joining::kLaunched,
                  .traced = "osrt"});
  ways.push_back({.arguments = {"chroot", "FOLDER"}, .ranges = 250, .rights = Rights::kRoot});
  ways.push_back({.arguments = {"chroot-first", "FOLDER"}, .ranges = 150, .rights = Rights::kRoot, .traced = "osrt"});
  ways.push_back({.arguments = {"setuid"}, .ranges = 250, .rights = Rights::kRoot});
  ways.push_back({.arguments = {"setuid-exec", "LIVES"}, .ranges = 200, .rights = Rights::kRoot, .ranges_if_attached = 100});
}

void add_limits(std::vector<Way>& ways) {
  ways.push_back({.arguments = {"exit"}, .before = "ulimit -n 32"});
  ways.push_back({.arguments = {"exit"}, .before = "ulimit -s 256"});
  // The environment lies on the first thread's stack as well.
  ways.push_back({.arguments = {"exit"}, .before = "export MUCH=$(head -c 40000 /dev/zero | tr '\\0' x); ulimit -s 64"});
  for (const char* descriptors : {"ulimit -n 4", "ulimit -n 5"})
    ways.push_back({.arguments = {"exit"}, .said = "The program runs without being recorded", .before = descriptors, .only = Joining::kLaunched});
  ways.push_back({.arguments = {"exit"}, .said = "The program runs without being recorded", .before = "ulimit -n 10", .only = Joining::kLaunched});
  ways.push_back(
      {.arguments = {"inherited"}, .ranges = 0, .said = "The program runs without being recorded", .before = "ulimit -n 16", .only = Joining::kLaunched});
  ways.push_back({.arguments = {"exit"}, .said = "The program runs without being recorded", .before = "ulimit -f 0", .only = Joining::kLaunched});
  ways.push_back({.arguments = {"signal", "9"}, .said = "The program runs without being recorded", .before = "ulimit -f 0", .only = Joining::kLaunched});
}

}  // namespace

std::string Way::title() const {
  std::string text = before.empty() ? "" : before + "; ";
  for (const std::string& argument : arguments) text += argument + ' ';
  text.pop_back();
  return text;
}

std::string TraceKind::title() const {
  std::string text = option;
  for (const std::string& each : more) text += ' ' + each;
  return text;
}

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  add_endings(ways);
  add_families(ways);
  add_surroundings(ways);
  add_boundaries(ways);
  add_limits(ways);
  return ways;
}

std::vector<TraceKind> usual_trace_kinds(Joining joining) {
  if (joining == Joining::kAttached) return {{"nvtx,osrt", true}};
  return {{"nvtx", true}, {"cuda,nvtx,osrt", true}};
}

std::vector<TraceKind> all_trace_kinds(Joining joining) {
  std::vector<TraceKind> kinds{{"nvtx", true},
                               {"osrt", false},
                               {"none", false},
                               {"nvtx,osrt,syscall", true},
                               {"nvtx,osrt", true, {"--backtrace=dwarf", "--osrt-backtrace-threshold=1000"}},
                               {"nvtx", true, {"--osrt-file-access=true"}},
                               {"cuda,nvtx", true, {"--kernels=pc"}}};
  const std::vector<TraceKind> attached{{"nvtx,osrt", true}, {"nvtx,osrt,python-gil", true}};
  const std::vector<TraceKind> launched{{"cuda,nvtx,osrt", true},
                                        {"nvtx,mpi", true},
                                        {"nvtx,python-gil", true},
                                        {"cuda", false},
                                        {"nvtx,osrt", true, {"--ring=600"}},
                                        {"nvtx,openmp,ucx,openacc,opengl", true}};
  const std::vector<TraceKind>& more = joining == Joining::kAttached ? attached : launched;
  kinds.insert(kinds.end(), more.begin(), more.end());
  return kinds;
}

}  // namespace lanescope::test
