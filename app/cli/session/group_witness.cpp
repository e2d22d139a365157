#include "session/group_witness.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "collector/attach/candidate.h"
#include "collector/attach/process_text.h"
#include "collector/session/process_beside.h"

namespace lanescope::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30ms;

// Puts this text in place of our arguments, as far as it fits.
void show_as_arguments(const std::string& text) {
  constexpr int kArgumentsBegin = 48;  // fields of /proc/self/stat, proc(5)
  const std::string stat = attach::process_text("/proc/self/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return;
  const char* place = stat.c_str() + name_end + 1;
  for (int field = 3; place != nullptr && field < kArgumentsBegin; ++field) place = std::strchr(place + 1, ' ');
  if (place == nullptr) return;
  char* behind = nullptr;
  const auto begin = std::strtoull(place, &behind, 10);
  const auto end = std::strtoull(behind, nullptr, 10);
  if (begin == 0 || end <= begin) return;
  auto* const arguments = reinterpret_cast<char*>(begin);
  std::memset(arguments, 0, end - begin);
  std::memcpy(arguments, text.data(), std::min<std::size_t>(text.size(), end - begin - 1));
}

[[noreturn]] void wait_as_witness(int link, const std::string& arguments) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, attach::kWitnessName);
  show_as_arguments(arguments);
  dup2(link, STDIN_FILENO);
  session::close_descriptors(STDOUT_FILENO);
  const pid_t own = getpid();
  if (write(STDIN_FILENO, &own, sizeof(own)) != static_cast<ssize_t>(sizeof(own))) _exit(1);
  for (unsigned char signal = 0; read(STDIN_FILENO, &signal, 1) == 1;) {
    constexpr timespec kNoWait{0, 0};
    sigset_t forgotten;
    sigemptyset(&forgotten);
    sigaddset(&forgotten, signal);
    while (sigtimedwait(&forgotten, nullptr, &kNoWait) > 0) {
    }
  }
  _exit(0);
}

}  // namespace

std::uint64_t pending_signals(pid_t process) {
  const std::string status = attach::process_text("/proc/" + std::to_string(process) + "/status");
  std::uint64_t pending = 0;
  for (const char* word : {"\nSigPnd:", "\nShdPnd:"})
    if (const std::size_t place = status.find(word); place != std::string::npos)
      pending |= std::strtoull(status.c_str() + place + std::strlen(word), nullptr, 16);
  return pending;
}

bool is_from_terminal_to_all(const siginfo_t& signal) { return signal.si_code == SI_KERNEL && (signal.si_signo != SIGHUP || getsid(0) != getpid()); }

GroupWitness GroupWitness::start(const std::vector<std::string>& command) {
  std::string arguments;
  for (const std::string& word : command) arguments += word + '\0';
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  GroupWitness witness;
  witness.link_ = channel::FileDescriptor(ends[0]);
  channel::FileDescriptor other(ends[1]);
  const bool has_started = session::start_process_beside([&] { wait_as_witness(ends[1], arguments); });
  other.reset();
  if (!has_started) return {};
  if (read(witness.link_.get(), &witness.pid_, sizeof(witness.pid_)) != static_cast<ssize_t>(sizeof(witness.pid_))) return {};
  return witness;
}

bool GroupWitness::has_got(int signal) {
  if (!link_.valid()) return false;
  bool has_come = false;
  const auto is_pending = [&] { return (pending_signals(pid_) >> (signal - 1) & 1) != 0; };
  for (const auto end = std::chrono::steady_clock::now() + kPatience; !(has_come = is_pending()) && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(1ms);
  forget(signal);
  return has_come;
}

void GroupWitness::forget(int signal) {
  const auto order = static_cast<unsigned char>(signal);
  static_cast<void>(!send(link_.get(), &order, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace lanescope::cli
