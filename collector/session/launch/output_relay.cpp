#include "launch/output_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "collector/attach/candidate.h"
#include "collector/session/distant_reader.h"
#include "collector/session/process_beside.h"
#include "launch/means.h"
#include "model/file/memory_limits.h"
#include "model/trace/text/grouped_digits.h"

namespace lanescope::session {
namespace {

constexpr std::size_t kMaximumPiece = 64u << 10;
constexpr int kPipeBytes = 256 << 10;             // of the target's pipes: several pieces, so that it prints while one is passed on
constexpr std::size_t kCertainWrite = 4096;       // bytes that a pipe or terminal takes without blocking once it is ready (PIPE_BUF)
constexpr std::size_t kBacklogBytes = 64u << 20;  // for copies that the host has not taken yet, about a second of its work; there is always room for half of it
constexpr std::size_t kKeptBytes = 1u << 20;      // of these, while it is empty
constexpr int kReaderLook = 20;                   // ms, between looks at a distant reader that must be waited for
constexpr int kMostLives = 100;                   // of a relay: one that is killed more often is to be gone

// What the relay sends to the host. Nothing follows the header of the last three: everything was sent; the relay before this one was killed, between its calls,
// so that nothing was lost, or perhaps within one.
enum class Kind : std::uint8_t { kBytes, kLoss, kEnd, kSuccession, kSuccessionInCall };
struct Loss {
  std::uint64_t not_stored = 0;  // bytes: the host did not take copies fast enough
  std::uint64_t not_shown = 0;   // bytes: our own output did not take them
  int error = 0;                 // why
};
struct Piece {
  OutputStream stream;
  Kind kind;
  std::array<char, kMaximumPiece> bytes;  // for kLoss: a Loss
};
constexpr std::size_t kPieceHeader = offsetof(Piece, bytes);

// Copies that wait for the host. Memory is allocated before the fork, because nothing may be allocated after it.
class Backlog {
 public:
  explicit Backlog(std::span<char> memory) : memory_(memory) {}

