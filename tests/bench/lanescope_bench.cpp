// lanescope-bench: how fast large traces open, draw, sort and filter. Prints one JSON object.
//
// Use: lanescope-bench --events N [--source FILE.trace ...] [--input FILE.trace] [--only drawing|table|live] [--rounds R] [--rate N]
//
// The input is made of recorded traces (tests/data, or --source), repeated in time up to N events; --input takes a file as it is. Times are wall-clock
// milliseconds of this process with an offscreen window of 1920 × 1080 pixels and every row expanded; a frame is what the view paints by itself after it was
// moved.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>

#include <time.h>

#include <QApplication>
#include <QCommandLineParser>
#include <QImage>
#include <QMouseEvent>

#include <nlohmann/json.hpp>

#include "model/events/event_query.h"
#include "model/events/event_values.h"
#include "model/file/trace_file.h"
#include "model/trace/ingest/frame_ingest.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/segments/scratch_memory.h"
#include "repeat_trace.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/widget/timeline_view.h"

namespace {

using namespace lanescope;
using Clock = std::chrono::steady_clock;

double milliseconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Processor time of this thread so far; it distinguishes slow work from a busy machine.
double thread_milliseconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

nlohmann::json spread(const std::vector<double>& values) { return {{"p50", percentile(values, 0.5)}, {"p99", percentile(values, 0.99)}}; }

// From the whole trace down to a few events and back, with a pan of a tenth of the window between two zooms.
std::vector<TimeRange> zoom_and_pan_path(TimeRange extent) {
  std::vector<TimeRange> path;
  const double shortest = 2'000;  // ns
  const Nanoseconds focus = extent.begin + extent.length() / 3;
  for (double length = static_cast<double>(extent.length()); length > shortest; length *= 0.8) {
    const auto n = static_cast<Nanoseconds>(length);
    const Nanoseconds begin = std::clamp(focus - n / 3, extent.begin, extent.end - n);
    path.push_back({begin, begin + n});
    const Nanoseconds panned = std::clamp(begin + n / 10, extent.begin, extent.end - n);
    path.push_back({panned, panned + n});
  }
  std::vector<TimeRange> back(path.rbegin(), path.rend());
  path.insert(path.end(), back.begin(), back.end());
  return path;
}

// Counts how often a widget is painted.
class PaintCount : public QObject {
 public:
  explicit PaintCount(QWidget* of) { of->installEventFilter(this); }
  [[nodiscard]] int count() const { return count_; }

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Paint) ++count_;
    return false;
  }

 private:
  int count_ = 0;
};

QWidget* canvas_of(const timeline::TimelineView& view) { return view.childAt(view.width() * 2 / 3, view.height() / 3); }

void mouse(QWidget& target, QEvent::Type type, QPointF at, Qt::MouseButton button) {
  QMouseEvent event(type, at, target.mapToGlobal(at), button, type == QEvent::MouseButtonPress ? button : Qt::NoButton, Qt::NoModifier);
  QApplication::sendEvent(&target, &event);
}

