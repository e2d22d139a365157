#include "collector/attach/inject.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "collector/attach/candidate.h"
#include "collector/attach/memory_map.h"
#include "collector/attach/process_text.h"
#include "collector/channel/layout.h"
#include "inject/armed_process.h"
#include "inject/c_library.h"
#include "inject/loading_thread.h"
#include "inject/remote_memory.h"
#include "inject/safe_point.h"
#include "inject/stack_frames.h"
#include "inject/stopped_thread.h"
#include "look/thread_filters.h"

namespace lanescope::attach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kStopLimit{500};                // for one thread to stop
constexpr milliseconds kCallLimit{2000};               // for a call that does little more than enter the kernel
constexpr milliseconds kLoadLimit{10'000};             // for loading the agent, perhaps from a slow file system
constexpr milliseconds kLibraryLimit{2000};            // for a program that starts to load its C library
constexpr std::chrono::microseconds kLeastPause{500};  // between looks for a safe point
constexpr milliseconds kMostPause{10};
constexpr milliseconds kExecLimit{200};  // for an exec to end the threads of its program and release its memory
constexpr timespec kLibraryPause{0, 5'000'000};
constexpr std::uint64_t kStackNeeded = 128 * 1024;  // loading and relocating a file takes about 20 KB
constexpr std::size_t kMemoryFileNameLimit = 64;
constexpr char kAgentName[] = "liblanescope-agent.so";  // by which the loader knows it, wherever its file lies

std::string task_folder(pid_t process) { return "/proc/" + std::to_string(process) + "/task/"; }

// The system call in which a thread sleeps; nothing if it runs.
std::optional<long> sleeping_call(pid_t process, pid_t thread) {
  std::ifstream file(task_folder(process) + std::to_string(thread) + "/syscall");
  long number = -1;
  if (file >> number && number >= 0) return number;
  return std::nullopt;
}

// All threads, the most suitable first.
std::vector<pid_t> threads_by_suitability(pid_t process) {
  std::multimap<Suitability, pid_t> threads;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(task_folder(process), error), end; !error && entry != end; entry.increment(error)) {
    const pid_t thread = std::atoi(entry->path().filename().c_str());
    threads.emplace(suitability(sleeping_call(process, thread)), thread);
  }
  std::vector<pid_t> ordered;
  for (const auto& [rank, thread] : threads) ordered.push_back(thread);
  return ordered;
}

bool has_room(const std::vector<Mapping>& map, std::uint64_t stack_pointer) {
  for (const Mapping& mapping : map)
    if (mapping.contains(stack_pointer)) return mapping.path == "[stack]" || stack_pointer - mapping.begin >= kStackNeeded;
  return true;  // the stack is newer than the map
}

std::uint32_t random_number() {
  std::uint32_t number = 0;
  return getrandom(&number, sizeof number, 0) == sizeof number ? number : static_cast<std::uint32_t>(getpid());
}