  [[nodiscard]] bool empty() const { return begin_ == end_; }
  // Returns true if there was room.
  bool put(std::span<const char> message) {
    const auto size = static_cast<std::uint32_t>(message.size());
    if (begin_ >= memory_.size() / 2 && end_ + sizeof(size) + size > memory_.size()) {  // not for each message: what is moved is no more than was taken
      std::memmove(memory_.data(), memory_.data() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
    }
    if (end_ + sizeof(size) + size > memory_.size()) return false;
    std::memcpy(memory_.data() + end_, &size, sizeof(size));
    std::memcpy(memory_.data() + end_ + sizeof(size), message.data(), size);
    end_ += sizeof(size) + size;
    return true;
  }
  [[nodiscard]] std::span<const char> first() const {
    std::uint32_t size = 0;
    std::memcpy(&size, memory_.data() + begin_, sizeof(size));
    return {memory_.data() + begin_ + sizeof(size), size};
  }
  void drop_first() {
    begin_ += sizeof(std::uint32_t) + first().size();
    if (empty()) clear();
  }
  void clear() {
    if (end_ > kKeptBytes) {
      constexpr std::size_t kPage = 4096;
      const std::size_t kept = kKeptBytes + kPage - reinterpret_cast<std::uintptr_t>(memory_.data()) % kPage;
      madvise(memory_.data() + kept, memory_.size() - kept, MADV_REMOVE);
    }
    begin_ = end_ = 0;
  }

 private:
  std::span<char> memory_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// The relay's process, and the one that keeps its pipes. They make only calls that are safe between fork and exec, because the host may have threads.
//
// Neither stream waits for the other, and neither for the host: the target's writes block as long as writes to our own output would, and no longer.
//
// Lies in memory that each relay shares with the next one.
class RelayProcess {
 public:
  // `standard_error`: -1 if it goes to standard output. `reading`: of a distant reader (open_distant_reading()).
  RelayProcess(int standard_output, int standard_error, int host, int reading, TargetOutput mode, std::span<char> memory)
      : host_(host), reading_(reading), piece_bytes_(piece_bytes_for(host)), backlog_(memory) {
    streams_[0].source = standard_output;
    streams_[1].source = standard_error;
    if (standard_error < 0) close(STDERR_FILENO);  // so that its reader waits for the end of one stream only
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      streams_[i].piece.stream = static_cast<OutputStream>(i);
      if (mode != TargetOutput::kShowAndStore || !streams_[i].is_open()) continue;
      streams_[i].destination = i == 0 ? STDOUT_FILENO : STDERR_FILENO;
      struct stat status {};
      const bool is_known = fstat(streams_[i].destination, &status) == 0;
      streams_[i].may_lose_reader = is_known && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
      if (is_known && S_ISREG(status.st_mode)) streams_[i].writing = Writing::kWhole;
      if (streams_[i].may_lose_reader) streams_[i].writing = Writing::kWithoutWaiting;
    }
  }

  // Runs relays, each in a child, until one has ended by itself. Their descriptors are open here, so that no write of the target fails in between.
  [[noreturn]] void keep() {
    std::array<KeptEnds, 2> ends{};
    for (std::size_t i = 0; i < streams_.size(); ++i) ends[i] = {streams_[i].source, streams_[i].destination};
    int life = 0;
    for (; life < kMostLives; ++life) {
      int over[2];
      if (pipe2(over, O_CLOEXEC) != 0) break;
      const int changes = changes_of_children();
      const pid_t relay = fork();
      if (relay == 0) {
        close(over[0]);
        if (changes >= 0) close(changes);
        over_ = over[1];
        prctl(PR_SET_NAME, attach::kRelayName);
        if (life > 0) succeed();
        run();
      }
      close(over[1]);
      std::uint8_t stream = 0;
      while (is_told_more(over[0], changes, relay)) {
        const ssize_t got = read(over[0], &stream, sizeof(stream));
        if (got > 0 && stream < ends.size()) ends[stream].close_both();
        if (got == 0 || (got < 0 && errno != EINTR)) break;
      }
      close(over[0]);
      if (changes >= 0) close(changes);
      int status = 0;
      while (relay > 0 && waitpid(relay, &status, 0) < 0 && errno == EINTR) {
      }
      if (relay < 0) break;
      if (WIFEXITED(status)) _exit(0);
      for (std::size_t i = 0; i < streams_.size(); ++i)
        if (!streams_[i].is_open()) ends[i].close_both();
    }
    over_ = -1;
    prctl(PR_SET_NAME, attach::kRelayName);
    if (life > 0) succeed();  // otherwise there was no relay that could have been killed: there is no room for another process
    run();
  }

  [[noreturn]] void run() {
    while (streams_[0].is_open() || streams_[1].is_open() || !(backlog_.empty() || host_ < 0)) {
      std::array<pollfd, 5> waits{};
      bool is_reader_waited_for = false;
      for (std::size_t i = 0; i < streams_.size(); ++i) {
        const Stream& stream = streams_[i];
        const bool watches = stream.is_open() && stream.may_lose_reader;
        const bool is_held = must_wait_for_reader(stream);
        is_reader_waited_for = is_reader_waited_for || is_held;
        waits[2 * i] = {stream.shown_from < stream.size || is_held ? -1 : stream.source, POLLIN, 0};
        waits[2 * i + 1] = {stream.shown_from < stream.size || watches ? stream.destination : -1,
                            static_cast<short>(stream.shown_from < stream.size ? POLLOUT : 0), 0};
      }
      waits[4] = {backlog_.empty() ? -1 : host_, POLLOUT, 0};
      if (poll(waits.data(), waits.size(), is_reader_waited_for ? kReaderLook : -1) < 0 && errno != EINTR) break;
      for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (waits[2 * i + 1].revents != 0) streams_[i].shown_from < streams_[i].size ? show(streams_[i]) : lose_reader(streams_[i]);
        if (streams_[i].is_open() && waits[2 * i].revents != 0) take(streams_[i]);
      }
      if (waits[4].revents != 0) send_backlog();
    }
    streams_[0].piece.kind = Kind::kEnd;
    if (host_ >= 0) send(host_, &streams_[0].piece, kPieceHeader, MSG_NOSIGNAL);
    _exit(0);
  }

 private:
  // Three pieces fit into the connection, if its buffer has the kernel's usual size: a message larger than that could never be sent.
  static std::size_t piece_bytes_for(int host) {
    int buffer = 0;
    socklen_t size = sizeof(buffer);
    if (getsockopt(host, SOL_SOCKET, SO_SNDBUF, &buffer, &size) != 0) return kCertainWrite;
    return std::clamp<std::size_t>(static_cast<std::size_t>(buffer) / 3, kCertainWrite, kMaximumPiece);
  }

