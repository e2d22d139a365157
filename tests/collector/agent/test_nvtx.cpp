// The real agent in a real program; every NVTX call is counted.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "nvtx_threads_facts.h"
#include "support/catch.h"
#include "test_host.h"

using namespace lanescope;
using namespace lanescope::test;
using channel::RecordType;

namespace {

const std::string kProgram = program("lanescope_program_nvtx_threads").string();

std::vector<ReadRecord> of_type(const std::vector<ReadRecord>& records, RecordType type) {
  std::vector<ReadRecord> result;
  std::copy_if(records.begin(), records.end(), std::back_inserter(result), [type](const ReadRecord& r) { return r.record.type == type; });
  return result;
}

std::size_t count_text(const std::vector<ReadRecord>& records, RecordType type, const std::string& text) {
  const auto matching = of_type(records, type);
  return static_cast<std::size_t>(std::count_if(matching.begin(), matching.end(), [&text](const ReadRecord& r) { return r.text == text; }));
}

std::uint32_t domain_id(const HostedProcess& process, const std::string& name) {
  for (const ReadRecord& r : of_type(process.metadata, RecordType::kDomainCreate))
    if (r.text == name) return r.record.domain;
  return 0;
}

}  // namespace

TEST_CASE("a program takes memory from who knows the token of its session, and from nobody else who listens at its address") {
  const std::string shown(channel::kTokenHalf, 'a'), known(channel::kTokenHalf, 'b');
  TestHost host;
  host.token = GENERATE_COPY(std::string(known), std::string(shown), std::string());  // temporaries, because the generator keeps references to named variables
  REQUIRE(host.run({kProgram}, {{channel::kSocketVariable, host.socket_path().string() + channel::kTokenMark + shown + known}}) == 0);
  REQUIRE_FALSE(host.processes.empty());
  for (const auto& process : host.processes) {
    CHECK(std::string(process->hello.token, sizeof(process->hello.token)) == shown);
    CHECK(process->records.empty() == (host.token != known));
  }
}

namespace {

// A listener at the session's former address, by the name or at the path of its socket, that says nothing. Counts visitors and their messages.
class SilentListener {
 public:
  enum class Place { kName, kPath };
  SilentListener(const std::string& path, Place place) : listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t begin = place == Place::kName ? 1 : 0;
    path.copy(address.sun_path + begin, sizeof(address.sun_path) - begin - 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener_, 64) == 0);
  }
  ~SilentListener() { close(listener_); }
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;

  // Counts of all visitors that have hung up until now.
  struct Heard {
    int visitors = 0;
    int words = 0;
  };
  [[nodiscard]] Heard heard() const {
    Heard heard;
    for (int visitor = -1; (visitor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0; close(visitor)) {
      channel::Hello hello;
      ++heard.visitors;
      heard.words += recv(visitor, &hello, sizeof(hello), 0) > 0 ? 1 : 0;
    }
    return heard;
  }

 private:
  int listener_;
};

int run_with(const std::string& address, const std::string& command) {
  const std::string agent = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so").string();
  return std::system(("NVTX_INJECTION64_PATH=" + agent + " LANESCOPE_SOCKET='" + address + "' " + command + " > /dev/null").c_str());
}

}  // namespace

TEST_CASE("a program leaves another user who listens at the address of its session before a word is said") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "control").string();
  const std::string token(channel::kTokenLetters, 'a');
  const auto place = GENERATE(SilentListener::Place::kName, SilentListener::Place::kPath);
  const SilentListener listener(path, place);
  constexpr uid_t kNobody = 65534;
  if (place == SilentListener::Place::kPath && chown(path.c_str(), kNobody, kNobody) != 0) {
    WARN("Giving a file to another user takes root.");
    return;
  }
  const std::string somebody = std::to_string(geteuid() + 4711);
  CHECK(run_with(path + channel::kTokenMark + token + channel::kUserMark + somebody, kProgram) == 0);
  const SilentListener::Heard heard = listener.heard();
  CHECK(heard.words == 0);
  CHECK((heard.visitors == 0) == (place == SilentListener::Place::kPath));  // a file of another user is not even tried
}

