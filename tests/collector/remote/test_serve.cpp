// The far end of a link, and requests that make no sense.
#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "collector/remote/message_stream.h"
#include "collector/remote/serve.h"
#include "lanescope/remote.pb.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/small_files.h"
#include "there/command.h"
#include "there/recordings.h"

using namespace lanescope;
using namespace lanescope::remote;
using namespace std::chrono_literals;

namespace {

std::string message(const proto::RemoteRequest& request) {
  std::string bytes;
  append_message(bytes, request.SerializeAsString());
  return bytes;
}

std::string greeting(std::uint32_t protocol) {
  proto::RemoteRequest request;
  request.mutable_greeting()->set_protocol(protocol);
  return message(request);
}

std::string stop(const std::string& recording) {
  proto::RemoteRequest request;
  request.mutable_stop()->set_recording(recording);
  return message(request);
}

enum class Then { kClose, kSilence };

struct Served {
  bool is_content = false;
  std::vector<proto::RemoteReply> replies;
  std::chrono::steady_clock::duration took{};
};

Served serve_to(const std::string& bytes, Then then) {
  const test::TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  std::signal(SIGPIPE, SIG_IGN);
  int in[2], out[2];
  REQUIRE((pipe(in) == 0 && pipe(out) == 0));
  std::thread asker([&] {
    for (std::size_t written = 0; written < bytes.size();) {
      const ssize_t now = write(in[1], bytes.data() + written, bytes.size() - written);
      if (now <= 0) break;
      written += static_cast<std::size_t>(now);
    }
    if (then == Then::kClose) close(in[1]);
  });
  Served served;
  const auto begin = std::chrono::steady_clock::now();
  served.is_content = serve(channel::FileDescriptor(in[0]), channel::FileDescriptor(out[1]),
                            {.program = "/nowhere/lanescope", .version = "test", .patience = then == Then::kSilence ? 300ms : 300s, .look = 10ms})
                          .has_value();
  served.took = std::chrono::steady_clock::now() - begin;
  asker.join();
  if (then == Then::kSilence) close(in[1]);
  MessageReader reader(kMostFromThere);
  char piece[4096];
  for (ssize_t size = 0; (size = read(out[0], piece, sizeof(piece))) > 0;) reader.feed({piece, static_cast<std::size_t>(size)});
  close(out[0]);
  while (const auto payload = reader.next()) REQUIRE(served.replies.emplace_back().ParseFromString(*payload));
  return served;
}

std::filesystem::path script(const std::filesystem::path& path, const std::string& commands) {
  std::ofstream(path) << "#!/bin/sh\n" << commands << '\n';
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

proto::RemoteRequest::Record some_request(const std::string& recording) {
  proto::RemoteRequest::Record record;
  record.set_recording(recording);
  record.set_command("profile");
  return record;
}

// Between the end of its recorder and the report of its keeper, a recording looks lost.
RecordingState await_end(const Recordings& recordings, const std::string& name) {
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  RecordingState state;
  while ((state = recordings.state_of(*recordings.folder_of(name))).progress != Progress::kEnded && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(1ms);
  waitpid(-1, nullptr, 0);  // its keeper, which is a child of this process
  return state;
}

// A separate disk, as long as this object lives.
class SmallDisk {
 public:
  explicit SmallDisk(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    is_there_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=600k") == 0;
  }
  ~SmallDisk() {
    if (is_there_) umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool is_there() const { return is_there_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void fill() const {
    const int file = open((path_ / "filling").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::string zeros(4096, '\0');
    while (write(file, zeros.data(), zeros.size()) > 0) {
    }
    CHECK(errno == ENOSPC);
    close(file);
  }

 private:
  std::filesystem::path path_;
  bool is_there_ = false;
};

}  // namespace

TEST_CASE("a far end greets first, answers in order, and ends with its link") {
  const Served served = serve_to(greeting(1) + stop("none") + stop("../x"), Then::kClose);
  CHECK(served.is_content);
  REQUIRE_FALSE(served.replies.empty());
  CHECK(served.replies.front().greeting().protocol() == 1);
  CHECK(served.replies.front().greeting().version() == "test");
}

TEST_CASE("each answer of a far end says which request it is of") {
  const auto numbered = [](proto::RemoteRequest request, std::uint32_t number) {
    request.set_number(number);
    return message(request);
  };
  proto::RemoteRequest record, follow, run, stopped, discard;
  record.mutable_record()->set_recording("../x");
  follow.mutable_follow()->set_file("/nowhere");
  run.mutable_run()->add_arguments("serve");
  stopped.mutable_stop()->set_recording("none");
  discard.mutable_discard()->set_recording("none");
  const std::vector<proto::RemoteRequest> requests{record, follow, run, stopped, discard};
  std::string bytes = greeting(1);
  for (std::uint32_t i = 0; i < requests.size(); ++i) bytes += numbered(requests[i], 7 + i);
  const Served served = serve_to(bytes, Then::kSilence);
  REQUIRE(served.replies.size() == 1 + requests.size());
  CHECK(served.replies.front().greeting().names_requests());
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    CHECK(served.replies[1 + i].has_refusal());
    CHECK(served.replies[1 + i].request() == 7 + i);
  }
}

TEST_CASE("a followed file's end says which request it ends") {
  proto::RemoteRequest follow;
  follow.mutable_follow()->set_file(test::data_file("cuda_streams.trace").string());
  follow.set_number(23);
  const Served served = serve_to(greeting(1) + message(follow), Then::kSilence);
  REQUIRE(served.replies.back().has_end());
  CHECK(served.replies.back().request() == 23);
}

TEST_CASE("a far end that hears nothing any more ends") {
  const Served served = serve_to(greeting(1) + stop("none"), Then::kSilence);
  CHECK(served.took >= 300ms);
  REQUIRE(served.replies.size() == 2);
  CHECK(served.replies.back().refusal().is_usage());
}

TEST_CASE("a far end takes nothing from who makes no sense") {
  std::string bytes;
  SECTION("text without end") { bytes = std::string(200'000, 'x'); }
  SECTION("something between messages") { bytes = greeting(1) + "x" + std::string(100, 'y'); }
  SECTION("a message that is too long") {
    append_message(bytes, std::string(kMostToThere + 1, 'x'));
    bytes = greeting(1) + bytes;
  }
  SECTION("no message of ours") {
    append_message(bytes, "\xff\xff\xff\xff");
    bytes = greeting(1) + bytes;
  }
  SECTION("a request before the greeting") { bytes = stop("none"); }
  SECTION("another protocol") { bytes = greeting(2) + stop("none"); }
  const Served served = serve_to(bytes, Then::kSilence);
  CHECK_FALSE(served.is_content);
}

TEST_CASE("a far end that is asked for anything in any order answers or refuses, and ends with its link") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](unsigned end) { return static_cast<std::uint32_t>(random() % end); };
    const std::string recording = test::data_file("cuda_streams.trace").string();
    const std::string names[] = {"", "20260101-000000-00000000", "../..", std::string(300, 'a'), std::string("a\0b", 3), "-a"};
    std::string bytes = greeting(1);
    for (int i = 0; i < 30; ++i) {
      proto::RemoteRequest request;
      switch (below(7)) {
        case 0:
          request.mutable_greeting()->set_protocol(1);
          break;
        case 1:
          request.mutable_pulse();
          break;
        case 2:
          request.mutable_record()->set_recording(names[below(6)]);
          request.mutable_record()->set_command(below(2) != 0 ? "export" : "");
          break;
        case 3: {
          auto& follow = *request.mutable_follow();
          if (below(2) != 0)
            follow.set_recording(names[below(6)]);
          else
            follow.set_file(below(2) != 0 ? recording : "/dev/tty");
          auto& position = *follow.add_files();
          position.set_name("file");
          position.set_size(below(2) != 0 ? UINT64_MAX : below(100'000'000));
          for (std::uint32_t block = 0; block < below(5); ++block) position.add_blocks(random());
          follow.set_output(below(2) != 0 ? 0 : UINT64_MAX);
          break;
        }
        case 4:
          for (std::uint32_t word = 0; word < below(3); ++word) request.mutable_run()->add_arguments(names[below(6)]);
          break;
        case 5:
          request.mutable_stop()->set_recording(names[below(6)]);
          break;
        default:
          request.mutable_discard()->set_recording(names[below(6)]);
      }
      bytes += message(request);
    }
    if (below(3) == 0) bytes[below(static_cast<unsigned>(bytes.size()))] ^= 0x10;
    if (below(3) == 0) bytes.resize(below(static_cast<unsigned>(bytes.size())));
    CAPTURE(seed);
    serve_to(bytes, Then::kClose);  // ends
  }
}

TEST_CASE("a far end that is killed ends its link, although what it has started runs on") {
  const test::TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  std::signal(SIGPIPE, SIG_IGN);
  int in[2], out[2];
  REQUIRE((pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0));
  const std::string program = test::program("lanescope").string();
  const pid_t far_end = fork();
  if (far_end == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execl(program.c_str(), "lanescope", "serve", "--stdio", nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  const std::filesystem::path go = folder.path() / "go";
  proto::RemoteRequest request;
  auto& record = *request.mutable_record();
  record.set_recording("killed");
  record.set_command("profile");
  for (const char* option : {"--trace=none", "--sample=none", "--cpuctxsw=none"}) record.add_options(option);
  for (const std::string& word : {std::string("sh"), std::string("-c"), "until [ -e " + go.string() + " ]; do sleep 0.02; done"}) record.add_operands(word);
  const std::string bytes = greeting(1) + message(request);
  REQUIRE(write(in[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  MessageReader reader(kMostFromThere);
  bool is_started = false, is_closed = false;
  while (!is_closed) {
    pollfd source{out[0], POLLIN, 0};
    if (poll(&source, 1, 60'000) <= 0) break;
    char piece[4096];
    const ssize_t size = read(out[0], piece, sizeof(piece));
    is_closed = size <= 0;
    if (!is_closed) reader.feed({piece, static_cast<std::size_t>(size)});
    while (const auto payload = reader.next()) {
      proto::RemoteReply reply;
      REQUIRE(reply.ParseFromString(*payload));
      if (!reply.has_done()) continue;
      is_started = true;
      kill(far_end, SIGKILL);
    }
  }
  CHECK(is_started);
  CHECK(is_closed);
  std::ofstream(go) << "go";
  waitpid(far_end, nullptr, 0);
  close(in[1]);
  close(out[0]);
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  const std::filesystem::path ended = folder.path() / "lanescope" / "recordings" / "killed" / "ended";
  while (!std::filesystem::exists(ended) && std::chrono::steady_clock::now() < give_up) std::this_thread::sleep_for(10ms);
  CHECK(std::filesystem::exists(ended));
}

TEST_CASE("no folder of recordings is made behind a link, nor in a folder of another user") {
  const test::TemporaryFolder folder;
  const auto elsewhere = folder.path() / "elsewhere", base = folder.path() / "lanescope";
  std::filesystem::create_directory(elsewhere);
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  std::filesystem::create_symlink(elsewhere, base);
  CHECK_FALSE(Recordings::open());
  CHECK(std::filesystem::is_empty(elsewhere));
  std::filesystem::remove(base);
  std::filesystem::create_directory(base);
  constexpr uid_t kOther = 65534;
  if (chown(base.c_str(), kOther, kOther) == 0) {  // works only as root
    CHECK_FALSE(Recordings::open());
    CHECK(std::filesystem::is_empty(base));
    REQUIRE(chown(base.c_str(), geteuid(), getegid()) == 0);
  }
  CHECK(Recordings::open());
  std::filesystem::permissions(base / "recordings", std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  CHECK_FALSE(Recordings::open());
}

TEST_CASE("a recording that could not be found again is not begun, and that is said") {
  const test::TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", (folder.path() / "cache").c_str(), 1);
  Result<Recordings> recordings = Recordings::open();
  REQUIRE(recordings);
  const auto began = folder.path() / "began";
  const auto program = script(folder.path() / "program", ": > " + began.string());
  const Result<void> started = [&] {
    const test::SmallFiles small(0);
    return recordings->start(some_request("full"), program);
  }();
  REQUIRE_FALSE(started);
  CHECK_THAT(started.error().text, contains_text("File too large") && contains_text("Nothing was started"));
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // every process that could have started it has ended
  CHECK_FALSE(std::filesystem::exists(began));
  CHECK(recordings->names().empty());
  CHECK(recordings->start(some_request("full"), program));
  await_end(*recordings, "full");
  CHECK(std::filesystem::exists(began));
}

TEST_CASE("how a recording ended is written although the disk was filled up meanwhile, and one that was full begins none") {
  if (geteuid() != 0) {
    WARN("Only root mounts a small disk: not tested.");
    return;
  }
  const test::TemporaryFolder folder;
  const SmallDisk disk(folder.path() / "disk");
  if (!disk.is_there()) {
    WARN("A disk can't be mounted here: not tested.");
    return;
  }
  setenv("XDG_CACHE_HOME", disk.path().c_str(), 1);
  Result<Recordings> recordings = Recordings::open();
  REQUIRE(recordings);
  const auto go = folder.path() / "go";
  // What the program prints while the disk is full is kept, too.
  const auto program = script(folder.path() / "program", "until [ -e " + go.string() + " ]; do sleep 0.01; done; echo full >&2; exit 7");
  REQUIRE(recordings->start(some_request("ending"), program));
  disk.fill();
  const Result<void> refused = recordings->start(some_request("refused"), program);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text, contains_text("No space left on device"));
  CHECK(recordings->names() == std::vector<std::string>{"ending"});
  CHECK(recordings->state_of(*recordings->folder_of("ending")).progress == Progress::kRuns);
  std::ofstream(go) << "go";
  const RecordingState state = await_end(*recordings, "ending");
  CHECK(state.progress == Progress::kEnded);
  CHECK(state.code == 7);
  std::ifstream messages(disk.path() / "lanescope" / "recordings" / "ending" / "messages");
  std::string said;
  std::getline(messages, said);
  CHECK(said == "full");
}

TEST_CASE("a recording of which it is not known who makes it is neither said to be ended nor removed") {
  const test::TemporaryFolder cache;
  setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  Result<Recordings> recordings = Recordings::open();
  REQUIRE(recordings);
  const auto folder = cache.path() / "lanescope" / "recordings" / "damaged";
  std::filesystem::create_directory(folder);
  const bool is_there = GENERATE(true, false);
  if (is_there) std::ofstream(folder / "recorder") << (GENERATE(true, false) ? "" : "no number");
  CHECK(recordings->state_of(folder).progress == Progress::kUnknown);
  CHECK_FALSE(recordings->stop("damaged"));
  CHECK_FALSE(recordings->discard("damaged"));
  CHECK(std::filesystem::exists(folder));
  std::ofstream(folder / "ended") << "0 0\n";
  CHECK(recordings->discard("damaged"));
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("a recording that is removed is there whole, or not at all, for whoever looks") {
  const test::TemporaryFolder cache;
  setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  const Result<Recordings> opened = Recordings::open();
  REQUIRE(opened);
  Recordings recordings = *opened;
  const std::string name = "20260101-000000-00000000";
  const auto folder = cache.path() / "lanescope" / "recordings" / name;
  for (int round = 0; round < 5; ++round) {
    std::filesystem::create_directories(folder);
    constexpr int kFiles = 2'000;
    for (int i = 0; i < kFiles; ++i) std::ofstream(folder / (std::to_string(i) + ".trace")) << "bytes";
    std::ofstream(folder / "ended") << "0 0\n";
    std::atomic<bool> is_over = false, was_partial = false;
    std::thread looking([&] {
      while (!is_over)
        for (int i = 0; i < kFiles && !is_over; ++i)  // the file is checked first
          if (!std::filesystem::exists(folder / (std::to_string(i) + ".trace")) && std::filesystem::exists(folder)) was_partial = true;
    });
    const Result<void> discarded = recordings.discard(name);
    is_over = true;
    looking.join();
    CHECK(discarded);
    CHECK_FALSE(was_partial);
    CHECK(recordings.names().empty());
    CHECK(std::filesystem::is_empty(folder.parent_path()));
  }
  // What an interrupted removal left is removed by the next one that looks.
  std::filesystem::create_directory(folder.parent_path() / (".removed-" + name));
  REQUIRE(Recordings::open());
  CHECK(std::filesystem::is_empty(folder.parent_path()));
}

TEST_CASE("a command that nobody follows any more is asked for its end, and ended where it does not hear") {
  const test::TemporaryFolder folder;
  const bool hears = GENERATE(true, false);
  const auto program = folder.path() / "program", ready = folder.path() / "ready", asked = folder.path() / "asked";
  std::ofstream(program) << "#!/bin/sh\ntrap '" << (hears ? "echo > " + asked.string() + "; exit" : "") << "' TERM\necho > " << ready.string()
                         << "\nwhile :; do sleep 0.01; done\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  proto::RemoteRequest::Run request;
  request.add_arguments("sessions");
  {
    const Result<Command> command = Command::start(request, 1, program);
    REQUIRE(command);
    while (!std::filesystem::exists(ready)) std::this_thread::sleep_for(1ms);
    siginfo_t child{};
    REQUIRE(waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0);  // there is a child
    CHECK(child.si_pid == 0);                                             // and it runs
  }
  CHECK(std::filesystem::exists(asked) == hears);
  siginfo_t child{};
  CHECK(waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0);  // there is no child
}
