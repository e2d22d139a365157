// lanescope-large-bench: how a compacted recording, or several as one trace, is shown and sorted while its events are read on demand. Prints a line of JSON for
// each part as soon as it is measured.
//
// Use: lanescope-large-bench FILE.trace... [--memory MIB] [--jumps N] [--folder FOLDER] [--orders] [--expand]
//
// Times are wall-clock milliseconds of this process with an offscreen window of 1920 × 1080 pixels. A frame is the work that the GUI thread does at once when
// it paints. Counters are there when their values and totals of memory have been read. Everything is settled when no row waits for a segment, and the busy time
// beside each row and the NVTX ranges on GPUs are known, for which all events are decoded once; the picture is exact before that. Memory is the largest
// resident memory so far; processor time is that of all threads since the process started.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <random>
#include <thread>
#include <utility>

#include <QApplication>
#include <QCommandLineParser>

#include <nlohmann/json.hpp>

#include "model/events/event_query.h"
#include "model/events/event_values.h"
#include "model/events/stored_order.h"
#include "model/import/open_trace.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/widget/timeline_view.h"

namespace {

using namespace lanescope;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

nlohmann::json spread(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  return {{"p50", percentile(values, 0.5)}, {"p99", percentile(values, 0.99)}, {"longest", percentile(values, 1)}};
}

std::int64_t peak_mib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss >> 10;
}

void print(const char* part, nlohmann::json result) {
  result["peak_mib"] = peak_mib();
  result["processor_ms"] = 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  std::cout << nlohmann::json{{part, std::move(result)}} << std::endl;
}

// Tells if a widget was painted since the last query.
class PaintWatch : public QObject {
 public:
  explicit PaintWatch(QWidget* of) { of->installEventFilter(this); }
  bool take() { return std::exchange(was_painted_, false); }

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    was_painted_ = was_painted_ || event->type() == QEvent::Paint;
    return false;
  }

 private:
  bool was_painted_ = false;
};

// Adds the time for which the thread was busy with a frame.
void paint_once(PaintWatch& painted, std::vector<double>& frames) {
  const auto begin = Clock::now();
  QApplication::processEvents();
  if (painted.take())
    frames.push_back(milliseconds_since(begin));
  else
    std::this_thread::sleep_for(std::chrono::microseconds(200));
}

// Paints until everything is settled. Returns the first time at which nothing was shown in outline, or -1.
double settle(timeline::TimelineView& view, PaintWatch& painted, std::vector<double>& frames, Clock::time_point begin) {
  double exact = -1;
  do {
    paint_once(painted, frames);
    if (exact < 0 && !view.showsOutline()) exact = milliseconds_since(begin);
  } while (view.isMakingReady());
  return exact;
}

// Opens files on a thread of its own, as the viewer does: first the trace that can be shown at once, then the whole trace.
class Opening {
 public:
  explicit Opening(std::vector<std::filesystem::path> paths)
      : thread_([this, paths = std::move(paths)] {
          const LoadProgress progress = [this](double, std::shared_ptr<const Trace> partial) {
            if (partial && !std::exchange(is_shown_, true)) first_.set_value(std::move(partial));
            return LoadStep::kContinue;
          };
          auto trace = open_traces(paths, EventPlace::kInFile, progress);
          if (!is_shown_) first_.set_value(trace ? *trace : nullptr);
          whole_.set_value(std::move(trace));
        }) {}

