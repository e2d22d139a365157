// A program with NVTX that knows nothing of a recorder. Lines on its standard input tell it what to do next, and it answers each with "done". At the end it
// prints how many ranges it made since the first line, and exits with 7.
//
//   range NAME      one push and pop
//   burst COUNT     this number of push/pop pairs
//   threads COUNT   one range on each of this number of new threads
//   load PATH       loads a library with its own NVTX and calls its plugin_range()
//   fork            a child makes one range and ends
//   follow          a forked child makes one range and obeys from here on; this process waits for it and ends as it does
//   become          a child that executes this program again obeys from here on, in the same way
//   lock COUNT      forks this number of children; the preparation takes a lock under which another thread registers strings with NVTX all the time
//   nest            forks a child; the preparation first forks another one, which then forks as well; makes a range if no process holds signals
//                   afterwards, and all load libraries quickly
//   mask            forks a child; the preparation holds all signals until the child is ready, which then holds SIGUSR1; makes a range if all processes
//                   have the masks that they set
//   clear           closes all descriptors but the first three, as daemons do
//   open            prints "opens", and opens and closes a file until the next line comes
//   opened          makes a range "lowest" if that file had the lowest number each time, or no socket had a lower one
//   early           one range in the domain, and with the string, that were created without a tool
//   data            one range "data" with three numbers (1, 2 and 0xabcd, 4 bytes each) of the schema 16777221, which is not registered now
//
// With the argument "initialised" it has called NVTX before, without a tool; these calls created a domain and a registered string. "guarded": the same, and a
// page among its variables cannot be read. "filtered": the kernel kills it for each system call except its own and those that attaching needs.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "look/needed_calls.h"

namespace {

constexpr std::size_t kPageBytes = 4096;
alignas(kPageBytes) char guarded_pages[3 * kPageBytes] = {1};  // not zero, so that it is stored in the file

nvtxDomainHandle_t early_domain = nullptr;
nvtxStringHandle_t early_string = nullptr;

void initialise_without_tool() {
  nvtxRangePushA("before");
  nvtxRangePop();
  early_domain = nvtxDomainCreateA("early");
  early_string = nvtxDomainRegisterStringA(early_domain, "early string");
}

// Each comparison has its answer next to it, because a jump reaches only 255 instructions.
bool allow_needed_calls() {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  const auto allow = [&filter](long number) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  };
  for (const lanescope::attach::NeededCall& call : lanescope::attach::kNeededCalls) allow(call.number);
  for (const long own : {SYS_poll, SYS_write, SYS_exit_group, SYS_wait4, SYS_restart_syscall}) allow(own);
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void one_range(const std::string& name) {
  nvtxRangePushA(name.c_str());
  nvtxRangePop();
}

void fork_child() {
  const pid_t child = fork();
  if (child == 0) {
    one_range("in child");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

std::mutex registering;  // held across forks

// Returns the number of ranges that it made. If it hangs, the program is killed.
int fork_beside_registering(int count) {
  constexpr unsigned kSeconds = 60;
  alarm(kSeconds);
  static const int is_prepared = pthread_atfork([] { registering.lock(); }, [] { registering.unlock(); }, [] { registering.unlock(); });
  std::atomic<bool> is_over = is_prepared != 0;
  std::thread registers([&] {
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("registered");
    for (int i = 0; !is_over; ++i) {
      const std::lock_guard lock(registering);
      nvtxDomainRegisterStringA(domain, ("text " + std::to_string(i)).c_str());
    }
  });
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
  }
  is_over = true;
  registers.join();
  alarm(0);
  one_range("locked");
  return 1;
}

bool is_nested = false;
bool goes_on = false;  // in the child that a preparation forked
bool is_slow = false;  // in the preparation
int nested_status = 0;

// How often this thread has waited. What it does without waiting adds nothing, even on a busy machine.
long waits_so_far() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

// Loads a library 20 times, while the agent's own thread looks for new ones at least once. Returns true if loading waited more often than a thread that waits
// for a fork would.
bool loads_slowly() {
  constexpr long kMostWaits = 500;
  long waits = 0;
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const long before = waits_so_far();
    if (void* const library = dlopen("libutil.so.1", RTLD_NOW); library != nullptr) dlclose(library);
    waits += waits_so_far() - before;
  }
  return waits > kMostWaits;
}

bool holds_signals() {
  sigset_t held;
  return pthread_sigmask(SIG_SETMASK, nullptr, &held) != 0 || sigisemptyset(&held) == 0;
}

// Forks a child within the preparation of another fork. Returns the number of ranges that it made: one if no process holds signals afterwards.
int fork_within_a_preparation() {
  static const int is_prepared = pthread_atfork(
      [] {
        if (std::exchange(is_nested, true)) return;
        is_slow = loads_slowly();
        goes_on = fork() == 0;  // the child then makes the fork that this is the preparation of
        if (goes_on) return;
        wait(&nested_status);
      },
      nullptr, nullptr);
  is_nested = is_prepared != 0;
  const pid_t child = fork();
  if (child == 0) _exit(holds_signals() || loads_slowly() ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  const bool is_wrong = is_slow || status != 0 || nested_status != 0 || holds_signals() || loads_slowly();
  if (goes_on) _exit(is_wrong ? 1 : 0);
  if (is_wrong) return 0;
  one_range("nested");
  return 1;
}

sigset_t set_aside;

bool holds_only(int signal) {
  sigset_t held;
  if (pthread_sigmask(SIG_SETMASK, nullptr, &held) != 0 || sigismember(&held, signal) != 1) return false;
  sigdelset(&held, signal);
  return sigisemptyset(&held) != 0;
}

// Does what programs do that want no signal in a child before it is ready. Returns the number of ranges that it made.
int fork_with_signals_held() {
  static const int is_prepared = pthread_atfork(
      [] {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &set_aside);
      },
      [] { pthread_sigmask(SIG_SETMASK, &set_aside, nullptr); },
      [] {
        pthread_sigmask(SIG_SETMASK, &set_aside, nullptr);
        sigset_t own;
        sigemptyset(&own);
        sigaddset(&own, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &own, nullptr);
      });
  const pid_t child = fork();
  if (child == 0) _exit(holds_only(SIGUSR1) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  if (is_prepared != 0 || status != 0 || holds_signals()) return 0;
  one_range("masked");
  return 1;
}

void end_as(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WEXITSTATUS(status));
}

void follow_child() {
  if (const pid_t child = fork(); child != 0) end_as(child);
  one_range("first of child");
}

void become_child() {
  if (const pid_t child = fork(); child != 0) end_as(child);
  execl("/proc/self/exe", "attach_nvtx_target", "initialised", static_cast<char*>(nullptr));
}

// Waits in a call that is known to hold no lock even if stacks cannot be followed.
void wait_for_input() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (std::cin.rdbuf()->in_avail() <= 0) poll(&input, 1, -1);
}

