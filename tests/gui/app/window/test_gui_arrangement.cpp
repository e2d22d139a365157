// How panels are arranged: their places and sizes, whether they float, and that all of it is there again after a restart.
#include <cstdlib>

#include <QDockWidget>
#include <QHeaderView>
#include <QSettings>
#include <QSplitter>
#include <QStandardItemModel>
#include <QTableView>

#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class ArrangementTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    known_ = QString::fromStdString((folder_.path() / "known.trace").string());
    write_known_trace(known_.toStdString());
  }

  void resetsTheLayoutOfItsPanels() {
    MainWindow window(ui::Layout::kInitial);
    window.resize(1'280, 720);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
    const auto docks = window.findChildren<QDockWidget*>();
    const auto places = [&] {
      QStringList list;
      for (const QDockWidget* dock : docks) {
        QStringList tabs;
        for (const QDockWidget* other : window.tabifiedDockWidgets(const_cast<QDockWidget*>(dock))) tabs += other->objectName();
        tabs.sort();
        list += dock->objectName() + (dock->isFloating() ? " floats " : " ") + tabs.join(u',');
      }
      return list;
    };
    const QStringList before = places();
    const QSize details = window.findChild<QDockWidget*>("details")->size();
    const QSize whole = window.size();
    window.findChild<QDockWidget*>("details")->setFloating(true);
    window.findChild<QDockWidget*>("bubbles")->close();
    window.addDockWidget(Qt::LeftDockWidgetArea, window.findChild<QDockWidget*>("statistics"));
    QVERIFY(places() != before);
    window.actions().reset_layout->trigger();
    QCOMPARE(places(), before);
    for (const QDockWidget* dock : docks) QVERIFY2(!dock->isHidden(), qPrintable(dock->objectName()));
    QTRY_COMPARE_WITH_TIMEOUT(window.size(), whole, kPatienceMs);
    // Minimum widths of tabs, which are applied last, may take some pixels.
    QVERIFY(wait_for([&] { return std::abs(window.findChild<QDockWidget*>("details")->width() - details.width()) <= 20; }));
    QCOMPARE(window.findChild<QDockWidget*>("details")->height(), details.height());
  }

  void remembersItsPanels() {
    {
      MainWindow window;
      window.show();
      window.findChild<QDockWidget*>("details")->hide();
      window.close();
    }
    MainWindow window;
    window.show();
    QVERIFY(window.findChild<QDockWidget*>("details")->isHidden());
    QVERIFY(!window.findChild<QDockWidget*>("events")->isHidden());
  }

  // The third column of a version with one column less is not the third column of this one.
  void columnsOfAnotherNumberAreNotArranged() {
    const auto header_of = [](const MainWindow& window) { return window.findChild<QHeaderView*>("statistics-header"); };
    const auto stored = [&](int columns, const QVariant& arrangement) {
      QSettings file(QString::fromLocal8Bit(qgetenv("XDG_CONFIG_HOME")) + "/lanescope/lanescope-ui.ini", QSettings::IniFormat);
      file.setValue("panels/statistics-header", arrangement.isValid() ? arrangement : QVariantList{columns, state_of(columns)});
      file.sync();
      const MainWindow window;
      return header_of(window)->sortIndicatorSection();
    };
    const MainWindow fresh(ui::Layout::kInitial);
    const int columns = header_of(fresh)->count(), usual = header_of(fresh)->sortIndicatorSection();
    QVERIFY(columns > kSorted + 1 && usual != kSorted);
    QCOMPARE(stored(columns, {}), kSorted);
    QCOMPARE(stored(columns - 1, {}), usual);
    QCOMPARE(stored(columns + 1, {}), usual);
    QCOMPARE(stored(columns, state_of(columns - 1)), usual);  // as versions stored it that did not say how many
  }

  void panelsThatFloatAreThereAgainAfterQuitting() {
    {
      MainWindow window;
      window.show();
      QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
      auto* details = window.findChild<QDockWidget*>("details");
      details->show();
      details->setFloating(true);
      QVERIFY(QTest::qWaitForWindowExposed(details, kPatienceMs));
      window.actions().quit->trigger();
      QVERIFY(!window.isVisible());
    }
    MainWindow window;
    window.show();
    auto* details = window.findChild<QDockWidget*>("details");
    QVERIFY(wait_for([&] { return details->isVisible(); }, 5'000));
    QVERIFY(details->isFloating());
    details->setFloating(false);
    window.close();
  }

  // Whatever panels are closed or float: tabs used to lose the height of their titles at each restart, and a floating panel came back with another width.
  void panelsHaveTheirSizesAgainAfterRestarts() {
    QSize events, details;
    {
      ui::Settings().setFloatingPlaces({});
      MainWindow window;
      window.resize(1'500, 900);
      window.show();
      QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
      auto* panel = window.findChild<QDockWidget*>("details");
      panel->show();
      panel->setFloating(false);
      window.showPanel("events");
      QTest::qWait(50);
      window.resizeDocks({window.findChild<QDockWidget*>("events"), panel}, {1'000, 490}, Qt::Horizontal);
      QTest::qWait(50);
      events = window.findChild<QDockWidget*>("events")->size();
      details = panel->size();
      panel->setFloating(true);
      QVERIFY(QTest::qWaitForWindowExposed(panel, kPatienceMs));
      panel->setGeometry(40, 60, 300, 250);
      QVERIFY(wait_for([&] { return panel->geometry() == QRect(40, 60, 300, 250); }));
      window.close();
    }
    for (int restart = 0; restart < 3; ++restart) {
      MainWindow window;
      window.show();
      auto* panel = window.findChild<QDockWidget*>("details");
      QVERIFY(wait_for([&] { return panel->isVisible(); }));
      QVERIFY(panel->isFloating());
      QVERIFY(wait_for([&] { return window.findChild<QDockWidget*>("events")->height() == events.height(); }, 5'000));
      if (restart < 2) {
        window.close();
        continue;
      }
      QCOMPARE(panel->geometry(), QRect(40, 60, 300, 250));
      panel->setFloating(false);
      QVERIFY(wait_for([&] { return panel->width() == details.width(); }, 5'000));
      window.close();
    }
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
    auto* panel = window.findChild<QDockWidget*>("details");
    QVERIFY(wait_for([&] { return panel->width() == details.width(); }, 5'000));
    window.close();
  }

  // A window that is closed before it shows its floating panels remembers them; and they do not appear without it.
  void panelsThatFloatOutliveAWindowThatIsClosedAtOnce() {
    {
      MainWindow window;
      window.show();
      QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
      auto* details = window.findChild<QDockWidget*>("details");
      details->show();
      details->setFloating(true);
      QVERIFY(QTest::qWaitForWindowExposed(details, kPatienceMs));
      window.close();
    }
    {
      MainWindow window;
      window.show();
      window.close();
      QTest::qWait(0);
      QVERIFY(!window.findChild<QDockWidget*>("details")->isVisible());
    }
    MainWindow window;
    window.show();
    auto* details = window.findChild<QDockWidget*>("details");
    QVERIFY(wait_for([&] { return details->isVisible(); }, 5'000));
    QVERIFY(details->isFloating());
    details->setFloating(false);
    window.close();
  }

  void namesOfRowsAreAsWideAsSomebodyDraggedThem() {
    int width = 0;
    {
      MainWindow window;
      window.resize(1'400, 900);
      window.show();
      QVERIFY(open_and_settle(window, known_));
      timeline::TimelineView& view = window.timelineView();
      const QPoint border(view.headerWidth(), view.height() / 2);
      QWidget* grip = view.childAt(border);
      QVERIFY(grip != nullptr && grip->cursor().shape() == Qt::SplitHCursor);
      width = view.headerWidth() + 90;
      QTest::mousePress(grip, Qt::LeftButton, Qt::NoModifier, grip->mapFrom(&view, border));
      QTest::mouseMove(grip, grip->mapFrom(&view, border + QPoint(90, 0)));
      QTest::mouseRelease(grip, Qt::LeftButton, Qt::NoModifier, grip->mapFrom(&view, border + QPoint(90, 0)));
      QCOMPARE(view.headerWidth(), width);
      QCOMPARE(part(window, "Row names")->width(), width);
      window.close();
    }
    MainWindow window;
    window.resize(1'400, 900);
    window.show();
    QVERIFY(open_and_settle(window, known_));
    QCOMPARE(window.timelineView().headerWidth(), width);
    QCOMPARE(part(window, "Row names")->width(), width);
  }

  // Before the final size, a window manager may give the window sizes that leave panels no room; because of its frame, the final size may differ by some
  // pixels.
  void panelsHaveTheirSizesAgainWhateverSizesTheWindowGetsOnItsWay() {
    const auto details_of = [](MainWindow& window) { return window.findChild<QDockWidget*>("details"); };
    int width = 0, height = 0;
    {
      MainWindow window;
      window.resize(1'600, 1'000);
      window.show();
      QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
      window.actions().reset_layout->trigger();  // the layout of previous windows is not kept
      QDockWidget* details = details_of(window);
      details->show();
      window.resizeDocks({details}, {500}, Qt::Horizontal);
      window.resizeDocks({details}, {420}, Qt::Vertical);
      QVERIFY(wait_for([&] { return details->width() > 450 && details->height() > 400; }));
      width = details->width();
      height = details->height();
      window.close();
    }
    MainWindow window;
    window.show();
    QDockWidget* details = details_of(window);
    window.resize(window.minimumSizeHint());
    QVERIFY(wait_for([&] { return details->width() < width && details->height() < height; }));
    window.resize(1'598, 978);
    const auto is_as_before = [&] { return std::abs(details->width() - width) <= 2 && details->height() == height; };  // the window is 2 px smaller
    QVERIFY2(wait_for(is_as_before), qPrintable(QString("%1 x %2, not %3 x %4").arg(details->width()).arg(details->height()).arg(width).arg(height)));

    // A border that the user moves stays there.
    const QPoint border(details->x() - 2, details->y() + details->height() / 2);
    QCOMPARE(window.childAt(border), nullptr);
    QTest::mousePress(&window, Qt::LeftButton, Qt::NoModifier, border);
    QTest::mouseMove(&window, border + QPoint(60, 0));
    QVERIFY(wait_for([&] { return details->width() <= width - 40; }));
    QTest::mouseRelease(&window, Qt::LeftButton, Qt::NoModifier, border + QPoint(60, 0));
    const int chosen = details->width();
    window.resize(1'598, 900);
    QVERIFY(wait_for([&] { return details->geometry().bottom() < 900; }));
    QVERIFY(settle(window));
    QVERIFY2(std::abs(details->width() - chosen) <= 2, qPrintable(QString("%1, not %2").arg(details->width()).arg(chosen)));
  }

  void remembersHowItsPanelsWereArranged() {
    const auto open_bubbles = [this](MainWindow& window) {
      window.show();
      if (!open_and_settle(window, known_)) return false;
      window.actions().bubbles->trigger();
      return settle(window);
    };
    QList<int> parts;
    {
      MainWindow window;
      QVERIFY(open_bubbles(window));
      window.bubbles().groups().horizontalHeader()->resizeSection(0, 171);
      auto* splitter = window.bubbles().findChild<QSplitter*>();
      parts = {splitter->sizes()[0] - 60, splitter->sizes()[1] + 60};
      splitter->setSizes(parts);
      parts = splitter->sizes();
      window.close();
    }
    MainWindow window;
    QVERIFY(open_bubbles(window));
    QCOMPARE(window.bubbles().groups().horizontalHeader()->sectionSize(0), 171);
    const QList<int> now = window.bubbles().findChild<QSplitter*>()->sizes();
    QVERIFY2(std::abs(now[0] - parts[0]) <= 2, qPrintable(QString("%1, not %2").arg(now[0]).arg(parts[0])));
  }

 private:
  static constexpr int kSorted = 3;
  // Of a table with so many columns that is sorted by the fourth.
  static QByteArray state_of(int columns) {
    QStandardItemModel model(1, columns);
    QTableView table;
    table.setModel(&model);
    table.setSortingEnabled(true);
    table.sortByColumn(kSorted, Qt::AscendingOrder);
    return table.horizontalHeader()->saveState();
  }

  TemporaryFolder folder_;
  QString known_;
};

QTEST_MAIN(ArrangementTest)
#include "test_gui_arrangement.moc"
