// What the agent's writer makes of events, decoded by the real protobuf library; and how it converts times.
#include <cstring>
#include <random>

#include <sys/mman.h>

#include "agent/core/text.h"
#include "agent/encode/clock_map.h"
#include "agent/encode/event_encoder.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::agent::encode;

namespace {

// A memory file whose host is the test.
class Memory {
 public:
  static constexpr std::uint64_t kBytes = channel::memory_bytes_for(channel::kLeastPoolBytes);
  Memory() : address_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(address_ != MAP_FAILED);
    memory = channel::initialize_shared_memory(address_, kBytes, 5);
  }
  ~Memory() { munmap(address_, kBytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // The chunks that were written since the last call.
  std::vector<proto::EventChunk> take() {
    std::vector<proto::EventChunk> chunks;
    channel::FrameRingConsumer consumer(memory.header().frame_ring, memory.frame_bytes());
    while (const std::size_t bytes = consumer.next()) {
      std::vector<std::byte> frame(bytes);
      consumer.take(frame);
      FrameView view;
      std::memcpy(&view.header, frame.data(), sizeof(view.header));
      view.stored = std::span(frame).subspan(sizeof(view.header));
      REQUIRE(frame_is_sound(view));
      CHECK(view.header.process == 5);
      const auto payload = open_frame(view);
      REQUIRE(payload);
      chunks.emplace_back();
      REQUIRE(chunks.back().ParseFromString(*payload));
    }
    return chunks;
  }

  channel::SharedMemory memory;

 private:
  void* address_;
};

struct Writer {
  Memory memory;
  FrameWriter frames{memory.memory, 5};
  std::unique_ptr<EventEncoder> events = std::make_unique<EventEncoder>(frames);
};

}  // namespace

TEST_CASE("varints and zigzag are those of protobuf, for any number") {
  std::mt19937_64 random(3);
  agent::PageBuffer bytes;
  ProtoWriter out(bytes);
  std::vector<std::int64_t> values{0, 1, -1, 127, 128, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 1'000; ++i) values.push_back(static_cast<std::int64_t>(random() >> random() % 64) * (random() % 2 == 0 ? 1 : -1));
  DeltaColumn column;
  for (const std::int64_t value : values) column.add(value);
  column.write(out, 1);
  proto::Kernels decoded;
  REQUIRE(decoded.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  REQUIRE(decoded.start_delta_size() == static_cast<int>(values.size()));
  std::uint64_t previous = 0;
  for (int i = 0; i < decoded.start_delta_size(); ++i) {
    previous += static_cast<std::uint64_t>(decoded.start_delta(i));
    CHECK(static_cast<std::int64_t>(previous) == values[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("a copy keeps all that is said about it") {
  Writer writer;
  Copy copy;
  copy.time = {1'000, 50};
  copy.bytes = 1ull << 40;
  copy.queue = writer.events->queue({1, 2, 3});
  copy.correlation = 4'000'000'000;
  copy.shape = writer.events->copy_shape({10, 2, 3, 4, 5, 6, 7, 1});
  copy.graph = {1ull << 60, 9};
  writer.events->add(copy);
  writer.events->flush();
  const auto chunks = writer.memory.take();
  REQUIRE(chunks.size() == 1);
  const proto::EventChunk& chunk = chunks[0];
  CHECK(chunk.base_time() == 1'000);
  const proto::Copies& copies = chunk.copies();
  CHECK(copies.start_delta(0) == 0);
  CHECK(copies.duration(0) == 50);
  CHECK(copies.bytes(0) == 1ull << 40);
  CHECK(copies.correlation_delta(0) == 4'000'000'000);
  CHECK(copies.graph_node_delta(0) == 1ll << 60);
  CHECK(copies.graph(0) == 9);
  REQUIRE(chunk.queues_size() == 1);
  CHECK(chunk.first_queue() == copies.queue(0));
  CHECK(chunk.queues(0).device() == 1);
  CHECK(chunk.queues(0).context() == 2);
  CHECK(chunk.queues(0).stream() == 3);
  REQUIRE(chunk.copy_shapes_size() == 1);
  CHECK(chunk.first_copy_shape() == copies.shape(0));
  const proto::CopyShape& shape = chunk.copy_shapes(0);
  CHECK(shape.kind() == proto::COPY_PEER_TO_PEER);
  CHECK(shape.source_memory() == proto::MEMORY_PINNED);
  CHECK(shape.destination_memory() == proto::MEMORY_DEVICE);
  CHECK(shape.source_device() == 4);
  CHECK(shape.destination_device() == 5);
  CHECK(shape.source_context() == 6);
  CHECK(shape.destination_context() == 7);
  CHECK(shape.asynchronous());
}

TEST_CASE("spans, sets, waits and launches of graphs keep what is said about them") {
  Writer writer;
  const std::uint32_t queue = writer.events->queue({0, 1, 7});
  const std::uint32_t name = writer.events->strings().id("Lazy function loading");
  writer.events->add(Set{{10, 1}, 256, 0xff, queue, 3, 3, {}});
  writer.events->add(Synchronization{{20, 2}, 4, queue, 12, 6});
  writer.events->add_compilation({{30, 3}, name, 99, 0});
  writer.events->add_overhead({{40, 4}, name, 0, 8});
  writer.events->add(GraphLaunch{{50, 5}, queue, 9, 77});
  writer.events->flush();
  proto::EventChunk all;
  for (const auto& chunk : writer.memory.take()) {
    if (chunk.has_sets()) {
      CHECK(chunk.sets().value(0) == 0xff);
      CHECK(chunk.sets().memory_kind(0) == proto::MEMORY_DEVICE);
      CHECK(chunk.sets().graph_size() == 0);
    } else if (chunk.has_synchronizations()) {
      CHECK(chunk.synchronizations().type(0) == 4);
      CHECK(chunk.synchronizations().event(0) == 12);
    } else if (chunk.has_compilations()) {
      CHECK(chunk.compilations().thread(0) == 99);
      CHECK(chunk.compilations().correlation_delta_size() == 0);
    } else if (chunk.has_overheads()) {
      CHECK(chunk.overheads().thread_size() == 0);
      CHECK(chunk.overheads().correlation_delta(0) == 8);
    } else {
      REQUIRE(chunk.has_graph_launches());
      CHECK(chunk.graph_launches().graph(0) == 77);
      CHECK(chunk.base_time() == 50);
    }
  }
}

TEST_CASE("calls are put together by thread and API, however they are mixed") {
  Writer writer;
  std::mt19937 random(11);
  std::map<std::pair<std::uint32_t, bool>, std::vector<std::int64_t>> made;
  for (int i = 0; i < 5'000; ++i) {
    ApiCall call;
    call.time = {1'000'000 + i * 10, 5};
    call.thread = 1 + random() % 40;
    call.api = random() % 2 == 0 ? Api::kDriver : Api::kRuntime;
    call.result = i % 100 == 0 ? 2 : 0;
    writer.events->add(call);
    made[{call.thread, call.api == Api::kDriver}].push_back(call.time.start);
    if (i % 1'700 == 0) writer.events->flush();
  }
  writer.events->flush();
  decltype(made) seen;
  for (const auto& chunk : writer.memory.take()) {
    const proto::ApiCalls& calls = chunk.api_calls();
    std::int64_t time = chunk.base_time();
    for (const auto delta : calls.start_delta()) seen[{calls.thread(), calls.driver()}].push_back(time += delta);
  }
  CHECK(seen == made);
}

TEST_CASE("equal values have one id, and each is told once") {
  Writer writer;
  StringDictionary& strings = writer.events->strings();
  CHECK(strings.id("first") == 1);
  CHECK(strings.id("second") == 2);
  CHECK(strings.id(std::string("fir") + "st") == 1);
  std::string reused = "one kernel";
  CHECK(strings.id_of_pointer(reused.c_str()) == 3);
  CHECK(strings.id_of_pointer(reused.c_str()) == 3);
  std::memcpy(reused.data(), "two", 3);  // the name of another module now lies at the same address
  CHECK(strings.id_of_pointer(reused.c_str()) == 4);
  for (int i = 0; i < 100'000; ++i) REQUIRE(strings.id("kernel " + std::to_string(i)) == static_cast<std::uint32_t>(5 + i));
  for (int i = 0; i < 100'000; ++i) REQUIRE(strings.id("kernel " + std::to_string(i)) == static_cast<std::uint32_t>(5 + i));

  writer.events->add_overhead({{1, 1}, 1, 0, 0});
  writer.events->flush();
  writer.events->add_overhead({{2, 1}, strings.id("late"), 0, 0});
  writer.events->flush();
  const auto chunks = writer.memory.take();
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].first_string() == 1);
  CHECK(chunks[0].strings_size() == 100'004);
  CHECK(chunks[0].strings(3) == "two kernel");
  CHECK(chunks[1].first_string() == 100'005);
  CHECK(chunks[1].strings_size() == 1);
}

TEST_CASE("a chunk that finds no room costs its events, which are counted, and no names") {
  Writer writer;
  // All but ten bytes of the ring wait for a host that reads nothing.
  channel::RingHeader& ring = writer.memory.memory.header().frame_ring;
  const std::uint64_t before = ring.tail;
  ring.tail = before - channel::kFrameRingBytes + 10;
  writer.events->add_overhead({{1, 1}, writer.events->strings().id("kept"), 0, 0});
  writer.events->flush();
  CHECK(writer.events->dropped() == 1);
  CHECK(ring.dropped == 1);
  ring.tail = before;
  writer.events->add_overhead({{2, 1}, writer.events->strings().id("kept"), 0, 0});
  writer.events->flush();
  const auto chunks = writer.memory.take();
  REQUIRE(chunks.size() == 1);
  CHECK(chunks[0].base_time() == 2);
  REQUIRE(chunks[0].strings_size() == 1);
  CHECK(chunks[0].strings(0) == "kept");
}

TEST_CASE("no chunk holds more than 65,536 events") {
  Writer writer;
  for (std::int64_t i = 0; i < 150'000; ++i) writer.events->add(Kernel{{i, 1}, 0, 0, 0, 0, {}, Completion::kFinished});
  writer.events->flush();
  std::vector<int> sizes;
  for (const auto& chunk : writer.memory.take()) sizes.push_back(chunk.kernels().start_delta_size());
  CHECK(sizes == std::vector<int>{65'536, 65'536, 18'928});
}

TEST_CASE("times are turned by the difference of the clocks, interpolated between readings") {
  ClockMap clocks;
  clocks.add({1'000, 5'000, 0});  // difference 4,000
  CHECK(clocks.to_monotonic(5'100) == 1'100);
  CHECK(clocks.to_monotonic(4'900) == 900);
  clocks.add({2'000, 6'100, 0});  // difference 4,100: CLOCK_REALTIME was slewed by 100
  CHECK(clocks.to_monotonic(5'000) == 1'000);
  CHECK(clocks.to_monotonic(5'550) == 1'500);
  CHECK(clocks.to_monotonic(6'100) == 2'000);
  CHECK(clocks.to_monotonic(6'200) == 2'100);
  CHECK(clocks.to_monotonic(4'000) == 0);
}

TEST_CASE("however many readings there were, the last ones count") {
  ClockMap clocks;
  for (std::int64_t i = 0; i < 1'000; ++i) clocks.add({i * 1'000, i * 1'001 + 7, 0});
  for (std::int64_t i = 950; i < 999; ++i) CHECK(clocks.to_monotonic(i * 1'001 + 7) == i * 1'000);
  const ClockReading now = read_clocks();
  CHECK(now.uncertainty < 1'000'000);
}

TEST_CASE("wide text becomes UTF-8, and what is no character becomes U+FFFD") {
  agent::TextBuffer buffer;
  CHECK(agent::utf8_text(L"aß€😀", buffer) == "aß€😀");
  const wchar_t wrong[] = {L'x', static_cast<wchar_t>(0xd800), static_cast<wchar_t>(0x110000), 0};
  CHECK(agent::utf8_text(wrong, buffer) == "x\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(agent::utf8_text(nullptr, buffer).empty());
  CHECK(agent::utf8_text(std::wstring(2'000, L'€').c_str(), buffer).size() == 1'023);  // 341 characters of three bytes
  CHECK(agent::bounded_text(nullptr).empty());
  CHECK(agent::bounded_text(std::string(5'000, 'x').c_str()).size() == 1'024);
}
