// The choices in the dialogs for recording reach the request for the recording, and appear in the next dialog.
#include <csignal>

#include <QAbstractButton>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScreen>
#include <QScrollArea>
#include <QSpinBox>
#include <QTabWidget>
#include <QtTest>

#include "base/state/settings.h"
#include "fixture/main_window_fixture.h"
#include "record/attach_dialog.h"
#include "record/launch_dialog.h"
#include "record/launch_settings.h"
#include "record/remote_dialog.h"
#include "record/remote_settings.h"

using namespace lanescope;

namespace {

// The field with this accessible name.
template <typename Field>
Field* field(QWidget& dialog, const QString& name) {
  for (Field* each : dialog.findChildren<Field*>())
    if (each->accessibleName() == name || (qobject_cast<QAbstractButton*>(each) && each->property("text").toString() == name)) return each;
  return nullptr;
}

// Shows the page that contains the field.
template <typename Field>
Field* shown(QWidget& dialog, const QString& name) {
  Field* const found = field<Field>(dialog, name);
  auto* pages = dialog.findChild<QTabWidget*>();
  for (int page = 0; found && page < pages->count(); ++page)
    if (pages->widget(page)->isAncestorOf(found)) pages->setCurrentIndex(page);
  return found;
}

void press(QWidget& dialog, const QString& name) {
  auto* button = shown<QAbstractButton>(dialog, name);
  QVERIFY(button != nullptr && button->isVisible());
  QTest::mouseClick(button, Qt::LeftButton, {}, QPoint(8, button->height() / 2));
}

}  // namespace

