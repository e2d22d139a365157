#include "agent/channel/handshake.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/channel/places.h"
#include "agent/core/clock.h"
#include "agent/core/file_room.h"
#include "agent/core/system_calls.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"

namespace lanescope::agent {
namespace {

// For connecting, and for the answer: the session may be about to listen, or the machine may be busy.
constexpr timeval kStepLimit{.tv_sec = 5, .tv_usec = 0};
// The same if the listener may be anybody.
constexpr timeval kStrangersLimit{.tv_sec = 1, .tv_usec = 0};

constinit std::atomic<std::int64_t> program_begin{0};  // CLOCK_MONOTONIC ns

// Closes the descriptor at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) system::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return value_; }
  void reset(int value) noexcept {
    if (value_ >= 0) system::close(value_);
    value_ = value;
  }

 private:
  int value_;
};

class KeepErrno {
 public:
  KeepErrno() noexcept : value_(errno) {}
  ~KeepErrno() { errno = value_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int value_;
};

// "PATH#TOKEN@USER", "PATH#TOKEN", or a path alone.
struct Address {
  explicit Address(const char* text) noexcept : path(text) {
    const std::size_t mark = path.rfind(channel::kTokenMark);
    if (mark == std::string_view::npos || path.size() - mark - 1 < channel::kTokenLetters) return;
    const char* const behind = text + mark + 1 + channel::kTokenLetters;
    if (*behind != '\0' && *behind != channel::kUserMark) return;
    if (*behind != '\0') user = static_cast<std::uint32_t>(std::strtoul(behind + 1, nullptr, 10));
    token = {text + mark + 1, channel::kTokenLetters};  // substr() could throw, as far as the linker can tell
    path = {text, mark};
  }
  std::string_view path;
  std::string_view token;             // empty: none
  std::optional<std::uint32_t> user;  // none: not stated
};

// Same as connect(): 0 or -errno. `begin`: the position of the path in the address; after a zero byte it is an abstract name.
int connect_to(int socket, std::string_view path, std::size_t begin) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() + begin >= sizeof(address.sun_path)) return -ENAMETOOLONG;
  std::memcpy(address.sun_path + begin, path.data(), path.size());
  const std::size_t size = offsetof(sockaddr_un, sun_path) + begin + path.size() + (begin == 0 ? 1 : 0);
  int result = 0;
  do result = system::connect(socket, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size));
  while (result == -EINTR);
  return result;
}

// True if user numbers are the same here as on the machine: not so in a user namespace.
bool knows_users() noexcept {
  char map[128] = {};
  const Descriptor file(system::open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || system::read(file.get(), map, sizeof(map) - 1) <= 0) return false;
  char* place = map;
  const unsigned long first = std::strtoul(place, &place, 10);
  const unsigned long outside = std::strtoul(place, &place, 10);
  return first == 0 && outside == 0 && std::strtoul(place, &place, 10) == 0xffff'ffff;
}

// True if another user than the session's has put something in the place of its socket. The socket may belong to the program's user, to whom the session gives
// it.
bool is_replaced(const Address& session) noexcept {
  char path[sizeof(sockaddr_un::sun_path) + 1] = {};
  if (!session.user || session.path.size() >= sizeof(path)) return false;
  std::memcpy(path, session.path.data(), session.path.size());
  struct stat status {};
  return system::file_status(path, status) && status.st_uid != *session.user && status.st_uid != system::user_id() && knows_users();
}

// Connects by the path, or by the abstract name, which anybody can take once the session is over.
int connect_to(int socket, const Address& session) noexcept {
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kStepLimit, sizeof(kStepLimit));
  const int by_path = may_look_at_session() && is_replaced(session) ? -ECONNREFUSED : connect_to(socket, session.path, 0);
  // -EAGAIN: it is there, but busy. Without a token, no session has such a name.
  if (by_path == 0 || by_path == -EAGAIN || session.token.empty()) return by_path;
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kStrangersLimit, sizeof(kStrangersLimit));
  return connect_to(socket, session.path, 1) == 0 ? 0 : by_path;
}

enum class Listener {
  kSession,  // as far as is known
  kUnknown,  // user numbers differ here
  kStranger,
};
Listener who_listens(int socket, const Address& session) noexcept {
  if (!session.user || !may_look_at_session()) return Listener::kSession;
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return Listener::kStranger;
  if (peer.uid == *session.user) return Listener::kSession;
  return knows_users() ? Listener::kStranger : Listener::kUnknown;
}

