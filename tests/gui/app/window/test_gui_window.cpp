// The viewer as seen by its user: opening files, gestures, and what the panels then show.
#include <cstdlib>

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QDockWidget>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QTextBlock>
#include <QTextDocument>

#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"
#include "timeline/core/words/format.h"
#include "window/look/theme.h"
#include "window/start/start_page.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class MainWindowTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    known_ = QString::fromStdString((folder_.path() / "known.trace").string());
    write_known_trace(known_.toStdString());
  }

  void opensAFileAndSaysWhatItHolds() {
    MainWindow window(ui::Layout::kInitial);
    QVERIFY(open_and_settle(window, known_));
    QCOMPARE(window.state().trace()->event_count(), kEvents);
    QVERIFY(window.windowTitle().contains("known.trace"));
    const QString status = window.findChild<ui::TraceStatus*>()->text();
    QVERIFY2(status.contains("13 events") && status.contains("complete: nothing dropped") && status.contains("gpu01"), qPrintable(status));
    QCOMPARE(events_table(window)->model()->rowCount(), static_cast<int>(kEvents));
  }

  // If the window has no room for all parts, the first ones are readable to their ends.
  void theStatusLineIsNotCutWithinItsWords() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'400, 700);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    const auto* in_window = window.findChild<ui::PartsLabel*>();
    QVERIFY(wait_for([&] { return in_window->shown() == in_window->text(); }));
    QCOMPARE(in_window->toolTip(), in_window->text());
    ui::PartsLabel label;
    label.setParts({"2,748 events", "complete: nothing dropped", "recorded on gpu01"});
    for (const QString& shown :
         {label.text(), QString("2,748 events  ·  complete: nothing dropped  ·  …"), QString("2,748 events  ·  …"), QString("2,748 ev…")}) {
      label.resize(label.fontMetrics().horizontalAdvance(shown) + 1, 20);
      QCOMPARE(label.shown(), shown);
    }
    QVERIFY(label.minimumSizeHint().width() <= 1);  // the text does not keep the window wide
  }

  // Lists leave out kinds that are listed only on request, so the number of events is that of lists.
  void countsEventsAsListsDo() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, recorded("torch_loader_samples.trace")));
    const auto* status = window.findChild<ui::TraceStatus*>();
    const std::uint64_t all = window.state().trace()->event_count(), listed = static_cast<std::uint64_t>(events_table(window)->model()->rowCount());
    QVERIFY(listed < all);
    QCOMPARE(all, std::uint64_t{30'313});
    const QString expected = QString("%1 events, %2 states and samples")
                                 .arg(QString::fromStdString(timeline::format_count(listed)), QString::fromStdString(timeline::format_count(all - listed)));
    QVERIFY2(status->text().startsWith(expected), qPrintable(status->text()));
    for (const QLabel* label : status->findChildren<QLabel*>())
      if (label->text() == status->text()) QVERIFY(label->toolTip().contains("where their kind is chosen"));
  }

  void remembersRecentFilesNewestFirst() {
    const QString other = QString::fromStdString((folder_.path() / "other.trace").string());
    write_known_trace(other.toStdString());
    MainWindow window;
    QVERIFY(open_and_settle(window, known_));
    QVERIFY(open_and_settle(window, other));
    QStringList entries;
    for (const QAction* entry : window.actions().open_recent->actions()) entries += entry->text().section(u' ', 0, 0);
    QCOMPARE(entries.mid(0, 2), (QStringList{"other.trace", "known.trace"}));
    // With facts that distinguish files of the same name: folder, time and size.
    const auto entry = [&] { return window.actions().open_recent->actions().front()->text(); };
    const QString size = QString::fromStdString(timeline::format_bytes(std::filesystem::file_size(other.toStdString())));
    for (const QString& fact : {QString::fromStdString(folder_.path().filename().string()), QStringLiteral("just now"), size})
      QVERIFY2(wait_for([&] { return entry().contains(fact); }), qPrintable(entry() + " lacks " + fact));

    QSignalSpy opened(&window, &MainWindow::opened);
    window.actions().open_recent->actions().at(1)->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(opened.first().first().toString(), known_);
  }

  // What is under the mouse stays there: the next click would otherwise hit another row.
  void aMessageMovesNothingAndFitsTheTheme() {
    const auto back = qScopeGuard([] { ui::apply_theme(ui::Theme::kLight); });
    for (const ui::Theme theme : {ui::Theme::kLight, ui::Theme::kDark}) {
      ui::apply_theme(theme);
      MainWindow window(ui::Layout::kInitial);
      window.show();
      QVERIFY(open_and_settle(window, known_));
      const QWidget* canvas = part(window, "Timeline rows");
      const QRect before(canvas->mapTo(&window, QPoint(0, 0)), canvas->size());
      window.showFailure("What went wrong is said here.");
      auto* message = window.findChild<ui::MessageArea*>();
      QVERIFY(message->isVisible());
      QCoreApplication::processEvents();
      QCOMPARE(QRect(canvas->mapTo(&window, QPoint(0, 0)), canvas->size()), before);
      const QRect place(message->mapTo(&window, QPoint(0, 0)), message->size());
      QCOMPARE(place.bottom(), before.bottom());
      QVERIFY(place.height() >= message->fontMetrics().height());
      const QColor ground = message->palette().color(QPalette::Window), text = message->palette().color(QPalette::WindowText);
      QCOMPARE(ground.lightness() < 128, theme == ui::Theme::kDark);
      QVERIFY(std::abs(ground.lightness() - text.lightness()) > 110);
      window.resize(window.width() - 100, window.height() - 40);
      QVERIFY(wait_for(
          [&] { return message->width() == message->parentWidget()->width() && message->geometry().bottom() == message->parentWidget()->rect().bottom(); }));
    }
  }

  // Idle time of GPUs is what this user looks at; a program without GPU work has none.
  void aPanelThatHasNothingToSayAboutATraceIsNotInFront() {
    {
      MainWindow window;
      window.show();
      QVERIFY(open_and_settle(window, known_));
      window.showPanel("bubbles");
      QVERIFY(wait_for([&] { return window.bubbles().isVisible(); }));
      QVERIFY(open_and_settle(window, recorded("cpu_loader.trace")));
      QVERIFY(wait_for([&] { return window.samples().isVisible() && !window.bubbles().isVisible(); }));
      QVERIFY(open_and_settle(window, known_));
      QVERIFY(wait_for([&] { return window.bubbles().isVisible(); }));
      // What the user chooses stays.
      QVERIFY(open_and_settle(window, recorded("cpu_loader.trace")));
      window.showPanel("findings");
      QVERIFY(wait_for([&] { return window.findings().isVisible(); }));
      QVERIFY(open_and_settle(window, known_));
      QVERIFY(window.findings().isVisible() && !window.bubbles().isVisible());
      window.showPanel("bubbles");
      QVERIFY(open_and_settle(window, recorded("cpu_loader.trace")));
      QVERIFY(wait_for([&] { return !window.bubbles().isVisible(); }));
      QVERIFY(window.close());
    }
    MainWindow window;  // the next start
    window.show();
    QVERIFY(wait_for([&] { return window.bubbles().isVisible(); }));
    window.showPanel("events");
    QVERIFY(window.close());
  }

  void opensAFileThatIsDroppedOnIt() {
    MainWindow window(ui::Layout::kInitial);
    QSignalSpy opened(&window, &MainWindow::opened);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(known_)});
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &drop);
    QVERIFY(opened.wait(kPatienceMs));
  }

  void opensTwoDroppedFilesBesideEachOther() {
    const QString other = QString::fromStdString((folder_.path() / "other.trace").string());
    write_known_trace(other.toStdString());
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(known_), QUrl::fromLocalFile(other)});
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &drop);
    QVERIFY2(wait_for([&] { return window.pair().isOpen() && window.isSettled(); }), qPrintable(window.messages().text()));
    QCOMPARE(window.pair().first().path, known_);
    QCOMPARE(window.pair().second().path, other);
  }

  void aRecentFileThatIsGoneIsOfferedNoMore() {
    const QString gone = QString::fromStdString((folder_.path() / "gone.trace").string());
    write_known_trace(gone.toStdString());
    MainWindow window;
    window.show();
    QVERIFY(open_and_settle(window, gone));
    QVERIFY(open_and_settle(window, known_));
    QVERIFY(QFile::remove(gone));
    const auto entry = [&] {
      for (QAction* each : window.actions().open_recent->actions())
        if (each->toolTip() == gone) return each;
      return static_cast<QAction*>(nullptr);
    };
    QVERIFY(entry() != nullptr);
    QSignalSpy failed(&window, &MainWindow::failed);
    entry()->trigger();
    QVERIFY(failed.wait(kPatienceMs));
    QVERIFY2(window.messages().text().contains("gone.trace"), qPrintable(window.messages().text()));
    QVERIFY(wait_for([&] { return entry() == nullptr; }));
  }

  void entriesOfMenusNeedWhatTheyAreAbout() {
    MainWindow window(ui::Layout::kInitial);
    const ui::WindowActions& actions = window.actions();
    for (const QAction* action : {actions.find, actions.filter_events, actions.zoom_in, actions.longest_gaps, actions.export_csv})
      QVERIFY2(!action->isEnabled(), qPrintable(action->text()));
    for (const QAction* action : {actions.open, actions.launch, actions.attach, actions.keys}) QVERIFY2(action->isEnabled(), qPrintable(action->text()));
    window.show();
    QVERIFY(open_and_settle(window, known_));
    QVERIFY(actions.find->isEnabled() && actions.longest_gaps->isEnabled());
    QVERIFY(!actions.copy_details->isEnabled() && !actions.clear_selection->isEnabled() && !actions.zoom_to_selection->isEnabled());
    window.state().setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + kKernelDuration});
    QVERIFY(!actions.copy_details->isEnabled() && actions.clear_selection->isEnabled() && actions.zoom_to_selection->isEnabled());
    actions.clear_selection->trigger();
    QVERIFY(!actions.zoom_to_selection->isEnabled());
  }

  void saysInOneSentenceWhyAFileCannotBeOpened() {
    const QString path = QString::fromStdString((folder_.path() / "notes.trace").string());
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("these are notes, not a trace");
    file.close();
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QSignalSpy failed(&window, &MainWindow::failed);
    window.openFile(path);
    QVERIFY(failed.wait(kPatienceMs));
    QVERIFY(window.messages().text().contains("notes.trace"));
    QVERIFY(open_and_settle(window, known_));
    QCOMPARE(window.messages().text(), QString());
  }

  // Finding bubbles: sort by gap, double-click.
  void findsTheLongestGapByTwoGestures() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    window.state().setFilter({.kind = EventKind::kKernel});
    QTableView* table = events_table(window);
    click_header(*table, EventColumn::kGapBefore);
    QVERIFY(wait_for([&] { return window.isSettled(); }));
    QCOMPARE(cell(*table, 0, EventColumn::kGapBefore), QString("900.000 µs"));
    QCOMPARE(cell(*table, 0, EventColumn::kName), QString("relu"));
    QCOMPARE(cell(*table, 0, EventColumn::kQueueTime), QString("5.000 µs"));
    QCOMPARE(cell(*table, 0, EventColumn::kNvtxRange), QString("step"));

    QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::NoModifier, row_position(*table, 0));
    QTest::mouseDClick(table->viewport(), Qt::LeftButton, Qt::NoModifier, row_position(*table, 0));
    const std::int64_t start = kFirstKernel + 3 * kKernelDuration + kGaps[0] + kGaps[1] + kGaps[2];
    const TimeRange visible = window.timelineView().visibleRange();
    QVERIFY(visible.begin <= start - kGaps[2] && visible.end >= start + kKernelDuration);  // the gap and the kernel after it
    QVERIFY(2 * visible.length() < 3 * (kGaps[2] + kKernelDuration));
    QCOMPARE(window.state().trace()->event(window.timelineView().selectedEvent()).start, start);
  }

  void listsTheGapsOfTheGpuFromTheMenu() {
    MainWindow window(ui::Layout::kInitial);
    QVERIFY(open_and_settle(window, known_));
    window.actions().longest_gaps->trigger();
    QVERIFY(wait_for([&] { return window.isSettled(); }));
    QTableView* table = events_table(window);
    QCOMPARE(table->model()->rowCount(), static_cast<int>(kKernels));
    QCOMPARE(cell(*table, 0, EventColumn::kGapBefore), QString("900.000 µs"));
    QCOMPARE(cell(*table, kKernels - 1, EventColumn::kGapBefore), QString());  // the first of the row has no gap before it
  }

  void selectionIsOneForTimelineTableAndDetails() {
    MainWindow window(ui::Layout::kInitial);
    QVERIFY(open_and_settle(window, known_));
    QTableView* table = events_table(window);
    QSignalSpy selected(&window.state(), &ui::SelectionState::selectedEventChanged);

    table->selectRow(3);
    const auto* model = qobject_cast<const ui::EventTableModel*>(table->model());
    QCOMPARE(window.timelineView().selectedEvent(), model->event(3));
    QCOMPARE(selected.size(), 1);
    QVERIFY(window.findChild<ui::DetailsPanel*>()->text().contains(cell(*table, 3, EventColumn::kName)));

    window.timelineView().selectEvent(model->event(7));
    QCOMPARE(table->currentIndex().row(), 7);
    QCOMPARE(selected.size(), 2);

    window.timelineView().selectEvent({});
    QVERIFY(table->selectionModel()->selectedRows().isEmpty());
    QCOMPARE(selected.size(), 3);
  }

  void aSelectedRangeBoundsTableAndStatistics() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    window.actions().statistics->trigger();
    window.timelineView().setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + kKernelDuration});
    QVERIFY(wait_for([&] { return window.isSettled() && events_table(window)->model()->rowCount() == 2; }));  // the kernel and "step"
    const auto& statistics = window.findChild<ui::StatisticsPanel*>()->model();
    QCOMPARE(statistics.rowCount(), 2);
    QCOMPARE(statistics.entry(1).count, 1U);
    QCOMPARE(statistics.entry(1).total, kKernelDuration);

    window.timelineView().setSelectedRange(std::nullopt);
    QVERIFY(wait_for([&] { return window.isSettled() && events_table(window)->model()->rowCount() == static_cast<int>(kEvents); }));
    QCOMPARE(statistics.rowCount(), 4);  // gemm, relu, the call, the range
  }

  void aRecentFileOfAnyNameOpensFromTheStartPage() {
    const TemporaryFolder folder;
    const QString path = QString::fromStdString((folder.path() / "it's <b>a&b 100%25.trace").string());
    write_known_trace(path.toStdString());
    ui::Settings().addRecentFile(path);
    MainWindow window;
    window.show();
    auto* page = window.findChild<ui::StartPage*>();
    const auto* text = page->findChild<QLabel*>();
    QTextDocument document;
    document.setHtml(text->text());
    QString link;
    for (QTextBlock block = document.begin(); block.isValid() && link.isEmpty(); block = block.next())
      for (auto part = block.begin(); !part.atEnd(); ++part)
        if (part.fragment().charFormat().anchorHref().startsWith("file:") && link.isEmpty()) link = part.fragment().charFormat().anchorHref();
    QSignalSpy opened(&window, &MainWindow::opened);
    emit const_cast<QLabel*>(text)->linkActivated(link);
    QVERIFY2(opened.wait(kPatienceMs), qPrintable(link));
    QCOMPARE(opened.front().front().toString(), path);
    ui::Settings().removeRecentFile(path);
  }

  void filtersByNameAsOneTypes() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    auto* text = window.events().findChild<QLineEdit*>();
    QTest::keyClicks(text, "ReLU");
    QVERIFY(wait_for([&] { return window.isSettled() && events_table(window)->model()->rowCount() == static_cast<int>(kKernels / 2); }));
    QCOMPARE(QString::fromStdString(window.state().filter().text), QString("ReLU"));
  }

  void searchWalksThroughTheMatches() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    auto* box = window.findChild<ui::EventSearch*>()->findChild<QLineEdit*>();
    QTest::keyClicks(box, "gemm");
    std::vector<Nanoseconds> starts;
    for (int i = 0; i < 4; ++i) {
      QTest::keyClick(box, Qt::Key_Return);
      QVERIFY(wait_for([&] { return window.isSettled(); }));
      starts.push_back(window.state().trace()->event(window.state().selectedEvent()).start);
    }
    QCOMPARE(starts[0], kFirstKernel);
    QVERIFY(starts[0] < starts[1] && starts[1] < starts[2]);
    QCOMPARE(starts[3], starts[0]);  // from the last to the first
  }

  void copiesSelectedRowsForASpreadsheet() {
    MainWindow window(ui::Layout::kInitial);
    QVERIFY(open_and_settle(window, known_));
    QTableView* table = events_table(window);
    table->selectionModel()->select(QItemSelection(table->model()->index(0, 0), table->model()->index(2, 0)),
                                    QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    window.events().copySelection();
    QVERIFY(settle(window));
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 4);
    QVERIFY(lines[0].startsWith("Name\tStart (ns)\tDuration (ns)\tGap Before (ns)"));
    QVERIFY(lines[1].startsWith("step\t100000\t"));
  }

  void exportsWhatIsShownAsCsv() {
    MainWindow window(ui::Layout::kInitial);
    QVERIFY(open_and_settle(window, known_));
    window.state().setFilter({.kind = EventKind::kKernel});
    window.events().sortBy(EventColumn::kGapBefore, SortDirection::kDescending);
    QVERIFY(wait_for([&] { return window.isSettled(); }));
    const QString path = QString::fromStdString((folder_.path() / "events.csv").string());
    const auto export_to = [&](const QString& place) {
      QSignalSpy ended(&window.exports(), &ui::Exports::ended);
      window.exports().write({place.toStdString()}, window.events().csvWriter());
      return wait_for([&] { return !ended.isEmpty() && !window.exports().isWriting(); }) ? ended[0][0].toString() : QString();
    };
    QVERIFY(export_to(path).startsWith("Wrote " + path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QStringList lines = QString::fromUtf8(file.readAll()).split("\r\n", Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), static_cast<int>(kKernels) + 1);
    QVERIFY2(lines[1].startsWith("relu,") && lines[1].contains(",900000,"), qPrintable(lines[1]));

    QVERIFY2(export_to("/nowhere/events.csv").contains("can't be written: there is no such folder"), qPrintable(window.messages().text()));
    QVERIFY(window.messages().text().contains("/nowhere/events.csv"));
  }

  void theTableKeepsTheRulesOfItemModels() {
    MainWindow window(ui::Layout::kInitial);
    const QAbstractItemModelTester tester(events_table(window)->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    QVERIFY(open_and_settle(window, known_));
    window.events().sortBy(EventColumn::kDuration, SortDirection::kDescending);
    QVERIFY(wait_for([&] { return window.isSettled(); }));
  }

  void theTimelineHasMostOfASmallWindow() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'280, 720);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    QCOMPARE(window.size(), QSize(1'280, 720));
    QVERIFY2(window.timelineView().height() > 720 / 2, qPrintable(QString::number(window.timelineView().height())));
    QVERIFY(window.findChild<QDockWidget*>("events")->height() > 150);
    QVERIFY2(window.minimumSizeHint().width() < 1'000, qPrintable(QString::number(window.minimumSizeHint().width())));
  }

  // Each panel has shown one trace; then another one is opened while they are behind the tab of the events.
  void aPanelBehindATabDoesNoWork() {
    const QString other = QString::fromStdString((folder_.path() / "other.trace").string());
    write_known_trace(other.toStdString(), kKernelDuration / 2);
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    const auto tables = [&] { return QList<const QTableView*>{&window.bubbles().gaps(), window.statistics().findChild<QTableView*>()}; };
    const auto& processes = window.findChild<ui::DiagnosticsPanel*>()->processes();
    for (const QString& panel : MainWindow::panelNames()) {
      if (panel == "details") continue;  // it is beside the tabs
      window.showPanel(panel);
      QVERIFY(settle(window));
      for (const QString& name : MainWindow::panelNames()) {
        const QWidget* content = window.findChild<QDockWidget*>(name)->widget();
        QVERIFY2(content->isVisible() == (name == panel || name == "details"), qPrintable(name));
      }
    }
    for (const QTableView* table : tables()) QVERIFY2(table->model()->rowCount() > 0, qPrintable(table->accessibleName()));
    QCOMPARE(processes.topLevelItemCount(), 1);
    QVERIFY(!window.findings().findChild<QTextBrowser*>()->toPlainText().isEmpty());
    window.showPanel("events");
    const std::weak_ptr<const Trace> before = window.state().trace();
    QVERIFY(open_and_settle(window, other));
    QVERIFY(wait_for([&] { return before.expired(); }));
    for (const QTableView* table : tables()) QVERIFY2(table->model()->rowCount() == 0, qPrintable(table->accessibleName()));
    QCOMPARE(processes.topLevelItemCount(), 0);
    QVERIFY(window.findings().findChild<QTextBrowser*>()->toPlainText().isEmpty());
    for (const char* panel : {"bubbles", "statistics", "diagnostics"}) {
      window.showPanel(panel);
      QVERIFY(settle(window));
    }
    for (const QTableView* table : tables()) QVERIFY2(table->model()->rowCount() > 0, qPrintable(table->accessibleName()));
    QCOMPARE(processes.topLevelItemCount(), 1);
  }

  void theKeyboardGoesOnToThePanelInFront() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window, kPatienceMs));
    QVERIFY(open_and_settle(window, known_));
    const auto has_keyboard = [&](const char* name) {
      const QWidget* focus = QApplication::focusWidget();
      return focus != nullptr && window.findChild<QDockWidget*>(name)->widget()->isAncestorOf(focus);
    };
    const auto heights = [&] { return std::pair(window.findChild<QDockWidget*>("details")->height(), window.timelineView().height()); };
    const auto before = heights();
    window.actions().bubbles->trigger();
    QVERIFY(settle(window));
    window.bubbles().groups().setFocus();
    QVERIFY(has_keyboard("bubbles"));
    window.showPanel("events");
    QVERIFY(wait_for([&] { return has_keyboard("events"); }));
    for (const QString& panel : MainWindow::panelNames()) {
      window.showPanel(panel);
      QVERIFY(settle(window));
      QCOMPARE(heights(), before);  // the minimum size of the tabs is that of all of them
    }
    // A panel that was closed behind another tab comes back in front, and when it floats it is in sight as well.
    window.showPanel("events");
    auto* bubbles = window.findChild<QDockWidget*>("bubbles");
    bubbles->close();
    QVERIFY(!window.bubbles().isVisible());
    window.actions().bubbles->trigger();
    QVERIFY(wait_for([&] { return window.bubbles().isVisible() && has_keyboard("bubbles"); }));
    window.showPanel("events");
    bubbles->setFloating(true);
    QVERIFY(wait_for([&] { return window.bubbles().isVisible() && window.events().isVisible(); }));
    bubbles->setFloating(false);
    QVERIFY(wait_for([&] { return window.bubbles().isVisible() != window.events().isVisible(); }));
  }

  void aLongPathAmongRecentFilesLeavesTheWindowNarrow() {
    const TemporaryFolder folder;
    const std::filesystem::path deep = folder.path() / std::string(120, 'd') / std::string(120, 'e');
    std::filesystem::create_directories(deep);
    const QString path = QString::fromStdString((deep / "known.trace").string());
    write_known_trace(path.toStdString());
    int without = 0;
    {
      ui::Settings().clearRecentFiles();
      without = MainWindow(ui::Layout::kInitial).minimumSizeHint().width();
      MainWindow window(ui::Layout::kInitial);
      QVERIFY(open_and_settle(window, path));
    }
    MainWindow window(ui::Layout::kInitial);
    QVERIFY(window.minimumSizeHint().width() <= std::max(without, 1000));
    const auto entry = [&] { return window.actions().open_recent->actions().front()->text(); };
    QVERIFY2(wait_for([&] { return entry().contains("known.trace") && entry().contains("just now") && entry().endsWith("B"); }), qPrintable(entry()));
    QVERIFY(window.minimumSizeHint().width() <= std::max(without, 1000));
    QCOMPARE(window.actions().open_recent->actions().front()->toolTip(), path);
    ui::Settings().clearRecentFiles();
  }

 private:
  TemporaryFolder folder_;
  QString known_;
};

QTEST_MAIN(MainWindowTest)
#include "test_gui_window.moc"
