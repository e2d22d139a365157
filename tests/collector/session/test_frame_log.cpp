// Several files of one recording, and files that hold only its last part.
#include <map>
#include <vector>

#include "clock.h"
#include "file/frame_log.h"
#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::session;

namespace {

// A recording of one process whose agent names a new string with each event.
class Recorded {
 public:
  explicit Recorded(LogRules rules) : log(rules, {}) {}

  void open(const std::filesystem::path& path) {
    auto file = TraceFileWriter::create(path, Overwrite::kRefuse);
    REQUIRE(file);
    proto::SessionStart start;
    start.set_epoch(monotonic_now());
    log.open(std::move(*file), start);
  }
  void begin_process() {
    proto::ProcessStart start;
    start.set_pid(100);
    start.set_executable("/bin/app");
    log.write({proto::FRAME_PROCESS_START, 1}, start);
    proto::Resources resources;
    proto::Thread& thread = *resources.add_threads();
    thread.set_id(101);
    thread.set_name("main");
    log.write({proto::FRAME_RESOURCES, 1}, resources);
  }
  // An event called "step N".
  void event() {
    proto::EventChunk chunk;
    chunk.set_base_time(monotonic_now());
    chunk.set_first_string(++strings_);
    chunk.add_strings("step " + std::to_string(strings_));
    chunk.mutable_nvtx_marks()->set_thread(101);
    chunk.mutable_nvtx_marks()->add_time_delta(0);
    chunk.mutable_nvtx_marks()->add_name(strings_);
    log.write({proto::FRAME_EVENTS, 1, proto::SOURCE_SESSION, 1}, chunk);
  }
  // An event with the name of the first one.
  void event_with_first_name() {
    proto::EventChunk chunk;
    chunk.set_base_time(monotonic_now());
    chunk.mutable_nvtx_marks()->set_thread(101);
    chunk.mutable_nvtx_marks()->add_time_delta(0);
    chunk.mutable_nvtx_marks()->add_name(1);
    log.write({proto::FRAME_EVENTS, 1, proto::SOURCE_SESSION, 1}, chunk);
  }
  FrameLog log;

 private:
  std::uint32_t strings_ = 0;
};

std::vector<std::string> names(const std::filesystem::path& path) {
  const auto trace = load_trace(path);
  REQUIRE(trace);
  CHECK((*trace)->processes().size() == 1);
  CHECK((*trace)->processes()[0].name == "app");
  std::vector<std::string> result;
  for (const Track& track : (*trace)->tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < (*trace)->lane(id).size(); ++i) result.emplace_back((*trace)->name((*trace)->lane(id).name(i)));
  return result;
}

}  // namespace

TEST_CASE("a later file says again what its events refer to, and holds no events of others") {
  const test::TemporaryFolder folder;
  Recorded recorded({.several_files = true, .keep_last = {}});
  recorded.begin_process();  // before any file
  recorded.event();          // in no file
  recorded.open(folder.path() / "one.trace");
  recorded.event();
  recorded.event_with_first_name();
  recorded.log.close({});
  recorded.event();
  recorded.open(folder.path() / "two.trace");
  recorded.event_with_first_name();
  recorded.event();
  recorded.log.close({});
  CHECK(names(folder.path() / "one.trace") == std::vector<std::string>{"step 2", "step 1"});
  CHECK(names(folder.path() / "two.trace") == std::vector<std::string>{"step 1", "step 4"});
}

