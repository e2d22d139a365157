#include <fcntl.h>
#include <sys/wait.h>
#include <csignal>

#include "model/trace/load.h"
#include "processes/target_process.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// A target: claims a ring, writes pairs of pushes and pops and one push more, and dies without a word.
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

}  // namespace

TEST_CASE("what a target had written before SIGKILL is in the file, and nothing else") {
  constexpr std::uint64_t kPairs = 1'000'000;
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "killed.trace";
  {
    auto file = TraceFileWriter::create(path, Overwrite::kRefuse);
    REQUIRE(file);
    FrameLog log({}, {});
    proto::SessionStart start;
    start.set_epoch(1'000'000'000);
    log.open(std::move(*file), start);
    auto memory = TargetMemory::create(1, {});
    REQUIRE(memory);
    const pid_t pid = fork();
    if (pid == 0) write_and_die((*memory)->shared(), kPairs);
    CodeNaming naming(log);
    TargetProcess process(1, pid, describe_process(pid), {}, log, naming, [](const std::string&) {});
    process.connect(std::move(*memory), FileDescriptor());
    siginfo_t information{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(pid), &information, WEXITED | WNOWAIT) == 0);
    process.finish(std::nullopt);  // it finds out how the process ended while nobody has waited for it
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

TEST_CASE("the memory that a target gets can neither shrink under the host nor grow") {
  const auto memory = TargetMemory::create(1, {});
  REQUIRE(memory);
  CHECK(ftruncate((*memory)->descriptor(), 4096) != 0);
  CHECK(ftruncate((*memory)->descriptor(), static_cast<off_t>((*memory)->shared().size()) + 4096) != 0);
  CHECK(fcntl((*memory)->descriptor(), F_ADD_SEALS, 0) != 0);
}
