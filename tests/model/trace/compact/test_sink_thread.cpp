#include <future>
#include <new>
#include <set>
#include <thread>
#include <utility>

#include "compact/sink_thread.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

std::vector<Event> event_at(Nanoseconds start) { return {{start, 1, 0, 0, 0}}; }

class Kept final : public EventSink {
 public:
  void take(TrackId track, std::vector<Event> events, std::vector<std::uint32_t> depths) override {
    threads.insert(std::this_thread::get_id());
    for (const Event& event : events) starts.emplace_back(track, event.start);
    all_depths.insert(all_depths.end(), depths.begin(), depths.end());
  }
  std::set<std::thread::id> threads;
  std::vector<std::pair<TrackId, Nanoseconds>> starts;
  std::vector<std::uint32_t> all_depths;
};

}  // namespace

TEST_CASE("a sink's thread hands on all that it is given, in that order, while its giver goes on") {
  Kept sink;
  SinkThread thread(sink);
  std::vector<std::pair<TrackId, Nanoseconds>> expected;
  std::vector<std::uint32_t> depths;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    thread.take(i % 7, event_at(i), i % 3 == 0 ? std::vector<std::uint32_t>{i} : std::vector<std::uint32_t>());
    expected.emplace_back(i % 7, i);
    if (i % 3 == 0) depths.push_back(i);
    if (i % 40'000 != 1) continue;
    thread.wait();
    CHECK(sink.starts == expected);
  }
  thread.wait();
  CHECK(sink.starts == expected);
  CHECK(sink.all_depths == depths);
  CHECK(sink.threads.size() == 1);
  CHECK_FALSE(sink.threads.contains(std::this_thread::get_id()));
}

TEST_CASE("what a sink throws on its thread reaches who gives and who waits") {
  class Short final : public EventSink {
    void take(TrackId, std::vector<Event>, std::vector<std::uint32_t>) override { throw std::bad_alloc(); }
  } sink;
  SinkThread waited_for(sink);
  waited_for.take(0, event_at(0), {});
  CHECK_THROWS_AS(waited_for.wait(), std::bad_alloc);
  SinkThread given(sink);
  CHECK_THROWS_AS(
      [&] {
        for (;;) given.take(0, event_at(0), {});
      }(),
      std::bad_alloc);
}

TEST_CASE("a sink's thread ends with its giver, though others wait to be handed on") {
  class Slow final : public EventSink {
   public:
    void take(TrackId, std::vector<Event>, std::vector<std::uint32_t>) override {
      begun.set_value();
      may_end.get_future().wait();
    }
    std::promise<void> begun, may_end;
  } sink;
  {
    SinkThread thread(sink);
    thread.take(0, std::vector<Event>(100'000), {});
    sink.begun.get_future().wait();
    thread.take(0, event_at(1), {});  // handing it on would throw, because a promise is set only once
    sink.may_end.set_value();
  }
}
