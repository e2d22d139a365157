#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "model/trace/load.h"
#include "model/trace/text/grouped_digits.h"
#include "processes/target_process.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// A target: claims a ring, writes pairs of pushes and pops and one more push, and dies without notice.
[[noreturn]] void write_and_die(const channel::SharedMemory& memory, std::uint64_t pairs) {
  const std::uint32_t thread = 77;
  const auto index = channel::claim_thread_ring(memory, thread);
  channel::RingProducer ring(memory.thread_ring(*index), memory.thread_pool());
  channel::Record record{};
  record.thread = thread;
  record.time = 1'000'000'000;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    record.type = channel::RecordType::kRangePush;
    ++record.time;
    ring.write(record, "step");
    record.type = channel::RecordType::kRangePop;
    ++record.time;
    ring.write(record, "");
  }
  record.type = channel::RecordType::kRangePush;
  ring.write(record, "interrupted");
  kill(getpid(), SIGKILL);
  _exit(0);
}

// Gives the log a file of a session whose times begin at one second.
void open_at(const std::filesystem::path& path, FrameLog& log) {
  auto file = TraceFileWriter::create(path, Overwrite::kRefuse);
  REQUIRE(file);
  proto::SessionStart start;
  start.set_epoch(1'000'000'000);
  log.open(std::move(*file), start);
}

}  // namespace

TEST_CASE("what a target had written before SIGKILL is in the file, and nothing else") {
  constexpr std::uint64_t kPairs = 1'000'000;
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "killed.trace";
  {
    FrameLog log({}, {});
    open_at(path, log);
    auto memory = TargetMemory::create(1, {});
    REQUIRE(memory);
    const pid_t pid = fork();
    if (pid == 0) write_and_die((*memory)->shared(), kPairs);
    CodeNaming naming(log);
    TargetProcess process(1, pid, describe_process(pid), {}, log, naming, [](const std::string&) {});
    process.connect(std::move(*memory), FileDescriptor());
    siginfo_t information{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(pid), &information, WEXITED | WNOWAIT) == 0);
    process.finish(std::nullopt);  // it finds out how the process ended as long as nobody has waited for it
    CHECK(process.completeness().produced == 2 * kPairs + 1);
    CHECK(process.completeness().dropped == 0);
    waitpid(pid, nullptr, 0);
  }
  const auto trace = load_trace(path);
  REQUIRE(trace);
  CHECK((*trace)->event_count() == kPairs + 1);
  CHECK_FALSE((*trace)->provenance().finished);
  REQUIRE((*trace)->processes().size() == 1);
  CHECK((*trace)->processes()[0].end_kind == ProcessEndKind::kSignaled);
  CHECK((*trace)->processes()[0].signal == SIGKILL);
}

TEST_CASE("what can't be written in time after the end is dropped and counted, and the range that it cuts is unfinished there") {
  constexpr std::uint64_t kPairs = 1'000'000;
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "late.trace";
  std::vector<std::string> told;
  std::uint64_t dropped = 0;
  {
    FrameLog log({}, {});
    open_at(path, log);
    auto memory = TargetMemory::create(1, {});
    REQUIRE(memory);
    const pid_t pid = fork();
    if (pid == 0) write_and_die((*memory)->shared(), kPairs);
    CodeNaming naming(log);
    TargetProcess process(1, pid, describe_process(pid), {}, log, naming, [&](const std::string& sentence) { told.push_back(sentence); });
    process.connect(std::move(*memory), FileDescriptor());
    REQUIRE(waitpid(pid, nullptr, 0) == pid);
    constexpr std::size_t kBytes = 1u << 20;
    CHECK(process.drain(kBytes).has_more);
    CHECK(process.waiting_bytes() > 2 * kPairs * 16 - 2 * kBytes);  // a record has at least 16 bytes
    process.drop_rest(RestLimit(RestLimit::Kind::kWhole, 0, [](const std::string&) {}));
    CHECK(process.waiting_bytes() == 0);
    process.finish(std::nullopt);
    dropped = process.completeness().dropped;
    CHECK(process.completeness().produced + dropped == 2 * kPairs + 1);
  }
  CHECK(dropped > kPairs);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told.front(), contains_text(": " + grouped_digits(dropped) + " of its last records are missing: they could not be written within 0 s"));
  const auto trace = load_trace(path);
  REQUIRE(trace);
  const std::uint64_t written = 2 * kPairs + 1 - dropped;
  CHECK((*trace)->event_count() == (written + 1) / 2);  // a push whose pop is lost is a range, too
  CHECK((*trace)->processes()[0].completeness.dropped == dropped);
}

