// The initially visible part of a recording, and the ways to its loop and back to all of it. The recordings are of real programs, whose sources tell how often
// their loops run.
#include <functional>
#include <limits>

#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QRegularExpression>
#include <QScrollBar>
#include <QToolButton>

#include "export/trace_writing.h"
#include "fixture/dialogs.h"
#include "fixture/gestures.h"
#include "fixture/menus.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/view/viewport.h"
#include "timeline/core/words/format.h"
#include "window/opening_view.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// The time from the first to the last of all ranges with these names.
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

// Of the training, whose first step is a warm-up.
TimeRange steady_steps(const Trace& trace) {
  return time_of(trace, [](std::string_view name) { return name.starts_with("step ") && name != "step 0"; });
}

bool holds(TimeRange range, TimeRange part) { return range.begin <= part.begin && part.end <= range.end; }

QString training() { return recorded("torch_training_workers0.trace"); }

// Memory for hardly any events, while it exists.
struct LittleMemory {
  LittleMemory() { SegmentCache::of_process().set_budget(16 << 10); }
  ~LittleMemory() { SegmentCache::of_process().set_budget(SegmentCache::default_budget()); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;
};

}  // namespace

class LoopTest : public QObject {
  Q_OBJECT

 private slots:
  // Also where it has no room beside the frame: its line is three pixels high, so what has its colour further up is the name.
  void theOverviewNamesTheLoopWhereverItIs() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'350, 720);
    window.show();
    QVERIFY(open_and_settle(window, training()));
    timeline::TimelineView& view = window.timelineView();
    QVERIFY(!view.loops().empty());
    const QWidget* overview = part(window, "Overview of the whole trace");
    const auto named = [&](TimeRange loop) {
      view.setLoops({{loop, "loop of the test"}});
      const QImage seen = const_cast<QWidget*>(overview)->grab().toImage();
      const QRgb colour =
          seen.pixel(static_cast<int>(timeline::Viewport{view.trace()->scope(), overview->width()}.x_at(loop.begin + loop.length() / 2)), seen.height() - 4);
      for (int y = 0; y < seen.height() - 8; ++y)
        for (int x = 0; x < seen.width(); ++x)
          if (seen.pixel(x, y) == colour) return true;
      return false;
    };
    const TimeRange all = view.trace()->scope();
    QVERIFY(named(view.loops().front().range));
    QVERIFY(named(all));
    view.zoomToFit();
    QVERIFY(named({all.begin, all.begin + all.length() * 9 / 10}));
  }

  void initTestCase() { use_empty_settings(); }
  void cleanup() { window_.reset(); }

  // The loop takes 0.3 s of 4.8 s.
  void aRecordingOpensOnItsLoop() {
    QVERIFY(opens(training()));
    const TimeRange steps = steady_steps(trace());
    QVERIFY(holds(visible(), steps));
    QVERIFY2(visible().length() < steps.length() * 11 / 10, qPrintable(QString::number(visible().length())));
    QVERIFY(!window_->state().selectedEvent().valid() && !window_->state().selectedRange());
  }

  void allOfItIsOneKeyAway() {
    QVERIFY(opens(training()));
    Gestures gestures(*window_);
    const TimeRange first = visible();
    QVERIFY(gestures.press(Qt::Key_Backspace));
    QVERIFY(holds(visible(), trace().scope()));
    QVERIFY(gestures.press(Qt::SHIFT | Qt::Key_Home));
    QCOMPARE(visible(), first);
    QVERIFY(gestures.press(Qt::Key_Home));
    QVERIFY(holds(visible(), trace().scope()));
  }

  // For lists and sums of the selected range: without start-up, and without dragging precisely.
  void theLoopIsSelectedByAKey() {
    QVERIFY(opens(training()));
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
    QCOMPARE(before, 0);  // the recording starts with one
  }

  // The list of events is of the whole recording, and first seen where the loop begins; a button says where that is, and leads there and back.
  void eventsAreFirstSeenWhereTheLoopBegins() {
    QVERIFY(opens(known_trace_in(folder_)));  // which has no loop
    auto* panel = window_->findChild<ui::EventsPanel*>();
    QToolButton* loop = nullptr;
    for (QToolButton* button : panel->findChildren<QToolButton*>())
      if (button->text().startsWith("Loop")) loop = button;
    QVERIFY(loop != nullptr && !loop->isEnabled());
    const int width = loop->width();
    QTableView& table = *events_table(*window_);
    const QRect place(table.mapTo(window_.get(), QPoint()), table.size());
    QVERIFY(open_and_settle(*window_, training()));
    const Nanoseconds begin = window_->timelineView().loops().front().range.begin;
    const EventScope scope = ui::listed_scope(trace());
    const std::vector<EventRef> all = gather_by_start(trace(), scope.lanes(), {});
    QCOMPARE(table.model()->rowCount(), static_cast<int>(all.size()));
    const auto before = static_cast<int>(std::count_if(all.begin(), all.end(), [&](EventRef event) { return trace().event(event).start < begin; }));
    QVERIFY(before > 100);
    QVERIFY(loop->isVisible() && loop->isEnabled());
    QCOMPARE(loop->width(), width);
    QCOMPARE(loop->text(), QString("Loop: #%1").arg(before + 1));
    QVERIFY2(loop->toolTip().contains(QString::fromStdString(timeline::format_count(static_cast<std::uint64_t>(before))) + " events before"),
             qPrintable(loop->toolTip()));
    QCOMPARE(QRect(table.mapTo(window_.get(), QPoint()), table.size()), place);  // the table is where it was
    const auto top = [&] { return table.rowAt(1); };
    QCOMPARE(top(), before);
    QVERIFY(!window_->state().selectedEvent().valid());
    const auto choose = [&](const QString& entry) {
      for (QAction* action : loop->menu()->actions())
        if (action->text() == entry) action->trigger();
    };
    choose("First of all events");
    QCOMPARE(top(), 0);
    choose("First event of the loop");
    QCOMPARE(top(), before);
    choose("First of all events");
    QTest::mouseClick(loop, Qt::LeftButton, {}, {loop->height() / 2, loop->height() / 2});
    QCOMPARE(top(), before);
    // In another order, or of a part, the button leads nowhere; what the user looks at is not moved.
    table.sortByColumn(ui::EventTableModel::columnOf(EventColumn::kDuration), Qt::DescendingOrder);
    QVERIFY(settle(*window_));
    QVERIFY(!loop->isEnabled());
    table.scrollToTop();
    table.sortByColumn(ui::EventTableModel::columnOf(EventColumn::kStart), Qt::AscendingOrder);
    QVERIFY(settle(*window_));
    QVERIFY(loop->isEnabled());
    QCOMPARE(top(), 0);
    window_->state().setSelectedRange(window_->timelineView().loops().front().range);
    QVERIFY(settle(*window_));
    QVERIFY(!loop->isEnabled());
    QCOMPARE(QRect(table.mapTo(window_.get(), QPoint()), table.size()), place);
  }

  // Who sorted or scrolled before the loop was known stays there.
  void aListThatIsLookedThroughIsNotMovedToTheLoop() {
    QVERIFY(opens(training()));
    QTableView& table = *events_table(*window_);
    window_->state().setTrace(*load_trace(data_file("torch_training_workers0.trace")), ui::TraceChange::kOther);
    table.verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd);
    QVERIFY(settle(*window_));
    const int row = table.rowAt(1);
    QVERIFY2(row < 100, qPrintable(QString::number(row)));
  }

  void allOfItIsOneClickAway() {
    QVERIFY(opens(training()));
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

  // A line below its time in the overview; a tooltip has its name.
  void theOverviewMarksTheLoop() {
    QVERIFY(opens(training()));
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
    QVERIFY(opens(known));
    QVERIFY(window_->timelineView().loops().empty());
    QVERIFY(holds(visible(), trace().scope()));
    Gestures gestures(*window_);
    const TimeRange first = visible();
    QVERIFY(gestures.press(Qt::SHIFT | Qt::Key_Home));
    QCOMPARE(visible(), first);
    QVERIFY2(window_->messages().text().startsWith("No loop was found"), qPrintable(window_->messages().text()));
  }

  // The loop takes 378 of 489 ms.
  void aRecordingThatIsMostlyItsLoopOpensWhole() {
    QVERIFY(opens(recorded("attach_graph.trace")));
    QVERIFY(!window_->timelineView().loops().empty());
    QVERIFY(holds(visible(), trace().scope()));
  }

  // Also while the loop is being searched.
  void aViewThatSomebodyMovedStays() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    const TimeRange wanted{5'200'000'000, 5'400'000'000};  // before the loop
    QObject::connect(window_.get(), &MainWindow::opened, window_.get(), [&] { window_->timelineView().setVisibleRange(wanted); });
    QVERIFY(open_and_settle(*window_, training()));
    QCOMPARE(visible(), wanted);
    QVERIFY(!window_->timelineView().loops().empty());  // marked nevertheless
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

  // A second of the recording, which ends within the loop.
  void aPartThatWasSavedOpensOnItsTime() {
    const auto whole = load_trace(data_file("torch_training_workers0.trace"));
    QVERIFY(whole);
    const TimeRange wanted{steady_steps(**whole).begin - 1'000'000'000, steady_steps(**whole).end};
    const std::string path = (folder_.path() / "part.trace").string();
    ExportSelection part;
    part.window = wanted;
    QVERIFY(ui::write_trace(*whole, {path, Readers::kAsUsual, *whole, 0}, part).has_value());
    QVERIFY(opens(QString::fromStdString(path)));
    QVERIFY(!window_->timelineView().loops().empty());
    QVERIFY(holds(visible(), wanted));
  }

  // Two ranks in one recording: from the time when the first enters the loop to the time when the last leaves it.
  void theLoopOfRanksIsThatOfAllOfThem() {
    QVERIFY(opens(recorded("ranks_compute.trace")));
    const TimeRange steps = steady_steps(trace());
    QVERIFY(holds(visible(), steps));
    QVERIFY(visible().length() < steps.length() * 12 / 10);
  }

  // A loop that starts its iterations without ranges of its own is named by its module, as in findings.
  void theLoopOfAModuleHasItsName() {
    QVERIFY(opens(recorded("jax_training.trace")));
    QVERIFY(!window_->timelineView().loops().empty());
    QCOMPARE(window_->timelineView().loops()[0].title, QString("loop \"jit_step\", 38 iterations"));
  }

  // The loops of both compared traces.
  void theLoopsOfTwoTracesAreInSightTogether() {
    QVERIFY(opens(training()));
    QVERIFY(open_beside_and_settle(*window_, recorded("torch_training_workers4.trace")));
    QVERIFY(holds(visible(), steady_steps(trace())));
    QVERIFY(visible().length() < trace().scope().length());
  }

  // Each loop has its own time: the time between the two belongs to none. A's comes first, with the same keys again B's, and then A's.
  void theLoopsOfTwoTracesAreShownAndSelectedOneByOne() {
    QVERIFY(opens(training()));
    const TimeRange of_a = steady_steps(trace());
    QVERIFY(open_beside_and_settle(*window_, recorded("torch_training_workers4.trace")));
    const auto other = load_trace(data_file("torch_training_workers4.trace"));
    QVERIFY(other);
    const TimeRange steps = steady_steps(**other);
    // One after the other, and begun together, as they are at first.
    for (const auto& align : {&ui::TracePair::alignByStart, &ui::TracePair::alignByLoop}) {
      (window_->pair().*align)();
      QVERIFY(settle(*window_));
      const ClockLine& clock = trace().parts()[1].clock;
      const TimeRange of_b{clock(steps.begin), clock(steps.end)};
      QCOMPARE(of_a.intersected(of_b).empty(), window_->pair().alignment() == ui::TracePair::Alignment::kStart);
      QCOMPARE(window_->timelineView().loops().size(), std::size_t{2});
      QCOMPARE(window_->timelineView().loops()[1].title, QString("loop \"step *\" of B"));
      Gestures gestures(*window_);
      window_->state().setSelectedRange(std::nullopt);
      for (const TimeRange loop : {of_a, of_b, of_a}) {
        QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Home));
        QCOMPARE(*window_->state().selectedRange(), loop);
      }
      window_->timelineView().setVisibleRange(trace().scope());
      for (const TimeRange loop : {of_a, of_b, of_a}) {
        QVERIFY(gestures.press(Qt::SHIFT | Qt::Key_Home));
        QVERIFY(holds(visible(), loop) && visible().length() < loop.length() * 11 / 10);
      }
    }
  }

  // Its loop is searched on request, and is then shown or selected as requested.
  void theLoopOfARecordingThatMemoryDoesNotHoldIsSelectedAtTheFirstPress() {
    const std::filesystem::path compact = folder_.path() / "compact.trace";
    const LittleMemory memory;
    QVERIFY(opensInLittle(compact, memory));
    QVERIFY(window_->timelineView().loops().empty());
    const TimeRange first = visible();
    Gestures gestures(*window_);
    QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Home));
    QVERIFY(wait_for([&] { return window_->state().selectedRange().has_value(); }, kPatienceMs));
    QCOMPARE(*window_->state().selectedRange(), steady_steps(trace()));
    QCOMPARE(visible(), first);
    window_.reset();
  }

  // Unreadable events are replaced by others. These form no loop and are not counted, and a saved file says how many events it lacks.
  void nothingIsToldOfEventsThatCantBeReadAnyMore() {
    const std::filesystem::path compact = folder_.path() / "cut.trace", saved = folder_.path() / "saved.trace";
    const LittleMemory memory;
    QVERIFY(opensInLittle(compact, memory));
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
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    QCOMPARE(window_->bubbles().gaps().model()->rowCount(), 0);
    QVERIFY(says(window_->bubbles(), kUnreadable));
    window_->showPanel("samples");
    QVERIFY(settle(*window_));
    QVERIFY(says(window_->samples(), kUnreadable));
    window_->showPanel("query");
    window_->query().setText("SELECT sum(duration) FROM kernels");
    window_->query().ask();
    QVERIFY(settle(*window_));
    QVERIFY(says(window_->query(), kUnreadable));

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

  void nothingIsComparedWithEventsThatCantBeReadAnyMore() {
    const std::filesystem::path compact = folder_.path() / "compared.trace";
    const LittleMemory memory;
    QVERIFY(opensInLittle(compact, memory));
    QVERIFY(open_beside_and_settle(*window_, recorded("torch_training_workers4.trace")));
    QVERIFY(!holds_events(*window_->pair().first().trace));
    std::filesystem::resize_file(compact, std::filesystem::file_size(compact) / 4);
    window_->showPanel("diff");
    QVERIFY(settle(*window_));
    QVERIFY(says(window_->diff(), kUnreadable));
    for (const auto* table : window_->diff().findChildren<QTableView*>()) QCOMPARE(table->model()->rowCount(), 0);
    window_.reset();
  }

  // A title without its end or middle would show another number of iterations.
  void aTitleThatHasNoRoomIsLeftOut() {
    QVERIFY(opens(training()));
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
  bool opens(const QString& path) {
    window_ = window_of(path);
    return window_ != nullptr;
  }
  // The training with its events read on demand, while `memory` exists.
  bool opensInLittle(const std::filesystem::path& compact, const LittleMemory&) {
    return compact_trace_file(training().toStdString(), compact, Overwrite::kAllow) && opens(QString::fromStdString(compact.string())) &&
           !has_memory_for_events(trace());
  }
  static constexpr auto kUnreadable = "can be read any more";
  static bool says(const QWidget& panel, const QString& text) {
    const auto labels = panel.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->isVisible() && label->text().contains(text); });
  }
  [[nodiscard]] const Trace& trace() const { return *window_->state().trace(); }
  [[nodiscard]] TimeRange visible() const { return window_->timelineView().visibleRange(); }

  TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(LoopTest)
#include "test_gui_loop.moc"
