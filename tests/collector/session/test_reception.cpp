// Whom a recording accepts, and what happens to those that it cannot accept.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "processes/arrival/reception.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;
using channel::FileDescriptor;

namespace {

enum class Way { kByPath, kByName };

std::string token_of(const std::string& address) { return address.substr(address.rfind('#') + 1, channel::kTokenLetters); }

// A connection to the socket at "PATH#TOKEN@USER"; invalid if it is refused.
FileDescriptor connect_to(const std::string& address, Way way) {
  const std::string path = address.substr(0, address.rfind('#'));
  FileDescriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  const std::size_t begin = way == Way::kByName ? 1 : 0;
  path.copy(place.sun_path + begin, sizeof(place.sun_path) - begin - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&place), size) != 0) connection.reset();
  return connection;
}

void greet(const FileDescriptor& connection, const std::string& token) {
  channel::Hello hello;
  token.copy(hello.token, sizeof(hello.token));
  REQUIRE(send(connection.get(), &hello, sizeof(hello), 0) == static_cast<ssize_t>(sizeof(hello)));
}

bool has_hung_up(const FileDescriptor& connection) {
  pollfd source{connection.get(), POLLIN, 0};
  char letter = 0;
  return poll(&source, 1, 60'000) == 1 && recv(connection.get(), &letter, 1, 0) <= 0;
}

// Uses up all descriptors that this process may have, except `left`.
class NoDescriptors {
 public:
  explicit NoDescriptors(std::size_t left) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{256, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int each = 0; (each = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) held_.emplace_back(each);
    for (std::size_t i = 0; i < left; ++i) held_.pop_back();
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<FileDescriptor> held_;
};

Reception::Guest only_guest(Reception& reception) {
  for (const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);;) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    std::vector<Reception::Guest> guests = reception.receive();
    if (!guests.empty()) {
      REQUIRE(guests.size() == 1);
      return std::move(guests.front());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// An empty folder in which recorders make theirs, as long as this object lives.
class OwnPlace {
 public:
  OwnPlace() {
    for (const auto& [name, old] : before_) unsetenv(name);
    REQUIRE(mkdtemp(path_.data()) != nullptr);
    setenv("TMPDIR", path_.c_str(), 1);
  }
  ~OwnPlace() {
    for (const auto& [name, old] : before_) old ? setenv(name, old->c_str(), 1) : unsetenv(name);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnPlace(const OwnPlace&) = delete;
  OwnPlace& operator=(const OwnPlace&) = delete;

  [[nodiscard]] std::filesystem::path path() const { return path_; }
  [[nodiscard]] std::size_t folders() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  static std::optional<std::string> now(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  }
  std::vector<std::pair<const char*, std::optional<std::string>>> before_ = {{"XDG_RUNTIME_DIR", now("XDG_RUNTIME_DIR")}, {"TMPDIR", now("TMPDIR")}};
  std::string path_ = "/tmp/reception-XXXXXX";
};

// A bound socket on which nobody listens yet.
FileDescriptor silent_socket(const std::filesystem::path& path) {
  std::filesystem::remove(path);
  FileDescriptor silent(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
  REQUIRE(bind(silent.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  return silent;
}

}  // namespace

TEST_CASE("a recorder that does not listen yet keeps its folder when others begin") {
  const OwnPlace place;
  Result<ControlSocket> first = ControlSocket::create();
  REQUIRE(first);
  const std::filesystem::path path = first->address().substr(0, first->address().rfind('#'));
  const FileDescriptor silent = silent_socket(path);
  for (int other = 0; other < 3; ++other) {
    REQUIRE(ControlSocket::create());
    CHECK(std::filesystem::exists(path));
    CHECK(std::filesystem::exists(path.parent_path() / "control.word"));
  }
  CHECK(place.folders() == 1);
}

TEST_CASE("what killed recorders left is cleared away by the next one, and what is of another machine or of others stays") {
  const OwnPlace place;
  const pid_t killed = fork();
  if (killed == 0) {
    const Result<ControlSocket> socket = ControlSocket::create();
    raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(killed, &status, 0) == killed);
  REQUIRE(WTERMSIG(status) == SIGKILL);
  REQUIRE(place.folders() == 1);
  const std::filesystem::path of_user = place.path() / "lanescope-traces";
  std::filesystem::create_directory(of_user);
  const std::filesystem::path elsewhere = place.path() / "lanescope-others";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::create_symlink("0f1e2d3c-0000-4000-8000-000000000000", elsewhere / "machine");
  const FileDescriptor silent = silent_socket(elsewhere / "control");
  {
    const Result<ControlSocket> next = ControlSocket::create();
    REQUIRE(next);
    CHECK(place.folders() == 3);
  }
  CHECK(place.folders() == 2);
  CHECK(std::filesystem::exists(of_user));
  CHECK(std::filesystem::exists(elsewhere / "control"));
}

TEST_CASE("an agent is let in by the path and by the name without a place, and known as its process") {
  Result<ControlSocket> socket = ControlSocket::create();
  REQUIRE(socket);
  const std::string address = socket->address();
  Reception reception(std::move(*socket));
  const FileDescriptor connection = connect_to(address, GENERATE(Way::kByPath, Way::kByName));
  REQUIRE(connection.valid());
  CHECK(reception.receive().empty());
  CHECK(reception.is_somebody_waiting());
  greet(connection, "");
  const Reception::Guest guest = only_guest(reception);
  CHECK(guest.outcome == Reception::Outcome::kArrived);
  CHECK(guest.greeting.pid == getpid());
  CHECK(std::string(guest.answer.token, sizeof(guest.answer.token)) == token_of(address).substr(channel::kTokenHalf));
  CHECK_FALSE(reception.is_somebody_waiting());
}

TEST_CASE("of another user, those alone are let in that have the token") {
  if (geteuid() != 0) {
    WARN("Becoming another user takes root.");
    return;
  }
  Result<ControlSocket> socket = ControlSocket::create();
  REQUIRE(socket);
  const std::string address = socket->address();
  const std::string token = token_of(address);
  CHECK(address.substr(address.rfind('#') + 1) == token + "@" + std::to_string(geteuid()));
  Reception reception(std::move(*socket));
  struct Stranger {
    std::string token;
    bool is_let_in;
  };
  const auto [shown, is_let_in] = GENERATE_COPY(Stranger{token.substr(0, channel::kTokenHalf), true}, Stranger{token.substr(channel::kTokenHalf), false},
                                                Stranger{std::string(channel::kTokenHalf, '0'), false}, Stranger{"", false});
  int report[2];
  REQUIRE(pipe2(report, O_CLOEXEC) == 0);
  const pid_t stranger = fork();
  if (stranger == 0) {
    constexpr uid_t kNobody = 65534;
    const bool is_other = setgid(kNobody) == 0 && setuid(kNobody) == 0;
    const bool is_shut_out = !connect_to(address, Way::kByPath).valid();
    const FileDescriptor connection = connect_to(address, Way::kByName);
    if (!is_other || !is_shut_out || !connection.valid()) _exit(1);
    channel::Hello hello;
    shown.copy(hello.token, sizeof(hello.token));
    if (send(connection.get(), &hello, sizeof(hello), 0) < 0 || write(report[1], "s", 1) != 1) _exit(2);
    has_hung_up(connection);
    _exit(0);
  }
  char letter = 0;
  REQUIRE(read(report[0], &letter, 1) == 1);
  close(report[0]);
  close(report[1]);
  std::vector<Reception::Guest> guests = reception.receive();
  CHECK(guests.size() == (is_let_in ? 1u : 0u));
  if (is_let_in) CHECK(guests.front().greeting.pid == stranger);
  CHECK_FALSE(reception.is_somebody_waiting());
  guests.clear();
  int status = 0;
  REQUIRE(waitpid(stranger, &status, 0) == stranger);
  CHECK(status == 0);
}

TEST_CASE("without a descriptor for it, an agent is sent away at once and said to be, and nobody spins") {
  Result<ControlSocket> socket = ControlSocket::create();
  REQUIRE(socket);
  const std::string address = socket->address();
  Reception reception(std::move(*socket));
  const FileDescriptor connection = connect_to(address, Way::kByPath);
  REQUIRE(connection.valid());
  {
    const NoDescriptors none(0);
    const Reception::Guest guest = only_guest(reception);
    CHECK(guest.outcome == Reception::Outcome::kNoDescriptor);
    CHECK(guest.greeting.pid == getpid());
    std::vector<pollfd> sources;
    reception.add_sources(sources);
    CHECK(poll(sources.data(), sources.size(), 0) == 0);
  }
  CHECK(has_hung_up(connection));
  const FileDescriptor later = connect_to(address, Way::kByPath);
  greet(later, "");
  CHECK(only_guest(reception).outcome == Reception::Outcome::kArrived);
}

TEST_CASE("once it is closed, nobody finds it") {
  Result<ControlSocket> socket = ControlSocket::create();
  REQUIRE(socket);
  const std::string address = socket->address();
  Reception reception(std::move(*socket));
  const FileDescriptor before = connect_to(address, Way::kByPath);
  reception.close();
  CHECK(has_hung_up(before));
  CHECK_FALSE(connect_to(address, Way::kByPath).valid());
  CHECK_FALSE(connect_to(address, Way::kByName).valid());
}

namespace {

// A process of another user that runs this until it is killed. Requires root.
class OtherUser {
 public:
  template <typename Work>
  explicit OtherUser(Work work) : pid_(fork()) {
    if (pid_ != 0) return;
    constexpr uid_t kNobody = 65534;
    if (setgid(kNobody) == 0 && setuid(kNobody) == 0) work();
    _exit(0);
  }
  ~OtherUser() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;
  [[nodiscard]] bool runs() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("strangers who say nothing keep no recording from its end, and shut out nobody who knows the token") {
  if (geteuid() != 0) {
    WARN("Becoming another user takes root.");
    return;
  }
  Result<ControlSocket> socket = ControlSocket::create();
  REQUIRE(socket);
  const std::string address = socket->address();
  const std::string token = token_of(address);
  Reception reception(std::move(*socket));
  constexpr int kStrangers = 100;
  int report[2];
  REQUIRE(pipe2(report, O_CLOEXEC) == 0);
  const auto wait_for_letter = [&] {
    char letter = 0;
    return read(report[0], &letter, 1) == 1 ? letter : '\0';
  };
  const OtherUser strangers([&] {
    std::vector<FileDescriptor> held;
    for (int i = 0; i < kStrangers; ++i) held.push_back(connect_to(address, Way::kByName));
    if (write(report[1], held.back().valid() ? "s" : "n", 1) == 1) pause();
  });
  REQUIRE(wait_for_letter() == 's');
  CHECK(reception.receive().empty());
  CHECK_FALSE(reception.is_somebody_waiting());
  const OtherUser guest([&] {
    const FileDescriptor connection = connect_to(address, Way::kByName);
    channel::Hello hello;
    token.copy(hello.token, sizeof(hello.token));
    const bool has_greeted = send(connection.get(), &hello, sizeof(hello), 0) == static_cast<ssize_t>(sizeof(hello));
    if (write(report[1], has_greeted ? "g" : "n", 1) == 1) pause();
  });
  REQUIRE(wait_for_letter() == 'g');
  CHECK(only_guest(reception).outcome == Reception::Outcome::kArrived);
  close(report[0]);
  close(report[1]);
}

TEST_CASE("many who connect and leave hold up nobody") {
  Result<ControlSocket> socket = ControlSocket::create();
  REQUIRE(socket);
  const std::string address = socket->address();
  Reception reception(std::move(*socket));
  const auto connect_for_ever = [&] {
    for (;;) connect_to(address, Way::kByName);
  };
  const OtherUser one(connect_for_ever), two(connect_for_ever), three(connect_for_ever);
  // Each look returns, though the connections never cease: otherwise the test would run into its limit.
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(1)) reception.receive();
  CHECK(one.runs());
}
