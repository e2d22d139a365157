#include "output_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace lanescope::session {
namespace {

constexpr std::size_t kMaximumPiece = 16u << 10;

// A message to the host: which stream, then the bytes.
struct Piece {
  OutputStream stream;
  std::array<char, kMaximumPiece> bytes;
};

// The relay's process. Only calls that are safe between fork and exec, since the host may have threads.
class RelayProcess {
 public:
  RelayProcess(int standard_output, int standard_error, int host, TargetOutput mode)
      : sources_{{{standard_output, POLLIN, 0}, {standard_error, POLLIN, 0}}}, host_(host), mode_(mode) {}

  [[noreturn]] void run() {
    while (sources_[0].fd >= 0 || sources_[1].fd >= 0) {
      if (poll(sources_.data(), sources_.size(), -1) < 0 && errno != EINTR) break;
      for (std::size_t i = 0; i < sources_.size(); ++i)
        if (sources_[i].fd >= 0 && sources_[i].revents != 0) pass_on(i);
    }
    _exit(0);
  }

 private:
  void pass_on(std::size_t source) {
    piece_.stream = static_cast<OutputStream>(source);
    const ssize_t size = read(sources_[source].fd, piece_.bytes.data(), piece_.bytes.size());
    if (size <= 0) {
      if (size < 0 && errno == EINTR) return;
      sources_[source].fd = -1;
      return;
    }
    if (mode_ == TargetOutput::kShowAndStore) show(source == 0 ? STDOUT_FILENO : STDERR_FILENO, static_cast<std::size_t>(size));
    if (host_ >= 0 && send(host_, &piece_, sizeof(piece_.stream) + static_cast<std::size_t>(size), MSG_NOSIGNAL) < 0 && errno != EINTR)
      host_ = -1;  // the host is gone; what the target prints is still shown
  }

  void show(int descriptor, std::size_t size) {
    const char* next = piece_.bytes.data();
    while (size > 0) {
      const ssize_t written = write(descriptor, next, size);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // nobody reads it any more
      next += written;
      size -= static_cast<std::size_t>(written);
    }
  }

  std::array<pollfd, 2> sources_;
  int host_;
  TargetOutput mode_;
  Piece piece_;
};

// The terminal's signals are for the target; the relay ends when the target's output does.
void ignore_signals() {
  sigset_t none;
  sigemptyset(&none);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP}) std::signal(signal, SIG_IGN);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Closes everything above standard error but these: whoever waits for the end of one of our pipes must not wait for the relay.
void close_all_but(std::array<int, 3> kept) {
  int first = STDERR_FILENO + 1;
  for (std::size_t i = 0; i < kept.size(); ++i)  // sort by insertion; three of them
    for (std::size_t j = i; j > 0 && kept[j] < kept[j - 1]; --j) std::swap(kept[j], kept[j - 1]);
  for (const int descriptor : kept) {
    if (descriptor > first) syscall(SYS_close_range, first, descriptor - 1, 0);
    first = descriptor + 1;
  }
  syscall(SYS_close_range, first, ~0u, 0);
}

Error no_descriptors() {
  return {
      "The program's output can't be captured: the system has no processes or file descriptors left. Close other programs and try again."};
}

}  // namespace

Result<OutputRelay> OutputRelay::start(TargetOutput mode) {
  OutputRelay relay;
  int standard_output[2];
  int standard_error[2];
  int copies[2];
  if (pipe2(standard_output, O_CLOEXEC) != 0) return no_descriptors();
  FileDescriptor read_output(standard_output[0]);
  relay.pipes_[0] = FileDescriptor(standard_output[1]);
  if (pipe2(standard_error, O_CLOEXEC) != 0) return no_descriptors();
  FileDescriptor read_error(standard_error[0]);
  relay.pipes_[1] = FileDescriptor(standard_error[1]);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, copies) != 0) return no_descriptors();
  relay.copies_ = FileDescriptor(copies[0]);
  FileDescriptor to_host(copies[1]);

  const pid_t parent = fork();
  if (parent < 0) return no_descriptors();
  if (parent == 0) {
    const pid_t child = fork();
    if (child != 0) _exit(child > 0 ? 0 : 1);  // the relay is no child of ours, so nobody has to wait for it
    ignore_signals();
    prctl(PR_SET_NAME, "lanescope-relay");
    close_all_but({read_output.get(), read_error.get(), to_host.get()});
    RelayProcess(read_output.get(), read_error.get(), to_host.get(), mode).run();
  }
  int status = 1;
  while (waitpid(parent, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return no_descriptors();
  return relay;
}

void OutputRelay::close_write_ends() {
  for (FileDescriptor& pipe : pipes_) pipe.reset();
}

bool OutputRelay::drain(const Take& take) {
  if (!copies_.valid()) return false;
  Piece piece;
  for (;;) {
    const ssize_t size = recv(copies_.get(), &piece, sizeof(piece), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (size <= static_cast<ssize_t>(sizeof(piece.stream))) break;
    const OutputStream stream = piece.stream == OutputStream::kStandardError ? OutputStream::kStandardError : OutputStream::kStandardOutput;
    take(stream, {piece.bytes.data(), static_cast<std::size_t>(size) - sizeof(piece.stream)});
  }
  copies_.reset();
  return false;
}

}  // namespace lanescope::session