  // Waits for the trace that can be shown at once; null if there is none.
  std::shared_ptr<const Trace> first() { return first_.get_future().get(); }
  [[nodiscard]] bool is_done() const { return whole_future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  // Waits for the whole trace.
  Result<std::shared_ptr<const Trace>> whole() { return whole_future_.get(); }

 private:
  bool is_shown_ = false;
  std::promise<std::shared_ptr<const Trace>> first_;
  std::promise<Result<std::shared_ptr<const Trace>>> whole_;
  std::future<Result<std::shared_ptr<const Trace>>> whole_future_ = whole_.get_future();
  std::jthread thread_;
};

// Ranges at any place, with lengths from a microsecond to the whole recording.
std::vector<TimeRange> jumps(TimeRange extent, int count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<TimeRange> ranges;
  for (int i = 0; i < count; ++i) {
    const double longest = std::log(static_cast<double>(extent.length()));
    const auto length = static_cast<Nanoseconds>(std::exp(std::log(1e3) + share(random) * (longest - std::log(1e3))));
    const Nanoseconds begin = extent.begin + static_cast<Nanoseconds>(share(random) * static_cast<double>(extent.length() - length));
    ranges.push_back({begin, begin + length});
  }
  return ranges;
}

// The time until the first page of all events in this order is known, for example the longest first.
nlohmann::json first_page(const std::shared_ptr<const Trace>& trace, EventColumn column, const std::filesystem::path& folder) {
  const EventValues values(trace, EventScope::whole_trace(*trace));
  const auto stream = stream_by_start(*trace, values.scope().lanes(), {});
  std::stop_source enough;
  const auto begin = Clock::now();
  double took = -1;
  OrderListener listener;
  listener.first = [&](const std::vector<EventRef>&) {
    took = milliseconds_since(begin);
    enough.request_stop();
  };
  const auto order = StoredOrder::make(values, stream, column, SortDirection::kDescending, {.folder = folder}, listener, enough.get_token());
  if (!order) return {{"failed", order.error().text}};
  return {{"first_page_ms", took}, {"cancelled_after_ms", milliseconds_since(begin) - took}};
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  keep_memory_for_decoding();
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);  // like the viewer
#endif
  QApplication application(argc, argv);
  QCommandLineParser options;
  options.addHelpOption();
  options.addPositionalArgument("FILE", "A compacted recording; several are one trace.", "FILE...");
  options.addOption({"memory", "For decoded events.", "MIB", "1024"});
  options.addOption({"jumps", "How many ranges are shown.", "N", "200"});
  options.addOption({"folder", "For orders of events.", "FOLDER", "/tmp"});
  options.addOption({"orders", "Order by name, stream and correlation, too."});
  options.addOption({"expand", "Open all rows before the jumps."});
  options.process(application);
  std::vector<std::filesystem::path> paths;
  for (const QString& path : options.positionalArguments()) paths.emplace_back(path.toStdString());
  if (paths.empty()) {
    std::cerr << "Name a recording.\n";
    return 2;
  }
  SegmentCache::of_process().set_budget(options.value("memory").toULongLong() << 20);

  timeline::TimelineView view;
  view.resize(1920, 1080);
  view.show();
  QApplication::processEvents();
  PaintWatch painted(view.childAt(view.width() * 2 / 3, view.height() / 3));

  const auto begin = Clock::now();
  Opening opening(std::move(paths));
  const auto first = opening.first();
  const double opened = milliseconds_since(begin);
  if (first) {
    view.setTrace(first);
    view.repaint();
    print("first_frame", {{"events", first->event_count()}, {"is_in_file", !holds_events(*first)}, {"opened_ms", opened}, {"ms", milliseconds_since(begin)}});
  }
  std::vector<double> frames;
  double exact = -1;  // the picture
  while (!opening.is_done()) {
    paint_once(painted, frames);
    if (exact < 0 && first && !view.showsOutline()) exact = milliseconds_since(begin);
  }
  const auto trace = opening.whole();
  if (!trace) {
    std::cerr << trace.error().text << "\n";
    return 1;
  }
  const double counters = milliseconds_since(begin);
  print("counters", {{"ms", counters}});
  if (*trace != first) view.updateTrace(*trace);
  const double then_exact = settle(view, painted, frames, begin);
  print("settled", {{"ms", milliseconds_since(begin)},
                    {"exact_ms", exact < 0 ? then_exact : exact},
                    {"frame_ms", spread(frames)},
                    {"segments_decoded", SegmentCache::of_process().use().decoded},
                    {"times_decoded", SegmentCache::of_process().use().times},
                    {"read_in_parts", SegmentCache::of_process().use().in_parts}});

  if (options.isSet("expand")) view.expandAll();
  settle(view, painted, frames, begin);
  frames.clear();
  std::vector<double> settled;
  for (const TimeRange& range : jumps((*trace)->extent(), options.value("jumps").toInt())) {
    const auto jumped = Clock::now();
    view.setVisibleRange(range);
    settle(view, painted, frames, jumped);
    settled.push_back(milliseconds_since(jumped));
  }
  const SegmentCache::Use use = SegmentCache::of_process().use();
  print("jumps", {{"settled_ms", spread(settled)},
                  {"frame_ms", spread(frames)},
                  {"segments_decoded", use.decoded},
                  {"times_decoded", use.times},
                  {"segments_most_mib", use.most >> 20}});

  const std::filesystem::path folder = options.value("folder").toStdString();
  print("order_by_duration", first_page(*trace, EventColumn::kDuration, folder));
  print("order_by_gap", first_page(*trace, EventColumn::kGapBefore, folder));
  // Heads say nothing about these orders, so all events are read.
  if (options.isSet("orders"))
    for (const auto& [name, column] : {std::pair("order_by_name", EventColumn::kName), std::pair("order_by_stream", EventColumn::kStream),
                                       std::pair("order_by_correlation", EventColumn::kCorrelation)})
      print(name, first_page(*trace, column, folder));
}
