// A window that records while its user wants something else: nothing is lost, and nothing happens without a message.
#include <signal.h>

#include <algorithm>
#include <functional>

#include <QAbstractButton>
#include <QApplication>
#include <QCheckBox>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QMessageBox>
#include <QPointer>
#include <QProcess>
#include <QTimer>

#include "fixture/attach_ability.h"
#include "fixture/dialogs.h"
#include "fixture/main_window_fixture.h"
#include "record/attach_dialog.h"
#include "record/launch_dialog.h"
#include "window/windows.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// The open question; null if there is none.
QMessageBox* question() { return qobject_cast<QMessageBox*>(QApplication::activeModalWidget()); }

QAbstractButton* button(const QWidget& dialog, const QString& text) {
  for (auto* each : dialog.findChildren<QAbstractButton*>())
    if (each->text() == text) return each;
  return nullptr;
}

// Presses a button of the next question, after calling `look`; returns true if the question appeared and had the button. The question has an event loop of its
// own: this runs within it.
bool answer(const QString& text, const std::function<void(QMessageBox&)>& look = {}) {
  bool pressed = false;
  QTimer timer;
  timer.setInterval(5);
  QObject::connect(&timer, &QTimer::timeout, [&] {
    if (!question()) return;
    timer.stop();
    if (look) look(*question());
    QAbstractButton* found = button(*question(), text);
    pressed = found != nullptr;
    found ? QTest::mouseClick(found, Qt::LeftButton) : question()->reject();
  });
  timer.start();
  return wait_for([&] { return !timer.isActive() && question() == nullptr; }) && pressed;
}

bool is_running(pid_t pid) { return kill(pid, 0) == 0; }

}  // namespace

