#include "code_names.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>

#include "code_names/messages.h"
#include "collector/attach/process_text.h"
#include "collector/channel/send_descriptor.h"
#include "own_vdso.h"

extern char** environ;

namespace lanescope::cpu {
namespace {

using code_names::Request;
using code_names::RequestKind;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{20};        // for one answer; the first answer for a large file takes a second
constexpr std::chrono::milliseconds kLook{50};       // between checks of the reader's memory use
constexpr std::uint64_t kMostMemory = 1u << 30;      // bytes of memory of its own
constexpr std::uint64_t kEnoughMemory = 512u << 20;  // above that the reader is restarted between files
constexpr int kMostFailures = 3;                     // for one file
constexpr int kMostFailuresInAll = 30;               // of all files together
constexpr std::size_t kMostKnown = 500'000;          // places whose names are kept

std::string program_path() {
  if (const char* variable = std::getenv("LANESCOPE_CODE_NAMES"); variable != nullptr && *variable != '\0') return variable;
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / code_names::kProgramName).string();
}

// Bytes of the process's own memory, without files that it has mapped.
std::uint64_t own_memory(pid_t process) {
  const std::string status = attach::process_text("/proc/" + std::to_string(process) + "/status");
  return std::strtoull(attach::status_value(status, "RssAnon:").c_str(), nullptr, 10) * 1024;
}

}  // namespace

// One process of lanescope-code-names.
class CodeNames::Reader {
 public:
  // Null if it can't be started.
  static std::unique_ptr<Reader> start(std::string_view as, const std::string& debug_folders) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
    FileDescriptor ours(ends[0]);
    const FileDescriptor its(ends[1]);
    std::string program = program_path();
    std::string folders = debug_folders;
    std::string rights(as);
    std::array<char*, 4> arguments{program.data(), folders.data(), rights.data(), nullptr};
    std::array<char*, 1> nothing{nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, its.get(), STDIN_FILENO);
    pid_t pid = 0;
    char** environment = as == code_names::kAsNobody ? nothing.data() : environ;
    const int failure = posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) return nullptr;
    return std::unique_ptr<Reader>(new Reader(pid, std::move(ours)));
  }
  ~Reader() {
    kill(pid_, SIGKILL);  // it has nothing to finish
    constexpr int kLooks = 100;
    constexpr timespec kPause{0, 1'000'000};
    for (int look = 0; look < kLooks; ++look) {
      if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
      nanosleep(&kPause, nullptr);
    }
    std::thread([pid = pid_] { waitpid(pid, nullptr, 0); }).detach();  // it hangs in a file system
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  enum class Reply { kCame, kFailed, kAwaited };  // kFailed: the process ended, or took too much time or memory
  struct Answer {
    Reply reply = Reply::kFailed;
    std::vector<std::byte> bytes;
  };
  // Requires: no answer is awaited.
  Answer ask(const Request& request, std::string_view path, int descriptor, const std::function<bool()>& goes_on) {
    asked_at_ = steady_clock::now();
    return send(request, path, descriptor) ? await(goes_on) : Answer();
  }
  // Waits for the answer to the last request, as long as `goes_on` returns true.
  Answer await(const std::function<bool()>& goes_on) {
    for (pollfd source{socket_.get(), POLLIN, 0}; poll(&source, 1, static_cast<int>(kLook.count())) <= 0;) {
      if (steady_clock::now() >= asked_at_ + kPatience || own_memory(pid_) > kMostMemory) return {};
      if (!goes_on()) return {Reply::kAwaited, {}};
    }
    std::vector<std::byte> answer(code_names::kMaximumAnswer);
    const ssize_t size = recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    if (size <= 0) return {};
    answer.resize(static_cast<std::size_t>(size));
    return {Reply::kCame, std::move(answer)};
  }
  [[nodiscard]] bool is_large() const { return own_memory(pid_) > kEnoughMemory; }

 private:
  Reader(pid_t pid, FileDescriptor socket) : pid_(pid), socket_(std::move(socket)) {}

  [[nodiscard]] bool send(const Request& request, std::string_view path, int descriptor) const {
    std::array<iovec, 2> parts{iovec{const_cast<Request*>(&request), sizeof(request)}, iovec{const_cast<char*>(path.data()), path.size()}};
    return channel::send_with_descriptor(socket_.get(), std::span(parts).first(path.empty() ? 1 : 2), descriptor) > 0;
  }

  pid_t pid_;
  FileDescriptor socket_;
  steady_clock::time_point asked_at_;
};

struct CodeNames::File {
  std::uint32_t number = 0;
  std::string_view as;          // the rights with which it is read; empty if it can't be read
  std::uint64_t opened_by = 0;  // number of the reader that has it open
  int failures = 0;
  std::unordered_map<std::uint64_t, std::vector<CodeName>> known;  // by address
};

struct CodeNames::State {
  struct Running {
    std::unique_ptr<Reader> reader;
    std::uint64_t number = 0;
    std::optional<std::pair<const Module*, File*>> awaited = {};  // file of the request whose answer nobody waited for
  };
  std::string debug_folders;
  std::map<const Module*, File> files;
  std::map<std::string_view, Running> readers;  // by their rights
  std::uint64_t started = 0;
  std::size_t known = 0;  // places that were asked for, at least as many as are remembered
  int failures = 0;
  bool can_start = true;
  std::vector<std::string> notes;

