// Five typical questions, each answered with the keyboard only and with the mouse only, in few gestures, on recordings of real programs whose sources tell the
// answer.
#include <QTextBrowser>

#include "fixture/gestures.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

constexpr int kMostGestures = 5;

QString recording(const char* name) { return QString::fromStdString(data_file(std::string(name) + ".trace").string()); }

}  // namespace

class StoriesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void cleanup() {
    if (gestures_) QVERIFY2(gestures_->count() <= kMostGestures, qPrintable(QString::number(gestures_->count()) + " gestures"));
    gestures_.reset();
    window_.reset();
  }

  // The loop without loader processes: the launching thread prepares each batch in the range "data".
  void whyIsMyGpuIdleByKeyboard() {
    begin("torch_training_workers0");
    QVERIFY(gestures_->press(Qt::CTRL | Qt::SHIFT | Qt::Key_A));
    QVERIFY(gestures_->press(Qt::Key_Down));
    tellsOfIdleTimeInRange("data");
  }
  void whyIsMyGpuIdleByMouse() {
    begin("torch_training_workers0");
    QVERIFY(gestures_->click_panel("Findings"));
    QVERIFY(gestures_->click_row(findings(), 0));
    tellsOfIdleTimeInRange("data");
  }

  void whichCopiesAreOfPageableMemoryByKeyboard() {
    begin("cause_pageable_copies");
    QVERIFY(gestures_->press(Qt::CTRL | Qt::SHIFT | Qt::Key_A));
    QVERIFY(gestures_->press(Qt::Key_Down));
    showsAPageableCopy();
  }
  void whichCopiesAreOfPageableMemoryByMouse() {
    begin("cause_pageable_copies");
    QVERIFY(gestures_->click_panel("Findings"));
    QVERIFY(gestures_->click_row(findings(), 0));
    showsAPageableCopy();
  }

  // A list that contains the same stream object four times.
  void doMyFourStreamsOverlapByKeyboard() {
    begin("numba_streams_bug");
    QVERIFY(gestures_->press(Qt::CTRL | Qt::SHIFT | Qt::Key_A));
    QVERIFY(gestures_->press(Qt::Key_Down));
    QVERIFY(gestures_->press(Qt::Key_Down));
    QVERIFY2(answer().contains("all of them ran on one stream"), qPrintable(answer()));
  }
  void doMyFourStreamsOverlapByMouse() {
    begin("numba_streams_bug");
    QVERIFY(gestures_->click_panel("Findings"));
    QVERIFY(gestures_->click_row(findings(), 1));
    QVERIFY2(answer().contains("all of them ran on one stream"), qPrintable(answer()));
  }

  // Four loader processes instead of none.
  void whatDidMyChangeChangeByKeyboard() {
    begin("torch_training_workers0");
    QVERIFY(gestures_->choose_file(Qt::CTRL | Qt::Key_D, recording("torch_training_workers4")));
    QVERIFY(wait_for([this] { return window_->pair().isOpen() && window_->isSettled(); }));
    tellsThatIdleTimeWent();
  }
  void whatDidMyChangeChangeByMouse() {
    begin(nullptr);
    QVERIFY(gestures_->drop({recording("torch_training_workers0"), recording("torch_training_workers4")}));
    QVERIFY(gestures_->click_panel("Diff"));
    tellsThatIdleTimeWent();
  }

  // Another thread holds a mutex for 10 ms in each step.
  void whichLockDoesMyLaunchWaitForByKeyboard() {
    begin("cause_lock");
    QVERIFY(gestures_->press(Qt::CTRL | Qt::SHIFT | Qt::Key_B));  // bubbles, the largest first
    QVERIFY(gestures_->press(Qt::Key_Down));                      // the gap is selected
    QVERIFY(gestures_->press(Qt::Key_F6));
    QVERIFY(gestures_->press(Qt::Key_Y));  // the launch
    QVERIFY(gestures_->press(Qt::Key_Y));  // what it waited for
    QCOMPARE(selectedName(), QString("pthread_mutex_lock"));
  }
  void whichLockDoesMyLaunchWaitForByMouse() {
    begin("cause_lock");
    QVERIFY(gestures_->click_panel("Bubbles"));
    QVERIFY(gestures_->click_row(window_->bubbles().gaps(), 0));
    auto* details = window_->details().findChild<QTextBrowser*>();
    QVERIFY2(details->toPlainText().contains("pthread_mutex_lock"), qPrintable(details->toPlainText()));
    QVERIFY(gestures_->click_link(*details, "pthread_mutex_lock"));
    QCOMPARE(selectedName(), QString("pthread_mutex_lock"));
  }

 private:
  void begin(const char* name) {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    window_->resize(1800, 1100);
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get(), kPatienceMs));
    if (name != nullptr) QVERIFY(open_and_settle(*window_, recording(name)));
    gestures_ = std::make_unique<Gestures>(*window_);
  }

  QTableView& findings() { return *window_->findings().findChild<ui::ResultTable*>("findings-table"); }
  // The text of the findings panel about the chosen finding.
  QString answer() { return window_->findings().findChild<QTextBrowser*>()->toPlainText(); }
  QString selectedName() {
    const EventRef event = window_->state().selectedEvent();
    return event.valid() ? QString::fromStdString(std::string(trace().name(trace().event(event).name))) : QString();
  }
  [[nodiscard]] const Trace& trace() const { return *window_->state().trace(); }

  void tellsOfIdleTimeInRange(const QString& range) {
    QVERIFY2(answer().contains("was idle for") && answer().contains("\"" + range + "\""), qPrintable(answer()));
    const TimeRange visible = window_->timelineView().visibleRange();
    QVERIFY(visible.length() < 100'000'000);  // the place, not all of ten seconds
  }
  void showsAPageableCopy() {
    QVERIFY2(answer().contains("copies of pageable memory"), qPrintable(answer()));
    const EventRef event = window_->state().selectedEvent();
    QVERIFY(event.valid());
    QCOMPARE(trace().track_of(event.lane).key.kind, TrackKind::kMemory);
    QCOMPARE(trace().memory_detail(trace().event(event).detail).source_memory, MemoryKind::kPageable);
    const QString details = window_->details().text();
    QVERIFY2(details.contains("Pageable", Qt::CaseInsensitive), qPrintable(details));
  }
  void tellsThatIdleTimeWent() {
    QVERIFY2(window_->diff().isVisible(), "the panel is in front");
    const stats::Table& table = *window_->diff().table().results().table();
    QStringList shown;
    for (int row = 0; row < window_->diff().table().model()->rowCount(); ++row) {
      QStringList cells;
      for (int column = 0; column < window_->diff().table().model()->columnCount(); ++column)
        cells += window_->diff().table().model()->index(row, column).data().toString();
      shown += cells.join(u'|');
    }
    QVERIFY(table.row_count() > 3);
    QVERIFY2(shown.filter("GPU idle").filter("less").size() >= 1, qPrintable(shown.join(u'\n')));
    // The longest idle time in the loops of both sides: at most 19 ms, while the starts of the programs have seconds.
    const auto idle = std::find_if(shown.begin(), shown.end(), [](const QString& row) { return row.count("GPU idle") == 2; });
    QVERIFY2(idle != shown.end(), qPrintable(shown.join(u'\n')));
    window_->diff().table().selectRow(static_cast<int>(idle - shown.begin()));
    QVERIFY(settle(*window_));
    QVERIFY(window_->timelineView().visibleRange().length() < 60'000'000);
  }
  std::unique_ptr<MainWindow> window_;
  std::unique_ptr<Gestures> gestures_;
};

QTEST_MAIN(StoriesTest)
#include "test_gui_stories.moc"