class TestGuiSession : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    known_ = known_trace_in(folder_);
  }
  void init() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get(), kPatienceMs));
  }
  void cleanup() {
    const pid_t pid = window_ && window_->session().recording() ? window_->session().recording()->pid() : 0;
    window_.reset();
    if (pid > 0) kill(pid, SIGKILL);
  }

  void aFileThatIsOpenedWhileRecordingIsAskedAboutAndTheRecordingGoesOn() {
    record("asked");
    const QString title = window_->windowTitle();
    window_->openFile(known_);
    QVERIFY(answer("Cancel"));
    QVERIFY(window_->isRecording());
    QCOMPARE(window_->windowTitle(), title);
    QVERIFY(title.contains("asked.trace"));
    QSignalSpy wished(window_.get(), &MainWindow::windowWished);
    window_->openFile(known_);
    QVERIFY(answer("In a new window"));
    QTRY_COMPARE_WITH_TIMEOUT(wished.size(), 1, kPatienceMs);
    QCOMPARE(wished.front().front().value<std::optional<ui::Wish>>()->path, known_);
    QVERIFY(window_->isRecording());
  }

  void aFileIsOpenedOnceTheRecordingWasStoppedForIt() {
    record("stopped_for");
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    window_->openFile(known_);
    QVERIFY(answer("Stop the recording and open"));
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(opened.front().front().toString(), known_);
    QVERIFY(!window_->isRecording());
    QVERIFY(window_->windowTitle().contains("known.trace"));
    QCOMPARE(window_->state().trace()->event_count(), std::uint64_t{kEvents});
    QVERIFY(QFile::exists(path_of("stopped_for")));  // and the recording is kept
    QVERIFY2(window_->messages().text().contains("the program was ended"), qPrintable(window_->messages().text()));
  }

  void anotherWindowOpensTheFile() {
    ui::Windows windows(ui::Layout::kInitial);
    const QPointer<MainWindow> first(&windows.add());
    emit first->windowWished(ui::Wish{ui::WishKind::kOpen, known_});
    MainWindow* second = nullptr;
    for (QWidget* each : QApplication::topLevelWidgets())
      if (auto* window = qobject_cast<MainWindow*>(each); window && window != first && window != window_.get()) second = window;
    QVERIFY(second);
    QVERIFY(wait_for([&] { return second->state().trace() != nullptr; }));
    QVERIFY(!first->state().trace());
    const QPointer<MainWindow> other(second);
    QVERIFY(settle(*second));
    second->close();
    first->close();
    QVERIFY(wait_for([&] { return !first && !other; }));
  }

  // Otherwise the window would be lower, further to the right and smaller at each start.
  void aSecondWindowLeavesThePlaceOfTheFirstForTheNextStart() {
    ui::Windows windows(ui::Layout::kRemembered);
    const QPointer<MainWindow> first(&windows.add());
    first->move(60, 50);
    first->resize(700, 500);
    const QRect place(first->pos(), first->size());
    first->actions().new_window->trigger();
    QPointer<MainWindow> second;
    for (QWidget* each : QApplication::topLevelWidgets())
      if (auto* window = qobject_cast<MainWindow*>(each); window && window != first && window != window_.get()) second = window;
    QVERIFY(second && second->pos() != place.topLeft());
    first->close();
    second->close();
    QVERIFY(wait_for([&] { return !first && !second; }));
    const MainWindow& next = windows.add();
    QCOMPARE(QRect(next.pos(), next.size()), place);
    ui::Settings().setWindowGeometry({});
  }

  void aLaunchThatFailsLeavesTheRecordingAlone() {
    record("goes_on");
    ui::LaunchSettings launch = launchOf("never");
    launch.program = "/nowhere/program";
    window_->launch(launch);
    QVERIFY(window_->isRecording());
    QVERIFY(window_->windowTitle().contains("goes_on.trace"));
    QVERIFY(window_->messages().text().contains("/nowhere/program"));
    const auto ticks = [&] { return window_->state().trace() ? window_->state().trace()->event_count() : 0; };
    const std::uint64_t before = ticks();
    QVERIFY(wait_for([&] { return ticks() > before; }));
  }

  void aSecondLaunchIsAskedAboutAndTakesThePlaceOfTheFirst() {
    record("first");
    window_->actions().launch->trigger();
    QVERIFY(answer("Cancel"));
    QVERIFY(window_->windowTitle().contains("first.trace"));
    const pid_t first = window_->session().recording()->pid();
    window_->launch(launchOf("second"));
    QVERIFY(window_->windowTitle().contains("second.trace"));
    QVERIFY(is_running(window_->session().recording()->pid()));
    const auto said_it = [&] {
      const auto& messages = window_->messages().messages();
      return std::any_of(messages.begin(), messages.end(), [&](const ui::Notice& each) { return each.sentence.contains("complete: " + path_of("first")); });
    };
    QVERIFY(wait_for(said_it));
    QVERIFY(wait_for([&] { return !is_running(first); }));
    QVERIFY(window_->isRecording());
    QVERIFY(window_->windowTitle().contains("second.trace"));
  }

  void whatARecordingSaysIsSaidOnceAndAsLongAsItIsTrue() {
    const auto say = [this](const QString& sentence, ui::MessageWeight weight) { emit window_->session().said({sentence, weight}); };
    for (const ui::MessageWeight weight : {ui::MessageWeight::kNote, ui::MessageWeight::kError, ui::MessageWeight::kNote}) say("No space is left.", weight);
    QCOMPARE(window_->messages().messages().size(), std::size_t{1});
    QVERIFY(window_->messages().messages().front().weight == ui::MessageWeight::kError);
    say("gpu01: " + QString(session::kNamingMessage), ui::MessageWeight::kNote);
    QCOMPARE(window_->messages().messages().size(), std::size_t{2});
    emit window_->session().recordingEnded();
    QCOMPARE(window_->messages().messages().size(), std::size_t{1});
    QCOMPARE(window_->messages().text(), QString("No space is left."));
  }

  void stopEndsTheProgramWhereThatWasChosenAndSaysSo() {
    record("ends");
    const pid_t pid = window_->session().recording()->pid();
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    window_->actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(wait_for([&] { return !is_running(pid); }));
    QCOMPARE(window_->messages().text(), QString("The recording was stopped, and the program was ended."));
  }

  // The events are still shown: they are not lost before the window is closed.
  void aRecordingWhoseFileWasRemovedIsSavedFromItsWindow() {
    record("removed");
    QVERIFY(QFile::remove(path_of("removed")));
    QSignalSpy ended(window_.get(), &MainWindow::recordingEnded);
    window_->stopRecording();
    QVERIFY(ended.wait(kPatienceMs));
    QVERIFY(settle(*window_));
    QString said;
    for (const ui::Notice& message : window_->messages().messages()) said += message.sentence;
    QVERIFY2(said.contains("in this window alone") && !said.contains("is lost"), qPrintable(said));
    const std::uint64_t shown = window_->state().trace()->event_count();
    QVERIFY(shown > 10);
    {
      const DialogAnswers cancel([&](QDialog& dialog) {
        said = dynamic_cast<QMessageBox&>(dialog).text();
        button_of(dialog, "Cancel")->click();
      });
      window_->close();
      QVERIFY2(said.contains("in this window alone"), qPrintable(said));
      window_->openFile(known_);
      QCOMPARE(cancel.count(), 2);
    }
    QVERIFY(window_->isVisible() && window_->windowTitle().contains("removed.trace"));
    saveAs(path_of("removed"));
    QVERIFY(wait_for([&] { return !window_->exports().isWriting() && QFile::exists(path_of("removed")); }));
    window_->close();
    QVERIFY(!window_->isVisible());
    QVERIFY(open_and_settle(*window_, path_of("removed")));
    QCOMPARE(window_->state().trace()->event_count(), shown);
  }

  void aProgramThatIgnoresThatItIsToEndIsToldOf() {
    launchSlowToEnd(*window_, "ignores");
    window_->stopRecording();
    QVERIFY(wait_for([&] { return window_->messages().text().contains("was asked to end (SIGTERM), and runs on"); }));
    QVERIFY(window_->isRecording());
    window_->stopRecording();
    QVERIFY(wait_for([&] { return !window_->isRecording(); }));
    QVERIFY2(!window_->messages().text().contains("To stop the recording once more"), qPrintable(window_->messages().text()));
  }

  void stopLetsTheProgramRunOnWhereThatWasChosenAndSaysSo() {
    record("runs_on", ui::ProgramAtEnd::kRunsOn);
    const pid_t pid = window_->session().recording()->pid();
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    window_->actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(is_running(pid));
    QVERIFY2(window_->messages().text().contains(QString("runs on as process %1").arg(pid)), qPrintable(window_->messages().text()));
    kill(pid, SIGKILL);
  }

  void closingAsksAndWaitsForTheFile() {
    record("closed");
    const pid_t pid = window_->session().recording()->pid();
    window_->close();
    QVERIFY(answer("Cancel"));
    QVERIFY(window_->isVisible() && window_->isRecording());
    window_->close();
    bool ends = false;
    QVERIFY(answer("Stop and close", [&](const QMessageBox& box) { ends = box.checkBox() && box.checkBox()->isChecked(); }));
    QVERIFY(ends);  // as chosen in the form
    QVERIFY(wait_for([&] { return !window_->isVisible(); }));
    QVERIFY(wait_for([&] { return !is_running(pid); }));
    QVERIFY(open_and_settle(*window_, path_of("closed")));
    QVERIFY(window_->state().trace()->provenance().finished);
  }

  // A recording that has ended need not be stopped: a question about closing is answered, others continue without that part.
  void aQuestionAboutARecordingThatEndsMeanwhileIsAboutWhatIsLeft() {
    const QString gate = QString::fromStdString((folder_.path() / "gate").string());
    const auto record_until_opened = [&](const QString& name) {
      QFile::remove(gate);
      ui::LaunchSettings launch = launchOf(name);
      launch.program = "sh";
      launch.arguments = QString("-c 'until [ -e %1 ]; do sleep 0.05; done'").arg(gate);
      window_->launch(launch);
      QVERIFY2(window_->isRecording(), qPrintable(window_->messages().text()));
    };
    const auto open_gate = [&] { QVERIFY(QFile(gate).open(QIODevice::WriteOnly)); };
    record_until_opened("meanwhile");
    QString asked;
    {
      const DialogAnswers answers([&](QDialog& dialog) {
        open_gate();
        QVERIFY(wait_for([&] { return button_of(dialog, "In this window") != nullptr; }));
        asked = dynamic_cast<QMessageBox&>(dialog).text();
        button_of(dialog, "In this window")->click();
      });
      window_->openFile(known_);
      QVERIFY(wait_for([&] { return answers.count() == 1 && window_->session().file() == known_ && settle(*window_); }));
    }
    QCOMPARE(asked, QString("The recording in this window has ended. Where should known.trace open?"));
    record_until_opened("closes");
    const DialogAnswers answers([&](QDialog&) { open_gate(); });
    window_->close();
    QVERIFY(wait_for([&] { return !window_->isVisible(); }));
    QCOMPARE(answers.count(), 1);
  }

  // Stopping may take long, and the window exists meanwhile. A dialog runs within a function of its window.
  void aWindowThatIsToCloseOutlivesItsDialogs() {
    ui::Windows windows(ui::Layout::kInitial);
    const QPointer<MainWindow> window(&windows.add());
    launchSlowToEnd(*window, "outlived");
    window->close();
    QVERIFY(answer("Stop and close"));
    QVERIFY(window && window->isRecording());
    QVERIFY2(window->messages().text().contains("closes once the recording is complete"), qPrintable(window->messages().text()));
    bool was_there = false;
    QTimer look;
    look.setInterval(500);  // longer than closing a window takes
    bool has_ended = false;
    connect(&look, &QTimer::timeout, [&] {
      auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr || (window && window->isRecording())) return;
      if (!std::exchange(has_ended, true)) return;
      was_there = window && window->isVisible();
      dialog->reject();
    });
    look.start();
    letSlowOnesEnd();
    window->actions().change_keys->trigger();
    QVERIFY(was_there);
    QVERIFY(wait_for([&] { return window.isNull(); }));
  }

  // A replaced recording may take long to be completed.
  void aWindowThatIsToCloseWaitsForTheRecordingBefore() {
    launchSlowToEnd(*window_, "before");
    record("after");
    QVERIFY(window_->session().isCompleting());
    window_->stopRecording();
    QVERIFY(wait_for([&] { return !window_->isRecording(); }));
    QVERIFY(window_->session().isCompleting());
    window_->close();
    QVERIFY(window_->isVisible());
    const auto& said = window_->messages().messages();
    QVERIFY(std::any_of(said.begin(), said.end(), [](const ui::Notice& message) { return message.sentence.contains("still being completed"); }));
    letSlowOnesEnd();
    QVERIFY(wait_for([&] { return !window_->isVisible(); }));
    QVERIFY(!window_->session().isCompleting());
    QVERIFY(QFile::exists(path_of("before")));
  }

  // Of three windows, one has to wait for its recording: the others close after it, whichever is asked first.
  void quittingGoesOnOnceTheLastRecordingHasEnded() {
    window_.reset();
    ui::Windows windows(ui::Layout::kInitial);
    const QPointer<MainWindow> first(&windows.add()), second(&windows.add()), third(&windows.add());
    launchSlowToEnd(*second, "quitting");
    second->actions().quit->trigger();
    QVERIFY(answer("Stop and close"));
    letSlowOnesEnd();
    const auto is_gone = [](const QPointer<MainWindow>& window) { return window.isNull() || !window->isVisible(); };
    QVERIFY(wait_for([&] { return is_gone(first) && is_gone(second) && is_gone(third); }));
    QTest::qWait(50);  // so that the end of the last one is noticed
    // If quitting is called off, the others stay.
    const QPointer<MainWindow> fourth(&windows.add()), fifth(&windows.add()), sixth(&windows.add());
    fifth->launch(launchOf("stays"));
    fifth->actions().quit->trigger();
    QVERIFY(answer("Cancel"));
    QVERIFY(fifth && fifth->isRecording());
    const bool others_are_gone = is_gone(fourth) && is_gone(sixth);
    fifth->stopRecording();
    QVERIFY(wait_for([&] { return !fifth->isRecording(); }));
    QTest::qWait(200);
    QVERIFY(!is_gone(fifth));
    QCOMPARE(is_gone(fourth) && is_gone(sixth), others_are_gone);
    for (const auto& window : {fourth, fifth, sixth})
      if (window) window->close();
  }

  // Both windows have to wait. Continuing to work in the one that was told to close first calls quitting off.
  void goingOnInAWindowThatWasToCloseCallsQuittingOff() {
    window_.reset();
    ui::Windows windows(ui::Layout::kInitial);
    const std::array<QPointer<MainWindow>, 2> both{&windows.add(), &windows.add()};
    for (const QPointer<MainWindow>& window : both) launchSlowToEnd(*window, window == both[0] ? "slow0" : "slow1");
    // From here on, the recorder waits 5 s for the slow ones.
    for (const QPointer<MainWindow>& window : both) {
      window->launch(launchOf(window == both[0] ? "next0" : "next1"));
      QVERIFY2(window->isRecording(), qPrintable(window->messages().text()));
    }
    for (const QPointer<MainWindow>& window : both) window->stopRecording();
    for (const QPointer<MainWindow>& window : both) QVERIFY(wait_for([&] { return !window->isRecording(); }));
    QVERIFY(both[0]->session().isCompleting() && both[1]->session().isCompleting());
    both[0]->actions().quit->trigger();
    const auto is_told = [](const QPointer<MainWindow>& window) { return window->messages().text().contains("still being completed"); };
    QVERIFY(is_told(both[0]) != is_told(both[1]));
    const QPointer<MainWindow> told = is_told(both[0]) ? both[0] : both[1], other = is_told(both[0]) ? both[1] : both[0];
    QVERIFY(open_and_settle(*told, known_));
    letSlowOnesEnd();
    QVERIFY(wait_for([&] { return !told->session().isCompleting() && !other->session().isCompleting(); }));
    told->close();
    QVERIFY(wait_for([&] { return told.isNull() || !told->isVisible(); }));
    QTest::qWait(100);
    QVERIFY(other && other->isVisible());
    other->close();
  }

  void aProgramThatFailsIsSaidToHaveFailed() {
    ui::LaunchSettings launch = launchOf("fails");
    launch.program = "sh";
    launch.arguments = "-c \"exit 3\"";
    QSignalSpy ended(window_.get(), &MainWindow::recordingEnded);
    window_->launch(launch);
    QVERIFY(ended.wait(kPatienceMs));
    QVERIFY2(window_->messages().text().contains("exited with code 3"), qPrintable(window_->messages().text()));
  }

  void anAttachedProgramThatWasKilledIsSaidToHaveBeenKilled() {
    if (!machine_lets_attach()) QSKIP(kNotHere);
    QProcess process;
    process.start(QString::fromStdString(program("lanescope_program_nvtx_ticking").string()), QStringList());
    QVERIFY(process.waitForReadyRead());
    ui::AttachSettings attach;
    attach.pid = static_cast<pid_t>(process.processId());
    attach.capture.trace_cuda = false;
    attach.output = path_of("killed");
    bool done = false;
    QString problem;
    window_->session().attach(attach, [&](const QString& sentence) {
      done = true;
      problem = sentence;
    });
    QVERIFY(wait_for([&] { return done; }));
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
    QVERIFY(wait_for([&] { return window_->state().trace() && window_->state().trace()->event_count() > 10; }));
    QSignalSpy ended(window_.get(), &MainWindow::recordingEnded);
    process.kill();
    process.waitForFinished();
    QVERIFY(ended.wait(kPatienceMs));
    const QString said = window_->messages().text();
    QVERIFY2(said.contains("nvtx_ticking") && said.contains("SIGKILL") && !said.contains("runs on"), qPrintable(said));
  }

  void messagesWaitForEachOther() {
    ui::MessageArea area;
    area.show("The disk is full.", ui::MessageWeight::kError);
    area.show("A note.", ui::MessageWeight::kNote);
    area.show("A later note.", ui::MessageWeight::kNote);
    area.show("A note.", ui::MessageWeight::kNote);
    QCOMPARE(area.text(), QString("The disk is full."));
    area.show("The file is gone.", ui::MessageWeight::kError);
    QCOMPARE(area.messages().size(), std::size_t{4});
    QTest::mouseClick(area.findChild<QAbstractButton*>(), Qt::LeftButton);
    QCOMPARE(area.text(), QString("The file is gone."));
    area.closeFirst();
    QCOMPARE(area.text(), QString("A later note."));
    area.closeFirst();
    QCOMPARE(area.text(), QString("A note."));
    area.closeFirst();
    QVERIFY(area.isHidden() && area.text().isEmpty());
  }

  void theDialogChecksBeforeItCloses() {
    ui::Settings settings;
    ui::LaunchDialog dialog(settings, window_.get());
    dialog.show();
    int starts = 0;
    dialog.setStart([&](const ui::LaunchSettings&) { return ++starts, QString("The machine is full."); });
    const auto says = [&](const QString& text) {
      const auto labels = dialog.findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->isVisible() && label->text().contains(text); });
    };
    ui::LaunchSettings launch = launchOf("checked");
    launch.program = "no-program-has-this-name";
    dialog.setLaunch(launch);
    dialog.accept();
    QVERIFY(dialog.isVisible() && says("There is no program named no-program-has-this-name"));
    // A command as in a shell is a program and its arguments.
    launch.program = "sh -c";
    launch.arguments = "'exit 3'";
    dialog.setLaunch(launch);
    dialog.accept();
    QVERIFY(says("The machine is full."));
    QCOMPARE(std::exchange(starts, 0), 1);
    QCOMPARE(dialog.launch().program, QString("sh"));
    QCOMPARE(dialog.launch().arguments, QString("-c 'exit 3'"));
    launch.arguments.clear();
    launch.program = "sh";
    dialog.setLaunch(launch);
    QVERIFY(!says("There is no program"));

    launch = launchOf("checked");
    launch.working_directory = "/nowhere";
    dialog.setLaunch(launch);
    dialog.accept();
    QVERIFY(dialog.isVisible() && says("There is no folder /nowhere"));

    launch = launchOf("known");  // that file exists
    dialog.setLaunch(launch);
    dialog.accept();
    QVERIFY(dialog.isVisible() && says("A file named known.trace exists"));
    QCOMPARE(starts, 0);
    QVERIFY(!says("--") && !says(" -o"));
    QTest::mouseClick(button(dialog, "Count up"), Qt::LeftButton);
    QVERIFY(dialog.launch().output.endsWith("known.%n.trace"));
    dialog.accept();
    QVERIFY(dialog.isVisible() && says("The machine is full."));
    QCOMPARE(starts, 1);
    dialog.setStart([](const ui::LaunchSettings&) { return QString(); });
    dialog.accept();
    QVERIFY(!dialog.isVisible());
  }

 private:
  [[nodiscard]] QString path_of(const QString& name) const { return QString::fromStdString(folder_.path().string()) + u'/' + name + ".trace"; }

  [[nodiscard]] ui::LaunchSettings launchOf(const QString& name) const {
    ui::LaunchSettings launch;
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    launch.capture.trace_cuda = false;
    launch.output = path_of(name);
    return launch;
  }

  // Records a program that ends once it may, until it ignores that it is to.
  void launchSlowToEnd(MainWindow& window, const QString& name) {
    ui::LaunchSettings launch = launchOf(name);
    launch.program = "sh";
    QFile::remove(path_of("may_end"));
    launch.arguments = QString("-c 'trap \"\" TERM; echo ready; while [ ! -e %1 ]; do sleep 0.1; done'").arg(path_of("may_end"));
    launch.capture.program_at_end = ui::ProgramAtEnd::kEnds;
    window.launch(launch);
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    QVERIFY(wait_for([&] { return window.state().trace() && !window.state().trace()->output().empty(); }));
  }

  void letSlowOnesEnd() {
    QFile file(path_of("may_end"));
    QVERIFY(file.open(QIODevice::WriteOnly));
  }

  // All that is shown, as File > Save as offers it.
  void saveAs(const QString& path) {
    const DialogAnswers answers([&](QDialog& dialog) {
      if (auto* files = qobject_cast<QFileDialog*>(&dialog)) files->selectFile(path);
      static_cast<void>(QMetaObject::invokeMethod(&dialog, "accept"));
    });
    window_->actions().save_as->trigger();
    QCOMPARE(answers.count(), 2);
  }

  // Records an endless program until it is drawn.
  void record(const QString& name, ui::ProgramAtEnd at_end = ui::ProgramAtEnd::kEnds) {
    ui::LaunchSettings launch = launchOf(name);
    launch.capture.program_at_end = at_end;
    window_->launch(launch);
    QVERIFY2(window_->isRecording(), qPrintable(window_->messages().text()));
    QVERIFY(wait_for([&] { return window_->state().trace() && window_->state().trace()->event_count() > 10; }));
  }

  TemporaryFolder folder_;
  QString known_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(TestGuiSession)
#include "test_gui_session.moc"