TEST_CASE("what was told several times is told once more in a later file") {
  const test::TemporaryFolder folder;
  Recorded recorded({.several_files = true, .keep_last = {}});
  recorded.open(folder.path() / "one.trace");
  recorded.begin_process();
  proto::Diagnostic diagnostic;
  for (const char* text : {"first", "second", "first", "first"}) {
    diagnostic.set_text(text);
    recorded.log.write({proto::FRAME_DIAGNOSTIC, 1}, diagnostic);
  }
  recorded.log.close({});
  recorded.open(folder.path() / "two.trace");
  recorded.event();
  recorded.log.close({});
  const auto trace = load_trace(folder.path() / "two.trace");
  REQUIRE(trace);
  std::vector<std::string> texts;
  for (const DiagnosticMessage& message : (*trace)->diagnostics()) texts.push_back(message.text);
  CHECK(texts == std::vector<std::string>{"first", "second"});
}

TEST_CASE("what comes late of a process that ended before a file was opened stays out of it, and is in the file in which it ended") {
  const test::TemporaryFolder folder;
  Recorded recorded({.several_files = true, .keep_last = {}});
  const auto end_process = [&] {
    proto::ProcessEnd end;
    end.set_kind(proto::PROCESS_END_EXITED);
    recorded.log.write({proto::FRAME_PROCESS_END, 1}, end);
  };
  recorded.open(folder.path() / "one.trace");
  recorded.begin_process();
  end_process();
  recorded.event();
  recorded.log.close({});
  recorded.event();
  recorded.open(folder.path() / "two.trace");
  recorded.event();
  recorded.log.close({});
  CHECK(names(folder.path() / "one.trace") == std::vector<std::string>{"step 1"});
  const auto two = load_trace(folder.path() / "two.trace");
  REQUIRE(two);
  CHECK((*two)->processes().empty());
}

TEST_CASE("a ring gives up what is older than it keeps, but no names") {
  const test::TemporaryFolder folder;
  constexpr std::int64_t kKept = 20'000'000;  // ns
  const std::filesystem::path path = folder.path() / "ring.trace";
  Recorded recorded({.several_files = false, .keep_last = std::chrono::nanoseconds(kKept)});
  recorded.open(path);
  recorded.begin_process();
  recorded.event();
  const std::int64_t first = monotonic_now();
  while (monotonic_now() == first) {
  }
  const std::int64_t second = monotonic_now();
  recorded.event();
  recorded.event_with_first_name();
  recorded.log.goes_on(second + kKept);
  CHECK(recorded.log.events() == 2);
  proto::SessionEnd end;
  end.set_time(second + kKept);
  const std::vector<ClosedFile> closed = recorded.log.close(end);
  REQUIRE(closed.size() == 1);
  CHECK_THAT(closed.front().kept, contains_text(path.string() + " has the last ") && contains_text(", as --ring asks"));
  CHECK(names(path) == std::vector<std::string>{"step 2", "step 1"});
}

