// SQL queries, and families of names: asked with the keyboard, answered in the panel, followed into the timeline.
#include <algorithm>
#include <cmath>

#include <QAccessible>
#include <QAreaSeries>
#include <QCategoryAxis>
#include <QCheckBox>
#include <QComboBox>
#include <QHelpEvent>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QTimer>
#include <QToolButton>
#include <QToolTip>
#include <QValueAxis>
#include <QWheelEvent>

#include "../../../timeline/traces.h"
#include "fixture/gestures.h"
#include "fixture/known_trace_test.h"
#include "panels/duration_chart.h"
#include "timeline/core/view/viewport.h"
#include "window/look/theme.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class QueryTest : public KnownTraceTest {
  Q_OBJECT

 private slots:
  void aQuestionIsTypedAnsweredAndFollowed() {
    Gestures gestures(*window_);
    window_->timelineView().setFocus();
    QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Q));
    QVERIFY(gestures.type("SELECT start, duration, name FROM kernels ORDER BY start DESC"));
    QVERIFY(gestures.press(Qt::CTRL | Qt::Key_Return));
    QCOMPARE(table().model()->rowCount(), int(kKernels));
    QCOMPARE(cell(0, 1), QString("100.000 µs"));
    QCOMPARE(cell(1, 2), QString("gemm"));
    QVERIFY2(window_->query().message().contains("6 rows"), qPrintable(window_->query().message()));
    table().chooseRow(5);
    const EventRef selected = window_->state().selectedEvent();
    QVERIFY(selected.valid());
    QCOMPARE(window_->state().trace()->event(selected).start, kFirstKernel);
    QVERIFY(window_->timelineView().visibleRange().length() < 2 * kKernelDuration);
  }

  // Between two events of the CPU; the time is in no table of events.
  void aRowThatIsNoEventSelectsItsTime() {
    window_->showPanel("query");
    window_->query().setText(QString("SELECT %1 start, 12345 duration").arg(kFirstKernel + 7));
    window_->query().ask();
    QVERIFY(settle(*window_));
    table().chooseRow(0);
    const TimeRange time{kFirstKernel + 7, kFirstKernel + 7 + 12'345};
    QCOMPARE(window_->state().selectedRange(), std::optional(time));
    QVERIFY(window_->timelineView().visibleRange().begin < time.begin && window_->timelineView().visibleRange().length() < 3 * time.length());
    // A query about the selected range would be answered anew for the row that was chosen.
    window_->state().setSelectedRange(TimeRange{0, 10 * kFirstKernel});
    window_->query().setText("SELECT :begin + 7 start, 12345 duration");
    window_->query().ask();
    QVERIFY(settle(*window_));
    table().chooseRow(0);
    QCOMPARE(window_->state().selectedRange(), std::optional(TimeRange{0, 10 * kFirstKernel}));
  }

  // Sums of products easily get there.
  void numbersBeyondAnyTimeKeepTheirSign() {
    window_->showPanel("query");
    window_->query().setText("SELECT 9.3e18 start, 1e300 duration UNION ALL SELECT 1.5, 2.5e9");
    window_->query().ask();
    QVERIFY(settle(*window_));
    QCOMPARE(table().model()->rowCount(), 2);
    QCOMPARE(cell(0, 0), QString("9.3e+09 s"));
    QCOMPARE(cell(0, 1), QString("1e+291 s"));
    QCOMPARE(cell(1, 1), QString("2.500 s"));
  }

  // The arrow of its menu is beside the word: it used to cover the last letter.
  void theButtonOfRecentQueriesHasRoomForItsArrow() {
    constexpr int kArrow = 14;           // px
    ui::apply_theme(ui::Theme::kLight);  // the program uses its style
    window_ = window_of(known_);
    QVERIFY(window_);
    window_->showPanel("query");
    QVERIFY(settle(*window_));
    const auto* recent = window_->query().findChild<QToolButton*>();
    QVERIFY(recent != nullptr && recent->menu() != nullptr);
    const int end_of_text = (recent->width() + recent->fontMetrics().horizontalAdvance(recent->text())) / 2;
    QVERIFY2(end_of_text <= recent->width() - kArrow, qPrintable(QString::number(end_of_text)));
  }

  void howAQueryIsRunIsSaidUntilOneIs() {
    window_->showPanel("query");
    QCOMPARE(window_->query().message(), QString("Ctrl+Enter answers."));
  }

  void whatWasTypedComesBackBehindAPreparedQuery() {
    Gestures gestures(*window_);
    window_->timelineView().setFocus();
    QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Q));
    QVERIFY(gestures.type("SELECT 1"));
    const QList<QComboBox*> boxes = window_->query().findChildren<QComboBox*>();
    const auto ready = std::find_if(boxes.begin(), boxes.end(), [](const QComboBox* box) { return box->accessibleName() == "Prepared queries"; });
    QVERIFY(ready != boxes.end());
    emit(*ready)->activated(0);
    QVERIFY(settle(*window_));
    QCOMPARE(window_->query().text(), (*ready)->itemData(0).toString());
    QVERIFY(gestures.press(Qt::CTRL | Qt::Key_Z));
    QCOMPARE(window_->query().text(), QString("SELECT 1"));
  }

  // As in a shell, and also in another window after a restart.
  void whatWasAskedBeforeComesBack() {
    ask("SELECT 1");
    ask("SELECT 2,\n  3");
    window_ = window_of(known_);
    QVERIFY(window_);
    Gestures gestures(*window_);
    window_->timelineView().setFocus();
    QVERIFY(gestures.press(Qt::CTRL | Qt::SHIFT | Qt::Key_Q));
    QVERIFY(gestures.type("SELECT 4"));
    QVERIFY(gestures.press(Qt::Key_Up));
    QCOMPARE(window_->query().text(), QString("SELECT 2,\n  3"));
    QVERIFY(gestures.press(Qt::Key_Up));
    QCOMPARE(window_->query().text(), QString("SELECT 1"));
    QVERIFY(gestures.press(Qt::Key_Down));
    QVERIFY(gestures.press(Qt::Key_Up));  // within it, with the cursor at its end: from the second line to the first
    QCOMPARE(window_->query().text(), QString("SELECT 2,\n  3"));
    QVERIFY(gestures.press(Qt::Key_Down));
    QVERIFY(gestures.press(Qt::Key_Down));
    QCOMPARE(window_->query().text(), QString("SELECT 4"));  // the draft
    QVERIFY(gestures.press(Qt::Key_Down));
    QCOMPARE(window_->query().text(), QString("SELECT 4"));
    auto* recent = window_->query().findChild<QToolButton*>();
    emit recent->menu()->aboutToShow();
    const QList<QAction*> entries = recent->menu()->actions();
    QVERIFY(entries.size() >= 2);
    QCOMPARE(entries[0]->text(), QString("SELECT 2, 3"));
    QCOMPARE(entries[1]->text(), QString("SELECT 1"));
    entries[1]->trigger();
    QVERIFY(settle(*window_));
    QCOMPARE(window_->query().text(), QString("SELECT 1"));
    QCOMPARE(cell(0, 0), QString("1"));
    QCOMPARE(ui::Settings().queries().first(), QString("SELECT 1"));  // only once
    QCOMPARE(ui::Settings().queries().count("SELECT 1"), qsizetype{1});
  }

  // The wheel turns over whatever is under the cursor: it changes a box that has the focus, and no other one.
  void theWheelChangesNoBoxThatIsNotInUse() {
    window_->showPanel("query");
    window_->query().setText("SELECT 42 AS precious");
    const auto turn = [](QWidget& over) {
      QWheelEvent wheel(QPointF(5, 5), over.mapToGlobal(QPointF(5, 5)), {}, {0, -120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
      QApplication::sendEvent(&over, &wheel);
    };
    window_->timelineView().setFocus();
    for (QComboBox* box : window_->findChildren<QComboBox*>()) {
      const int index = box->currentIndex();
      turn(*box);
      QVERIFY2(box->currentIndex() == index && !box->hasFocus(), qPrintable(box->accessibleName()));
    }
    QVERIFY(settle(*window_));
    QCOMPARE(window_->query().text(), QString("SELECT 42 AS precious"));
    const QList<QComboBox*> boxes = window_->query().findChildren<QComboBox*>();
    const auto ready = std::find_if(boxes.begin(), boxes.end(), [](const QComboBox* box) { return box->accessibleName() == "Prepared queries"; });
    QVERIFY(ready != boxes.end());
    (*ready)->setFocus();
    turn(**ready);
    QCOMPARE((*ready)->currentIndex(), 0);
  }

  // Snapshots of a recording arrive ten times a second, and the query takes longer: it is answered nevertheless, and then run again. After stopping, it is not
  // run again.
  void aQuestionThatTakesLongIsAnsweredWhileTheRecordingGoesOn() {
    auto snapshot = [count = 0]() mutable {
      SmallTrace trace;
      trace.builder.add(trace.on_gpu(TrackKind::kKernels), {trace.event(0, 1'000 + ++count, "kernel")});
      return trace.builder.snapshot();
    };
    window_->state().setTrace(snapshot(), ui::TraceChange::kOther);
    window_->showPanel("query");
    QTimer grows;
    int snapshots = 0;
    connect(&grows, &QTimer::timeout, this, [&] {
      ++snapshots;
      window_->state().setTrace(snapshot(), ui::TraceChange::kSnapshot);
    });
    grows.start(50);
    window_->query().setText(
        "WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 3000000) SELECT count(*) + (SELECT count(*) FROM kernels) FROM "
        "numbers");
    window_->query().ask();
    QVERIFY2(wait_for([&] { return table().model()->rowCount() == 1; }), qPrintable(window_->query().message()));
    QCOMPARE(cell(0, 0).remove(u','), QString("3000001"));
    QVERIFY(snapshots > 4);  // otherwise it was too fast
    auto* stop = [&]() -> QPushButton* {
      for (QPushButton* each : window_->query().findChildren<QPushButton*>())
        if (each->text() == "Stop") return each;
      return nullptr;
    }();
    QVERIFY(wait_for([&] { return stop->isEnabled(); }));  // running again, for the present state
    stop->click();
    snapshots = 0;
    QVERIFY(wait_for([&] { return snapshots > 10; }));
    QCOMPARE(window_->query().message(), QString("Stopped."));
    QVERIFY(!stop->isEnabled());
  }

  void anAnswerGoesWithItsTrace() {
    ask("SELECT name FROM kernels");
    QCOMPARE(table().model()->rowCount(), int(kKernels));
    SmallTrace other;
    other.builder.add(other.on_gpu(TrackKind::kKernels), {other.event(0, 10, "alone")});
    window_->state().setTrace(other.builder.snapshot(), ui::TraceChange::kOther);
    QCOMPARE(table().model()->rowCount(), 0);  // at once
    QVERIFY(settle(*window_));
    QCOMPARE(cell(0, 0), QString("alone"));
  }

  void noQuestionIsAnsweredWithWhatToDo() {
    ask(" ");
    QCOMPARE(window_->query().message(), QString("Write a query, or choose one of the prepared queries."));
  }

  // Steps of 16 to 340 ms, whose labels would overlap in a narrow chart.
  void marksOfADistributionHaveRoomBesideEachOther() {
    QVERIFY(open_and_settle(*window_, recorded("torch_training_workers0.trace")));
    ask("SELECT name, start, duration FROM nvtx_ranges WHERE name LIKE 'step%'");
    auto* chart = window_->query().findChild<ui::DurationChart*>();
    for (const int width : {170, 420}) {
      chart->setFixedWidth(width);
      QVERIFY(wait_for([&] { return chart->width() == width; }));
      QCoreApplication::sendPostedEvents();
      const QList<QAbstractAxis*> axes = chart->chart()->axes(Qt::Horizontal);
      QCOMPARE(axes.size(), 1);
      auto* axis = qobject_cast<QCategoryAxis*>(axes.front());
      const QStringList marks = axis->categoriesLabels();
      QVERIFY(!marks.isEmpty());
      const QFontMetrics metrics(axis->labelsFont());
      const auto place = [&](const QString& mark) { return chart->chart()->mapToPosition({axis->endValue(mark), 0}, chart->chart()->series().front()).x(); };
      for (qsizetype i = 1; i < marks.size(); ++i) {
        const double needed = (metrics.horizontalAdvance(marks[i - 1]) + metrics.horizontalAdvance(marks[i])) / 2.0;
        QVERIFY2(place(marks[i]) - place(marks[i - 1]) >= needed, qPrintable(QString("%1 px: %2").arg(width).arg(marks.join(u' '))));
      }
      if (width == 420) QVERIFY2(marks.size() >= 3, qPrintable(marks.join(u' ')));
    }
  }

  void countsOfADistributionHaveMarksAtWholeNumbers() {
    auto* chart = window_->query().findChild<ui::DurationChart*>();
    for (const int times : {1, 2, 3, 7}) {
      ask(QStringLiteral("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %1) SELECT 1000 AS duration FROM n UNION ALL SELECT 900000")
              .arg(times));
      const auto* counts = qobject_cast<const QValueAxis*>(chart->chart()->axes(Qt::Vertical).value(0));
      QVERIFY(counts != nullptr && counts->max() >= times);
      const double step = (counts->max() - counts->min()) / (counts->tickCount() - 1);
      QVERIFY2(step == std::floor(step), qPrintable(QString::number(step)));
    }
  }

  void theAnswerAboutASelectionFollowsIt() {
    ask("SELECT count(*) FROM kernels WHERE start >= :begin AND start < :end");
    QCOMPARE(cell(0, 0), QString::number(kKernels));
    window_->timelineView().setSelectedRange(TimeRange{0, kFirstKernel + 1});
    QVERIFY(settle(*window_));
    QCOMPARE(cell(0, 0), QString("1"));
    window_->timelineView().setSelectedRange(std::nullopt);
    QVERIFY(settle(*window_));
    QCOMPARE(cell(0, 0), QString::number(kKernels));
  }

  // The gaps between the kernels, which are not events: each from the end of a kernel to the start of the next.
  void rangesOfAnAnswerAreARowOfTheTimeline() {
    timeline::TimelineView& view = window_->timelineView();
    QCheckBox& on_timeline = *window_->query().findChild<QCheckBox*>();
    QVERIFY(!on_timeline.isEnabled());
    const QRect first_row_before = rowAt("GPU 0");
    ask("SELECT lag(start + duration) OVER (ORDER BY start) AS start, start AS end, 'gap before ' || name AS what FROM kernels");
    QVERIFY(!view.answer());
    QVERIFY(on_timeline.isEnabled());
    Gestures gestures(*window_);
    QVERIFY(gestures.click(on_timeline, on_timeline.rect().center()));
    QVERIFY(view.answer());
    QCOMPARE(view.answer()->size(), std::uint64_t{kGaps.size()});  // the first kernel has no gap before it
    QCOMPARE(view.rowTitle("answer"), QString("Answer: 5 ranges"));
    QVERIFY(rowAt("GPU 0").top() > first_row_before.top());

    // The gap of 900 µs: hovered, clicked, zoomed to.
    const Nanoseconds begin = kFirstKernel + 3 * kKernelDuration + kGaps[0] + kGaps[1];
    const TimeRange gap{begin, begin + kGaps[2]};
    QWidget* canvas = rows();
    const auto place = [&] {
      return QPoint(static_cast<int>(timeline::Viewport{view.visibleRange(), canvas->width()}.x_at(gap.begin + gap.length() / 2)),
                    rowAt("Answer: 5 ranges").center().y());
    };
    QHelpEvent help(QEvent::ToolTip, place(), canvas->mapToGlobal(place()));
    QCoreApplication::sendEvent(canvas, &help);
    QVERIFY2(QToolTip::text().contains("gap before relu") && QToolTip::text().contains("900.000 µs"), qPrintable(QToolTip::text()));
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, place());
    QVERIFY(view.selectedRange() == gap);
    QVERIFY(!view.selectedEvent().valid());
    QTest::mouseDClick(canvas, Qt::LeftButton, Qt::NoModifier, place());
    QVERIFY(view.visibleRange().length() < 2 * gap.length() && view.visibleRange().begin <= gap.begin && view.visibleRange().end >= gap.end);

    // The same with the keyboard: the row is chosen, Enter selects the range nearest to the middle.
    view.setSelectedRange(std::nullopt);
    view.setCurrentRow("answer");
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_Return);
    QVERIFY(view.selectedRange() == gap);

    // It is pinned, hidden and shown like any row; another answer replaces it, and is shown although this one was hidden.
    QTest::keyClick(&view, Qt::Key_H);
    QVERIFY(rowAt("Answer: 5 ranges").isNull());
    view.setSelectedRange(std::nullopt);
    ask("SELECT start, duration, name FROM kernels WHERE name = 'gemm'");
    QVERIFY(!rowAt("Answer: 3 ranges").isNull());
    ask("SELECT count(*) FROM kernels");
    QVERIFY(!view.answer() && !on_timeline.isEnabled() && on_timeline.isChecked());
    ask("SELECT start, duration FROM kernels");
    QCOMPARE(view.answer()->size(), std::uint64_t{kKernels});
    QVERIFY(gestures.click(on_timeline, on_timeline.rect().center()));
    QVERIFY(!view.answer() && rowAt("GPU 0").top() == first_row_before.top());
  }

  void theRowOfAnAnswerIsOfTheTraceThatIsShownAndTimesFromNowhereDoNoHarm() {
    ask("SELECT 9223372036854775807 AS start, 9223372036854775807 AS duration UNION ALL SELECT -9223372036854775807, 5 UNION ALL SELECT NULL, 1");
    window_->query().findChild<QCheckBox*>()->setChecked(true);
    QVERIFY(!window_->timelineView().answer());
    ask("SELECT start, duration FROM kernels");
    QVERIFY(window_->timelineView().answer());
    const QString other = QString::fromStdString((folder_.path() / "another.trace").string());
    write_long_trace(other.toStdString(), 1);
    QVERIFY(open_and_settle(*window_, other));  // the query runs for it, too
    QCOMPARE(window_->timelineView().answer()->size(), std::uint64_t{50'000});
    window_->timelineView().setTrace(nullptr);
    QVERIFY(!window_->timelineView().answer());
  }

  void aReadyQuestionIsChosenFromTheList() {
    window_->showPanel("query");
    QComboBox* ready = nullptr;
    for (QComboBox* box : window_->query().findChildren<QComboBox*>())
      if (box->accessibleName() == "Prepared queries") ready = box;
    QVERIFY(ready != nullptr && ready->count() > 5);
    ready->setFocus();
    QTest::keyClick(ready, Qt::Key_Down);
    emit ready->activated(ready->currentIndex());
    QVERIFY(settle(*window_));
    QCOMPARE(table().model()->rowCount(), 2);  // gemm and relu
    QVERIFY(window_->query().text().startsWith("SELECT"));
  }

  void whatIsWrongWithAQuestionIsSaidInPlaceOfAnAnswer() {
    ask("SELECT start, duration, name FROM kernels");
    QCOMPARE(table().model()->rowCount(), int(kKernels));
    ask("SELECT * FROM kernel");
    QVERIFY2(window_->query().message().contains("no such table: kernel"), qPrintable(window_->query().message()));
    QCOMPARE(table().model()->rowCount(), 0);  // previous rows would be mistaken for the answer
    ask("SELECT 1 AS one");
    QCOMPARE(cell(0, 0), QString("1"));
    QCOMPARE(window_->query().message(), QString("1 row"));
    ask("DELETE FROM kernels");
    QVERIFY2(window_->query().message().contains("may not be modified"), qPrintable(window_->query().message()));
    QCOMPARE(table().model()->rowCount(), 0);
  }

  // However long it is: in a window of 1280 pixels, nothing of it is cut off, and it can be copied.
  void theWholeOfAnErrorIsSeen() {
    window_->resize(1'280, 800);
    ask("SELECT " + QString("a").repeated(200) + "_column FROM kernels");
    QLabel* said = nullptr;
    for (auto* label : window_->query().findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains("no such column")) said = label;
    QVERIFY2(said != nullptr, qPrintable(window_->query().message()));
    const int height = said->heightForWidth(said->width());
    QVERIFY2(height <= 0 ? said->sizeHint().width() <= said->width() : height <= said->height(), qPrintable(said->text()));
    const QRect text = said->fontMetrics().boundingRect(QRect(0, 0, said->contentsRect().width(), 10'000), Qt::TextWordWrap, said->text());
    QVERIFY(text.width() <= said->contentsRect().width() && text.height() <= said->height());
    QVERIFY(said->textInteractionFlags() & Qt::TextSelectableByMouse);
  }

  void aQuestionWithoutAnEndIsStoppedAndHoldsNothingUp() {
    window_->showPanel("query");
    window_->query().setText("WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x");
    window_->query().ask();
    QVERIFY(window_->query().isComputing());
    window_->timelineView().zoomBy(2);  // the window responds
    QTest::qWait(50);
    QVERIFY(window_->query().isComputing());
    window_->query().stop();
    QVERIFY(!window_->query().isComputing());
    ask("SELECT 7");
    QCOMPARE(cell(0, 0), QString("7"));
    window_->query().setText("WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x");
    window_->query().ask();
    window_.reset();  // closed while the query runs: the test must end
  }

  void theAnswerIsAboutTheTraceThatIsShown() {
    const QString other = QString::fromStdString((folder_.path() / "other.trace").string());
    write_long_trace(other.toStdString(), 1);
    ask("SELECT count(*) AS n FROM kernels");
    QCOMPARE(cell(0, 0), QString::number(kKernels));
    QVERIFY(open_and_settle(*window_, other));
    QCOMPARE(cell(0, 0).remove(QRegularExpression("[^0-9]")), QString("50000"));
  }

  void namesThatDifferInTheirCountersAreOneFamily() {
    SmallTrace trace;
    std::vector<Event> ranges;
    for (int i = 0; i < 12; ++i) {
      ranges.push_back(trace.event(i * 1'000, i * 1'000 + 500 + i, "step " + std::to_string(i)));
      ranges.push_back(trace.event(i * 1'000 + 600, i * 1'000 + 700, "layer1"));
    }
    trace.builder.add(trace.on_thread(TrackKind::kNvtxRanges), ranges);
    window_->state().setTrace(trace.builder.snapshot(), ui::TraceChange::kOther);
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    QCOMPARE(window_->statistics().model().rowCount(), 13);
    window_->statistics().chooseReport(ui::StatisticsPanel::kFamilies);
    QVERIFY(settle(*window_));
    const ui::StatisticsModel& model = window_->statistics().model();
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.index(0, ui::StatisticsModel::kName).data().toString(), QString("step *"));
    QCOMPARE(model.index(0, ui::StatisticsModel::kCount).data().toString(), QString("12"));
    QCOMPARE(model.entry(0).total, Nanoseconds{12 * 500 + 66});
    QCOMPARE(model.index(1, ui::StatisticsModel::kName).data().toString(), QString("layer1"));

    auto* names = window_->statistics().findChild<QTableView*>();
    QTest::mouseClick(names->viewport(), Qt::LeftButton, Qt::NoModifier, names->visualRect(model.index(0, 0)).center());
    QTest::mouseDClick(names->viewport(), Qt::LeftButton, Qt::NoModifier, names->visualRect(model.index(0, 0)).center());
    QVERIFY(settle(*window_));
    QCOMPARE(events_table(*window_)->model()->rowCount(), 12);  // only those of the family

    timeline::TimelineView& view = window_->timelineView();
    const auto name = [&] { return window_->state().trace()->name(window_->state().trace()->event(view.selectedEvent()).name); };
    view.selectEvent({0, 0});
    view.setFocus();
    for (int i = 1; i < 4; ++i) {
      QTest::keySequence(&view, QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Right));
      QCOMPARE(name(), std::string_view("step " + std::to_string(i)));
    }
    QTest::keySequence(&view, QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Left));
    QCOMPARE(name(), std::string_view("step 2"));
    view.setHighlightedText("STEP *");
    QCOMPARE(view.highlightedCount(), std::uint64_t{12});
  }

 private:
  QWidget* rows() {
    for (QWidget* child : window_->timelineView().findChildren<QWidget*>())
      if (child->accessibleName() == "Timeline rows") return child;
    return nullptr;
  }
  // The place of a row in the window of the rows, by its accessible name; null if it is not shown.
  QRect rowAt(const QString& name) {
    const QAccessibleInterface* all = QAccessible::queryAccessibleInterface(rows());
    for (int i = 0; i < all->childCount(); ++i)
      if (all->child(i)->text(QAccessible::Name).startsWith(name))
        return QRect(rows()->mapFromGlobal(all->child(i)->rect().topLeft()), all->child(i)->rect().size());
    return {};
  }
  ui::ResultTable& table() { return window_->query().table(); }
  QString cell(int row, int column) { return table().model()->index(row, column).data().toString(); }
  void ask(const QString& sql) {
    window_->showPanel("query");
    window_->query().setText(sql);
    window_->query().ask();
    QVERIFY(settle(*window_));
  }
};

QTEST_MAIN(QueryTest)
#include "test_gui_query.moc"
