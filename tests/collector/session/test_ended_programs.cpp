// Programs that followed each other in one process: which one a late report is about.
#include "processes/ended_programs.h"

#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// The program of instance n starts at 100 n, reports 10 later and ends 90 after its start.
EndedProgram program(pid_t pid, std::uint32_t n, const std::string& executable = "/bin/program") {
  const std::int64_t begin = 100 * n;
  return {{pid, 7, begin}, n, executable, begin, begin + 10, begin + 90, proto::PROCESS_END_REPLACED};
}

}  // namespace

TEST_CASE("a program that reports is an earlier, the same or a later one by its begin, and of another process by that one's start") {
  const Generation known{4711, 7, 200};
  CHECK(kinship(known, {4711, 7, 199}) == Kinship::kEarlier);
  CHECK(kinship(known, {4711, 7, 200}) == Kinship::kSame);
  CHECK(kinship(known, {4711, 7, 201}) == Kinship::kLater);
  CHECK(is_other_process(known, {4711, 8, 300}));
  CHECK_FALSE(is_other_process(known, {4711, 7, 300}));
  CHECK_FALSE(is_other_process(known, {4711, 0, 300}));  // it had ended when its generation was queried
}

TEST_CASE("what was seen to begin is the first program that was heard of at that time or later, each one once") {
  EndedPrograms programs;
  for (std::uint32_t n = 1; n <= 3; ++n) programs.add(program(4711, n));
  programs.add(program(4712, 4));
  for (const std::uint32_t n : {2u, 1u, 3u}) {  // records of several processors may come in any order
    EndedProgram* const begun = programs.begun(4711, 100 * n - 5, "/bin/program");
    REQUIRE(begun != nullptr);
    CHECK(begun->instance == n);
    begun->is_seen = true;
  }
  CHECK(programs.begun(4711, 295, "/bin/program") == nullptr);
  CHECK(programs.begun(4712, 395, "/bin/other") == nullptr);
  CHECK(programs.begun(4712, 411, "/bin/program") == nullptr);  // after it had reported
  CHECK(programs.begun(4713, 0, "/bin/program") == nullptr);
}

TEST_CASE("a program that no agent told of stands between those that were heard of") {
  EndedPrograms programs;
  programs.add(program(4711, 1));
  programs.add(program(4711, 3));
  CHECK(programs.before(4711, 250)->instance == 1);
  CHECK(programs.reported_since(4711, 250)->instance == 3);
  CHECK(programs.before(4711, 99) == nullptr);
  CHECK(programs.reported_since(4711, 311) == nullptr);
  CHECK(programs.last(4711)->instance == 3);
}

TEST_CASE("a program reports as one of a process that has ended where it began before that end") {
  const EndedProgram ended = program(4711, 2);  // it ends at 290
  CHECK(ended.is_of_same_process({4711, 7, 290}));
  CHECK(ended.is_of_same_process({4711, 0, 290}));
  CHECK_FALSE(ended.is_of_same_process({4711, 0, 291}));
  CHECK_FALSE(ended.is_of_same_process({4711, 8, 290}));
}

TEST_CASE("only the last thousands of ended programs are known, of however many processes, and of whichever were forgotten") {
  constexpr std::uint32_t kPrograms = 10'000, kKept = 4096;
  EndedPrograms programs;
  for (std::uint32_t n = 1; n <= kPrograms; ++n) {
    const auto pid = static_cast<pid_t>(n % 5'000 + 1);
    if (n % 3 == 0) programs.forget(pid);
    programs.add(program(pid, n));
  }
  for (std::uint32_t n = 1; n <= kPrograms; ++n) {
    const EndedProgram* const last = programs.last(static_cast<pid_t>(n % 5'000 + 1));
    if (n > kPrograms - kKept) CHECK(last->instance == n);
    if (last != nullptr) CHECK(last->instance > kPrograms - kKept);
  }
}

TEST_CASE("executables are told apart by paths alone, as the kernel and the program say them") {
  CHECK(same_file("/usr/bin/env", "/usr/bin/env (deleted)"));
  CHECK(same_file("/root/of/it/bin/env", "/bin/env"));
  CHECK_FALSE(same_file("/usr/bin/env", "/usr/bin/sh"));
  CHECK(same_file("", "/usr/bin/sh"));
  CHECK(same_file("python", "/usr/bin/python3.11"));  // by the name it was called with
}
