#include "model/file/wire.h"

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
}
