// Gaps of GPUs are the same everywhere: a finding about idle GPUs, its line in Bubbles, its place on the timeline and its number show the same gap, in
// recordings of training loops on one GPU, on two and on four.
#include <QAccessible>

#include <algorithm>
#include <cmath>
#include <map>

#include "fixture/four_gpus.h"
#include "fixture/gestures.h"
#include "fixture/menus.h"
#include "fixture/panel_tables.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/rule.h"
#include "model/trace/load.h"
#include "timeline/core/lanes/idle_time.h"
#include "timeline/core/words/format.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// In the form of findings: with three digits.
QString three_digits(Nanoseconds time) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  for (const auto& [unit, name] : kUnits) {
    const double number = static_cast<double>(time) / unit;
    if (number < 0.9995) continue;
    return QString::number(number, 'f', number < 9.995 ? 2 : number < 99.95 ? 1 : 0) + " " + name;
  }
  return QString::number(time) + " ns";
}

std::vector<analysis::Finding> findings_of_idle_gpus(const Trace& trace) {
  const auto answer = analysis::apply_rule(trace, *analysis::parse_rule("gpu_bubbles"));
  return answer ? answer->findings : std::vector<analysis::Finding>();
}

}  // namespace

class GapsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    four_ = folder_.path() / "four.trace";
    write_four_gpus(data_file("ranks_compute.trace"), four_);
  }
  void cleanup() { window_.reset(); }

  // If there is no further gap, pressing the key says so, until a gap is selected.
  void thatNoGapFollowsIsSaid() {
    window_ = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window_);
    const auto press = [&](Qt::KeyboardModifiers modifiers) { QTest::keyClick(&window_->timelineView(), Qt::Key_G, modifiers); };
    const auto says = [&](const QString& text) { return window_->messages().text().contains(text); };
    for (int gaps = 0; gaps < 10'000 && !says("No gap of a GPU follows"); ++gaps) press(Qt::NoModifier);
    QVERIFY(says("No gap of a GPU follows"));
    QVERIFY(window_->timelineView().selectedGap());
    press(Qt::ShiftModifier);
    QVERIFY2(window_->messages().text().isEmpty(), qPrintable(window_->messages().text()));
    for (int gaps = 0; gaps < 10'000 && !says("No gap of a GPU comes before"); ++gaps) press(Qt::ShiftModifier);
    QVERIFY(says("No gap of a GPU comes before"));

    window_ = window_of(recorded("cpu_loader.trace"));
    QVERIFY(window_);
    press(Qt::NoModifier);
    QVERIFY2(says("no GPU work"), qPrintable(window_->messages().text()));
  }

  // Its place is a part of time: the gap of the finding that was chosen before is not of it.
  void aFindingOfSomethingElseLeavesNoGapSelected() {
    window_ = window_of(recorded("numba_streams_bug.trace"));
    QVERIFY(window_);
    window_->showPanel("findings");
    QVERIFY(settle(*window_));
    ui::ResultTable& table = window_->findings().findings();
    QVERIFY(Gestures(*window_).click_row(table, 0));
    QVERIFY(window_->timelineView().selectedGap());
    QVERIFY2(window_->details().text().contains("idle for"), qPrintable(window_->details().text()));
    QVERIFY(Gestures(*window_).click_row(table, 1));
    QVERIFY2(window_->findings().answer().contains("all of them ran on one stream"), qPrintable(window_->findings().answer()));
    QVERIFY(!window_->timelineView().selectedGap());
    QVERIFY(!window_->state().selectedRange());
    QVERIFY2(!window_->details().text().contains("idle for"), qPrintable(window_->details().text()));
  }

  void aFindingItsLineItsPlaceAndItsNumberAreOneGap_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("gpus");
    QTest::newRow("one GPU") << recorded("torch_training_workers0.trace") << 1;
    QTest::newRow("one GPU, sampled") << recorded("torch_loader_samples.trace") << 1;
    QTest::newRow("two GPUs") << recorded("ranks_compute.trace") << 2;
    QTest::newRow("four GPUs") << QString::fromStdString(four_.string()) << 4;
  }
  void aFindingItsLineItsPlaceAndItsNumberAreOneGap() {
    QFETCH(QString, path);
    QFETCH(int, gpus);
    window_ = window_of(path);
    QVERIFY(window_);
    window_->resize(1500, 1000);
    const std::shared_ptr<const Trace> trace = window_->state().trace();
    QCOMPARE(int(trace->gpus().size()), gpus);
    const std::vector<analysis::Finding> findings = findings_of_idle_gpus(*trace);
    QVERIFY(!findings.empty());
    const analysis::Bubbles bubbles = analysis::find_bubbles(*trace, 10'000);
    for (const analysis::Finding& finding : findings) {
      const TimeRange range = finding.place.range;
      const auto bubble = std::find_if(bubbles.bubbles.begin(), bubbles.bubbles.end(),
                                       [&](const analysis::Bubble& each) { return each.gap.range == range && each.gap.gpu == finding.place.gpu; });
      QVERIFY2(bubble != bubbles.bubbles.end(), finding.title.english().c_str());
      const QString gpu = QString("GPU %1").arg(trace->gpus()[finding.place.gpu].ordinal);

      // The finding: its number is the length of the gap, and choosing it shows the gap and the operation that ended it.
      window_->showPanel("findings");
      QVERIFY(settle(*window_));
      ui::ResultTable& table = window_->findings().findings();
      const int row = row_of(table, "Finding", QString::fromStdString(finding.title.english()));
      QVERIFY2(row >= 0, finding.title.english().c_str());
      table.scrollTo(table.model()->index(row, 1));
      QVERIFY(Gestures(*window_).click_row(table, row));
      const QString answer = window_->findings().answer().replace(QChar::Nbsp, u' ');
      QVERIFY2(answer.contains(" " + three_digits(range.length())), qPrintable(answer + " lacks " + three_digits(range.length())));
      const auto is_selected = [&] {
        const std::optional<timeline::Gap> gap = window_->timelineView().selectedGap();
        return gap && gap->range == range && gap->gpu == finding.place.gpu && window_->state().selectedRange() == range &&
               !window_->state().selectedEvent().valid();
      };
      QVERIFY(is_selected());
      const TimeRange visible = window_->timelineView().visibleRange();
      QVERIFY(visible.begin <= range.begin && visible.end >= range.end);

      // The place: a click on the row of the GPU selects the gap, and Details shows the same number and its cause.
      const std::optional<timeline::Gap> clicked = clickGap(finding.place.gpu, range);
      QVERIFY2(clicked, qPrintable(gpu));
      QVERIFY(clicked->range == range);
      QCOMPARE(clicked->gpu, finding.place.gpu);
      QCOMPARE(clicked->cause, bubble->main_cause());
      QVERIFY(settle(*window_));
      const QString details = window_->findChild<ui::DetailsPanel*>()->text().replace(QChar::Nbsp, u' ');
      const QString idle = QString("%1 idle for %2").arg(gpu, QString::fromStdString(timeline::format_duration(range.length())));
      QVERIFY2(details.contains(idle), qPrintable(details + " lacks " + idle));
      Nanoseconds of_cause = 0;
      for (const analysis::IdlePart& part : bubble->parts) of_cause += part.cause == bubble->main_cause() ? part.range.length() : 0;
      QVERIFY2(details.contains(QString::fromStdString(timeline::format_duration(of_cause))), qPrintable(details));

      // The line: only one line of this GPU starts there; it has the same length, and selects the same gap.
      window_->state().setSelectedRange(std::nullopt);
      window_->showPanel("bubbles");
      QVERIFY(settle(*window_));
      ui::ResultTable& gaps = window_->bubbles().gaps();
      const stats::Table& lines = *gaps.results().table();
      std::vector<ui::TableRow> found;
      for (ui::TableRow line = 0; line < lines.row_count(); ++line) {
        const std::string_view of = lines.text(lines.columns()[2].text(line));
        if (lines.columns()[3].integer(line) == range.begin && (gpus == 1 || of == gpu.toStdString())) found.push_back(line);
      }
      QCOMPARE(found.size(), std::size_t{1});
      QCOMPARE(lines.columns()[0].integer(found[0]), range.length());
      QCOMPARE(lines.columns()[1].integer(found[0]), range.length());
      window_->state().setSelectedEvent({});
      gaps.chooseRow(found[0]);
      QVERIFY(is_selected());
    }
  }

  // Although start-up has a gap of 3.8 s, and the loop none of 20 ms.
  void gapsOfTheLoopAreListedFirst() {
    window_ = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window_);
    const std::vector<analysis::Finding> findings = findings_of_idle_gpus(*window_->state().trace());
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    const stats::Table& lines = *window_->bubbles().gaps().results().table();
    QCOMPARE(lines.columns()[4].title, std::string("When"));
    QCOMPARE(lines.columns()[1].integer(0), findings.front().place.range.length());
    std::vector<std::pair<std::string, Nanoseconds>> order;
    for (ui::TableRow line = 0; line < lines.row_count(); ++line)
      order.emplace_back(lines.text(lines.columns()[4].text(line)), -lines.columns()[0].integer(line));
    QVERIFY(std::is_sorted(order.begin(), order.end()));  // "loop" before "setup", the longest first
    const auto setup = std::find_if(order.begin(), order.end(), [](const auto& line) { return line.first == "setup"; });
    QVERIFY(order.front().first == "loop" && setup != order.end() && -setup->second > 3'000'000'000);
  }

  // Ctrl+Shift+G uses the GPU whose row, or a row below it, is current.
  void theLongestGapsAreOfTheGpuThatIsChosen() {
    window_ = window_of(recorded("ranks_compute.trace"));
    QVERIFY(window_);
    const timeline::RowTree& rows = window_->timelineView().rows();
    std::vector<timeline::RowIndex> gpus;
    for (timeline::RowIndex row = 0; row < rows.rows().size(); ++row)
      if (rows.row(row).kind == timeline::RowKind::kGpu) gpus.push_back(row);
    QCOMPARE(gpus.size(), std::size_t{2});
    const auto key_of = [&](timeline::RowIndex row) { return QString::fromStdString(rows.row(row).key); };
    const auto listed_of = [&](const QString& row) {
      window_->timelineView().setCurrentRow(row);
      return Gestures(*window_).press(Qt::CTRL | Qt::SHIFT | Qt::Key_G) && window_->state().shownRow() ? window_->state().shownRow()->key : QString();
    };
    QCOMPARE(listed_of(key_of(gpus[1])), key_of(gpus[1]));
    QVERIFY2(window_->messages().text().isEmpty(), qPrintable(window_->messages().text()));
    QCOMPARE(listed_of(key_of(rows.row(gpus[1]).children.front())), key_of(gpus[1]));
    QCOMPARE(listed_of("processes"), key_of(gpus[0]));
    QVERIFY2(window_->messages().text().contains("another GPU"), qPrintable(window_->messages().text()));
  }

  // The cost of a finding is the sum of the groups of its cause.
  void whatAFindingCostsIsWhatItsGroupsHave_data() { aFindingItsLineItsPlaceAndItsNumberAreOneGap_data(); }
  void whatAFindingCostsIsWhatItsGroupsHave() {
    QFETCH(QString, path);
    window_ = window_of(path);
    QVERIFY(window_);
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    const stats::Table& groups = *window_->bubbles().groups().results().table();
    const auto text_of = [&](std::string_view title, ui::TableRow row) {
      const auto column = std::find_if(groups.columns().begin(), groups.columns().end(), [&](const stats::Column& each) { return each.title == title; });
      return column == groups.columns().end() ? std::string() : std::string(groups.text(column->text(row)));
    };
    std::map<std::string, Nanoseconds> in_loop;
    Nanoseconds outside = 0;
    for (ui::TableRow row = 0; row < groups.row_count(); ++row) {
      const Nanoseconds time = groups.columns()[0].integer(row);
      text_of("When", row) == "setup" ? outside += time : in_loop[text_of("Cause", row)] += time;
    }
    for (const analysis::Finding& finding : findings_of_idle_gpus(*window_->state().trace())) {
      if (finding.recurrence == analysis::Recurrence::kOnce) {
        QCOMPARE(finding.cost, outside);
        continue;
      }
      int causes = 0;
      for (std::size_t i = 0; i < analysis::kIdleCauses; ++i)
        if (const auto cause = static_cast<analysis::IdleCause>(i); finding.key == analysis::idle_cause_key(cause)) {
          ++causes;
          QCOMPARE(finding.cost, in_loop[std::string(analysis::idle_cause_name(cause))]);
        }
      QVERIFY2(causes == 1, finding.key.c_str());
    }
  }

  // Each GPU has one line on the first screen, with its gaps behind its work, and the launching threads are visible below.
  void severalGpusHaveALineEach_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("gpus");
    QTest::newRow("two") << recorded("ranks_compute.trace") << 2;
    QTest::newRow("four") << QString::fromStdString(four_.string()) << 4;
  }
  void severalGpusHaveALineEach() {
    QFETCH(QString, path);
    QFETCH(int, gpus);
    window_ = window_of(path);
    QVERIFY(window_);
    window_->resize(1600, 1000);
    QVERIFY(settle(*window_));
    QWidget* rows = part(*window_, "Timeline rows");
    const QAccessibleInterface* all = QAccessible::queryAccessibleInterface(rows);
    QStringList names;
    for (int i = 0; i < all->childCount(); ++i) {
      const QRect rect = all->child(i)->rect();
      if (rows->rect().contains(QRect(rows->mapFromGlobal(rect.topLeft()), rect.size()))) names += all->child(i)->text(QAccessible::Name);
    }
    for (int gpu = 0; gpu < gpus; ++gpu) QVERIFY2(names.value(gpu).startsWith(QString("GPU %1 ").arg(gpu)), qPrintable(names.join(u'\n')));
    QVERIFY2(!names.value(gpus).startsWith("CUDA HW"), qPrintable(names.join(u'\n')));
    for (const char* launching : {"NVTX", "CUDA API"})
      QVERIFY2(std::any_of(names.begin(), names.end(), [&](const QString& name) { return name.startsWith(launching); }), qPrintable(names.join(u'\n')));
  }

  void severalFilesHaveALineForEachGpu() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    window_->openTogether({recorded("ranks_late0.trace"), recorded("ranks_late1.trace")});
    QVERIFY(opened.wait(kPatienceMs));
    window_->resize(1600, 1000);
    QVERIFY(settle(*window_));
    const QStringList names = namesInSight();
    for (const char* gpu : {"GPU 0 ", "GPU 1 "})
      QVERIFY2(std::any_of(names.begin(), names.end(), [&](const QString& name) { return name.startsWith(gpu); }), qPrintable(names.join(u'\n')));
    QVERIFY2(!names.contains("CUDA HW"), qPrintable(names.join(u'\n')));
  }

  // Streams 13 and 30 worked once, before the loop.
  void streamsThatHardlyWorkHaveOneLine() {
    window_ = window_of(recorded("torch_training_workers0.trace"));
    QVERIFY(window_);
    window_->resize(1600, 1000);
    QVERIFY(settle(*window_));
    const QStringList names = namesInSight();
    QVERIFY2(names.contains("2 streams with little activity"), qPrintable(names.join(u'\n')));
    for (const char* stream : {"Stream 13", "Stream 30"})
      QVERIFY2(std::none_of(names.begin(), names.end(), [&](const QString& name) { return name.endsWith(stream); }), stream);
  }

  // The launcher, process 4744, started first and waits.
  void processesThatLaunchStandInFront() {
    window_ = window_of(recorded("ranks_compute.trace"));
    QVERIFY(window_);
    const timeline::RowTree& rows = window_->timelineView().rows();
    QStringList processes;
    for (const timeline::Row& row : rows.rows())
      if (row.kind == timeline::RowKind::kProcess) processes += QString::fromStdString(row.label.english());
    QCOMPARE(processes.size(), 3);
    QVERIFY2(processes.last().startsWith("[4744]"), qPrintable(processes.join(u'\n')));
  }

 private:
  QStringList namesInSight() const {
    QStringList names;
    for (const timeline::SvgRow& row : window_->timelineView().rowsInSight()) names += QString::fromStdString(row.name);
    return names;
  }

  static int row_of(const ui::ResultTable& table, const QString& column, const QString& text) {
    for (int row = 0; row < table.model()->rowCount(); ++row)
      if (cell(table, row, column) == text) return row;
    return -1;
  }

  // Clicks in the middle of the range, on one row after another, until a gap of the GPU is selected.
  std::optional<timeline::Gap> clickGap(GpuId gpu, TimeRange range) {
    QWidget* canvas = part(*window_, "Timeline rows");
    window_->timelineView().setVisibleRange({range.begin - range.length() / 2, range.end + range.length() / 2});
    const std::string key = "gpu:" + std::to_string(gpu);
    window_->timelineView().scrollToRow(QString::fromStdString(key));
    settle(*window_);
    const timeline::Viewport viewport{window_->timelineView().visibleRange(), canvas->width()};
    const int x = static_cast<int>(viewport.x_at(range.begin + range.length() / 2));
    for (int y = 2; y < canvas->height(); y += 4) {
      window_->timelineView().clearSelection();
      QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, {x, y});
      const auto gap = window_->timelineView().selectedGap();
      if (gap && gap->gpu == gpu && gap->range == range) return gap;
    }
    return std::nullopt;
  }

  TemporaryFolder folder_;
  std::filesystem::path four_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(GapsTest)
#include "test_gui_gaps.moc"
