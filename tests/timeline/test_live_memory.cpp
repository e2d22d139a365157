// A recording that is followed for a long time takes little more memory than its budget. Bytes are asserted, not times.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "live_program.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/segments/scratch_memory.h"
#include "support/catch.h"
#include "timeline/core/view/view_content.h"

using namespace lanescope;
using namespace lanescope::timeline;
using namespace lanescope::test;

namespace {

// More in the nightly tests (packaging/nightly.sh).
std::uint64_t event_count() {
  const char* wanted = std::getenv("LANESCOPE_TEST_EVENTS");
  return wanted == nullptr ? 20'000'000 : std::strtoull(wanted, nullptr, 10);
}

// The field of this process's /proc status, in bytes.
std::uint64_t status(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string name; file >> name; file.ignore(4'096, '\n'))
    if (std::uint64_t kib = 0; name == field + ":" && file >> kib) return kib << 10;
  return 0;
}

}  // namespace

TEST_CASE("a recording of 20 million events that is drawn live takes its budget and at most 64 MiB of memory") {
  constexpr std::uint64_t kMiB = 1 << 20, kBudget = 64 * kMiB, kBeside = 64 * kMiB;
  SegmentCache::of_process().set_budget(kBudget);
  SmallTrace recording(EventMemory::kBudget);
  LiveProgram program(1, {&recording});
  const Sight sight{.range = {0, 0}, .moves = Sight::Moves::kWithAll, .width = 1'920, .height = 1'080};
  std::unique_ptr<ViewContent> content;
  std::uint64_t before = 0, most = 0, most_own = 0;
  int snapshots = 0;
  // Memory that only this process has, and all of its memory with the pages of files, which the system takes back if it needs memory.
  std::jthread watch([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
      const std::uint64_t own = status("RssAnon");
      most_own = std::max(most_own, own);
      most = std::max(most, own + status("RssFile"));
    }
  });
  for (std::uint64_t events = 0; events < event_count(); ++snapshots) {
    program.run_on(40'000, 20);
    const auto trace = recording.builder.snapshot();
    events = trace->event_count();
    content = content ? std::make_unique<ViewContent>(ViewContent::Base(*content), trace, Projecting::kAsBefore)
                      : std::make_unique<ViewContent>(trace, Projecting::kAsBefore);
    content->compute_pixels(sight, content->range_after(sight));
    if (snapshots == 0) before = status("RssFile");
    for (const Row& row : content->tree().rows())
      if (std::all_of(row.all.begin(), row.all.end(), [](const LaneSource& source) { return source.whole(); })) (void)content->contents().content(row.all);
  }
  const ScratchMemory::Use use = ScratchMemory::of_process().use();
  watch.request_stop();
  watch.join();
  INFO(content->trace()->event_count() << " events: at most " << most / kMiB << " MiB, " << most_own / kMiB << " without files, " << before / kMiB
                                       << " before; " << use.in_memory / kMiB << " MiB of blocks in memory, " << use.in_file / kMiB << " MiB in the file, "
                                       << use.written / kMiB << " MiB written");
  CHECK(content->trace()->event_count() >= event_count());
  CHECK(use.in_file > 3 * kBudget);
  CHECK(SegmentCache::of_process().problems().empty());
  CHECK(most_own < kBudget + kBeside);
  // Pages that were read back from the file are released again.
  bool is_given_up = false;
  for (int i = 0; i < 500 && !is_given_up; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_given_up = status("RssFile") < before + kBudget / 2;
  }
  CHECK(is_given_up);
}
