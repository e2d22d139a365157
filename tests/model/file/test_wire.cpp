#include "model/file/wire.h"

#include <random>

#include "lanescope/trace.pb.h"
#include "support/catch.h"

using namespace lanescope;

TEST_CASE("the fields of a message are walked as protobuf writes them") {
  proto::EventChunk chunk;
  chunk.set_base_time(-3);
  chunk.add_strings("one");
  chunk.add_strings(std::string(300, 'x'));
  chunk.add_code_locations()->set_address(77);
  const std::string payload = chunk.SerializeAsString();
  std::vector<std::uint32_t> numbers;
  std::vector<std::string_view> texts;
  std::size_t bytes = 0;
  WireReader reader(payload);
  while (const auto field = reader.next()) {
    numbers.push_back(field->number);
    bytes += field->whole.size();
    if (field->number == proto::EventChunk::kStringsFieldNumber) texts.push_back(field->bytes);
  }
  CHECK(reader.sound());
  CHECK(numbers == std::vector<std::uint32_t>{1, 3, 3, 13});
  CHECK(texts == std::vector<std::string_view>{"one", std::string_view(chunk.strings(1))});
  CHECK(bytes == payload.size());
}

TEST_CASE("numbers that are passed over are left out of the walk, and nothing else is") {
  // Any bytes are accepted: they are fields, numbers of any length, or nothing.
  std::mt19937 random(1);
  std::uint64_t passed = 0, unsound = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (std::uint64_t i = random() % 8; i > 0; --i) {
      append_varint((random() % 40) << 3 | (random() % 8 == 0 ? random() % 8 : 0), bytes);
      append_varint(random() % 3 == 0 ? (std::uint64_t{random()} << 32 | random()) : random() % 200, bytes);
    }
    if (random() % 4 == 0) bytes.append(random() % 12, '\x80');
    if (!bytes.empty() && random() % 2 == 0) bytes.pop_back();
    const auto may_pass = [](std::uint32_t number) { return number % 3 != 0; };
    std::vector<std::string_view> kept, walked;
    WireReader one_by_one(bytes);
    while (const auto field = one_by_one.next()) {
      const bool is_passed = field->type == WireField::kVarint && static_cast<std::uint8_t>(field->whole.front()) < 0x80 && may_pass(field->number);
      passed += is_passed;
      if (!is_passed) kept.push_back(field->whole);
    }
    WireReader reader(bytes);
    for (reader.pass_numbers(may_pass); !reader.at_end(); reader.pass_numbers(may_pass)) {
      const auto field = reader.next();
      if (!field) break;
      walked.push_back(field->whole);
    }
    REQUIRE(walked == kept);
    REQUIRE(reader.sound() == one_by_one.sound());
    unsound += !reader.sound();
  }
  CHECK(passed > 10'000);
  CHECK(unsound > 1'000);
}

TEST_CASE("bytes that are no message end the walk, which says so") {
  const std::string cut = GENERATE(std::string("\x1a\x05"
                                               "ab"),
                                   std::string("\x80"), std::string("\x0b"), std::string("\x00\x01", 2));
  WireReader reader(cut);
  while (reader.next()) continue;
  CHECK_FALSE(reader.sound());
}

TEST_CASE("numbers of a packed column are counted without being read") {
  proto::Kernels kernels;
  for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}}) kernels.add_duration(value);
  const std::string payload = kernels.SerializeAsString();
  WireReader reader(payload);
  const auto field = reader.next();
  REQUIRE(field);
  CHECK(varints_in(field->bytes) == 5);
  std::string many;
  for (std::size_t count = 0; count < 9'000; ++count) {
    REQUIRE(varints_in(many) == count);
    append_varint(std::uint64_t{1} << (count * count % 23), many);
  }
}
