// A timeline of a recording whose segments are decoded on demand: pictures, what is under the cursor, and what is shown meanwhile.
#include <QScopeGuard>

#include "../../model/trace/compact/long_recording.h"
#include "../../model/trace/compact/recordings.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline_window.h"

using namespace lanescope;
using namespace lanescope::timeline;
using namespace lanescope::test;

namespace {

const Lane& longest_lane(const Trace& trace) {
  return *std::max_element(trace.lanes().begin(), trace.lanes().end(), [](const Lane& a, const Lane& b) { return a.size() < b.size(); });
}

void wait_until_ready(const TimelineView& view) {
  while (view.isMakingReady()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

// How often a segment was read so far, whole or to decode parts of it.
std::uint64_t segments_read() {
  const SegmentCache::Use use = SegmentCache::of_process().use();
  return use.decoded + use.in_parts;
}

// The picture when everything is finished that is not painted at once.
QImage settled_picture(TimelineView& view) {
  (void)view.grab();  // requests what is missing
  wait_until_ready(view);
  return view.grab().toImage();
}

std::unique_ptr<TimelineView> view_of(const std::shared_ptr<const Trace>& trace) {
  start_application();
  auto view = std::make_unique<TimelineView>();
  view->resize(1'000, 600);
  view->setTrace(trace);
  view->show();
  return view;
}

// Draws both ways at several zooms.
void check_same_pictures(const std::filesystem::path& compact) {
  const auto in_file = load_trace(compact, {}, EventPlace::kInFile);
  REQUIRE(in_file);
  REQUIRE_FALSE(holds_events(**in_file));
  const auto in_memory = loaded(compact);
  const auto memory = view_of(in_memory), file = view_of(*in_file);
  const TimeRange extent = in_memory->extent();
  for (const Nanoseconds part : {1, 3, 50, 2'000}) {
    const Nanoseconds begin = extent.begin + extent.length() / 3;
    const TimeRange range = part == 1 ? file->visibleRange() : TimeRange{begin, begin + std::max<Nanoseconds>(1'000, extent.length() / part)};
    memory->setVisibleRange(range);
    file->setVisibleRange(range);
    INFO("1/" << part);
    CHECK(settled_picture(*file) == settled_picture(*memory));
  }
}

}  // namespace

TEST_CASE("a timeline whose events are in the file looks the same as one whose events are in memory") {
  const TemporaryFolder folder;
  SegmentCache::of_process().set_budget(4 << 20);
  const auto usual = qScopeGuard([] { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); });
  write_long_recording(folder.path() / "log.trace", 600'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  check_same_pictures(folder.path() / "compact.trace");
}

TEST_CASE("an exact picture comes, however often the same is painted meanwhile") {
  const TemporaryFolder folder;
  SegmentCache::of_process().set_budget(1 << 20);
  const auto usual = qScopeGuard([] { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); });
  write_long_recording(folder.path() / "log.trace", 2'000'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto in_file = load_trace(folder.path() / "compact.trace", {}, EventPlace::kInFile);
  REQUIRE(in_file);
  const auto view = view_of(*in_file);
  (void)view->grab();
  REQUIRE(view->isMakingReady());
  const std::uint64_t before = segments_read();
  do (void)view->grab();
  while (QApplication::processEvents(), view->isMakingReady());
  // All of it was read for the picture, for the overview and for the sums of rows, but not again for each painting.
  CHECK(segments_read() > before);
  CHECK(segments_read() - before < 8 * longest_lane(**in_file).segment_count());
}

TEST_CASE("values of counters of an older file that come behind the picture leave it as it is") {
  const TemporaryFolder folder;
  SegmentCache::of_process().set_budget(16 << 10);
  const auto usual = qScopeGuard([] { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); });
  int compared = 0;
  for (const std::filesystem::path& recording : recordings()) {
    INFO(recording);
    compacted(recording, folder.path() / "compact.trace");
    const std::filesystem::path older = without_counter_heads(folder.path() / "compact.trace", folder.path() / "older.trace");
    std::shared_ptr<const Trace> first;  // without values
    const LoadProgress progress = [&](double, std::shared_ptr<const Trace> partial) {
      if (partial && !holds_events(*partial)) first = std::move(partial);
      return LoadStep::kContinue;
    };
    const auto whole = load_trace(older, progress, EventPlace::kInFile);
    REQUIRE(whole);
    if (!first || first == *whole || holds_events(**whole)) continue;
    ++compared;
    const auto with_rows_in_sight = [](const std::shared_ptr<const Trace>& trace) {
      auto made = view_of(trace);
      made->resize(1'000, 4'000);  // all rows, wherever they are
      return made;
    };
    const auto view = with_rows_in_sight(first);
    (void)settled_picture(*view);
    REQUIRE_FALSE(view->showsOutline());
    view->updateTrace(*whole);
    (void)view->grab();
    if (recording.filename() == "gpu_metrics.trace") CHECK_FALSE(view->showsOutline());  // in which no other rows of events come with them
    CHECK(settled_picture(*view) == settled_picture(*with_rows_in_sight(*whole)));
  }
  CHECK(compared > 1);
}

TEST_CASE("what is under the cursor is found in the file, and neighbours of what is selected are") {
  const TemporaryFolder folder;
  SegmentCache::of_process().set_budget(4 << 20);
  const auto usual = qScopeGuard([] { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); });
  write_long_recording(folder.path() / "log.trace", 300'000);
  compacted(folder.path() / "log.trace", folder.path() / "compact.trace");
  const auto in_file = load_trace(folder.path() / "compact.trace", {}, EventPlace::kInFile);
  REQUIRE(in_file);
  const std::uint64_t before = segments_read();
  const auto view = view_of(*in_file);
  (void)view->grab();
  CHECK(view->isMakingReady());  // the first picture waits for nothing
  wait_until_ready(*view);
  CHECK(segments_read() > before);

  const EventRef event{0, 200'000};
  view->zoomToEvent(event);
  (void)settled_picture(*view);
  QWidget* canvas = nullptr;
  for (QWidget* child : view->findChildren<QWidget*>())
    if (child->accessibleName() == "Timeline rows") canvas = child;
  REQUIRE(canvas != nullptr);
  view->clearSelection();
  const Viewport viewport{view->visibleRange(), canvas->width()};
  const Event wanted = (*in_file)->event(event);
  const double x = viewport.x_at(wanted.start + wanted.duration / 2);
  // Rows of the only process: one of them shows calls and has the event at this time.
  for (int y = 4; y < canvas->height() && !view->selectedEvent().valid(); y += 6) {
    QMouseEvent press(QEvent::MouseButtonPress, QPointF(x, y), canvas->mapToGlobal(QPointF(x, y)), Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(canvas, &press);
    QMouseEvent release(QEvent::MouseButtonRelease, QPointF(x, y), canvas->mapToGlobal(QPointF(x, y)), Qt::LeftButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(canvas, &release);
  }
  CHECK(view->selectedEvent() == event);
  view->selectNeighbour(Neighbour::kNext);
  CHECK(view->selectedEvent() == EventRef{0, 200'001});
  view->selectNeighbour(Neighbour::kPrevious);
  CHECK(view->selectedEvent() == event);
}
