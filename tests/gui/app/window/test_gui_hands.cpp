// Actions without menus: arranging rows, changing keys, editors, pictures, hovering, and what is remembered of them; and colours.
#include <QAccessible>
#include <QCheckBox>
#include <QClipboard>
#include <QScrollBar>
#include <QTableWidget>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextLayout>

#include "../../../timeline/traces.h"
#include "base/state/remembered_rows.h"
#include "base/text/texts.h"
#include "fixture/gestures.h"
#include "fixture/known_trace_test.h"
#include "fixture/menus.h"
#include "timeline/core/pixels/colors.h"
#include "timeline/core/words/describe.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"
#include "window/keys/key_bindings_dialog.h"
#include "window/look/theme.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class HandsTest : public KnownTraceTest {
  Q_OBJECT

 private slots:
  // They are expanded while the filter is set; rows that the user collapsed stay remembered as collapsed.
  void rowsThatAFilterOpensAreNotRememberedAsOpen() {
    MainWindow window(ui::Layout::kRemembered);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    const QString kind = ui::kind_of_trace(*window.state().trace());
    const auto collapsed = [&] { return ui::Settings().rows(kind).collapsed; };
    QVERIFY(collapsed().isEmpty());
    window.timelineView().collapseRow("gpu:0");
    const QStringList closed = collapsed();
    QCOMPARE(closed.size(), 1);
    window.actions().row_filter->setText("Kernels");
    QVERIFY(window.timelineView().isExpanded("gpu:0"));
    QCOMPARE(collapsed(), closed);
    window.actions().row_filter->clear();
    QVERIFY(!window.timelineView().isExpanded("gpu:0"));
    QCOMPARE(collapsed(), closed);
    window.timelineView().expandRow("gpu:0");  // the initial state, for other tests
    QVERIFY(collapsed().isEmpty());
  }

  void namesThatRunFromTheRightLeaveNumbersInTheirPlaces() {
    const QString name = QStringLiteral("\u05e2\u05d5\u05d1\u05d3 3");  // "worker 3" in Hebrew
    const QString label = "[4711] " + name;
    // The positions of '[', '1', ']' and of the name's first letter, from the left.
    const auto in_order = [](const QString& text, const QList<QChar>& signs) {
      QTextLayout layout(text);
      layout.beginLayout();
      const QTextLine line = layout.createLine();
      layout.endLayout();
      double before = -1;
      for (const QChar sign : signs) {
        const auto at = static_cast<int>(text.indexOf(sign));
        const double x = std::min(line.cursorToX(at), line.cursorToX(at + 1));
        if (x <= before) return false;
        before = x;
      }
      return true;
    };
    const QList<QChar> signs{u'[', u'1', u']', name.front()};
    QVERIFY(!in_order(label, signs));  // the order in Unicode without our isolation
    QVERIFY(in_order(isolated(label), signs));
    QCOMPARE(isolated(label), QString("[4711] \u2068" + name + "\u2069"));
    QCOMPARE(shown_text(Message::verbatim(label.toStdString())), isolated(label));
    QCOMPARE(isolated(name), name);  // by itself, a name has its natural direction
    QCOMPARE(isolated("[4711] main"), QString("[4711] main"));
    QCOMPARE(isolated("A  " + name + ".trace, " + name), QString("A  \u2068" + name + "\u2069.trace, \u2068" + name + "\u2069"));

    SmallTrace trace;
    trace.builder.process(trace.process).name = name.toStdString();
    trace.builder.add(trace.on_thread(TrackKind::kCudaApi), {trace.event(0, 10, "cudaLaunchKernel")});
    window_->state().setTrace(trace.builder.snapshot(), ui::TraceChange::kOther);
    QVERIFY(settle(*window_));
    QStringList titles;
    for (const timeline::Row& row : window_->timelineView().rows().rows()) titles += window_->timelineView().rowTitle(QString::fromStdString(row.key));
    QVERIFY2(std::any_of(titles.begin(), titles.end(), [&](const QString& title) { return title.contains("] \u2068" + name + "\u2069"); }),
             qPrintable(titles.join(u'\n')));
  }

  void theWholeNameOfAKernelComesLastInItsDetails() {
    QVERIFY(open_and_settle(*window_, recorded("torch_training_workers0.trace")));
    const Trace& trace = *window_->state().trace();
    EventRef kernel = kernel_number(*window_, 0);
    const auto name = [&] { return QString::fromStdString(std::string(trace.name(trace.event(kernel).name))); };
    while (!name().contains("vectorized_elementwise_kernel")) ++kernel.index;
    window_->timelineView().selectEvent(kernel);
    const QString text = window_->findChild<ui::DetailsPanel*>()->text();
    QVERIFY2(text.startsWith("vectorized_elementwise_kernel<4, "), qPrintable(text));
    QVERIFY(text.indexOf("Whole name") > text.indexOf("Duration"));
    QVERIFY(QString(text).remove(u'\n').contains(name()));
  }

  void numbersStayBesideTheirUnitsInDetails() {
    window_->timelineView().selectEvent(kernel_number(*window_, 1));
    QVERIFY(settle(*window_));
    const auto* browser = window_->findChild<ui::DetailsPanel*>()->findChild<QTextBrowser*>();
    QVERIFY2(browser->document()->toRawText().contains(QStringLiteral("100.000\u00a0µs")), qPrintable(browser->document()->toRawText()));
    QVERIFY(window_->details().text().contains("100.000 µs"));  // as it is copied
    QCOMPARE(ui::unbroken("94 % of 3 steps, 18.7 ms, 2 MiB, 30 GB/s, 4 sm"), QString("94\u00a0% of 3 steps, 18.7\u00a0ms, 2\u00a0MiB, 30\u00a0GB/s, 4 sm"));
  }

  void detailsAreReadableAfterTheColoursChanged() {
    window_->timelineView().selectEvent(kernel_number(*window_, 1));
    const auto* browser = window_->findChild<ui::DetailsPanel*>()->findChild<QTextBrowser*>();
    for (const ui::Theme theme : {ui::Theme::kDark, ui::Theme::kLight}) {
      ui::apply_theme(theme);
      QCoreApplication::sendPostedEvents();
      int texts = 0;
      for (QTextBlock block = browser->document()->begin(); block.isValid(); block = block.next())
        for (auto piece = block.begin(); !piece.atEnd(); ++piece) {
          const QTextCharFormat format = piece.fragment().charFormat();
          const QColor color = format.hasProperty(QTextFormat::ForegroundBrush) ? format.foreground().color() : QApplication::palette().color(QPalette::Text);
          const double ratio = timeline::contrast(color.rgb(), QApplication::palette().color(QPalette::Base).rgb());
          QVERIFY2(ratio >= 4.5, qPrintable(piece.fragment().text() + QString(": %1").arg(ratio)));
          ++texts;
        }
      QVERIFY(texts > 4);
    }
  }

  void whatIsHiddenMovedPinnedAndMarkedIsUndoneInTurn() {
    timeline::TimelineView& view = window_->timelineView();
    view.setFocus();
    const auto undo = [&] { QTest::keySequence(&view, QKeySequence("Ctrl+Z")); };
    const auto redo = [&] { QTest::keySequence(&view, QKeySequence("Ctrl+Shift+Z")); };
    QVERIFY(!window_->actions().undo->isEnabled());
    const timeline::RowArrangement at_first = view.rowArrangement();
    view.setCurrentRow("gpu:0/hw");
    QTest::keyClick(&view, Qt::Key_P);
    view.setCurrentRow("gpu:0");
    QTest::keyClick(&view, Qt::Key_H);
    QVERIFY(view.hasHiddenRows());
    QCOMPARE(window_->actions().undo->text(), QString("&Undo: Hide the row"));
    view.setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + kKernelDuration});
    QTest::keyClick(&view, Qt::Key_M);
    QCOMPARE(view.markers().size(), std::size_t{2});
    const TimeRange visible = view.visibleRange();

    undo();  // both ends at once
    QVERIFY(view.markers().empty());
    QVERIFY(view.hasHiddenRows());
    view.collapseRow("process:1");  // is not an edit: it stays
    undo();
    QVERIFY(!view.hasHiddenRows());
    QVERIFY(!view.isExpanded("process:1"));
    QVERIFY(view.isPinned("gpu:0/hw"));
    undo();
    QVERIFY(!view.isPinned("gpu:0/hw"));
    QVERIFY(!window_->actions().undo->isEnabled());
    QCOMPARE(view.visibleRange(), visible);  // zooming is not an edit: Z goes back to the previous range
    for (int i = 0; i < 4; ++i) redo();
    QVERIFY(view.isPinned("gpu:0/hw"));
    QVERIFY(view.hasHiddenRows());
    QCOMPARE(view.markers().size(), std::size_t{2});
    QVERIFY(!window_->actions().redo->isEnabled());
    while (window_->actions().undo->isEnabled()) undo();
    view.expandRow("process:1");
    QCOMPARE(view.rowArrangement().hidden, at_first.hidden);
    QCOMPARE(view.rowArrangement().pinned, at_first.pinned);
    QVERIFY(!QFile::exists(known_ + ".notes"));  // there are no notes any more

    // In a field, the keys edit its text; another trace starts with an empty history.
    view.setCurrentRow("gpu:0");
    QTest::keyClick(&view, Qt::Key_H);
    window_->actions().row_filter->setFocus();
    QTest::keyClicks(window_->actions().row_filter, "x");
    QTest::keySequence(window_->actions().row_filter, QKeySequence("Ctrl+Z"));
    QVERIFY(window_->actions().row_filter->text().isEmpty());
    QVERIFY(view.hasHiddenRows());
    view.showHiddenRows();
    QVERIFY(open_and_settle(*window_, recorded("cuda_streams.trace")));
    QVERIFY(!window_->actions().undo->isEnabled());
  }

  void rowsAreHigherAndLowerByWheelAndKeysAndStaySo() {
    timeline::TimelineView& view = window_->timelineView();
    QWidget* names = part(*window_, "Row names");
    const auto height = [&] {  // of the row "CUDA HW", as reported to assistive technology
      QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(part(*window_, "Timeline rows"));
      for (int i = 0; i < canvas->childCount(); ++i)
        if (canvas->child(i)->text(QAccessible::Name) == "CUDA HW") return canvas->child(i)->rect().height();
      return 0;
    };
    const int usual = height();
    const TimeRange visible = view.visibleRange();
    const auto turn = [&](int angle) {
      QWheelEvent event({20, 40}, names->mapToGlobal(QPointF(20, 40)), {}, {0, angle}, Qt::NoButton, Qt::ControlModifier, Qt::NoScrollPhase, false);
      QApplication::sendEvent(names, &event);
    };
    for (int i = 0; i < 3; ++i) turn(120);
    QVERIFY2(height() > 1.8 * usual && height() < 2.1 * usual, qPrintable(QString::number(height())));
    QCOMPARE(view.visibleRange(), visible);
    const double chosen = view.rowScale();
    window_ = window_of(known_);
    QCOMPARE(window_->timelineView().rowScale(), chosen);  // it is remembered
    window_->timelineView().setFocus();
    for (int i = 0; i < 40; ++i) QTest::keyClick(&window_->timelineView(), Qt::Key_S, Qt::ShiftModifier);
    QVERIFY(height() >= usual / 2);  // not lower than can be read
    for (int i = 0; i < 40; ++i) QTest::keyClick(&window_->timelineView(), Qt::Key_W, Qt::ShiftModifier);
    QVERIFY(height() <= 6 * usual);
    window_->timelineView().setRowScale(1);
    QCOMPARE(height(), usual);
  }

  // The editor is a script that records its arguments.
  void aCallOfAChainOpensInTheEditorAtItsLine() {
    QVERIFY(open_and_settle(*window_, recorded("torch_loader_samples.trace")));
    const Trace& trace = *window_->state().trace();
    EventRef sample;
    timeline::SourcePlace place;
    for (const Track& track : trace.tracks()) {
      if (track.key.kind != TrackKind::kCpuSamples || sample.valid()) continue;
      for (EventIndex i = 0; i < trace.lane(track.lanes.front()).size() && !sample.valid(); ++i)
        for (const timeline::Property& property : timeline::describe_event(trace, {track.lanes.front(), i}))
          if (property.source && property.source->line > 0 && property.source->file.ends_with(".py") && !sample.valid() &&
              !QFile::exists(QString::fromStdString(property.source->file))) {
            sample = {track.lanes.front(), i};
            place = *property.source;
          }
    }
    QVERIFY(sample.valid());
    const QString name = QString::fromStdString(place.file).section(u'/', -1);
    const QString said = QString::fromStdString((folder_.path() / "said").string());
    const QString script = QString::fromStdString((folder_.path() / "editor").string());
    QFile editor(script);
    QVERIFY(editor.open(QIODevice::WriteOnly));
    editor.write("#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + said.toUtf8() + ".new'\nmv '" + said.toUtf8() + ".new' '" + said.toUtf8() + "'\n");
    editor.close();
    ui::Settings().setEditor("/bin/sh " + script + " --goto %f:%l");
    window_->state().setSelectedEvent(sample);
    QVERIFY(settle(*window_));
    auto* details = window_->details().findChild<QTextBrowser*>();
    const auto click = [&] {
      details->moveCursor(QTextCursor::Start);
      details->find(name);  // scrolls it into sight
      Gestures gestures(*window_);
      return gestures.click_link(*details, name.section(u'.', 0, 0));
    };
    window_->source().setSourceFolders({});
    QVERIFY(click());
    QVERIFY2(window_->messages().text().contains("is not on this machine"), qPrintable(window_->messages().text()));
    QFile source(QString::fromStdString((folder_.path() / name.toStdString()).string()));
    QVERIFY(source.open(QIODevice::WriteOnly));
    source.write("import this\n");
    source.close();
    window_->source().setSourceFolders({QString::fromStdString(folder_.path().string())});
    QVERIFY(click());
    QVERIFY(wait_for([&] { return QFile::exists(said); }));
    QFile words(said);
    QVERIFY(words.open(QIODevice::ReadOnly));
    QCOMPARE(words.readAll(), QByteArray("--goto\n") + source.fileName().toUtf8() + ':' + QByteArray::number(place.line) + '\n');

    ui::Settings().setEditor("/nowhere/editor %f");
    QVERIFY(click());
    QVERIFY2(window_->messages().messages().back().sentence.contains("/nowhere/editor can't be started") ||
                 window_->messages().text().contains("/nowhere/editor can't be started"),
             qPrintable(window_->messages().text()));
    ui::Settings().setEditor("/bin/sh " + script + " --goto %f:%l");
    QVERIFY(click());
    QVERIFY2(!window_->messages().text().contains("can't be started"), qPrintable(window_->messages().text()));
  }

  void theFamilyOfAnEventIsListedFromItsDetailsAndMenu() {
    QVERIFY(open_and_settle(*window_, recorded("torch_training_workers0.trace")));
    const Trace& trace = *window_->state().trace();
    EventRef step;
    std::uint64_t steps = 0;  // counted by hand
    for (LaneId lane = 0; lane < trace.lanes().size(); ++lane)
      for (EventIndex i = 0; i < trace.lane(lane).size(); ++i)
        if (trace.name(trace.lane(lane).name(i)).starts_with("step ")) {
          step = {lane, i};
          ++steps;
        }
    QVERIFY(steps > 10);
    window_->timelineView().zoomToEvent(step);
    QVERIFY(settle(*window_));
    auto* details = window_->details().findChild<QTextBrowser*>();
    details->find("Family");  // scrolls it into sight
    Gestures gestures(*window_);
    QVERIFY2(gestures.click_link(*details, "step"), qPrintable(details->toPlainText()));
    QVERIFY(settle(*window_));
    QCOMPARE(std::uint64_t(events_table(*window_)->model()->rowCount()), steps);
  }

  // Enter in the filter moves to the first match, and removes the key of no command.
  void enterInTheFilterOfKeysChangesNone() {
    ui::KeyBindings& bindings = ui::KeyBindings::ofProcess();
    const auto restore = qScopeGuard([&] { bindings.resetAll(); });
    ui::KeyBindingsDialog dialog(bindings);
    dialog.show();
    QVERIFY(QTest::qWaitForWindowActive(&dialog, kPatienceMs));
    auto* table = dialog.findChild<QTableWidget*>();
    QLineEdit* filter = nullptr;
    for (QLineEdit* field : dialog.findChildren<QLineEdit*>())
      if (field->accessibleName() == "Filter commands") filter = field;
    QVERIFY(filter != nullptr && table->rowCount() > 10);
    const auto keys = [&] {
      QStringList all;
      for (int row = 0; row < table->rowCount(); ++row) all += table->item(row, 1)->text();
      return all;
    };
    QStringList names;
    for (int row = 0; row < table->rowCount(); ++row) names += table->item(row, 0)->text();
    for (const QString& name : names) QVERIFY2(names.count(name) == 1, qPrintable(name));  // duplicates could not be distinguished
    QVERIFY(names.contains("Zoom in") && names.contains("Timeline: Zoom in"));
    const QStringList before = keys();
    filter->setFocus();
    QTest::keyClick(filter, Qt::Key_Return);
    QCOMPARE(keys(), before);
    filter->setFocus();
    QTest::keyClicks(filter, "hide the row");
    QTest::keyClick(filter, Qt::Key_Return);
    QCOMPARE(keys(), before);
    QCOMPARE(table->item(table->currentRow(), 0)->text(), QString("Hide the row"));
    QVERIFY(qobject_cast<ui::KeyField*>(QApplication::focusWidget()) != nullptr);
    filter->setText("no command has this name");  // then there is no command for a key
    QVERIFY(!dialog.findChild<ui::KeyField*>()->isEnabled());
    filter->clear();
    QVERIFY(dialog.findChild<ui::KeyField*>()->isEnabled());
  }

  void keysAreChangedKeptAndRefusedWhereAnotherCommandHasThem() {
    ui::KeyBindings& bindings = ui::KeyBindings::ofProcess();
    const auto restore = qScopeGuard([&] { bindings.resetAll(); });
    ui::KeyBindingsDialog dialog(bindings);  // without a parent, because the windows are destroyed first
    dialog.show();
    QVERIFY(QTest::qWaitForWindowActive(&dialog, kPatienceMs));
    auto* table = dialog.findChild<QTableWidget*>();
    auto* key = dialog.findChild<ui::KeyField*>();
    const auto choose = [&](const QString& text) {
      for (int row = 0; row < table->rowCount(); ++row)
        if (table->item(row, 0)->text() == text) return table->selectRow(row), true;
      return false;
    };
    QVERIFY(choose("Hide the row"));
    key->setFocus();
    QTest::keyClick(key, Qt::Key_G);
    QVERIFY2(dialog.message().startsWith("G is the key of \"Next gap of a GPU\"."), qPrintable(dialog.message()));
    key->setFocus();
    QTest::keyClick(key, Qt::Key_L, Qt::ControlModifier);  // a key of the window
    QVERIFY2(dialog.message().contains("\"Launch and record\""), qPrintable(dialog.message()));
    key->setFocus();
    QTest::keyClick(key, Qt::Key_X);
    QCOMPARE(dialog.message(), QString());
    QVERIFY(choose("Find event"));
    key->setFocus();
    QTest::keyClick(key, Qt::Key_J, Qt::ControlModifier);
    QCOMPARE(dialog.message(), QString());
    dialog.close();

    const auto check = [](MainWindow& window) {
      window.activateWindow();
      QVERIFY(QTest::qWaitForWindowActive(&window, kPatienceMs));
      timeline::TimelineView& view = window.timelineView();
      view.setFocus();
      view.setCurrentRow("gpu:0");
      QTest::keyClick(&view, Qt::Key_H);
      QVERIFY(!view.hasHiddenRows());
      QTest::keyClick(&view, Qt::Key_X);
      QVERIFY(view.hasHiddenRows());
      view.showHiddenRows();
      QTest::keySequence(&view, QKeySequence("Ctrl+F"));
      QVERIFY(view.hasFocus());
      QTest::keySequence(&view, QKeySequence("Ctrl+J"));
      QVERIFY(!view.hasFocus());
      const auto sheet = view.helpText();
      QVERIFY(std::any_of(sheet.begin(), sheet.end(), [](const auto& line) { return line.first == "X" && line.second == "Hide the row"; }));
    };
    check(*window_);
    window_ = window_of(known_);  // and in the next one
    check(*window_);
    const QList<QAction*> entries = window_->actions().rows->actions();
    QVERIFY(std::any_of(entries.begin(), entries.end(), [](const QAction* action) { return action->text() == "&Hide the row\tX"; }));
    QCOMPARE(bindings.reset("timeline/Hide the row"), QString());
    window_->timelineView().setCurrentRow("gpu:0");
    window_->timelineView().setFocus();
    QTest::keyClick(&window_->timelineView(), Qt::Key_H);
    QVERIFY(window_->timelineView().hasHiddenRows());
  }

  void thePictureOfTheTimelineIsCopied() {
    QTest::keySequence(window_.get(), QKeySequence("Ctrl+Shift+P"));
    const QImage copied = QGuiApplication::clipboard()->image();
    QCOMPARE(copied.size(), window_->timelineView().grab().toImage().size());
  }

  // The focus that a screen reader gets as keys move from event to event and from row to row.
  void whatKeysChooseHasTheFocusOfAssistiveTechnology() {
    timeline::TimelineView& view = window_->timelineView();
    view.setFocus();
    QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(part(*window_, "Timeline rows"));
    const auto focused = [&] { return canvas->focusChild() != nullptr ? canvas->focusChild()->text(QAccessible::Name) : QString(); };
    QCOMPARE(focused(), QString());
    window_->state().setSelectedEvent(kernel_number(*window_, 0));
    QCOMPARE(focused(), QString("gemm"));
    QVERIFY(canvas->focusChild()->state().selected);
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(focused(), QString("relu"));
    view.clearSelection();
    QTest::keyClick(&view, Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(focused(), QString("GPU 0  NVIDIA H200"));
    QTest::keyClick(&view, Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(focused(), QString("CUDA HW"));
  }

  void statisticsFollowHoverAndSelectionBothWays() {
    window_->showPanel("statistics");
    QVERIFY(wait_for([&] { return window_->isSettled() && window_->statistics().model().rowCount() > 2; }));
    const ui::StatisticsModel& model = window_->statistics().model();
    auto* table = window_->statistics().findChild<QTableView*>();
    const auto row_of = [&](const char* name) {
      for (int row = 0; row < model.rowCount(); ++row)
        if (model.nameOf(model.entry(row)) == QLatin1String(name)) return row;
      return -1;
    };
    const EventRef gemm = kernel_number(*window_, 0), relu = kernel_number(*window_, 1);
    QTest::mouseClick(part(*window_, "Timeline rows"), Qt::LeftButton, Qt::NoModifier, place_of(*window_, relu));
    QCOMPARE(window_->state().selectedEvent(), relu);
    QCOMPARE(table->selectionModel()->selectedRows().size(), 1);
    QCOMPARE(table->selectionModel()->selectedRows().first().row(), row_of("relu"));
    place_of(*window_, gemm);  // moves the cursor there
    QCOMPARE(window_->state().hoveredEvent(), gemm);
    QVERIFY(model.index(row_of("gemm"), 0).data(Qt::BackgroundRole).isValid());
    QVERIFY(!model.index(row_of("relu"), 0).data(Qt::BackgroundRole).isValid());

    const QPoint step = table->visualRect(model.index(row_of("step"), 0)).center();
    QMouseEvent move(QEvent::MouseMove, step, table->viewport()->mapToGlobal(step), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(table->viewport(), &move);
    const auto name_of = [&](EventRef event) {
      return event.valid() ? window_->state().trace()->name(window_->state().trace()->event(event).name) : std::string_view();
    };
    QVERIFY(name_of(window_->timelineView().hoveredEvent()) == "step");
    QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::NoModifier, step);
    QVERIFY(name_of(window_->timelineView().selectedEvent()) == "step");
  }

  void aSelectedRangeIsSummedUpAtOnce() {
    QWidget* ruler = part(*window_, "Time axis");
    const auto mouse = [&](QEvent::Type type, int x, Qt::MouseButtons buttons) {
      QMouseEvent event(type, QPointF(x, 10), ruler->mapToGlobal(QPointF(x, 10)), type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton, buttons,
                        Qt::NoModifier);
      QApplication::sendEvent(ruler, &event);
    };
    mouse(QEvent::MouseButtonPress, 1, Qt::LeftButton);
    mouse(QEvent::MouseMove, ruler->width() - 1, Qt::LeftButton);
    mouse(QEvent::MouseButtonRelease, ruler->width() - 1, Qt::NoButton);
    const std::optional<TimeRange> range = window_->state().selectedRange();
    QVERIFY(range && range->begin <= kFirstKernel);
    const auto* details = window_->findChild<ui::DetailsPanel*>();
    QVERIFY(details->isVisible());
    QVERIFY(wait_for([&] { return window_->isSettled(); }));
    const QString text = details->text();
    const double busy = static_cast<double>(kKernels * kKernelDuration) / static_cast<double>(range->length());
    for (const QString& said : {QString::fromStdString(timeline::format_duration(range->length())), QString("GPU 0 busy"),
                                QString::fromStdString(timeline::format_share(busy)), QString("relu"), QString("gemm"), QString("count 3"),
                                QString("total 300.000 µs"), QString("average 100.000 µs"), QString("median 100.000 µs"), QString("95 % 100.000 µs")})
      QVERIFY2(text.contains(said), qPrintable(said + " is not in: " + text));
    window_->state().setSelectedEvent(kernel_number(*window_, 1));  // the last selection
    QVERIFY(details->text().startsWith("relu"));
  }

  void hoverIsOneForTimelineAndTable() {
    QTableView* table = events_table(*window_);
    const QPoint place = row_position(*table, 4);
    QMouseEvent move(QEvent::MouseMove, place, table->viewport()->mapToGlobal(place), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(table->viewport(), &move);
    const auto* model = qobject_cast<const ui::EventTableModel*>(table->model());
    QCOMPARE(window_->timelineView().hoveredEvent(), model->event(4));
    QVERIFY(model->index(4, 1).data(Qt::BackgroundRole).isValid());
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(table->viewport(), &leave);
    QVERIFY(!window_->timelineView().hoveredEvent().valid());

    window_->timelineView().setHoveredEvent(model->event(2));
    QVERIFY(model->index(2, 1).data(Qt::BackgroundRole).isValid());
    QVERIFY(!model->index(4, 1).data(Qt::BackgroundRole).isValid());
  }

  void rowsAreRememberedForEachKindOfTrace() {
    window_.reset();
    {
      MainWindow window;
      window.show();
      QVERIFY(open_and_settle(window, known_));
      window.timelineView().pin("gpu:0/kernels");
      window.timelineView().pin("gpu:0/hw");
      window.timelineView().hideRow("gpu:0/nvtx");
      QVERIFY(!window.timelineView().isExpanded("gpu:0/kernels"));  // the row is collapsed by default
      window.timelineView().expandRow("gpu:0/kernels");
      QVERIFY(window.timelineView().isExpanded("gpu:0/kernels"));
      window.timelineView().moveRow("processes", "gpu:0");
      QVERIFY(open_and_settle(window, recorded("cuda_streams.trace")));  // another program: nothing of it applies
      QVERIFY(!window.timelineView().hasHiddenRows());
      QVERIFY(window.timelineView().rowArrangement().pinned.empty());
      QVERIFY(open_and_settle(window, known_));  // and back
      QVERIFY(window.timelineView().isPinned("gpu:0/kernels"));
      window.close();
    }
    {
      MainWindow window;
      QVERIFY(open_and_settle(window, known_));
      const timeline::RowArrangement& rows = window.timelineView().rowArrangement();
      QCOMPARE(rows.pinned, (std::vector<std::string>{"gpu:0/kernels", "gpu:0/hw"}));
      QVERIFY(rows.hidden.contains("gpu:0/nvtx"));
      QVERIFY(window.timelineView().isExpanded("gpu:0/kernels"));
      QCOMPARE(rows.order.at(""), (std::vector<std::string>{"processes", "gpu:0"}));
      window.timelineView().setRowArrangement({});
    }
    MainWindow window;
    QVERIFY(open_and_settle(window, known_));
    QVERIFY(window.timelineView().rowArrangement() == timeline::RowArrangement{});
  }

  void aRowIsTheSameInTheNextRunOfTheProgram() {
    const auto run = [](std::uint32_t pid) {
      SmallTrace small;
      small.builder.process(small.process).pid = pid;
      const ThreadId loader = small.builder.thread(small.process, pid + 17);
      small.builder.name_thread(loader, "loader");
      TrackKey key = small.on_thread(TrackKind::kNvtxRanges);
      key.thread = loader;
      const std::vector<std::uint32_t> depths{0};
      small.builder.add(key, {small.event(0, 100, "load")}, depths);
      small.builder.add(small.on_gpu(TrackKind::kKernels), {small.event(0, 50, "gemm")});
      return small.builder.snapshot();
    };
    const timeline::RowTree first(*run(100)), second(*run(2'000));
    timeline::RowArrangement arrangement;
    arrangement.pinned = {"process:1/thread:117"};
    arrangement.expanded["process:1/thread:117"] = false;
    const ui::RememberedRows remembered = ui::remember(first, arrangement, {});
    const timeline::RowArrangement again = ui::arrange(second, remembered, {}, {});
    QCOMPARE(again.pinned, (std::vector<std::string>{"process:1/thread:2017"}));
    QVERIFY(!again.expanded.at("process:1/thread:2017"));
    QVERIFY(ui::remember(second, again, remembered) == remembered);
    // Rows that this trace does not have are not forgotten.
    const timeline::RowTree empty(*timeline::TimelineView().trace());
    QVERIFY(ui::remember(empty, {}, remembered) == remembered);
  }

  void tracesOfAProgramAndItsScriptAreOfOneKind() {
    const auto kind = [](std::vector<std::string> arguments) {
      SmallTrace small;
      small.builder.process(small.process).arguments = std::move(arguments);
      return ui::kind_of_trace(*small.builder.snapshot());
    };
    QCOMPARE(kind({"/usr/bin/python3", "-u", "/home/me/train.py", "--workers", "4"}), QString("python3 train.py"));
    QCOMPARE(kind({"/usr/bin/python3", "-u", "/tmp/train.py"}), kind({"python3", "train.py", "7"}));
    QCOMPARE(kind({"./a.out"}), QString("a.out"));
    QCOMPARE(kind({}), QString("python"));
  }

  void scrollBarsAreDraggedAndPagedAlongTheirWholeLength() {
    ui::apply_theme(ui::Theme::kLight);
    for (const Qt::Orientation orientation : {Qt::Vertical, Qt::Horizontal}) {
      QScrollBar bar(orientation);
      bar.setRange(0, 300);
      bar.setPageStep(100);  // the handle takes a quarter
      const bool upright = orientation == Qt::Vertical;
      bar.resize(upright ? QSize(14, 400) : QSize(400, 14));
      bar.show();
      const auto place = [&](int along) { return upright ? QPoint(7, along) : QPoint(along, 7); };
      QTest::mousePress(&bar, Qt::LeftButton, {}, place(50));
      QTest::mouseMove(&bar, place(150));
      QCOMPARE(bar.value(), 100);
      QTest::mouseMove(&bar, place(399));
      QTest::mouseRelease(&bar, Qt::LeftButton, {}, place(399));
      QCOMPARE(bar.value(), 300);
      QTest::mouseClick(&bar, Qt::LeftButton, {}, place(2));  // there is no button: scrolls by a page
      QCOMPARE(bar.value(), 200);
      QTest::mouseClick(&bar, Qt::LeftButton, {}, place(398));
      QCOMPARE(bar.value(), 300);
    }
  }

  void anUncheckedBoxIsSeenInBothThemes() {
    for (const ui::Theme theme : {ui::Theme::kLight, ui::Theme::kDark}) {
      ui::apply_theme(theme);
      QCheckBox box("x");
      box.resize(box.sizeHint());
      const QImage picture = box.grab().toImage().convertToFormat(QImage::Format_RGB32);
      double most = 1;
      for (int x = 0; x < picture.width() / 2; ++x)
        most = std::max(most, timeline::contrast(picture.pixel(x, picture.height() / 2), QApplication::palette().color(QPalette::Window).rgb()));
      QVERIFY2(most >= 1.5, qPrintable(QString::number(most)));
    }
    ui::apply_theme(ui::Theme::kLight);
  }

  void textIsReadableInBothThemes() {
    for (const ui::Theme theme : {ui::Theme::kLight, ui::Theme::kDark}) {
      ui::apply_theme(theme);
      const QPalette palette = QApplication::palette();
      const std::pair<QPalette::ColorRole, QPalette::ColorRole> pairs[] = {
          {QPalette::Text, QPalette::Base},         {QPalette::Text, QPalette::AlternateBase},        {QPalette::WindowText, QPalette::Window},
          {QPalette::ButtonText, QPalette::Button}, {QPalette::PlaceholderText, QPalette::Base},      {QPalette::PlaceholderText, QPalette::Window},
          {QPalette::Link, QPalette::Base},         {QPalette::HighlightedText, QPalette::Highlight}, {QPalette::ToolTipText, QPalette::ToolTipBase}};
      for (const auto& [text, behind] : pairs) {
        const double ratio = timeline::contrast(palette.color(text).rgb(), palette.color(behind).rgb());
        QVERIFY2(ratio >= 4.5, qPrintable(QString("%1 on %2: %3").arg(text).arg(behind).arg(ratio)));
      }
    }
    ui::apply_theme(ui::Theme::kLight);
  }
};

QTEST_MAIN(HandsTest)
#include "test_gui_hands.moc"
