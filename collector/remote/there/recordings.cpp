#include "there/recordings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "collector/channel/file_descriptor.h"
#include "collector/remote/recording_name.h"
#include "collector/session/inheritance.h"
#include "collector/session/process_beside.h"

namespace lanescope::remote {
namespace {

namespace fs = std::filesystem;
using channel::FileDescriptor;

constexpr const char* kEnded = "ended";
constexpr const char* kRecorder = "recorder";
constexpr const char* kLeaving = ".removed-";  // before the name of a folder that is about to go

Error begun_elsewhere(const std::string& name, const std::string& host) {
  return {"The recording " + name + " was begun on " + host + ", which can end it. If that machine is gone, remove the recording's folder.", ErrorKind::kUsage};
}

Error not_made(const fs::path& folder) {
  return {"The folder of recordings " + folder.string() + " can't be made, or is not yours alone: " + std::strerror(errno) +
          ". Set XDG_CACHE_HOME there to a folder that is yours."};
}

// When a process was started, in the kernel's ticks: tells it from a later one with its number. Empty where it is gone, or only waits to be
// reaped.
std::string start_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  constexpr int kFieldsBetween = 19;  // from the state, which follows the name, to the start
  std::size_t at = name_end + 2;
  if (at >= text.size() || text[at] == 'Z' || text[at] == 'X') return {};
  for (int field = 0; field < kFieldsBetween && at != std::string::npos; ++field) {
    at = text.find(' ', at);
    if (at != std::string::npos) ++at;
  }
  return at == std::string::npos ? std::string() : text.substr(at, text.find(' ', at) - at);
}

std::string host_name() {
  utsname system{};
  return uname(&system) == 0 ? system.nodename : "";
}

struct Recorder {
  pid_t process = 0;
  std::string start;
  std::string host;
};

std::optional<Recorder> recorder_of(const fs::path& folder) {
  Recorder recorder;
  std::ifstream file(folder / kRecorder);
  if (!(file >> recorder.process >> recorder.start) || recorder.process <= 0) return std::nullopt;
  if (!(file >> recorder.host)) recorder.host = host_name();
  return recorder;
}

void write_whole(const fs::path& path, const std::string& text) {
  const fs::path beside = path.string() + ".new";
  std::ofstream(beside) << text << '\n';
  std::error_code ignored;
  fs::rename(beside, path, ignored);
}

// %, which patterns of names begin with, as itself.
std::string as_pattern(const std::string& path) {
  std::string pattern;
  for (const char letter : path) pattern += letter == '%' ? std::string("%%") : std::string(1, letter);
  return pattern;
}

void lead(int descriptor, const fs::path& path, int flags) {
  constexpr mode_t kForOwner = 0600;
  const int file = open(path.c_str(), flags | O_CLOEXEC, kForOwner);
  if (file == descriptor)
    fcntl(file, F_SETFD, 0);  // it was closed
  else if (file >= 0)
    dup2(file, descriptor);
}

[[noreturn]] void become_recorder(const fs::path& folder, const proto::RemoteRequest::Record& request, const fs::path& program) {
  session::give_back_inheritance();
  lead(STDIN_FILENO, "/dev/null", O_RDONLY);
  lead(STDOUT_FILENO, folder / "output", O_WRONLY | O_CREAT | O_APPEND);
  lead(STDERR_FILENO, folder / "messages", O_WRONLY | O_CREAT | O_APPEND);
  std::vector<std::string> arguments{"lanescope", request.command()};
  arguments.insert(arguments.end(), request.options().begin(), request.options().end());
  arguments.insert(arguments.end(), {"-o", as_pattern((folder / "recording").string()) + "%n"});
  if (request.command() != "attach") arguments.emplace_back("--");
  arguments.insert(arguments.end(), request.operands().begin(), request.operands().end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const auto fail = [](const std::string& sentence) {
    const std::string line = "lanescope: " + sentence + "\n";
    static_cast<void>(write(STDERR_FILENO, line.data(), line.size()));
    _exit(1);
  };
  if (!request.folder().empty() && chdir(request.folder().c_str()) != 0)
    fail("The folder " + request.folder() + " can't be entered: " + std::strerror(errno) + ".");
  execv(program.c_str(), pointers.data());
  fail("The recorder can't be started: " + std::string(std::strerror(errno)) + ".");
  _exit(1);
}

// Never returns. All that was open closes once the recorder is known: whoever waits for that, and the link, which must be able to end.
[[noreturn]] void keep(const fs::path& folder, const proto::RemoteRequest::Record& request, const fs::path& program) {
  setsid();
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  const pid_t recorder = fork();
  if (recorder == 0) become_recorder(folder, request, program);
  if (recorder > 0) write_whole(folder / kRecorder, std::to_string(recorder) + " " + start_of(recorder) + " " + host_name());
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) lead(standard, "/dev/null", O_RDWR);
  session::close_descriptors(STDERR_FILENO + 1);
  int status = 0;
  while (recorder > 0 && waitpid(recorder, &status, 0) < 0 && errno == EINTR) {
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const int code = recorder < 0 ? 1 : WEXITSTATUS(status);
  write_whole(folder / kEnded, std::to_string(signal != 0 ? 0 : code) + " " + std::to_string(signal));
  _exit(0);
}

}  // namespace

Result<Recordings> Recordings::open() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base = cache != nullptr && *cache == '/' ? fs::path(cache) / "lanescope"
                        : home != nullptr && *home == '/' ? fs::path(home) / ".cache" / "lanescope"
                                                          : fs::path("/tmp/lanescope-" + std::to_string(getuid()));
  const fs::path folder = base / "recordings";
  std::error_code ignored;
  fs::create_directories(base.parent_path(), ignored);
  mkdir(base.c_str(), 0700);
  mkdir(folder.c_str(), 0700);
  // Where it is below /tmp, somebody else may have made either.
  for (const fs::path& each : {base, folder}) {
    struct stat facts {};
    errno = EPERM;
    if (lstat(each.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || facts.st_uid != getuid()) return not_made(folder);
  }
  struct stat facts {};
  if (lstat(folder.c_str(), &facts) != 0 || (facts.st_mode & 077) != 0) return not_made(folder);
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    std::error_code failed;  // of one that is just being removed, somebody else takes files away
    if (entry->path().filename().native().starts_with(kLeaving)) fs::remove_all(entry->path(), failed);
  }
  return Recordings(folder);
}