TEST_CASE("records of an ended program are written for as long as memory is emptied by a mebibyte in ten seconds") {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::uint64_t kMebibyte = 1u << 20;
  RestProgress flows(10 * kSecond);
  for (std::int64_t second = 0; second < 2'000; ++second) CHECK_FALSE(flows.has_stalled((400 - second / 5) * kMebibyte, second * kSecond));
  RestProgress slow(10 * kSecond);
  CHECK_FALSE(slow.has_stalled(400 * kMebibyte, 0));
  CHECK_FALSE(slow.has_stalled(399 * kMebibyte, 9 * kSecond));           // exactly one
  CHECK_FALSE(slow.has_stalled(398 * kMebibyte + 1, 19 * kSecond - 1));  // a byte less than one more
  CHECK(slow.has_stalled(398 * kMebibyte + 1, 19 * kSecond));
}

TEST_CASE("what a target does behind the end of its recording is left out, and what is open there is cut, however late the end is seen") {
  constexpr std::int64_t kEnd = 2'000'000'000;
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "late.trace";
  {
    FrameLog log({}, {});
    open_at(path, log);
    auto memory = TargetMemory::create(1, {});
    REQUIRE(memory);
    const channel::SharedMemory& shared = (*memory)->shared();
    constexpr std::uint32_t kThread = 77;
    channel::RingProducer ring(shared.thread_ring(*channel::claim_thread_ring(shared, kThread)), shared.thread_pool());
    const auto write = [&](channel::RecordType type, std::int64_t time, const char* text) {
      channel::Record record{};
      record.thread = kThread;
      record.type = type;
      record.time = time;
      ring.write(record, text);
    };
    CodeNaming naming(log);
    AgentIntroduction agent;
    agent.since = 1'000'000'000;
    TargetProcess process(1, getpid(), describe_process(getpid()), agent, log, naming, [](const std::string&) {});
    process.connect(std::move(*memory), FileDescriptor());
    write(channel::RecordType::kRangePush, kEnd - 30, "whole");
    write(channel::RecordType::kRangePop, kEnd - 20, "");
    write(channel::RecordType::kRangePush, kEnd - 10, "cut");
    write(channel::RecordType::kRangePop, kEnd + 10, "");
    write(channel::RecordType::kRangePush, kEnd + 20, "behind");
    write(channel::RecordType::kRangePop, kEnd + 30, "");
    process.request_stop(kEnd);
    process.end_part();
  }
  const auto trace = load_trace(path);
  REQUIRE(trace);
  std::map<std::string, Nanoseconds> durations;
  for (LaneId lane = 0; lane < (*trace)->lanes().size(); ++lane)
    for (EventIndex i = 0; i < (*trace)->lane(lane).size(); ++i)
      durations[std::string((*trace)->name((*trace)->lane(lane).name(i)))] = (*trace)->lane(lane).duration(i);
  CHECK(durations == std::map<std::string, Nanoseconds>{{"whole", 10}, {"cut", 10}});
}

TEST_CASE("a thread that has another number for itself is known by ours, also where its process ended as soon as it had its answer") {
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (pid == 0)
    for (;;) pause();
  if (pid < 0) {
    WARN("No namespace of processes can be made here: not tested.");
    return;
  }
  constexpr std::uint32_t kOwnNumber = 1;
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "x.trace";
  {
    FrameLog log({}, {});
    open_at(path, log);
    auto memory = TargetMemory::create(1, {});
    REQUIRE(memory);
    const channel::SharedMemory& shared = (*memory)->shared();
    channel::RingProducer ring(shared.thread_ring(*channel::claim_thread_ring(shared, kOwnNumber)), shared.thread_pool());
    CodeNaming naming(log);
    TargetProcess process(1, pid, describe_process(pid), {}, log, naming, [](const std::string&) {});
    process.read_while_it_waits(shared.header().settings);
    kill(pid, SIGKILL);
    REQUIRE(waitpid(pid, nullptr, 0) == pid);
    process.connect(std::move(*memory), FileDescriptor());
    channel::Record record{};
    record.thread = kOwnNumber;
    record.type = channel::RecordType::kRangePush;
    record.time = 1'000'000'001;
    ring.write(record, "step");
    process.finish(std::nullopt);
  }
  const auto trace = load_trace(path);
  REQUIRE(trace);
  REQUIRE((*trace)->event_count() == 1);
  std::vector<std::uint32_t> numbers;
  for (const Thread& thread : (*trace)->threads()) numbers.push_back(thread.tid);
  CHECK(numbers == std::vector{static_cast<std::uint32_t>(pid)});
}

TEST_CASE("the memory that a target gets can neither shrink under the host nor grow") {
  const auto memory = TargetMemory::create(1, {});
  REQUIRE(memory);
  CHECK(ftruncate((*memory)->descriptor(), 4096) != 0);
  CHECK(ftruncate((*memory)->descriptor(), static_cast<off_t>((*memory)->shared().size()) + 4096) != 0);
  CHECK(fcntl((*memory)->descriptor(), F_ADD_SEALS, 0) != 0);
}