class TestGuiRecordForm : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { test::use_empty_settings(); }

  void recordsThreadsAndNoGpuMetricsUnlessAskedOtherwise() {
    const session::CaptureSettings usual = ui::capture_settings({});
    QCOMPARE(usual.cpu.thread_states, cpu::Scope::kProcessTree);
    QCOMPARE(usual.cpu.samples, cpu::Scope::kProcessTree);
    QCOMPARE(usual.cpu.frequency, 1000u);
    QVERIFY(!usual.gpu_metrics.asked_for());
    QVERIFY(usual.marked.empty());
  }

  // On the screen of a laptop, the start button stays visible, and the part that does not fit is scrolled.
  void fitsASmallScreen() {
    ui::Settings settings;
    ui::LaunchDialog launch(settings);
    ui::RemoteDialog elsewhere(settings);
    ui::AttachDialog attach(settings);
    for (QDialog* dialog : {static_cast<QDialog*>(&launch), static_cast<QDialog*>(&elsewhere), static_cast<QDialog*>(&attach)}) {
      QVERIFY2(dialog->height() <= dialog->screen()->availableSize().height() - 48, qPrintable(QString::number(dialog->height())));
      dialog->show();
      QVERIFY(QTest::qWaitForWindowExposed(dialog, test::kPatienceMs));
      dialog->resize(dialog->width(), 420);
      QVERIFY2(test::wait_for([&] { return dialog->height() == 420; }), qPrintable(QString::number(dialog->height())));
      const auto in_sight = [&](const QWidget* widget) {
        return widget->visibleRegion().boundingRect().height() >= widget->height() / 2 && widget->mapTo(dialog, widget->rect().bottomLeft()).y() < 420;
      };
      auto* buttons = dialog->findChild<QDialogButtonBox*>();
      QVERIFY(in_sight(buttons));
      auto* pages = dialog->findChild<QTabWidget*>();
      QWidget* last = pages->currentWidget()->findChildren<QSpinBox*>().last();
      QVERIFY(!in_sight(last));
      last->setFocus(Qt::TabFocusReason);
      for (QScrollArea* area : dialog->findChildren<QScrollArea*>())
        if (area->isAncestorOf(last)) area->ensureWidgetVisible(last);
      QVERIFY(in_sight(last));
    }
  }

  // On the screen of a laptop; who does not see where the file goes records into the folder in which the viewer was started.
  void attachingShowsWhereTheFileGoes() {
    ui::Settings settings;
    ui::AttachDialog attach(settings);
    attach.resize(attach.width(), 700);
    attach.show();
    QVERIFY(QTest::qWaitForWindowExposed(&attach, test::kPatienceMs));
    const auto* output = attach.findChild<ui::OutputField*>();
    QVERIFY(test::wait_for([&] { return output->visibleRegion().boundingRect().height() == output->height(); }, 5'000));
  }

  // By an Esc too many, for example, which was meant for a list of completions.
  void whatWasTypedIsThereAgainAfterEsc() {
    ui::Settings settings;
    {
      ui::LaunchDialog launch(settings);
      launch.show();
      QVERIFY(QTest::qWaitForWindowExposed(&launch, test::kPatienceMs));
      ui::LaunchSettings typed = launch.launch();
      typed.program = "/bin/true";
      typed.arguments = "--epochs 3";
      typed.environment = {"A=B"};
      launch.setLaunch(typed);
      QTest::keyClick(&launch, Qt::Key_Escape);
      QVERIFY(!launch.isVisible());
    }
    {
      ui::LaunchDialog again(settings);
      QCOMPARE(again.launch().program, QString("/bin/true"));
      QCOMPARE(again.launch().arguments, QString("--epochs 3"));
      QCOMPARE(again.launch().environment, QStringList("A=B"));
      again.accept();
      QCOMPARE(again.result(), int(QDialog::Accepted));
    }
    // What was started is remembered as before, and nothing is left of what was typed.
    ui::LaunchDialog other(settings);
    QCOMPARE(other.launch().program, QString("/bin/true"));
  }

  // The list matters most: in a high dialog it has more than a few lines.
  void theListOfProcessesHasRoom() {
    ui::Settings settings;
    ui::AttachDialog attach(settings);
    attach.resize(attach.width(), 900);
    attach.show();
    QVERIFY(QTest::qWaitForWindowExposed(&attach, test::kPatienceMs));
    const auto* list = attach.findChild<ui::ResultTable*>();
    const auto lines = [&] { return list->viewport()->height() / list->verticalHeader()->defaultSectionSize(); };
    QVERIFY2(test::wait_for([&] { return lines() >= 14; }), qPrintable(QString::number(lines())));
  }

  // The problem is shown in reserved room, so that no field moves.
  void whatIsWrongMovesNoField() {
    ui::Settings settings;
    ui::LaunchDialog launch(settings);
    launch.setStart([](const ui::LaunchSettings&) {
      return QString("It can't be started, for a reason that takes as many words as one line of this dialog has no room for, and so goes on in the next.");
    });
    launch.show();
    QVERIFY(QTest::qWaitForWindowExposed(&launch, test::kPatienceMs));
    const test::TemporaryFolder folder;
    const QString taken = QString::fromStdString((folder.path() / "taken.trace").string());
    QVERIFY(QFile(taken).open(QIODevice::WriteOnly));
    const auto places = [&] {
      QList<QRect> found;
      QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
      for (const QWidget* field : launch.findChildren<QWidget*>())
        if (qobject_cast<const QLineEdit*>(field) || qobject_cast<const QAbstractButton*>(field) || qobject_cast<const QTabWidget*>(field))
          if (field->isVisible()) found << QRect(field->mapTo(&launch, QPoint()), field->size());
      return found;
    };
    auto* output = field<QLineEdit>(launch, QStringLiteral("Output file"));
    const auto accept = [&](const QString& program, const QString& file) {
      ui::LaunchSettings asked;
      asked.program = program;
      asked.output = file;
      launch.setLaunch(asked);
      launch.accept();
      return launch.isVisible();
    };
    ui::LaunchSettings asked;
    launch.setLaunch(asked);
    const QList<QRect> before = places();
    QVERIFY(output != nullptr && before.size() > 8);
    QVERIFY(accept("/nowhere/program", {}));
    QCOMPARE(places(), before);
    QVERIFY(accept("/bin/true", "/nowhere/else/run.trace"));
    QCOMPARE(places(), before);
    QVERIFY(accept("/bin/true", QString::fromStdString((folder.path() / "new.trace").string())));
    QCOMPARE(places(), before);
    QVERIFY(accept("/bin/true", taken));
    const QList<QRect> offered = places();  // including two buttons
    QCOMPARE(offered.size(), before.size() + 2);
    for (const QRect& place : before) QVERIFY(offered.contains(place));
  }

  // The field has another colour and the focus, and says the problem to assistive technology, until its text changes.
  void theFieldThatIsWrongIsMarked() {
    ui::Settings settings;
    const auto marked = [](const QDialog& dialog) {
      QStringList names;
      for (const QWidget* each : dialog.findChildren<QWidget*>())
        if (!each->accessibleDescription().isEmpty() && each->palette().color(QPalette::Base) != dialog.palette().color(QPalette::Base))
          names += QString::number(quintptr(each));
      return names;
    };
    const auto name_of = [](const QWidget* each) { return QStringList{QString::number(quintptr(each))}; };
    const auto beside = [](const QDialog& dialog, const QString& label) -> QWidget* {
      for (const QLabel* each : dialog.findChildren<QLabel*>())
        if (QString(each->text()).remove(u'&') == label) return each->buddy();
      return nullptr;
    };
    ui::LaunchDialog launch(settings);
    launch.show();
    QVERIFY(QTest::qWaitForWindowExposed(&launch, test::kPatienceMs));
    const auto accept = [&](ui::LaunchSettings asked) {
      launch.setLaunch(asked);
      if (!marked(launch).isEmpty()) return QStringList("still marked");
      launch.accept();
      return marked(launch);
    };
    ui::LaunchSettings good;
    good.program = "/bin/true";
    QVERIFY(beside(launch, "Program") != nullptr);
    ui::LaunchSettings asked = good;
    asked.program = "/no/such/program";
    QCOMPARE(accept(asked), name_of(beside(launch, "Program")));
    QVERIFY(beside(launch, "Program")->accessibleDescription().contains("/no/such/program"));
    asked = good;
    asked.arguments = "'open";
    QCOMPARE(accept(asked), name_of(beside(launch, "Arguments")));
    asked = good;
    asked.working_directory = "/nowhere";
    QCOMPARE(accept(asked), name_of(beside(launch, "Working directory")));
    asked = good;
    asked.environment = {"no equals sign"};
    QCOMPARE(accept(asked), name_of(beside(launch, "Environment")));
    asked = good;
    asked.output = "/nowhere/else/run.trace";
    QCOMPARE(accept(asked), name_of(beside(launch, "Output file")));
    asked = good;
    asked.capture.trigger = session::CaptureTrigger::kNvtxRange;
    const QStringList range = accept(asked);
    QCOMPARE(range.size(), 1);
    QVERIFY(QApplication::focusWidget() != nullptr && range == name_of(QApplication::focusWidget()) && QApplication::focusWidget()->isVisible());
    launch.setLaunch(good);
    QVERIFY(marked(launch).isEmpty());

    ui::RemoteDialog remote(settings);
    remote.show();
    ui::RemoteSettings there;
    there.target = "nonsense:";
    there.launch.program = "true";
    remote.set(there);
    remote.accept();
    QCOMPARE(marked(remote), name_of(beside(remote, "Machine")));
    there.target = "ssh:gpu7";
    there.launch.program.clear();
    remote.set(there);
    QVERIFY(marked(remote).isEmpty());
    remote.accept();
    QCOMPARE(marked(remote), name_of(beside(remote, "Program")));
  }

  // If the dialog is low, it scrolls to the problem with the name of the file.
  void whatIsWrongIsInSight() {
    ui::Settings settings;
    ui::LaunchDialog launch(settings);
    launch.show();
    QVERIFY(QTest::qWaitForWindowExposed(&launch, test::kPatienceMs));
    launch.resize(launch.width(), 260);
    QVERIFY(test::wait_for([&] { return launch.height() <= 300; }));
    ui::LaunchSettings asked;
    asked.program = "/bin/true";
    asked.output = "/nowhere/else/run.trace";
    launch.setLaunch(asked);
    launch.accept();
    const QList<QLabel*> labels = launch.findChildren<QLabel*>();
    const auto sentence = std::find_if(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().startsWith("There is no folder"); });
    QVERIFY(sentence != labels.end());
    QVERIFY(test::wait_for([&] { return (*sentence)->visibleRegion().boundingRect().height() >= (*sentence)->fontMetrics().height(); }));
  }

  // After a dialog opens, typing works at once; mnemonics of labels lead to the fields beside them.
  void whatIsTypedGoesToTheFirstFieldAndKeysOfLabelsToTheirs() {
    ui::Settings settings;
    ui::LaunchDialog launch(settings);
    ui::RemoteDialog elsewhere(settings);
    for (QDialog* dialog : {static_cast<QDialog*>(&launch), static_cast<QDialog*>(&elsewhere)}) {
      dialog->show();
      dialog->activateWindow();
      QVERIFY(QTest::qWaitForWindowActive(dialog, test::kPatienceMs));
      QComboBox* first = nullptr;  // the topmost editable one
      for (QComboBox* const each : dialog->findChildren<QComboBox*>())
        if (each->isEditable() && each->isVisible() && (first == nullptr || each->mapTo(dialog, QPoint()).y() < first->mapTo(dialog, QPoint()).y()))
          first = each;
      QVERIFY(first != nullptr);
      QVERIFY(dialog->focusWidget() != nullptr);
      QTest::keyClicks(dialog->focusWidget(), "abc");
      QCOMPARE(first->currentText(), QString("abc"));
    }
    launch.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&launch, test::kPatienceMs));
    for (const auto& [key, placeholder] : {std::pair{Qt::Key_W, QDir::currentPath()}, {Qt::Key_P, QString("A path, or a name that is looked up in PATH")}}) {
      QTest::keyClick(launch.focusWidget(), key, Qt::AltModifier);
      auto* combo = qobject_cast<QComboBox*>(launch.focusWidget());
      auto* reached = combo != nullptr ? combo->lineEdit() : qobject_cast<QLineEdit*>(launch.focusWidget());
      QVERIFY(reached != nullptr);
      QCOMPARE(reached->placeholderText(), placeholder);
    }
  }

  // The last recorded program is in the form: Enter starts it again.
  void enterStartsWhatStandsThere() {
    ui::Settings settings;
    ui::LaunchSettings before;
    before.program = "/bin/true";
    settings.rememberLaunch(before);
    ui::LaunchDialog launch(settings);
    int starts = 0;
    launch.setStart([&](const ui::LaunchSettings& asked) { return ++starts, asked.program == "/bin/true" ? QString() : QString("another"); });
    launch.show();
    QVERIFY(QTest::qWaitForWindowActive(&launch));
    QVERIFY(QApplication::focusWidget() != nullptr);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QCOMPARE(starts, 1);
    QCOMPARE(launch.result(), int(QDialog::Accepted));
  }

  void aFilterThatNoProcessPassesIsNamed() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    dialog.show();
    QVERIFY(test::wait_for([&] { return !dialog.listed().empty(); }));
    const auto says = [&](const QString& text) {
      const QList<QLabel*> labels = dialog.findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->isVisible() && label->text().contains(text); });
    };
    auto* filter = field<QLineEdit>(dialog, QStringLiteral("Filter processes"));
    filter->setFocus();
    QTest::keyClicks(filter, "no such process 4711");
    QVERIFY(dialog.listed().empty());
    QVERIFY(says(QStringLiteral("No process has \"no such process 4711\"")));
    QTest::keyClick(filter, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(filter, Qt::Key_Delete);
    QVERIFY(says(QStringLiteral("Choose the process to record.")));
  }

  void asksForWhatIsClickedAndRemembersIt() {
    ui::Settings settings;
    {
      ui::LaunchDialog dialog(settings);
      dialog.show();
      field<QComboBox>(dialog, QString())->setEditText(QStringLiteral("/bin/true"));
      auto* frequency = shown<QSpinBox>(dialog, QStringLiteral("Samples a second of a GPU"));
      QVERIFY(!frequency->isEnabled());
      press(dialog, QStringLiteral("GPU metrics"));
      QVERIFY(frequency->isEnabled());
      frequency->setFocus();
      frequency->selectAll();
      QTest::keyClicks(frequency, QStringLiteral("2500"));
      QTest::keyClick(frequency, Qt::Key_Tab);
      field<QComboBox>(dialog, QStringLiteral("Which GPU metrics"))->setCurrentIndex(1);
      press(dialog, QStringLiteral("When they run, and when they wait"));
      press(dialog, QStringLiteral("Calls of MPI"));
      field<QComboBox>(dialog, QStringLiteral("How callers are found"))->setCurrentIndex(1);
      dialog.accept();
    }
    ui::LaunchDialog next(settings);
    const Result<session::LaunchRequest> request = ui::launch_request(next.launch());
    QVERIFY(bool(request));
    const session::CaptureSettings& asked = request->settings;
    QCOMPARE(asked.gpu_metrics.devices, std::string("all"));
    QCOMPARE(asked.gpu_metrics.set, std::string("light"));
    QCOMPARE(asked.gpu_metrics.frequency, std::uint64_t{2500});
    QCOMPARE(asked.cpu.thread_states, cpu::Scope::kNone);
    QCOMPARE(asked.cpu.samples, cpu::Scope::kProcessTree);
    QCOMPARE(asked.cpu.call_chains, cpu::CallChains::kDwarf);
    QCOMPARE(asked.marked, (std::vector{session::MarkedLibrary::kMpi}));
    QVERIFY(asked.trace_nvtx);
    QCOMPARE(asked.domain_rule, session::DomainRule::kAll);
  }

  void recordsCallsOfMpiAloneOfNvtxWhereNothingElseIsWanted() {
    ui::CaptureChoices choices;
    choices.trace_nvtx = false;
    choices.trace_mpi = true;
    const session::CaptureSettings settings = ui::capture_settings(choices);
    QVERIFY(settings.trace_nvtx);
    QCOMPARE(settings.domain_rule, session::DomainRule::kOnlyListed);
    QCOMPARE(settings.domains, std::vector<std::string>{"MPI"});
  }

  // On another machine, an option for something that is not recorded would cause a warning at each recording.
  void asksForNoCallsOfTheSystemWhereTheyAreNotTraced() {
    ui::LaunchSettings launch;
    launch.program = "app";
    for (const bool traced : {false, true}) {
      launch.capture.trace_os_runtime = traced;
      const auto options = ui::profile_options(launch);
      QVERIFY(options);
      const bool asks = std::any_of(options->begin(), options->end(), [](const std::string& word) { return word.find("osrt-") != std::string::npos; });
      QCOMPARE(asks, traced);
    }
  }

  void remembersWhatIsRecordedOfCudaPythonAndLibraries() {
    ui::Settings settings;
    {
      ui::LaunchDialog dialog(settings);
      dialog.show();
      field<QComboBox>(dialog, QString())->setEditText(QStringLiteral("/bin/cat"));
      for (const char* name : {"Allocations and memory pools", "Page faults and moves of unified memory", "CUDA events, and which streams wait for them",
                               "cuBLAS", "OpenMP", "OpenGL", "UCX", "Networks", "Disks", "System calls", "Its functions in samples",
                               "Which thread holds its lock (GIL), and which threads wait for it"})
        press(dialog, QString::fromLatin1(name));
      field<QLineEdit>(dialog, QStringLiteral("Events of the kernel"))->setText(QStringLiteral(" sched/sched_switch ,,irq/softirq_raise"));
      field<QLineEdit>(dialog, QStringLiteral("Events that are counted"))->setText(QStringLiteral("cycles, page-faults"));
      dialog.accept();
    }
    const Result<session::LaunchRequest> request = ui::launch_request(ui::LaunchDialog(settings).launch());
    QVERIFY(bool(request));
    const session::CaptureSettings& asked = request->settings;
    QVERIFY(asked.cpu.system_calls);
    QCOMPARE(asked.cpu.tracepoints, (std::vector<std::string>{"sched/sched_switch", "irq/softirq_raise"}));
    QCOMPARE(asked.cpu.counted_events, (std::vector<std::string>{"cycles", "page-faults"}));
    QVERIFY(std::find(asked.marked.begin(), asked.marked.end(), session::MarkedLibrary::kOpenGl) != asked.marked.end());
    QVERIFY(asked.memory_usage && asked.cpu_page_faults && asked.gpu_page_faults && asked.cuda_events);
    QVERIFY(asked.cpu.python_names && asked.trace_python_lock);
    QVERIFY(asked.machine_metrics.networks && asked.machine_metrics.storage && !ui::capture_settings({}).machine_metrics.asked_for());
    QCOMPARE(asked.domain_rule, session::DomainRule::kAll);
    const auto tells = [](const session::EnvironmentChange& change) { return change.name == "CUBLAS_NVTX_LEVEL" && change.value == "1"; };
    QVERIFY(std::any_of(request->environment.begin(), request->environment.end(), tells));
    const session::CaptureSettings usual = ui::capture_settings({});
    QVERIFY(!usual.memory_usage && !usual.cpu_page_faults && !usual.cuda_events && !usual.cpu.python_names && !usual.trace_python_lock);
  }

  void marksFunctionsOfPythonThatAFileNames() {
    const test::TemporaryFolder folder;
    const QString file = QString::fromStdString((folder.path() / "functions.json").string());
    ui::LaunchSettings launch;
    launch.program = QStringLiteral("/bin/true");
    launch.capture.python_ranges_of = file;
    const auto missing = ui::launch_request(launch);
    QVERIFY(!missing);
    QVERIFY2(missing.error().text.find("functions.json can't be read") != std::string::npos, missing.error().text.c_str());
    QFile written(file);
    QVERIFY(written.open(QIODevice::WriteOnly));
    written.write("[{\"module\": \"math\", \"functions\": [\"sqrt\"]}]");
    written.close();
    QCOMPARE(ui::launch_request(launch)->python_functions, std::filesystem::path(file.toStdString()));
    launch.capture.trace_nvtx = false;
    QVERIFY(ui::launch_request(launch)->python_functions.empty());
    // On another machine, the file is checked there.
    launch.capture.trace_nvtx = true;
    launch.capture.python_ranges_of = QStringLiteral("/there/functions.json");
    const auto options = ui::profile_options(launch);
    QVERIFY(options);
    QVERIFY(std::find(options->begin(), options->end(), "--python-functions-trace=/there/functions.json") != options->end());
  }

  void endsTheProgramWhereThatIsChosen() {
    ui::LaunchSettings launch;
    launch.program = QStringLiteral("/bin/true");
    const auto signal = [&] { return ui::launch_request(launch)->end_signal; };
    launch.capture.duration = 5;
    QCOMPARE(signal(), std::optional<int>(SIGTERM));
    launch.capture.program_at_end = ui::ProgramAtEnd::kRunsOn;
    QCOMPARE(signal(), std::optional<int>());
    launch.capture.trigger = session::CaptureTrigger::kProfilerApi;  // the end of the range should end the program
    QCOMPARE(signal(), std::optional<int>(SIGTERM));
    launch.capture.after_range = session::AfterCapture::kStop;
    QCOMPARE(signal(), std::optional<int>());
  }

  void remembersTheChoicesThatTheCommandLineHas() {
    ui::Settings settings;
    {
      ui::LaunchDialog dialog(settings);
      dialog.setLaunch({});
      dialog.show();
      field<QComboBox>(dialog, QString())->setEditText(QStringLiteral("/bin/ls"));
      press(dialog, QStringLiteral("GPU metrics"));
      press(dialog, QStringLiteral("and the viewer's own"));
      press(dialog, QStringLiteral("Calls of the C library that wait"));
      press(dialog, QStringLiteral("Files that calls of the C library use"));
      field<QSpinBox>(dialog, QStringLiteral("Collect finished GPU work"))->setValue(50);
      field<QComboBox>(dialog, QStringLiteral("Which GPUs"))->setEditText(QStringLiteral("1, 2"));
      field<QComboBox>(dialog, QStringLiteral("Whose threads"))->setCurrentIndex(1);
      field<QLineEdit>(dialog, QStringLiteral("Folders with debug files"))->setText(QStringLiteral("/a:/b"));
      field<QSpinBox>(dialog, QStringLiteral("Shortest call of the C library whose call chain is taken"))->setValue(0);
      field<QComboBox>(dialog, QStringLiteral("Whose end is waited for"))->setCurrentIndex(0);
      field<QDoubleSpinBox>(dialog, QStringLiteral("Duration"))->setValue(2);
      auto* at_end = field<QComboBox>(dialog, QStringLiteral("When the recording ends first"));
      QCOMPARE(at_end->currentText(), QStringLiteral("end the program"));
      at_end->setCurrentIndex(1);
      dialog.accept();
    }
    const Result<session::LaunchRequest> request = ui::launch_request(ui::LaunchDialog(settings).launch());
    QVERIFY(bool(request));
    QCOMPARE(request->settings.flush_interval, std::chrono::milliseconds(50));
    QCOMPARE(request->settings.gpu_metrics.devices, std::string("1,2"));
    QCOMPARE(request->settings.cpu.samples, cpu::Scope::kSystemWide);
    QCOMPARE(request->settings.cpu.debug_folders, std::string("/a:/b"));
    QVERIFY(request->settings.trace_os_runtime && request->settings.trace_file_access && !request->settings.os_runtime_backtraces);
    QCOMPARE(request->wait_for, session::WaitFor::kPrimary);
    QCOMPARE(request->inherit_environment, session::InheritEnvironment::kNo);
    QVERIFY(!request->end_signal);
    QCOMPARE(ui::capture_settings({}).os_runtime_backtraces, std::optional<std::chrono::nanoseconds>(80'000));
  }

  void refusesGpusThatAreNoNumbers() {
    ui::LaunchSettings launch;
    launch.program = QStringLiteral("/bin/true");
    launch.capture.gpu_metrics = true;
    launch.capture.gpu_metrics_devices = QStringLiteral("the first");
    QVERIFY(!ui::launch_request(launch));
  }

  void recordsFromOutsideWithoutTracing() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    dialog.show();
    press(dialog, QStringLiteral("Only from &outside: its threads and GPU metrics. Nothing enters the process."));
    const ui::AttachSettings chosen = dialog.attach();
    QVERIFY(chosen.capture.from_outside);
    const session::CaptureSettings asked = ui::attach_request(chosen).settings;
    QVERIFY(!asked.trace_cuda && !asked.trace_nvtx && !asked.trace_os_runtime && !asked.trace_file_access && !asked.trace_python_lock);
    QCOMPARE(asked.range.trigger, session::CaptureTrigger::kNone);
    QCOMPARE(asked.cpu.samples, cpu::Scope::kProcessTree);
    auto* pages = dialog.findChild<QTabWidget*>();
    QVERIFY(!pages->isTabEnabled(0) && !pages->isTabEnabled(1) && pages->isTabEnabled(2));
    QVERIFY(!field<QComboBox>(dialog, QStringLiteral("Which part"))->isEnabled());
  }

  void takesCallChainsOfTheCallsThatAreChosen() {
    ui::CaptureChoices choices;
    QVERIFY(!ui::capture_settings(choices).backtraces.synchronizations);
    choices.call_chains_of = ui::ChainsOf::kWaits;
    QVERIFY(ui::capture_settings(choices).backtraces.synchronizations && !ui::capture_settings(choices).backtraces.kernels);
    choices.call_chains_of = ui::ChainsOf::kAll;
    QVERIFY(ui::capture_settings(choices).backtraces.kernels && ui::capture_settings(choices).backtraces.others);
  }

  void offersGpuMetricsAndOsCallsOfARunningProgramButNoMpi() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    dialog.show();
    QVERIFY(shown<QAbstractButton>(dialog, QStringLiteral("GPU metrics"))->isVisible());
    QVERIFY(shown<QAbstractButton>(dialog, QStringLiteral("Calls of the C library that wait"))->isVisible());
    for (const char* name : {"Calls of MPI", "cuBLAS"}) QVERIFY(!shown<QAbstractButton>(dialog, QString::fromLatin1(name))->isVisible());
  }

  void capturesARangeOfARunningProgram() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    dialog.show();
    auto* trigger = shown<QComboBox>(dialog, QStringLiteral("Which part"));
    QVERIFY(trigger->isVisible());
    auto* text = field<QLineEdit>(dialog, QStringLiteral("Text of the range"));
    QVERIFY(!text->isEnabled());
    trigger->setFocus();
    QTest::keyClick(trigger, Qt::Key_End);  // the last entry: an NVTX range
    QTest::keyClicks(text, QStringLiteral("step 100"));
    auto* after = field<QComboBox>(dialog, QStringLiteral("At its end"));
    QCOMPARE(after->findText(QStringLiteral("End the program")), -1);
    const session::CaptureRange once = ui::attach_request(dialog.attach()).settings.range;
    QCOMPARE(once.trigger, session::CaptureTrigger::kNvtxRange);
    QCOMPARE(once.name, std::string("step 100"));
    QCOMPARE(once.after, session::AfterCapture::kShutdown);
    after->setFocus();
    QTest::keyClick(after, Qt::Key_Down);
    const session::CaptureRange each = ui::attach_request(dialog.attach()).settings.range;
    QCOMPARE(each.after, session::AfterCapture::kRepeat);
    QCOMPARE(each.after_repeats, session::AfterCapture::kShutdown);
  }
};

QTEST_MAIN(TestGuiRecordForm)
#include "test_gui_record_form.moc"
