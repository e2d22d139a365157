// Files that the window writes: parts of the trace in each format, questions meanwhile, and file permissions.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScopeGuard>

#include "export/picture_dialog.h"
#include "export/save_dialog.h"
#include "export/trace_writing.h"
#include "fixture/dialogs.h"
#include "fixture/known_trace_test.h"
#include "fixture/menus.h"
#include "model/export/export_limits.h"
#include "model/import/open_trace.h"
#include "window/trace_status.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

// Ends only when it is asked to.
Result<void> write_until_stopped(const ui::Exports::Destination&, const std::stop_token& stop) {
  std::mutex lock;
  std::condition_variable_any changed;
  std::unique_lock held(lock);
  changed.wait(held, stop, [] { return false; });
  return Error{"stopped"};
}

std::uint64_t events_of(const QString& path) {
  const auto trace = open_trace(path.toStdString());
  return trace ? (*trace)->event_count() : 0;
}

mode_t mode_of(const QString& path) {
  struct stat facts {};
  return stat(path.toUtf8().constData(), &facts) == 0 ? facts.st_mode & 0777 : 0;
}

}  // namespace

class ExportTest : public KnownTraceTest {
  Q_OBJECT

 private slots:
  void initTestCase() {
    QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    KnownTraceTest::initTestCase();
  }

  // With the keyboard, through both dialogs: the selected range is chosen initially.
  void savesAPartOfTheTraceInEachFormat() {
    const Nanoseconds second = kFirstKernel + kKernelDuration + kGaps[0];
    window_->state().setSelectedRange(TimeRange{kFirstKernel, second + 1});
    window_->timelineView().hideRow("process:1");  // hides its calls and ranges
    QVERIFY(settle(*window_));
    // Two kernels, the call of the second and the range "step" overlap the range; a .trace and SQLite also have the call that enqueued the first.
    QCOMPARE(events_of(saved("part.trace", AllRows)), std::uint64_t{2 + 2 + 1});
    QCOMPARE(events_of(saved("rows.trace", ShownRows)), std::uint64_t{2 + 1});  // the GPU's row of ranges shows "step", too
    window_->timelineView().hideRow("gpu:0/nvtx");
    QVERIFY(settle(*window_));
    QCOMPARE(events_of(saved("kernels.trace", ShownRows)), std::uint64_t{2});
    for (const auto& [name, leaves_out] : {std::pair("kernels.trace", true), {"part.trace", false}}) {
      const auto part = window_of(path_of(name));
      QVERIFY(part);
      const QString status = part->findChild<ui::TraceStatus*>()->text();
      QVERIFY2(status.contains("complete but for rows that were left out by choice") == leaves_out, qPrintable(status));
    }
    QCOMPARE(events_of(saved("part.sqlite", AllRows)), std::uint64_t{2 + 2 + 1});
    QCOMPARE(events_of(saved("part.json", AllRows)), std::uint64_t{2 + 1 + 1});
    QFile csv(saved("part.csv", AllRows));
    QVERIFY(csv.open(QIODevice::ReadOnly));
    QCOMPARE(csv.readAll().count('\n'), 1 + 2 + 1 + 1);
    window_->state().setSelectedRange(std::nullopt);
    QCOMPARE(events_of(saved("all.trace", AllRows)), std::uint64_t{kEvents});
    QCOMPARE(events_of(saved("all.trace", AllRows)), std::uint64_t{kEvents});  // replaced after a question
    QCOMPARE(saved("known.trace", AllRows), QString());                        // it is open
    QVERIFY2(window_->messages().text().contains("is a file that is open"), qPrintable(window_->messages().text()));
    QCOMPARE(events_of(known_), std::uint64_t{kEvents});
    QCOMPARE(events_of(saved("other.trace", AllRows)), std::uint64_t{kEvents});  // as the message suggests
    QVERIFY2(window_->messages().text().startsWith("Wrote ") && window_->messages().messages().size() == 1, qPrintable(window_->messages().text()));
  }

