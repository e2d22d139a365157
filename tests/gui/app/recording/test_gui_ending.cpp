// Ends of the viewer without a question to its windows while it records: signals, and the loss of the display.
//
// The viewer is this program, started again with the word "record" in front: `record FILE ends|runs-on [CASE]`.
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTimer>

#include "ending.h"
#include "fixture/main_window_fixture.h"
#include "model/trace/load.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// Prints "recording PID" when ranges of the program have arrived.
int record(int argc, char** argv) {
  QApplication application(argc, argv);
  const QString file = QString::fromLocal8Bit(argv[2]);
  const bool runs_on = std::strcmp(argv[3], "runs-on") == 0;
  const QString special = argc > 4 ? QString::fromLocal8Bit(argv[4]) : QString();
  return ui::show_windows(ui::Layout::kRemembered, [&](ui::Windows& windows) {
    MainWindow& window = windows.add();
    ui::LaunchSettings launch;
    launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    launch.output = file;
    launch.capture.trace_cuda = false;
    launch.capture.program_at_end = runs_on ? ui::ProgramAtEnd::kRunsOn : ui::ProgramAtEnd::kEnds;
    window.launch(launch);
    auto* look = new QTimer(&window);
    QObject::connect(look, &QTimer::timeout, &window, [&window, look, special, asks = false]() mutable {
      const auto trace = window.state().trace();
      if (!trace || trace->event_count() < 50) return;
      if (special == u"dialog" && !std::exchange(asks, true)) window.actions().launch->trigger();  // while it is open, it runs a loop of its own
      if (asks && QApplication::activeModalWidget() == nullptr) return;
      look->stop();
      std::printf("recording %d\n", static_cast<int>(window.session().recording()->pid()));
      std::fflush(stdout);
      // Does what Qt does after a compositor has gone.
      if (special == u"wayland") qWarning("The Wayland connection broke. Did the Wayland compositor die?"), _exit(1);
    });
    look->start(10);
  });
}

// A display that can be taken away.
class XServer {
 public:
  XServer() {
    server_.start("Xvfb", {"-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"});
    while (!name_.contains(u'\n') && server_.waitForReadyRead(kPatienceMs)) name_ += QString::fromLatin1(server_.readAllStandardOutput());
  }
  ~XServer() { end(); }
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;
  [[nodiscard]] QString name() const { return u':' + name_.trimmed(); }
  void end() {
    server_.kill();
    server_.waitForFinished();
  }

 private:
  QProcess server_;
  QString name_;
};

bool runs(pid_t pid) { return kill(pid, 0) == 0; }

}  // namespace

class EndingTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }

  void cleanup() {
    if (QTest::currentTestFailed() && pid_ > 0) kill(pid_, SIGKILL);
    pid_ = 0;
  }

  void aSignalEndsARecordingAsItsFormSays_data() {
    QTest::addColumn<int>("signal");
    QTest::addColumn<QString>("at_end");
    QTest::addColumn<QString>("special");
    QTest::newRow("TERM") << SIGTERM << "ends"
                          << "";
    QTest::newRow("TERM, runs on") << SIGTERM << "runs-on"
                                   << "";
    QTest::newRow("TERM, in a dialog") << SIGTERM << "ends"
                                       << "dialog";
    QTest::newRow("HUP") << SIGHUP << "ends"
                         << "";
    QTest::newRow("INT") << SIGINT << "ends"
                         << "";
    QTest::newRow("QUIT") << SIGQUIT << "ends"
                          << "";
  }
  void aSignalEndsARecordingAsItsFormSays() {
    QFETCH(int, signal);
    QFETCH(QString, at_end);
    QFETCH(QString, special);
    ui::Settings settings;
    settings.setWindowGeometry({});
    settings.readAgain();
    start(at_end, special);
    QVERIFY(pid_ > 0);
    kill(static_cast<pid_t>(viewer_.processId()), signal);
    QVERIFY(viewer_.waitForFinished(kPatienceMs));
    QCOMPARE(viewer_.exitStatus(), QProcess::CrashExit);  // the sender of the signal learns that the process was ended by it
    QCOMPARE(viewer_.exitCode(), signal);
    checkFile(at_end);
    settings.readAgain();
    QVERIFY(!settings.windowGeometry().isEmpty());
  }

  void aSignalThatIsIgnoredStaysSo() {
    viewer_.setChildProcessModifier([] { std::signal(SIGHUP, SIG_IGN); });  // like nohup
    start("ends", {});
    viewer_.setChildProcessModifier({});
    QVERIFY(pid_ > 0);
    kill(static_cast<pid_t>(viewer_.processId()), SIGHUP);
    QVERIFY(!viewer_.waitForFinished(500));
    kill(static_cast<pid_t>(viewer_.processId()), SIGTERM);
    QVERIFY(viewer_.waitForFinished(kPatienceMs));
    QCOMPARE(viewer_.exitCode(), SIGTERM);
    checkFile("ends");
  }

  void aDisplayThatGoesAwayEndsARecordingAsItsFormSays_data() {
    QTest::addColumn<QString>("at_end");
    QTest::newRow("ends") << "ends";
    QTest::newRow("runs on") << "runs-on";
  }
  void aDisplayThatGoesAwayEndsARecordingAsItsFormSays() {
    if (QStandardPaths::findExecutable("Xvfb").isEmpty()) QSKIP("Xvfb is not installed");
    QFETCH(QString, at_end);
    XServer display;
    start(at_end, {}, display.name());
    QVERIFY2(pid_ > 0, viewer_.readAllStandardError());
    display.end();
    QVERIFY(viewer_.waitForFinished(kPatienceMs));
    QCOMPARE(viewer_.exitStatus(), QProcess::NormalExit);
    QCOMPARE(viewer_.exitCode(), 1);
    checkFile(at_end);
  }

  // There is no compositor here that could go away: this simulates what Qt prints and does then.
  void aCompositorThatGoesAwayEndsARecordingAsItsFormSays() {
    start("ends", "wayland");
    QVERIFY(pid_ > 0);
    QVERIFY(viewer_.state() == QProcess::NotRunning || viewer_.waitForFinished(kPatienceMs));
    checkFile("ends");
  }

 private:
  QString fileName() const { return QString::fromStdString((folder_.path() / "recorded.trace").string()); }

  // Returns when the program is being recorded.
  void start(const QString& at_end, const QString& special, const QString& display = {}) {
    QFile::remove(fileName());
    pid_ = 0;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove("WAYLAND_DISPLAY");
    environment.insert("QT_QPA_PLATFORM", display.isEmpty() ? "offscreen" : "xcb");
    if (!display.isEmpty()) environment.insert("DISPLAY", display);
    viewer_.setProcessEnvironment(environment);
    QStringList words{"record", fileName(), at_end};
    if (!special.isEmpty()) words += special;
    viewer_.start(QCoreApplication::applicationFilePath(), words);
    QString said;
    const QRegularExpression recording("recording (\\d+)\n");
    while (!said.contains(recording) && viewer_.waitForReadyRead(kPatienceMs)) said += QString::fromUtf8(viewer_.readAllStandardOutput());
    pid_ = recording.match(said).captured(1).toInt();
  }

  // Checks that the file is complete, and that the program runs on or has ended as expected.
  void checkFile(const QString& at_end) {
    const auto trace = load_trace(std::filesystem::path(fileName().toStdString()));
    QVERIFY2(trace, trace ? "" : trace.error().text.c_str());
    QCOMPARE(QString::fromStdString((*trace)->provenance().condition), QString());
    const auto ticks = gather_events(**trace, EventScope::whole_trace(**trace).lanes(), {.text = "tick", .kind = EventKind::kNvtxRange});
    QVERIFY(ticks.size() >= 50);
    const auto said = QString::fromUtf8(viewer_.readAllStandardError());
    QVERIFY2(said.contains(fileName()), qPrintable(said));  // no window shows it any more
    ui::Settings settings;
    settings.readAgain();
    QCOMPARE(settings.recentFiles().value(0), fileName());
    QVERIFY(at_end == u"ends" ? wait_for([&] { return !runs(pid_); }) : runs(pid_));
    if (at_end == u"runs-on") kill(pid_, SIGKILL);
  }

  TemporaryFolder folder_;
  QProcess viewer_;
  pid_t pid_ = 0;
};

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "record") == 0) return record(argc, argv);
  QCoreApplication application(argc, argv);
  EndingTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "test_gui_ending.moc"