TEST_CASE("a ring says of processes that ended before what it keeps what they were, as long as something of theirs is kept") {
  const test::TemporaryFolder folder;
  FileLog log({.several_files = true, .keep_last = std::chrono::nanoseconds(0)}, {});  // holds the latest events
  const auto take = [&log](proto::FrameType type, std::uint32_t process, const google::protobuf::MessageLite& message, std::uint64_t events = 0) {
    FrameHeader header;
    header.type = static_cast<std::uint16_t>(type);
    header.process = process;
    std::vector<std::byte> frame;
    append_frame(header, message.SerializeAsString(), frame);
    std::int64_t before = monotonic_now();
    for (const std::int64_t last = before; before == last;) before = monotonic_now();
    const std::uint64_t held = log.events();
    log.take({frame, {}}, events);
    if (events == 0 || log.events() != held) log.goes_on(before);  // what comes too late is not the latest
  };
  const auto begin = [&](std::uint32_t process) {
    proto::ProcessStart start;
    start.set_pid(100 + process);
    start.set_executable("/bin/app");
    start.set_time(10);
    take(proto::FRAME_PROCESS_START, process, start);
  };
  const auto end = [&](std::uint32_t process) {
    proto::ProcessEnd last;
    last.set_time(20);
    last.set_kind(proto::PROCESS_END_EXITED);
    last.set_exit_code(3);
    take(proto::FRAME_PROCESS_END, process, last);
  };
  const auto mark = [&](std::uint32_t process) {
    proto::EventChunk chunk;
    chunk.set_base_time(15);
    chunk.mutable_nvtx_marks()->set_thread(100 + process);
    chunk.mutable_nvtx_marks()->add_time_delta(0);
    take(proto::FRAME_EVENTS, process, chunk, 1);
  };
  const auto open = [&](const char* name) {
    auto file = TraceFileWriter::create(folder.path() / name, Overwrite::kRefuse);
    REQUIRE(file);
    log.open(std::move(*file), {});
  };
  const auto processes = [&](const char* name) {
    const auto trace = load_trace(folder.path() / name);
    REQUIRE(trace);
    return (*trace)->processes();
  };

  open("kept.trace");
  begin(1);
  end(1);
  mark(1);  // as from a sampler, which is read later
  CHECK(log.events() == 1);
  log.close({});
  const std::vector<Process> kept = processes("kept.trace");
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].pid == 101);
  CHECK(kept[0].name == "app");
  CHECK(kept[0].exit_code == 3);

  open("late.trace");
  begin(2);
  begin(3);
  end(3);
  mark(2);
  mark(3);  // its process has ended, and that end was discarded
  mark(1);  // its process ended before this file
  CHECK(log.events() == 1);
  log.close({});
  const std::vector<Process> late = processes("late.trace");
  REQUIRE(late.size() == 1);
  CHECK(late[0].pid == 102);

  // However many there were, nothing of them stays.
  open("many.trace");
  const auto bytes_known = [&log] {
    std::vector<std::byte> frames;
    log.known().append_to(frames, 0);
    return frames.size();
  };
  const std::size_t before = bytes_known();
  for (std::uint32_t process = 10; process < 3'000; ++process) {
    begin(process);
    mark(process);
    end(process);
    mark(process - 1);
  }
  mark(2);
  CHECK(bytes_known() == before);
  log.close({});
}

TEST_CASE("a ring gives up its oldest where the size that its file may have would be taken by padding") {
  const test::TemporaryFolder folder;
  constexpr std::uint64_t kMost = 12'000'000;               // bytes; at this size there could be 8,400,000 events
  constexpr std::uint32_t kEvents = 60'000, kFrames = 300;  // of 200 bytes each
  FrameLog log({.keep_last = std::chrono::hours(1), .maximum_bytes = kMost}, {});
  auto file = TraceFileWriter::create(folder.path() / "ring.trace", Overwrite::kRefuse);
  REQUIRE(file);
  log.open(std::move(*file), {});
  for (std::uint32_t i = 1; i <= kFrames; ++i) {
    proto::EventChunk chunk;
    chunk.set_base_time(i);
    for (std::uint32_t k = 0; k < kEvents; ++k) chunk.mutable_nvtx_ranges()->add_start_delta(2);
    log.write({proto::FRAME_EVENTS, 1, proto::SOURCE_SESSION, kEvents}, chunk);
  }
  proto::SessionEnd end;
  end.set_time(monotonic_now());
  CHECK_THAT(log.close(end).front().kept, contains_text(" in place of the 3600 s of --ring: more had no room in the file (--max-file-size)."));
  CHECK(log.unwritten() == 0);
  auto reader = TraceFileReader::open(folder.path() / "ring.trace");
  REQUIRE(reader);
  std::vector<std::int64_t> kept;
  while (const auto frame = reader->next()) {
    proto::EventChunk chunk;
    if (frame->header.type != proto::FRAME_EVENTS) continue;
    REQUIRE(chunk.ParseFromString(*open_frame(*frame)));
    kept.push_back(chunk.base_time());
  }
  REQUIRE_FALSE(kept.empty());
  CHECK(kept.back() == kFrames);
  CHECK(kept.front() == kFrames + 1 - static_cast<std::int64_t>(kept.size()));  // none between is missing
  CHECK(reader->size() <= kMost);
  constexpr std::size_t kRoom = kMost * 7 / 10 / kEvents;
  CHECK(kept.size() <= kRoom);
  CHECK(kept.size() + 3 >= kRoom);  // and no more is discarded than necessary
}

