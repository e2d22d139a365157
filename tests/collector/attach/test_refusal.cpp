#include "collector/attach/candidate.h"
#include "support/catch.h"

using namespace lanescope::attach;

namespace {

// A process that can be attached to.
Candidate good_process() {
  Candidate candidate;
  candidate.pid = 4711;
  candidate.parent = 1;
  candidate.name = "python";
  candidate.command_line = "python train.py";
  candidate.user = 1000;
  candidate.state = RunState::kSleeping;
  candidate.access = Access::kReadable;
  candidate.machine = Machine::kX86_64;
  candidate.linkage = Linkage::kDynamic;
  candidate.c_library = CLibrary::kGlibc;
  return candidate;
}

TracerRights same_user(int scope = 0) {
  TracerRights rights;
  rights.user = 1000;
  rights.ptrace_scope = scope;
  return rights;
}

TracerRights root(int scope = 0) {
  TracerRights rights;
  rights.may_trace_any = true;
  rights.ptrace_scope = scope;
  return rights;
}

}  // namespace

TEST_CASE("nothing speaks against an ordinary process of the same user") {
  CHECK_FALSE(refusal(good_process(), same_user()));
  CHECK_FALSE(refusal(good_process(), root()));
  CHECK(warnings(good_process()).empty());
}

TEST_CASE("what a recorder starts beside a program is not taken for the program, whose arguments it may have") {
  for (const char* name : {kRelayName, kPipesName, kWitnessName, kGuardName}) {
    Candidate helper = good_process();
    helper.name = name;
    CHECK(refusal(helper, root()).value().find("belongs to a recording") != std::string::npos);
    CHECK(observation_refusal(helper, root()));
  }
}

TEST_CASE("ptrace_scope 1 is answered with the command that changes it, and the way without it") {
  CHECK(refusal(good_process(), same_user(1)).value() ==
        "Can't attach to 4711 (python): kernel.yama.ptrace_scope is 1. Run: sudo sysctl kernel.yama.ptrace_scope=0, or start it with: "
        "lanescope profile --arm -- python train.py");
}

TEST_CASE("what keeps the agent out does not keep its threads from being observed from outside") {
  Candidate candidate = good_process();
  candidate.linkage = Linkage::kStatic;
  candidate.c_library = CLibrary::kNone;
  candidate.tracer = 12;
  CHECK(refusal(candidate, same_user(3)));
  CHECK_FALSE(observation_refusal(candidate, same_user(3)));
  candidate.access = Access::kDenied;
  CHECK_THAT(observation_refusal(candidate, same_user()).value(), contains_text("memory map"));
  candidate.access = Access::kReadable;
  candidate.user = 33;
  CHECK(observation_refusal(candidate, same_user()).value() ==
        "Can't observe the threads of 4711 (python): it belongs to another user (uid 33). Run lanescope as that user, or with sudo.");
  CHECK_FALSE(observation_refusal(candidate, root()));
  candidate.state = RunState::kZombie;
  CHECK(observation_refusal(candidate, root()));
}

TEST_CASE("ptrace_scope decides by what we may do") {
  TracerRights parent = same_user(1);
  parent.kin = TracerRights::Kin::kDescendant;
  CHECK_FALSE(refusal(good_process(), parent));
  CHECK_FALSE(refusal(good_process(), root(1)));
  CHECK_FALSE(refusal(good_process(), root(2)));
  CHECK_THAT(refusal(good_process(), same_user(2)).value(), contains_text("sudo") && contains_text("lanescope profile --arm"));
  CHECK_THAT(refusal(good_process(), root(3)).value(), contains_text("ptrace_scope is 3") && contains_text("lanescope profile --arm"));
}

TEST_CASE("each reason is named") {
  Candidate candidate = good_process();
  std::string expected;
  SECTION("another user") {
    candidate.user = 33;
    expected = "uid 33";
  }
  SECTION("static") {
    candidate.linkage = Linkage::kStatic;
    candidate.c_library = CLibrary::kNone;
    expected = "linked statically";
  }
  SECTION("musl") {
    candidate.c_library = CLibrary::kMusl;
    expected = "musl";
  }
  SECTION("no C library") {
    candidate.c_library = CLibrary::kNone;
    expected = "glibc is not loaded";
  }
  SECTION("traced") {
    candidate.tracer = 99;
    candidate.state = RunState::kTraced;
    expected = "process 99 traces it";
  }
  SECTION("traced by another recorder") {
    candidate.tracer = 99;
    candidate.is_tracer_recorder = true;
    candidate.state = RunState::kTraced;
    expected = "another recording of it is under way";
  }
  SECTION("stopped") {
    candidate.state = RunState::kStopped;
    expected = "kill -CONT 4711";
  }
  SECTION("zombie") {
    candidate.state = RunState::kZombie;
    candidate.access = Access::kDenied;
    expected = "has ended";
  }
  SECTION("headless") {
    candidate.state = RunState::kHeadless;
    candidate.access = Access::kDenied;
    expected = "its first thread has ended";
  }
  SECTION("uninterruptible") {
    candidate.state = RunState::kUninterruptible;
    expected = "can't be interrupted";
  }
  SECTION("waits for its vfork child") {
    candidate.state = RunState::kUninterruptible;
    candidate.waits_for_vfork = true;
    expected = "it waits for a child that it started by vfork()";
  }
  SECTION("32 bits") {
    candidate.machine = Machine::k32Bit;
    expected = "32-bit";
  }
  SECTION("another machine") {
    candidate.machine = Machine::kAarch64;
    expected = "x86-64";
  }
  SECTION("strict seccomp") {
    candidate.seccomp = SeccompMode::kStrict;
    expected = "strict seccomp";
  }
  SECTION("shadow stack") {
    candidate.shadow_stack = true;
    expected = "shadow stack";
  }
  SECTION("unreadable memory map") {
    candidate.access = Access::kDenied;
    expected = "memory map can't be read";
  }
  SECTION("kernel thread") {
    candidate.kernel_thread = true;
    expected = "thread of the kernel";
  }
  const std::optional<std::string> reason = refusal(candidate, same_user());
  REQUIRE(reason);
  CHECK_THAT(*reason, contains_text("Can't attach to 4711 (python): ") && contains_text(expected));
}

TEST_CASE("a seccomp filter is a warning") {
  Candidate candidate = good_process();
  candidate.seccomp = SeccompMode::kFilter;
  CHECK_FALSE(refusal(candidate, same_user()));
  REQUIRE(warnings(candidate).size() == 1);
  CHECK_THAT(warnings(candidate).front(), contains_text("seccomp filter"));
}
