#include "frames_read_back.h"
#include "samplers/libraries.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::gpu_metrics;

namespace {

proto::Counter named(const char* name) {
  proto::Counter counter;
  counter.set_name(name);
  counter.set_gpu_uuid("0123456789abcdef");
  return counter;
}

}  // namespace

TEST_CASE("samples reach a trace as they were told, in frames of any number") {
  const auto trace = read_back([](FrameOutput& output) {
    CounterStream first(output, {named("a"), named("b")});
    CounterStream second(output, {named("c")});
    for (std::int64_t i = 0; i < 50'000; ++i) {
      const std::int64_t values[] = {i * 3 - 70'000, i % 5 == 0 ? CounterStream::kMissing : i};
      first.add(i * 100, i * 100 + 100, values);
      if (i % 777 == 0) first.flush();
    }
    const std::int64_t value[] = {9};
    second.add(1'000, 2'000, value);
    second.add(1'500, 2'500, value);  // starts within a reported time: the rest of it counts
    second.add(1'900, 2'400, value);  // already reported
    second.add(4'000, 5'000, value);  // nothing is known before it
    first.flush();
    second.flush();
  });
  REQUIRE(trace->counters().size() == 3);
  const CounterSeries& a = trace->counter_series(0);
  const CounterSeries& b = trace->counter_series(1);
  const CounterSeries& c = trace->counter_series(2);
  REQUIRE(a.size() == 50'000);
  for (std::int64_t i = 0; i < 50'000; ++i) {
    REQUIRE(a.at(i * 100 + 50)->value == i * 3 - 70'000);
    REQUIRE(b.at(i * 100 + 50).has_value() == (i % 5 != 0));
  }
  CHECK(c.summarize({0, 10'000}).covered == 2'500);
  CHECK(c.extent() == TimeRange{1'000, 5'000});
  CHECK_FALSE(c.at(3'000));
}

TEST_CASE("GPUs are chosen by word or number") {
  CHECK(parse_devices("all")->kind == DeviceChoice::Kind::kAll);
  CHECK(parse_devices("cuda-visible")->kind == DeviceChoice::Kind::kCudaVisible);
  CHECK(parse_devices("0,3,12")->listed == std::vector<int>{0, 3, 12});
  for (const char* text : {"", "gpu", "0,", ",1", "1;2", "-1", "0,x"}) {
    INFO(text);
    CHECK_FALSE(parse_devices(text));
  }
}

TEST_CASE("a GPU's id is written as the driver's tools write it") {
  const std::string bytes("\x1f\xaa\xc2\xfb\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb", 16);
  CHECK(uuid_text(bytes) == "GPU-1faac2fb-0011-2233-4455-66778899aabb");
}
