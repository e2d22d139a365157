// The search box and the keys of the window, with real key events.
#include <set>

#include <QAccessible>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QTextEdit>
#include <QTimer>

#include "fixture/known_trace_test.h"
#include "timeline/widget/timeline_command.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// Reports the action of a key. The actions are not triggered, because some would open dialogs.
class ShortcutWatch : public QObject {
 public:
  explicit ShortcutWatch(MainWindow& window) {
    for (QAction* action : window.findChildren<QAction*>()) action->installEventFilter(this);
  }
  QList<QObject*> meant;

 protected:
  bool eventFilter(QObject* action, QEvent* event) override {
    if (event->type() != QEvent::Shortcut) return false;
    if (static_cast<QShortcutEvent*>(event)->isAmbiguous()) meant += nullptr;
    meant += action;
    return true;
  }
};

}  // namespace

class SearchTest : public KnownTraceTest {
  Q_OBJECT

 private slots:
  void init() {
    KnownTraceTest::init();
    if (!window_) return;
    box_ = window_->findChild<ui::EventSearch*>()->findChild<QLineEdit*>();
  }

  void controlFSearchesWhileOneTypes() {
    const TimeRange before = window_->timelineView().visibleRange();
    QTest::keyClick(&window_->timelineView(), Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(box_));
    QTest::keyClicks(box_, "GEMM");
    QVERIFY(settle(*window_));
    QCOMPARE(window_->timelineView().highlightedText(), QString("GEMM"));
    QCOMPARE(window_->timelineView().highlightedCount(), std::uint64_t{kKernels / 2});
    QCOMPARE(position(), QString("3 found"));
    QVERIFY(!window_->state().selectedEvent().valid());  // nothing moves before the user asks for it
    QCOMPARE(window_->timelineView().visibleRange(), before);
    QTest::keyClick(box_, Qt::Key_Escape);
    QVERIFY(settle(*window_));
    QCOMPARE(window_->timelineView().highlightedText(), QString());
    QCOMPARE(position(), QString());
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&window_->timelineView()));  // there, letters are keys
  }

  void enterAndF3WalkBothWaysAtTheZoomThatIs() {
    window_->timelineView().setVisibleRange({kFirstKernel - 10'000, kFirstKernel + 2 * kKernelDuration});
    const Nanoseconds length = window_->timelineView().visibleRange().length();
    QTest::keyClick(&window_->timelineView(), Qt::Key_F, Qt::ControlModifier);
    QTest::keyClicks(box_, "gemm");
    const auto press = [&](QWidget* where, Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
      QTest::keyClick(where, key, modifiers);
      return settle(*window_) ? position() : QString("still searching");
    };
    QCOMPARE(press(box_, Qt::Key_Return), QString("1 of 3"));
    QCOMPARE(press(box_, Qt::Key_Return), QString("2 of 3"));
    QCOMPARE(press(box_, Qt::Key_Return, Qt::ShiftModifier), QString("1 of 3"));
    QCOMPARE(press(box_, Qt::Key_Return, Qt::ShiftModifier), QString("3 of 3"));  // from the first to the last
    QTest::keyClick(box_, Qt::Key_Tab);
    window_->timelineView().setFocus();
    QCOMPARE(press(&window_->timelineView(), Qt::Key_F3), QString("1 of 3"));
    QCOMPARE(press(&window_->timelineView(), Qt::Key_F3), QString("2 of 3"));
    QCOMPARE(press(&window_->timelineView(), Qt::Key_F3, Qt::ShiftModifier), QString("1 of 3"));
    QCOMPARE(press(&window_->timelineView(), Qt::Key_N), QString("2 of 3"));
    QCOMPARE(press(&window_->timelineView(), Qt::Key_N, Qt::ShiftModifier), QString("1 of 3"));
    QCOMPARE(press(&window_->timelineView(), Qt::Key_N, Qt::ShiftModifier), QString("3 of 3"));
    const TimeRange shown = window_->timelineView().visibleRange();
    QCOMPARE(shown.length(), length);
    QVERIFY(shown.contains(window_->state().trace()->event(window_->state().selectedEvent()).start));  // it is in sight now
  }

  void oneMatchIsBroughtBackIntoSight() {
    QTest::keyClick(&window_->timelineView(), Qt::Key_F, Qt::ControlModifier);
    QTest::keyClicks(box_, "step");
    QTest::keyClick(box_, Qt::Key_Return);
    QVERIFY(settle(*window_));
    const EventRef step = window_->state().selectedEvent();
    QVERIFY(step.valid());
    window_->timelineView().setVisibleRange({0, 50'000});  // before it
    QTest::keyClick(box_, Qt::Key_Return);
    QVERIFY(settle(*window_));
    QCOMPARE(window_->state().selectedEvent(), step);
    QVERIFY(window_->timelineView().visibleRange().end > window_->state().trace()->event(step).start);
  }

  void rowsAreFilteredAsOneTypes() {
    QTest::keyClick(&window_->timelineView(), Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
    auto* filter = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(filter != nullptr);
    QCOMPARE(filter->accessibleName(), QString("Filter rows"));
    const int before = rowsInSight();
    QTest::keyClicks(filter, "cuda api");
    QVERIFY(rowsInSight() < before && rowsInSight() > 0);
    QTest::keyClick(filter, Qt::Key_Return);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&window_->timelineView()));
    filter->clear();
    QCOMPARE(rowsInSight(), before);
  }

  void everyKeyInAMenuIsForThatEntryAlone() {
    window_->timelineView().selectEvent(firstKernel());  // some entries need it
    window_->timelineView().setVisibleRange({0, 500'000});
    window_->timelineView().goBack();  // so that both back and forward are possible
    window_->timelineView().setVisibleRange({0, 400'000});
    ShortcutWatch watch(*window_);
    int pressed = 0;
    for (const QAction* menu : window_->menuBar()->actions())
      for (QAction* action : menu->menu()->actions()) {
        const QKeySequence keys = action->shortcut();
        if (keys.isEmpty() || !action->isEnabled()) continue;
        watch.meant.clear();
        QTest::keySequence(&window_->timelineView(), keys);
        QVERIFY2(watch.meant == QList<QObject*>{action}, qPrintable(action->text() + " " + keys.toString()));
        ++pressed;
      }
    QVERIFY(pressed > 20);
  }

  void noKeyOfTheWindowTakesOneOfTheTimeline() {
    std::set<QString> taken;
    for (const QAction* menu : window_->menuBar()->actions())
      for (const QAction* action : menu->menu()->actions())
        if (!action->shortcut().isEmpty()) taken.insert(action->shortcut().toString());
    for (const timeline::TimelineCommand& command : timeline::timeline_commands())
      for (const QKeyCombination key : command.keys) {
        const QString text = QKeySequence(key).toString();
        static const QStringList same_in_both{"Alt+Left", "Alt+Right", "Ctrl+G", "Ctrl+M", "Shift+Z"};
        QVERIFY2(same_in_both.contains(text) || !taken.contains(text), qPrintable(text));
      }
  }

  void menusOpenByKeyboardEachWithALetterOfItsOwn() {
    std::set<QChar> letters;
    for (const QAction* menu : window_->menuBar()->actions()) {
      const qsizetype mark = menu->text().indexOf(u'&');
      QVERIFY2(mark >= 0, qPrintable(menu->text()));
      QVERIFY2(letters.insert(menu->text().at(mark + 1).toLower()).second, qPrintable(menu->text()));
    }
  }

  void theQuestionMarkShowsEveryKey() {
    QString sheet;
    QTimer::singleShot(0, window_.get(), [&] {
      auto* dialog = QApplication::activeModalWidget();
      if (auto* text = dialog->findChild<QTextEdit*>()) sheet = text->toPlainText();
      QTest::keyClick(dialog, Qt::Key_Escape);
    });
    QTest::keySequence(&window_->timelineView(), QKeySequence("?"));
    for (const timeline::TimelineCommand& command : timeline::timeline_commands())
      QVERIFY2(sheet.contains(timeline::keys_text(command.keys)), qPrintable(command.text));
    for (const QAction* menu : window_->menuBar()->actions())
      for (const QAction* action : menu->menu()->actions())
        QVERIFY2(sheet.contains(action->shortcut().toString(QKeySequence::NativeText)), qPrintable(action->text()));
  }

 private:
  [[nodiscard]] QString position() const { return window_->findChild<ui::EventSearch*>()->findChild<QLabel*>()->text(); }
  [[nodiscard]] EventRef firstKernel() const {
    for (const Track& track : window_->state().trace()->tracks())
      if (track.key.kind == TrackKind::kKernels) return {track.lanes.front(), 0};
    return {};
  }
  [[nodiscard]] int rowsInSight() const {
    for (QWidget* part : window_->timelineView().findChildren<QWidget*>())
      if (part->accessibleName() == "Timeline rows") return QAccessible::queryAccessibleInterface(part)->childCount();
    return 0;
  }

  QLineEdit* box_ = nullptr;
};

QTEST_MAIN(SearchTest)
#include "test_gui_search.moc"