// True if the descriptor, which the target named, is a socket that the target made and is connected to itself. Otherwise we would speak to another
// process in our name.
bool is_connection_to(int descriptor, pid_t process) {
  const auto option = [descriptor](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  struct stat facts {};
  ucred peer{};
  socklen_t size = sizeof peer;
  return fstat(descriptor, &facts) == 0 && S_ISSOCK(facts.st_mode) && option(SO_DOMAIN) == AF_UNIX && option(SO_TYPE) == SOCK_SEQPACKET &&
         option(SO_ACCEPTCONN) == 0 && getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == process;
}

// True if the process has the same mounts and the same root as we.
bool sees_our_files(pid_t process_id) {
  const std::string process = "/proc/" + std::to_string(process_id);
  const auto are_same = [](const std::string& a, const std::string& b) {
    struct stat ours {};
    struct stat theirs {};
    return stat(a.c_str(), &ours) == 0 && stat(b.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
  };
  return are_same("/proc/self/ns/mnt", process + "/ns/mnt") && are_same("/proc/self/root", process + "/root");
}

// One attempt to inject the agent.
class Injector {
 public:
  Injector(const InjectionRequest& request, const Candidate& candidate) : request_(request), candidate_(candidate), memory_(request.pid) {}

  Result<Injection> run() {
    if (!memory_.is_open()) return failure(runs() ? "its memory can't be opened. Run lanescope as its user, or with sudo." : "it has ended.");
    if (const Result<void> found = find_functions(); !found) return found.error();
    StackFrames stacks(request_.pid, memory_);
    if (const Result<void> found = stop_at_safe_point(stacks); !found) return found.error();
    injection_.thread = thread_->thread();
    thread_->return_by(return_path_);
    calls_ = thread_.get();
    // Done while the thread is stopped: so in a program with one thread, no file that it opens gets another number because of this.
    const Result<long> socket = with_errno_kept([this] { return connect(); });
    std::unique_ptr<LoadingThread> loading;
    if (socket && request_.loader == Loader::kNewThread) loading = LoadingThread::start(request_.pid, *thread_, library_, memory_);
    if (loading) note_release(*thread_);
    if (loading) calls_ = loading.get();
    Result<void> done = socket ? with_errno_kept([&] { return enter_or_close(*socket); }) : Result<void>(socket.error());
    if (!loading) note_release(*thread_);
    if (done) return injection_;
    if (injection_.connection >= 0) close(injection_.connection);
    return done.error();
  }

  // To be called after run() has failed. True if the process continues with another program (exec), so that everything we read of it is outdated. An
  // exec in another thread ends the thread that we held some time before it releases the memory.
  [[nodiscard]] bool has_lost_program() const {
    const Clock::time_point deadline = Clock::now() + (thread_ != nullptr ? kExecLimit : milliseconds(0));
    while (runs()) {
      if (has_other_memory()) return true;
      if (Clock::now() >= deadline) return false;
      nanosleep(&kLibraryPause, nullptr);
    }
    return false;
  }

 private:
  [[nodiscard]] bool has_other_memory() const { return map_.empty() || !memory_.read<char>(map_.front().begin); }

  [[nodiscard]] Error failure(const std::string& reason) const { return Error{"Can't attach to " + title(candidate_) + ": " + reason}; }

  [[nodiscard]] bool runs() const {
    const Result<Candidate> now = read_candidate(request_.pid);
    return now && now->state != RunState::kEnding && now->state != RunState::kZombie;
  }

  [[nodiscard]] std::string from_outside() const { return " Record its threads from outside: lanescope attach -t none " + std::to_string(request_.pid); }

  // While a program starts, the C library may be only partly mapped.
  Result<void> find_functions() {
    for (const Clock::time_point deadline = Clock::now() + kLibraryLimit;; nanosleep(&kLibraryPause, nullptr)) {
      const std::optional<std::vector<Mapping>> map = read_memory_map(request_.pid);
      if (!map || map->empty()) return failure("it has ended.");
      map_ = *map;
      const std::optional<CLibraryFunctions> library = find_c_library(memory_, map_);
      const std::optional<ReturnPath> return_path = find_return_path(memory_, map_);
      if (library && return_path) {
        library_ = *library;
        return_path_ = *return_path;
        return {};
      }
      if (Clock::now() < deadline) continue;
      if (!library) return failure("the functions that load files were not found in its C library.");
      return failure("what calls from outside return to was not found in its C library." + from_outside());
    }
  }

  void note_release(StoppedThread& thread) { injection_.stopped = std::max(injection_.stopped, thread.release()); }

  Result<void> stop_at_safe_point(StackFrames& stacks) {
    const Clock::time_point begin = Clock::now();
    const Clock::time_point deadline = begin + request_.patience;
    std::string last_reason = "it has no threads";
    do {
      for (const pid_t thread : threads_by_suitability(request_.pid)) {
        const Result<void> tried = try_thread(thread, stacks, last_reason);
        if (!tried) return tried.error();
        if (thread_ != nullptr) return {};
        if (Clock::now() >= deadline) break;
      }
      if (!runs() || has_other_memory()) return failure("it has ended.");
      // Lets threads move on. The longer no safe point was found, the less often threads are stopped.
      std::this_thread::sleep_for(std::clamp<Clock::duration>((Clock::now() - begin) / 400, kLeastPause, kMostPause));
    } while (Clock::now() < deadline);
    return failure("no thread came to a point where the agent can be loaded safely (the last one looked at: " + last_reason + "). Try again.");
  }

  // Following a stack for the first time takes milliseconds, because tables of the files on it must be read. This is done here while the thread runs
  // on, from the place where it was seen.
  void prepare_to_follow(pid_t thread, StackFrames& stacks) {
    Result<std::unique_ptr<StoppedThread>> seen = StoppedThread::stop(request_.pid, thread, memory_, kStopLimit);
    if (!seen) return;
    const user_regs_struct registers = (*seen)->registers();
    note_release(**seen);
    static_cast<void>(stacks.of(thread, registers));
  }

  // Leaves thread_ empty if this thread is not suitable.
  Result<void> try_thread(pid_t thread, StackFrames& stacks, std::string& reason) {
    constexpr int kPrepared = 3;  // threads; the others wait in the same files
    if (prepared_++ < kPrepared) prepare_to_follow(thread, stacks);
    Result<std::unique_ptr<StoppedThread>> stopped = StoppedThread::stop(request_.pid, thread, memory_, kStopLimit);
    if (!stopped) {
      reason = stopped.error().text;
      return {};
    }
    constexpr std::uint64_t kCode64 = 0x33;
    if ((*stopped)->registers().cs != kCode64) return failure("it runs 32-bit code; only 64-bit programs can be recorded.");
    const std::optional<std::string> problem = objection(stacks.of(thread, (*stopped)->registers()), (*stopped)->system_call());
    if (problem)
      reason = *problem;
    else if (!has_room(map_, (*stopped)->registers().rsp))
      reason = "its stack is almost full";
    else
      thread_ = std::move(*stopped);
    if (thread_ == nullptr) note_release(**stopped);
    return {};
  }

  // Makes a system call in the target. Returns the negative error number if it failed.
  Result<long> system_call(std::initializer_list<std::uint64_t> arguments) {
    const Result<std::uint64_t> result = calls_->call(library_.system_call, arguments, kCallLimit);
    if (!result) return result.error();
    const auto value = static_cast<long>(*result);
    if (value != -1) return value;
    return -static_cast<long>(memory_.read<std::int32_t>(error_number_).value_or(EIO));
  }

  template <typename... Arguments>
  Result<long> system_call_with_path(long number, const std::string& path, Arguments... arguments) {
    const Result<std::uint64_t> place = calls_->place(path);
    if (!place) return place.error();
    return system_call({static_cast<std::uint64_t>(number), *place, static_cast<std::uint64_t>(arguments)...});
  }

  // Does `work` and then restores errno of the thread that makes the calls.
  template <typename Work>
  auto with_errno_kept(const Work& work) -> decltype(work()) {
    const Result<std::uint64_t> location = calls_->call(library_.error_number, {}, kCallLimit);
    if (!location) return location.error();
    error_number_ = *location;
    const std::int32_t saved = memory_.read<std::int32_t>(error_number_).value_or(0);
    auto done = work();
    memory_.write(error_number_, std::as_bytes(std::span(&saved, 1)));
    return done;
  }

  // Moves the descriptor out of the way of programs that rely on low numbers, as high as the limit permits.
  Result<long> move_up(std::int32_t descriptor) {
    for (const std::uint64_t lowest : {512, 256, 128, 64, 32, 16}) {
      const Result<long> copy = system_call({SYS_fcntl, static_cast<std::uint64_t>(descriptor), F_DUPFD_CLOEXEC, lowest});
      if (!copy) return copy.error();
      if (*copy < 0) continue;
      static_cast<void>(system_call({SYS_close, static_cast<std::uint64_t>(descriptor)}));
      return *copy;
    }
    return descriptor;
  }

  // Makes the socket pair and fetches our end. Returns the agent's end.
  Result<long> connect() {
    std::array<std::int32_t, 2> ends{-1, -1};
    const Result<std::uint64_t> place = calls_->reserve(sizeof ends);
    const Result<long> made = system_call({SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, *place});
    if (!made) return made.error();
    if (*made < 0) return failure(std::string("it may not open a socket (") + std::strerror(static_cast<int>(-*made)) + ").");
    if (!memory_.read(*place, std::as_writable_bytes(std::span(ends)))) return failure("it has ended.");
    const int process = static_cast<int>(syscall(SYS_pidfd_open, request_.pid, 0));
    injection_.connection = process < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_getfd, process, ends[1], 0));
    if (process >= 0) close(process);
    static_cast<void>(system_call({SYS_close, static_cast<std::uint64_t>(ends[1])}));
    const bool is_shared = injection_.connection >= 0;
    if (is_shared && is_connection_to(injection_.connection, request_.pid)) return move_up(ends[0]);
    if (is_shared) close(std::exchange(injection_.connection, -1));
    static_cast<void>(system_call({SYS_close, static_cast<std::uint64_t>(ends[0])}));
    if (!runs()) return failure("it has ended.");
    return failure(is_shared ? "what it gave us as its end of a connection is something else."
                             : "its socket can't be shared with us; that takes Linux 5.6 or newer.");
  }

  Result<void> enter_or_close(long socket) {
    Result<void> entered = enter(socket);
    if (!entered) static_cast<void>(system_call({SYS_close, static_cast<std::uint64_t>(socket)}));
    return entered;
  }

  Result<void> enter(long socket) {
    const bool was_there = find_file(map_, is_agent) != nullptr && has_whole_agent();
    injection_.origin = was_there ? AgentOrigin::kWasThere : AgentOrigin::kLoaded;
    if (!was_there)
      if (const Result<void> loaded = load(); !loaded) return loaded.error();
    if (!was_there || is_entered_by_another())
      if (const Result<void> agreed = take_first_agent(); !agreed) return agreed.error();
    const Result<std::uint64_t> entry = find_entry();
    if (!entry) return entry.error();
    if (*entry == 0) return failure("the agent in it is of a version that can't be attached to. Restart the program.");
    const std::string path = request_.socket.empty() ? std::string() : ":" + request_.socket.string();
    const Result<std::uint64_t> address = calls_->place("fd:" + std::to_string(socket) + path);
    if (!address) return address.error();
    const Result<std::uint64_t> answer = calls_->call(*entry, {*address}, kCallLimit);
    if (!answer) return answer.error();
    const auto code = static_cast<std::int32_t>(*answer);
    if (code == EBUSY) return failure("another recording of it is under way. End that first.");
    if (code == EAGAIN)
      return failure("its limits leave no room for a thread of the agent. Allow it more (ulimit -u, -v, -d, or -l where it locks its memory)." +
                     from_outside());
    if (code != 0) return failure(std::string("the agent could not start in it: ") + std::strerror(code) + ".");
    return {};
  }

  // A loader that gave up may leave parts of a truncated file mapped, which can't be read to their end.
  [[nodiscard]] bool has_whole_agent() const {
    return std::all_of(map_.begin(), map_.end(),
                       [this](const Mapping& mapping) { return !is_agent(mapping.path) || memory_.read<char>(mapping.end - 1).has_value(); });
  }

  // True if another recorder holds a thread of the process: what is mapped of the agent may still be on its way into the loader's list.
  [[nodiscard]] bool is_entered_by_another() const {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(task_folder(request_.pid), error), end; !error && entry != end; entry.increment(error)) {
      const pid_t tracer = std::atoi(status_value(process_text(entry->path() / "status"), "TracerPid:").c_str());
      if (tracer != 0 && tracer != gettid()) return true;
    }
    return false;
  }

  // Two recorders that come at the same moment may each load a file of their own. All of them speak to the agent that the loader's list has first, which
  // lets in one.
  Result<void> take_first_agent() {
    const Result<std::uint64_t> name = calls_->place(kAgentName);
    if (!name) return name.error();
    const Result<std::uint64_t> first = calls_->call(library_.open, {*name, library_.open_mode | RTLD_NOLOAD}, kLoadLimit);
    if (!first) return first.error();
    if (*first != 0) handle_ = *first;
    return {};
  }

  // The address of the agent's entry; 0 if it has none. The loader is asked if possible, because reading the memory map of a large process is slow.
  Result<std::uint64_t> find_entry() {
    if (handle_ != 0 && library_.find != 0) {
      const Result<std::uint64_t> name = calls_->place(kAgentEntry);
      return name ? calls_->call(library_.find, {handle_, *name}, kCallLimit) : name;
    }
    if (handle_ != 0) map_ = read_memory_map(request_.pid).value_or(std::vector<Mapping>());
    const Mapping* agent = find_file(map_, is_agent);
    if (agent == nullptr) return failure("the agent was loaded, but is not in its memory map.");
    return find_function(memory_, agent->begin, kAgentEntry).value_or(0);
  }

  // Loads the agent by its path if the target sees the same files as we do, else as a copy that the target makes itself. We never open files of the
  // target, or descriptors that it names: we may have rights that it does not have.
  Result<void> load() {
    if (sees_our_files(request_.pid)) {
      const Result<std::string> problem = open_library(request_.agent);
      if (!problem) return problem.error();
      if (problem->empty()) return {};
    }
    return load_copy();
  }

  Result<void> load_copy() {
    const std::string name = request_.agent.filename().native().substr(0, kMemoryFileNameLimit);
    const Result<long> file = system_call_with_path(SYS_memfd_create, name, MFD_CLOEXEC);
    if (!file) return file.error();
    if (*file < 0) return failure(std::string("it may not create a file in memory (") + std::strerror(static_cast<int>(-*file)) + ").");
    Result<std::string> problem = load_from(*file, "/proc/self/fd/../fd/" + std::to_string(*file));
    if (!problem) return problem.error();
    // Without /proc, the memory file of a process has no name below its root.
    const bool needs_folder = !problem->empty() && !has_proc();
    if (needs_folder) problem = load_from_its_folders(*problem);
    if (!problem) return problem.error();
    if (problem->empty()) return {};
    if (needs_folder)
      return failure("its root has no /proc and no folder that could hold the agent for a moment (/tmp, /var/tmp, /dev/shm, /run)." + from_outside());
    return failure("its loader refused the agent: " + *problem);
  }

  bool has_proc() {
    const Result<long> access = system_call_with_path(SYS_access, "/proc/self", F_OK);
    return access && *access == 0;
  }

  // Loads a file that the target makes below its root, with its own rights, and removes after loading. Returns the loader's last message, empty if
  // the agent is loaded.
  Result<std::string> load_from_its_folders(std::string problem) {
    constexpr std::uint64_t kHere = static_cast<std::uint64_t>(AT_FDCWD);
    for (const char* parent : {"/tmp", "/var/tmp", "/dev/shm", "/run"}) {
      const std::string folder = std::string(parent) + "/lanescope-" + std::to_string(request_.pid) + "-" + std::to_string(random_number());
      const std::string path = folder + "/" + request_.agent.filename().native();
      const Result<long> made = system_call_with_path(SYS_mkdir, folder, 0700);
      if (!made) return made.error();
      if (*made < 0) continue;
      const Result<long> file = system_call_with_path(SYS_open, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
      Result<std::string> tried = !file ? Result<std::string>(file.error()) : *file < 0 ? Result<std::string>(problem) : load_from(*file, path);
      for (const auto& [name, flags] : {std::pair(path, 0), {folder, AT_REMOVEDIR}}) {
        const Result<std::uint64_t> place = calls_->place(name);
        if (place) static_cast<void>(system_call({SYS_unlinkat, kHere, *place, static_cast<std::uint64_t>(flags)}));
      }
      if (!tried || tried->empty()) return tried;
      problem = *tried;
    }
    return problem;
  }

  // Fills an empty file of the target, loads it by `name`, by which the target knows it, and closes it. Returns the same as open_library().
  Result<std::string> load_from(long file, const std::string& name) {
    const Result<void> filled = copy_agent(file);
    Result<std::string> problem = filled ? open_library(name) : Result<std::string>(filled.error());
    static_cast<void>(system_call({SYS_close, static_cast<std::uint64_t>(file)}));
    return problem;
  }

  // Copies the agent through memory of the target into which the target maps the file.
  Result<void> copy_agent(long file) {
    std::ifstream from(request_.agent, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(from), {}};
    if (!from || bytes.empty()) return failure("the agent " + request_.agent.string() + " can't be read.");
    const Error not_copied = failure("the agent could not be copied into its memory.");
    if (library_.map == 0 || library_.unmap == 0) return not_copied;
    const Result<long> sized = system_call({SYS_ftruncate, static_cast<std::uint64_t>(file), bytes.size()});
    if (!sized) return sized.error();
    if (*sized < 0) return not_copied;
    const Result<std::uint64_t> place =
        calls_->call(library_.map, {0, bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<std::uint64_t>(file), 0}, kCallLimit);
    if (!place) return place.error();
    if (*place == reinterpret_cast<std::uint64_t>(MAP_FAILED)) return not_copied;
    const bool written = memory_.write(*place, std::as_bytes(std::span(bytes)));
    const Result<std::uint64_t> unmapped = calls_->call(library_.unmap, {*place, bytes.size()}, kCallLimit);
    if (!unmapped) return unmapped.error();
    return written ? Result<void>() : Result<void>(not_copied);
  }

  // Returns the loader's objection; empty if the library is loaded.
  Result<std::string> open_library(const std::string& path) {
    const Result<std::uint64_t> name = calls_->place(path);
    if (!name) return name.error();
    const Result<std::uint64_t> handle = calls_->call(library_.open, {*name, library_.open_mode}, kLoadLimit);
    if (!handle) return handle.error();
    handle_ = *handle;
    if (handle_ != 0) return std::string();
    std::string reason = "no reason given";
    if (library_.open_error == 0) return reason;
    const Result<std::uint64_t> text = calls_->call(library_.open_error, {}, kCallLimit);
    if (!text) return text.error();
    if (*text != 0) reason = read_text(*text);
    return reason;
  }

  [[nodiscard]] std::string read_text(std::uint64_t address) const {
    constexpr std::size_t kLongest = 1024;
    std::string text;
    for (std::optional<char> letter; text.size() < kLongest && (letter = memory_.read<char>(address + text.size())) && *letter != '\0';) text += *letter;
    return text;
  }

  const InjectionRequest& request_;
  const Candidate& candidate_;
  RemoteMemory memory_;
  std::vector<Mapping> map_;
  CLibraryFunctions library_;
  ReturnPath return_path_{};
  std::unique_ptr<StoppedThread> thread_;
  RemoteCalls* calls_ = nullptr;    // makes calls for us in the target
  int prepared_ = 0;                // number of threads whose stack was followed in advance
  std::uint64_t error_number_ = 0;  // address of errno, for the thread that makes calls
  std::uint64_t handle_ = 0;        // of the agent, if it was loaded by this object
  Injection injection_;
};

