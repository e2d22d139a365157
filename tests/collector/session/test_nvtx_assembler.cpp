#include "records/nvtx_assembler.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "decoded_events.h"
#include "support/catch.h"

using namespace lanescope;
using namespace lanescope::session;
using channel::Record;
using channel::RecordType;
using test::ChunkDecoder;
using test::DecodedEvent;

namespace {

struct NamedRecord {
  Record record;
  std::string text;
};

NamedRecord record(RecordType type, std::uint32_t thread, std::uint32_t domain, std::int64_t time, std::string text = "", std::uint64_t id = 0) {
  Record result{};
  result.type = type;
  result.thread = thread;
  result.domain = domain;
  result.time = time;
  result.id = id;
  return {result, std::move(text)};
}

struct Assembled {
  std::vector<DecodedEvent> events;
  std::uint64_t unmatched;
  std::uint64_t invalid;
  std::size_t chunks;
};

Assembled assemble(const std::vector<NamedRecord>& records, std::size_t flush_every = 1'000'000) {
  ChunkDecoder decoder;
  EventEncoder encoder([&](const proto::EventChunk& chunk, std::uint32_t events) { decoder.add(chunk, events); });
  NvtxAssembler assembler(encoder);
  std::size_t count = 0;
  for (const NamedRecord& each : records) {
    assembler.add(each.record, each.text);
    if (++count % flush_every == 0) encoder.flush();
  }
  assembler.finish(0);
  encoder.flush();
  return {decoder.sorted(), assembler.unmatched(), assembler.invalid(), decoder.chunks()};
}

// What one thread does at random in several domains: pushes, pops that may have no push, marks, starts, and ends of any thread's starts.
std::vector<NamedRecord> random_thread(std::mt19937& random, std::uint32_t thread, std::size_t count) {
  std::vector<NamedRecord> records;
  std::int64_t time = 1'000 + thread;
  for (std::size_t i = 0; i < count; ++i) {
    time += static_cast<std::int64_t>(random() % 50);
    const std::uint32_t domain = random() % 3;
    const std::string name = "name " + std::to_string(random() % 7);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        records.push_back(record(RecordType::kRangePush, thread, domain, time, name));
        break;
      case 3:
      case 4:
        records.push_back(record(RecordType::kRangePop, thread, domain, time));
        break;
      case 5:
        records.push_back(record(RecordType::kMark, thread, domain, time, name));
        break;
      case 6:
        records.push_back(record(RecordType::kRangeStart, thread, domain, time, name, thread * 1'000 + i));
        break;
      default:
        records.push_back(record(RecordType::kOsRuntimeCall, thread, 0, time, "read", random() % 100));
        break;
    }
    Record& last = records.back().record;
    if (last.type == RecordType::kRangePop || last.type == RecordType::kOsRuntimeCall) continue;
    if (random() % 3 == 0) last.category = random() % 5;
    if (random() % 3 == 0) last.color = static_cast<std::uint32_t>(random());
    if (random() % 3 == 0) {
      last.payload_type = static_cast<std::uint8_t>(1 + random() % 3);
      last.payload = random();
    }
  }
  return records;
}

DecodedEvent event_of(const NamedRecord& begin, char kind, std::int64_t end, std::uint32_t end_thread) {
  const Record& r = begin.record;
  return {kind, r.thread, r.domain, r.time, end, 0, end_thread, false, begin.text, r.category, r.color, r.payload_type, r.payload};
}

// The reference: for each push, goes on until as many pops as pushes were seen. Slow, but obviously correct.
std::vector<DecodedEvent> expected_events(const std::vector<std::vector<NamedRecord>>& threads, const std::map<std::uint64_t, NamedRecord>& ends) {
  std::int64_t last = 0;
  for (const auto& thread : threads)
    for (const auto& each : thread) last = std::max(last, each.record.time);
  for (const auto& [id, end] : ends) last = std::max(last, end.record.time);

  std::vector<DecodedEvent> expected;
  for (const auto& thread : threads) {
    for (std::size_t i = 0; i < thread.size(); ++i) {
      const Record& r = thread[i].record;
      if (r.type == RecordType::kMark) expected.push_back(event_of(thread[i], 'M', r.time, r.thread));
      if (r.type == RecordType::kOsRuntimeCall) expected.push_back(event_of(thread[i], 'O', r.time + static_cast<std::int64_t>(r.id), r.thread));
      if (r.type == RecordType::kRangeStart) {
        const auto end = ends.find(r.id);
        DecodedEvent event = event_of(thread[i], 'S', last, r.thread);
        event.unfinished = end == ends.end();
        if (!event.unfinished) {
          event.end = end->second.record.time;
          event.end_thread = end->second.record.thread;
        }
        expected.push_back(event);
      }
      if (r.type != RecordType::kRangePush) continue;
      DecodedEvent event = event_of(thread[i], 'P', last, r.thread);
      event.unfinished = true;
      for (std::size_t k = 0; k < i; ++k) {
        if (thread[k].record.domain != r.domain) continue;
        if (thread[k].record.type == RecordType::kRangePush) ++event.depth;
        if (thread[k].record.type == RecordType::kRangePop && event.depth > 0) --event.depth;
      }
      int open = 1;
      for (std::size_t k = i + 1; k < thread.size() && event.unfinished; ++k) {
        if (thread[k].record.domain != r.domain) continue;
        if (thread[k].record.type == RecordType::kRangePush) ++open;
        if (thread[k].record.type == RecordType::kRangePop && --open == 0) {
          event.end = thread[k].record.time;
          event.unfinished = false;
        }
      }
      expected.push_back(event);
    }
  }
  std::sort(expected.begin(), expected.end());
  return expected;
}

// The threads' records mixed in a random way that keeps each thread's own order.
std::vector<NamedRecord> interleaved(std::mt19937& random, std::vector<std::vector<NamedRecord>> threads) {
  std::vector<NamedRecord> mixed;
  std::vector<std::size_t> next(threads.size());
  for (std::size_t left = 0; left < threads.size();) {
    const std::size_t thread = random() % threads.size();
    if (next[thread] == threads[thread].size()) {
      ++left;
      threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(thread));
      next.erase(next.begin() + static_cast<std::ptrdiff_t>(thread));
      left = 0;
      if (threads.empty()) break;
      continue;
    }
    mixed.push_back(threads[thread][next[thread]++]);
  }
  return mixed;
}

}  // namespace

