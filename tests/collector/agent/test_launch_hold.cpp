// Launches that are held while PC sampling begins or ends, through callbacks as CUPTI makes them.
#include <cupti.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "agent/core/clock.h"
#include "agent/cupti/launch_hold.h"
#include "support/catch.h"

using namespace lanescope::agent;

namespace {

constexpr CUpti_CallbackId kOuter = 2, kInner = 3, kCopy = 4, kWait = 5, kQuestion = 6, kLoad = 7;

cupti::Functions functions() {
  cupti::Functions functions;
  functions.get_callback_name = [](CUpti_CallbackDomain, std::uint32_t id, const char** name) {
    *name = id == kOuter   ? "cuLaunchCooperativeKernel"
            : id == kInner ? "cuLaunchKernel"
            : id == kCopy  ? "cuMemcpyHtoDAsync_v2"
            : id == kWait  ? "cuStreamSynchronize"
            : id == kLoad  ? "cuKernelGetFunction"
                           : "cuStreamIsCapturing";
    return CUPTI_SUCCESS;
  };
  functions.enable_callback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) { return CUPTI_SUCCESS; };
  return functions;
}

void call(CUpti_CallbackId id, CUpti_ApiCallbackSite site) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  cupti::wait_while_held(id, data);
}
void enter(CUpti_CallbackId id) { call(id, CUPTI_API_ENTER); }
void leave(CUpti_CallbackId id) { call(id, CUPTI_API_EXIT); }

// The result for a thread that launches nothing itself.
bool can_hold(std::int64_t patience = 0) {
  bool are_back = false;
  std::thread([&] { are_back = cupti::hold_launches(patience); }).join();
  return are_back;
}
bool are_all_back() {
  const bool are_back = can_hold();
  cupti::let_launches_go();
  return are_back;
}

}  // namespace

TEST_CASE("a launch within another is under way with that one, and has come back with it") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  enter(kOuter);
  CHECK_FALSE(can_hold());
  enter(kInner);  // not held: the launch around it would never return
  leave(kInner);
  cupti::let_launches_go();
  CHECK_FALSE(are_all_back());
  leave(kOuter);
  CHECK(are_all_back());
  enter(kQuestion);
  CHECK(are_all_back());
  for (const CUpti_CallbackId id : {kCopy, kWait, kLoad}) {
    enter(id);
    CHECK_FALSE(are_all_back());
    leave(id);
    CHECK(are_all_back());
  }
  cupti::leave_launches(cupti, nullptr);
}

TEST_CASE("launches of which only the begin or only the end is seen count for nothing once launches are followed anew") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  leave(kOuter);  // it began before
  CHECK(are_all_back());
  enter(kOuter);
  cupti::leave_launches(cupti, nullptr);
  leave(kOuter);
  cupti::follow_launches(cupti, nullptr);
  CHECK(are_all_back());
  enter(kInner);
  CHECK_FALSE(are_all_back());
  leave(kInner);
  CHECK(are_all_back());
  cupti::leave_launches(cupti, nullptr);
}

TEST_CASE("a launch does not wait for itself, and the others wait for it") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  enter(kOuter);
  CHECK(cupti::hold_launches(0));  // for example, if a context ends, and its sampling with it
  std::atomic<bool> has_gone{false}, was_held{false};
  std::thread other([&] {
    enter(kCopy);
    was_held.store(has_gone.load());
    leave(kCopy);
  });
  usleep(20'000);
  has_gone.store(true);
  cupti::let_launches_go();
  other.join();
  CHECK(was_held.load());
  leave(kOuter);
  CHECK(are_all_back());
  cupti::leave_launches(cupti, nullptr);
}