  // Of one stream, in the process that keeps them.
  struct KeptEnds {
    int source = -1;
    int destination = -1;
    void close_both() {
      for (int* const end : {&source, &destination})
        if (*end >= 0) close(std::exchange(*end, -1));
    }
  };
  // Becomes readable when a child has stopped or ended; -1 if there is no descriptor for it.
  static int changes_of_children() {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, nullptr);
    return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  // Waits until the relay tells something, or has ended. A relay that somebody has stopped alone goes on, because writes of the target would wait for it. If a
  // whole process group is stopped, so is this process.
  static bool is_told_more(int over, int changes, pid_t relay) {
    for (;;) {
      std::array<pollfd, 2> waits{pollfd{over, POLLIN, 0}, pollfd{changes, POLLIN, 0}};
      if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return false;
      signalfd_siginfo change{};
      if (waits[1].revents != 0 && read(changes, &change, sizeof(change)) > 0) {
        siginfo_t stop{};
        if (waitid(P_PID, static_cast<id_t>(relay), &stop, WSTOPPED | WNOHANG) == 0 && stop.si_pid == relay) kill(relay, SIGCONT);
      }
      if (waits[0].revents != 0) return true;
    }
  }

  // A call of the relay after which it notes what it has done.
  class [[nodiscard]] NotedCall {
   public:
    explicit NotedCall(std::atomic<bool>& is_in_call) : is_in_call_(is_in_call) { is_in_call_.store(true); }
    ~NotedCall() { is_in_call_.store(false); }
    NotedCall(const NotedCall&) = delete;
    NotedCall& operator=(const NotedCall&) = delete;

   private:
    std::atomic<bool>& is_in_call_;
  };

  enum class Writing {
    kWhole,           // a file takes everything at once
    kWithoutWaiting,  // a pipe or socket takes what it has room for, where the kernel can write so whatever its open file says (Linux 6.4)
    kCertainPiece,    // kCertainWrite once it is ready
  };
  struct Stream {
    int source = -1;
    int destination = -1;  // -1: it is not shown
    Writing writing = Writing::kCertainPiece;
    bool may_lose_reader = false;  // a pipe or socket
    std::size_t shown_from = 0;    // index into the piece
    std::size_t size = 0;
    Loss loss;
    Piece piece;
    [[nodiscard]] bool is_open() const { return source >= 0; }
  };

  [[nodiscard]] bool has_distant_reader(const Stream& stream) const { return reading_ >= 0 && stream.is_open() && stream.writing == Writing::kWhole; }

  [[nodiscard]] bool must_wait_for_reader(const Stream& stream) const {
    struct stat file {};
    return has_distant_reader(stream) && fstat(stream.destination, &file) == 0 &&
           DistantReadingLook(reading_).must_wait(static_cast<std::size_t>(stream.piece.stream), static_cast<std::uint64_t>(file.st_size));
  }

  // Nobody can read the rest of a file that was removed, and it would fill the disk: the recording is over, and the target runs on.
  void leave_removed_file(Stream& stream) const {
    struct stat file {};
    if (has_distant_reader(stream) && stream.destination >= 0 && fstat(stream.destination, &file) == 0 && file.st_nlink == 0)
      close(std::exchange(stream.destination, -1));
  }

  // What the relay before this one had read goes on from where that was. It may have been killed between a call and its note of it.
  void succeed() {
    const bool is_in_doubt = is_in_call_.exchange(false);
    if (is_in_doubt) backlog_.clear();
    const std::array<std::uint8_t, kPieceHeader> header{0, static_cast<std::uint8_t>(is_in_doubt ? Kind::kSuccessionInCall : Kind::kSuccession)};
    tell_host({reinterpret_cast<const char*>(header.data()), header.size()});
  }

  void take(Stream& stream) {
    if (has_distant_reader(stream) && DistantReadingLook(reading_).has_left(static_cast<std::size_t>(stream.piece.stream))) return lose_reader(stream);
    leave_removed_file(stream);
    const NotedCall noted(is_in_call_);
    const ssize_t size = read(stream.source, stream.piece.bytes.data(), piece_bytes_);
    if (size < 0 && errno == EINTR) return;
    if (size <= 0) return end(stream);
    // What is still to be shown is noted before the host is told, so that a relay that goes on for this one shows it.
    stream.piece.kind = Kind::kBytes;
    stream.size = static_cast<std::size_t>(size);
    stream.shown_from = stream.destination >= 0 ? 0 : stream.size;
    if (!tell_host({reinterpret_cast<const char*>(&stream.piece), kPieceHeader + stream.size})) stream.loss.not_stored += stream.size;
    if (stream.writing != Writing::kCertainPiece && stream.shown_from < stream.size) show(stream);
  }

