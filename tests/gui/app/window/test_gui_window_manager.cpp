// The window on a display with a window manager: its frame, floating panels, sizes over restarts, and key and mouse input from the display. Started by
// under_window_manager.sh.
#include <QAbstractButton>
#include <QDockWidget>
#include <QLineEdit>
#include <QMenuBar>
#include <QProcess>
#include <QScopeGuard>
#include <QScreen>
#include <QScrollBar>
#include <QTabBar>
#include <QWindow>

#include "fixture/dialogs.h"
#include "fixture/main_window_fixture.h"
#include "fixture/menus.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// Sends input to the display: "key F6", "click 1".
bool input(const QString& words) { return QProcess::execute(QStringLiteral("xdotool"), words.split(u' ')) == 0; }

// By the position of its window on the display. Qt asks for that when the window gets its frame, and is not notified if a window manager on a busy machine
// moves the frame after that.
bool move_to(const QWidget& widget, QPoint place) {
  const QPoint at = widget.mapTo(widget.window(), place);
  return input(QStringLiteral("mousemove --window %1 %2 %3").arg(widget.window()->winId()).arg(at.x()).arg(at.y()));
}

QMap<QString, QSize> sizes_of(const MainWindow& window) {
  QMap<QString, QSize> sizes;
  for (const QDockWidget* dock : window.findChildren<QDockWidget*>())
    if (!dock->visibleRegion().isEmpty()) sizes[dock->objectName()] = dock->size();
  return sizes;
}

// Counts how often panels were shown as windows of their own, during its lifetime. If one is shown, hidden and shown again while the window manager is busy,
// that may take the hiding for the last of the three.
class FloatingPanels : public QObject {
 public:
  FloatingPanels() { qApp->installEventFilter(this); }
  [[nodiscard]] int timesShown() const { return times_shown_; }
  bool eventFilter(QObject* watched, QEvent* event) override {
    const auto* panel = event->type() == QEvent::Show ? qobject_cast<QDockWidget*>(watched) : nullptr;
    if (panel != nullptr && panel->isWindow() && !panel->testAttribute(Qt::WA_DontShowOnScreen) && !event->spontaneous()) ++times_shown_;
    return false;
  }

 private:
  int times_shown_ = 0;
};

bool has_frame(const QWidget& window) { return window.windowHandle() != nullptr && window.windowHandle()->frameMargins().top() > 0; }

}  // namespace

class WindowManagerTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    known_ = known_trace_in(folder_);
  }

  void theFirstWindowFitsTheScreenWithItsFrame() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(wait_for([&] { return has_frame(window); }));
    const QRect room = window.screen()->availableGeometry();
    QVERIFY2(wait_for([&] { return room.contains(window.frameGeometry()); }), qPrintable(QStringLiteral("%1 x %2 of %3 x %4")
                                                                                             .arg(window.frameGeometry().width())
                                                                                             .arg(window.frameGeometry().height())
                                                                                             .arg(room.width())
                                                                                             .arg(room.height())));
  }

  // As of a larger screen, from which it was unplugged.
  void aWindowThatWasLargerThanTheScreenFitsIt() {
    {
      MainWindow window(ui::Layout::kRemembered);
      window.show();
      QVERIFY(wait_for([&] { return has_frame(window); }));
      const QSize larger = window.screen()->size() + QSize(160, 100);
      window.resize(larger);
      QVERIFY(wait_for([&] { return window.size() == larger; }));
      QVERIFY(window.close());
      ui::Settings settings;
      QVariantMap sizes = settings.panelSizes();
      sizes["screen"] = larger + QSize(0, 100);
      settings.setPanelSizes(sizes);
    }
    MainWindow window(ui::Layout::kRemembered);
    window.show();
    QVERIFY(wait_for([&] { return has_frame(window); }));
    const QRect room = window.screen()->availableGeometry();
    QVERIFY(wait_for([&] { return room.contains(window.frameGeometry()); }, 10'000));
    ui::Settings().setWindowGeometry({});
  }

  // For a window that fills the screen, which it learns only after it is shown.
  void panelsHaveTheirSizesAgainAfterRestarts() {
    std::optional<QMap<QString, QSize>> sizes;
    for (int start = 0; start < 4; ++start) {
      MainWindow window(ui::Layout::kRemembered);
      start == 0 ? window.showMaximized() : window.show();
      QVERIFY(wait_for([&] { return window.isMaximized() && has_frame(window) && window.width() >= window.screen()->availableGeometry().width() - 2; }));
      if (!sizes) {
        auto* details = window.findChild<QDockWidget*>("details");
        const int before = details->width();
        window.resizeDocks({details}, {before - 60}, Qt::Horizontal);
        QVERIFY(wait_for([&] { return details->width() <= before - 30; }));
      } else {
        QVERIFY2(wait_for([&] { return sizes_of(window) == *sizes; }), qPrintable(QString::number(start)));
      }
      QVERIFY(open_and_settle(window, known_));  // opening a trace moves nothing
      QVERIFY(!sizes || wait_for([&] { return sizes_of(window) == *sizes; }));
      sizes = sizes_of(window);
      QVERIFY(sizes->size() >= 2);
      QVERIFY(window.close());
    }
  }

  void aFloatingPanelReturnsInFrontOfItsTabs() {
    const auto window = window_of(known_);
    QVERIFY(window);
    auto* bubbles = window->findChild<QDockWidget*>("bubbles");
    window->showPanel("bubbles");
    QVERIFY(wait_for([&] { return window->bubbles().isVisible(); }));
    bubbles->setFloating(true);
    QVERIFY(wait_for([&] { return QTest::qWaitForWindowExposed(bubbles) && window->bubbles().isVisible(); }));
    window->showPanel("events");
    QVERIFY(wait_for([&] { return window->events().isVisible(); }));
    QVERIFY(window->bubbles().isVisible());
    auto* button = bubbles->findChild<QAbstractButton*>("qt_dockwidget_floatbutton");
    QVERIFY(button != nullptr);
    // Until the window manager has placed the panel, a click would go elsewhere and open a menu there.
    QVERIFY(wait_for([&] { return move_to(*button, button->rect().center()) && QTest::qWaitFor([&] { return button->underMouse(); }, 1'000); }));
    QVERIFY(input("click 1"));
    QVERIFY(wait_for([&] { return !bubbles->isFloating(); }));
    QVERIFY(wait_for([&] { return window->bubbles().isVisible() && !window->events().isVisible(); }));
  }

  // One of the tabs, and the panel beside them.
  void panelsThatFloatReturnWhereTheLayoutIsReset() {
    const auto window = window_of(known_);
    QVERIFY(window);
    const QMap<QString, QSize> first = sizes_of(*window);
    for (const char* name : {"bubbles", "details"}) {
      window->showPanel(name);
      auto* dock = window->findChild<QDockWidget*>(name);
      dock->setFloating(true);
      QVERIFY(QTest::qWaitForWindowExposed(dock, kPatienceMs));
      dock->move(window->mapToGlobal(QPoint(300, 200)));
    }
    QVERIFY(wait_for([&] { return window->bubbles().isVisible() && window->details().isVisible(); }));
    window->actions().reset_layout->trigger();
    for (const char* name : {"bubbles", "details"}) QVERIFY(wait_for([&] { return !window->findChild<QDockWidget*>(name)->isFloating(); }));
    QVERIFY2(wait_for([&] { return sizes_of(*window).keys() == first.keys(); }), qPrintable(QStringList(sizes_of(*window).keys()).join(u' ')));
    const auto has_width = [&](const char* name) { return std::abs(sizes_of(*window)[name].width() - first[name].width()) < 40; };
    const auto widths = [](const QMap<QString, QSize>& sizes) { return QString("%1 and %2").arg(sizes["events"].width()).arg(sizes["details"].width()); };
    QVERIFY2(wait_for([&] { return has_width("details") && has_width("events"); }, 10'000), qPrintable(widths(first) + ", then " + widths(sizes_of(*window))));
    QVERIFY(window->details().isVisible() && window->events().isVisible());
    window->showPanel("bubbles");  // among the tabs
    QVERIFY(wait_for([&] { return window->bubbles().isVisible() && !window->events().isVisible(); }));
  }

  // Window managers keep a panel in front of the window only if they knew the window first, and show it for certain only if it was not hidden meanwhile.
  void aFloatingPanelIsInFrontOfTheWindowAfterARestart() {
    {
      MainWindow window(ui::Layout::kRemembered);
      window.show();
      QVERIFY(wait_for([&] { return has_frame(window); }));
      auto* details = window.findChild<QDockWidget*>("details");
      details->setFloating(true);
      QVERIFY(QTest::qWaitForWindowExposed(details, kPatienceMs));
      details->move(window.mapToGlobal(QPoint(300, 200)));
      window.actions().quit->trigger();
      QVERIFY(!window.isVisible());
    }
    const FloatingPanels panels;
    MainWindow window(ui::Layout::kRemembered);
    QCOMPARE(panels.timesShown(), 0);
    window.show();
    QVERIFY(wait_for([&] { return has_frame(window); }));
    auto* details = window.findChild<QDockWidget*>("details");
    QVERIFY(wait_for([&] { return details->isVisible() && details->isFloating(); }));
    QCOMPARE(panels.timesShown(), 1);
    const auto is_in_front = [&] { return move_to(*details, details->rect().center()) && QTest::qWaitFor([&] { return details->underMouse(); }, 1'000); };
    QVERIFY(wait_for(is_in_front, 10'000));
    window.activateWindow();
    window.raise();
    QVERIFY(wait_for([&] { return window.isActiveWindow(); }));
    QVERIFY(input("mousemove 2 2"));
    QVERIFY(wait_for(is_in_front, 10'000));
    details->setFloating(false);
    QVERIFY(window.close());
  }

  // Qt puts the name of the program behind that of a dialog.
  void windowsAndDialogsNameTheProgramAlike() {
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Lanescope"));  // as the program does
    const auto back = qScopeGuard([] { QGuiApplication::setApplicationDisplayName({}); });
    const auto window = window_of(known_);
    QVERIFY(window);
    const auto title_of = [](const QWidget& shown) {
      QProcess asked;
      asked.start(QStringLiteral("xdotool"), {QStringLiteral("getwindowname"), QString::number(shown.winId())});
      asked.waitForFinished();
      return QString::fromUtf8(asked.readAllStandardOutput()).trimmed();
    };
    QVERIFY2(wait_for([&] { return title_of(*window) == QString::fromUtf8("known.trace — Lanescope"); }, 10'000), qPrintable(title_of(*window)));
    QString of_dialog;
    const DialogAnswers answers([&](QDialog& dialog) {
      wait_for([&] { return title_of(dialog).endsWith("Lanescope"); }, 10'000);
      of_dialog = title_of(dialog);
      dialog.reject();
    });
    window->actions().keys->trigger();
    QCOMPARE(of_dialog, QString::fromUtf8("Keyboard and mouse — Lanescope"));
  }

  // Right after a filter was typed: on a display, a field takes these keys to move to the end of its line.
  void eventsAreExportedFromTheFieldOfTheFilter() {
    const auto window = window_of(known_);
    QVERIFY(window);
    window->actions().filter_events->trigger();
    QVERIFY(qobject_cast<QLineEdit*>(QApplication::focusWidget()));
    const DialogAnswers answers([](QDialog& dialog) { dialog.reject(); });
    QVERIFY(input("key ctrl+e"));
    QVERIFY(wait_for([&] { return answers.count() == 1; }, 10'000));
  }

  void keysOfTheDisplayGoToWhatHasTheFocus() {
    const auto window = window_of(known_);
    QVERIFY(window);
    timeline::TimelineView& view = window->timelineView();
    view.setFocus();
    QVERIFY(wait_for([&] { return view.hasFocus(); }));
    const TimeRange all = view.visibleRange();
    const auto nothing_moved = [&] {
      return !window->state().selectedEvent().valid() && view.visibleRange().begin == all.begin && view.visibleRange().end == all.end;
    };
    QVERIFY(input("key F6"));
    QVERIFY(wait_for([&] { return !view.hasFocus() && window->events().isAncestorOf(QApplication::focusWidget()); }));
    QVERIFY(nothing_moved());
    QVERIFY(input("key F6"));
    QVERIFY(wait_for([&] { return view.hasFocus(); }));
    QVERIFY(nothing_moved());

    QVERIFY(input("key ctrl+shift+r"));
    QVERIFY(wait_for([&] { return qobject_cast<QLineEdit*>(QApplication::focusWidget()) != nullptr; }));
    const QPointer<QLineEdit> field = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(field);
    QVERIFY(input("type cuda"));
    QVERIFY(wait_for([&] { return field->text() == "cuda"; }));
    QVERIFY(input("key --repeat 2 Escape"));  // empties it, then leaves it
    QVERIFY(wait_for([&] { return field->text().isEmpty() && view.hasFocus(); }));
    QVERIFY(nothing_moved());
  }

  // Releasing Alt after turning the wheel must not activate the menu bar.
  void altAndTheWheelLeaveTheMenusAlone() {
    const auto window = window_of(recorded("torch_training_workers0.trace"));  // more rows than fit
    QVERIFY(window);
    timeline::TimelineView& view = window->timelineView();
    view.setFocus();
    view.zoomBy(8);
    const auto* scroll_bar = view.findChild<QScrollBar*>();
    QVERIFY(scroll_bar != nullptr && scroll_bar->maximum() > 0);
    QWidget* canvas = part(*window, "Timeline rows");
    const TimeRange before = view.visibleRange();
    QVERIFY(move_to(*canvas, canvas->rect().center()));
    QVERIFY(input("keydown alt") && input("click 5") && input("keyup alt"));
    QVERIFY(wait_for([&] { return scroll_bar->value() > 0; }));
    QVERIFY(input("key Home"));  // shows the whole trace, unless the menu bar takes the key
    QVERIFY(wait_for([&] { return view.visibleRange().length() > before.length(); }));
    QVERIFY(QApplication::activePopupWidget() == nullptr);
    QVERIFY(window->menuBar()->activeAction() == nullptr);
  }

 private:
  TemporaryFolder folder_;
  QString known_;
};

QTEST_MAIN(WindowManagerTest)
#include "test_gui_window_manager.moc"
