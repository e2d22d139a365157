#include "processes/arrival/control_socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "clock.h"
#include "collector/channel/send_descriptor.h"

namespace lanescope::session {
namespace {

constexpr std::string_view kFolderPattern = "lanescope-XXXXXX";
constexpr std::string_view kSocketName = "control";
constexpr std::string_view kWordsName = "control.word";  // kSocketName and channel::kWordSuffix
constexpr std::string_view kMachineName = "machine";     // a link to no file; its target names the machine and its boot, in which the locks are valid
constexpr int kBacklog = 256;                            // number of processes that a target may start at once

bool fits(const std::filesystem::path& folder) {
  return folder.native().size() + kFolderPattern.size() + kSocketName.size() + 3 <= sizeof(sockaddr_un::sun_path);
}

// A folder that is ours, kept open because its path may later lead elsewhere. Invalid if it is not ours.
FileDescriptor own_folder(int parent, const char* name) {
  FileDescriptor folder(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!folder.valid() || fstat(folder.get(), &facts) != 0 || facts.st_uid != geteuid()) return {};
  return folder;
}

std::string this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string machine_of(int folder) {
  std::array<char, 256> name{};
  const ssize_t size = readlinkat(folder, kMachineName.data(), name.data(), name.size());
  return {name.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

struct Place {
  std::filesystem::path path;
  FileDescriptor folder;  // locked: while it is open, no other recorder takes the folder for an abandoned one
};

// Makes a folder that only this user may enter. Without file locks, no folder is taken for an abandoned one. Invalid if it can't be made there.
Place private_folder(const char* parent) {
  constexpr int kMostAttempts = 100;
  if (parent == nullptr || *parent == '\0' || !fits(parent)) return {};
  const std::string machine = this_machine();
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::string pattern = (std::filesystem::path(parent) / kFolderPattern).string();
    if (mkdtemp(pattern.data()) == nullptr) return {};  // mode 0700
    Place place{pattern, own_folder(AT_FDCWD, pattern.c_str())};
    const bool is_taken = !place.folder.valid() || (flock(place.folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK);
    const bool is_marked = !is_taken && !machine.empty() && symlinkat(machine.c_str(), place.folder.get(), kMachineName.data()) == 0;
    if (is_marked || (!is_taken && access(pattern.c_str(), F_OK) == 0)) return place;
    rmdir(pattern.c_str());  // another recorder came before the lock, and removes the folder
  }
  return {};
}

// The names of links that agents without a descriptor have left.
std::vector<std::string> left_links(int folder) {
  std::vector<std::string> names;
  const int place = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = place < 0 ? nullptr : fdopendir(place);
  if (listing == nullptr && place >= 0) close(place);
  if (listing == nullptr) return names;
  const std::string prefix = std::string(kWordsName) + channel::kWordLinkMark;
  while (const dirent* const entry = names.size() < channel::kMostWords ? readdir(listing) : nullptr)
    if (std::string_view(entry->d_name).starts_with(prefix)) names.emplace_back(entry->d_name);
  closedir(listing);
  return names;
}

std::optional<channel::Word> word_of_link(int folder, const std::string& name) {
  char text[64] = {};
  if (readlinkat(folder, name.c_str(), text, sizeof(text) - 1) <= 0) return std::nullopt;
  channel::Word word;
  word.process = std::atoi(name.c_str() + kWordsName.size() + 1);
  char* program = nullptr;
  word.problem = static_cast<std::int32_t>(std::strtol(text, &program, 10));
  if (*program == ' ') ++program;
  std::strncpy(word.program, program, sizeof(word.program) - 1);
  return word;
}

void remove_from(int folder) {
  for (const std::string& link : left_links(folder)) unlinkat(folder, link.c_str(), 0);
  for (const std::string_view name : {kSocketName, kWordsName, kMachineName}) unlinkat(folder, name.data(), 0);
}

std::string random_letters() {
  std::array<unsigned char, channel::kTokenLetters / 2> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string letters;
  for (const unsigned char byte : bytes)
    for (const unsigned half : {byte / 16u, byte % 16u}) letters += "0123456789abcdef"[half];
  return letters;
}

// Listens on an abstract socket of the same name. Invalid if that fails.
FileDescriptor listen_without_place(const std::filesystem::path& path) {
  FileDescriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.native().copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.native().size());
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(listener.get(), kBacklog) != 0) return {};
  return listener;
}

FileDescriptor spare_descriptor() { return FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  return address;
}

// Lets this user connect to the socket, and pass through the folder to it. The folder stays ours, because we remove its content.
bool open_to(std::optional<uid_t> user, int folder) {
  constexpr auto kSameGroup = static_cast<gid_t>(-1);
  constexpr mode_t kPassable = 0711;
  return !user || (fchownat(folder, kSocketName.data(), *user, kSameGroup, AT_SYMLINK_NOFOLLOW) == 0 && fchmod(folder, kPassable) == 0);
}

// Invalid if it can't be made: nobody leaves words then.
FileDescriptor words_for(std::optional<uid_t> user, int folder) {
  FileDescriptor words(openat(folder, kWordsName.data(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (words.valid() && user && fchown(words.get(), *user, static_cast<gid_t>(-1)) != 0) words.reset();
  return words;
}

bool ask_peer(int connection, ucred& peer) {
  socklen_t size = sizeof(peer);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
}

// Invalid if none waits, or on an error, which is in errno.
FileDescriptor next_connection(int listener) {
  int connection = -1;
  do connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  while (connection < 0 && (errno == EINTR || errno == ECONNABORTED));
  return FileDescriptor(connection);
}

// Removes folders whose recorder was killed; a running recorder holds its folder locked. On a file system of several machines, locks may be visible on one
// machine only. Folders of another machine, or of an earlier boot, are therefore not touched. Neither are folders without a mark, even if they are empty:
// somebody may be about to write there, because others have such names, too.
void remove_abandoned_folders(const std::filesystem::path& parent) {
  const std::string machine = this_machine();
  if (machine.empty()) return;
  const FileDescriptor place(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string_view prefix = kFolderPattern.substr(0, kFolderPattern.find('X'));
  std::error_code failed;
  std::filesystem::directory_iterator entry(parent, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.size() != kFolderPattern.size() || !name.starts_with(prefix)) continue;
    const FileDescriptor folder = own_folder(place.get(), name.c_str());
    if (!folder.valid() || machine_of(folder.get()) != machine || flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
    remove_from(folder.get());
    unlinkat(place.get(), name.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

Result<ControlSocket> ControlSocket::create(std::optional<uid_t> agents_user) {
  constexpr const char* kOpenToAll = "/tmp";
  Place place;
  for (const char* parent : {static_cast<const char*>(std::getenv("XDG_RUNTIME_DIR")), static_cast<const char*>(std::getenv("TMPDIR")), kOpenToAll})
    if (!place.folder.valid() && (!agents_user || parent == kOpenToAll)) place = private_folder(parent);
  if (!place.folder.valid())
    return Error{
        "No folder for the recording's control socket can be made in XDG_RUNTIME_DIR, TMPDIR or /tmp. Set TMPDIR to one that can be "
        "written."};

  remove_abandoned_folders(place.path.parent_path());
  ControlSocket control;
  control.path_ = place.path / kSocketName;
  control.folder_ = std::move(place.folder);
  control.agents_user_ = agents_user.value_or(getuid());
  FileDescriptor& listener = control.sockets_.front();
  listener = FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_of(control.path_);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (!listener.valid() || bind(listener.get(), generic, sizeof(address)) != 0 || listen(listener.get(), kBacklog) != 0 ||
      !open_to(agents_user, control.folder_.get()))
    return Error{"The recording's control socket " + control.path_.string() + " can't be opened: " + std::strerror(errno) + "."};
  control.words_ = words_for(agents_user, control.folder_.get());
  control.spare_ = spare_descriptor();
  control.token_ = random_letters();
  if (!control.token_.empty()) control.sockets_.back() = listen_without_place(control.path_);
  return control;
}

ControlSocket::ControlSocket(ControlSocket&& other) noexcept
    : sockets_(std::move(other.sockets_)),
      folder_(std::move(other.folder_)),
      spare_(std::move(other.spare_)),
      words_(std::move(other.words_)),
      words_taken_(other.words_taken_),
      links_taken_(other.links_taken_),
      folder_changed_(other.folder_changed_),
      path_(std::exchange(other.path_, {})),
      token_(std::move(other.token_)),
      agents_user_(other.agents_user_),
      is_clogged_(other.is_clogged_) {}

ControlSocket::~ControlSocket() {
  if (path_.empty()) return;
  remove_from(folder_.get());
  rmdir(path_.parent_path().c_str());
}

std::string ControlSocket::address() const {
  if (token_.empty()) return path_.string();
  return path_.string() + channel::kTokenMark + token_ + channel::kUserMark + std::to_string(geteuid());
}

std::array<int, 2> ControlSocket::descriptors() const noexcept {
  if (is_clogged_) return {-1, -1};
  return {sockets_.front().get(), sockets_.back().get()};
}

std::vector<channel::Word> ControlSocket::take_words() {
  constexpr std::int64_t kMost = channel::kMostWords * sizeof(channel::Word);  // words beyond this limit are ignored
  std::vector<channel::Word> words;
  channel::Word word;
  while (words_.valid() && words_taken_ < kMost && pread(words_.get(), &word, sizeof(word), words_taken_) == static_cast<ssize_t>(sizeof(word))) {
    words_taken_ += static_cast<std::int64_t>(sizeof(word));
    word.program[sizeof(word.program) - 1] = '\0';
    words.push_back(word);
  }
  take_links(words);
  return words;
}

// The folder's time tells whether there is a new link, except for those that come within one tick of the file system's clock.
void ControlSocket::take_links(std::vector<channel::Word>& words) {
  constexpr std::int64_t kTick = 2'000'000'000;  // ns, of any file system
  struct stat facts {};
  if (fstat(folder_.get(), &facts) != 0) return;
  const std::int64_t changed = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (changed == folder_changed_ && realtime_now() - changed > kTick) return;
  folder_changed_ = changed;
  for (const std::string& name : left_links(folder_.get())) {
    if (const auto word = word_of_link(folder_.get(), name); word && ++links_taken_ <= channel::kMostWords) words.push_back(*word);
    unlinkat(folder_.get(), name.c_str(), 0);
  }
}

bool ControlSocket::is_our_token(const char (&half)[channel::kTokenHalf]) const noexcept {
  return token_.size() == channel::kTokenLetters && std::equal(std::begin(half), std::end(half), token_.begin());
}

void ControlSocket::sign(channel::Welcome& welcome) const noexcept {
  if (token_.size() == channel::kTokenLetters) token_.copy(welcome.token, sizeof(welcome.token), channel::kTokenHalf);
}

std::optional<ControlSocket::Visitor> ControlSocket::accept() {
  is_clogged_ = false;
  if (!spare_.valid()) spare_ = spare_descriptor();
  for (const FileDescriptor& listener : sockets_) {
    if (!listener.valid()) continue;
    FileDescriptor connection = next_connection(listener.get());
    const bool is_short = !connection.valid() && (errno == EMFILE || errno == ENFILE);
    if (is_short) {
      spare_.reset();
      connection = next_connection(listener.get());
      is_clogged_ = !connection.valid() && (errno == EMFILE || errno == ENFILE);
    }
    Visitor visitor;
    if (ucred peer{}; connection.valid() && ask_peer(connection.get(), peer)) {
      visitor.pid = peer.pid;
      visitor.is_known = peer.uid == getuid() || peer.uid == agents_user_;
    }
    const bool has_come = connection.valid();
    if (is_short) {
      connection.reset();
      spare_ = spare_descriptor();
    }
    visitor.connection = std::move(connection);
    if (has_come) return visitor;
  }
  return std::nullopt;
}

namespace {

constexpr std::size_t kLeastHello = offsetof(channel::Hello, token);  // common to all versions

enum class Receiving { kTake, kLook };

GreetingState receive(int connection, Greeting& greeting, Receiving receiving) {
  const int flags = MSG_DONTWAIT | (receiving == Receiving::kLook ? MSG_PEEK : 0);
  const ssize_t size = recv(connection, &greeting.hello, sizeof(greeting.hello), flags);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return GreetingState::kWaiting;
  ucred peer{};
  if (size < static_cast<ssize_t>(kLeastHello) || !ask_peer(connection, peer)) return GreetingState::kRefused;
  const bool is_complete = size == static_cast<ssize_t>(sizeof(greeting.hello));
  if (peer.pid <= 0) return GreetingState::kRefused;  // a process that we can't see, and whose number would mean nothing to the kernel
  greeting.pid = peer.pid;
  greeting.hello.agent_version[sizeof(greeting.hello.agent_version) - 1] = '\0';
  greeting.hello.program[sizeof(greeting.hello.program) - 1] = '\0';
  if (greeting.hello.layout_version != channel::kLayoutVersion) return GreetingState::kOtherLayout;
  return is_complete ? GreetingState::kArrived : GreetingState::kRefused;
}

}  // namespace

GreetingState receive_greeting(int connection, Greeting& greeting) { return receive(connection, greeting, Receiving::kTake); }

Result<void> await_greeting(int connection, pid_t pid, std::chrono::milliseconds limit) {
  pollfd source{connection, POLLIN, 0};
  int ready = 0;
  do ready = poll(&source, 1, static_cast<int>(limit.count()));
  while (ready < 0 && errno == EINTR);
  Greeting greeting;
  const GreetingState state = ready > 0 ? receive(connection, greeting, Receiving::kLook) : GreetingState::kWaiting;
  if (state == GreetingState::kArrived) return {};
  greeting.pid = pid;
  if (state == GreetingState::kOtherLayout) return Error{"Process " + std::to_string(pid) + " can't be recorded: " + other_layout_reason(greeting)};
  return Error{"The agent was brought into process " + std::to_string(pid) +
               ", but does not answer. The process runs on; try again, or restart it with: lanescope profile --arm -- PROGRAM"};
}

std::string other_layout_reason(const Greeting& greeting) {
  return "its agent is of another version of Lanescope (" + std::string(greeting.hello.agent_version) + ", layout " +
         std::to_string(greeting.hello.layout_version) + "; ours is " + LANESCOPE_VERSION + ", layout " + std::to_string(channel::kLayoutVersion) +
         "). Restart the program, or record it with that version.";
}

bool has_hung_up(int connection) {
  pollfd state{connection, 0, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & POLLHUP) != 0;
}

bool send_welcome(int connection, const channel::Welcome& welcome, int memory) {
  iovec part{const_cast<channel::Welcome*>(&welcome), sizeof(welcome)};
  return channel::send_with_descriptor(connection, {&part, 1}, memory) == static_cast<ssize_t>(sizeof(welcome));
}

}  // namespace lanescope::session