TEST_CASE("a ring says from when on it has all events of all processes, also where it has older ones of some") {
  const test::TemporaryFolder folder;
  constexpr std::int64_t kKept = 20'000'000;  // ns
  const LogRules rules{.keep_last = std::chrono::nanoseconds(kKept)};
  const auto open = [&](FrameLog& log, const char* name) {
    auto file = TraceFileWriter::create(folder.path() / name, Overwrite::kRefuse);
    REQUIRE(file);
    proto::SessionStart start;
    start.set_epoch(1);
    log.open(std::move(*file), start);
  };
  const auto close = [&](FrameLog& log, const char* name) {
    proto::SessionEnd end;
    end.set_time(monotonic_now());
    log.close(end);
    const auto trace = load_trace(folder.path() / name);
    REQUIRE(trace);
    return *trace;
  };
  // All marks at once. On its first frame, a process sends their name first.
  const auto take_marks = [](FrameLog& log, std::uint32_t process, const std::vector<std::int64_t>& times, bool are_first) {
    proto::EventChunk chunk;
    if (are_first) {
      chunk.set_first_string(1);
      chunk.add_strings("mark");
    }
    chunk.set_base_time(times.front());
    chunk.mutable_nvtx_marks()->set_thread(100 + process);
    for (std::size_t i = 0; i < times.size(); ++i) {
      chunk.mutable_nvtx_marks()->add_time_delta(i == 0 ? 0 : times[i] - times[i - 1]);
      chunk.mutable_nvtx_marks()->add_name(1);
    }
    log.write({proto::FRAME_EVENTS, process, proto::SOURCE_SESSION, static_cast<std::uint32_t>(times.size())}, chunk);
  };

  // Marks of process 1 come as they are made; those of process 2, which makes few, come at the end.
  FrameLog log(rules, {});
  open(log, "ring.trace");
  std::vector<std::int64_t> quick, slow;
  const std::int64_t begin = monotonic_now();
  while (monotonic_now() - begin < 2 * kKept) {
    quick.push_back(monotonic_now());
    take_marks(log, 1, {quick.back()}, quick.size() == 1);
    log.goes_on(quick.back());
    if (quick.size() % 100 == 1) slow.push_back(monotonic_now());
  }
  slow.push_back(monotonic_now());
  take_marks(log, 2, slow, true);
  const auto trace = close(log, "ring.trace");
  const std::optional<SavedPart>& part = trace->provenance().part;
  REQUIRE(part);
  const std::int64_t whole_from = part->time.begin + 1;  // because the epoch is 1
  CHECK(whole_from > begin);
  CHECK(part->time.begin <= part->time.end - kKept);
  CHECK(part->first_launch == part->time.begin);
  std::map<std::uint32_t, std::vector<std::int64_t>> read;  // by the number of the thread
  for (const Track& track : trace->tracks())
    for (const LaneId id : track.lanes)
      for (EventIndex i = 0; i < trace->lane(id).size(); ++i) read[trace->threads()[track.key.thread].tid].push_back(trace->lane(id).start(i) + 1);
  CHECK(read[102] == slow);  // the older ones, too
  CHECK(slow.front() < whole_from);
  CHECK(slow.back() >= whole_from);
  std::erase_if(quick, [&](std::int64_t time) { return time < whole_from; });
  std::erase_if(read[101], [&](std::int64_t time) { return time < whole_from; });
  CHECK(read[101] == quick);

  FrameLog whole(rules, {});
  open(whole, "all.trace");
  take_marks(whole, 1, {monotonic_now()}, true);
  const auto all = close(whole, "all.trace");
  CHECK(all->event_count() == 1);
  CHECK_FALSE(all->provenance().part);
}

