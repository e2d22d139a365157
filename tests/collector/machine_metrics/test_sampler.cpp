#include "collector/machine_metrics/sampler.h"

#include <cmath>
#include <cstring>
#include <thread>

#include "machine_tree.h"
#include "model/file/frame_codec.h"
#include "model/trace/ingest/frame_ingest.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::test;
using machine_metrics::Sampler;

namespace {

using namespace std::chrono_literals;

// What a reader makes of the data that samplers deliver.
class Recorded {
 public:
  Sampler::Take take() {
    return [this](proto::FrameType type, const google::protobuf::MessageLite& message) {
      FrameHeader header;
      header.type = static_cast<std::uint16_t>(type);
      header.source = static_cast<std::uint8_t>(machine_metrics::kSource);
      std::vector<std::byte> bytes;
      append_frame(header, message.SerializeAsString(), bytes);
      std::memcpy(&header, bytes.data(), sizeof(header));
      ingest_.add({header, std::span(bytes).subspan(sizeof(header))});
    };
  }
  std::shared_ptr<const Trace> trace() { return builder_.snapshot(); }

 private:
  TraceBuilder builder_;
  FrameIngest ingest_{builder_};
};

const CounterSeries& series(const Trace& trace, std::string_view name) {
  for (CounterId id = 0; id < trace.counters().size(); ++id)
    if (trace.counters()[id].name == name) return trace.counter_series(id);
  FAIL("there is no counter " << name);
  return trace.counter_series(0);
}

// Value times time, in the counter's unit times seconds: bytes of a rate.
double sum_of(const Trace& trace, std::string_view name) {
  for (CounterId id = 0; id < trace.counters().size(); ++id)
    if (trace.counters()[id].name == name) {
      const CounterSeries& values = trace.counter_series(id);
      return values.empty() ? 0 : values.summarize(values.extent()).integral * trace.counters()[id].resolution / 1e9;
    }
  FAIL("there is no counter " << name);
  return 0;
}

void wait_for_answer(Sampler& sampler) {
  sampler.ask_for_rest();
  while (!sampler.has_answered()) std::this_thread::sleep_for(1ms);
}

}  // namespace

TEST_CASE("rates of a device add up to what it counted, however long the samples are") {
  const MachineTree machine;
  machine.write("proc/net/dev", kNetworkHead + network_line("eth0", 1'000'000, 5));
  machine.write("proc/diskstats", disk_line("sda", 10, 20, 0, 0));
  machine.write("sys/block/sda/size", "1");
  Recorded recorded;
  {
    Sampler sampler({.networks = true, .storage = true}, machine.root(), 2ms);
    CHECK(sampler.lacks().empty());
    for (int i = 1; i <= 20; ++i) {
      machine.write("proc/net/dev", kNetworkHead + network_line("eth0", 1'000'000 + static_cast<std::uint64_t>(i) * 1'000'000, 5));
      machine.write("proc/diskstats", disk_line("sda", 10 + static_cast<std::uint64_t>(i) * 8, 20, 0, static_cast<std::uint64_t>(i)));
      if (i % 5 == 0) wait_for_answer(sampler);
      sampler.drain(recorded.take());
    }
    sampler.end(recorded.take());
  }
  const auto trace = recorded.trace();
  CHECK(sum_of(*trace, "eth0 received") == Approx(20'000'000).epsilon(0.001));
  CHECK(sum_of(*trace, "eth0 sent") == 0);
  CHECK(sum_of(*trace, "sda read") == Approx(20 * 8 * 512).epsilon(0.01));
  const CounterSeries& in_flight = series(*trace, "sda requests in flight");
  CHECK(in_flight.sample(in_flight.size() - 1).value == 20);
  for (const Counter& counter : trace->counters()) {
    CHECK(counter.gpu == kNone);
    CHECK(counter.process == kNone);
    CHECK_FALSE(counter.description.empty());
  }
  CHECK(trace->counters()[0].group == "Network");
}

TEST_CASE("nothing is known of a device while it is away, nor across a total that begins anew") {
  const MachineTree machine;
  machine.write("proc/net/dev", kNetworkHead + network_line("eth0", 1'000'000, 0));
  Recorded recorded;
  Sampler sampler({.networks = true}, machine.root(), 1h);
  machine.write("proc/net/dev", kNetworkHead + network_line("eth0", 2'000'000, 0));
  wait_for_answer(sampler);  // 1,000,000 bytes
  machine.write("proc/net/dev", kNetworkHead);
  wait_for_answer(sampler);
  machine.write("proc/net/dev", kNetworkHead + network_line("eth0", 9'000'000, 0) + network_line("eth1", 5, 0));
  wait_for_answer(sampler);
  machine.write("proc/net/dev", kNetworkHead + network_line("eth0", 7, 0) + network_line("eth1", 1'000'005, 0));
  wait_for_answer(sampler);
  machine.write("proc/net/dev", kNetworkHead + network_line("eth0", 300'007, 0) + network_line("eth1", 1'000'005, 0));
  sampler.end(recorded.take());  // 300,000 bytes
  const auto trace = recorded.trace();
  CHECK(sum_of(*trace, "eth0 received") == Approx(1'300'000).epsilon(0.01));
  CHECK(sum_of(*trace, "eth1 received") == Approx(1'000'000).epsilon(0.01));  // the bytes that came after it appeared
}

TEST_CASE("a disk is busy for its share of the time, all of it at most") {
  const MachineTree machine;
  machine.write("proc/diskstats", disk_line("sda", 0, 0, 0, 0));
  machine.write("sys/block/sda/size", "1");
  Recorded recorded;
  Sampler sampler({.storage = true}, machine.root(), 1h);
  std::this_thread::sleep_for(2ms);
  machine.write("proc/diskstats", disk_line("sda", 0, 0, 3'600'000, 0));  // an hour
  sampler.end(recorded.take());
  const auto trace = recorded.trace();
  CHECK(series(*trace, "sda busy").sample(0).value * 0.01 == Approx(100));
}

TEST_CASE("what a machine does not have is one sentence each") {
  const MachineTree machine;
  const Sampler sampler({.networks = true, .storage = true}, machine.root(), 1h);
  CHECK(sampler.lacks() ==
        std::vector<std::string>{"There is no network device here whose traffic could be sampled.", "There is no disk here whose traffic could be sampled."});
}