Result<void> Recordings::start(const proto::RemoteRequest::Record& request, const fs::path& program) {
  if (!is_recording_name(request.recording())) return Error{"That is no name of a recording.", ErrorKind::kUsage};
  if (request.command() != "profile" && request.command() != "launch" && request.command() != "attach")
    return Error{"Recordings are made by profile, launch and attach.", ErrorKind::kUsage};
  const fs::path folder = folder_ / request.recording();
  if (mkdir(folder.c_str(), 0700) != 0) {
    if (errno == EEXIST) return {};
    return Error{"No folder can be made in " + folder_.string() + ": " + std::strerror(errno) + "."};
  }
  // Nothing has begun: the next one who asks may try again.
  const auto not_started = [&folder](const char* what) {
    rmdir(folder.c_str());
    return Error{std::string("There are no ") + what + " left to start a recorder."};
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return not_started("descriptors");
  FileDescriptor known(ends[0]);
  const pid_t keeper = fork();
  if (keeper == 0) keep(folder, request, program);
  close(ends[1]);
  if (keeper < 0) return not_started("processes");
  char nothing = 0;
  while (read(known.get(), &nothing, 1) < 0 && errno == EINTR) {
  }
  return {};
}

Result<fs::path> Recordings::folder_of(const std::string& name) const {
  std::error_code missing;
  if (is_recording_name(name) && fs::is_directory(folder_ / name, missing)) return folder_ / name;
  return Error{"There is no recording of this name. See those that there are with: lanescope fetch --on TARGET --list", ErrorKind::kUsage};
}

RecordingState Recordings::state_of(const fs::path& folder) const {
  RecordingState state;
  const std::optional<Recorder> recorder = recorder_of(folder);
  if (recorder) state.host = recorder->host;
  // Before the end is looked for, which is written after it.
  const bool is_here = recorder && recorder->host == host_name();
  const bool runs = is_here && start_of(recorder->process) == recorder->start;
  std::ifstream ended(folder / kEnded);
  if (ended >> state.code >> state.signal)
    state.progress = Progress::kEnded;
  else if (recorder && !is_here)
    state.progress = Progress::kElsewhere;
  else if (runs)
    state.progress = Progress::kRuns;
  return state;
}

Result<void> Recordings::stop(const std::string& name) {
  const Result<fs::path> folder = folder_of(name);
  if (!folder) return folder.error();
  const std::optional<Recorder> recorder = recorder_of(*folder);
  if (!recorder) return {};
  if (state_of(*folder).progress == Progress::kElsewhere) return begun_elsewhere(name, recorder->host);
  // Held first, then looked at: the number may be another's by now.
  const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, recorder->process, 0)));
  if (process.valid() && start_of(recorder->process) == recorder->start) syscall(SYS_pidfd_send_signal, process.get(), SIGINT, nullptr, 0);
  return {};
}

Result<void> Recordings::discard(const std::string& name) {
  const Result<fs::path> folder = folder_of(name);
  if (!folder) return folder.error();
  const RecordingState state = state_of(*folder);
  if (state.progress == Progress::kRuns) return Error{"The recording " + name + " runs still: end it first.", ErrorKind::kUsage};
  if (state.progress == Progress::kElsewhere) return begun_elsewhere(name, state.host);
  // It is there whole, or not at all, for who follows it as well; no recording has such a name.
  const fs::path leaving = folder_ / (std::string(kLeaving) + name);
  std::error_code failed;
  fs::rename(*folder, leaving, failed);
  if (failed == std::errc::no_such_file_or_directory) return {};  // somebody else has just removed it
  if (!failed) fs::remove_all(leaving, failed);
  if (failed) return Error{"The recording " + name + " can't be removed: " + failed.message() + "."};
  return {};
}

std::vector<std::string> Recordings::names() const {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(folder_, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed))
    if (const std::string name = entry->path().filename(); is_recording_name(name)) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lanescope::remote
