#include "code_names/reader.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <thread>

#include "collector/attach/process_text.h"
#include "collector/channel/send_descriptor.h"

extern char** environ;

namespace lanescope::code_names {
namespace {

using channel::FileDescriptor;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{20};    // for one answer; the first answer for a large file takes a second
constexpr std::chrono::milliseconds kLook{50};   // between checks of the reader's memory use
constexpr std::uint64_t kMostMemory = 1u << 30;  // bytes of memory of its own

}  // namespace

std::string program_path() {
  if (const char* variable = std::getenv("LANESCOPE_CODE_NAMES"); variable != nullptr && *variable != '\0') return variable;
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / kProgramName).string();
}

bool is_roots_own(const struct stat& facts) noexcept {
  constexpr mode_t kWritten = S_IWGRP | S_IWOTH;
  return facts.st_uid == 0 && (facts.st_mode & kWritten) == 0;
}

std::unique_ptr<Reader> Reader::start(std::string_view as, const std::string& debug_folders) {
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
  char** environment = as == kAsNobody ? nothing.data() : environ;
  const int failure = posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return nullptr;
  return std::unique_ptr<Reader>(new Reader(pid, std::move(ours)));
}

Reader::~Reader() {
  kill(pid_, SIGKILL);  // it has nothing to finish
  constexpr int kLooks = 100;
  constexpr timespec kPause{0, 1'000'000};
  for (int look = 0; look < kLooks; ++look) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
    nanosleep(&kPause, nullptr);
  }
  std::thread([pid = pid_] { waitpid(pid, nullptr, 0); }).detach();  // it hangs in a file system
}

Reader::Answer Reader::ask(const Request& request, std::string_view path, int descriptor, const std::function<bool()>& goes_on) {
  asked_at_ = steady_clock::now();
  return send(request, path, descriptor) ? await(goes_on) : Answer();
}

Reader::Answer Reader::await(const std::function<bool()>& goes_on) {
  for (pollfd source{socket_.get(), POLLIN, 0}; poll(&source, 1, static_cast<int>(kLook.count())) <= 0;) {
    if (steady_clock::now() >= asked_at_ + kPatience || own_memory() > kMostMemory) return {};
    if (!goes_on()) return {Reply::kAwaited, {}};
  }
  std::vector<std::byte> answer(kMaximumAnswer);
  const ssize_t size = recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  if (size <= 0) return {};
  answer.resize(static_cast<std::size_t>(size));
  return {Reply::kCame, std::move(answer)};
}

std::uint64_t Reader::own_memory() const {
  const std::string status = attach::process_text("/proc/" + std::to_string(pid_) + "/status");
  return std::strtoull(attach::status_value(status, "RssAnon:").c_str(), nullptr, 10) * 1024;
}

bool Reader::send(const Request& request, std::string_view path, int descriptor) const {
  std::array<iovec, 2> parts{iovec{const_cast<Request*>(&request), sizeof(request)}, iovec{const_cast<char*>(path.data()), path.size()}};
  return channel::send_with_descriptor(socket_.get(), std::span(parts).first(path.empty() ? 1 : 2), descriptor) > 0;
}

}  // namespace lanescope::code_names
