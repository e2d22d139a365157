#include "records/event_encoder.h"

#include <algorithm>
#include <deque>
#include <string>

#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// Takes chunks of marks of one thread, and says how each event is called.
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
  constexpr int kNames = 1'000'000;  // with what each costs, more than is remembered
  constexpr int kRounds = 2;
  Names seen;
  EventEncoder encoder([&](const proto::EventChunk& chunk, std::uint32_t) { seen.take(chunk); });
  for (int i = 0; i < kRounds * kNames; ++i) encoder.add(mark(encoder, i, "name " + std::to_string(i % kNames)));
  encoder.flush();
  REQUIRE(seen.names.size() == kRounds * kNames);
  CHECK(seen.strings.size() > kNames);  // some were forgotten
  bool sound = true;
  for (int i = 0; i < kRounds * kNames; ++i)
    sound = sound && seen.names[static_cast<std::size_t>(i)] == "name " + std::to_string(i % kNames);
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
