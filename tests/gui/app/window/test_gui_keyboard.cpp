// Keys belong to the widget with the focus: a list that searches its entries gets typed keys, and unhandled keys go to the timeline.
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
  void whatIsTypedInAListIsNoKeyOfAnythingElse_data() {
    QTest::addColumn<QString>("panel");
    for (const char* panel : {"events", "statistics", "bubbles", "findings"}) QTest::newRow(panel) << panel;
  }
  void whatIsTypedInAListIsNoKeyOfAnythingElse() {
    QFETCH(QString, panel);
    window_->showPanel(panel);
    QVERIFY(settle(*window_));
    QAbstractItemView* list = nullptr;
    for (auto* view : window_->findChildren<QAbstractItemView*>())
      if (list == nullptr && view->isVisible() && view->model() != nullptr && view->model()->rowCount() > 0 && view->inherits("QTableView")) list = view;
    QVERIFY(list != nullptr);
    list->setFocus();
    QVERIFY(list->hasFocus());
    window_->timelineView().setVisibleRange({kFirstKernel, kFirstKernel + 400'000});
    window_->timelineView().clearSelection();
    const TimeRange visible = window_->timelineView().visibleRange();
    const timeline::RowArrangement rows = window_->timelineView().rowArrangement();
    QAction* zoom = window_->actions().zoom_out;
    const QList<QKeySequence> usual = zoom->shortcuts();
    const auto again = qScopeGuard([&] { zoom->setShortcuts(usual); });
    zoom->setShortcuts({QKeySequence(Qt::Key_Q)});
    QSignalSpy zoomed(zoom, &QAction::triggered);
    // No name starts with "q"; the others would walk through gaps, go to a call, hide or pin rows, and zoom.
    for (const Qt::Key key : {Qt::Key_G, Qt::Key_H, Qt::Key_I, Qt::Key_P, Qt::Key_W, Qt::Key_Q}) QTest::keyClick(list, key);
    QVERIFY(settle(*window_));
    QVERIFY(list->hasFocus());
    QCOMPARE(zoomed.size(), 0);
    QVERIFY(!window_->timelineView().selectedGap());
    QCOMPARE(window_->timelineView().rowArrangement() == rows, true);
    QCOMPARE(window_->timelineView().visibleRange().length(), visible.length());
    QTest::keyClick(&window_->timelineView(), Qt::Key_Q);  // elsewhere it is the key of the command
    QCOMPARE(zoomed.size(), 1);
  }

  // "relu" is typed into the list: it moves to that entry.
  void aListLeadsToWhatBeginsSo() {
    window_->showPanel("events");
    QTableView& table = *events_table(*window_);
    table.setFocus();
    const int name = ui::EventTableModel::columnOf(EventColumn::kName);
    table.setCurrentIndex(table.model()->index(0, name));
    QTest::keyClicks(&table, "relu");
    QCOMPARE(table.currentIndex().siblingAtColumn(name).data().toString(), QString("relu"));
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
