// lanescope-ui as a program: its options, and the pictures that it draws without a display.
#include <sys/resource.h>

#include <set>
#include <string>

#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTest>

#include "base/text/time_text.h"
#include "fixture/known_trace.h"
#include "model/trace/compact/compaction.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;

namespace {

struct Outcome {
  int exit_code = -1;
  QString output;
  QString errors;
};

const std::filesystem::path& settings_folder() {  // instead of the user's
  static const TemporaryFolder folder;
  return folder.path();
}

Outcome run(const QStringList& arguments, const QString& display = {}) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) environment.remove(name);
  for (const char* name : {"XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}) environment.insert(name, QString::fromStdString(settings_folder().string()));
  if (!display.isEmpty()) environment.insert("DISPLAY", display);
  process.setProcessEnvironment(environment);
  process.start(QString::fromStdString(program("lanescope-ui").string()), arguments);
  process.waitForFinished(-1);
  return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, QString::fromUtf8(process.readAllStandardOutput()),
          QString::fromUtf8(process.readAllStandardError())};
}

std::size_t color_count(const QImage& picture) {
  std::set<QRgb> colors;
  for (int y = 0; y < picture.height(); y += 3)
    for (int x = 0; x < picture.width(); x += 3) colors.insert(picture.pixel(x, y));
  return colors.size();
}

}  // namespace

class ProgramTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    known_ = QString::fromStdString((folder_.path() / "known.trace").string());
    write_known_trace(known_.toStdString());
  }

  // With half as many descriptors as there are files.
  void opensMoreCompactedFilesThanTheSoftLimitHas() {
    constexpr rlim_t kDescriptors = 64;
    QStringList words;
    for (int i = 0; i < 128; ++i) {
      const QString file = pathOf(("rank" + std::to_string(i) + ".trace").c_str());
      if (i == 0)
        QVERIFY(compact_trace_file(data_file("ranks_late0.trace"), file.toStdString(), Overwrite::kAllow));
      else
        QVERIFY(QFile::copy(words.first(), file));
      words += file;
    }
    rlimit before{};
    QCOMPARE(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit few{kDescriptors, before.rlim_max};
    QCOMPARE(setrlimit(RLIMIT_NOFILE, &few), 0);
    const Outcome drawn = run(words + QStringList{"--screenshot", pathOf("many.png"), "--size", "800x600"});
    setrlimit(RLIMIT_NOFILE, &before);
    QCOMPARE(drawn.errors, QString());
    QCOMPARE(drawn.exit_code, 0);
  }

  void drawsAPictureWithoutADisplay() {
    const QString whole = pathOf("whole.png"), part = pathOf("part.png");
    const Outcome drawn = run({known_, "--screenshot", whole, "--size", "1200x800"});
    QCOMPARE(drawn.exit_code, 0);
    QCOMPARE(drawn.errors, QString());  // there is no output besides the picture
    const QImage picture(whole);
    QCOMPARE(picture.size(), QSize(1200, 800));
    QVERIFY2(color_count(picture) > 30, qPrintable(QString::number(color_count(picture))));

    QCOMPARE(run({known_, "--screenshot", part, "--size", "1200x800", "--range", "0.2ms:300us"}).exit_code, 0);
    QVERIFY(QImage(part) != picture);
  }

  // Drawing pictures by a script does not change the list of recent files.
  void aPictureIsNoRecentFile() {
    const QString drawn = pathOf("unseen.png");
    QCOMPARE(run({known_, "--screenshot", drawn, "-f"}).exit_code, 0);
    QCOMPARE(run({known_, known_, "--screenshot", drawn, "-f"}).exit_code, 0);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(settings_folder())) {
      QFile file(QString::fromStdString(entry.path().string()));
      if (entry.is_regular_file() && file.open(QIODevice::ReadOnly)) QVERIFY2(!file.readAll().contains("known.trace"), entry.path().c_str());
    }
  }

  // Kernel and Source show one kernel: the most informative one is chosen and drawn.
  void drawsPanelsAboutAKernel_data() {
    QTest::addColumn<QString>("panel");
    QTest::addColumn<QString>("recording");
    QTest::newRow("counters") << "kernel"
                              << "kernel_counters.trace";
    QTest::newRow("samples") << "source"
                             << "transpositions.trace";
    QTest::newRow("counts") << "source"
                            << "transpositions_counts.trace";
  }
  void drawsPanelsAboutAKernel() {
    QFETCH(QString, panel);
    QFETCH(QString, recording);
    const QString trace = QString::fromStdString(data_file(recording.toStdString()).string()), drawn = pathOf("drawn.png"), other = pathOf("other.png");
    QCOMPARE(run({trace, "--screenshot", drawn, "-f", "--panel", panel, "--size", "1400x900"}).exit_code, 0);
    QCOMPARE(run({trace, "--screenshot", other, "-f", "--panel", "notes", "--size", "1400x900"}).exit_code, 0);
    // Below the tabs, on the left: an empty panel has little except its background.
    const QRect where(0, 690, 700, 180);
    const auto written = [&](const QString& path) {
      const QImage part = QImage(path).copy(where);
      int pixels = 0;
      for (int y = 0; y < part.height(); ++y)
        for (int x = 0; x < part.width(); ++x) pixels += qGray(part.pixel(x, y)) < 128 ? 1 : 0;
      return pixels;
    };
    QVERIFY2(written(drawn) > 1'500 && written(drawn) > 5 * written(other), qPrintable(QString("%1 and %2").arg(written(drawn)).arg(written(other))));
  }

  // A comparison has a line above the timeline that says how the second trace is aligned.
  void drawsTwoBesideEachOtherOrAsOneTrace() {
    const QString second = pathOf("second.trace"), beside = pathOf("beside.png"), together = pathOf("together.png");
    QVERIFY(QFile::copy(known_, second));
    QCOMPARE(run({known_, second, "--screenshot", beside}).exit_code, 0);
    QCOMPARE(run({"--together", known_, second, "--screenshot", together}).exit_code, 0);
    QVERIFY(QImage(beside) != QImage(together));
    QVERIFY(QFile::remove(second));
  }

  // If the name of the picture was forgotten, the first of the files that follow is taken as the picture.
  void neverDrawsOverWhatIsThere() {
    const QString trace = pathOf("precious.trace"), picture = pathOf("there.png");
    QVERIFY(QFile::copy(known_, trace));
    const auto bytes = [](const QString& path) {
      QFile file(path);
      return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    QCOMPARE(run({"--screenshot", trace, known_}).exit_code, 2);
    QCOMPARE(run({"--screenshot", pathOf("words.txt"), known_}).exit_code, 2);
    QCOMPARE(bytes(trace), bytes(known_));
    QVERIFY(!QFile::exists(pathOf("words.txt")));

    QFile file(picture);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("mine") == 4);
    file.close();
    const Outcome refused = run({known_, "--screenshot", picture});
    QCOMPARE(refused.exit_code, 1);
    QVERIFY2(refused.errors.contains("exists already"), qPrintable(refused.errors));
    QCOMPARE(bytes(picture), QByteArray("mine"));
    QCOMPARE(run({known_, "--screenshot", picture, "-f"}).exit_code, 0);
    QVERIFY(!QImage(picture).isNull());
  }

  void keepsAPictureOfAPrivateTracePrivate() {
    const QString trace = pathOf("private.trace"), picture = pathOf("private.png");
    QVERIFY(QFile::copy(known_, trace));
    QVERIFY(QFile::setPermissions(trace, QFile::ReadOwner | QFile::WriteOwner));
    QCOMPARE(run({trace, "--screenshot", picture}).exit_code, 0);
    constexpr QFile::Permissions kOthers = QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther;
    QVERIFY(!(QFile::permissions(picture) & kOthers));
  }

  void saysWhatWentWrong() {
    const Outcome missing = run({pathOf("missing.trace"), "--screenshot", pathOf("never.png")});
    QCOMPARE(missing.exit_code, 1);
    QVERIFY(missing.errors.contains("missing.trace"));
    const Outcome unwritable = run({known_, "--screenshot", "/nowhere/never.png"});
    QCOMPARE(unwritable.exit_code, 1);
    QVERIFY(unwritable.errors.contains("/nowhere/never.png"));
    // The known trace ends after some milliseconds.
    const Outcome beyond = run({known_, "--screenshot", pathOf("never.png"), "--range", "5s:6s"});
    QCOMPARE(beyond.exit_code, 1);
    QVERIFY2(beyond.errors.contains("5.0") && beyond.errors.contains("--range"), qPrintable(beyond.errors));
    QVERIFY(!QFile::exists(pathOf("never.png")));
  }

  void saysWhatToUseWithoutADisplay() {
    for (const bool is_named : {false, true}) {
      const Outcome outcome = run({known_}, is_named ? QStringLiteral(":4711") : QString());
      QCOMPARE(outcome.exit_code, 1);
      QCOMPARE(outcome.errors.count('\n'), 1);
      QVERIFY2(outcome.errors.contains("lanescope report " + known_) && outcome.errors.contains("--screenshot OUT.png"), qPrintable(outcome.errors));
      QCOMPARE(outcome.errors.contains("neither DISPLAY nor"), !is_named);
    }
  }

  void answersOptions() {
    QVERIFY(run({"--version"}).output.startsWith("lanescope-ui "));
    QVERIFY(run({"--help"}).output.contains("--screenshot"));
    for (const QStringList& wrong : {QStringList{"--frobnicate"},
                                     {"--screenshot"},
                                     {"--screenshot", "x.png"},
                                     {"--together"},
                                     {known_, "--size", "big"},
                                     {known_, "--size", "800x600"},
                                     {known_, "-f"},
                                     {"--range", "1ms:2ms"},
                                     {known_, "--range", "5ms:1ms"}}) {
      const Outcome outcome = run(wrong);
      QCOMPARE(outcome.exit_code, 2);
      QCOMPARE(outcome.errors.count('\n'), 1);
    }
    QVERIFY(run({"--frobnicate"}).errors.contains("--frobnicate"));
  }

  void readsTimesAsPeopleTypeThem_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("valid");
    QTest::addColumn<qint64>("nanoseconds");
    QTest::addRow("seconds") << "1.5 s" << true << qint64{1'500'000'000};
    QTest::addRow("milliseconds") << "12.3ms" << true << qint64{12'300'000};
    QTest::addRow("microseconds") << "500us" << true << qint64{500'000};
    QTest::addRow("with the micro sign") << "2 µs" << true << qint64{2'000};
    QTest::addRow("bare") << "42" << true << qint64{42};
    QTest::addRow("negative") << "-1ms" << true << qint64{-1'000'000};
    QTest::addRow("unit alone") << "ms" << false << qint64{0};
    QTest::addRow("several units") << "1 h 3 min" << true << qint64{3'780'000'000'000};
    QTest::addRow("another unit") << "3 weeks" << false << qint64{0};
    QTest::addRow("too large") << "99999999999s" << false << qint64{0};
  }
  void readsTimesAsPeopleTypeThem() {
    QFETCH(QString, text);
    QFETCH(bool, valid);
    QFETCH(qint64, nanoseconds);
    const std::optional<Nanoseconds> time = ui::parse_time(text);
    QCOMPARE(time.has_value(), valid);
    if (valid) QCOMPARE(static_cast<qint64>(*time), nanoseconds);
  }

 private:
  QString pathOf(const char* name) const { return QString::fromStdString((folder_.path() / name).string()); }
  TemporaryFolder folder_;
  QString known_;
};

QTEST_GUILESS_MAIN(ProgramTest)
#include "test_gui_program.moc"