TEST_CASE("what a ring holds when the recording is over stays, however long the rest takes") {
  const test::TemporaryFolder folder;
  Recorded recorded({.several_files = true, .keep_last = std::chrono::milliseconds(20)});
  const auto wait_longer = [] {
    const std::int64_t begin = monotonic_now();
    while (monotonic_now() - begin < 30'000'000) {
    }
  };
  recorded.begin_process();
  recorded.open(folder.path() / "one.trace");
  const std::int64_t seen_to_go_on = monotonic_now();
  recorded.event();
  wait_longer();
  recorded.log.goes_on(seen_to_go_on);  // the program has ended since, and what it wrote is read late
  recorded.event();
  wait_longer();
  recorded.log.close({});
  CHECK(names(folder.path() / "one.trace") == std::vector<std::string>{"step 1", "step 2"});
  recorded.open(folder.path() / "two.trace");  // now it is a ring again
  recorded.event();
  wait_longer();
  const std::int64_t before_last = monotonic_now();
  recorded.event();
  recorded.log.goes_on(before_last);
  recorded.log.close({});
  CHECK(names(folder.path() / "two.trace") == std::vector<std::string>{"step 4"});
}

TEST_CASE("processes of a share have a file of their own, which also says what is said of all") {
  const test::TemporaryFolder folder;
  std::vector<std::uint32_t> watched;  // processes of frames
  FrameLog log({.has_shares = true}, [&](std::span<const std::byte> frames) {
    for_each_frame(frames, [&](const FrameHeader& header, std::span<const std::byte>) { watched.push_back(header.process); });
  });
  const auto file = [&](const std::string& name) { return TraceFileWriter::create(folder.path() / name, Overwrite::kRefuse); };
  const auto begin = [&](std::uint32_t process, const Variables& share) {
    log.assign(process, share);
    proto::ProcessStart start;
    start.set_pid(100 + process);
    log.write({proto::FRAME_PROCESS_START, process}, start);
  };
  const auto say = [&](const std::string& text) {
    proto::Diagnostic diagnostic;
    diagnostic.set_text(text);
    log.write({proto::FRAME_DIAGNOSTIC}, diagnostic);
  };
  log.open(*file("all.trace"), {}, [&](const Variables& share) -> Result<CreatedFile> {
    if (share.at("RANK") == "9") return Error{"No room."};
    return CreatedFile{*file("rank" + share.at("RANK") + ".trace"), ""};
  });
  std::vector<std::string> told;
  log.tell([&](const std::string& sentence) { told.push_back(sentence); });
  say("early");
  begin(1, {});
  begin(2, {{"RANK", "0"}});
  begin(3, {{"RANK", "1"}});
  begin(4, {{"RANK", "0"}});
  begin(5, {{"RANK", "9"}});
  say("late");
  const std::vector<ClosedFile> closed = log.close({});
  REQUIRE(closed.size() == 3);
  const auto pids = [&](const ClosedFile& each) {
    std::vector<std::uint32_t> found;
    const auto trace = load_trace(each.path);
    REQUIRE(trace);
    CHECK((*trace)->diagnostics().size() == 2);
    for (const Process& process : (*trace)->processes()) found.push_back(process.pid);
    return found;
  };
  CHECK(pids(closed[0]) == std::vector<std::uint32_t>{101, 105});
  CHECK(pids(closed[1]) == std::vector<std::uint32_t>{102, 104});
  CHECK(pids(closed[2]) == std::vector<std::uint32_t>{103});
  REQUIRE(told.size() == 1);
  CHECK(told[0].starts_with("No room. What belongs there is in "));
  CHECK(watched == std::vector<std::uint32_t>{0, 0, 1, 2, 3, 4, 5, 0, 0});  // start and end of the recording once, and the message
}