TEST_CASE("nobody is held for a call that waits for the GPU, and the last that comes back from one closes the gate") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  enter(kWait);
  std::atomic<bool> is_tried{false}, could_hold{true};
  std::thread holder([&] {
    could_hold.store(cupti::hold_launches(200'000'000));
    is_tried.store(true);
  });
  std::thread([&] {
    while (!is_tried.load()) {
      enter(kCopy);
      leave(kCopy);
    }
  }).join();
  holder.join();
  CHECK_FALSE(could_hold.load());
  leave(kWait);

  // A program that waits nearly all the time.
  std::atomic<bool> is_held{false}, has_gone{false}, has_slipped_through{false};
  std::thread waits([&] {
    while (!has_gone.load()) {
      const bool was_held = is_held.load();
      enter(kWait);
      if (was_held && !has_gone.load()) has_slipped_through.store(true);
      leave(kWait);
    }
  });
  while (!cupti::hold_launches(1'000'000'000)) usleep(1'000);
  is_held.store(true);
  usleep(20'000);
  has_gone.store(true);
  cupti::let_launches_go();
  waits.join();
  CHECK_FALSE(has_slipped_through.load());
  CHECK(are_all_back());
  cupti::leave_launches(cupti, nullptr);
}

TEST_CASE("a try in vain leaves the program alone for a moment, which grows with each further one until one succeeds") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  REQUIRE(are_all_back());
  const auto is_held_beside_a_launch = [](std::int64_t patience) {
    std::atomic<bool> is_within{false}, is_over{false};
    std::thread launches([&] {
      enter(kCopy);
      is_within.store(true);
      while (!is_over.load()) usleep(1'000);
      leave(kCopy);
    });
    while (!is_within.load()) usleep(1'000);
    const bool is_held = cupti::hold_launches(patience);
    is_over.store(true);
    launches.join();
    return is_held;
  };
  const auto holds = [](std::int64_t patience) {
    const bool is_held = cupti::hold_launches(patience);
    cupti::let_launches_go();
    return is_held;
  };
  constexpr std::int64_t kPatience = 50'000'000;
  CHECK_FALSE(is_held_beside_a_launch(kPatience));
  CHECK(holds(2 * kPatience));  // it waits until the calm ends

  CHECK_FALSE(is_held_beside_a_launch(kPatience));
  const std::int64_t begin = monotonic_now();
  CHECK_FALSE(is_held_beside_a_launch(2 * kPatience));
  CHECK(holds(8 * kPatience));
  CHECK(monotonic_now() - begin >= 8 * kPatience);
  CHECK_FALSE(is_held_beside_a_launch(kPatience));
  CHECK(holds(2 * kPatience));
  CHECK(are_all_back());
  cupti::leave_launches(cupti, nullptr);
}

TEST_CASE("a signal's handler that makes a launch while one is held waits as well, and is counted") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  REQUIRE(can_hold());
  static std::atomic<int> within{0};
  std::signal(SIGUSR1, [](int) {
    within.store(1);
    enter(kInner);
    within.store(2);
    leave(kInner);
  });
  std::atomic<bool> is_about_to{false};
  std::thread launches([&] {
    is_about_to.store(true);
    enter(kCopy);
    leave(kCopy);
  });
  while (!is_about_to.load()) usleep(1'000);
  usleep(20'000);
  pthread_kill(launches.native_handle(), SIGUSR1);
  while (within.load() == 0) usleep(1'000);
  usleep(20'000);
  CHECK(within.load() == 1);
  cupti::let_launches_go();
  launches.join();
  CHECK(within.load() == 2);
  CHECK(are_all_back());
  std::signal(SIGUSR1, SIG_DFL);
  cupti::leave_launches(cupti, nullptr);
}

TEST_CASE("a forked child holds nothing, and a launch that was held for five seconds is the last in its process") {
  const cupti::Functions cupti = functions();
  cupti::follow_launches(cupti, nullptr);
  REQUIRE(can_hold());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    cupti::forget_launches();
    enter(kCopy);
    leave(kCopy);
    cupti::follow_launches(cupti, nullptr);
    if (!cupti::hold_launches(0)) _exit(1);
    enter(kCopy);
    leave(kCopy);
    _exit(cupti::hold_launches(0) ? 2 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  cupti::let_launches_go();
  CHECK(are_all_back());
  cupti::leave_launches(cupti, nullptr);
}
