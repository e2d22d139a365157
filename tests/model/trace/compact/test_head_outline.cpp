// The outline that a compacted file shows at once says when its lanes are busy, and with what, for every 1,024 events.
#include "long_recording.h"
#include "model/trace/outline.h"
#include "recordings.h"

using namespace lanescope;
using namespace lanescope::test;

TEST_CASE("a compacted file is shown in little first, by what its index says") {
  const TemporaryFolder folder;
  constexpr std::uint32_t kEvents = 1'234'567;
  write_long_recording(folder.path() / "log.trace", kEvents);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  std::vector<std::shared_ptr<const Trace>> shown;
  const auto whole = load_trace(folder.path() / "compact.trace", [&](double, std::shared_ptr<const Trace> partial) {
    if (partial) shown.push_back(std::move(partial));
    return LoadStep::kContinue;
  });
  REQUIRE(whole);
  REQUIRE(shown.size() == 1);  // and no parts of the whole, which would show less
  const Trace& outline = *shown.front();
  CHECK(outline.provenance().outline_only);
  CHECK_FALSE((*whole)->provenance().outline_only);
  REQUIRE(outline.tracks().size() == 1);
  CHECK(outline.threads()[outline.tracks()[0].key.thread].tid == 4711);
  const Lane& little = outline.lane(outline.tracks()[0].lanes[0]);
  const Lane& lane = (*whole)->lane((*whole)->tracks()[0].lanes[0]);
  REQUIRE(little.size() == (kEvents + 1'023) / 1'024);
  for (EventIndex i = 0; i < little.size(); ++i) {
    const EventIndex first = i * 1'024, last = std::min<EventIndex>(kEvents, first + 1'024);
    Nanoseconds busy = 0, of_name = 0;
    for (EventIndex k = first; k < last; ++k) {
      busy += lane.duration(k);
      if ((*whole)->name(lane.name(k)) == outline.name(little.name(i))) of_name += lane.duration(k);
    }
    REQUIRE(little.start(i) == lane.start(first));
    REQUIRE(little.duration(i) == busy);
    REQUIRE(2 * of_name >= busy);  // there are two names
  }
}

TEST_CASE("short recordings are not shown in little") {
  const TemporaryFolder folder;
  compacted(data_file("cuda_streams.trace"), folder.path() / "compact.trace");
  bool any = false;
  REQUIRE(load_trace(folder.path() / "compact.trace", [&](double, std::shared_ptr<const Trace> partial) {
    any |= partial && partial->provenance().outline_only;
    return LoadStep::kContinue;
  }));
  CHECK_FALSE(any);
}
