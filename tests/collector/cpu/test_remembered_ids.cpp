#include "collector/cpu/remembered_ids.h"

#include "observation/process_encoder.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::cpu;

TEST_CASE("ids are remembered as long as there is room, those that were asked for lately the longest") {
  constexpr std::size_t kBudget = 64 << 10;
  RememberedTexts ids(kBudget);
  ids.add("often", 1);
  std::uint32_t next = 1;
  for (int i = 0; i < 100'000; ++i) {
    ids.add("text " + std::to_string(i), ++next);
    REQUIRE(ids.bytes() <= kBudget + 200);
    if (i % 50 == 0) REQUIRE(ids.find(std::string_view("often")) == 1u);
  }
  CHECK(ids.find(std::string_view("text 99999")) == next);
  CHECK_FALSE(ids.find(std::string_view("text 5")));
}

TEST_CASE("a process that names things without end gets ids that go on, and each name is told") {
  std::vector<std::string> told;
  std::uint32_t events = 0;
  ProcessEncoder encoder(1, [&](proto::EventChunk& chunk, std::uint32_t count) {
    if (chunk.strings_size() > 0) REQUIRE(chunk.first_string() == told.size() + 1);
    for (const std::string& text : chunk.strings()) told.push_back(text);
    events += count;
  });
  constexpr std::uint32_t kNames = 400'000;  // more than are remembered
  for (std::uint32_t i = 0; i < kNames; ++i) {
    const std::uint32_t id = encoder.string("a name of some length " + std::to_string(i));
    REQUIRE(id == i + 1);
    if (i % 10'000 == 0) {
      encoder.add({7, i, i + 1, proto::THREAD_RUNNING, 1});
      encoder.flush();
    }
  }
  encoder.add({7, kNames, kNames + 1, proto::THREAD_RUNNING, 1});
  encoder.flush();
  REQUIRE(told.size() == kNames);
  for (std::uint32_t i = 0; i < kNames; i += 997) CHECK(told[i] == "a name of some length " + std::to_string(i));
  const std::uint32_t again = encoder.string("a name of some length 3");
  CHECK(again == kNames + 1);  // it was forgotten, and is reported again
}
