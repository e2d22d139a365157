// A running process: found in the list, recorded, drawn while it runs, and left running.
#include <signal.h>

#include <algorithm>
#include <string>

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QUuid>

#include "fixture/attach_ability.h"
#include "fixture/main_window_fixture.h"
#include "record/attach_dialog.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class AttachTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void init() {
    process_ = std::make_unique<QProcess>();
    mark_ = QUuid::createUuid().toString(QUuid::WithoutBraces);  // which no other process of the machine has in its command
    process_->start(QString::fromStdString(program("lanescope_program_nvtx_ticking").string()), {QStringLiteral("-1"), mark_});
    QVERIFY(process_->waitForReadyRead());  // "ready"
  }
  void cleanup() {
    process_->kill();
    process_->waitForFinished();
  }

  void listsProcessesAndSaysWhyNot() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    QVERIFY(wait_for([&] { return !dialog.listed().empty(); }));
    auto* filter = dialog.findChild<QLineEdit*>();
    filter->setText(mark_);
    QCOMPARE(dialog.listed(), std::vector<pid_t>{pid()});
    filter->setText(QString::number(process_->processId()));  // the numbers and commands of other processes may start with it
    const std::vector<pid_t> listed = dialog.listed();
    QVERIFY(std::find(listed.begin(), listed.end(), pid()) != listed.end());
    filter->setText("nothing is called like this");
    QVERIFY(dialog.listed().empty());

    // Without a process that can be attached to, nothing is accepted.
    dialog.accept();
    QCOMPARE(dialog.result(), static_cast<int>(QDialog::Rejected));
  }

  // The first Enter chooses the remaining process, the next one attaches to it.
  void enterInTheFilterChoosesTheOnlyProcessThatIsLeft() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    dialog.show();
    dialog.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&dialog, kPatienceMs));
    QVERIFY(wait_for([&] { return dialog.listed().size() > 1; }));
    QSignalSpy requested(&dialog, &ui::AttachDialog::requested);
    auto* filter = dialog.findChild<QLineEdit*>();
    filter->setFocus();
    QTest::keyClick(filter, Qt::Key_Return);  // several match, so none is chosen
    QCOMPARE(dialog.attach().pid, 0);
    QTest::keyClicks(filter, mark_);
    QCOMPARE(dialog.listed(), std::vector<pid_t>{pid()});
    QTest::keyClick(filter, Qt::Key_Return);
    QCOMPARE(dialog.attach().pid, pid());
    QCOMPARE(requested.size(), 0);
    QVERIFY(dialog.isVisible());
    if (!machine_lets_attach()) QSKIP(kNotHere);
    QTest::keyClick(filter, Qt::Key_Return);
    QCOMPARE(requested.size(), 1);
    QVERIFY(dialog.isAttaching());
    dialog.attachEnded({});
  }

  void whatWasChosenStaysWhicheverProcessIsLookedAt() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    QVERIFY(wait_for([&] { return dialog.listed().size() > 1; }));
    const std::vector<pid_t> listed = dialog.listed();
    dialog.choose(listed[0]);
    QCheckBox* cuda = nullptr;
    for (QCheckBox* each : dialog.findChildren<QCheckBox*>())
      if (each->text().contains("CUDA calls, kernels and copies")) cuda = each;
    QVERIFY(cuda != nullptr);
    cuda->toggle();
    const bool chosen = cuda->isChecked();
    dialog.choose(listed[1]);
    QCOMPARE(cuda->isChecked(), chosen);
    QCOMPARE(dialog.attach().pid, listed[1]);
  }

  void recordsAProcessAndLeavesItRunning() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    QVERIFY(wait_for([&] { return !dialog.listed().empty(); }));
    dialog.findChild<QLineEdit*>()->setText(QString::number(process_->processId()));
    dialog.choose(pid());
    QSignalSpy requested(&dialog, &ui::AttachDialog::requested);
    dialog.accept();
    if (!machine_lets_attach()) QSKIP(kNotHere);
    QCOMPARE(requested.size(), 1);
    QVERIFY(dialog.isAttaching());  // it stays open while attaching is in progress
    dialog.attachEnded({});
    QCOMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));
    ui::AttachSettings attach = dialog.attach();
    QCOMPARE(attach.pid, pid());
    attach.output = QString::fromStdString((folder_.path() / "attached.trace").string());

    MainWindow window(ui::Layout::kInitial);
    window.show();
    QSignalSpy opened(&window, &MainWindow::opened);
    window.attach(attach);
    QVERIFY2(wait_for([&] { return window.isRecording(); }), qPrintable(window.messages().text()));
    const auto ticks_of = [](const Trace& shown) {
      return gather_events(shown, EventScope::whole_trace(shown).lanes(), {.text = "tick", .kind = EventKind::kNvtxRange});
    };
    QVERIFY(wait_for([&] { return window.state().trace() && ticks_of(*window.state().trace()).size() > 100; }));  // live
    window.actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(!window.isRecording());
    QVERIFY2(window.messages().text().contains("runs on"), qPrintable(window.messages().text()));
    QCOMPARE(process_->state(), QProcess::Running);
    QVERIFY(wait_for([&] { return window.isSettled(); }));
    const auto trace = window.state().trace();
    QVERIFY(ticks_of(*trace).size() > 100);
    QCOMPARE(trace->processes().front().pid, static_cast<std::uint32_t>(pid()));

    attach.output = QString::fromStdString((folder_.path() / "again.trace").string());  // once more
    window.attach(attach);
    QVERIFY2(wait_for([&] { return window.isRecording(); }), qPrintable(window.messages().text()));
    window.stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(process_->state(), QProcess::Running);
  }

  void recordsAProcessFromOutside() {
    if (!machine_lets_observe(pid())) QSKIP("this machine does not let threads be observed");
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    QVERIFY(wait_for([&] { return !dialog.listed().empty(); }));
    dialog.findChild<QLineEdit*>()->setText(QString::number(process_->processId()));
    dialog.choose(pid());
    ui::AttachSettings attach = dialog.attach();
    attach.capture.from_outside = true;
    attach.output = QString::fromStdString((folder_.path() / "outside.trace").string());
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QSignalSpy opened(&window, &MainWindow::opened);
    window.attach(attach);
    QVERIFY2(wait_for([&] { return window.isRecording(); }), qPrintable(window.messages().text()));
    const auto count = [](const Trace& shown, EventKind kind) { return gather_events(shown, EventScope::whole_trace(shown).lanes(), {.kind = kind}).size(); };
    QVERIFY(wait_for([&] { return window.state().trace() && count(*window.state().trace(), EventKind::kThreadState) > 10; }));
    window.actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(process_->state(), QProcess::Running);
    QCOMPARE(count(*window.state().trace(), EventKind::kNvtxRange), std::size_t{0});
  }

  void canBeCancelledAndLeavesNoFile() {
    ui::AttachSettings attach;
    attach.pid = pid();
    attach.output = QString::fromStdString((folder_.path() / "cancelled.trace").string());
    ui::LatestJob job;
    bool followed = false;
    ui::LiveRecording::attach(attach, job, [&](ui::LiveRecording::Started) { followed = true; });
    job.cancel();
    // Work that was in progress when it was cancelled has ended before the next work starts.
    bool next = false;
    job.start([&](const ui::LatestJob::Context& context) { context.deliver([&] { next = true; }); });
    QTRY_VERIFY_WITH_TIMEOUT(next, kPatienceMs);
    QVERIFY(!followed);
    QVERIFY(!std::filesystem::exists(folder_.path() / "cancelled.trace"));
    QCOMPARE(process_->state(), QProcess::Running);
  }

  void theKeyboardAloneLeadsToAProcess() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    dialog.show();
    dialog.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&dialog, kPatienceMs));
    QVERIFY(wait_for([&] { return !dialog.listed().empty(); }));
    QTest::keyClicks(dialog.focusWidget(), mark_);
    QVERIFY(wait_for([&] { return dialog.listed() == std::vector<pid_t>{pid()}; }));
    QTest::keyClick(dialog.focusWidget(), Qt::Key_Down);
    QCOMPARE(dialog.attach().pid, pid());
    bool asked = false;
    connect(&dialog, &ui::AttachDialog::requested, &dialog, [&] { asked = true; });
    QTest::keyClick(dialog.focusWidget(), Qt::Key_Return);
    if (!machine_lets_attach()) QSKIP(kNotHere);
    QVERIFY(asked);
    dialog.attachEnded("Not now.");
  }

  void showsTheProblemAndLetsOneChooseAgain() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    QVERIFY(wait_for([&] { return !dialog.listed().empty(); }));
    dialog.findChild<QLineEdit*>()->setText(QString::number(process_->processId()));
    dialog.choose(pid());
    dialog.accept();
    if (!machine_lets_attach()) QSKIP(kNotHere);
    QVERIFY(dialog.isAttaching());
    dialog.attachEnded("It went away.");
    QVERIFY(!dialog.isAttaching());
    const auto labels = dialog.findChildren<QLabel*>();
    const auto says_why = [&] { return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) { return label->text() == "It went away."; }); };
    QVERIFY(says_why());
    // The list is updated all the time, which does not remove the reason.
    QProcess another;
    another.start("/bin/sleep", {"1000"});
    QVERIFY(another.waitForStarted());
    const auto stops = qScopeGuard([&] { another.kill(), another.waitForFinished(); });
    dialog.findChild<QLineEdit*>()->clear();
    QVERIFY(wait_for([&] {
      const std::vector<pid_t> listed = dialog.listed();
      return std::find(listed.begin(), listed.end(), static_cast<pid_t>(another.processId())) != listed.end();
    }));
    QVERIFY(says_why());
    dialog.choose(static_cast<pid_t>(another.processId()));
    QVERIFY(!says_why());  // it was the reason of the other one
    dialog.choose(pid());
    QVERIFY(!says_why());
    dialog.accept();  // once more
    QVERIFY(dialog.isAttaching());
    dialog.reject();
    QCOMPARE(dialog.result(), static_cast<int>(QDialog::Rejected));
  }

  void saysWhyAProcessCannotBeAttachedTo() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    process_->kill();
    QVERIFY(process_->waitForFinished());
    ui::AttachSettings attach;
    attach.pid = 0x3fffffff;  // greater than any pid of the kernel
    attach.output = QString::fromStdString((folder_.path() / "never.trace").string());
    window.attach(attach);
    QVERIFY(wait_for([&] { return !window.messages().text().isEmpty(); }));
    QVERIFY(!window.isRecording());
    QVERIFY(!std::filesystem::exists(folder_.path() / "never.trace"));
  }

  void remembersTheChoicesByProgram() {
    ui::Settings settings;
    ui::AttachSettings attach;
    attach.program = "trainer";
    attach.capture.preset = session::Preset::kLight;
    attach.capture.graph_level = session::GraphLevel::kNode;
    attach.capture.trace_nvtx = false;
    attach.capture.delay = 1.5;
    attach.capture.duration = 20;
    attach.capture.domain_rule = session::DomainRule::kAllButListed;
    attach.capture.domains = {"NCCL", "default"};
    attach.capture.all_calls = true;
    attach.capture.keep_last = 5;
    attach.capture.file_size = 100;
    settings.rememberAttach(attach);
    QCOMPARE(settings.attachChoices("trainer") == attach.capture, true);
    QCOMPARE(settings.attachChoices("another") == ui::CaptureChoices{}, true);
  }

 private:
  [[nodiscard]] pid_t pid() const { return static_cast<pid_t>(process_->processId()); }
  TemporaryFolder folder_;
  std::unique_ptr<QProcess> process_;
  QString mark_;
};

QTEST_MAIN(AttachTest)
#include "test_gui_attach.moc"