int load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  reinterpret_cast<void (*)()>(dlsym(library, "plugin_range"))();
  return 1;
}

bool is_socket(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
}

bool saw_socket = false;

void open_again_and_again() {
  const auto open_null = [] { return open("/dev/null", O_RDONLY); };
  const int lowest = open_null();
  close(lowest);
  std::cout << "opens" << std::endl;
  for (pollfd input{STDIN_FILENO, POLLIN, 0}; poll(&input, 1, 0) == 0;) {
    const int descriptor = open_null();
    saw_socket = saw_socket || (descriptor != lowest && is_socket(lowest));
    close(descriptor);
  }
}

int early_handles() {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = early_string;
  nvtxDomainRangePushEx(early_domain, &attributes);
  nvtxDomainRangePop(early_domain);
  return 1;
}

int range_with_data() {
  const std::uint32_t numbers[3] = {1, 2, 0xabcd};
  const nvtxPayloadData_t data{NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5, sizeof numbers, numbers};
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "data";
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
  nvtxRangePushEx(&attributes);
  nvtxRangePop();
  return 1;
}

int obey(const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::string text;
  words >> verb >> text;
  if (verb == "range") one_range(text);
  if (verb == "fork") fork_child();
  if (verb == "follow") follow_child();
  if (verb == "become") become_child();
  if (verb == "nest") return fork_within_a_preparation();
  if (verb == "mask") return fork_with_signals_held();
  if (verb == "lock") return fork_beside_registering(std::stoi(text));
  if (verb == "clear") syscall(SYS_close_range, 3u, ~0u, 0u);
  if (verb == "open") open_again_and_again();
  if (verb == "opened") one_range(saw_socket ? "beside a socket" : "lowest");
  if (verb == "early") return early_handles();
  if (verb == "data") return range_with_data();
  if (verb == "load") return load(text);
  if (verb == "burst")
    for (int index = 0; index < std::stoi(text); ++index) one_range("burst");
  if (verb == "threads") {
    std::vector<std::thread> threads;
    for (int index = 0; index < std::stoi(text); ++index) threads.emplace_back(one_range, "on thread");
    for (std::thread& thread : threads) thread.join();
  }
  return verb == "burst" || verb == "threads" ? std::stoi(text) : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  if (mode == "initialised" || mode == "guarded") initialise_without_tool();
  if (mode == "guarded" && mprotect(guarded_pages + kPageBytes, kPageBytes, PROT_NONE) != 0) return 2;
  if (mode == "filtered" && !allow_needed_calls()) return 2;
  std::cout << "ready" << std::endl;
  int ranges = 0;
  for (std::string line; wait_for_input(), std::getline(std::cin, line);) {
    ranges += obey(line);
    std::cout << "done" << std::endl;
  }
  std::cout << ranges << " ranges" << std::endl;
  return 7;
}
