#include "records/event_encoder.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// Takes chunks of marks of one thread, and returns the name of each event.
struct Names {
  std::deque<std::string> strings;  // by id, less 1
  std::deque<std::string> names;
  std::size_t largest_chunk = 0;

  void take(const proto::EventChunk& chunk) {
    if (chunk.strings_size() > 0) REQUIRE(chunk.first_string() == strings.size() + 1);
    for (const std::string& text : chunk.strings()) strings.push_back(text);
    for (const std::uint32_t id : chunk.nvtx_marks().name()) names.push_back(strings.at(id - 1));
    largest_chunk = std::max(largest_chunk, chunk.ByteSizeLong());
  }
};

NvtxMark mark(EventEncoder& encoder, std::int64_t time, const std::string& name) {
  NvtxMark mark;
  mark.thread = 1;
  mark.time = time;
  mark.attributes.name = encoder.intern(name);
  return mark;
}

}  // namespace

TEST_CASE("events have their names also where there are more names than are remembered, and they come again") {
  constexpr int kNames = 1'000'000;  // at what each costs, more than are remembered
  constexpr int kRounds = 2;
  Names seen;
  EventEncoder encoder([&](const proto::EventChunk& chunk, std::uint32_t) { seen.take(chunk); });
  for (int i = 0; i < kRounds * kNames; ++i) encoder.add(mark(encoder, i, "name " + std::to_string(i % kNames)));
  encoder.flush();
  REQUIRE(seen.names.size() == kRounds * kNames);
  CHECK(seen.strings.size() > kNames);  // some were forgotten
  bool sound = true;
  for (int i = 0; i < kRounds * kNames; ++i) sound = sound && seen.names[static_cast<std::size_t>(i)] == "name " + std::to_string(i % kNames);
  CHECK(sound);
}

TEST_CASE("a chunk holds no more text than goes into a frame, however long the names are") {
  Names seen;
  EventEncoder encoder([&](const proto::EventChunk& chunk, std::uint32_t) { seen.take(chunk); });
  for (int i = 0; i < 20'000; ++i) encoder.add(mark(encoder, i, std::to_string(i) + std::string(1'000, 'x')));
  encoder.flush();
  CHECK(seen.names.size() == 20'000);
  CHECK(seen.largest_chunk < 2 * kMaximumChunkTextBytes);
}

TEST_CASE("the events of a thread that has ended are in a chunk at once, and those of the others are not") {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chunks;  // thread, events
  EventEncoder encoder([&](const proto::EventChunk& chunk, std::uint32_t events) {
    chunks.emplace_back(chunk.has_nvtx_ranges() ? chunk.nvtx_ranges().thread() : chunk.nvtx_marks().thread(), events);
  });
  const auto add_range = [&](std::uint32_t thread, std::uint32_t domain, proto::NvtxStyle style) {
    NvtxRange range;
    range.thread = thread;
    range.domain = domain;
    range.style = style;
    encoder.add(range);
  };
  for (const std::uint32_t thread : {1, 2, 3}) {
    add_range(thread, 0, proto::NVTX_PUSH_POP);
    add_range(thread, 7, proto::NVTX_PUSH_POP);
    add_range(thread, 7, proto::NVTX_PUSH_POP);
    add_range(thread, 0, proto::NVTX_START_END);
    NvtxMark mark;
    mark.thread = thread;
    encoder.add(mark);
  }
  encoder.flush_thread(4);
  CHECK(chunks.empty());
  using Chunks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  encoder.flush_thread(3);
  CHECK(std::exchange(chunks, {}) == Chunks{{3, 1}, {3, 2}, {3, 1}, {3, 1}});
  add_range(3, 0, proto::NVTX_PUSH_POP);  // its number is another thread's by now
  encoder.flush_thread(2);
  CHECK(std::exchange(chunks, {}) == Chunks{{2, 1}, {2, 2}, {2, 1}, {2, 1}});
  encoder.flush();
  CHECK(chunks == Chunks{{1, 1}, {1, 2}, {3, 1}, {1, 1}, {1, 1}});
}

TEST_CASE("what waits to be written, and what is remembered, is as much as there is room for, also where that becomes less") {
  constexpr std::uint64_t kGroup = std::uint64_t{48} << 20;
  EncoderRoom room = encoder_room(kGroup, 1);
  CHECK(room.text_bytes == kGroup / 8);
  CHECK(room.chunk_bytes == kGroup / 8);
  CHECK(encoder_room(kGroup, 3).chunk_bytes == kGroup / 24);
  CHECK(encoder_room(0, 1000).chunk_bytes == encoder_room(1, 1).chunk_bytes);  // never less than a minimum
  CHECK(encoder_room(std::uint64_t{1} << 50, 1).text_bytes == kRememberedTextBytes);

  constexpr std::uint32_t kThreads = 40;
  constexpr int kRounds = 20'000;
  Names seen;
  std::uint64_t added = 0, emitted = 0, most_waiting = 0;
  EventEncoder encoder(
      [&](const proto::EventChunk& chunk, std::uint32_t events) {
        seen.take(chunk);
        emitted += events;
      },
      room);
  const auto add = [&](int first) {
    most_waiting = 0;
    for (int i = first; i < first + kRounds; ++i)
      for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
        NvtxMark each = mark(encoder, i, "name " + std::to_string(i));
        each.thread = thread;
        encoder.add(each);
        most_waiting = std::max(most_waiting, ++added - emitted);
      }
  };
  constexpr std::uint64_t kEventBytes = 16;  // at least: a time, a name, a place in a column
  add(0);
  CHECK(most_waiting * kEventBytes <= room.chunk_bytes);
  room = encoder_room(0, 1);
  add(kRounds);
  CHECK(most_waiting * kEventBytes <= room.chunk_bytes);
  encoder.flush();
  const std::size_t told = seen.strings.size();
  CHECK(told == 2 * kRounds);
  add(kRounds);  // names that were forgotten meanwhile are sent again
  CHECK(seen.strings.size() > told + kRounds / 2);
  encoder.flush();
  CHECK(emitted == added);
  CHECK(seen.names.size() == added);
}