TEST_CASE("every range, mark and call comes out as a slow pairing of pushes and pops says") {
  const auto seed = GENERATE(range(1u, 40u));
  std::mt19937 random(seed);
  std::vector<std::vector<NamedRecord>> threads;
  for (std::uint32_t thread = 1; thread <= 3; ++thread) threads.push_back(random_thread(random, thread, 150));

  // A fourth thread ends two thirds of all start/end ranges, later than everything else; its records come anywhere in the mix.
  std::map<std::uint64_t, NamedRecord> ends;
  std::vector<NamedRecord> ender;
  std::int64_t time = 100'000;
  for (const auto& thread : threads)
    for (const auto& each : thread)
      if (each.record.type == RecordType::kRangeStart && random() % 3 != 0) {
        ender.push_back(record(RecordType::kRangeEnd, 4, 0, ++time, "", each.record.id));
        ends.emplace(each.record.id, ender.back());
      }

  const std::vector<DecodedEvent> expected = expected_events(threads, ends);
  threads.push_back(ender);
  const Assembled assembled = assemble(interleaved(random, threads), 1 + seed % 70);
  REQUIRE(assembled.events == expected);
  REQUIRE(assembled.invalid == 0);
}

TEST_CASE("pops without a push and ends without a start are counted, and close nothing") {
  const Assembled assembled =
      assemble({record(RecordType::kRangePop, 1, 0, 10), record(RecordType::kRangePush, 1, 0, 20, "a"), record(RecordType::kRangePop, 1, 1, 25),
                record(RecordType::kRangePop, 1, 0, 30), record(RecordType::kRangeEnd, 1, 0, 40, "", 99)});
  CHECK(assembled.unmatched == 3);
  REQUIRE(assembled.events.size() == 1);
  CHECK(assembled.events[0].start == 20);
  CHECK(assembled.events[0].end == 30);
}

