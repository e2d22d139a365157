// The smallest host to which an agent can report: it accepts processes and reads what they wrote. The other work of the real host (files, live view,
// processes that end) is left out.
#pragma once

#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/channel/ring.h"
#include "collector/channel/shared_memory.h"
#include "support/catch.h"
#include "support/paths.h"

namespace lanescope::test {

struct ReadRecord {
  channel::Record record;
  std::string text;
};

// One process that reported, and everything that it wrote so far.
class HostedProcess {
 public:
  HostedProcess(int connection, pid_t process_id, std::uint32_t number, std::uint64_t pool_bytes)
      : pid(process_id), instance(number), connection_(connection), bytes_(channel::memory_bytes_for(pool_bytes)) {
    file_ = memfd_create("lanescope-test", MFD_CLOEXEC);
    REQUIRE(ftruncate(file_, static_cast<off_t>(bytes_)) == 0);
    mapping_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    REQUIRE(mapping_ != MAP_FAILED);
    memory = channel::initialize_shared_memory(mapping_, bytes_, number);
  }
  ~HostedProcess() {
    munmap(mapping_, bytes_);
    close(file_);
    hang_up();
  }
  HostedProcess(const HostedProcess&) = delete;
  HostedProcess& operator=(const HostedProcess&) = delete;

  // Closes the connection, as a recorder that has ended.
  void hang_up() {
    if (connection_ >= 0) close(std::exchange(connection_, -1));
  }

  // Reads what is in the rings now.
  void read() {
    const auto collect = [](std::vector<ReadRecord>& into) {
      return [&into](const channel::Record& record, std::string_view text) { into.push_back({record, std::string(text)}); };
    };
    channel::SharedHeader& header = memory.header();
    if (!metadata_ring_) metadata_ring_.emplace(header.metadata_ring, memory.metadata_pool());
    metadata_ring_->read(collect(metadata));
    for (std::size_t i = 0; i < header.thread_rings_used; ++i) {
      channel::RingHeader& ring = memory.thread_ring(i);
      if (thread_rings_.size() <= i) thread_rings_.emplace_back(ring, memory.thread_pool());
      const bool closed = channel::is_closed(ring);
      thread_rings_[i].read(collect(records));
      if (!closed) continue;
      thread_rings_[i].release();
      channel::free_thread_ring(ring);
    }
    channel::FrameRingConsumer frame_ring(header.frame_ring, memory.frame_bytes());
    while (const std::size_t bytes = frame_ring.next()) {
      frames.emplace_back(bytes);
      frame_ring.take(frames.back());
    }
  }

  pid_t pid;
  std::uint32_t instance;
  channel::Hello hello;
  channel::SharedMemory memory;
  std::vector<ReadRecord> metadata;
  std::vector<ReadRecord> records;
  std::vector<std::vector<std::byte>> frames;

 private:
  friend class TestHost;
  int connection_;
  std::uint64_t bytes_;
  std::optional<channel::RingConsumer> metadata_ring_;
  std::deque<channel::RingConsumer> thread_rings_;
  int file_ = -1;
  void* mapping_ = nullptr;
};

class TestHost {
 public:
  // Settings of every process that reports.
  std::function<void(channel::Settings&)> configure = [](channel::Settings& settings) {
    settings.recording = 1;
    settings.trace_cuda = 1;
    settings.trace_nvtx = 1;
    settings.flush_interval_ms = 20;
  };

  TestHost() : path_(folder_.path() / "socket") {
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(listen(listener_, 16) == 0);
  }
  ~TestHost() { close(listener_); }
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  [[nodiscard]] const std::filesystem::path& socket_path() const { return path_; }

  // Starts the program with the agent in its environment, serves it until it ends, and returns its wait status.
  int run(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment = {}) {
    const std::string agent = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so").string();
    const pid_t child = fork();
    if (child == 0) {
      if (standard_output >= 0) dup2(standard_output, STDOUT_FILENO);
      setenv(channel::kSocketVariable, path_.c_str(), 1);
      setenv("NVTX_INJECTION64_PATH", agent.c_str(), 1);
      setenv("CUDA_INJECTION64_PATH", agent.c_str(), 1);
      for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
      std::vector<char*> arguments;
      for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) serve();
    serve();
    return status;
  }

  // Accepts processes that wait, for at most a millisecond, and reads all rings.
  void serve() {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, 1) > 0) accept_process();
    if (reads)
      for (const auto& process : processes) process->read();
    if (on_serve) on_serve();
  }

  std::uint64_t pool_bytes = channel::kDefaultPoolBytes;  // of every process that reports
  std::string token;                                      // by which agents recognize us, if their address has one
  int standard_output = -1;                               // of programs; -1: ours
  bool reads = true;                                      // whether rings are emptied while a program runs
  std::function<void()> on_serve;                         // called after each look of the host

  std::deque<std::unique_ptr<HostedProcess>> processes;

 private:
  void accept_process() {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(connection >= 0);
    ucred peer{};
    socklen_t size = sizeof(peer);
    REQUIRE(getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0);
    auto process = std::make_unique<HostedProcess>(connection, peer.pid, static_cast<std::uint32_t>(processes.size() + 1), pool_bytes);
    REQUIRE(recv(connection, &process->hello, sizeof(process->hello), 0) == static_cast<ssize_t>(sizeof(process->hello)));
    configure(process->memory.header().settings);
    channel::Welcome welcome;
    welcome.accepted = 1;
    welcome.process_instance = process->instance;
    welcome.memory_bytes = process->bytes_;
    token.copy(welcome.token, sizeof(welcome.token));
    send_with_file(connection, welcome, process->file_);
    processes.push_back(std::move(process));
  }

  static void send_with_file(int connection, channel::Welcome& welcome, int file) {
    iovec part{&welcome, sizeof(welcome)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof(file));
    REQUIRE(sendmsg(connection, &message, 0) == static_cast<ssize_t>(sizeof(welcome)));
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
  int listener_ = -1;
};

}  // namespace lanescope::test
