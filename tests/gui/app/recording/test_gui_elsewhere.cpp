// Recordings on another machine: the dialog, and what the window draws. The other machine is this one, reached by a command prefix.
#include <csignal>
#include <fstream>
#include <sstream>

#include <QProcess>
#include <QPushButton>
#include <QScopeGuard>

#include "fixture/attach_ability.h"
#include "fixture/main_window_fixture.h"
#include "model/trace/load.h"
#include "options/launch_options.h"
#include "record/remote_dialog.h"
#include "timeline/widget/shown_text.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// The request that the command line makes of options.
Result<session::LaunchRequest> request_of(const std::vector<std::string>& options) {
  CLI::App app("", "lanescope profile");
  cli::LaunchOptions launch;
  cli::describe_launch(app, launch);
  std::vector<std::string> arguments = options;
  arguments.insert(arguments.end(), {"--", "app"});
  auto split = cli::split_program(app, arguments);
  if (!split) return split.error();
  if (const auto read = cli::read_options(app, split->options); !read) return read.error();
  return cli::launch_request(launch, split->program);
}

std::string text_of(const session::LaunchRequest& request) {
  const session::CaptureSettings& s = request.settings;
  std::ostringstream text;
  const auto seconds = [](const std::optional<std::chrono::nanoseconds>& time) { return time ? std::to_string(time->count()) : "none"; };
  text << "cuda " << s.trace_cuda << " nvtx " << s.trace_nvtx << " osrt " << s.trace_os_runtime << " files " << s.trace_file_access << " gil "
       << s.trace_python_lock << " machine " << s.machine_metrics.networks << s.machine_metrics.storage << " marked";
  for (const session::MarkedLibrary library : s.marked) text << " " << static_cast<int>(library);
  text << "\npreset " << static_cast<int>(s.preset) << " graph " << static_cast<int>(s.graph_level) << " flush " << s.flush_interval.count() << " all "
       << s.trace_all_calls << " memory " << s.memory_usage << " faults " << s.cpu_page_faults << s.gpu_page_faults << " events " << s.cuda_events
       << "\nchains " << s.backtraces.kernels << s.backtraces.memory << s.backtraces.synchronizations << s.backtraces.others;
  if (s.backtraces.kernels || s.backtraces.synchronizations) text << " from " << s.backtraces.threshold.count();
  text << "\nosrt from " << s.os_runtime_threshold.count() << " chains " << seconds(s.os_runtime_backtraces) << "\ndomains " << static_cast<int>(s.domain_rule);
  for (const std::string& domain : s.domains) text << " [" << domain << "]";
  text << "\nthreads " << static_cast<int>(s.cpu.thread_states) << static_cast<int>(s.cpu.samples) << static_cast<int>(s.cpu.call_chains) << " "
       << s.cpu.frequency << " " << s.cpu.python_names << " " << s.cpu.debug_folders << "\nkernel " << s.cpu.system_calls;
  for (const std::string& event : s.cpu.tracepoints) text << " [" << event << "]";
  for (const std::string& event : s.cpu.counted_events) text << " (" << event << ")";
  text << "\ngpu metrics " << s.gpu_metrics.devices << " " << s.gpu_metrics.set << " " << s.gpu_metrics.frequency << "\nrange "
       << static_cast<int>(s.range.trigger);
  if (s.range.trigger != session::CaptureTrigger::kNone) text << " after " << static_cast<int>(s.range.after) << " " << s.range.repeats.value_or(0);
  if (s.range.trigger == session::CaptureTrigger::kNvtxRange) text << " " << s.range.name << " @" << s.range.domain.value_or("*");
  text << "\ndelay " << request.delay.count() << " duration " << seconds(request.duration) << " keep " << seconds(request.keep_last) << " size "
       << request.maximum_file_size.value_or(0) << " signal " << request.end_signal.value_or(0) << " wait " << static_cast<int>(request.wait_for) << " pytorch "
       << static_cast<int>(request.pytorch) << " inherit " << static_cast<int>(request.inherit_environment) << "\nenvironment";
  for (const session::EnvironmentChange& change : request.environment) text << " " << change.name << "=" << change.value.value_or("none");
  return text.str();
}

}  // namespace