  // Null if there is no reader.
  Running* reader(std::string_view as) {
    Running& running = readers[as];
    if (running.reader == nullptr && can_start) {
      running = {Reader::start(as, debug_folders), ++started};
      can_start = running.reader != nullptr;
      if (!can_start && have_code_names())
        notes.push_back("Code has no names: " + program_path() + " can't be started. Install Lanescope whole, or set LANESCOPE_CODE_NAMES to it.");
    }
    return running.reader == nullptr ? nullptr : &running;
  }

  void note_failure(const Module& module, File& file, Running& running) {
    running = {};
    ++file.failures;
    if (file.failures == kMostFailures) notes.push_back("Some code of " + module.path + " has no names: to find them out took too much time or memory.");
    if (++failures == kMostFailuresInAll) notes.push_back("No more code is named: too many files took too much time or memory.");
  }

  // Returns the answer; nothing if there is none, or if it is not waited for.
  std::optional<std::vector<std::byte>> answered(Reader::Answer answer, const Module& module, File& file, Running& running) {
    if (answer.reply == Reader::Reply::kAwaited) running.awaited = {&module, &file};
    if (answer.reply == Reader::Reply::kFailed) note_failure(module, file, running);
    return answer.reply == Reader::Reply::kCame ? std::optional(std::move(answer.bytes)) : std::nullopt;
  }

  // The reader for this file, which has answered all that it was asked. Null if there is none, or if it still works.
  Running* idle_reader(const File& file, const std::function<bool()>& goes_on) {
    Running* running = reader(file.as);
    if (running != nullptr && running->awaited) {
      const auto [module, other] = *std::exchange(running->awaited, std::nullopt);
      static_cast<void>(answered(running->reader->await(goes_on), *module, *other, *running));
      if (running->awaited) return nullptr;
      running = reader(file.as);
    }
    if (running == nullptr || file.opened_by == running->number || !running->reader->is_large()) return running;
    running->reader.reset();
    return reader(file.as);
  }

  std::optional<std::vector<std::byte>> ask(const Module& module, File& file, std::uint64_t address, const std::function<bool()>& goes_on) {
    Running* running = idle_reader(file, goes_on);
    if (running == nullptr) return std::nullopt;
    if (file.opened_by != running->number) {
      const std::optional<attach::ForeignFile> there = module.path == "[vdso]" ? std::nullopt : module.open();
      const FileDescriptor vdso = module.path == "[vdso]" ? own_vdso() : FileDescriptor();
      const int descriptor = there ? there->descriptor.get() : vdso.get();
      if (descriptor < 0) return std::nullopt;
      const std::string_view path = std::string_view(module.path).substr(0, code_names::kMaximumPath);
      file.opened_by = running->number;
      if (!answered(running->reader->ask({RequestKind::kOpen, file.number, 0}, path, descriptor, goes_on), module, file, *running)) return std::nullopt;
    }
    return answered(running->reader->ask({RequestKind::kFind, file.number, address}, {}, -1, goes_on), module, file, *running);
  }

  // Files that belong to root, that only root can write, and that we see ourselves are trusted.
  static std::string_view rights_for(const Module& module) {
    if (geteuid() != 0 || module.path == "[vdso]") return code_names::kAsItIs;
    const std::optional<attach::ForeignFile> file = module.open();
    if (!file) return {};
    constexpr mode_t kWritten = S_IWGRP | S_IWOTH;
    const bool is_roots = module.seen_by == 0 && file->facts.st_uid == 0 && (file->facts.st_mode & kWritten) == 0;
    return is_roots ? code_names::kAsItIs : code_names::kAsNobody;
  }
};

CodeNames::CodeNames(const std::string& debug_folders) : state_(std::make_unique<State>()) { state_->debug_folders = debug_folders; }
CodeNames::~CodeNames() = default;

std::vector<CodeName> CodeNames::find(const Module& module, std::uint64_t address, const std::function<bool()>& goes_on) {
  const auto [entry, is_new] = state_->files.try_emplace(&module);
  File& file = entry->second;
  if (is_new) {
    file.number = static_cast<std::uint32_t>(state_->files.size());
    file.as = State::rights_for(module);
  }
  if (++state_->known > kMostKnown) {
    for (auto& [each, one] : state_->files) one.known.clear();
    state_->known = 0;
  }
  const auto [known, is_asked] = file.known.try_emplace(address);
  if (!is_asked) return known->second;
  if (file.as.empty() || file.failures >= kMostFailures || state_->failures >= kMostFailuresInAll) return {};
  const std::optional<std::vector<std::byte>> answer = state_->ask(module, file, address, goes_on);
  if (answer) known->second = code_names::unpacked(*answer).value_or(std::vector<CodeName>());
  std::vector<CodeName> names = known->second;
  if (!answer && !goes_on()) file.known.erase(known);
  return names;
}

std::vector<std::string> CodeNames::take_notes() { return std::exchange(state_->notes, {}); }

bool have_code_names() noexcept { return LANESCOPE_HAVE_CODE_NAMES; }

}  // namespace lanescope::cpu