  // Both have the same events; those of the second take half the time, and are elsewhere on the axis.
  void oneOfTwoTracesThatAreComparedIsSaved() {
    const QString faster = path_of("faster.trace");
    write_known_trace(faster.toStdString(), kKernelDuration / 2);
    const auto kernels_of = [](const QString& path) {
      const auto trace = open_trace(path.toStdString());
      Nanoseconds busy = 0;
      if (trace)
        for (const Track& track : (*trace)->tracks())
          if (track.key.kind == TrackKind::kKernels)
            for (const LaneId lane : track.lanes) busy += (*trace)->lane(lane).busy((*trace)->extent());
      return busy;
    };
    const Nanoseconds slow = kernels_of(known_), fast = kernels_of(faster);
    QVERIFY(fast > 0 && fast < slow);
    QVERIFY(open_beside_and_settle(*window_, faster));
    window_->pair().setShift(window_->pair().shift() + 5'000'000);
    QVERIFY(settle(*window_));
    const QString a = saved("a.trace", AllRows);
    QCOMPARE(events_of(a), std::uint64_t{kEvents});
    QCOMPARE(kernels_of(a), slow);
    run_ = 1;
    const auto ordinary = qScopeGuard([this] { run_ = 0; });
    const QString b = saved("b.trace", AllRows);
    QCOMPARE(events_of(b), std::uint64_t{kEvents});
    QCOMPARE(kernels_of(b), fast);
    // In times of the axis: B's first kernel, which starts at another time in its file.
    const Nanoseconds begin = window_->state().trace()->parts()[1].clock(kFirstKernel);
    window_->state().setSelectedRange(TimeRange{begin, begin + kKernelDuration / 2});
    const auto part = open_trace(saved("first.trace", AllRows).toStdString());
    QVERIFY(part && (*part)->provenance().part);
    QCOMPARE((*part)->provenance().part->time, TimeRange({kFirstKernel, kFirstKernel + kKernelDuration / 2}));
  }

