// What of a recording is in sight at first, and how one comes to its loop and back to all of it. The recordings are of real programs, whose sources say how
// often their loops run.
#include <functional>
#include <limits>

#include <QFileDialog>
#include <QLabel>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QToolButton>

#include "export/trace_writing.h"
#include "fixture/dialogs.h"
#include "fixture/gestures.h"
#include "fixture/menus.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "window/opening_view.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// The time of all ranges of these names, first to last.
TimeRange time_of(const Trace& trace, const std::function<bool(std::string_view)>& is_wanted) {
  TimeRange time{std::numeric_limits<Nanoseconds>::max(), 0};
  for (const Track& track : trace.tracks()) {
    if (track.key.kind != TrackKind::kNvtxRanges) continue;
    for (const LaneId id : track.lanes) {
      const Lane& lane = trace.lane(id);
      for (EventIndex i = 0; i < lane.size(); ++i)
        if (is_wanted(trace.name(lane.name(i)))) time = {std::min(time.begin, lane.start(i)), std::max(time.end, lane.end(i))};
    }
  }
  return time;
}

// Of the training, which warms up in its first step.
TimeRange steady_steps(const Trace& trace) {
  return time_of(trace, [](std::string_view name) { return name.starts_with("step ") && name != "step 0"; });
}

bool holds(TimeRange range, TimeRange part) { return range.begin <= part.begin && part.end <= range.end; }

QString training() { return recorded("torch_training_workers0.trace"); }

}  // namespace

class LoopTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void cleanup() { window_.reset(); }

  // The loop takes 0.3 s of 4.8 s.
  void aRecordingOpensOnItsLoop() {
    window_ = window_of(training());
    QVERIFY(window_);
    const TimeRange steps = steady_steps(trace());
    QVERIFY(holds(visible(), steps));
    QVERIFY2(visible().length() < steps.length() * 11 / 10, qPrintable(QString::number(visible().length())));
    QVERIFY(!window_->state().selectedEvent().valid() && !window_->state().selectedRange());
  }

  void allOfItIsOneKeyAway() {
    window_ = window_of(training());
    QVERIFY(window_);
    Gestures gestures(*window_);
    const TimeRange first = visible();
    QVERIFY(gestures.press(Qt::Key_Backspace));
    QVERIFY(holds(visible(), trace().scope()));
    QVERIFY(gestures.press(Qt::SHIFT | Qt::Key_Home));
    QCOMPARE(visible(), first);
    QVERIFY(gestures.press(Qt::Key_Home));
    QVERIFY(holds(visible(), trace().scope()));
  }

  // For lists and sums that are of the selected range: without start-up, and without a hand that drags exactly.
  void theLoopIsSelectedByAKey() {
    window_ = window_of(training());
    QVERIFY(window_);
    Gestures gestures(*window_);
    QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Home));
    const auto range = window_->state().selectedRange();
    QVERIFY(range);
    const TimeRange steps = steady_steps(trace());
    QCOMPARE(*range, steps);
    QTableView& events = *events_table(*window_);
    QVERIFY(events.model()->rowCount() > 100);
    int before = 0;
    for (int row = 0; row < events.model()->rowCount(); ++row) before += cell(events, row, EventColumn::kName) == "CUPTI buffer request" ? 1 : 0;
    QCOMPARE(before, 0);  // of which the recording begins with one
  }

  void allOfItIsOneClickAway() {
    window_ = window_of(training());
    QVERIFY(window_);
    const TimeRange first = visible();
    const auto click = [this](QAction* action) {
      auto* button = qobject_cast<QToolButton*>(window_->actions().toolbar->widgetForAction(action));
      QTest::mouseClick(button, Qt::LeftButton);
      return button != nullptr && settle(*window_);
    };
    QVERIFY(click(window_->actions().fit));
    QVERIFY(holds(visible(), trace().scope()));
    QVERIFY(click(window_->actions().show_loop));
    QCOMPARE(visible(), first);
    const QStringList menu = menu_after([this] { right_click(*part(*window_, "Timeline rows"), {10, 10}); });
    QVERIFY2(menu.filter("Show the loop").size() == 1, qPrintable(menu.join(u'|')));
  }

  // A line below its time in the overview, which a tip names.
  void theOverviewMarksTheLoop() {
    window_ = window_of(training());
    QVERIFY(window_);
    window_->timelineView().zoomToFit();
    QVERIFY(settle(*window_));
    QWidget* overview = part(*window_, "Overview of the whole trace");
    QVERIFY(overview != nullptr);
    QVERIFY2(overview->toolTip().contains("\"step *\", 19 iterations"), qPrintable(overview->toolTip()));
    const QImage marked = overview->grab().toImage();
    const auto loops = window_->timelineView().loops();
    QVERIFY(loops.size() == 1 && holds(loops[0].range, steady_steps(trace())));
    window_->timelineView().setLoops({});
    const QImage unmarked = overview->grab().toImage();
    const timeline::Viewport all{visible(), overview->width()};
    const double scale = marked.devicePixelRatio();
    const int line = static_cast<int>((overview->height() - 4) * scale);
    for (int x = 2; x < overview->width() - 2; ++x) {
      const int column = static_cast<int>(x * scale);
      const bool in_loop = x > all.x_at(steady_steps(trace()).begin) && x + 1 < all.x_at(steady_steps(trace()).end);
      if (in_loop) QVERIFY2(marked.pixel(column, line) != unmarked.pixel(column, line), qPrintable(QString::number(x)));
    }
  }

  void aRecordingWithoutALoopOpensWhole() {
    const QString known = known_trace_in(folder_);
    window_ = window_of(known);
    QVERIFY(window_);
    QVERIFY(window_->timelineView().loops().empty());
    QVERIFY(holds(visible(), trace().scope()));
    Gestures gestures(*window_);
    const TimeRange first = visible();
    QVERIFY(gestures.press(Qt::SHIFT | Qt::Key_Home));
    QCOMPARE(visible(), first);
    QVERIFY2(window_->messages().text().startsWith("No loop was found"), qPrintable(window_->messages().text()));
  }

  // Of 489 ms, 378 are the loop.
  void aRecordingThatIsMostlyItsLoopOpensWhole() {
    window_ = window_of(recorded("attach_graph.trace"));
    QVERIFY(window_);
    QVERIFY(!window_->timelineView().loops().empty());
    QVERIFY(holds(visible(), trace().scope()));
  }

  // While the loop is looked for, too.
  void aViewThatSomebodyMovedStays() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    const TimeRange wanted{5'200'000'000, 5'400'000'000};  // before the loop
    QObject::connect(window_.get(), &MainWindow::opened, window_.get(), [&] { window_->timelineView().setVisibleRange(wanted); });
    QVERIFY(open_and_settle(*window_, training()));
    QCOMPARE(visible(), wanted);
    QVERIFY(!window_->timelineView().loops().empty());  // marked all the same
  }

  void whoSelectsWhatIsElsewhereKeepsItInSight() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    const TimeRange wanted{5'200'000'000, 5'400'000'000};
    QObject::connect(window_.get(), &MainWindow::opened, window_.get(), [&] { window_->state().setSelectedRange(wanted); });
    QVERIFY(open_and_settle(*window_, training()));
    QVERIFY(holds(visible(), wanted));
  }

  void aRangeThatWasAskedForIsShown() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    const TimeRange wanted{5'200'000'000, 5'400'000'000};
    ui::show_view_once_open(*window_, {.range = wanted, .panel = {}}, ui::Opening::kOneTrace);
    QVERIFY(open_and_settle(*window_, training()));
    QCOMPARE(visible(), wanted);
  }

  // A second of it, of which the loop is the end.
  void aPartThatWasSavedOpensOnItsTime() {
    const auto whole = load_trace(data_file("torch_training_workers0.trace"));
    QVERIFY(whole);
    const TimeRange wanted{steady_steps(**whole).begin - 1'000'000'000, steady_steps(**whole).end};
    const std::string path = (folder_.path() / "part.trace").string();
    ExportSelection part;
    part.window = wanted;
    QVERIFY(ui::write_trace(*whole, {path, Readers::kAsUsual, *whole, 0}, part).has_value());
    window_ = window_of(QString::fromStdString(path));
    QVERIFY(window_);
    QVERIFY(!window_->timelineView().loops().empty());
    QVERIFY(holds(visible(), wanted));
  }

  // Two ranks in one recording: from where the first enters the loop to where the last leaves it.
  void theLoopOfRanksIsThatOfAllOfThem() {
    window_ = window_of(recorded("ranks_compute.trace"));
    QVERIFY(window_);
    const TimeRange steps = steady_steps(trace());
    QVERIFY(holds(visible(), steps));
    QVERIFY(visible().length() < steps.length() * 12 / 10);
  }

  // What begins iterations without ranges of its own is named by its module, as findings name it.
  void theLoopOfAModuleHasItsName() {
    window_ = window_of(recorded("jax_training.trace"));
    QVERIFY(window_);
    QVERIFY(!window_->timelineView().loops().empty());
    QCOMPARE(window_->timelineView().loops()[0].title, QString("loop \"jit_step\", 38 iterations"));
  }

  // Of two that are compared, those of both.
  void theLoopsOfTwoTracesAreInSightTogether() {
    window_ = window_of(training());
    QVERIFY(window_);
    QVERIFY(open_beside_and_settle(*window_, recorded("torch_training_workers4.trace")));
    QVERIFY(holds(visible(), steady_steps(trace())));
    QVERIFY(visible().length() < trace().scope().length());
  }

  // Each is a time of its own: what is between the two is no loop. A's comes first, B's with the same keys again, and then A's.
  void theLoopsOfTwoTracesAreShownAndSelectedOneByOne() {
    window_ = window_of(training());
    QVERIFY(window_);
    const TimeRange of_a = steady_steps(trace());
    QVERIFY(open_beside_and_settle(*window_, recorded("torch_training_workers4.trace")));
    const auto other = load_trace(data_file("torch_training_workers4.trace"));
    QVERIFY(other);
    const TimeRange steps = steady_steps(**other);
    const ClockLine& clock = trace().parts()[1].clock;
    const TimeRange of_b{clock(steps.begin), clock(steps.end)};
    QVERIFY(of_a.intersected(of_b).empty());
    QCOMPARE(window_->timelineView().loops().size(), std::size_t{2});
    QCOMPARE(window_->timelineView().loops()[1].title, QString("loop \"step *\" of B"));
    Gestures gestures(*window_);
    for (const TimeRange loop : {of_a, of_b, of_a}) {
      QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Home));
      QCOMPARE(*window_->state().selectedRange(), loop);
    }
    for (const TimeRange loop : {of_a, of_b, of_a}) {
      QVERIFY(gestures.press(Qt::SHIFT | Qt::Key_Home));
      QVERIFY(holds(visible(), loop) && visible().length() < loop.length() * 11 / 10);
    }
  }

  // Its loop is looked for when somebody asks, and what was asked for is done with it.
  void theLoopOfARecordingThatMemoryDoesNotHoldIsSelectedAtTheFirstPress() {
    const std::filesystem::path compact = folder_.path() / "compact.trace";
    QVERIFY(compact_trace_file(training().toStdString(), compact, Overwrite::kAllow).has_value());
    SegmentCache& cache = SegmentCache::of_process();
    cache.set_budget(16 << 10);
    const auto restore = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    window_ = window_of(QString::fromStdString(compact.string()));
    QVERIFY(window_);
    QVERIFY(!has_memory_for_events(trace()));
    QVERIFY(window_->timelineView().loops().empty());
    const TimeRange first = visible();
    Gestures gestures(*window_);
    QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Home));
    QVERIFY(wait_for([&] { return window_->state().selectedRange().has_value(); }, kPatienceMs));
    QCOMPARE(*window_->state().selectedRange(), steady_steps(trace()));
    QCOMPARE(visible(), first);
    window_.reset();
  }

  // Others stand for events that can't be read any more. They are no loop, they are not counted, and what is saved says how many it lacks.
  void nothingIsToldOfEventsThatCantBeReadAnyMore() {
    const std::filesystem::path compact = folder_.path() / "cut.trace", saved = folder_.path() / "saved.trace";
    QVERIFY(compact_trace_file(training().toStdString(), compact, Overwrite::kAllow).has_value());
    SegmentCache& cache = SegmentCache::of_process();
    cache.set_budget(16 << 10);
    const auto restore = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    window_ = window_of(QString::fromStdString(compact.string()));
    QVERIFY(window_);
    const std::uint64_t events = trace().event_count();
    const TimeRange all = trace().extent();
    std::filesystem::resize_file(compact, std::filesystem::file_size(compact) / 4);
    Gestures gestures(*window_);
    QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Home));
    const auto said = [&](const QString& text) {
      const auto& messages = window_->messages().messages();
      return std::any_of(messages.begin(), messages.end(), [&](const ui::Notice& each) { return each.sentence.contains(text); });
    };
    QVERIFY(wait_for([&] { return said("no loop is found without them"); }));
    QVERIFY(!window_->state().selectedRange() && window_->timelineView().loops().empty());
    const auto* status = window_->findChild<ui::TraceStatus*>();
    QVERIFY(wait_for([&] { return status->text().contains("events can't be read any more"); }));
    QVERIFY2(!status->text().contains("complete: nothing dropped"), qPrintable(status->text()));

    QVERIFY(gestures.press(QKeySequence::Find));
    QTest::keyClicks(QApplication::focusWidget(), "no event has this name");
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    const auto is_counted = [&](const QString& count) {
      const auto labels = window_->findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->isVisible() && label->text() == count; });
    };
    QVERIFY(wait_for([&] { return settle(*window_) && is_counted("0 or more found"); }));

    window_->state().setSelectedRange(all);
    window_->showPanel("details");
    QVERIFY(wait_for([&] { return settle(*window_) && window_->details().text().contains("not all events could be read"); }));
    QVERIFY2(!window_->details().text().contains("average"), qPrintable(window_->details().text()));
    window_->statistics().chooseReport("cuda_gpu_kern_sum");
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    for (const auto* table : window_->statistics().findChildren<QTableView*>())
      if (table->isVisible()) QCOMPARE(table->model() ? table->model()->rowCount() : 0, 0);

    window_->state().setSelectedRange(std::nullopt);
    const DialogAnswers answers([&](QDialog& dialog) {
      if (auto* files = qobject_cast<QFileDialog*>(&dialog)) files->selectFile(QString::fromStdString(saved.string()));
      static_cast<void>(QMetaObject::invokeMethod(&dialog, "accept"));
    });
    QSignalSpy wrote(&window_->exports(), &ui::Exports::ended);
    window_->actions().save_as->trigger();
    QVERIFY(wait_for([&] { return !wrote.isEmpty(); }));
    const QString sentence = wrote.front().front().toString();
    const auto lack = QRegularExpression("It lacks ([0-9,]+) events").match(sentence);
    QVERIFY2(lack.hasMatch(), qPrintable(sentence));
    const auto part = load_trace(saved);
    QVERIFY(part.has_value());
    QCOMPARE((*part)->event_count() + lack.captured(1).remove(u',').toULongLong(), events);
    window_.reset();
  }

  // A title whose end or middle is missing tells another number of iterations.
  void aTitleThatHasNoRoomIsLeftOut() {
    window_ = window_of(training());
    QVERIFY(window_);
    const QWidget* overview = part(*window_, "Overview of the whole trace");
    const auto drawn_with = [&](const QString& title) {
      window_->timelineView().setLoops({{steady_steps(trace()), title}});
      return part(*window_, "Overview of the whole trace")->grab().toImage();
    };
    const QImage without = drawn_with(QString(2 * overview->width(), QChar('1')));
    QVERIFY(drawn_with("19 iterations") != without);
    QVERIFY(drawn_with(QString(overview->width(), QChar('8'))) == without);
  }

 private:
  [[nodiscard]] const Trace& trace() const { return *window_->state().trace(); }
  [[nodiscard]] TimeRange visible() const { return window_->timelineView().visibleRange(); }

  TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(LoopTest)
#include "test_gui_loop.moc"