// Whether addresses of the program may be sent: not to a stranger, because they help to attack the program.
enum class Addresses { kTold, kKept };

bool send_hello(int socket, std::string_view token, Ancestry ancestry, Addresses addresses) noexcept {
  channel::Hello hello;
  if (!token.empty()) std::memcpy(hello.token, token.data(), sizeof(hello.token));
  hello.forked = static_cast<std::uint32_t>(ancestry);
  hello.time = monotonic_now();
  hello.begin = program_begin.load(std::memory_order_relaxed);
  std::strncpy(hello.agent_version, LANESCOPE_VERSION, sizeof(hello.agent_version) - 1);
  if (addresses == Addresses::kTold) hello.random = getauxval(AT_RANDOM);
  if (program_invocation_short_name != nullptr) std::strncpy(hello.program, program_invocation_short_name, sizeof(hello.program) - 1);
  long sent = 0;
  do sent = system::send(socket, &hello, sizeof(hello), MSG_NOSIGNAL);
  while (sent == -EINTR);
  return sent == static_cast<ssize_t>(sizeof(hello));
}

// Tells the session what it can't see.
void send_regret(int socket, int problem) noexcept {
  const channel::Regret regret{problem};
  system::send(socket, &regret, sizeof(regret), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Receives the answer and the memory file that is attached to it.
bool receive_welcome(int socket, channel::Welcome& welcome, Descriptor& memory_file, bool& lacks_means) noexcept {
  iovec part{&welcome, sizeof(welcome)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  long received = 0;
  do received = system::receive_message(socket, &message, MSG_CMSG_CLOEXEC);
  while (received == -EINTR);
  if (received < 0) return false;
  lacks_means = (message.msg_flags & MSG_CTRUNC) != 0;  // the file came, but there was no descriptor for it
  if (lacks_means) send_regret(socket, EMFILE);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
    memory_file.reset(descriptor);
  }
  return received == static_cast<ssize_t>(sizeof(welcome)) && welcome.layout_version == channel::kLayoutVersion && welcome.accepted != 0 &&
         welcome.memory_bytes >= channel::memory_bytes_for(channel::kLeastPoolBytes) &&
         welcome.memory_bytes <= channel::memory_bytes_for(channel::kMostPoolBytes) && memory_file.get() >= 0;
}

// Memory from others, who may listen at the session's address once it is over, is not used: they could change it while the program uses it.
bool comes_from_session(const channel::Welcome& welcome, std::string_view token) noexcept {
  return token.empty() || std::memcmp(welcome.token, token.data() + channel::kTokenHalf, sizeof(welcome.token)) == 0;
}

void* map_memory(int file, std::uint64_t bytes) noexcept {
  struct stat status {};
  if (!system::file_status(file, status) || static_cast<std::uint64_t>(status.st_size) < bytes) return nullptr;
  return session_places.map(file, bytes, process_generation());
}

// Tells the user why nothing comes from this process.
void tell_no_room(int file, int socket) noexcept {
  constexpr auto kPhase = static_cast<std::uint32_t>(channel::AgentPhase::kNoRoom);
  constexpr off_t kPlace = offsetof(channel::SharedHeader, status) + offsetof(channel::AgentStatus, phase);
  if (may_write_up_to(kPlace + static_cast<off_t>(sizeof(kPhase))))
    system::write_at(file, &kPhase, sizeof(kPhase), kPlace);
  else
    send_regret(socket, ENOMEM);
}

constexpr int kNoSockets = EAFNOSUPPORT;  // whatever error the filter returns

int refused(int problem) noexcept { return problem == EMFILE || problem == ENFILE || problem == ENOMEM || problem == ENOBUFS ? problem : kNoSockets; }

std::optional<Connection> join_over(const OwnDescriptor& socket, std::string_view token, Ancestry ancestry, Addresses addresses, void (*make_room)(),
                                    bool& lacks_means) noexcept {
  if (!send_hello(socket.number(), token, ancestry, addresses)) return std::nullopt;
  channel::Welcome welcome{};
  Descriptor memory_file(-1);
  if (!receive_welcome(socket.number(), welcome, memory_file, lacks_means) || !comes_from_session(welcome, token)) return std::nullopt;
  void* mapping = map_memory(memory_file.get(), welcome.memory_bytes);
  if (mapping == nullptr && make_room != nullptr) {
    make_room();
    mapping = map_memory(memory_file.get(), welcome.memory_bytes);
  }
  lacks_means = mapping == nullptr;
  if (lacks_means) {
    tell_no_room(memory_file.get(), socket.number());
    return std::nullopt;
  }
  return Connection{channel::SharedMemory(mapping, welcome.memory_bytes), welcome.process_instance, socket};
}

}  // namespace

void note_begin() noexcept { program_begin.store(monotonic_now(), std::memory_order_relaxed); }

Joining connect_to_session(const char* address, Ancestry ancestry) noexcept {
  const KeepErrno keep;
  Joining joining;
  if (address == nullptr) return joining;
  const Address session(address);
  OwnDescriptor socket = OwnDescriptor::keep(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  joining.problem = socket.was_opened() ? -connect_to(socket.number(), session) : refused(errno);
  joining.lacks_means = !socket.was_opened();
  if (joining.problem == EPERM) joining.problem = kNoSockets;
  const Listener listener = joining.problem == 0 ? who_listens(socket.number(), session) : Listener::kStranger;
  if (listener != Listener::kStranger) {
    const timeval& limit = listener == Listener::kSession ? kStepLimit : kStrangersLimit;
    setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    const bool is_known = listener == Listener::kSession && session.user && may_look_at_session();
    joining.connection = join_over(socket, session.token, ancestry, is_known ? Addresses::kTold : Addresses::kKept, nullptr, joining.lacks_means);
  }
  if (!joining.connection) socket.close();
  return joining;
}

bool session_listens(const char* address) noexcept {
  const KeepErrno keep;
  if (address == nullptr) return false;
  const Address session(address);
  const Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return false;
  const int outcome = connect_to(socket.get(), session);
  return outcome == -EAGAIN || (outcome == 0 && who_listens(socket.get(), session) != Listener::kStranger);
}

namespace {

// Used if not even the file can be opened. Once the session is over, its folder is gone, or belongs to another user. `place`: the path of the file, without its
// end.
void leave_word_as_link(std::string_view place, int problem) noexcept {
  char link[channel::kAddressBytes + sizeof(channel::kWordSuffix) + 16] = {};
  char text[40] = {};
  std::memcpy(link, place.data(), place.size());
  char* end = link + place.size();
  *end++ = channel::kWordLinkMark;
  std::to_chars(end, link + sizeof(link) - 1, system::process_id());
  end = std::to_chars(text, text + 12, problem).ptr;
  *end++ = ' ';
  if (program_invocation_short_name != nullptr) std::strncpy(end, program_invocation_short_name, sizeof(channel::Word::program) - 1);
  system::make_link(text, link);
}

}  // namespace

void leave_word_beside(const char* address, int problem) noexcept {
  const KeepErrno keep;
  if (address == nullptr) return;
  const std::string_view path = Address(address).path;
  char file[channel::kAddressBytes + sizeof(channel::kWordSuffix)] = {};
  if (path.size() >= channel::kAddressBytes) return;
  std::memcpy(file, path.data(), path.size());
  std::memcpy(file + path.size(), channel::kWordSuffix, sizeof(channel::kWordSuffix));
  // Once the session is over, another user's file may lie there: a pipe would block the program.
  const Descriptor word_file(system::open(file, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool has_no_descriptor = word_file.get() == -EMFILE || word_file.get() == -ENFILE;
  if (has_no_descriptor && may_leave_links()) return leave_word_as_link({file, path.size() + sizeof(channel::kWordSuffix) - 1}, problem);
  struct stat status {};
  if (word_file.get() < 0 || !system::file_status(word_file.get(), status) || !S_ISREG(status.st_mode) || status.st_nlink != 1) return;
  channel::Word word{system::process_id(), problem, {}};
  constexpr off_t kMostBytes = channel::kMostWords * sizeof(word);
  if (status.st_size >= kMostBytes || !may_write_up_to(status.st_size + static_cast<off_t>(sizeof(word)))) return;
  if (program_invocation_short_name != nullptr) std::strncpy(word.program, program_invocation_short_name, sizeof(word.program) - 1);
  system::write(word_file.get(), &word, sizeof(word));
}

std::optional<Connection> introduce(OwnDescriptor socket, const char* address, Ancestry ancestry, void (*make_room)()) noexcept {
  const KeepErrno keep;
  setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &kStepLimit, sizeof(kStepLimit));
  bool lacks_means = false;
  std::optional<Connection> connection = join_over(socket, Address(address).token, ancestry, Addresses::kKept, make_room, lacks_means);
  if (!connection) socket.close();
  return connection;
}

}  // namespace lanescope::agent