  // Thread states that reach into a part are stored whole, and start seconds before it: the window shows only the part.
  void aPartOpensOnTheTimeThatWasSaved() {
    QVERIFY(open_and_settle(*window_, recorded("torch_loader_samples.trace")));
    const TimeRange asked{9'000'000'000, 9'500'000'000};
    window_->state().setSelectedRange(asked);
    const QString part = saved("part_of_seconds.trace", AllRows);
    const auto read = open_trace(part.toStdString());
    QVERIFY(read);
    QVERIFY((*read)->extent().begin < asked.begin - 5'000'000'000);
    QVERIFY(open_and_settle(*window_, part));
    const TimeRange shown = window_->timelineView().visibleRange();
    QVERIFY(shown.begin <= asked.begin && asked.end <= shown.end && shown.length() < asked.length() * 11 / 10);
    // The window's texts about it cover only that time, too.
    std::uint64_t listed = 0, others = 0;
    for (const Track& track : (*read)->tracks()) {
      using enum TrackKind;
      const bool is_other = track.key.kind == kThreadStates || track.key.kind == kProcessors || track.key.kind == kCpuSamples || track.key.kind == kBacktraces;
      for (const LaneId id : track.lanes)
        for (EventIndex i = 0; i < (*read)->lane(id).size(); ++i) {
          const Nanoseconds start = (*read)->lane(id).start(i), end = (*read)->lane(id).end(i);
          if (start < asked.end && (end > asked.begin || start >= asked.begin)) ++(is_other ? others : listed);
        }
    }
    const QString status = dynamic_cast<ui::TraceStatus&>(*window_->statusBar()).text();
    QVERIFY2(status.startsWith(QString("%1 events, %2 states and samples").arg(listed).arg(others)), qPrintable(status));
    // Besides, only the calls that enqueued its GPU work can be reached.
    window_->timelineView().zoomToFit();
    const TimeRange all = window_->timelineView().visibleRange();
    QVERIFY(all.begin <= asked.begin && asked.end <= all.end && all.length() < asked.length() * 3 / 2);
    QVERIFY(!window_->state().boundRange());
    const QTableView& events = *events_table(*window_);
    QVERIFY(events.model()->rowCount() > 10);
    for (int row = 0; row < events.model()->rowCount(); ++row) {
      const EventRef event = window_->events().findChild<ui::EventTableModel*>()->event(row);
      QVERIFY((*read)->event(event).end() >= asked.begin && (*read)->event(event).start <= asked.end);
    }
  }

  // The chosen format is written, whatever follows a dot in the name; a suffix chooses another format, in upper or lower case.
  void theKindThatIsChosenIsWritten() {
    const auto written = [&](const QString& name, const QString& kind) {
      const DialogAnswers answers([&](QDialog& dialog) {
        auto* files = qobject_cast<QFileDialog*>(&dialog);
        if (files == nullptr) return dialog.accept();
        for (const QString& filter : files->nameFilters())
          if (filter.contains(kind)) {
            files->selectNameFilter(filter);
            emit files->filterSelected(filter);
          }
        choose(*files, path_of(name));
      });
      return press(QKeySequence::Save) && wait_for([&] { return !window_->exports().isWriting(); });
    };
    const auto begins = [&](const QString& name) {
      QFile file(path_of(name));
      return file.open(QIODevice::ReadOnly) ? file.read(6) : QByteArray("nothing");
    };
    QVERIFY(written("llama-3.1", "*.sqlite"));
    QCOMPARE(begins("llama-3.1.sqlite"), QByteArray("SQLite"));
    QCOMPARE(begins("llama-3.1"), QByteArray("nothing"));
    QVERIFY(written("out.JSON", "*.trace"));
    QVERIFY(begins("out.JSON").startsWith('{') || begins("out.JSON").startsWith('['));
  }

  // The folder of the last export is offered for the next one, also for another kind.
  void offersTheFolderOfTheLastExport() {
    const TemporaryFolder other;
    const auto offered = [this](const QKeySequence& keys, const QString& answer) {
      QString folder;
      const DialogAnswers answers([&](QDialog& dialog) {
        auto* files = qobject_cast<QFileDialog*>(&dialog);
        if (files == nullptr) return dialog.accept();
        folder = files->directory().absolutePath();
        answer.isEmpty() ? files->reject() : choose(*files, answer);
      });
      return press(keys) && wait_for([&] { return !window_->exports().isWriting(); }) ? folder : QString();
    };
    const QString there = QString::fromStdString(other.path().string());
    offered(QKeySequence::Save, there + "/x.trace");
    QCOMPARE(events_of(there + "/x.trace"), std::uint64_t{kEvents});
    QCOMPARE(offered(QKeySequence(Qt::CTRL | Qt::Key_E), {}), QDir(there).absolutePath());
  }

  // Ctrl+E writes what is on the screen: a line for each family.
  void savesFamiliesAsTheyAreShown() {
    window_->showPanel("events");
    window_->events().setFolding(ui::Folding::kFamilies);
    QVERIFY(settle(*window_));
    const int families = events_table(*window_)->model()->rowCount();
    const QString path = path_of("families.csv");
    QSignalSpy ended(&window_->exports(), &ui::Exports::ended);
    QString title;
    const DialogAnswers answers([&](QDialog& dialog) {
      auto* files = qobject_cast<QFileDialog*>(&dialog);
      if (files == nullptr) return dialog.reject();
      title = files->windowTitle();
      choose(*files, path);
    });
    QVERIFY(press(QKeySequence(Qt::CTRL | Qt::Key_E)));
    QVERIFY(wait_for([&] { return !ended.isEmpty() && !window_->exports().isWriting(); }));
    QVERIFY(title.startsWith("Export families as CSV"));
    QFile csv(path);
    QVERIFY(csv.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = csv.readAll().trimmed().split('\n');
    QCOMPARE(lines[0].trimmed(), QByteArray("Family,Kind,Instances,Start (ns),Total Time (ns),Bytes"));
    QCOMPARE(lines.size(), families + 1);
    int counted = 0;
    for (const QByteArray& line : lines.mid(1)) {
      const QList<QByteArray> cells = line.trimmed().split(',');
      if (cells[0] != "gemm") continue;
      counted = cells[2].toInt();
      QCOMPARE(cells[4].toLongLong(), counted * static_cast<qlonglong>(kKernelDuration));
    }
    QVERIFY(counted > 1);
    window_->events().setFolding(ui::Folding::kNone);
  }

  // From the context menu of its rows: the same questions and messages as for other exports.
  void savesATableAsOtherFiles() {
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    ui::ResultTable& gaps = window_->bubbles().gaps();
    QCOMPARE(gaps.model()->rowCount(), static_cast<int>(kGaps.size()));
    const QString path = path_of("gaps.csv");
    QString offered;
    QSignalSpy ended(&window_->exports(), &ui::Exports::ended);
    const DialogAnswers answers([&](QDialog& dialog) {
      auto* files = qobject_cast<QFileDialog*>(&dialog);
      if (files == nullptr) return dialog.reject();
      offered = QFileInfo(files->selectedFiles().value(0)).fileName();
      choose(*files, path);
    });
    const QStringList entries =
        menu_after([&] { emit gaps.customContextMenuRequested(gaps.visualRect(gaps.model()->index(0, 0)).center()); }, "Export the table as CSV…");
    QVERIFY2(entries.contains("Export the table as CSV…"), qPrintable(entries.join(u'|')));
    QVERIFY(wait_for([&] { return !ended.isEmpty() && !window_->exports().isWriting(); }));
    QVERIFY2(ended[0][0].toString().startsWith("Wrote " + path), qPrintable(ended[0][0].toString()));
    QCOMPARE(offered, QString("known-gaps-of-gpus.csv"));
    QFile csv(path);
    QVERIFY(csv.open(QIODevice::ReadOnly));
    QCOMPARE(csv.readAll().count('\n'), 1 + static_cast<int>(kGaps.size()));
    ui::ResultTable alone({}, "Nobody around it writes files");
    QVERIFY(!menu_after([&] { emit alone.customContextMenuRequested({}); }).contains("Export the table as CSV…"));
  }

  void copiesAMillionEventsAndSaysWhatIsLeftOut() {
    constexpr std::size_t kOverMillion = ui::EventsPanel::kLargestCopy / kLongChunk + 1;  // chunks
    write_long_trace(path_of("long.trace").toStdString(), kOverMillion);
    QVERIFY(open_and_settle(*window_, path_of("long.trace")));
    QTableView* table = events_table(*window_);
    QCOMPARE(table->model()->rowCount(), static_cast<int>(kOverMillion * kLongChunk));
    for (int section = 0; section < table->model()->columnCount(); ++section)  // a short text for each event
      table->setColumnHidden(section, section != ui::EventTableModel::columnOf(EventColumn::kStart));
    table->selectAll();
    window_->events().copySelection();
    QVERIFY(settle(*window_));
    QCOMPARE(QGuiApplication::clipboard()->text().count('\n'), 1 + static_cast<qsizetype>(ui::EventsPanel::kLargestCopy));
    const QString said = window_->messages().text();
    QVERIFY2(said.startsWith("The first 1,000,000 of 1,050,000 selected events are in the clipboard"), qPrintable(said));
  }

  // A magnified picture has squares of one colour; a picture that is drawn at that size has details within them.
  void savesThePictureOfTheTimelineAtAnyScale() {
    constexpr int kScale = 3;
    const QSize seen = window_->timelineView().size();
    const QImage large(savedPicture("large.png", kScale));
    QCOMPARE(large.size(), seen * kScale);
    int drawn = 0;
    for (int y = 0; y < seen.height(); ++y)
      for (int x = 0; x < seen.width(); ++x) {
        const QRgb first = large.pixel(x * kScale, y * kScale);
        bool same = true;
        for (int i = 1; i < kScale * kScale; ++i) same = same && large.pixel(x * kScale + i % kScale, y * kScale + i / kScale) == first;
        drawn += same ? 0 : 1;
      }
    QVERIFY2(drawn > 1'000, qPrintable(QString::number(drawn)));
    const QSize below_a_message = window_->timelineView().size();
    QCOMPARE(QImage(savedPicture("half.png", 0.5)).size(), (QSizeF(below_a_message) / 2).toSize());
    const QImage on_screen = window_->timelineView().grab().toImage();
    QVERIFY(window_->timelineView().picture(kScale) != on_screen);
    QCOMPARE(window_->timelineView().grab().toImage(), on_screen);  // as before
    // What follows the mouse is not in the picture, wherever the mouse is when the key is pressed.
    const QImage before = window_->timelineView().picture(1);
    const QWidget* canvas = window_->timelineView().childAt(window_->timelineView().width() - 200, window_->timelineView().height() - 60);
    QTest::mouseMove(const_cast<QWidget*>(canvas), {20, 20});
    QTest::mouseMove(const_cast<QWidget*>(canvas), {100, 40});
    QVERIFY(window_->timelineView().grab().toImage() != on_screen);
    QCOMPARE(window_->timelineView().picture(1), before);
    window_->actions().copy_picture->trigger();
    QCOMPARE(QGuiApplication::clipboard()->image().convertToFormat(before.format()), before);
    QVERIFY(window_->timelineView().grab().toImage() != on_screen);  // the cursor's line is still on the screen
    window_->timelineView().addMarker(kFirstKernel, "begins & <here>");
    window_->timelineView().addMarker(kFirstKernel - 10'000'000'000, "not in sight");
    const QString svg = drawnAsSvg("picture.svg");
    QVERIFY(svg.startsWith("<svg") && svg.contains("gemm"));
    QVERIFY2(svg.contains(">begins &amp; &lt;here&gt;</text>") && !svg.contains("not in sight"), qPrintable(svg));
    window_->timelineView().clearMarkers();
    QCOMPARE(savedPicture("nowhere/picture.png", 1), QString());
    QVERIFY2(window_->messages().text().contains("can't be written: there is no such folder"), qPrintable(window_->messages().text()));
  }

  // Names are repeated for each event: a file that repeats long ones would become a text of any length.
  void aTextIsBoundedByTheSizeOfTheRecording() {
    const auto trace = window_->state().trace();
    const std::string path = (folder_.path() / "long.csv").string();
    const std::size_t most = limits::text_bytes_of(0, trace->event_count());
    void* const text = mmap(nullptr, most + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    QVERIFY(text != MAP_FAILED);
    const auto write = [&](const std::shared_ptr<const Trace>& source, std::size_t bytes) {
      return ui::write_text({path, Readers::kAsUsual, source, 3'000}, {}, [&](const TextConsumer& consumer) {
        return consumer({static_cast<const char*>(text), 4'096}) && consumer({static_cast<const char*>(text), bytes - 4'096});
      });
    };
    const Result<void> refused = write(trace, most + 1);
    QVERIFY(!refused.has_value());
    QVERIFY2(refused.error().text.find("Save a part of it") != std::string::npos, refused.error().text.c_str());
    QVERIFY(!std::filesystem::exists(path));
    QVERIFY(write(trace, 100'000).has_value());
    QCOMPARE(std::filesystem::file_size(path), std::uintmax_t{100'000});
    munmap(text, most + 1);
  }

  void fileNamesSayOfWhichTraceTheyAre() {
    QStringList offered;
    const DialogAnswers answers([&](QDialog& dialog) {
      if (const auto* files = qobject_cast<QFileDialog*>(&dialog)) {
        for (const QString& file : files->selectedFiles()) offered += QFileInfo(file).fileName();
        return dialog.reject();
      }
      QVERIFY2(dialog.width() > dialog.fontMetrics().horizontalAdvance(dialog.windowTitle()) + 100, qPrintable(dialog.windowTitle()));
      dialog.accept();
    });
    window_->actions().save_picture->trigger();
    window_->actions().export_csv->trigger();
    QCOMPARE(offered, QStringList({"known-timeline.png", "known-events.csv"}));
  }

  void aPictureOfLinesHasTheRowsThatAreInSight() {
    window_->timelineView().setRowFilter("Kernels");
    const QString kernels = drawnAsSvg("kernels.svg");
    QVERIFY2(kernels.contains("Kernels</title>") && !kernels.contains("CUDA API</title>"), qPrintable(kernels));
    window_->timelineView().setRowFilter("CUDA API");
    const QString calls = drawnAsSvg("calls.svg");
    QVERIFY2(calls.contains("CUDA API</title>") && !calls.contains("Kernels</title>"), qPrintable(calls));
  }

  void whatIsMadeOfAPrivateRecordingIsPrivate() {
    const mode_t usual = umask(022);
    QCOMPARE(mode_of(saved("usual.trace", AllRows)), mode_t{0644});
    QVERIFY(chmod(known_.toUtf8().constData(), 0600) == 0);
    for (const char* name : {"own.trace", "own.sqlite", "own.json", "own.csv"}) QCOMPARE(mode_of(saved(name, AllRows)), mode_t{0600});
    QVERIFY(chmod(known_.toUtf8().constData(), 0644) == 0);
    QCOMPARE(umask(usual), mode_t{022});  // programs that are launched next have the usual umask
  }

  // Each of several files that make one trace counts, however it was named.
  void ofSeveralFilesAsOneEachIsLeftAloneAndKeptPrivate() {
    const TemporaryFolder ranks;
    const auto rank = [&](const char* name) { return QString::fromStdString((ranks.path() / name).string()); };
    QVERIFY(QFile::copy(known_, rank("rank0.trace")));
    write_known_trace(rank("rank1.trace").toStdString(), kKernelDuration, 4712);
    QVERIFY(link(rank("rank1.trace").toUtf8().constData(), path_of("link.trace").toUtf8().constData()) == 0);
    const mode_t usual = umask(022);
    for (const QStringList& named : {QStringList{rank("rank0.trace"), rank("rank1.trace")}, QStringList{QString::fromStdString(ranks.path().string())}}) {
      QVERIFY(chmod(rank("rank1.trace").toUtf8().constData(), 0644) == 0);
      QSignalSpy opened(window_.get(), &MainWindow::opened);
      window_->openTogether(named);
      QVERIFY(opened.wait(kPatienceMs) && settle(*window_));
      QCOMPARE(mode_of(saved("usual.trace", AllRows)), mode_t{0644});
      QCOMPARE(events_of(path_of("usual.trace")), std::uint64_t{2 * kEvents});
      QVERIFY(chmod(rank("rank1.trace").toUtf8().constData(), 0600) == 0);
      QCOMPARE(mode_of(saved("own.trace", AllRows)), mode_t{0600});
      QCOMPARE(saved("link.trace", AllRows), QString());
      QVERIFY2(window_->messages().text().contains("is a file that is open"), qPrintable(window_->messages().text()));
      QCOMPARE(events_of(rank("rank1.trace")), std::uint64_t{kEvents});
    }
    umask(usual);
  }

  void saysInItsOwnWordsWhyNothingCanBeWritten() {
    QSignalSpy ended(&window_->exports(), &ui::Exports::ended);
    const std::string folder = folder_.path().string();
    for (const std::string& path : {std::string("/nowhere/x.csv"), folder}) {
      window_->exports().write({path}, write_until_stopped);
      QCOMPARE(ended.size(), 1);
      const QString said = ended.takeFirst()[0].toString();
      QVERIFY2(said.contains("can't be written") && said.contains("Choose another") && !said.contains(" -o"), qPrintable(said));
      QVERIFY(!window_->exports().isWriting());
    }
  }

  void closingAsksAboutAFileThatIsBeingWritten() {
    const ui::Exports::Destination to{(folder_.path() / "long.csv").string()};
    window_->exports().write(to, write_until_stopped);
    window_->exports().write(to, write_until_stopped);
    QVERIFY2(window_->messages().text().contains("long.csv is still being written"), qPrintable(window_->messages().text()));
    const auto close_with = [this](const QString& answer) {
      const DialogAnswers answers([&](QDialog& dialog) {
        QAbstractButton* button = button_of(dialog, answer);
        button != nullptr ? button->click() : dialog.reject();
      });
      return window_->close() && answers.count() == 1;
    };
    QVERIFY(!close_with("Cancel"));
    QVERIFY(window_->isVisible() && window_->exports().isWriting());
    QVERIFY(close_with("Cancel it and close"));
    QVERIFY(!window_->isVisible());
  }

  void howFarAnExportIsIsShown() {
    auto* bar = window_->exports().findChild<QProgressBar*>();
    QVERIFY(bar != nullptr && !bar->isVisible());
    QSignalSpy ended(&window_->exports(), &ui::Exports::ended);
    const ui::Exports::Destination to{(folder_.path() / "y.csv").string()};
    window_->exports().write(to, write_until_stopped);
    QVERIFY(bar->isVisible());
    QCOMPARE(bar->maximum(), 0);  // it is not known yet how much there is to write
    to.progress.begin(200);
    to.progress.reach(50);
    QVERIFY(wait_for([&] { return bar->maximum() == 100 && bar->value() == 25; }));
    to.progress.reach(150);
    QVERIFY(wait_for([&] { return bar->value() == 75; }));
    window_->exports().stop();
    QVERIFY(wait_for([&] { return !ended.isEmpty() && !bar->isVisible(); }));
  }

  void anExportThatIsCancelledSaysSo() {
    QSignalSpy ended(&window_->exports(), &ui::Exports::ended);
    window_->exports().write({(folder_.path() / "x.csv").string()}, write_until_stopped);
    auto* cancel = window_->exports().findChild<QPushButton*>();
    QVERIFY(cancel->isVisible());
    cancel->click();
    QVERIFY(wait_for([&] { return !ended.isEmpty() && !cancel->isVisible(); }));
    QCOMPARE(ended[0][0].toString(), QString("x.csv was not written: the export was cancelled."));
  }

  // With the words of the status bar, so that a user can see that all is saved.
  void theDialogCountsAsTheStatusBarDoes() {
    QVERIFY(open_and_settle(*window_, recorded("torch_loader_samples.trace")));
    QStringList said;
    const DialogAnswers answers([&](QDialog& dialog) {
      for (const QLabel* label : dialog.findChildren<QLabel*>()) said += label->text();
      dialog.reject();
    });
    QVERIFY(press(QKeySequence::Save));
    QVERIFY(wait_for([&] { return answers.count() == 1 && !said.isEmpty(); }));
    const QString all = ui::events_text(window_->state().trace().get());
    QVERIFY2(all.contains("states and samples") && said.contains(all), qPrintable(said.join(u'|') + " instead of " + all));
  }

  // Although PNG is chosen in front of it.
  void theEndingThatIsTypedIsThatOfThePicture() {
    QSignalSpy ended(&window_->exports(), &ui::Exports::ended);
    const QString path = path_of("typed.svg");
    const DialogAnswers answers([&](QDialog& dialog) {
      if (auto* files = qobject_cast<QFileDialog*>(&dialog)) return choose(*files, path);
      dialog.accept();
    });
    window_->actions().save_picture->trigger();
    QVERIFY(wait_for([&] { return !ended.isEmpty() && !window_->exports().isWriting(); }));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().contains("<svg"));
  }

 private:
  enum Rows { AllRows, ShownRows };

  // Chooses it in the list of the dialog: typed text shows completions, which consume Enter.
  static void choose(QFileDialog& files, const QString& path) {
    files.selectFile(path);
    static_cast<QDialog&>(files).accept();
  }
  // Keys reach the window when it is active again after the previous dialog.
  bool press(const QKeySequence& keys) {
    window_->activateWindow();
    if (!QTest::qWaitForWindowActive(window_.get(), kPatienceMs)) return false;
    QTest::keySequence(window_.get(), keys);
    return true;
  }

  QString path_of(const QString& name) const { return QString::fromStdString((folder_.path() / name.toStdString()).string()); }

  QString drawnAsSvg(const QString& name) {
    QFile file(savedPicture(name, 1));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
  }

  // The path of the picture that was written; empty if there is none.
  QString savedPicture(const QString& name, double scale) {
    QSignalSpy ended(&window_->exports(), &ui::Exports::ended);
    const DialogAnswers answers([&](QDialog& dialog) {
      if (auto* picture = qobject_cast<ui::PictureDialog*>(&dialog)) {
        picture->findChild<QComboBox*>()->setCurrentIndex(name.endsWith(".svg") ? 1 : 0);
        picture->findChild<QDoubleSpinBox*>()->setValue(scale);
        return picture->accept();
      }
      if (auto* files = qobject_cast<QFileDialog*>(&dialog)) return choose(*files, path_of(name));
      if (auto* replace = qobject_cast<QMessageBox*>(&dialog)) return replace->button(QMessageBox::Yes)->click();
    });
    window_->actions().save_picture->trigger();
    const bool has_ended = wait_for([&] { return !ended.isEmpty() && !window_->exports().isWriting(); });
    return has_ended && ended[0][0].toString().startsWith("Wrote ") ? path_of(name) : QString();
  }

  // The path of the file that was written; empty if there is none.
  QString saved(const QString& name, Rows rows) {
    const QString path = path_of(name);
    QSignalSpy ended(&window_->exports(), &ui::Exports::ended);
    const DialogAnswers answers([&](QDialog& dialog) {
      if (auto* parts = qobject_cast<ui::SaveDialog*>(&dialog)) {
        if (rows == ShownRows) parts->findChildren<QComboBox*>()[2]->setCurrentIndex(1);
        if (run_ != 0) parts->findChildren<QComboBox*>()[0]->setCurrentIndex(run_);
        return QTest::keyClick(parts, Qt::Key_Return);
      }
      if (auto* files = qobject_cast<QFileDialog*>(&dialog)) return choose(*files, path);
      if (auto* replace = qobject_cast<QMessageBox*>(&dialog)) return replace->button(QMessageBox::Yes)->click();
    });
    if (!press(QKeySequence::Save) || !wait_for([&] { return !window_->exports().isWriting(); })) return {};
    return !ended.isEmpty() && ended[0][0].toString().startsWith("Wrote ") ? path : QString();
  }

  int run_ = 0;  // of two runs, the one that is saved
};

QTEST_MAIN(ExportTest)
#include "test_gui_export.moc"