// A process that reads from a disk is uninterruptible for moments, and one that was just started has not loaded its C library. These are no reasons
// to give up.
bool is_passing(const Candidate& candidate) {
  const bool starts = candidate.linkage == Linkage::kDynamic && candidate.c_library == CLibrary::kNone;
  const bool goes_on = candidate.state == RunState::kRunning || candidate.state == RunState::kSleeping;
  return candidate.state == RunState::kUninterruptible || (starts && goes_on);
}

Result<Candidate> read_settled(pid_t pid) {
  const Clock::time_point deadline = Clock::now() + kLibraryLimit;
  Result<Candidate> candidate = read_candidate(pid);
  while (candidate && is_passing(*candidate) && Clock::now() < deadline) {
    nanosleep(&kLibraryPause, nullptr);
    candidate = read_candidate(pid);
  }
  return candidate;
}

// Nothing if the process has meanwhile continued with another program.
std::optional<Result<Injection>> connect_or_inject(const InjectionRequest& request, const Candidate& candidate) {
  const std::optional<std::string> deadly = deadly_filter(candidate, sees_our_files(request.pid) ? Entrance::kItsFile : Entrance::kCopy);
  if (const int connection = deadly ? -1 : connect_to_armed(request.pid, request.socket); connection >= 0)
    return Injection{.connection = connection, .origin = AgentOrigin::kWasThere};
  if (const std::optional<std::string> reason = refusal(candidate, read_rights(candidate))) return Error{*reason};
  if (deadly) return Error{"Can't attach to " + title(candidate) + ": " + *deadly};
  if (access(request.agent.c_str(), F_OK) != 0) return Error{"The agent " + request.agent.string() + " does not exist."};
  Injector injector(request, candidate);
  Result<Injection> injection = injector.run();
  if (!injection && injector.has_lost_program()) return std::nullopt;
  if (injection) injection->warnings = warnings(candidate);
  return injection;
}

}  // namespace

Result<Injection> inject(const InjectionRequest& request) {
  const Clock::time_point deadline = Clock::now() + request.patience;
  while (true) {
    const Result<Candidate> candidate = read_settled(request.pid);
    if (!candidate) return candidate.error();
    // On a separate thread: when it ends, the kernel releases everything of the target that it may still hold.
    std::optional<Result<Injection>> injection;
    // While it pauses, a thread of the target stands still, so the kernel may not extend these pauses.
    std::thread([&] {
      prctl(PR_SET_TIMERSLACK, 1UL);
      injection = connect_or_inject(request, *candidate);
    }).join();
    if (injection) return std::move(*injection);
    if (Clock::now() >= deadline) return Error{"Can't attach to " + title(*candidate) + ": it goes on with other programs (exec) all the time. Try again."};
  }
}

}  // namespace lanescope::attach