  void show(Stream& stream) {
    const std::size_t left = stream.size - stream.shown_from;
    const NotedCall noted(is_in_call_);
    const ssize_t written = write_some(stream, {stream.piece.bytes.data() + stream.shown_from, left});
    if (written >= 0) {
      stream.shown_from += static_cast<std::size_t>(written);
    } else if (errno == EPIPE) {
      lose_reader(stream);
    } else if (errno != EINTR && errno != EAGAIN) {  // a full disk, or a terminal that is gone: as without us, the target continues
      stream.loss.error = errno;
      stream.loss.not_shown += left;
      stream.shown_from = stream.size;
    }
  }

  static ssize_t write_some(Stream& stream, std::span<char> bytes) {
    if (stream.writing == Writing::kWithoutWaiting) {
      const iovec part{bytes.data(), bytes.size()};
      constexpr long kHere = -1;
      const long written = syscall(SYS_pwritev2, stream.destination, &part, 1, kHere, kHere, RWF_NOWAIT);
      if (written >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS)) return written;
      stream.writing = Writing::kCertainPiece;
      pollfd ready{stream.destination, POLLOUT, 0};
      errno = EAGAIN;
      if (poll(&ready, 1, 0) != 1) return -1;
    }
    return write(stream.destination, bytes.data(), stream.writing == Writing::kWhole ? bytes.size() : std::min(bytes.size(), kCertainWrite));
  }

  // From here on the target's writes fail as they would without us.
  void lose_reader(Stream& stream) {
    stream.shown_from = stream.size;
    end(stream);
  }

  void end(Stream& stream) {
    if (stream.is_open()) close(std::exchange(stream.source, -1));
    if (stream.destination >= 0) close(std::exchange(stream.destination, -1));  // its reader sees the end, too
    const auto index = static_cast<std::uint8_t>(&stream - streams_.data());
    if (over_ >= 0) [[maybe_unused]]
      const ssize_t ignored = write(over_, &index, sizeof(index));
    if (stream.loss.not_shown == 0 && stream.loss.not_stored == 0) return;
    stream.piece.kind = Kind::kLoss;
    std::memcpy(stream.piece.bytes.data(), &stream.loss, sizeof(stream.loss));
    tell_host({reinterpret_cast<const char*>(&stream.piece), kPieceHeader + sizeof(stream.loss)});
  }

  // Returns true if it will arrive, provided that the host lives.
  bool tell_host(std::span<const char> message) {
    if (host_ < 0) return true;
    if (!backlog_.empty()) return backlog_.put(message);
    return send_now(message) || host_ < 0 || backlog_.put(message);
  }

  bool send_now(std::span<const char> message) {
    ssize_t sent = 0;
    do sent = send(host_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno != EAGAIN && errno != ENOBUFS) host_ = -1;  // the host is gone; what the target prints is still shown
    return sent >= 0;
  }

  void send_backlog() {
    const NotedCall noted(is_in_call_);
    while (!backlog_.empty() && send_now(backlog_.first())) backlog_.drop_first();
  }

  std::array<Stream, 2> streams_;
  int host_;
  int reading_;
  std::size_t piece_bytes_;
  std::atomic<bool> is_in_call_{false};  // also after a relay was killed in it: what it did there is not known
  int over_ = -1;                        // to the process that keeps the pipes, which is told the streams that are over; -1: this is that process
  Backlog backlog_;
};

Loss loss_of(const Piece& piece) {
  Loss loss;
  std::memcpy(&loss, piece.bytes.data(), sizeof(loss));
  return loss;
}

void tell_loss(OutputStream stream, const Loss& loss, const OutputRelay::Tell& tell) {
  const std::string name = stream == OutputStream::kStandardError ? "standard error" : "standard output";
  if (loss.not_shown > 0)
    tell(grouped_digits(loss.not_shown) + " bytes that the program printed to " + name + " could not be written there: " + std::strerror(loss.error) + ".",
         OutputRelay::Told::kLoss);
  if (loss.not_stored > 0)
    tell(grouped_digits(loss.not_stored) + " bytes that the program printed to " + name +
             " are shown, but not in the recording: they came faster than it could store them.",
         OutputRelay::Told::kLoss);
}

// True if our standard output and error are the same open file, pipe or terminal.
bool are_one_output() {
  struct stat output {};
  struct stat error {};
  if (fstat(STDOUT_FILENO, &output) != 0 || fstat(STDERR_FILENO, &error) != 0) return false;
  if (output.st_dev != error.st_dev || output.st_ino != error.st_ino) return false;
  constexpr int kCompareFiles = 0;  // KCMP_FILE
  const pid_t own = getpid();
  const long order = syscall(SYS_kcmp, own, own, kCompareFiles, STDOUT_FILENO, STDERR_FILENO);
  return order == 0 || !S_ISREG(output.st_mode);  // a file that was opened twice has two write positions
}

}  // namespace