// A program that runs until it is ended.
class Running {
 public:
  explicit Running(const std::filesystem::path& program) {
    process_.setStandardOutputFile(QProcess::nullDevice());
    process_.start(QString::fromStdString(program.string()), {});
    process_.waitForStarted();
  }
  ~Running() {
    process_.kill();
    process_.waitForFinished();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  [[nodiscard]] pid_t pid() const { return static_cast<pid_t>(process_.processId()); }
  [[nodiscard]] bool lives() const { return process_.state() == QProcess::Running; }

 private:
  QProcess process_;
};

class ElsewhereTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    std::filesystem::create_directory(folder_.path() / "runtime");
    qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((folder_.path() / "cache").string()));
    qputenv("XDG_RUNTIME_DIR", QByteArray::fromStdString((folder_.path() / "runtime").string()));
  }

  void asksElsewhereForWhatItWouldDoHere_data() {
    QTest::addColumn<std::function<void(ui::LaunchSettings&)>>("change");
    const auto add = [](const char* name, std::function<void(ui::LaunchSettings&)> change) { QTest::newRow(name) << std::move(change); };
    add("nothing", [](ui::LaunchSettings&) {});
    add("no cuda, no nvtx", [](ui::LaunchSettings& s) { s.capture.trace_cuda = s.capture.trace_nvtx = false; });
    add("calls", [](ui::LaunchSettings& s) {
      s.capture.trace_os_runtime = s.capture.file_access = s.capture.trace_mpi = s.capture.python_lock = true;
      s.capture.libraries = QStringList{"cublas", "nccl", "openmp", "openacc", "opengl", "ucx"};
      s.capture.os_runtime_threshold = 77;
      s.capture.os_runtime_chains_from = 0;
    });
    add("domains", [](ui::LaunchSettings& s) {
      s.capture.domain_rule = session::DomainRule::kOnlyListed;
      s.capture.domains = QStringList{"default", "NCCL"};
    });
    add("other domains", [](ui::LaunchSettings& s) {
      s.capture.domain_rule = session::DomainRule::kAllButListed;
      s.capture.domains = QStringList{"NCCL"};
    });
    add("light", [](ui::LaunchSettings& s) { s.capture.preset = session::Preset::kLight; });
    add("deep", [](ui::LaunchSettings& s) { s.capture.preset = session::Preset::kDeep; });
    add("cuda", [](ui::LaunchSettings& s) {
      s.capture.graph_level = session::GraphLevel::kGraph;
      s.capture.memory_usage = s.capture.page_faults = s.capture.cuda_events = s.capture.all_calls = true;
      s.capture.flush_interval = 0;
    });
    for (const ui::ChainsOf chains : {ui::ChainsOf::kWaits, ui::ChainsOf::kWork, ui::ChainsOf::kAll})
      add("chains", [chains](ui::LaunchSettings& s) {
        s.capture.call_chains_of = chains;
        s.capture.call_chains_from = 12'345;
      });
    for (const cpu::CallChains chains : {cpu::CallChains::kNone, cpu::CallChains::kDwarf, cpu::CallChains::kBranchRecords})
      add("samples", [chains](ui::LaunchSettings& s) {
        s.capture.call_chains = chains;
        s.capture.sampling_frequency = 250;
        s.capture.python_functions = s.capture.whole_machine = true;
        s.capture.debug_folders = "/a:/b c";
      });
    add("no threads", [](ui::LaunchSettings& s) { s.capture.thread_states = s.capture.samples = false; });
    add("gpu metrics", [](ui::LaunchSettings& s) {
      s.capture.gpu_metrics = true;
      s.capture.gpu_metrics_devices = "0,1";
      s.capture.gpu_metrics_set = "light";
      s.capture.gpu_metrics_frequency = 100;
    });
    add("kernel", [](ui::LaunchSettings& s) {
      s.capture.system_calls = true;
      s.capture.kernel_events = QStringList{"sched/sched_switch", "irq/softirq_raise"};
      s.capture.counted_events = QStringList{"cycles", "page-faults"};
    });
    add("machine", [](ui::LaunchSettings& s) { s.capture.network_metrics = s.capture.storage_metrics = true; });
    add("times", [](ui::LaunchSettings& s) {
      s.capture.delay = 0.25;
      s.capture.duration = 1e-3;
      s.capture.keep_last = 12;
      s.capture.file_size = 1.5;
      s.capture.wait_for_children = false;
      s.capture.program_at_end = ui::ProgramAtEnd::kRunsOn;
    });
    for (const session::AfterCapture after :
         {session::AfterCapture::kGoOn, session::AfterCapture::kStop, session::AfterCapture::kShutdown, session::AfterCapture::kRepeat})
      for (const char* domain : {"", "*", "DOMAIN"})
        add("range", [after, domain](ui::LaunchSettings& s) {
          s.capture.trigger = session::CaptureTrigger::kNvtxRange;
          s.capture.range = "step 100";
          s.capture.range_domain = domain;
          s.capture.after_range = after;
          s.capture.repeats = after == session::AfterCapture::kRepeat ? 3 : 0;
          s.capture.program_at_end = ui::ProgramAtEnd::kRunsOn;
        });
    add("profiler api", [](ui::LaunchSettings& s) { s.capture.trigger = session::CaptureTrigger::kProfilerApi; });
    add("pytorch", [](ui::LaunchSettings& s) { s.capture.pytorch = session::PytorchRanges::kOperationsAndShapes; });
    add("environment", [](ui::LaunchSettings& s) {
      s.environment = QStringList{"A=b,c d", "B="};
      s.inherit_environment = false;
    });
  }
  void asksElsewhereForWhatItWouldDoHere() {
    QFETCH(std::function<void(ui::LaunchSettings&)>, change);
    ui::LaunchSettings settings;
    settings.program = "app";
    change(settings);
    const auto here = ui::launch_request(settings);
    QVERIFY(here);
    const auto options = ui::profile_options(settings);
    QVERIFY(options);
    const auto there = request_of(*options);
    QVERIFY2(there, there ? "" : there.error().text.c_str());
    QCOMPARE(QString::fromStdString(text_of(*there)), QString::fromStdString(text_of(*here)));
  }

  void splitsArgumentsAsAShellDoes() {
    ui::LaunchSettings settings;
    settings.program = "app";
    settings.arguments = "'a b' \"c d\"e \\\"f";
    const auto request = ui::launch_request(settings);
    QVERIFY(request);
    QCOMPARE(request->command, (std::vector<std::string>{"app", "a b", "c de", "\"f"}));
    settings.arguments = "'open";
    QVERIFY(!ui::launch_request(settings));
  }

  void showsWhatCanBeRecordedThereBeforeItBegins() {
    ui::Settings settings;
    ui::RemoteDialog dialog(settings);
    dialog.set(elsewhere("x.trace"));
    dialog.examine();
    QVERIFY(wait_for([&] { return !dialog.isExamining(); }));
    const QString answer = answer_of(dialog);
    QVERIFY2(answer.startsWith("lanescope "), qPrintable(answer));
    QVERIFY2(answer.contains("GPUs: ") || answer.contains("NVIDIA driver: "), qPrintable(answer));
    ui::RemoteSettings nobody = elsewhere("x.trace");
    nobody.lanescope = "/nowhere/lanescope";
    dialog.set(nobody);
    QVERIFY2(answer_of(dialog).startsWith("\"Examine it\""), qPrintable(answer_of(dialog)));  // it was the answer of another machine
    dialog.examine();
    QVERIFY(wait_for([&] { return !dialog.isExamining(); }));
    QVERIFY2(answer_of(dialog).contains("has no lanescope"), qPrintable(answer_of(dialog)));
  }

  void copiesThisLanescopeToAMachineWithoutOne() {
    ui::Settings settings;
    ui::RemoteDialog dialog(settings);
    ui::RemoteSettings bare = elsewhere("copied.trace");
    bare.target = "command:env XDG_CACHE_HOME=" + QString::fromStdString((folder_.path() / "far").string());
    bare.lanescope = "/nowhere/lanescope";
    dialog.set(bare);
    dialog.examine();
    QVERIFY(wait_for([&] { return !dialog.isExamining(); }));
    QVERIFY2(answer_of(dialog).contains("has no lanescope") && answer_of(dialog).contains("Copy it there"), qPrintable(answer_of(dialog)));
    const std::filesystem::path copies = folder_.path() / "far" / "lanescope" / "recorders";
    QVERIFY(!std::filesystem::exists(copies));  // nothing is copied unasked
    for (QPushButton* button : dialog.findChildren<QPushButton*>())
      if (without_mnemonic(button->text()) == u"Copy it there") button->click();
    QVERIFY(dialog.isExamining());
    QVERIFY2(wait_for([&] { return answer_of(dialog).startsWith("lanescope ") && !dialog.isExamining(); }), qPrintable(answer_of(dialog)));
    QVERIFY2(dialog.settings().lanescope.startsWith(QString::fromStdString(copies.string())), qPrintable(dialog.settings().lanescope));
    // The copy is found again, by whoever asks for the machine.
    ui::RemoteDialog again(settings);
    again.set(bare);
    again.examine();
    QVERIFY2(wait_for([&] { return answer_of(again).startsWith("lanescope ") && !again.isExamining(); }), qPrintable(answer_of(again)));
    QCOMPARE(again.settings().lanescope, dialog.settings().lanescope);
    MainWindow window(ui::Layout::kInitial);
    bare.launch.program = "true";
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launchElsewhere(bare);
    QVERIFY2(opened.wait(kPatienceMs), qPrintable(window.messages().text()));
    QCOMPARE(std::distance(std::filesystem::directory_iterator(copies), {}), 1);
  }

  void anAnswerIsShownWhateverItIs() {
    QVERIFY(ui::examination_text("no json").contains("can't be understood"));
    QVERIFY(ui::examination_text("{\"parts\": 7}").contains("can't be understood"));
    const QString text = ui::examination_text(
        "{\"lanescope\": \"1\", \"system\": \"S\", \"parts\": ["
        "{\"part\": \"threads\", \"verdict\": \"note\", \"subject\": \"Threads\", \"text\": \"none\\u001b[2J\", \"remedies\": [\"sudo x\"]},"
        "{\"part\": \"space\", \"verdict\": \"ok\", \"subject\": \"Space\", \"text\": \"much\", \"remedies\": []},"
        "{\"part\": \"gpus\", \"verdict\": \"ok\", \"subject\": \"GPUs\", \"text\": \"2 × H200\", \"remedies\": []}, 7, null]}");
    QStringList lines = text.split('\n');
    QVERIFY2(lines.value(1).contains("Copy it there"), qPrintable(text));  // it is another version
    lines.removeAt(1);
    QCOMPARE(lines.join('\n'), QStringLiteral("lanescope 1 on S\nGPUs: 2 × H200\nThreads: none\\u001b[2J\n    sudo x"));
  }

  // By the lanescope here, which is the other machine's: its JSON is English, whatever the language.
  void saysInOurLanguageWhatIsMissingThere() {
    QProcess doctor;
    doctor.start(QString::fromStdString(program("lanescope").string()), {"doctor", "--json"});
    QVERIFY(doctor.waitForFinished(kPatienceMs));
    const QByteArray json = doctor.readAllStandardOutput();
    const QString in_english = ui::examination_text(json);
    show_in(chinese());
    const QString text = ui::examination_text(json);
    const QString hostile = ui::examination_text(
        "{\"lanescope\": \"1\", \"system\": \"S\", \"parts\": [{\"part\": \"gpus\", \"subject\": \"GPUs\", \"text\": \"two\", \"remedies\": [],"
        "\"said\": {\"subject\": {\"text\": \"GPUs\"}, \"text\": {\"text\": \"{a}{a}\", \"values\": {\"a\": \"x\"}}, \"remedies\": 7}}]}");
    // What the sampler of GPU metrics and the probe of performance events say comes as English text, and as a value in one of ours.
    const QString reasons = ui::examination_text(
        "{\"lanescope\": \"1\", \"system\": \"S\", \"parts\": [{\"part\": \"gpu_metrics\", \"subject\": \"GPU metrics\", \"verdict\": \"note\", \"text\": "
        "\"x\","
        "\"said\": {\"subject\": {\"text\": \"GPU metrics\"}, \"text\": \"GPU metrics can't be sampled here: no NVIDIA driver is installed "
        "(libcuda.so.1).\"}}, {\"part\": \"threads\", \"subject\": \"CPU threads\", \"verdict\": \"note\", \"text\": \"x\", \"said\": {\"subject\": {\"text\": "
        "\"CPU "
        "threads\"}, \"text\": {\"text\": \"neither states nor samples: {reason}\", \"values\": {\"reason\": \"performance events are forbidden here, as they "
        "are in "
        "containers\"}}}}]}");
    show_in(english());
    QVERIFY2(reasons.contains(QStringLiteral("GPU 指标: 无法在此采样 GPU 指标：没有安装 NVIDIA 驱动（libcuda.so.1）。")), qPrintable(reasons));
    QVERIFY2(reasons.contains(QStringLiteral("CPU 线程: 既没有状态也没有采样：这里不允许使用性能事件，容器中通常如此")), qPrintable(reasons));
    const std::pair<const char*, QString> said[] = {
        {"NVIDIA driver: libcuda.so.1 was not found, so programs can't use a GPU; NVTX is recorded all the same",
         QStringLiteral("NVIDIA 驱动: 未找到 libcuda.so.1，因此程序不能使用 GPU；NVTX 照样可以录制")},
        {"GPU counters: no NVIDIA kernel module is loaded; tracing needs no counters", QStringLiteral("GPU 计数器: 未加载 NVIDIA 内核模块；跟踪不需要计数器")},
        {"CPU threads: states and samples of all processes by the kernel's timer, with the kernel's code",
         QStringLiteral("CPU 线程: 所有进程的状态和采样，通过内核的定时器，包括内核的代码")},
    };
    for (const auto& [sentence, translated] : said)
      if (in_english.contains(sentence)) QVERIFY2(text.contains(translated), qPrintable(text));
    QVERIFY2(text != in_english, qPrintable(text));
    QVERIFY2(hostile.endsWith("GPU: two"), qPrintable(hostile));  // a text that grows is none of ours
  }

  void asksAndRemembersMachineByMachine() {
    ui::Settings settings;
    QString begun;
    {
      ui::RemoteDialog dialog(settings);
      dialog.setStart([&begun](const ui::RemoteSettings& asked) {
        begun = asked.launch.program;
        return QString();
      });
      ui::RemoteSettings wrong = elsewhere("x.trace");
      wrong.target = "gpu7";
      dialog.set(wrong);
      dialog.accept();
      QVERIFY(begun.isEmpty());
      dialog.set(elsewhere("x.trace"));
      dialog.accept();
      QCOMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));
    }
    QCOMPARE(begun, elsewhere("x.trace").launch.program);
    ui::RemoteSettings other = elsewhere("y.trace");
    other.target = "ssh:gpu7";
    settings.rememberRemote(other);
    QCOMPARE(settings.remoteTargets(), (QStringList{"ssh:gpu7", elsewhere("x.trace").target}));
    ui::RemoteDialog again(settings);
    QCOMPARE(again.settings().target, QStringLiteral("ssh:gpu7"));
    QCOMPARE(again.settings().launch.output, other.launch.output);
    QCOMPARE(settings.remoteSettings(elsewhere("x.trace").target).lanescope, elsewhere("x.trace").lanescope);
  }

  void drawsAProgramThereWhileItRunsAndThenTheCopy() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launchElsewhere(elsewhere("live.trace"));
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    const auto ticks = [&] { return window.state().trace() ? window.state().trace()->event_count() : 0; };
    QVERIFY2(wait_for([&] { return ticks() > 100; }), qPrintable(window.messages().text()));
    QVERIFY(window.isRecording());  // it is drawn while the program runs on, which does not end by itself
    QVERIFY2(wait_for([&] { return activity(window).contains("Recording on command:env"); }), qPrintable(activity(window)));
    window.actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(!window.isRecording());
    QCOMPARE(opened.first().first().toString(), QString::fromStdString((folder_.path() / "live.trace").string()));
    QVERIFY(wait_for([&] { return window.isSettled(); }));
    const auto trace = window.state().trace();
    const auto found = gather_events(*trace, EventScope::whole_trace(*trace).lanes(), {.text = "tick", .kind = EventKind::kNvtxRange});
    QVERIFY(found.size() > 100);
    QVERIFY2(window.messages().text().contains("the program was ended"), qPrintable(window.messages().text()));
    QVERIFY(std::filesystem::is_empty(folder_.path() / "cache" / "lanescope" / "recordings"));  // the file there was removed
  }

  // A stopped program produces no events: the axis advances with its clock.
  void theAxisGoesOnWhileNothingComes() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    window.launchElsewhere(elsewhere("still.trace"));
    QVERIFY2(wait_for([&] { return window.state().trace() && window.state().trace()->event_count() > 100; }), qPrintable(window.messages().text()));
    const auto pid = static_cast<pid_t>(window.state().trace()->processes().back().pid);
    QVERIFY(kill(pid, SIGSTOP) == 0);
    const auto go_on = qScopeGuard([pid] { kill(pid, SIGCONT); });
    constexpr Nanoseconds kMuch = 3'000'000'000;  // events are drawn within less time, also on a busy machine
    QVERIFY(wait_for([&] { return window.timelineView().visibleRange().end - window.state().trace()->extent().end > kMuch; }));
    QVERIFY(window.isRecording());
    kill(pid, SIGCONT);
    QSignalSpy opened(&window, &MainWindow::opened);
    window.actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(settle(window));
    QVERIFY(window.timelineView().visibleRange().end - window.state().trace()->extent().end < kMuch / 10);  // only some room
  }

  // The fields above and below it do not move, however long it is.
  void theAnswerOfTheOtherMachinePushesNoFieldAway() {
    ui::Settings settings;
    ui::RemoteDialog dialog(settings);
    dialog.set(elsewhere("x.trace"));
    dialog.show();
    QLabel* answer = nullptr;
    for (QLabel* each : dialog.findChildren<QLabel*>())
      if (each->accessibleName() == u"What can be recorded there") answer = each;
    QVERIFY(answer != nullptr);
    const auto places = [&] {
      QCoreApplication::processEvents();
      QList<QRect> found;
      for (QWidget* each : dialog.findChildren<QWidget*>())
        if (each->isVisible() && !answer->isAncestorOf(each) && each->findChildren<QLabel*>().indexOf(answer) < 0 && each != answer)
          found += QRect(each->mapTo(&dialog, QPoint()), each->size());
      return found;
    };
    const QList<QRect> before = places();
    answer->setText(QString("A line of what can be recorded there.\n").repeated(60));
    QVERIFY(before.size() > 10);
    // Its own scroll bar appears; nothing else does.
    QList<QRect> after = places();
    after.removeIf([&](const QRect& place) { return !before.contains(place); });
    QVERIFY(std::all_of(before.begin(), before.end(), [&](const QRect& place) { return after.contains(place); }));
  }

  void aProgramThatEndsThereIsSeenToEnd() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::RemoteSettings settings = elsewhere("ended.trace");
    settings.launch.program = "sh";
    settings.launch.arguments = "-c 'exit 9'";
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launchElsewhere(settings);
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY2(window.messages().text().contains("code 9"), qPrintable(window.messages().text()));
  }

  void attachesToAProcessThereAndLeavesItRunning() {
    if (!machine_lets_attach()) QSKIP(kNotHere);
    Running target(program("lanescope_program_nvtx_ticking"));
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::RemoteSettings settings = elsewhere("attached.trace");
    settings.what = ui::Target::kRunning;
    settings.process = QString::number(target.pid()) + " root yes " + QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launchElsewhere(settings);
    const auto events = [&] { return window.state().trace() ? window.state().trace()->event_count() : 0; };
    QVERIFY2(wait_for([&] { return events() > 100 || !window.isRecording(); }), qPrintable(window.messages().text()));
    QVERIFY2(window.isRecording(), qPrintable(window.messages().text()));
    window.actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(opened.first().first().toString(), QString::fromStdString((folder_.path() / "attached.trace").string()));
    QVERIFY(target.lives());
    QVERIFY2(window.messages().text().contains(QStringLiteral("runs on as process %1").arg(target.pid())), qPrintable(window.messages().text()));
  }

  void asksElsewhereForAttachingInTheWordsOfItsCommand() {
    CLI::App app("", "lanescope attach");
    cli::CaptureOptions capture;
    cli::RangeOptions range;
    cli::RecordingOptions recording;
    cli::describe_capture(app, capture, cli::Targets::kRunning);
    cli::describe_range(app, range, cli::Targets::kRunning);
    cli::describe_recording(app, recording, cli::Targets::kRunning);
    ui::CaptureChoices choices;
    choices.trace_mpi = choices.system_calls = choices.python_lock = true;
    choices.pytorch = session::PytorchRanges::kOperations;
    choices.libraries = QStringList{"cublas", "openmp"};
    choices.python_ranges_of = "/there.json";
    choices.duration = 2;
    const auto read = cli::read_options(app, ui::attach_options(choices));
    QVERIFY2(read, read ? "" : read.error().text.c_str());
    QCOMPARE(capture.trace, (std::vector<std::string>{"cuda", "nvtx", "python-gil", "syscall"}));
    QCOMPARE(recording.duration, 2.0);
    choices.from_outside = true;
    choices.system_calls = false;
    CLI::App second("", "lanescope attach");
    cli::describe_capture(second, capture, cli::Targets::kRunning);
    cli::describe_range(second, range, cli::Targets::kRunning);
    cli::describe_recording(second, recording, cli::Targets::kRunning);
    QVERIFY(cli::read_options(second, ui::attach_options(choices)));
    QCOMPARE(capture.trace, std::vector<std::string>{"none"});
  }

  void listsWhatRunsThere() {
    ui::Settings settings;
    ui::RemoteDialog dialog(settings);
    ui::RemoteSettings there = elsewhere("x.trace");
    there.what = ui::Target::kRunning;
    dialog.set(there);
    dialog.accept();  // no process is chosen
    QVERIFY(!dialog.result());
    dialog.listProcesses();
    QVERIFY(wait_for([&] { return !dialog.isListing(); }));
    QComboBox* processes = nullptr;
    for (QComboBox* each : dialog.findChildren<QComboBox*>())
      if (each->accessibleName() == u"Process there") processes = each;
    QVERIFY(processes != nullptr);
    const int own = processes->findText(QString::number(QCoreApplication::applicationPid()) + ' ', Qt::MatchStartsWith);
    QVERIFY(own >= 0);  // this program is one of them
    processes->setCurrentIndex(own);
    QCOMPARE(ui::process_of(dialog.settings()), static_cast<pid_t>(QCoreApplication::applicationPid()));
  }

  void whatSeveralMachinesDoBecomesOneTrace() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::RemoteSettings settings = elsewhere("both.trace");
    settings.further = "'command:env SECOND=1'";
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launchElsewhere(settings);
    const auto events = [&] { return window.state().trace() ? window.state().trace()->event_count() : 0; };
    QVERIFY2(wait_for([&] { return events() > 100; }), qPrintable(window.messages().text()));
    QVERIFY2(wait_for([&] { return activity(window).contains("Recording on 2 machines"); }), qPrintable(activity(window)));
    const std::filesystem::path second = folder_.path() / "both-env_SECOND_1.trace";
    QVERIFY(wait_for([&] { return std::filesystem::exists(second); }));
    window.actions().stop->trigger();
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(wait_for([&] { return window.isSettled(); }));
    QCOMPARE(opened.first().first().toString(), QString::fromStdString((folder_.path() / "both-env.trace").string()));
    QVERIFY2(wait_for([&] { return window.state().trace() && window.state().trace()->parts().size() == 2; }), qPrintable(window.messages().text()));
    // If one of them has no lanescope, there is only the recording of the other.
    settings.further = "command:false";
    settings.launch.output = QString::fromStdString((folder_.path() / "one.trace").string());
    settings.launch.program = "true";
    opened.clear();
    window.launchElsewhere(settings);
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(opened.first().first().toString(), QString::fromStdString((folder_.path() / "one-env.trace").string()));
    QVERIFY2(window.messages().text().contains("No lanescope has answered on command:false"), qPrintable(window.messages().text()));
  }

  void saysWhyThereIsNoWay() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::RemoteSettings settings = elsewhere("never.trace");
    settings.target = "command:false";
    QSignalSpy ended(&window, &MainWindow::recordingEnded);
    window.launchElsewhere(settings);
    QVERIFY(ended.wait(kPatienceMs));
    QVERIFY2(window.messages().text().contains("No lanescope has answered on command:false"), qPrintable(window.messages().text()));
    QVERIFY(!std::filesystem::exists(folder_.path() / "never.trace"));
    settings = elsewhere("never.trace");
    settings.lanescope = "/nowhere/lanescope";
    MainWindow without(ui::Layout::kInitial);
    QSignalSpy failed(&without, &MainWindow::recordingEnded);
    without.launchElsewhere(settings);
    QVERIFY(failed.wait(kPatienceMs));
    QVERIFY2(without.messages().text().contains("Copy it there"), qPrintable(without.messages().text()));
    settings.target = "nowhere";
    MainWindow other(ui::Layout::kInitial);
    other.launchElsewhere(settings);
    QVERIFY(!other.isRecording());
    QVERIFY2(other.messages().text().contains("names no machine"), qPrintable(other.messages().text()));
  }

  void saysHowFarItIsBehind() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::RemoteSettings settings = elsewhere("behind.trace");
    settings.target = "command:" + QString::fromStdString(program("lanescope_test_far_side").string()) + " behind";
    QSignalSpy ended(&window, &MainWindow::recordingEnded);
    window.launchElsewhere(settings);
    QVERIFY2(wait_for([&] { return activity(window).contains(" s behind"); }), qPrintable(activity(window)));
    window.actions().stop->trigger();
    window.actions().stop->trigger();  // the second request ends it at once
    QVERIFY(ended.wait(kPatienceMs));
    QVERIFY2(window.messages().text().contains("lanescope fetch --on"), qPrintable(window.messages().text()));
  }

  // 600,000 ranges in 3 s, over a link that takes longer for them.
  void drawsAnOutlineBeforeTheRestComes() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    const std::filesystem::path link = folder_.path() / "link";
    std::ofstream(link) << "rate 10000\n";
    ui::RemoteSettings settings = elsewhere("outlined.trace");
    settings.target = "command:" + QString::fromStdString(program("lanescope_test_cut_link").string() + ' ' + link.string());
    settings.launch.program = QString::fromStdString(program("lanescope_program_nvtx_stream").string());
    settings.launch.arguments = "3 100000";
    QSignalSpy opened(&window, &MainWindow::opened);
    window.launchElsewhere(settings);
    const auto is_outline = [&] { return window.state().trace() && window.state().trace()->provenance().outline_only; };
    QVERIFY2(wait_for(is_outline), qPrintable(activity(window)));
    QVERIFY(wait_for([&] { return activity(window).contains("outline only"); }));
    QVERIFY2(activity(window).contains(" s behind"), qPrintable(activity(window)));
    const std::filesystem::path copy = folder_.path() / "outlined.trace";
    const auto drawn_until = window.state().trace()->extent().end;
    const auto here = load_trace(copy);
    QVERIFY(here);
    QVERIFY2((*here)->extent().end < drawn_until / 2, qPrintable(QString("%1 of %2").arg((*here)->extent().end).arg(drawn_until)));
    std::filesystem::remove(link);
    QVERIFY2(opened.wait(kPatienceMs), qPrintable(window.messages().text()));
    QVERIFY(wait_for([&] { return window.isSettled(); }));
    QVERIFY(!is_outline());
    QCOMPARE(window.state().trace()->event_count(), EventIndex{600'000});
  }

 private:
  [[nodiscard]] ui::RemoteSettings elsewhere(const char* output) const {
    ui::RemoteSettings settings;
    settings.target = "command:env";
    settings.lanescope = QString::fromStdString(program("lanescope").string());
    settings.launch.program = QString::fromStdString(program("lanescope_program_nvtx_ticking").string());
    settings.launch.output = QString::fromStdString((folder_.path() / output).string());
    settings.launch.capture.trace_cuda = false;
    settings.launch.capture.thread_states = settings.launch.capture.samples = false;
    return settings;
  }
  static QString activity(const MainWindow& window) {
    QString text;
    for (const QLabel* label : window.findChild<ui::TraceStatus*>()->findChildren<QLabel*>()) text += label->text() + u'\n';
    return text;
  }
  static QString answer_of(const ui::RemoteDialog& dialog) {
    for (const QLabel* label : dialog.findChildren<QLabel*>())
      if (label->accessibleName() == u"What can be recorded there") return label->text();
    return {};
  }

  TemporaryFolder folder_;
};

QTEST_MAIN(ElsewhereTest)
#include "test_gui_elsewhere.moc"
