// Pictures of a recorded trace, compared with the reviewed ones in pictures/.
//
// A few edges of letters may differ between versions of the font renderer; colours, places and sizes may not. Where a picture differs, it
// is written beside the test's temporary files with what differs in red. LANESCOPE_UPDATE_PICTURES=1 replaces the expected ones.
#include <cmath>
#include <filesystem>
#include <memory>

#include <QApplication>
#include <QFontDatabase>
#include <QImage>
#include <QStyleFactory>

#include "model/trace/load.h"
#include "support/catch.h"
#include "support/paths.h"
#include "timeline/widget/timeline_view.h"

using namespace lanescope;
using namespace lanescope::timeline;

namespace {

enum class Look { kLight, kDark };

QPalette palette_of(Look look) {
  QPalette palette;
  const bool dark = look == Look::kDark;
  palette.setColor(QPalette::Base, dark ? QColor(0x1b, 0x1e, 0x22) : QColor(0xff, 0xff, 0xff));
  palette.setColor(QPalette::Window, dark ? QColor(0x23, 0x27, 0x2c) : QColor(0xf3, 0xf4, 0xf6));
  palette.setColor(QPalette::Text, dark ? QColor(0xdd, 0xe2, 0xe7) : QColor(0x1a, 0x1d, 0x21));
  return palette;
}

// Creates an application whose look does not depend on the machine.
void start_application() {
  if (QApplication::instance() != nullptr) return;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("QT_SCALE_FACTOR", "1");
  static int count = 1;
  static char name[] = "test";
  static char* arguments[] = {name, nullptr};
  new QApplication(count, arguments);  // lives as long as the process
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  REQUIRE(QFontDatabase::addApplicationFont(LANESCOPE_TEST_FONT) >= 0);
  QFont font("Lanescope Test Sans");
  font.setPixelSize(12);
  font.setHintingPreference(QFont::PreferNoHinting);
  font.setStyleStrategy(QFont::NoSubpixelAntialias);  // otherwise letters have coloured edges if the system's fonts are configured for that
  QApplication::setFont(font);
}

struct Picture {
  explicit Picture(Look look, const char* file = "torch_training_workers0.trace") {
    start_application();
    QApplication::setPalette(palette_of(look));
    view = std::make_unique<TimelineView>();
    view->setPalette(palette_of(look));
    view->resize(1'200, 560);
    auto loaded = load_trace(lanescope::test::data_file(file));
    REQUIRE(loaded);
    trace = *loaded;
    view->setTrace(trace);
    view->show();
  }
  [[nodiscard]] EventRef named(TrackKind kind, std::string_view name, int which = 0) const {
    for (LaneId lane = 0; lane < trace->lanes().size(); ++lane) {
      if (trace->track_of(lane).key.kind != kind) continue;
      for (EventIndex index = 0; index < trace->lane(lane).size(); ++index)
        if (trace->name(trace->lane(lane).name(index)).find(name) != std::string_view::npos && which-- == 0) return {lane, index};
    }
    FAIL("no event is called " << name);
    return {};
  }
  std::unique_ptr<TimelineView> view;
  std::shared_ptr<const Trace> trace;
};

int largest_difference(QRgb a, QRgb b) { return std::max({std::abs(qRed(a) - qRed(b)), std::abs(qGreen(a) - qGreen(b)), std::abs(qBlue(a) - qBlue(b))}); }

constexpr double kMostDifferent = 0.0005;  // of all pixels: 336 of these pictures, the letters of two names

struct Difference {
  double share = 0;  // of all pixels
  QImage marked;     // the shown picture, with differences in red
};

Difference difference(const QImage& shown, const QImage& expected) {
  constexpr int kClose = 12;  // of 255; less than between the lines of the grid and their background
  Difference found{0, shown};
  int different = 0;
  for (int y = 0; y < shown.height(); ++y)
    for (int x = 0; x < shown.width(); ++x)
      if (largest_difference(shown.pixel(x, y), expected.pixel(x, y)) > kClose) {
        ++different;
        found.marked.setPixel(x, y, qRgb(255, 0, 0));
      }
  found.share = static_cast<double>(different) / (shown.width() * shown.height());
  return found;
}

QImage picture_of(const TimelineView& view) { return const_cast<TimelineView&>(view).grab().toImage().convertToFormat(QImage::Format_RGB32); }

void require_picture(const TimelineView& view, const QString& name) {
  const QString path = QStringLiteral(LANESCOPE_TEST_PICTURES) + "/" + name + ".png";
  const QImage shown = picture_of(view);
  if (qEnvironmentVariableIsSet("LANESCOPE_UPDATE_PICTURES")) REQUIRE(shown.save(path));
  const QImage expected = QImage(path).convertToFormat(QImage::Format_RGB32);
  REQUIRE(expected.size() == shown.size());
  const auto [share, marked] = difference(shown, expected);
  if (share > kMostDifferent) {
    const auto folder = QString::fromStdString(std::filesystem::temp_directory_path().string());
    shown.save(folder + "/lanescope-" + name + "-shown.png");
    marked.save(folder + "/lanescope-" + name + "-different.png");
    UNSCOPED_INFO("written to " << folder.toStdString());
  }
  REQUIRE(share <= kMostDifferent);
}

}  // namespace

TEST_CASE("the whole of a training looks as it did") {
  const Picture picture(Look::kLight);
  require_picture(*picture.view, "whole");
}

TEST_CASE("a training step, its kernels and the arrow from a launch look as they did") {
  const Look look = GENERATE(Look::kLight, Look::kDark);
  const Picture picture(look);
  const Event step = picture.trace->event(picture.named(TrackKind::kNvtxRanges, "step 12"));
  picture.view->setVisibleRange({step.start - step.duration / 20, step.end() + step.duration / 20});
  picture.view->expandRow("gpu:0/nvtx");
  const LaneId calls = picture.named(TrackKind::kCudaApi, "cudaLaunchKernel").lane;
  EventRef launch{calls, picture.trace->lane(calls).lower_bound(step.start)};
  while (picture.trace->work_of(launch).empty()) ++launch.index;
  picture.view->selectEvent(launch);
  REQUIRE_FALSE(picture.view->correlatedEvents().empty());
  require_picture(*picture.view, look == Look::kLight ? "step" : "step_dark");
}

TEST_CASE("a kernel, the call that launched it and the arrow between them look as they did") {
  const Picture picture(Look::kLight);
  const Event step = picture.trace->event(picture.named(TrackKind::kNvtxRanges, "step 12"));
  const LaneId kernels = picture.named(TrackKind::kKernels, "tn_n_tilesize32x32x8").lane;
  EventRef kernel{kernels, picture.trace->lane(kernels).lower_bound(step.start)};
  while (picture.trace->event(kernel).duration < 200'000) ++kernel.index;  // the longest one
  const Event shown = picture.trace->event(kernel);
  picture.view->setVisibleRange({shown.start - shown.duration / 4, shown.end() + shown.duration / 4});
  picture.view->selectEvent(kernel);
  REQUIRE(picture.view->correlatedEvents().size() == 1);
  require_picture(*picture.view, "kernel");
}

TEST_CASE("a search, a pinned row, a marker and a measured range look as they did") {
  const Picture picture(Look::kLight);
  const Event step = picture.trace->event(picture.named(TrackKind::kNvtxRanges, "step 12"));
  picture.view->setVisibleRange({step.start - step.duration, step.end() + step.duration});
  picture.view->pin("gpu:0/kernels");
  picture.view->setHighlightedText("backward");
  picture.view->addMarker(step.start, "step 12");
  picture.view->setSelectedRange(TimeRange{step.start + step.duration / 4, step.start + step.duration / 2});
  require_picture(*picture.view, "search");
}

TEST_CASE("processors, states of threads, samples and calls of a program without a GPU look as they did") {
  const Picture picture(Look::kLight, "cpu_loader.trace");
  picture.view->expandRow("processors");
  const TimeRange all = picture.trace->extent();
  picture.view->setVisibleRange({all.end - 600'000'000, all.end - 350'000'000});
  picture.view->pin("processors");
  require_picture(*picture.view, "threads");
}

TEST_CASE("GPU metrics look as they did") {
  const Picture picture(Look::kDark, "gpu_metrics.trace");
  picture.view->expandRow("gpu:0/metrics");
  picture.view->setVisibleRange({4'700'000'000, 5'600'000'000});
  require_picture(*picture.view, "metrics");
}

TEST_CASE("a row that moved by two pixels, or has another colour, is another picture") {
  const Picture picture(Look::kLight);
  const Event step = picture.trace->event(picture.named(TrackKind::kNvtxRanges, "step 12"));
  picture.view->setVisibleRange({step.start, step.end()});
  const QImage shown = picture_of(*picture.view);
  REQUIRE(difference(shown, shown).share == 0);
  constexpr int kTop = 150, kHeight = 20;  // about one row
  QImage moved = shown;
  for (int y = kTop; y < kTop + kHeight; ++y)
    for (int x = 0; x < shown.width(); ++x) moved.setPixel(x, y, shown.pixel(x, y - 2));
  CHECK(difference(moved, shown).share > kMostDifferent);

  const QPalette before = picture.view->palette();
  QPalette other = before;
  other.setColor(QPalette::Base, QColor(0xff, 0xff, 0xf0));
  picture.view->setPalette(other);
  CHECK(difference(picture_of(*picture.view), shown).share > kMostDifferent);
}
