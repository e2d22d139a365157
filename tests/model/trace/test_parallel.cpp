#include "model/trace/workers/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include <set>
#include "model/trace/workers/precedence.h"

#include "model/trace/workers/crew.h"
#include "support/catch.h"

using namespace lanescope;

TEST_CASE("each part is done once") {
  std::vector<std::atomic<int>> done(1'000);
  parallel_for(done.size(), [&](std::size_t i) { ++done[i]; });
  CHECK(std::all_of(done.begin(), done.end(), [](const auto& times) { return times == 1; }));
}

TEST_CASE("what a part throws, on whatever thread, is thrown to the caller when no other part runs any more") {
  for (std::size_t bad = 0; bad < 40; ++bad) {
    std::atomic<int> running{0};
    CHECK_THROWS_AS(parallel_for(40,
                                 [&](std::size_t i) {
                                   ++running;
                                   const bool fails = i == bad;
                                   --running;
                                   if (fails) throw std::bad_alloc();
                                 }),
                    std::bad_alloc);
    CHECK(running == 0);
  }
}

TEST_CASE("work in the background waits until nothing is urgent any more") {
  using std::chrono::steady_clock;
  const auto never = steady_clock::now() + std::chrono::hours(1);
  give_way(never);
  std::optional<Urgent> one(std::in_place), other(std::in_place);
  give_way(steady_clock::now());  // it was patient for long enough
  std::string order;
  std::jthread behind([&] {
    give_way(never);
    order += "background";
  });
  order += "one ";
  one.reset();
  order += "other ";
  other.reset();
  behind.join();
  CHECK(order == "one other background");
}

TEST_CASE("a crew does each part of each turn once, by the same threads") {
  Crew crew(3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (std::size_t turn = 0; turn < 2'000; ++turn) {
    const std::size_t parts = turn % 5;
    std::vector<std::atomic<int>> done(parts);
    crew.run(parts, [&](std::size_t i) {
      ++done[i];
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
    REQUIRE(std::all_of(done.begin(), done.end(), [](const auto& times) { return times == 1; }));
  }
  CHECK(threads.size() <= std::min<std::size_t>(3, usable_cores()));
}

TEST_CASE("what a part throws is thrown to who leads the crew, which then does the next turn") {
  Crew crew(8);
  for (std::size_t bad = 0; bad < 40; ++bad) {
    std::atomic<int> running{0}, ended{0};
    const auto fail = [&](std::size_t i) {
      ++running;
      const bool fails = i == bad;
      --running;
      if (fails) throw std::bad_alloc();
    };
    CHECK_THROWS_AS(crew.run(40, fail), std::bad_alloc);
    CHECK(running == 0);
    crew.run(7, [&](std::size_t) { ++ended; });
    CHECK(ended == 7);
  }
}