void wait_until_exact(const timeline::TimelineView& view) {
  while (view.showsOutline()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

// The gaps of GPUs are shaded and named, as in a window.
void measure_drawing(timeline::TimelineView& view, int rounds, nlohmann::json& result) {
  constexpr Nanoseconds kShortestGap = 10'000;
  result["idle_time_ms"] = milliseconds([&] { view.setIdleTime(std::make_shared<const timeline::IdleTime>(view.trace(), kShortestGap)); });
  const auto begin = Clock::now();
  result["expand_all_ms"] = milliseconds([&] {
    view.expandAll();
    view.repaint();
  });
  wait_until_exact(view);
  result["expand_all_exact_ms"] = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  PaintCount painted(canvas_of(view));
  std::vector<double> frames, fastest;
  for (int round = 0; round < rounds; ++round) {
    std::size_t step = 0;
    for (const TimeRange& range : zoom_and_pan_path(view.trace()->extent())) {
      const bool moves = range != view.visibleRange();
      const int before = painted.count();
      frames.push_back(milliseconds([&] {
        view.setVisibleRange(range);
        QApplication::processEvents();
      }));
      if (moves && painted.count() == before) std::cerr << "A frame was not painted.\n";
      if (round == 0) fastest.push_back(frames.back());
      fastest[step] = std::min(fastest[step], frames.back());
      ++step;
    }
  }
  result["frame_ms"] = spread(frames);
  if (rounds > 1) result["fastest_frame_ms"] = spread(fastest);
  result["rows"] = view.rows().rows().size();

  view.zoomToFit();
  view.repaint();
  wait_until_exact(view);
  QWidget* canvas = canvas_of(view);
  std::vector<double> hovers, hovers_processor, selects;
  for (int i = 0; canvas != nullptr && i < 100; ++i) {
    const QPointF at(canvas->width() * (0.1 + 0.008 * i), canvas->height() * (0.05 + 0.007 * i));
    const double before = thread_milliseconds();
    hovers.push_back(milliseconds([&] {
      mouse(*canvas, QEvent::MouseMove, at, Qt::NoButton);
      QApplication::processEvents();
    }));
    hovers_processor.push_back(thread_milliseconds() - before);
    selects.push_back(milliseconds([&] {
      mouse(*canvas, QEvent::MouseButtonPress, at, Qt::LeftButton);
      mouse(*canvas, QEvent::MouseButtonRelease, at, Qt::LeftButton);
      QApplication::processEvents();
    }));
  }
  if (!hovers.empty()) {
    result["hover_ms"] = spread(hovers);
    result["hover_processor_ms"] = spread(hovers_processor);  // of the thread that draws
    result["select_ms"] = spread(selects);
  }
}

void measure_table(const std::shared_ptr<const Trace>& shared, nlohmann::json& result) {
  const Trace& trace = *shared;
  const EventScope scope = EventScope::whole_trace(trace);
  const std::vector<LaneId>& lanes = scope.lanes();
  std::vector<EventRef> events;
  result["gather_ms"] = milliseconds([&] { events = gather_events(trace, lanes, {}); });
  const EventValues values(shared, scope);
  std::vector<double> first, whole;
  for (const EventColumn column : {EventColumn::kStart, EventColumn::kDuration, EventColumn::kCorrelation}) {
    first.push_back(milliseconds([&] { (void)first_events(values, events, column, SortDirection::kDescending, 100); }));
    whole.push_back(milliseconds([&] { (void)sort_events(values, events, column, SortDirection::kDescending); }));
  }
  result["sort_ms"] = {{"first_page", percentile(first, 1)}, {"whole", percentile(whole, 1)}};
  EventFilter by_name, by_duration;
  by_name.text = "gemm";
  by_duration.minimum_duration = 20'000;
  result["filter_ms"] = {{"name", milliseconds([&] { (void)gather_events(trace, lanes, by_name); })},
                         {"duration", milliseconds([&] { (void)gather_events(trace, lanes, by_duration); })}};
}

// Draws a recording while it runs. One thread reads the frames of the file at the rate at which they would come, and publishes a snapshot ten times a second;
// the view prepares each snapshot on a thread of its own; this thread draws it. A frame is what this thread does for a snapshot.
void measure_live(const std::filesystem::path& path, timeline::TimelineView& view, double events_per_second, nlohmann::json& result) {
  constexpr auto kSnapshotInterval = std::chrono::milliseconds(100);  // like LiveRecording
  auto reader = TraceFileReader::open(path);
  if (!reader) return;
  view.setTrace(nullptr);
  QApplication::processEvents();
  std::shared_ptr<const Trace> published, ready;
  std::vector<double> frames, frames_cpu, readied;
  std::atomic<bool> ended = false;
  double ingest_cpu_s = 0;
  QObject here;  // lives on this thread
  std::vector<std::pair<const Trace*, Clock::time_point>> under_way;
  QObject::connect(&view, &timeline::TimelineView::traceReady, &here, [&](const std::shared_ptr<const Trace>& trace) {
    ready = trace;
    const auto request = std::find_if(under_way.begin(), under_way.end(), [&](const auto& each) { return each.first == trace.get(); });
    readied.push_back(std::chrono::duration<double, std::milli>(Clock::now() - request->second).count());
    under_way.erase(under_way.begin(), request + 1);
  });
  const auto publish = [&](std::shared_ptr<const Trace> snapshot) {
    QMetaObject::invokeMethod(
        &here,
        [&, snapshot = std::move(snapshot)] {
          under_way.emplace_back(snapshot.get(), Clock::now());
          view.makeReady(published = snapshot);
        },
        Qt::QueuedConnection);
  };

  PaintCount painted(canvas_of(view));
  std::uint64_t events = 0;
  const auto begin = Clock::now();
  std::thread recording([&] {
    TraceBuilder builder(TraceBuilder::LaneWork::kWhereAdded, EventMemory::kBudget);
    FrameIngest ingest(builder);
    auto next_snapshot = begin + kSnapshotInterval;
    while (const auto frame = reader->next()) {
      std::this_thread::sleep_until(
          begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(static_cast<double>(events) / events_per_second)));
      ingest.add(*frame);
      events += frame->header.event_count;
      if (Clock::now() < next_snapshot) continue;
      publish(builder.snapshot());
      next_snapshot = Clock::now() + kSnapshotInterval;
    }
    publish(builder.snapshot());
    ingest_cpu_s = thread_milliseconds() / 1e3;
    ended = true;
    QMetaObject::invokeMethod(
        &here, [] {}, Qt::QueuedConnection);  // wakes this thread
  });
  while (!ended || view.trace() != published) {
    QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    if (!ready) continue;
    const int before = painted.count();
    const double cpu_before = thread_milliseconds();
    frames.push_back(milliseconds([&] {
      view.updateTrace(std::exchange(ready, nullptr));
      QApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
    }));
    frames_cpu.push_back(thread_milliseconds() - cpu_before);
    if (painted.count() == before) std::cerr << "A frame was not painted.\n";
  }
  recording.join();
  const double took_s = std::chrono::duration<double>(Clock::now() - begin).count();
  result["live"] = {{"events_per_s", static_cast<double>(events) / took_s},
                    {"events_per_ingest_cpu_s", static_cast<double>(events) / ingest_cpu_s},
                    {"frames", frames.size()},
                    {"in_memory_mb", static_cast<double>(ScratchMemory::of_process().use().in_memory) / 1e6},
                    {"in_file_mb", static_cast<double>(ScratchMemory::of_process().use().in_file) / 1e6},
                    {"frame_ms", spread(frames)},
                    {"frame_cpu_ms", spread(frames_cpu)},
                    {"ready_after_ms", spread(readied)}};
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  keep_memory_for_decoding();
  QApplication application(argc, argv);
  QCommandLineParser options;
  options.addHelpOption();
  options.addOption({"events", "Events in the input.", "N", "10000000"});
  options.addOption({"source", "A recorded trace to repeat; may be given again.", "FILE"});
  options.addOption({"input", "A file to measure as it is.", "FILE"});
  options.addOption({"rounds", "How often to walk along the path of frames: the fastest of each tells a busy machine from slow drawing.", "R", "1"});
  options.addOption({"rate", "Events a second of the recording that is drawn live.", "N", "2000000"});
  options.addOption({"memory", "MiB of memory for events of the recording that is drawn live; else as the viewer has it.", "N"});
  options.addOption({"only", "Measure just this after opening: drawing, table or live.", "PART"});
  options.process(application);
  if (options.isSet("memory")) SegmentCache::of_process().set_budget(options.value("memory").toULongLong() << 20);

  std::filesystem::path input = options.value("input").toStdString();
  const auto wanted = options.value("events").toULongLong();
  if (input.empty()) {
    std::vector<std::filesystem::path> sources;
    for (const QString& source : options.values("source")) sources.emplace_back(source.toStdString());
    if (sources.empty())
      for (const auto& entry : std::filesystem::directory_iterator(LANESCOPE_TEST_DATA))
        if (entry.path().extension() == ".trace") sources.push_back(entry.path());
    std::sort(sources.begin(), sources.end());
    input = std::filesystem::temp_directory_path() / ("lanescope-bench-" + std::to_string(wanted) + ".trace");
    const auto made = bench::repeat_trace(sources, wanted, input);
    if (!made) {
      std::cerr << made.error().text << "\n";
      return 1;
    }
  }

  nlohmann::json result;
  timeline::TimelineView view;
  view.resize(1920, 1080);
  view.show();
  QApplication::processEvents();
  std::shared_ptr<const Trace> trace;
  (void)load_trace(input);  // the file is in the page cache from here on

  double first_frame = 0;
  const auto begin = Clock::now();
  const auto since_begin = [&] { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); };
  auto loaded = load_trace(input, [&](double, std::shared_ptr<const Trace> partial) {
    if (partial && first_frame == 0) {
      view.setTrace(std::move(partial));
      view.repaint();
      first_frame = since_begin();
    }
    return LoadStep::kContinue;
  });
  if (!loaded) {
    std::cerr << loaded.error().text << "\n";
    return 1;
  }
  trace = std::move(*loaded);
  view.setTrace(trace);
  view.repaint();
  wait_until_exact(view);
  const double exact_frame = since_begin();
  if (first_frame == 0) first_frame = exact_frame;
  while (view.isMakingReady()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);

  result["events"] = trace->event_count();
  result["file_bytes"] = std::filesystem::file_size(input);
  if (options.isSet("input"))  // the size of a repeated recording does not tell how small a real one is
    result["disk_bytes_per_event"] = static_cast<double>(std::filesystem::file_size(input)) / static_cast<double>(trace->event_count());
  result["first_frame_ms"] = first_frame;
  result["exact_frame_ms"] = exact_frame;
  result["open_events_per_s"] = static_cast<double>(trace->event_count()) / exact_frame * 1e3;
  const QString only = options.value("only");
  if (only.isEmpty() || only == "drawing") measure_drawing(view, std::max(1, options.value("rounds").toInt()), result);
  result["ram_bytes_per_event"] = static_cast<double>(trace->memory_bytes() + view.memoryBytes()) / static_cast<double>(trace->event_count());
  if (only.isEmpty() || only == "table") measure_table(trace, result);
  if (only.isEmpty() || only == "live") measure_live(input, view, options.value("rate").toDouble(), result);
  std::cout << result.dump(2) << std::endl;
}
