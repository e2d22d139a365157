// Several files as one trace; some are not complete, can't be read, or hold the same recording.
#include <algorithm>
#include <array>
#include <fstream>

#include "model/export/nsys_sqlite_export.h"
#include "model/export/text_export.h"
#include "model/export/trace_file_export.h"
#include "model/import/open_trace.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/completeness.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool is_told(const Trace& trace, const std::string& part) {
  return std::any_of(trace.diagnostics().begin(), trace.diagnostics().end(), [&](const DiagnosticMessage& message) { return contains(message.text, part); });
}

Result<std::shared_ptr<const Trace>> opened(const fs::path& folder, EventPlace place = EventPlace::kInFile) {
  const auto files = trace_files(std::array{folder});
  REQUIRE(files);
  return open_traces(*files, place, {}, unreadable_of(std::array{folder}));
}

}  // namespace

TEST_CASE("what each of several recordings lacks is told with its name, and kept where they are saved as one") {
  const test::TemporaryFolder folder;
  fs::copy_file(test::data_file("ranks_late0.trace"), folder.path() / "r0.trace");
  fs::copy_file(test::data_file("ranks_late1.trace"), folder.path() / "r1.trace");
  CHECK(losses_text(**opened(folder.path())).empty());
  CHECK(completeness_text(**opened(folder.path())) == "complete: nothing dropped");
  fs::resize_file(folder.path() / "r1.trace", 200'000);
  for (const EventPlace place : {EventPlace::kInFile, EventPlace::kInMemory, EventPlace::kInMemoryWhereTheyFit}) {
    const auto trace = opened(folder.path(), place);
    REQUIRE(trace);
    CHECK(contains(losses_text(**trace), "r1.trace: The recording was cut off"));
    CHECK_FALSE(contains(losses_text(**trace), "r0.trace"));
    CHECK(completeness_text(**trace).starts_with("incomplete: "));
    CHECK_FALSE((*trace)->provenance().finished);
    CHECK(is_told(**trace, "r1.trace: The recording was cut off"));
  }
  const test::TemporaryFolder other;
  REQUIRE(export_trace_file(**opened(folder.path()), other.path() / "both.trace", Overwrite::kRefuse));
  const auto saved = load_trace(other.path() / "both.trace");
  REQUIRE(saved);
  CHECK(contains((*saved)->provenance().condition, "r1.trace: The recording was cut off"));
  CHECK_FALSE((*saved)->provenance().finished);
}

TEST_CASE("a recording and the Chrome JSON that was made of it count once, and the latter has the times of the recording") {
  const test::TemporaryFolder folder;
  // The second has whole CUDA graphs, which Chrome JSON has as kernels.
  const fs::path recording = test::data_file(GENERATE(as<std::string>(), "cuda_streams.trace", "torch_graph.trace", "kernel_counters.trace")),
                 exported = folder.path() / "x.json";
  const auto alone = open_trace(recording);
  REQUIRE(alone);
  {
    std::ofstream out(exported, std::ios::binary);
    REQUIRE(export_chrome_json(**alone, [&](std::string_view piece) { return static_cast<bool>(out << piece); }, {}));
  }
  const auto imported = open_trace(exported);
  REQUIRE(imported);
  CHECK((*imported)->provenance().utc_epoch == (*alone)->provenance().utc_epoch);
  for (const std::array<fs::path, 2>& both : {std::array{recording, exported}, std::array{exported, recording}}) {
    const auto trace = open_traces(both);
    REQUIRE(trace);
    CHECK((*trace)->event_count() == (*alone)->event_count());
    CHECK((*trace)->provenance().format == "Lanescope");
    CHECK(count_left_out_as_same(**trace) == 1);
  }
  // Beside another recording it counts.
  const auto two = open_traces(std::array{fs::path(test::data_file("unified_memory.trace")), exported});
  REQUIRE(two);
  CHECK((*two)->parts().size() == 2);
}

TEST_CASE("a recording and what was exported of it as SQLite count once, in whatever order they are named") {
  const test::TemporaryFolder folder;
  const fs::path recording = test::data_file("cuda_streams.trace"), other = test::data_file("unified_memory.trace"), exported = folder.path() / "x.sqlite";
  const auto alone = open_trace(recording);
  REQUIRE(alone);
  REQUIRE(export_nsys_sqlite(**alone, exported, Overwrite::kRefuse));
  for (const std::array<fs::path, 2>& both : {std::array{recording, exported}, std::array{exported, recording}}) {
    std::vector<std::string> same;
    const auto trace = open_traces(both, EventPlace::kInMemory, {}, Unreadable::kFails, &same);
    REQUIRE(trace);
    CHECK((*trace)->event_count() == (*alone)->event_count());
    CHECK((*trace)->provenance().format == "Lanescope");
    CHECK(same.size() == 1);
    CHECK(count_left_out_as_same(**trace) == 1);
  }
  // Another recording is another one.
  const auto two = open_traces(std::array{other, exported});
  REQUIRE(two);
  CHECK((*two)->parts().size() == 2);
  CHECK(count_left_out_as_same(**two) == 0);
}

TEST_CASE("a folder opens without the files that can't be read, and says which are missing; files that are named are wanted each") {
  const test::TemporaryFolder folder;
  const fs::path r0 = folder.path() / "r0.trace", r1 = folder.path() / "r1.trace", empty = folder.path() / "r2.trace";
  fs::copy_file(test::data_file("ranks_late0.trace"), r0);
  fs::copy_file(test::data_file("ranks_late1.trace"), r1);
  std::ofstream(empty).flush();
  fs::create_symlink(folder.path() / "nowhere", folder.path() / "r3.trace");
  for (const EventPlace place : {EventPlace::kInFile, EventPlace::kInMemory}) {
    const auto trace = opened(folder.path(), place);
    REQUIRE(trace);
    CHECK((*trace)->parts().size() == 2);
    CHECK((*trace)->event_count() == (*load_trace(r0))->event_count() + (*load_trace(r1))->event_count());
    for (const char* name : {"r2.trace is missing: ", "r3.trace is missing: "}) {
      CHECK(contains(losses_text(**trace), name));
      CHECK(is_told(**trace, name));
    }
  }
  fs::remove(r1);
  const auto one = opened(folder.path());
  REQUIRE(one);
  CHECK((*one)->event_count() == (*load_trace(r0))->event_count());
  CHECK(contains(losses_text(**one), "r2.trace is missing: "));
  CHECK_FALSE(open_traces(std::array{r0, empty}));
  fs::remove(r0);
  CHECK_FALSE(opened(folder.path()));
}

TEST_CASE("a recording and its compacted form are one, and parts that follow each other are two") {
  const test::TemporaryFolder folder;
  const fs::path run = folder.path() / "run.trace", compact = folder.path() / "run.compact.trace";
  fs::copy_file(test::data_file("ranks_late0.trace"), run);
  REQUIRE(compact_trace_file(run, compact, Overwrite::kRefuse));
  const auto alone = load_trace(run);
  for (const EventPlace place : {EventPlace::kInFile, EventPlace::kInMemory, EventPlace::kInMemoryWhereTheyFit}) {
    std::vector<std::string> same;
    const auto trace = open_traces(std::array{run, compact}, place, {}, Unreadable::kFails, &same);
    REQUIRE(trace);
    CHECK((*trace)->event_count() == (*alone)->event_count());
    CHECK(losses_text(**trace).empty());
    REQUIRE(same.size() == 1);
    CHECK(contains(same.front(), "holds the same recording as"));
    CHECK(is_told(**trace, same.front()));
  }
  const Nanoseconds middle = ((*alone)->extent().begin + (*alone)->extent().end) / 2;
  const auto part = [&](const char* name, TimeRange window) {
    ExportSelection selection;
    selection.window = window;
    REQUIRE(export_trace_file(**alone, folder.path() / name, Overwrite::kRefuse, selection));
    return folder.path() / name;
  };
  // The viewer saves the rows of each GPU, and of each kind, separately.
  const auto with_rows = [&](const std::string& name, const auto& is_wanted) {
    ExportSelection selection;
    selection.rows.emplace();
    std::uint64_t events = 0;
    for (const Track& track : (*alone)->tracks())
      for (const LaneId lane : track.lanes)
        if (is_wanted(track.key)) {
          selection.rows->lanes.push_back(lane);
          events += (*alone)->lane(lane).size();
        }
    std::sort(selection.rows->lanes.begin(), selection.rows->lanes.end());
    REQUIRE(events > 0);
    REQUIRE(export_trace_file(**alone, folder.path() / name, Overwrite::kAllow, selection));
    return std::pair(folder.path() / name, events);
  };
  const auto [of_gpus, on_gpus] = with_rows("gpus.trace", [](const TrackKey& key) { return key.gpu != kNone; });
  const auto [of_calls, calls] = with_rows("calls.trace", [](const TrackKey& key) { return key.kind == TrackKind::kCudaApi; });
  for (const EventPlace place : {EventPlace::kInFile, EventPlace::kInMemory}) {
    const auto rows = open_traces(std::array{of_gpus, of_calls}, place);
    REQUIRE(rows);
    CHECK((*rows)->event_count() == on_gpus + calls);
    const auto with_all = open_traces(std::array{of_gpus, run, of_calls}, place);
    REQUIRE(with_all);
    CHECK((*with_all)->event_count() == (*alone)->event_count());
  }
  const fs::path begin = part("begin.trace", {0, middle - 1'000'000'000}), end = part("end.trace", {middle + 1'000'000'000, (*alone)->extent().end});
  const auto both = open_traces(std::array{begin, end});
  REQUIRE(both);
  CHECK((*both)->parts().size() == 2);
  CHECK(contains(losses_text(**both), "begin.trace and end.trace hold parts of one recording"));
  // All calls and samples that reach into a part are in its file, so the events of a short part lie within the times of a long one's events.
  const auto recorded = load_trace(test::data_file("torch_loader_samples.trace"));
  REQUIRE(recorded);
  const TimeRange all = (*recorded)->extent();
  const auto saved = [&](const char* name, TimeRange window) {
    ExportSelection selection;
    selection.window = window;
    REQUIRE(export_trace_file(**recorded, folder.path() / name, Overwrite::kRefuse, selection));
    return folder.path() / name;
  };
  const Nanoseconds border = all.begin + (all.end - all.begin) / 2;
  const fs::path short_part = saved("short.trace", {border - 100'000'000, border - 50'000'000}), long_part = saved("long.trace", {border, all.end});
  REQUIRE((*load_trace(long_part))->extent().begin <= (*load_trace(short_part))->extent().begin);
  const auto beside = open_traces(std::array{short_part, long_part});
  REQUIRE(beside);
  CHECK((*beside)->parts().size() == 2);
  const auto of_part = open_traces(std::array{begin, run});
  REQUIRE(of_part);
  CHECK((*of_part)->event_count() == (*alone)->event_count());
}

TEST_CASE("a recording and what was exported of it are one, and so are copies of another tool's file") {
  const test::TemporaryFolder folder;
  const fs::path run = test::data_file("cuda_streams.trace"), tables = folder.path() / "run.sqlite", copy = folder.path() / "copy.sqlite";
  const auto alone = load_trace(run);
  REQUIRE(alone);
  REQUIRE(export_nsys_sqlite(**alone, tables, Overwrite::kRefuse, {}));
  fs::copy_file(tables, copy);
  const auto imported = open_traces(std::array{tables});
  REQUIRE(imported);
  const auto all = open_traces(std::array{tables, run, copy});
  REQUIRE(all);
  CHECK((*all)->event_count() == (*alone)->event_count());
  CHECK((*all)->provenance().format == "Lanescope");
  const auto twice = open_traces(std::array{tables, copy});
  REQUIRE(twice);
  CHECK((*twice)->event_count() == (*imported)->event_count());
  CHECK(count_left_out_as_same(**twice) == 1);
  // Another run of the same program is another one.
  const fs::path other = folder.path() / "other.sqlite";
  REQUIRE(export_nsys_sqlite(**load_trace(test::data_file("cause_tiny_kernels.trace")), other, Overwrite::kRefuse, {}));
  const auto both = open_traces(std::array{tables, other});
  REQUIRE(both);
  CHECK((*both)->parts().size() == 2);
}