TEST_CASE("a range that another thread ends some nanoseconds before it began lasts no time") {
  const Assembled assembled = assemble({record(RecordType::kRangeStart, 1, 0, 50'020, "a", 7), record(RecordType::kRangeEnd, 2, 0, 50'010, "", 7),
                                        record(RecordType::kRangeStart, 1, 0, 50'020, "b", 8), record(RecordType::kRangeEnd, 2, 0, 20'000, "", 8)});
  CHECK(assembled.invalid == 1);
  REQUIRE(assembled.events.size() == 1);
  CHECK(assembled.events[0].start == 50'020);
  CHECK(assembled.events[0].end == 50'020);
}

TEST_CASE("a range that ends before it began is counted as invalid and not shown") {
  const Assembled assembled = assemble({record(RecordType::kRangePush, 1, 0, 20, "a"), record(RecordType::kRangePop, 1, 0, 10)});
  CHECK(assembled.invalid == 1);
  CHECK(assembled.events.empty());
}

TEST_CASE("what is open at the end lasts until the last record of the process, on whichever thread") {
  const Assembled assembled = assemble({record(RecordType::kRangePush, 1, 0, 20, "open"), record(RecordType::kMark, 2, 0, 500, "late")});
  REQUIRE(assembled.events.size() == 2);
  const DecodedEvent& open = assembled.events[1];
  CHECK(open.name == "open");
  CHECK(open.unfinished);
  CHECK(open.end == 500);
}

TEST_CASE("a chunk is full at 65,536 events, and the next one goes on") {
  std::vector<NamedRecord> records;
  for (std::int64_t i = 0; i < 70'000; ++i) records.push_back(record(RecordType::kMark, 1, 0, i, std::to_string(i % 3)));
  const Assembled assembled = assemble(records);
  CHECK(assembled.chunks == 2);
  REQUIRE(assembled.events.size() == 70'000);
  CHECK(assembled.events[69'999].start == 69'999);
}

TEST_CASE("where records were dropped, ranges on either side are exact and none overlap at a depth") {
  const auto seed = GENERATE(range(1u, 40u));
  std::mt19937 random(seed);
  std::vector<NamedRecord> kept;
  std::vector<std::int64_t> open;                 // start times
  std::vector<std::array<std::int64_t, 3>> made;  // start, end, depth
  std::vector<std::int64_t> dropped;
  for (std::int64_t time = 1; time <= 600; ++time) {
    const bool push = open.empty() || (open.size() < 12 && random() % 2 == 0);
    if (push) open.push_back(time);
    const NamedRecord each = record(push ? RecordType::kRangePush : RecordType::kRangePop, 1, 0, time, push ? "r" : "", open.size());
    random() % 40 == 0 ? dropped.push_back(time) : kept.push_back(each);
    if (push) continue;
    made.push_back({open.back(), time, static_cast<std::int64_t>(open.size() - 1)});
    open.pop_back();
  }
  const std::vector<DecodedEvent> events = assemble(kept).events;
  for (const auto& [start, end, depth] : made) {
    const bool untouched = std::none_of(dropped.begin(), dropped.end(), [&](std::int64_t time) { return start <= time && time <= end; });
    if (!untouched) continue;
    const auto found = std::find_if(events.begin(), events.end(), [&](const DecodedEvent& event) { return event.start == start; });
    REQUIRE(found != events.end());
    REQUIRE(found->end == end);
    REQUIRE(found->depth == depth);
    REQUIRE_FALSE(found->unfinished);
  }
  for (const DecodedEvent& one : events)
    for (const DecodedEvent& other : events) {
      const bool same = &one == &other || one.depth != other.depth;
      REQUIRE((same || one.end <= other.start || other.end <= one.start));
    }
}

TEST_CASE("a program that opens ranges without end has each of them recorded, and no more kept than there is room for") {
  const RecordType type = GENERATE(RecordType::kRangePush, RecordType::kRangeStart);
  std::uint64_t told = 0;
  EventEncoder encoder([&](const proto::EventChunk&, std::uint32_t events) { told += events; });
  NvtxAssembler assembler(encoder);
  constexpr std::uint64_t kRanges = 1'100'000;
  constexpr std::uint64_t kMostOpen = 1'000'000;
  for (std::uint64_t i = 1; i <= kRanges; ++i)
    assembler.add(record(type, 7, 0, static_cast<std::int64_t>(i), "", type == RecordType::kRangeStart ? i : 0).record, "r");
  encoder.flush();
  CHECK(told == kRanges - kMostOpen);
  assembler.finish(0);
  encoder.flush();
  CHECK(told == kRanges);
}

TEST_CASE("what is open when a program is killed lasts until its end, and not only to its last record") {
  ChunkDecoder decoder;
  EventEncoder encoder([&](const proto::EventChunk& chunk, std::uint32_t events) { decoder.add(chunk, events); });
  NvtxAssembler assembler(encoder);
  assembler.add(record(RecordType::kRangePush, 7, 0, 100).record, "step");
  assembler.add(record(RecordType::kRangeStart, 7, 0, 200, "", 5).record, "epoch");
  assembler.add(record(RecordType::kRangePush, 7, 0, 300).record, "killed in");  // the last known record
  assembler.finish(1'000);
  encoder.flush();
  std::map<std::string, std::int64_t> durations;
  for (const DecodedEvent& event : decoder.sorted()) {
    CHECK(event.unfinished);
    durations[event.name] = event.end - event.start;
  }
  CHECK(durations == std::map<std::string, std::int64_t>{{"step", 900}, {"epoch", 800}, {"killed in", 700}});
}

TEST_CASE("ends without a start are counted, however many there are") {
  EventEncoder encoder([](const proto::EventChunk&, std::uint32_t) {});
  NvtxAssembler assembler(encoder);
  constexpr std::uint64_t kEnds = 250'000;
  for (std::uint64_t i = 1; i <= kEnds; ++i) assembler.add(record(RecordType::kRangeEnd, 7, 0, 1, "", i).record, "");
  assembler.finish(0);
  CHECK(assembler.unmatched() == kEnds);
}

TEST_CASE("ranges of a signal handler that are read behind later ones of their thread are whole, as are those") {
  const auto push = [](std::int64_t time, std::string name) { return record(RecordType::kRangePush, 7, 0, time, std::move(name), 1); };
  const auto pop = [](std::int64_t time) { return record(RecordType::kRangePop, 7, 0, time, "", 1); };
  // The handler ran between the first two ranges of its thread, and its ring was read after theirs.
  const Assembled result = assemble({push(10, "first"), pop(20), push(50, "second"), push(30, "handler"), pop(40), pop(60), push(70, "third"), pop(80)});
  CHECK(result.invalid == 0);
  CHECK(result.unmatched == 0);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges;
  for (const DecodedEvent& event : result.events) ranges[event.name] = {event.start, event.end};
  CHECK(ranges ==
        std::map<std::string, std::pair<std::int64_t, std::int64_t>>{{"first", {10, 20}}, {"handler", {30, 40}}, {"second", {50, 60}}, {"third", {70, 80}}});
}

TEST_CASE("no range of a thread or its signal handlers is lost, in whichever parts their rings are read") {
  const unsigned seed = GENERATE(range(1u, 30u));
  std::mt19937 random(seed);
  std::vector<NamedRecord> usual, of_handlers;
  std::vector<bool> is_of_handler;  // in the order of their making
  std::int64_t time = 100;
  const auto make = [&](std::vector<NamedRecord>& ring, RecordType type, std::uint64_t depth) {
    ring.push_back(record(type, 7, 0, time += 10, type == RecordType::kRangePush ? "range" : "", depth + 1));
    is_of_handler.push_back(&ring == &of_handlers);
  };
  const auto maybe_handle = [&](std::uint64_t depth) {
    if (random() % 3 != 0) return;
    make(of_handlers, RecordType::kRangePush, depth);
    make(of_handlers, RecordType::kRangePop, depth);
  };
  constexpr std::size_t kRanges = 300;
  for (std::size_t i = 0; i < kRanges; ++i) {
    make(usual, RecordType::kRangePush, 0);
    maybe_handle(1);
    make(usual, RecordType::kRangePop, 0);
    maybe_handle(0);
  }
  std::vector<NamedRecord> read;
  std::size_t usual_read = 0, of_handlers_read = 0, made = 0, usual_made = 0, of_handlers_made = 0;
  const auto make_until = [&](std::size_t end) {
    for (; made < end; ++made) ++(is_of_handler[made] ? of_handlers_made : usual_made);
  };
  while (made < is_of_handler.size()) {  // one ring after the other, while the thread continues
    make_until(std::min(is_of_handler.size(), made + random() % 8));
    while (usual_read < usual_made) read.push_back(usual[usual_read++]);
    make_until(std::min(is_of_handler.size(), made + random() % 8));
    while (of_handlers_read < of_handlers_made) read.push_back(of_handlers[of_handlers_read++]);
  }
  while (usual_read < usual.size()) read.push_back(usual[usual_read++]);
  const Assembled result = assemble(read);
  CHECK(result.invalid == 0);
  CHECK(result.events.size() == kRanges + of_handlers.size() / 2);
}

TEST_CASE("ranges that are open are told, with names that no chunk has had yet") {
  ChunkDecoder decoder;
  EventEncoder encoder([&](const proto::EventChunk& chunk, std::uint32_t events) { decoder.add(chunk, events); });
  NvtxAssembler assembler(encoder);
  const auto add = [&](RecordType type, std::uint32_t thread, std::int64_t time, const std::string& text = "", std::uint64_t id = 0) {
    const NamedRecord made = record(type, thread, 5, time, text, id);
    assembler.add(made.record, made.text);
  };
  add(RecordType::kRangePush, 7, 100, "outer");
  add(RecordType::kRangeStart, 8, 150, "whole", 9);
  add(RecordType::kRangePush, 7, 200, "inner");
  add(RecordType::kRangePush, 8, 300, "over");
  add(RecordType::kRangePop, 8, 400);

  const auto told = [&] {
    OpenRanges open;
    assembler.tell_open(3, open);
    std::map<std::int64_t, OpenRange> by_start;
    for (const OpenRange& range : open.ranges) by_start.emplace(range.start, range);
    return by_start;
  };
  const auto open = told();
  REQUIRE(open.size() == 3);
  CHECK(open.at(100) == OpenRange{3, 7, 5, OpenRange::Style::kNested, 0, 100, 400, 1, "outer", 0, 0});
  CHECK(open.at(150) == OpenRange{3, 8, 5, OpenRange::Style::kOfProcess, 0, 150, 400, 2, "whole", 0, 0});
  CHECK(open.at(200) == OpenRange{3, 7, 5, OpenRange::Style::kNested, 1, 200, 400, 3, "inner", 0, 0});

  encoder.flush();  // a chunk brings all names
  CHECK(decoder.sorted().size() == 1);
  for (const auto& [start, range] : told()) CHECK((range.text.empty() && range.name == open.at(start).name));
  add(RecordType::kRangePop, 7, 500);
  CHECK(told().size() == 2);
  CHECK_FALSE(told().contains(200));
}

TEST_CASE("of very many open ranges some are told, and how many others there are") {
  EventEncoder encoder([](const proto::EventChunk&, std::uint32_t) {});
  NvtxAssembler assembler(encoder);
  constexpr std::size_t kRanges = 10'000;
  for (std::size_t i = 0; i < kRanges; ++i) assembler.add(record(RecordType::kRangePush, 7, 0, static_cast<std::int64_t>(100 + i)).record, "deeper");
  OpenRanges open;
  assembler.tell_open(1, open);
  CHECK(open.ranges.size() <= 1'000);
  CHECK(open.ranges.size() >= 100);
  CHECK(open.ranges.size() + open.left_out == kRanges);
  for (std::size_t i = 0; i < open.ranges.size(); ++i) CHECK(open.ranges[i].depth == i);  // the outermost
}
