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

#include "collector/attach/process_text.h"
#include "collector/channel/file_descriptor.h"
#include "collector/remote/recording_name.h"
#include "collector/remote/serve.h"
#include "collector/remote/signals.h"
#include "collector/session/distant_reader.h"
#include "collector/session/inheritance.h"
#include "collector/session/process_beside.h"

namespace lanescope::remote {
namespace {

namespace fs = std::filesystem;
using channel::FileDescriptor;

constexpr const char* kEnded = "ended";
constexpr const char* kRecorder = "recorder";
constexpr const char* kCode = "code";
constexpr const char* kBeside = ".new";        // suffix of a file that does not have its final name yet
constexpr std::size_t kEndedBytes = 32;        // size of `ended`: room for two numbers
constexpr const char* kLeaving = ".removed-";  // prefix of a folder that is being removed

Error begun_elsewhere(const std::string& name, const std::string& host) {
  return {"The recording " + name + " was begun on " + host + ", which can end it. If that machine is gone, remove the recording's folder.", ErrorKind::kUsage};
}

Error not_made(const fs::path& folder) {
  return {"The folder of recordings " + folder.string() + " can't be made, or is not yours alone: " + std::strerror(errno) +
          ". Set XDG_CACHE_HOME there to a folder that is yours."};
}

// When a process was started, in the kernel's ticks, which distinguish it from a later process with its number. Empty if it is gone, or only waits to be
// reaped.
std::string start_of(pid_t process) {
  constexpr std::size_t kStart = 22;  // field of proc(5)
  const attach::ProcessStat stat = attach::process_stat("/proc/" + std::to_string(process));
  const bool runs = stat.state() != '\0' && stat.state() != 'Z' && stat.state() != 'X';
  return runs ? std::to_string(stat.number(kStart)) : std::string();
}

// Null if it no longer runs. The descriptor is opened first and the process is checked afterwards, because its number may be another process's by now.
FileDescriptor held(pid_t process, const std::string& start) {
  FileDescriptor descriptor(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  if (start_of(process) != start) return FileDescriptor();
  return descriptor;
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

// Returns 0 once all of it is on the disk, else errno: a full disk may be reported late. An existing file is overwritten in place.
int write_through(const fs::path& path, int flags, const std::string& text) {
  const FileDescriptor file(open(path.c_str(), flags | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return errno;
  const ssize_t written = pwrite(file.get(), text.data(), text.size(), 0);
  if (written < 0) return errno;
  if (static_cast<std::size_t>(written) != text.size()) return ENOSPC;
  return fsync(file.get()) == 0 || errno == EINVAL ? 0 : errno;
}

// Replaces a file that describes a state in one step, or leaves it unchanged. Returns 0 or errno.
int write_state(const fs::path& path, const std::string& text) {
  const fs::path beside = path.string() + kBeside;
  int reason = write_through(beside, O_CREAT | O_TRUNC, text + '\n');
  if (reason == 0 && rename(beside.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) unlink(beside.c_str());
  return reason;
}

// Reserves room for what the recorder prints and for how it ends, because the disk may be full by then. Returns 0 or errno.
int make_room(const fs::path& folder) {
  constexpr off_t kForMessages = 64 << 10;  // bytes
  constexpr mode_t kForOwner = 0600;
  if (const int reason = write_through(folder / (std::string(kEnded) + kBeside), O_CREAT, std::string(kEndedBytes, ' ')); reason != 0) return reason;
  if (const int reason = write_through(folder / kCode, O_CREAT, std::string(kEndedBytes, ' ')); reason != 0) return reason;
  if (const int reason = write_through(folder / kReading, O_CREAT, std::string(sizeof(session::DistantReading), '\0')); reason != 0) return reason;
  const FileDescriptor output(open((folder / kOutput).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kForOwner));
  if (!output.valid()) return errno;
  // The recorder and its program share the first file: the program's output may use all of it, but nothing of the second.
  for (const char* name : {kMessages, kReserve}) {
    const FileDescriptor messages(open((folder / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kForOwner));
    if (!messages.valid()) return errno;
    const bool has_room = fallocate(messages.get(), FALLOC_FL_KEEP_SIZE, 0, kForMessages) == 0;
    if (!has_room && (errno == ENOSPC || errno == EDQUOT)) return errno;  // not every file system can reserve room
  }
  return 0;
}

// Writes into the reserved room. All parts of the recording have ended. If even this fails, its end stays unknown.
void write_end(const fs::path& folder, int code, int signal) {
  const fs::path ended = folder / kEnded, room = ended.string() + kBeside;
  std::string text = std::to_string(code) + " " + std::to_string(signal);
  text.resize(kEndedBytes - 1, ' ');
  text += '\n';
  if (write_through(room, 0, text) != 0 || rename(room.c_str(), ended.c_str()) != 0) write_state(ended, text);
}

// Doubles %, which starts patterns in names.
std::string as_pattern(const std::string& path) {
  std::string pattern;
  for (const char letter : path) pattern += letter == '%' ? std::string("%%") : std::string(1, letter);
  return pattern;
}

bool lead(int descriptor, const fs::path& path, int flags) {
  constexpr mode_t kForOwner = 0600;
  const int file = open(path.c_str(), flags | O_CLOEXEC, kForOwner);
  if (file == descriptor) return fcntl(file, F_SETFD, 0) == 0;  // the descriptor was closed
  return file >= 0 && dup2(file, descriptor) == descriptor;
}

[[noreturn]] void become_recorder(const fs::path& folder, const proto::RemoteRequest::Record& request, const fs::path& program) {
  session::give_back_inheritance();
  // Otherwise it would print between the messages of a link.
  if (!lead(STDERR_FILENO, folder / kMessages, O_WRONLY | O_APPEND) || !lead(STDOUT_FILENO, folder / kOutput, O_WRONLY | O_APPEND) ||
      !lead(STDIN_FILENO, "/dev/null", O_RDONLY))
    _exit(1);
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
  setenv(kMessageReserve, (folder / kReserve).c_str(), 1);
  setenv(kDiscardNotes, (folder / kThrownAway).c_str(), 1);
  setenv(kReadingNote, (folder / kReading).c_str(), 1);
  setenv(kCodeNote, (folder / kCode).c_str(), 1);
  execv(program.c_str(), pointers.data());
  fail("The recorder can't be started: " + std::string(std::strerror(errno)) + ".");
  _exit(1);
}

// Starts a recorder that waits until a byte comes through the gate, and ends if none does; -1: none.
pid_t start_recorder(const fs::path& folder, const proto::RemoteRequest::Record& request, const fs::path& program, FileDescriptor& gate) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  const FileDescriptor inner(ends[0]);
  gate = FileDescriptor(ends[1]);
  const pid_t recorder = fork();
  if (recorder != 0) return recorder;
  gate.reset();
  setsid();  // it leads a group that includes its program: requests to end go to all of them, as from a terminal
  char nothing = 0;
  if (read(inner.get(), &nothing, 1) != 1) _exit(1);
  become_recorder(folder, request, program);
}

int wait_for_end_of(pid_t recorder) {
  int status = 0;
  while (waitpid(recorder, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Never returns. A recorder without a note would be out of reach, so none starts without it. The result (0, or errno) is written to `asker`. Then everything
// that was open is closed, so that the link can end.
[[noreturn]] void keep(const fs::path& folder, const proto::RemoteRequest::Record& request, const fs::path& program, int asker) {
  setsid();
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  FileDescriptor gate;
  pid_t recorder = 0;
  int reason = make_room(folder);
  if (reason == 0 && (recorder = start_recorder(folder, request, program, gate)) < 0) reason = errno;
  if (reason == 0) reason = write_state(folder / kRecorder, std::to_string(recorder) + " " + start_of(recorder) + " " + host_name());
  std::signal(SIGPIPE, SIG_IGN);  // in case somebody has ended the recorder already
  if (reason != 0) {
    gate.reset();
    if (recorder > 0) wait_for_end_of(recorder);
  }
  static_cast<void>(write(asker, &reason, sizeof(reason)));
  if (reason != 0) _exit(1);
  static_cast<void>(write(gate.get(), "", 1));
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) lead(standard, "/dev/null", O_RDWR);
  session::close_descriptors(STDERR_FILENO + 1);
  const int status = wait_for_end_of(recorder);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  write_end(folder, signal != 0 ? 0 : WEXITSTATUS(status), signal);
  _exit(0);
}

// A folder of this user, which is made if it does not exist, and whose mode has none of the bits `refused`. On failure errno says why.
FileDescriptor own_folder(int parent, const fs::path& name, mode_t refused = 0) {
  if (mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) return {};
  FileDescriptor folder(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!folder.valid() || fstat(folder.get(), &facts) != 0) return {};
  if (facts.st_uid == getuid() && (facts.st_mode & refused) == 0) return folder;
  folder.reset();
  errno = EPERM;
  return {};
}

}  // namespace

void note_code(const fs::path& note, int code) { write_through(note, 0, std::to_string(code) + '\n'); }

Result<Recordings> Recordings::open() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base = cache != nullptr && *cache == '/' ? fs::path(cache) / "lanescope"
                        : home != nullptr && *home == '/' ? fs::path(home) / ".cache" / "lanescope"
                                                          : fs::path("/tmp/lanescope-" + std::to_string(getuid()));
  const fs::path folder = base / "recordings";
  std::error_code ignored;
  fs::create_directories(base.parent_path(), ignored);
  // If it is below /tmp, somebody else may have made either folder, or a link: nothing is made in a folder that is not ours.
  const FileDescriptor ours = own_folder(AT_FDCWD, base);
  if (!ours.valid() || !own_folder(ours.get(), folder.filename(), 077).valid()) return not_made(folder);
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    std::error_code failed;  // if a folder is just being removed, somebody else removes its files
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
  // Nothing has started: a later request may try again.
  const auto not_started = [&folder](int reason) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    const bool has_no_room = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
    return Error{"The recording can't be begun in " + folder.parent_path().string() + ": " + std::strerror(reason) + ". Nothing was started." +
                 (has_no_room ? " Free some space there, or set XDG_CACHE_HOME there to a folder of yours on another disk." : "")};
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return not_started(errno);
  const FileDescriptor answer(ends[0]);
  const pid_t keeper = fork();
  const int fork_failure = errno;
  if (keeper == 0) keep(folder, request, program, ends[1]);
  close(ends[1]);
  if (keeper < 0) return not_started(fork_failure);
  int reason = 0;
  ssize_t size = 0;
  while ((size = read(answer.get(), &reason, sizeof(reason))) < 0 && errno == EINTR) {
  }
  if (size == sizeof(reason) && reason == 0) return {};
  wait_for_end_of(keeper);
  return not_started(size == sizeof(reason) ? reason : ECANCELED);  // the keeper was killed, and so nothing came through its gate
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
  // Checked before the note about the end is read, which is written after it.
  const bool is_here = recorder && recorder->host == host_name();
  const bool runs = is_here && start_of(recorder->process) == recorder->start;
  std::ifstream ended(folder / kEnded), code(folder / kCode);
  if (ended >> state.code >> state.signal)
    state.progress = Progress::kEnded;
  else if (recorder && !is_here)
    state.progress = Progress::kElsewhere;
  else if (runs)
    state.progress = Progress::kRuns;
  else if (!recorder)
    state.progress = Progress::kUnknown;
  else if (code >> state.code)  // its keeper was killed
    state.progress = Progress::kEnded;
  return state;
}

Result<void> Recordings::stop(const std::string& name, int signal) {
  const Result<fs::path> folder = folder_of(name);
  if (!folder) return folder.error();
  const std::optional<Recorder> recorder = recorder_of(*folder);
  const Progress progress = state_of(*folder).progress;
  if (progress == Progress::kUnknown)
    return Error{"The recording " + name + " can't be ended from here: " + folder->string() + " does not say which process makes it."};
  if (!recorder) return {};
  if (progress == Progress::kElsewhere) return begun_elsewhere(name, recorder->host);
  const FileDescriptor process = held(recorder->process, recorder->start);
  if (!process.valid()) return {};
  // A terminal's keys are for a whole group: if a shell or a launcher starts the program, only the program may handle them. The recorder of an older lanescope
  // leads no group.
  const bool is_a_keys = signal != SIGTERM, leads_group = getpgid(recorder->process) == recorder->process;
  if (!is_a_keys || !leads_group || kill(-recorder->process, signal) != 0) syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
  return {};
}

void Recordings::pass_on(const std::string& name, int signal) const {
  if (!passes_on(signal)) return;
  const Result<fs::path> folder = folder_of(name);
  const std::optional<Recorder> recorder = folder ? recorder_of(*folder) : std::nullopt;
  if (!recorder || state_of(*folder).progress == Progress::kElsewhere) return;
  if (const FileDescriptor process = held(recorder->process, recorder->start); process.valid())
    syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
}

Result<void> Recordings::discard(const std::string& name) {
  const Result<fs::path> folder = folder_of(name);
  if (!folder) return folder.error();
  const RecordingState state = state_of(*folder);
  if (state.progress == Progress::kRuns) return Error{"The recording " + name + " runs still: end it first.", ErrorKind::kUsage};
  if (state.progress == Progress::kElsewhere) return begun_elsewhere(name, state.host);
  if (state.progress == Progress::kUnknown)
    return Error{"The recording " + name + " may run still: " + folder->string() + " does not say which process makes it. If none does, remove that folder."};
  // The folder is renamed first, so that it exists completely or not at all, also for whoever follows it. No recording has such a name.
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
