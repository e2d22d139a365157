// Two runs in one window: which run something belongs to, both in sight, and how certain their difference is.
#include <algorithm>

#include <QAccessible>
#include <QCategoryAxis>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QMainWindow>
#include <QPushButton>
#include <QSet>
#include <QSettings>
#include <QStandardItemModel>

#include "fixture/gestures.h"
#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"
#include "fixture/panel_tables.h"
#include "timeline/core/words/format.h"
#include "window/timeline/event_search.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class RunsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    known_ = pathOf("known.trace");
    faster_ = pathOf("faster.trace");
    write_known_trace(known_.toStdString());
    write_known_trace(faster_.toStdString(), kKernelDuration / 2, 4811);
  }
  void init() {
    window_ = window_of(known_);
    QVERIFY(window_);
  }
  void cleanup() { window_.reset(); }

  // Nor does it move from the place that it had before the column existed.
  void theColumnOfRunsStaysWhereItWasMovedTo() {
    const int run = ui::EventTableModel::columnOf(EventColumn::kRun);
    constexpr int kWide = 321;
    const auto header_of = [](MainWindow& window) { return events_table(window)->horizontalHeader(); };
    {
      MainWindow window(ui::Layout::kRemembered);
      window.show();
      QHeaderView* header = header_of(window);
      QCOMPARE(header->visualIndex(run), 1);
      header->setSectionHidden(run, false);
      header->resizeSection(run, kWide);
      header->moveSection(header->visualIndex(run), header->count() - 1);
      QVERIFY(window.close());
    }
    {
      MainWindow window(ui::Layout::kRemembered);
      window.show();
      QHeaderView* header = header_of(window);
      QCOMPARE(header->visualIndex(run), header->count() - 1);
      header->setSectionHidden(run, false);
      QCOMPARE(header->sectionSize(run), kWide);
    }
    ui::Settings settings;
    settings.setEventsHeader(settings.eventsHeader(), run);  // as stored by a version with one column less
    MainWindow window(ui::Layout::kRemembered);
    QCOMPARE(header_of(window)->visualIndex(run), 1);
  }

  // Versions that lie side by side share their settings. A later one may have more columns, panels and choices than this one.
  void settingsOfALaterVersionLeaveThisOneWhole_data() {
    QTest::addColumn<bool>("sortedByTheNewColumn");
    QTest::newRow("sorted by a new column") << true;
    QTest::newRow("sorted by a column of both") << false;
  }
  void settingsOfALaterVersionLeaveThisOneWhole() {
    QFETCH(bool, sortedByTheNewColumn);
    const QString path = QString::fromLocal8Bit(qgetenv("XDG_CONFIG_HOME")) + "/lanescope/lanescope-ui.ini";
    const auto headers_of = [](MainWindow& window) {
      QList<QHeaderView*> headers{events_table(window)->horizontalHeader()};
      for (const char* name : {"statistics-header", "samples-top-down", "samples-bottom-up"}) headers += window.findChild<QHeaderView*>(name);
      return headers;
    };
    const auto of_later_version = [&](const QHeaderView& ours) {  // two more columns, one of them in front
      QStandardItemModel model(0, ours.count() + 2);
      QHeaderView header(Qt::Horizontal);
      header.setModel(&model);
      header.moveSection(ours.count() + 1, 0);
      header.setSortIndicator(sortedByTheNewColumn ? ours.count() + 1 : 0, Qt::AscendingOrder);
      return header.saveState();
    };
    MainWindow before(ui::Layout::kInitial);
    QList<int> columns;
    for (const QHeaderView* header : headers_of(before)) columns += header->count();
    QByteArray window_state;
    {
      QMainWindow later;
      auto* panel = new QDockWidget(&later);
      panel->setObjectName("panel-of-a-later-version");
      later.addDockWidget(Qt::LeftDockWidgetArea, panel);
      window_state = later.saveState(99);
    }
    {
      ui::Settings settings;
      settings.setWindowGeometry(before.saveGeometry());
      settings.setEventsHeader(of_later_version(*headers_of(before)[0]), columns[0] + 2);
      for (const QHeaderView* header : headers_of(before).mid(1)) settings.setPanelPart(header->objectName(), of_later_version(*header));
    }
    QSettings(path, QSettings::IniFormat).setValue("later/choice", "kept");
    QSettings(path, QSettings::IniFormat).setValue("window/state", window_state);  // of a version in which all versions shared one

    MainWindow window(ui::Layout::kRemembered);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    const QList<QHeaderView*> headers = headers_of(window);
    for (qsizetype i = 0; i < headers.size(); ++i) {
      QCOMPARE(headers[i]->count(), columns[i]);
      QVERIFY(headers[i]->sortIndicatorSection() < columns[i]);
      for (int column = 0; column < columns[i]; ++column) QVERIFY(headers[i]->visualIndex(column) < columns[i]);
    }
    QCOMPARE(events_table(window)->model()->rowCount(), int(kEvents));
    QVERIFY(window.close());
    QCOMPARE(QSettings(path, QSettings::IniFormat).value("later/choice").toString(), QString("kept"));
  }

  void eachVersionKeepsItsOwnPanels() {
    const auto is_shown = [](MainWindow& window) { return !window.findChild<QDockWidget*>("findings")->isHidden(); };
    const auto arrange = [&](bool shown) {
      MainWindow window(ui::Layout::kRemembered);
      window.show();
      window.findChild<QDockWidget*>("findings")->setVisible(shown);
      QVERIFY(window.close());
    };
    const auto is_shown_again = [&] {
      MainWindow window(ui::Layout::kRemembered);
      window.show();
      return is_shown(window);
    };
    const QString path = QString::fromLocal8Bit(qgetenv("XDG_CONFIG_HOME")) + "/lanescope/lanescope-ui.ini";
    QSettings file(path, QSettings::IniFormat);
    const QString own = QString("window/state-%1").arg(ui::Settings::kLayoutVersion);
    arrange(false);
    file.sync();
    const QVariant hidden = file.value(own);
    QVERIFY(hidden.isValid());
    arrange(true);
    QVERIFY(is_shown_again());

    // What a viewer without versions stored is taken over once.
    file.sync();
    file.remove(own);
    file.setValue("window/state", hidden);
    file.sync();
    QVERIFY(!is_shown_again());
    arrange(true);
    QVERIFY(is_shown_again());

    // That of another version is neither read nor changed.
    file.setValue("window/state-99", QByteArray("of a later version"));
    file.sync();
    QVERIFY(is_shown_again());
    arrange(true);
    file.sync();
    QCOMPARE(file.value("window/state-99").toByteArray(), QByteArray("of a later version"));
    QCOMPARE(file.value("window/state"), hidden);
  }

  void eventsSayOfWhichRunTheyAre() {
    QTableView& table = *events_table(*window_);
    window_->showPanel("events");
    const int run = ui::EventTableModel::columnOf(EventColumn::kRun);
    QVERIFY(table.isColumnHidden(run));  // there is only one run
    const auto header_menu = [&] { return menu_after([&] { emit table.horizontalHeader()->customContextMenuRequested({10, 4}); }); };
    QVERIFY(!header_menu().contains("Run"));
    compare();
    QVERIFY(!table.isColumnHidden(run));
    QVERIFY(table.horizontalHeader()->sectionViewportPosition(run) < table.viewport()->width() / 4);  // in sight, however wide other columns are
    QVERIFY(header_menu().contains("Run"));
    QCOMPARE(runs_listed(), QStringList({"A", "B"}));
    for (int row = 0; row < table.model()->rowCount(); ++row)
      QCOMPARE(cell(table, row, EventColumn::kRun), cell(table, row, EventColumn::kProcess) == "[4711] python" ? "A" : "B");

    // Sorted by it, all events of A come before all of B, and reversed the other way round.
    const auto is_sorted = [&](const QString& first) {
      const int rows = table.model()->rowCount();
      return rows == 2 * int(kEvents) && cell(table, 0, EventColumn::kRun) == first && cell(table, rows / 2 - 1, EventColumn::kRun) == first &&
             cell(table, rows / 2, EventColumn::kRun) != first;
    };
    click_header(table, EventColumn::kRun);
    QVERIFY(wait_for([&] { return window_->isSettled() && is_sorted("A"); }));
    click_header(table, EventColumn::kRun);
    QVERIFY(wait_for([&] { return window_->isSettled() && is_sorted("B"); }));

    // Filtered by it, only one run is listed; after swapping, the same events are.
    auto* box = window_->events().findChild<QComboBox*>("filter_run");
    QVERIFY(box != nullptr && box->isVisible());
    QCOMPARE(box->count(), 3);
    QCOMPARE(box->itemText(2).remove(QChar(0x2068)).remove(QChar(0x2069)), QString("B  faster.trace"));
    for (auto* each : window_->events().findChildren<QComboBox*>()) {
      if (each->accessibleName() != "Thread or stream") continue;
      QCOMPARE(each->count(), 5);  // all; the stream and the thread of each
      for (const char* entry : {"A · Stream 7 · [4711] python", "B · Stream 7 · [4811] python"}) QVERIFY2(each->findText(entry, Qt::MatchContains) > 0, entry);
    }
    box->setFocus();
    QTest::keyClick(box, Qt::Key_End);
    QVERIFY(settle(*window_));
    QCOMPARE(table.model()->rowCount(), int(kEvents));
    QCOMPARE(runs_listed(), QStringList({"B"}));
    window_->pair().swap();
    QVERIFY(settle(*window_));
    QCOMPARE(table.model()->rowCount(), int(kEvents));
    QCOMPARE(runs_listed(), QStringList({"A"}));
    QCOMPARE(cell(table, 0, EventColumn::kProcess), QString("[4811] python"));

    // With one run, nothing mentions runs, and all of it is listed.
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settle(*window_));
    QVERIFY(table.isColumnHidden(run));
    QVERIFY(!box->isVisible());
    QCOMPARE(table.model()->rowCount(), int(kEvents));
    QVERIFY(table.horizontalHeader()->sortIndicatorSection() != run);
  }

  void aRunThatIsHiddenStaysSoWhileTheTracesAreAligned() {
    window_->showPanel("events");
    compare();
    QTableView& table = *events_table(*window_);
    const int run = ui::EventTableModel::columnOf(EventColumn::kRun);
    QVERIFY(menu_after([&] { emit table.horizontalHeader()->customContextMenuRequested({10, 4}); }, "Run").contains("Run"));
    QVERIFY(table.isColumnHidden(run));
    window_->pair().setShift(1'000'000);
    QVERIFY(settle(*window_));
    QVERIFY(table.isColumnHidden(run));
  }

  void detailsAndSearchNameTheRun() {
    compare();
    auto* search = window_->findChild<ui::EventSearch*>();
    search->searchFor("gemm");
    QVERIFY(settle(*window_));
    QSet<QString> said;
    for (std::size_t i = 0; i < kKernels; ++i) {  // half of the kernels of both
      search->next();
      QVERIFY(settle(*window_));
      const bool is_first = window_->state().selectedEvent().lane < window_->pair().first().trace->lanes().size();
      const QString details = window_->details().text().replace(QChar::Nbsp, u' ');
      QVERIFY2(details.contains(is_first ? "A known.trace" : "B faster.trace"), qPrintable(details));
      const QString position = search->findChild<QLabel*>()->text();
      QVERIFY2(position.endsWith(is_first ? ", in A" : ", in B"), qPrintable(position));
      said += position.right(1);
    }
    QCOMPARE(said, QSet<QString>({"A", "B"}));
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settle(*window_));
    QVERIFY(!window_->details().text().contains("known.trace"));
    QVERIFY(!search->findChild<QLabel*>()->text().contains("in A"));
  }

  // Both have a GPU 0.
  void whatIsSaidOfARangeNamesTheGpusOfBothRuns() {
    compare();
    window_->state().setSelectedRange(TimeRange{kFirstKernel, kLongestGapEnd});
    QVERIFY(settle(*window_));
    const QString details = window_->details().text().replace(QChar::Nbsp, u' ');
    for (const char* words : {"A GPU 0 busy", "B GPU 0 busy", "A GPU 0 idle", "B GPU 0 idle"}) QVERIFY2(details.contains(words), qPrintable(details));
    window_->showPanel("diagnostics");
    auto* diagnostics = window_->findChild<ui::DiagnosticsPanel*>();
    QVERIFY(Gestures(*window_).click_panel("Recording"));
    for (const char* words : {"A GPU 0", "B GPU 0"}) QVERIFY2(diagnostics->recording().contains(words), qPrintable(diagnostics->recording()));
  }

  // Kernels of B take half the time of A's: three of each name in both.
  void whatIsSaidOfARangeKeepsTheEventsOfBothRunsApart() {
    compare();
    window_->state().setSelectedRange(window_->state().trace()->extent());
    QVERIFY(settle(*window_));
    const QString details = window_->details().text().replace(QChar::Nbsp, u' ');
    for (const char* words : {"A gemm kernel\ncount 3 · total 300.000 µs", "B gemm kernel\ncount 3 · total 150.000 µs", "A relu kernel", "B relu kernel"})
      QVERIFY2(details.contains(words, Qt::CaseInsensitive), qPrintable(details));
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settle(*window_));
    const QString alone = window_->details().text().replace(QChar::Nbsp, u' ');
    QVERIFY2(alone.contains("\ngemm kernel\ncount 3", Qt::CaseInsensitive), qPrintable(alone));
  }

  void theChartOfGpusOfBHasTheTimesOfTheTimeline() {
    window_->showPanel("statistics");
    compare();
    const Nanoseconds shift = 700'000'000;
    window_->pair().setShift(shift);
    QVERIFY(settle(*window_));
    choose_answered(window_->statistics(), 1);
    const auto* chart = window_->statistics().findChild<ui::UtilisationChart*>();
    const auto marks = [&] {
      const auto axes = chart->chart()->axes(Qt::Horizontal);
      return axes.isEmpty() ? QStringList() : qobject_cast<QCategoryAxis*>(axes.front())->categoriesLabels();
    };
    const auto expected = [&](Nanoseconds by) {  // the first one, at its place on the axis
      const TimeRange extent = window_->pair().second().trace->extent();
      return QString::fromStdString(timeline::format_time(extent.begin + by, extent.length() / 20));
    };
    QCOMPARE(marks().value(0), expected(shift));
    window_->pair().setShift(shift / 2);  // it follows the alignment
    QVERIFY(settle(*window_));
    QCOMPARE(marks().value(0), expected(shift / 2));
  }

  // The filter is a thread, or a stream, of one run: it stays when the runs are swapped, and is cleared when its run is closed.
  void theThreadThatIsFilteredByStaysTheSame_data() {
    QTest::addColumn<QString>("source");
    QTest::newRow("thread") << "B · Thread";
    QTest::newRow("stream") << "B · Stream 7";
  }
  void theThreadThatIsFilteredByStaysTheSame() {
    QFETCH(QString, source);
    window_->showPanel("events");
    compare();
    QTableView& table = *events_table(*window_);
    QComboBox* box = nullptr;
    for (auto* each : window_->events().findChildren<QComboBox*>())
      if (each->accessibleName() == "Thread or stream") box = each;
    QVERIFY(box != nullptr);
    box->setCurrentIndex(box->findText(source, Qt::MatchContains));
    emit box->activated(box->currentIndex());
    QVERIFY(settle(*window_));
    const auto processes = [&] {
      QSet<QString> listed;
      for (int row = 0; row < table.model()->rowCount(); ++row) listed += cell(table, row, EventColumn::kProcess);
      return listed;
    };
    const int listed = table.model()->rowCount();
    QVERIFY(listed > 0);
    QCOMPARE(processes(), QSet<QString>({"[4811] python"}));
    window_->pair().swap();
    QVERIFY(settle(*window_));
    QCOMPARE(table.model()->rowCount(), listed);
    QCOMPARE(processes(), QSet<QString>({"[4811] python"}));
    QVERIFY2(box->currentText().contains("A · "), qPrintable(box->currentText()));
    window_->pair().swap();
    QVERIFY(settle(*window_));
    QCOMPARE(processes(), QSet<QString>({"[4811] python"}));
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settle(*window_));
    QCOMPARE(table.model()->rowCount(), int(kEvents));
    QCOMPARE(box->currentIndex(), 0);
  }

  // When there is another run, streams are distinguished by their processes.
  void aStreamThatIsFilteredByKeepsItsEventsBesideAnotherRun() {
    window_->showPanel("events");
    QTableView& table = *events_table(*window_);
    EventFilter filter;
    filter.values = {{PivotColumn::kStream, "Stream 7"}};
    window_->state().setFilter(filter);
    QVERIFY(settle(*window_));
    const int listed = table.model()->rowCount();
    QVERIFY(listed > 0 && listed < int(kEvents));
    const auto keeps = [&](const std::string& text) {
      return table.model()->rowCount() == listed && cell(table, 0, EventColumn::kProcess) == "[4711] python" &&
             window_->state().filter().values == std::vector<ColumnValue>{{PivotColumn::kStream, text}};
    };
    compare();
    QVERIFY2(keeps("Stream 7 · [4711] python"), window_->state().filter().values.front().text.c_str());
    window_->pair().swap();
    QVERIFY(settle(*window_));
    QVERIFY(keeps("Stream 7 · [4711] python"));
    window_->pair().swap();
    QVERIFY(settle(*window_));
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settle(*window_));
    QVERIFY2(keeps("Stream 7"), window_->state().filter().values.front().text.c_str());
  }

  // They are used in commands that read only its file.
  void whoAnswersAboutBSaysThatTimesAreItsOwn() {
    window_->showPanel("query");
    compare();
    auto* box = window_->findChild<QWidget*>("query")->findChild<ui::AnsweredTraceBox*>();
    QVERIFY(box != nullptr && box->isVisible());
    window_->pair().setShift(700'000'000);
    QVERIFY(settle(*window_));
    QCOMPARE(box->itemText(1), QString("B  faster.trace, at times of its own"));
    QVERIFY2(box->toolTip().contains("shifted by 700.000 ms"), qPrintable(box->toolTip()));
    window_->pair().setShift(-1'000'000);
    QVERIFY(settle(*window_));
    QVERIFY2(box->toolTip().contains("shifted by -1.000 ms"), qPrintable(box->toolTip()));
    window_->pair().setShift(0);
    QVERIFY(settle(*window_));
    QCOMPARE(box->itemText(1), QString("B  faster.trace"));
  }

  // With both traces counted as one.
  void tablesOfBothRunsSayOfWhichTheirRowsAre() {
    window_->showPanel("statistics");
    compare();
    window_->statistics().chooseReport("cuda_gpu_trace");
    choose_both(window_->statistics());
    ui::ResultTable& report = window_->statistics().report().table();
    QVERIFY2(column_of(report, "Run") >= 0, "no column");
    const int rows = report.model()->rowCount();
    QCOMPARE(rows, 2 * int(kKernels));
    int of_first = 0;
    for (int row = 0; row < rows; ++row) {
      QCOMPARE(cell(report, row, "Run"), QString(cell(report, row, "Duration") == "100.000 µs" ? "A" : "B"));
      of_first += cell(report, row, "Run") == "A" ? 1 : 0;
    }
    QCOMPARE(of_first, int(kKernels));

    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    ui::ResultTable& gaps = window_->bubbles().gaps();
    QSet<QString> gpus;
    for (int row = 0; row < gaps.model()->rowCount(); ++row) gpus += cell(gaps, row, "GPU");
    QCOMPARE(gpus, QSet<QString>({"A GPU 0", "B GPU 0"}));
  }

  // Sums by columns can be separated by runs while there are two.
  void sumsByColumnsCanBeByRun() {
    window_->showPanel("statistics");
    window_->statistics().chooseReport("columns");
    auto* box = window_->statistics().findChild<QComboBox*>("pivot_first");
    QVERIFY(box != nullptr);
    QVERIFY(box->findText("Run") < 0);
    compare();
    QVERIFY(box->findText("Run") >= 0);
    choose_both(window_->statistics());
    window_->statistics().findChild<QComboBox*>("pivot_second")->setCurrentIndex(0);  // by nothing else
    box->setCurrentIndex(box->findText("Run"));
    emit box->activated(box->currentIndex());
    QVERIFY(settle(*window_));
    ui::ResultTable& table = window_->statistics().pivot().table();
    QCOMPARE(table.model()->rowCount(), 2);
    QCOMPARE(cell(table, 0, "Run"), QString("A"));
    QCOMPARE(cell(table, 0, "Instances"), QString::number(kEvents));
    QCOMPARE(cell(table, 1, "Run"), QString("B"));
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settle(*window_));
    QVERIFY(box->findText("Run") < 0);
  }

  // A training has so many rows that those of B would be out of sight.
  void bothRunsAreInSightAtFirst() {
    window_ = window_of(training("workers0"));
    QVERIFY(window_);
    QVERIFY(open_beside_and_settle(*window_, training("workers4")));
    auto* button = window_->alignment().findChild<QPushButton*>("interleave_rows");
    QVERIFY(button->isChecked());
    QVERIFY(is_in_sight("gpu:0/hw"));
    QVERIFY(is_in_sight("gpu:1/hw"));
    // When the initial layout is restored, this is restored, too.
    button->click();
    QVERIFY(!is_in_sight("gpu:1/hw"));
    window_->timelineView().arrangeRowsAsAtFirst();
    QVERIFY(button->isChecked());
    // Another choice also applies to other traces.
    button->click();
    QVERIFY(!button->isChecked());
    window_->pair().swap();
    QVERIFY(settle(*window_));
    QVERIFY(!button->isChecked());
  }

  void ranksOfOneRunStandBelowEachOther() {
    window_->openTogether({known_, faster_});
    QVERIFY(settle(*window_));
    QCOMPARE(int(window_->timelineView().traceSides()), int(timeline::TraceSides::kApart));
  }

  void whatIsSeenStaysWhereRowsAreLaidOutAnew() {
    window_ = window_of(training("workers0"));
    QVERIFY(window_);
    QVERIFY(open_beside_and_settle(*window_, training("workers4")));
    timeline::TimelineView& view = window_->timelineView();
    view.expandAll();
    view.scrollRows(2);
    QVERIFY(settle(*window_));
    // The row in the middle is the current one.
    const QAccessibleInterface* row = row_at(canvas().height() / 2);
    QVERIFY(row != nullptr);
    const int top = top_of(*row);
    QTest::mouseClick(part(*window_, "Row names"), Qt::LeftButton, Qt::NoModifier, {part(*window_, "Row names")->width() * 2 / 3, top + 6});
    QVERIFY(!view.currentRow().isEmpty());
    view.setFocus();
    for (int i = 0; i < 2; ++i) {
      QTest::keyClick(&view, Qt::Key_I);
      QVERIFY2(std::abs(top_of(*row) - top) <= 1, qPrintable(QString("%1: from %2 to %3").arg(view.currentRow()).arg(top).arg(top_of(*row))));
    }
    // Without a current row: the first one that is wholly visible.
    view.setCurrentRow({});
    const QAccessibleInterface* first = row_at(0);
    if (top_of(*first) < 0) first = row_at(top_of(*first) + first->rect().height() + 2);
    const int first_top = top_of(*first);
    QTest::keyClick(&view, Qt::Key_I);
    QVERIFY2(std::abs(top_of(*first) - first_top) <= 1, qPrintable(QString("from %1 to %2").arg(first_top).arg(top_of(*first))));
  }

  // A click selects what a row is about, or says why there is nothing to select; Enter lists its events or gaps, or says why not.
  void everyRowOfTheDiffLeadsSomewhereOrSaysWhyNot_data() {
    QTest::addColumn<QString>("first");
    QTest::addColumn<QString>("second");
    QTest::newRow("training") << training("workers0") << training("workers4");
    QTest::newRow("small") << known_ << faster_;
  }
  void everyRowOfTheDiffLeadsSomewhereOrSaysWhyNot() {
    QFETCH(QString, first);
    QFETCH(QString, second);
    window_ = window_of(first);
    QVERIFY(window_);
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, second));
    ui::ResultTable& table = window_->diff().table();
    const auto said = [&] { return window_->messages().text(); };
    ui::SelectionState& state = window_->state();
    for (int row = 0; row < table.model()->rowCount(); ++row) {
      const QByteArray name = (cell(table, row, "Kind") + ": " + cell(table, row, "Name")).toUtf8();
      window_->findChild<ui::MessageArea*>()->clear();
      state.setSelectedEvent({});
      table.chooseRow(table.results().tableRow(row));
      QVERIFY(settle(*window_));
      QVERIFY2((state.selectedEvent().valid() || state.selection().gap()) != !said().isEmpty(), name + "; " + said().toUtf8());
      if (cell(table, row, "Kind") == "GPU busy") QVERIFY2(said().contains("Statistics"), qPrintable(said()));

      window_->findChild<ui::MessageArea*>()->clear();
      emit table.rowActivated(table.results().tableRow(row));
      QVERIFY(settle(*window_));
      const bool lists_gaps = window_->bubbles().isVisible(), lists_events = window_->events().isVisible();
      if (lists_events) QVERIFY2(events_table(*window_)->model()->rowCount() > 0, name);
      if (lists_gaps) {  // of the run that is idle longer
        const QString difference = cell(table, row, "Difference");
        const bool is_longer_in_second = !difference.startsWith('-') && difference != "0 ns";
        QVERIFY2(window_->bubbles().findChild<ui::AnsweredTraceBox*>()->currentIndex() == (is_longer_in_second ? 1 : 0), name);
      }
      QVERIFY2(int(lists_gaps) + int(lists_events) + int(!said().isEmpty()) == 1, name + "; " + said().toUtf8());
      state.setFilter({});
      window_->showPanel("diff");
    }
  }

  // Like the command line.
  void theDiffSaysHowSureItIs() {
    window_ = window_of(training("workers0"));
    QVERIFY(window_);
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, training("workers4")));
    const QString said = window_->diff().summary();
    for (const char* line : {"One run a side can't tell a change from what differs from run to run. With several: lanescope diff A... --against B...",
                             "Compared by iteration of \"step *\": 19 (without the first 1) in A, 19 (without the first 1) in B."})
      QVERIFY2(said.contains(line), qPrintable(said));
    QVERIFY2(said.count(u'\n') < 2, qPrintable(said));  // the panel is low: the content of the first rows is not repeated
    ui::ResultTable& table = window_->diff().table();
    QCOMPARE(cell(table, 0, "Change") + ", " + cell(table, 0, "Between"), QString("-82.6 %, -86.2 % … -78.5 %"));
    int same = 0;
    for (int row = 0; row < table.model()->rowCount(); ++row) {
      const QString verdict = cell(table, row, "Verdict"), reason = cell(table, row, "Reason");
      const QString expected = verdict == "same" ? "no more than noise" : verdict == "unsure" ? "too noisy to tell" : "";
      QCOMPARE(reason, expected);
      same += verdict == "same" ? 1 : 0;
    }
    QVERIFY(same > 0);
  }

  // Nothing changed, so there is no caution.
  void equalRunsNeedNoCaution() {
    const QString again = pathOf("again.trace");
    write_known_trace(again.toStdString());
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, again));
    QVERIFY2(!window_->diff().summary().contains("One run a side"), qPrintable(window_->diff().summary()));
  }

  // An empty table says why, and offers a remedy: here all listed events belong to the other run.
  void statisticsSayWhyTheyCountNothing() {
    window_->openBeside(faster_);
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    const QLabel& reason = window_->statistics().reason();
    QVERIFY(!reason.isVisible());
    for (const bool by_columns : {false, true}) {
      window_->statistics().chooseReport(by_columns ? ui::StatisticsPanel::kColumns : "");
      EventFilter filter;
      filter.values.push_back({PivotColumn::kRun, std::string("B")});
      window_->state().setFilter(filter);
      QVERIFY(settle(*window_));
      QVERIFY(reason.isVisible());
      QVERIFY2(reason.text().contains("B  faster.trace"), qPrintable(reason.text()));
      emit window_->statistics().reason().linkActivated("other");
      QVERIFY(settle(*window_));
      QVERIFY2(reason.text().contains("Counted are only events"), qPrintable(reason.text()));  // the filter is still there
      QVERIFY(by_columns || window_->statistics().model().rowCount() > 0);

      filter.text = "nothing has this name";
      window_->state().setFilter(filter);
      QVERIFY(settle(*window_));
      QVERIFY(reason.isVisible());
      QVERIFY2(reason.text().contains("that pass the filters"), qPrintable(reason.text()));
      emit window_->statistics().reason().linkActivated("all");
      QVERIFY(settle(*window_));
      QVERIFY(!reason.isVisible());
      QVERIFY(chooses(0));
    }
  }

  // The parameters of two kernels are swapped in the other program: without them, both have the same name.
  void kernelsThatDifferHaveNamesThatDiffer() {
    QVERIFY(open_and_settle(*window_, recorded("transpositions.trace")));
    window_->showPanel("diff");
    QVERIFY(open_beside_and_settle(*window_, recorded("zoo_counts.trace")));
    QStringList names;
    for (int row = 0; row < window_->diff().table().model()->rowCount(); ++row)
      if (cell(window_->diff().table(), row, "Kind") == "Kernel") names += cell(window_->diff().table(), row, "Name");
    QVERIFY2(names.contains("transpose_padded(float*, float const*)") && names.contains("transpose_padded(float const*, float*)"),
             qPrintable(names.join(u'\n')));
    QCOMPARE(QSet<QString>(names.begin(), names.end()).size(), names.size());

    window_->showPanel("statistics");
    window_->statistics().chooseReport("");
    QVERIFY(settle(*window_));
    QVERIFY(chooses(2));
    const ui::StatisticsModel& model = window_->statistics().model();
    QStringList counted;
    for (int row = 0; row < model.rowCount(); ++row)
      if (model.entry(row).kind == EventKind::kKernel) counted += model.nameOf(model.entry(row));
    QVERIFY2(counted.contains("transpose_padded(float*, float const*)"), qPrintable(counted.join(u'\n')));
    QCOMPARE(QSet<QString>(counted.begin(), counted.end()).size(), counted.size());
  }

  // As in other panels: the work of two programs is not added up unless the user asks for it.
  void theFlameGraphIsOfOneRun() {
    ui::SamplesPanel& panel = window_->samples();
    window_->showPanel("samples");
    QVERIFY(settle(*window_));
    const auto total = [&] { return panel.profile()->top_down.total().time; };
    const auto first_call = [&] { return QString::fromStdString(panel.profile()->top_down.function_of(1).name); };
    const Nanoseconds of_a = total();
    QVERIFY(of_a > 0);
    QVERIFY(first_call().startsWith(u'['));
    QVERIFY(open_beside_and_settle(*window_, faster_));
    QCOMPARE(total(), of_a);
    QVERIFY2(first_call().startsWith("A  ["), qPrintable(first_call()));
    const auto choose = [&](int index) {
      window_->showPanel("bubbles");
      if (!settle(*window_) || !chooses(index)) return false;
      window_->showPanel("samples");
      return settle(*window_);
    };
    QVERIFY(choose(1));
    const Nanoseconds of_b = total();
    QVERIFY(of_b < of_a);  // kernels with half the duration
    QVERIFY2(first_call().startsWith("B  ["), qPrintable(first_call()));
    QVERIFY(choose(2));
    QCOMPARE(total(), of_a + of_b);
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settle(*window_));
    QCOMPARE(total(), of_a);
    QVERIFY(first_call().startsWith(u'['));
  }

 private:
  // In the current panel.
  bool chooses(int index) {
    for (auto* box : window_->findChildren<ui::AnsweredTraceBox*>()) {
      if (!box->isVisible()) continue;
      box->setCurrentIndex(index);
      emit box->activated(index);
      return settle(*window_);
    }
    return false;
  }
  void compare() { QVERIFY(open_beside_and_settle(*window_, faster_)); }
  void choose_answered(QWidget& panel, int index) {
    auto* box = panel.findChild<ui::AnsweredTraceBox*>();
    box->setCurrentIndex(index);
    emit box->activated(index);
    QVERIFY(settle(*window_));
  }
  void choose_both(QWidget& panel) { choose_answered(panel, 2); }
  QStringList runs_listed() {
    QSet<QString> runs;
    const QTableView& table = *events_table(*window_);
    for (int row = 0; row < table.model()->rowCount(); ++row) runs += cell(table, row, EventColumn::kRun);
    QStringList sorted(runs.begin(), runs.end());
    sorted.sort();
    return sorted;
  }
  QWidget& canvas() { return *part(*window_, "Timeline rows"); }
  // The accessible interface.
  QAccessibleInterface* rows() { return QAccessible::queryAccessibleInterface(&canvas()); }
  QAccessibleInterface* row_at(int y) {
    const QPoint at = canvas().mapToGlobal(QPoint(10, y));
    return rows()->childAt(at.x(), at.y());
  }
  int top_of(const QAccessibleInterface& row) { return canvas().mapFromGlobal(row.rect().topLeft()).y(); }
  bool is_in_sight(const QString& key) {
    window_->timelineView().setCurrentRow(key);
    const QAccessibleInterface* row = rows()->focusChild();
    const int top = row != nullptr ? top_of(*row) : -1;
    window_->timelineView().setCurrentRow({});
    return top >= 0 && top < canvas().height();
  }
  static QString training(const QString& which) { return QString::fromStdString(data_file("torch_training_" + which.toStdString() + ".trace").string()); }
  QString pathOf(const char* name) const { return QString::fromStdString((folder_.path() / name).string()); }

  TemporaryFolder folder_;
  QString known_, faster_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(RunsTest)
#include "test_gui_runs.moc"