TEST_CASE("what comes without a token is no session's name") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "control").string();
  const SilentListener listener(path, SilentListener::Place::kName);
  CHECK(run_with(path, kProgram) == 0);
  CHECK(listener.heard().visitors == 0);
}

TEST_CASE("children that are forked once the session is over ask nobody") {
  TestHost host;
  const TemporaryFolder folder;
  const std::filesystem::path go = folder.path() / "go";
  host.on_serve = [&] {
    if (std::filesystem::exists(go) || host.processes.empty() || host.processes.front()->records.empty()) return;
    host.processes.front()->hang_up();
    std::ofstream(go).flush();
  };
  // With "children 20": the children make ranges of their own.
  REQUIRE(WEXITSTATUS(host.run({program("lanescope_program_lives").string(), "children", "20"}, {{"LIVES_UNTIL", go.string()}})) == 7);
  CHECK(std::filesystem::exists(go));
  CHECK(host.processes.size() == 1);
}

TEST_CASE("every NVTX range, mark and name of a program with threads is recorded") {
  namespace facts = nvtx_threads;
  TestHost host;
  REQUIRE(host.run({kProgram}) == 0);
  REQUIRE(host.processes.size() == 2);
  const HostedProcess& parent = *host.processes[0];

  const std::size_t steps = facts::kWorkers * facts::kSteps;
  CHECK(of_type(parent.records, RecordType::kRangePush).size() == steps * facts::kRangesPerStep + 2);
  CHECK(of_type(parent.records, RecordType::kRangePop).size() == steps * facts::kRangesPerStep + 2);
  CHECK(of_type(parent.records, RecordType::kMark).size() == steps / facts::kMarkEvery + facts::kPayloadMarks);
  CHECK(count_text(parent.records, RecordType::kRangePush, "größe π") == steps);
  CHECK(count_text(parent.records, RecordType::kRangePush, "compute") == steps);
  CHECK(parent.memory.header().status.ringless_dropped == 0);

  SECTION("attributes arrive: category, colour, payload, registered message") {
    std::map<std::uint64_t, std::size_t> steps_by_number;
    for (const ReadRecord& r : of_type(parent.records, RecordType::kRangePush)) {
      if (r.text == "load") CHECK(r.record.category == facts::kDefaultCategory);
      if (r.text != "step") continue;
      CHECK(r.record.domain == domain_id(parent, "pipeline"));
      CHECK(r.record.category == facts::kComputeCategory);
      CHECK(r.record.color == facts::kStepColor);
      CHECK(r.record.payload_type == 1);
      ++steps_by_number[r.record.payload];
    }
    CHECK(steps_by_number.size() == facts::kSteps);
    for (const auto& [number, count] : steps_by_number) CHECK(count == facts::kWorkers);
  }
  SECTION("payloads keep their type and value") {
    std::map<std::string, std::pair<int, std::uint64_t>> payloads;
    for (const ReadRecord& r : of_type(parent.records, RecordType::kMark))
      if (r.record.domain == domain_id(parent, "payloads")) payloads[r.text] = {r.record.payload_type, r.record.payload};
    const auto real = std::bit_cast<std::uint64_t>(facts::kRealPayload);
    CHECK(payloads.at("unsigned 64") == std::pair(1, ~std::uint64_t{0}));
    CHECK(payloads.at("signed 64") == std::pair(2, static_cast<std::uint64_t>(facts::kNegativePayload)));
    CHECK(payloads.at("double") == std::pair(3, real));
    CHECK(payloads.at("unsigned 32") == std::pair(1, std::uint64_t{4'000'000'000}));
    CHECK(payloads.at("signed 32") == std::pair(2, static_cast<std::uint64_t>(std::int64_t{-5})));
    CHECK(payloads.at("float") == std::pair(3, real));
  }
  SECTION("a range started on one thread and ended on another is paired by its id") {
    const auto starts = of_type(parent.records, RecordType::kRangeStart);
    const auto ends = of_type(parent.records, RecordType::kRangeEnd);
    REQUIRE(starts.size() == facts::kRequests);
    REQUIRE(ends.size() == facts::kRequests);
    std::map<std::uint64_t, const channel::Record*> by_id;
    for (const ReadRecord& r : starts) by_id[r.record.id] = &r.record;
    CHECK(by_id.size() == facts::kRequests);
    CHECK(by_id.count(0) == 0);
    for (const ReadRecord& r : ends) {
      REQUIRE(by_id.count(r.record.id) == 1);
      CHECK(by_id[r.record.id]->thread != r.record.thread);
      CHECK(by_id[r.record.id]->time <= r.record.time);
    }
  }
  SECTION("on each thread, times never run backwards and pops match pushes") {
    std::map<std::uint32_t, std::int64_t> last;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> open;
    for (const ReadRecord& r : parent.records) {
      CHECK(r.record.time >= last[r.record.thread]);
      last[r.record.thread] = r.record.time;
      auto& count = open[{r.record.thread, r.record.domain}];
      if (r.record.type == RecordType::kRangePush) ++count;
      if (r.record.type == RecordType::kRangePop) --count;
      CHECK(count >= 0);
    }
    CHECK(last.size() == facts::kWorkers + 1);
    for (const auto& [key, count] : open) CHECK(count == 0);
  }
  SECTION("names of domains, categories and threads arrive once each") {
    std::multiset<std::string> threads;
    for (const ReadRecord& r : of_type(parent.metadata, RecordType::kThreadName)) threads.insert(r.text);
    CHECK(threads == std::multiset<std::string>{"conductor", "worker 0", "worker 1", "worker 2", "worker 3"});
    const auto categories = of_type(parent.metadata, RecordType::kCategoryName);
    REQUIRE(categories.size() == 2);
    CHECK(of_type(parent.metadata, RecordType::kDomainCreate).size() == 2);
    CHECK(count_text(parent.metadata, RecordType::kCategoryName, "compute") == 1);
    CHECK(count_text(parent.metadata, RecordType::kCategoryName, "io") == 1);
  }
  SECTION("a forked child is a process of its own, with the names that it inherited") {
    const HostedProcess& child = *host.processes[1];
    CHECK(parent.hello.forked == 0);
    CHECK(child.hello.forked == 1);
    CHECK(child.pid != parent.pid);
    CHECK(of_type(child.records, RecordType::kRangePush).size() == facts::kChildSteps * facts::kRangesPerStep);
    CHECK(of_type(child.records, RecordType::kRangePop).size() == facts::kChildSteps * facts::kRangesPerStep);
    CHECK(count_text(child.records, RecordType::kMark, "only in the child") == 1);
    CHECK(domain_id(child, "pipeline") == domain_id(parent, "pipeline"));
    CHECK(domain_id(child, "child") != 0);
    CHECK(count_text(child.metadata, RecordType::kCategoryName, "compute") == 1);
    CHECK(count_text(child.metadata, RecordType::kThreadName, "conductor") == 1);
    for (const ReadRecord& r : child.records) CHECK(r.record.thread == static_cast<std::uint32_t>(child.pid));
  }
}

TEST_CASE("nothing is written while the host does not record") {
  TestHost host;
  host.configure = [](channel::Settings& settings) { settings.trace_nvtx = 1; };
  REQUIRE(host.run({kProgram, "5"}) == 0);
  REQUIRE(host.processes.size() == 2);
  CHECK(host.processes[0]->records.empty());
}

TEST_CASE("a program runs as ever where there is no session") {
  TestHost host;
  CHECK(host.run({kProgram, "5"}, {{channel::kSocketVariable, "/nowhere/at/all"}}) == 0);
  CHECK(host.processes.empty());
}

TEST_CASE("a thread whose ring is full drops records and counts each") {
  namespace facts = nvtx_threads;
  constexpr std::size_t steps = 60'000;  // more than a pool of 1 MiB holds
  TestHost host;
  host.pool_bytes = channel::kLeastPoolBytes;
  REQUIRE(host.run({kProgram, std::to_string(steps)}) == 0);
  const HostedProcess& parent = *host.processes[0];
  std::uint64_t produced = 0;
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < parent.memory.header().thread_rings_used; ++i) {
    produced += parent.memory.thread_ring(i).produced;
    dropped += parent.memory.thread_ring(i).dropped;
  }
  CHECK(produced == parent.records.size());
  const std::size_t made = facts::kWorkers * (steps * facts::kRangesPerStep * 2 + steps / facts::kMarkEvery) + 2 * facts::kRequests + facts::kPayloadMarks + 4;
  CHECK(produced + dropped == made);
}

TEST_CASE("a child forked while another thread's first NVTX call waits for the session goes on, and ends") {
  const std::string how = GENERATE("", " unannounced");
  CAPTURE(how);
  const TemporaryFolder folder;
  const std::string agent = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so").string();
  const std::string command = program("lanescope_program_fork_in_setup").string() + " " + agent + " " + (folder.path() / "socket").string() + how;
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("no first NVTX call looks for the agent where that is loaded from the begin, and a child that is forked then goes on") {
  const std::filesystem::path folder = std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib";
  const std::string tool = folder / GENERATE("liblanescope-agent.so", "liblanescope-nvtx.so");
  const std::string loaded = "LD_PRELOAD=" + (folder / "liblanescope-agent.so").string() + " NVTX_INJECTION64_PATH=" + tool + " ";
  CAPTURE(tool);
  CHECK(std::system((loaded + program("lanescope_program_fork_before_agent").string()).c_str()) == 0);
  CHECK(std::system((loaded + "grep -q " + tool + " /proc/self/maps").c_str()) == 0);  // a program without NVTX
}

TEST_CASE("a signal whose handler makes NVTX calls may arrive while the first NVTX call loads the agent, also if nobody records") {
  const std::string tool = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-nvtx.so").string();
  const std::string address = GENERATE("", "LANESCOPE_SOCKET=/nowhere");
  CHECK(std::system((address + " NVTX_INJECTION64_PATH=" + tool + " " + program("lanescope_program_signal_in_first_call").string()).c_str()) == 0);
}

TEST_CASE("a child that was forked while another thread's first NVTX call looked for the agent goes on") {
  const std::string how = GENERATE("", " bare");
  CAPTURE(how);
  const std::string agent = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so").string();
  const std::string command = "NVTX_INJECTION64_PATH=" + agent + " " + program("lanescope_program_fork_before_agent").string() + how;
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("a child that was forked while another thread's loader was at work on the agent goes on") {
  const std::string agent = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so").string();
  const std::string command = "NVTX_INJECTION64_PATH=" + agent + " " + program("lanescope_program_fork_in_relocation").string() + " " +
                              program("liblanescope_program_nvtx_life.so").string();
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("a child that no handler of fork() knows of takes no memory of the program's for its first mark, also in an armed process") {
  const std::string agent = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so").string();
  const std::string preloaded = GENERATE_COPY(std::string(), "LD_PRELOAD=" + agent + " ");
  CAPTURE(preloaded);
  const std::string command = preloaded + std::string(channel::kArmedVariable) + "=1 NVTX_INJECTION64_PATH=" + agent + " " +
                              program("lanescope_program_fork_beside_allocation").string();
  const int status = std::system(command.c_str());
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 3));
}

TEST_CASE("a fork looks for NVTX without touching the data of libraries") {
  const std::string agent = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so").string();
  const std::string command = "LD_PRELOAD=" + agent + " NVTX_INJECTION64_PATH=" + agent + " " + program("lanescope_program_fork_beside_wide_library").string() +
                              " " LANESCOPE_WIDE_LIBRARY;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  long touched_kib = -1;
  CHECK(std::fscanf(pipe, "%ld", &touched_kib) == 1);
  CHECK(pclose(pipe) == 0);
  CHECK(touched_kib >= 0);
  CHECK(touched_kib < 1'024);  // of 16 MiB
}

TEST_CASE("a fork waits for no NVTX of a library that is unloaded meanwhile") {
  const std::string agent = (std::filesystem::path(LANESCOPE_BINARY_DIR) / "lib" / "liblanescope-agent.so").string();
  const std::string preloaded = GENERATE_COPY(std::string(), "LD_PRELOAD=" + agent + " ");
  CAPTURE(preloaded);
  const std::string command = preloaded + "NVTX_INJECTION64_PATH=" + agent + " " + program("lanescope_program_fork_beside_unloading").string() + " " +
                              program("liblanescope_program_nvtx_short_life.so").string() + " 2";
  CHECK(std::system(command.c_str()) == 0);
}