Result<OutputRelay> OutputRelay::start(TargetOutput mode) {
  OutputRelay relay;
  if (mode == TargetOutput::kLeave) return relay;
  const bool are_one = mode == TargetOutput::kShowAndStore && are_one_output();
  int standard_output[2];
  int standard_error[2];
  int copies[2];
  if (pipe2(standard_output, O_CLOEXEC) != 0) return shortage(errno);
  FileDescriptor read_output(standard_output[0]);
  relay.pipes_[0] = FileDescriptor(standard_output[1]);
  fcntl(standard_output[1], F_SETPIPE_SZ, kPipeBytes);  // fails where this user has many large pipes; the usual size then does
  FileDescriptor read_error;
  if (are_one) {
    relay.pipes_[1] = FileDescriptor(fcntl(standard_output[1], F_DUPFD_CLOEXEC, 0));
    if (!relay.pipes_[1].valid()) return shortage(errno);
  } else {
    if (pipe2(standard_error, O_CLOEXEC) != 0) return shortage(errno);
    read_error = FileDescriptor(standard_error[0]);
    relay.pipes_[1] = FileDescriptor(standard_error[1]);
    fcntl(standard_error[1], F_SETPIPE_SZ, kPipeBytes);
  }
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, copies) != 0) return shortage(errno);
  relay.copies_ = FileDescriptor(copies[0]);
  FileDescriptor to_host(copies[1]);
  const FileDescriptor reading = open_distant_reading();

  const auto backlog_bytes = static_cast<std::size_t>(std::clamp<std::uint64_t>(memory_limit() / 16, 2 * kKeptBytes, kBacklogBytes));
  void* memory = mmap(nullptr, sizeof(RelayProcess) + backlog_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return shortage(errno);
  const bool has_started = start_process_beside([&] {
    ignore_signals();
    prctl(PR_SET_NAME, attach::kPipesName);
    const std::array kept{read_output.get(), are_one ? read_output.get() : read_error.get(), to_host.get(), reading.get()};
    close_descriptors(STDERR_FILENO + 1, kept);
    close(STDIN_FILENO);  // so that a writer of our input notices the end of its readers, and a reader of our output its end
    const std::span backlog(static_cast<char*>(memory) + sizeof(RelayProcess), backlog_bytes);
    (new (memory) RelayProcess(read_output.get(), read_error.get(), to_host.get(), reading.get(), mode, backlog))->keep();
  });
  const int reason = errno;
  munmap(memory, sizeof(RelayProcess) + backlog_bytes);
  if (!has_started) return shortage(reason);
  return relay;
}

void OutputRelay::close_write_ends() {
  for (FileDescriptor& pipe : pipes_) pipe.reset();
}

bool OutputRelay::drain(const Take& take, const Tell& tell) {
  if (!copies_.valid()) return false;
  Piece piece;
  for (;;) {
    const ssize_t size = recv(copies_.get(), &piece, sizeof(piece), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (size < static_cast<ssize_t>(kPieceHeader)) {
      has_cut_output_ = true;
      tell(
          "lanescope-relay, which passes on what the program prints, was ended from outside: what was printed since is lost, and who prints there ends "
          "(SIGPIPE).",
          Told::kLoss);
      break;
    }
    if (piece.kind == Kind::kEnd) break;
    if (piece.kind == Kind::kSuccession) {
      tell("lanescope-relay, which passes on what the program prints, was ended from outside, and another one goes on for it: nothing is lost.", Told::kNote);
      continue;
    }
    if (piece.kind == Kind::kSuccessionInCall) {
      has_cut_output_ = true;
      tell(
          "lanescope-relay, which passes on what the program prints, was ended from outside, and another one goes on for it: some of what was printed just "
          "then may be missing, in the recording as well, or there twice.",
          Told::kLoss);
      continue;
    }
    const OutputStream stream = piece.stream == OutputStream::kStandardError ? OutputStream::kStandardError : OutputStream::kStandardOutput;
    if (piece.kind == Kind::kLoss) {
      const Loss loss = loss_of(piece);
      has_cut_output_ |= loss.not_shown > 0;
      tell_loss(stream, loss, tell);
    } else {
      take(stream, {piece.bytes.data(), static_cast<std::size_t>(size) - kPieceHeader});
    }
  }
  copies_.reset();
  return false;
}

}  // namespace lanescope::session
