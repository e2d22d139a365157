#include "launch/output_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "collector/attach/candidate.h"
#include "collector/attach/process_list.h"
#include "model/trace/text/grouped_digits.h"
#include "processes/proc.h"
#include "support/catch.h"

using namespace lanescope::session;

namespace {

void write_all(int descriptor, const std::string& text) { REQUIRE(write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size())); }

// Everything that the relay hands over until the target's side is closed.
std::string everything(OutputRelay& relay, OutputStream wanted) {
  std::string text;
  for (;;) {
    pollfd source{relay.descriptor(), POLLIN, 0};
    poll(&source, 1, -1);
    const bool more = relay.drain(
        [&](OutputStream stream, std::span<const char> bytes) {
          if (stream == wanted) text.append(bytes.data(), bytes.size());
        },
        [](const std::string&, OutputRelay::Told) {});
    if (!more) return text;
  }
}

// Replaces our own standard output or error as long as this object lives: there the relay shows what the target prints.
class StandardOutput {
 public:
  explicit StandardOutput(int descriptor, int which = STDOUT_FILENO) : which_(which), before_(fcntl(which, F_DUPFD_CLOEXEC, 3)) { dup2(descriptor, which); }
  ~StandardOutput() { restore(); }
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;
  void restore() {
    if (before_ < 0) return;
    dup2(before_, which_);
    close(before_);
    before_ = -1;
  }

 private:
  int which_;
  int before_;
};

// The process of this name that holds the other end of a pipe; 0: none.
pid_t holder_named(std::string_view name, int pipe) {
  std::error_code failed;
  const std::filesystem::path wanted = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(pipe), failed);
  for (const pid_t pid : lanescope::attach::process_numbers()) {
    if (pid == getpid() || lanescope::session::thread_name(pid, static_cast<std::uint32_t>(pid)) != name) continue;
    std::filesystem::directory_iterator each("/proc/" + std::to_string(pid) + "/fd", failed);
    for (; !failed && each != std::filesystem::directory_iterator(); each.increment(failed))
      if (std::error_code gone; std::filesystem::read_symlink(each->path(), gone) == wanted) return pid;
  }
  return 0;
}

struct Started {
  OutputRelay relay;
  int target_end;
};

// A relay whose target's standard output is `target_end`, and which shows it on `shown`.
Started relay_to(int shown) {
  StandardOutput ours(shown);
  auto relay = OutputRelay::start(lanescope::session::TargetOutput::kShowAndStore);
  ours.restore();
  REQUIRE(relay);
  const int target_end = fcntl(relay->write_end(OutputStream::kStandardOutput), F_DUPFD_CLOEXEC, 0);
  relay->close_write_ends();
  return {std::move(*relay), target_end};
}

std::string numbered_lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

struct Pipe {
  Pipe() { REQUIRE(pipe2(ends, O_CLOEXEC) == 0); }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  void close_reader() { close(std::exchange(ends[0], -1)); }
  void close_writer() { close(std::exchange(ends[1], -1)); }
  int ends[2] = {-1, -1};
};

std::string read_to_end(int descriptor) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (ssize_t size = 0; (size = read(descriptor, buffer.data(), buffer.size())) > 0;) text.append(buffer.data(), static_cast<std::size_t>(size));
  return text;
}

}  // namespace

