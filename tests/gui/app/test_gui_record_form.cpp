// What is chosen in the dialogs of recording is what the recording is asked for, and what the next dialog shows.
#include <QAbstractButton>
#include <QtTest>

#include "base/settings.h"
#include "main_window_fixture.h"
#include "record/attach_dialog.h"
#include "record/launch_dialog.h"
#include "record/launch_settings.h"

using namespace lanescope;

namespace {

// The field that a screen reader calls so.
template <typename Field>
Field* field(QWidget& dialog, const QString& name) {
  for (Field* each : dialog.findChildren<Field*>())
    if (each->accessibleName() == name || (qobject_cast<QAbstractButton*>(each) && each->property("text").toString() == name)) return each;
  return nullptr;
}

void press(QWidget& dialog, const QString& name) {
  auto* button = field<QAbstractButton>(dialog, name);
  QVERIFY(button != nullptr);
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
    QVERIFY(!usual.trace_mpi);
  }

  void asksForWhatIsClickedAndRemembersIt() {
    ui::Settings settings;
    {
      ui::LaunchDialog dialog(settings);
      dialog.show();
      field<QComboBox>(dialog, QString())->setEditText(QStringLiteral("/bin/true"));
      auto* frequency = field<QSpinBox>(dialog, QStringLiteral("Samples a second of a GPU"));
      QVERIFY(!frequency->isEnabled());
      press(dialog, QStringLiteral("GPU metrics"));
      QVERIFY(frequency->isEnabled());
      frequency->setFocus();
      frequency->selectAll();
      QTest::keyClicks(frequency, QStringLiteral("2500"));
      QTest::keyClick(frequency, Qt::Key_Tab);
      field<QComboBox>(dialog, QStringLiteral("Which GPU metrics"))->setCurrentIndex(1);
      press(dialog, QStringLiteral("When they run, and when they wait"));
      press(dialog, QStringLiteral("Calls of MPI, with their peers and bytes"));
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
    QVERIFY(asked.trace_mpi);
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

  void offersGpuMetricsAndOsCallsOfARunningProgramButNoMpi() {
    ui::Settings settings;
    ui::AttachDialog dialog(settings);
    dialog.show();
    QVERIFY(field<QAbstractButton>(dialog, QStringLiteral("GPU metrics"))->isVisible());
    QVERIFY(!field<QAbstractButton>(dialog, QStringLiteral("Calls of MPI, with their peers and bytes"))->isVisible());
    QVERIFY(field<QAbstractButton>(dialog, QStringLiteral("Calls of the C library that wait: I/O, locks, sleep"))->isVisible());
  }
};

QTEST_MAIN(TestGuiRecordForm)
#include "test_gui_record_form.moc"
