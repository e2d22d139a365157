// Keys belong to the widget with the focus, and those that it leaves to the timeline.
#include <QDockWidget>
#include <QListView>
#include <QTextBrowser>

#include "fixture/gestures.h"
#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"
#include "fixture/panel_tables.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class KeyboardTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void init() {
    window_ = window_of(known_trace_in(folder_));
    QVERIFY(window_);
  }
  void cleanup() { window_.reset(); }

  // Letters that are keys of the timeline, and one that was made a key of the whole window.
  void lettersAreTheSameKeysInLists_data() {
    QTest::addColumn<QString>("panel");
    for (const char* panel : {"events", "statistics", "bubbles", "findings", "diagnostics"}) QTest::newRow(panel) << panel;
  }
  void lettersAreTheSameKeysInLists() {
    QFETCH(QString, panel);
    window_->showPanel(panel);
    QVERIFY(settle(*window_));
    QAbstractItemView* list = nullptr;
    for (auto* view : window_->findChildren<QAbstractItemView*>())
      if (list == nullptr && view->isVisible() && view->model() != nullptr && view->model()->rowCount() > 0 &&
          (view->inherits("QTableView") || view->inherits("QTreeView")))
        list = view;
    QVERIFY(list != nullptr);
    list->setFocus();
    QVERIFY(list->hasFocus());
    timeline::TimelineView& view = window_->timelineView();
    const EventRef kernel = kernel_number(*window_, 2);
    view.selectEvent(kernel);
    QVERIFY(settle(*window_));
    const TimeRange all = view.visibleRange();
    QTest::keyClick(list, Qt::Key_F);
    QVERIFY(view.visibleRange().length() < 5 * kKernelDuration);
    QTest::keyClick(list, Qt::Key_L);
    QCOMPARE(window_->state().selectedEvent(), *window_->state().trace()->launch_of(kernel));
    QTest::keyClick(list, Qt::Key_Backspace);
    QCOMPARE(view.visibleRange(), all);
    QTest::keyClick(list, Qt::Key_G);
    QVERIFY(view.selectedGap());
    QAction* zoom = window_->actions().zoom_out;
    const QList<QKeySequence> usual = zoom->shortcuts();
    const auto again = qScopeGuard([&] { zoom->setShortcuts(usual); });
    zoom->setShortcuts({QKeySequence(Qt::Key_Q)});
    QSignalSpy zoomed(zoom, &QAction::triggered);
    QTest::keyClick(list, Qt::Key_Q);
    QCOMPARE(zoomed.size(), 1);
    QVERIFY(settle(*window_));
    QVERIFY(list->hasFocus());
  }

  // With these, a list is read and its lines are chosen.
  void keysOfListsStayTheirs() {
    window_->showPanel("events");
    QTableView& table = *events_table(*window_);
    table.setFocus();
    table.selectRow(0);
    QVERIFY(settle(*window_));
    const timeline::RowArrangement rows = window_->timelineView().rowArrangement();
    QTest::keyClick(&table, Qt::Key_Down);
    QCOMPARE(table.currentIndex().row(), 1);
    QTest::keyClick(&table, Qt::Key_Space);  // the timeline would open or close a row
    QVERIFY(window_->timelineView().rowArrangement() == rows);
    QTest::keyClick(&table, Qt::Key_End, Qt::ControlModifier);
    QCOMPARE(table.currentIndex().row(), table.model()->rowCount() - 1);
  }

  // It is a window of its own.
  void keysOfAPanelThatFloatsAreTheTimelines() {
    const EventRef kernel = kernel_number(*window_, 2);
    window_->state().setSelectedEvent(kernel);
    QVERIFY(settle(*window_));
    auto* details = window_->findChild<QDockWidget*>("details");
    details->setFloating(true);
    QVERIFY(QTest::qWaitForWindowExposed(details, kPatienceMs));
    auto* page = window_->details().findChild<QTextBrowser*>();
    details->activateWindow();
    page->setFocus();
    QVERIFY(wait_for([&] { return page->hasFocus(); }));
    QTest::keyClick(page, Qt::Key_L);
    QCOMPARE(window_->state().selectedEvent(), *window_->state().trace()->launch_of(kernel));
  }

  // Details takes no typed text: its keys go to the timeline.
  void aKeyThatNobodyTakesIsTheTimelines() {
    const EventRef kernel = kernel_number(*window_, 2);
    window_->state().setSelectedEvent(kernel);
    QVERIFY(settle(*window_));
    auto* page = window_->details().findChild<QTextBrowser*>();
    page->setFocus();
    QVERIFY(page->hasFocus());
    QTest::keyClick(page, Qt::Key_L);
    QVERIFY(settle(*window_));
    QCOMPARE(window_->state().selectedEvent(), *window_->state().trace()->launch_of(kernel));
    QVERIFY(page->hasFocus());
    // In a field, only the text changes.
    auto* field = window_->actions().row_filter;
    field->setFocus();
    QTest::keyClicks(field, "lg");
    QCOMPARE(field->text(), QString("lg"));
    QCOMPARE(window_->state().selectedEvent(), *window_->state().trace()->launch_of(kernel));
  }

  // Its row is collapsed, and so are the rows above it.
  void anEventOfAClosedRowIsZoomedToOnRowsThatOpen() {
    timeline::TimelineView& view = window_->timelineView();
    const EventRef kernel = kernel_number(*window_, 2);
    const timeline::RowTree& rows = view.rows();
    const auto place = rows.place_of(kernel.lane);
    QVERIFY(place);
    const auto path = [&] {
      QStringList keys;
      for (std::optional<timeline::RowIndex> row = rows.row(place->row).parent; row; row = rows.row(*row).parent)
        keys += QString::fromStdString(rows.row(*row).key);
      return keys;
    };
    QVERIFY(path().size() >= 2);
    for (const bool from_list : {false, true}) {
      view.collapseAll();
      for (const QString& key : path()) QVERIFY2(!view.isExpanded(key), qPrintable(key));
      view.clearSelection();
      window_->state().setSelectedEvent(kernel);
      window_->showPanel("events");
      QWidget* at = from_list ? static_cast<QWidget*>(events_table(*window_)) : &view;
      at->setFocus();
      QTest::keyClick(at, Qt::Key_Z, Qt::ShiftModifier);
      QVERIFY(settle(*window_));
      for (const QString& key : path()) QVERIFY2(view.isExpanded(key), qPrintable(key));
      QVERIFY(!place_of(*window_, kernel).isNull());
    }
    // Other rows stay collapsed.
    const auto is_process = [](const timeline::Row& row) { return row.kind == timeline::RowKind::kProcess && row.expandable(); };
    const auto other = std::find_if(rows.rows().begin(), rows.rows().end(), is_process);
    QVERIFY(other != rows.rows().end());
    QVERIFY(!view.isExpanded(QString::fromStdString(other->key)));
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(KeyboardTest)
#include "test_gui_keyboard.moc"
