#include "session/stopped_program.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "collector/channel/file_descriptor.h"
#include "collector/session/process_beside.h"

namespace lanescope::cli {
namespace {

constexpr timespec kBetweenLooks{0, 20'000'000};
constexpr int kMostLooks = 50;  // at a recorder that is about to stop

}  // namespace

bool has_terminal() noexcept { return channel::FileDescriptor(open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)).valid(); }

bool is_stopped(pid_t process) noexcept {
  std::array<char, 32> path{"/proc/"};
  char* const end = std::to_chars(path.data() + 6, path.data() + path.size() - 6, process).ptr;
  std::memcpy(end, "/stat", 6);
  std::array<char, 256> text;
  const channel::FileDescriptor file(open(path.data(), O_RDONLY | O_CLOEXEC));
  const ssize_t size = file.valid() ? read(file.get(), text.data(), text.size()) : 0;
  const std::string_view stat(text.data(), static_cast<std::size_t>(size < 0 ? 0 : size));
  const std::size_t name_end = stat.rfind(')');  // the name may contain anything
  return name_end != std::string_view::npos && name_end + 2 < stat.size() && stat[name_end + 2] == 'T';
}

bool has_children(pid_t process) {
  std::error_code failed;
  std::filesystem::directory_iterator thread("/proc/" + std::to_string(process) + "/task", failed);
  for (; !failed && thread != std::filesystem::directory_iterator(); thread.increment(failed)) {
    std::ifstream children(thread->path() / "children");
    if (!children || children.peek() != std::ifstream::traits_type::eof()) return true;
  }
  return static_cast<bool>(failed);
}

void stop_with(pid_t program) {
  const pid_t recorder = getpid();
  const channel::FileDescriptor self(static_cast<int>(syscall(SYS_pidfd_open, recorder, 0)));
  if (!self.valid()) return;
  const bool is_watched = session::start_process_beside([&] {
    session::ignore_signals();
    const std::array kept{self.get()};
    session::close_descriptors(0, kept);
    bool has_stood = false;
    for (int looks = 0; has_stood || looks < kMostLooks; ++looks, nanosleep(&kBetweenLooks, nullptr)) {
      const bool stands = is_stopped(recorder);
      if (has_stood && !stands) return;
      has_stood = stands;
      // A recorder that has not stopped yet would lose the signal.
      if (stands && !is_stopped(program)) syscall(SYS_pidfd_send_signal, self.get(), SIGCONT, nullptr, 0);
    }
  });
  if (is_watched) stop_as_terminals_do();
}

bool stop_as_terminals_do() noexcept {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  sigset_t before;
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, &before);  // it stops us here or not at all
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  sigset_t waiting;  // a stop signal removes a pending SIGCONT; a SIGCONT that is pending now therefore came while we were stopped
  return sigpending(&waiting) == 0 && sigismember(&waiting, SIGCONT) == 1;
}

}  // namespace lanescope::cli