TEST_CASE("what a target prints arrives whole, by stream, and the end is seen") {
  auto relay = OutputRelay::start(lanescope::session::TargetOutput::kStore);
  REQUIRE(relay);
  std::string long_text;
  for (int i = 0; i < 5'000; ++i) long_text += "line " + std::to_string(i) + "\n";  // less than the capacity of a pipe
  write_all(relay->write_end(OutputStream::kStandardOutput), long_text);
  write_all(relay->write_end(OutputStream::kStandardError), "oops");
  relay->close_write_ends();
  CHECK(everything(*relay, OutputStream::kStandardOutput) == long_text);
}

TEST_CASE("a target goes on printing after its host is gone") {
  int target_end = -1;
  {
    auto relay = OutputRelay::start(lanescope::session::TargetOutput::kStore);
    REQUIRE(relay);
    target_end = fcntl(relay->write_end(OutputStream::kStandardOutput), F_DUPFD_CLOEXEC, 0);
  }  // here the host's descriptors close
  const std::string page(4096, 'x');
  for (int i = 0; i < 100; ++i) write_all(target_end, page);  // more than the capacity of a pipe: somebody must read it
  close(target_end);
}

TEST_CASE("output that does not take more at once gets all of it later") {
  Pipe shown;
  fcntl(shown.ends[1], F_SETFL, O_NONBLOCK);  // for example, a terminal multiplexer or a parent has made it so
  fcntl(shown.ends[1], F_SETPIPE_SZ, 4096);
  Started started = relay_to(shown.ends[1]);
  shown.close_writer();
  const std::string text = numbered_lines(4'000);  // ten times what the pipe holds, and less than the target's holds
  write_all(started.target_end, text);
  close(started.target_end);
  CHECK(read_to_end(shown.ends[0]) == text);
  CHECK(everything(started.relay, OutputStream::kStandardOutput) == text);
}

TEST_CASE("output that is read in small parts gets all of it, in order") {
  Pipe shown;
  fcntl(shown.ends[1], F_SETPIPE_SZ, 64 << 10);
  Started started = relay_to(shown.ends[1]);
  shown.close_writer();
  const std::string text = numbered_lines(100'000);  // more than all pipes hold
  const pid_t writer = fork();
  if (writer == 0) {
    close(shown.ends[0]);
    write_all(started.target_end, text);
    _exit(0);
  }
  close(started.target_end);
  std::string read_back, stored;
  std::vector<char> part(1'000);
  const auto drain = [&] {
    return started.relay.drain([&](OutputStream, std::span<const char> bytes) { stored.append(bytes.data(), bytes.size()); },
                               [](const std::string& sentence, OutputRelay::Told) { FAIL(sentence); });
  };
  for (ssize_t size = 0; (size = read(shown.ends[0], part.data(), part.size())) > 0; drain()) read_back.append(part.data(), static_cast<std::size_t>(size));
  pollfd source{started.relay.descriptor(), POLLIN, 0};
  while (drain()) poll(&source, 1, -1);
  waitpid(writer, nullptr, 0);
  CHECK((read_back == text));
  CHECK((stored == text));
}

TEST_CASE("a program has room to print on while what it printed is passed on") {
  Result<OutputRelay> relay = OutputRelay::start(TargetOutput::kStore);
  REQUIRE(relay);
  constexpr int kBytes = 256 << 10;
  Pipe other;
  if (fcntl(other.ends[1], F_SETPIPE_SZ, kBytes) < kBytes) {
    WARN("This user may have no larger pipes: not tested.");
    return;
  }
  CHECK(fcntl(relay->write_end(OutputStream::kStandardOutput), F_GETPIPE_SZ) >= kBytes);
  CHECK(fcntl(relay->write_end(OutputStream::kStandardError), F_GETPIPE_SZ) >= kBytes);
}

TEST_CASE("a target's writes never wait for the host, and what it did not take is told") {
  const std::size_t held = 65u << 20;  // bytes, at most about what fits between a target and a host
  Pipe shown;
  Started started = relay_to(shown.ends[1]);
  shown.close_writer();
  const pid_t reader = fork();
  if (reader == 0) {
    close(started.target_end);
    read_to_end(shown.ends[0]);
    _exit(0);
  }
  const std::string page(1 << 16, 'x');
  const std::size_t printed = 3 * held;
  for (std::size_t done = 0; done < printed; done += page.size()) write_all(started.target_end, page);  // nobody drains the relay
  close(started.target_end);
  waitpid(reader, nullptr, 0);
  std::vector<std::string> told;
  std::size_t taken = 0;
  for (bool more = true; more;) {
    pollfd source{started.relay.descriptor(), POLLIN, 0};
    poll(&source, 1, -1);
    more = started.relay.drain([&](OutputStream, std::span<const char> bytes) { taken += bytes.size(); },
                               [&](const std::string& sentence, OutputRelay::Told what) {
                                 told.push_back(sentence);
                                 CHECK(what == OutputRelay::Told::kLoss);
                               });
  }
  CHECK(taken < 2 * held);
  REQUIRE(told.size() == 1);
  CHECK(told.front() == grouped_digits(printed - taken) +
                            " bytes that the program printed to standard output are shown, but not in the recording: they came faster than "
                            "it could store them.");
}

TEST_CASE("a target whose output nobody reads any more learns it as without us") {
  Pipe shown;
  Started started = relay_to(shown.ends[1]);
  shown.close_writer();
  write_all(started.target_end, "first\n");
  shown.close_reader();
  std::signal(SIGPIPE, SIG_IGN);
  pollfd target{started.target_end, 0, 0};
  REQUIRE(poll(&target, 1, 10'000) == 1);
  CHECK((target.revents & POLLERR) != 0);
  CHECK(write(started.target_end, "x", 1) == -1);
  CHECK(errno == EPIPE);
  std::signal(SIGPIPE, SIG_DFL);
  close(started.target_end);
}

TEST_CASE("output that can't be shown is told, and the target prints on") {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  Started started = relay_to(full);
  close(full);
  write_all(started.target_end, "ten bytes\n");
  close(started.target_end);
  std::vector<std::string> told;
  for (bool more = true; more;) {
    pollfd source{started.relay.descriptor(), POLLIN, 0};
    poll(&source, 1, -1);
    more = started.relay.drain([](OutputStream, std::span<const char>) {}, [&](const std::string& sentence, OutputRelay::Told) { told.push_back(sentence); });
  }
  REQUIRE(told.size() == 1);
  CHECK(told.front() == "10 bytes that the program printed to standard output could not be written there: No space left on device.");
  CHECK(started.relay.has_cut_output());
}

TEST_CASE("what a target prints to standard output and error keeps its order where both go to one place") {
  Pipe shown;
  auto relay = [&] {
    const StandardOutput output(shown.ends[1]), error(shown.ends[1], STDERR_FILENO);
    return OutputRelay::start(lanescope::session::TargetOutput::kShowAndStore);
  }();
  REQUIRE(relay);
  shown.close_writer();
  std::string printed;
  for (int i = 0; i < 2'000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    write_all(relay->write_end(i % 2 == 0 ? OutputStream::kStandardOutput : OutputStream::kStandardError), line);
    printed += line;
  }
  relay->close_write_ends();
  CHECK(read_to_end(shown.ends[0]) == printed);
  CHECK(everything(*relay, OutputStream::kStandardOutput) == printed);
}

TEST_CASE("a target that keeps our output has no pipe, and nothing is waited for") {
  auto relay = OutputRelay::start(lanescope::session::TargetOutput::kLeave);
  REQUIRE(relay);
  CHECK(relay->write_end(OutputStream::kStandardOutput) < 0);
  CHECK(relay->write_end(OutputStream::kStandardError) < 0);
  CHECK_FALSE(relay->drain([](OutputStream, std::span<const char>) {}, [](const std::string&, OutputRelay::Told) {}));
}

namespace {

// What arrives of a relay's standard output, and what is told of it.
struct Arrived {
  // Waits for something, and takes it. Returns true if more may come.
  bool take(OutputRelay& relay) {
    pollfd source{relay.descriptor(), POLLIN, 0};
    poll(&source, 1, -1);
    return relay.drain([&](OutputStream, std::span<const char> bytes) { text.append(bytes.data(), bytes.size()); },
                       [&](const std::string& sentence, OutputRelay::Told) { told.push_back(sentence); });
  }
  std::string text;
  std::vector<std::string> told;
};

}  // namespace

namespace {

// True once it sleeps, as a relay does only while it waits for something to pass on: it has noted then what it has passed on.
bool has_come_to_rest(pid_t process) {
  constexpr int kLooks = 3'000;  // each of 10 ms
  for (int look = 0; look < kLooks; ++look, usleep(10'000)) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t state = text.rfind(") ");
    if (state != text.npos && text.compare(state, 4, ") S ") == 0) return true;
  }
  return false;
}

std::string read_some(int descriptor, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t done = 0;
  for (ssize_t got = 0; done < bytes && (got = read(descriptor, text.data() + done, bytes - done)) > 0;) done += static_cast<std::size_t>(got);
  text.resize(done);
  return text;
}

}  // namespace

TEST_CASE("a program prints on whole where its relay is killed again and again, and that is told") {
  const TargetOutput mode = GENERATE(TargetOutput::kStore, TargetOutput::kShowAndStore);
  CAPTURE(mode);
  Pipe shown;
  StandardOutput ours(shown.ends[1]);
  Result<OutputRelay> relay = OutputRelay::start(mode);
  ours.restore();
  shown.close_writer();
  REQUIRE(relay);
  const int target_end = fcntl(relay->write_end(OutputStream::kStandardOutput), F_DUPFD_CLOEXEC, 0);
  relay->close_write_ends();
  Arrived arrived;
  std::string printed;
  constexpr std::size_t kTimes = 5;
  for (std::size_t time = 0; time < kTimes; ++time) {
    const std::string line = "line " + std::to_string(time) + "\n";
    write_all(target_end, line);  // no write fails, although nobody reads for a moment
    printed += line;
    while (arrived.text != printed) REQUIRE(arrived.take(*relay));
    if (mode == TargetOutput::kShowAndStore) CHECK(read_some(shown.ends[0], line.size()) == line);
    const pid_t process = holder_named(lanescope::attach::kRelayName, target_end);
    REQUIRE(process > 0);
    REQUIRE(has_come_to_rest(process));
    kill(process, SIGKILL);
    while (arrived.told.size() <= time) REQUIRE(arrived.take(*relay));
  }
  close(target_end);
  while (arrived.take(*relay)) {
  }
  CHECK(arrived.text == printed);
  CHECK(read_to_end(shown.ends[0]).empty());
  CHECK_FALSE(relay->has_cut_output());  // nothing was under way, so the program's exit code stays
  CHECK(arrived.told.size() == kTimes);
  for (const std::string& sentence : arrived.told) CHECK_THAT(sentence, contains_text("was ended from outside, and another one goes on for it"));
}

TEST_CASE("a program whose relay is stopped prints on whole") {
  Pipe shown;
  Started started = relay_to(shown.ends[1]);
  shown.close_writer();
  write_all(started.target_end, "begin\n");
  CHECK(read_some(shown.ends[0], 6) == "begin\n");  // the relay is there
  const pid_t process = holder_named(lanescope::attach::kRelayName, started.target_end);
  REQUIRE(process > 0);
  const std::string page(4'096, 'x');
  constexpr std::size_t kPages = 256;  // more than both pipes hold
  for (int time = 0; time < 3; ++time) {
    kill(process, SIGSTOP);
    const pid_t writer = fork();
    if (writer == 0) {
      for (std::size_t i = 0; i < kPages; ++i) write_all(started.target_end, page);
      _exit(0);
    }
    CHECK(read_some(shown.ends[0], kPages * page.size()).size() == kPages * page.size());
    int status = -1;
    CHECK(waitpid(writer, &status, 0) == writer);
    CHECK(status == 0);
  }
  close(started.target_end);
  CHECK(read_to_end(shown.ends[0]).empty());
  CHECK(everything(started.relay, OutputStream::kStandardOutput).size() == 6 + 3 * kPages * page.size());
}

TEST_CASE("a relay that is killed after the process that keeps its pipes is told of, and one that ends with the program is not") {
  const bool is_killed = GENERATE(false, true);
  CAPTURE(is_killed);
  Result<OutputRelay> relay = OutputRelay::start(TargetOutput::kStore);
  REQUIRE(relay);
  const int target_end = relay->write_end(OutputStream::kStandardOutput);
  write_all(target_end, "before");
  Arrived arrived;
  while (arrived.text.empty()) REQUIRE(arrived.take(*relay));
  if (is_killed) {
    for (const char* const name : {lanescope::attach::kPipesName, lanescope::attach::kRelayName}) {
      const pid_t process = holder_named(name, target_end);
      REQUIRE(process > 0);
      kill(process, SIGKILL);
    }
  } else {
    relay->close_write_ends();
  }
  while (arrived.take(*relay)) {
  }
  CHECK(arrived.text == "before");
  CHECK(relay->has_cut_output() == is_killed);
  REQUIRE(arrived.told.size() == (is_killed ? 1 : 0));
  if (is_killed) CHECK_THAT(arrived.told.front(), contains_text("was ended from outside: what was printed since is lost"));
}
