// Several recordings as one trace: those of the ranks of a job, chosen individually or by their folder.
#include <algorithm>

#include <map>

#include <QDir>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>

#include "fixture/main_window_fixture.h"
#include "model/trace/load.h"
#include "panels/statistics_model.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

timeline::TimelineView::Marker marker_of(const timeline::TimelineView& view, const QString& text) {
  const auto found = std::find_if(view.markers().begin(), view.markers().end(), [&](const auto& marker) { return marker.text == text; });
  return found == view.markers().end() ? timeline::TimelineView::Marker() : *found;
}

}  // namespace

class RanksTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    for (const char* name : {"ranks_late0", "ranks_late1"}) {
      const QString path = QString::fromStdString((folder_.path() / name).string()) + ".trace";
      QVERIFY(QFile::copy(QString::fromStdString(data_file(std::string(name) + ".trace").string()), path));
      files_ += path;
    }
    files_ += QString::fromStdString((folder_.path() / "third.trace").string());
    QVERIFY(QFile::copy(recorded("cuda_streams.trace"), files_[2]));
  }

  void init() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get(), kPatienceMs));
  }
  void cleanup() { window_.reset(); }

  void threeFilesAreOneTraceAndTwoAreCompared_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<bool>("is_pair");
    QTest::newRow("two") << 2 << true;
    QTest::newRow("three") << 3 << false;
  }
  void threeFilesAreOneTraceAndTwoAreCompared() {
    QFETCH(int, count);
    QFETCH(bool, is_pair);
    window_->openAll(files_.mid(0, count), ui::Several::kBeside);
    QVERIFY(wait_for([&] { return parts() == static_cast<std::size_t>(count); }));
    QCOMPARE(window_->pair().isOpen(), is_pair);
    QCOMPARE(window_->windowTitle().contains("ranks_late0.trace and 2 more"), !is_pair);
  }

  void allEventsAreThereAndClocksAreTold() {
    openTogether(files_.mid(0, 2));
    std::uint64_t events = 0;
    for (const QString& file : files_.mid(0, 2)) events += (*load_trace(file.toStdString()))->event_count();
    QCOMPARE(trace().event_count(), events);
    QCOMPARE(trace().parts()[1].label, std::string("ranks_late1.trace"));
    const auto is_told = [](const DiagnosticMessage& message) {
      return message.text.starts_with("The clock of ranks_late1.trace was set by 21 collectives in common");
    };
    QVERIFY(std::any_of(trace().diagnostics().begin(), trace().diagnostics().end(), is_told));
  }

  // Of 64 ranks, each has a "step 7".
  void eventsSayWhichFileTheyAreOf() {
    openTogether(files_);
    QVERIFY(settle(*window_));
    QTableView& table = *events_table(*window_);
    const int file = ui::EventTableModel::columnOf(EventColumn::kRun);
    QVERIFY(!table.isColumnHidden(file));
    QCOMPARE(table.model()->headerData(file, Qt::Horizontal).toString(), QString("File"));
    click_header(table, EventColumn::kRun);
    QVERIFY(wait_for([&] { return window_->isSettled() && cell(table, 0, EventColumn::kRun) == "ranks_late0.trace"; }));
    QCOMPARE(cell(table, table.model()->rowCount() - 1, EventColumn::kRun), QString("third.trace"));
    QVERIFY(open_and_settle(*window_, files_[0]));
    QVERIFY(table.isColumnHidden(file));
  }

  void theCommandOfTheFindingsNamesAllFiles() {
    openTogether(files_);
    window_->showPanel("findings");
    QVERIFY(settle(*window_));
    const QList<QLabel*> labels = window_->findings().findChildren<QLabel*>();
    const auto command = std::find_if(labels.begin(), labels.end(), [](const QLabel* label) { return label->text().startsWith("lanescope analyze "); });
    QVERIFY(command != labels.end());
    QCOMPARE((*command)->text(), "lanescope analyze " + files_.join(u' '));
  }

  // One line for each rank: how busy its GPU was.
  void manyRanksAreClosedAtFirst() {
    openTogether(files_);
    const timeline::RowTree& tree = window_->timelineView().rows();
    std::size_t headings = 0;
    for (const timeline::Row& row : tree.rows()) {
      if (row.kind != timeline::RowKind::kTrace) continue;
      ++headings;
      QVERIFY(!row.expanded_initially);
      QVERIFY(!row.all.empty());
      for (const timeline::LaneSource& source : row.all) QVERIFY(trace().track_of(source.lane).key.gpu != kNone);
    }
    QCOMPARE(headings, std::size_t{3});
  }

  // While the second rank was slow, the kernels of the first one waited for it; the third recording is from another time.
  void ranksAreOrderedByWhatTheyDid() {
    openTogether(files_);
    timeline::TimelineView& view = window_->timelineView();
    view.setVisibleRange({4'900'000'000, 5'100'000'000});
    QVERIFY(settle(*window_));
    const auto ordered = [&](timeline::RowMeasure by) {
      view.moveRow("part:2", "part:0");
      view.setCurrentRow("part:1");
      view.orderRows(by);
      return view.rowArrangement().order.at("");
    };
    const std::vector<std::string> by_rank{"part:0", "part:1", "part:2"};
    QVERIFY(ordered(timeline::RowMeasure::kBusy) == by_rank);
    QVERIFY(wait_for([&] { return ordered(timeline::RowMeasure::kWaiting).front() == "part:0"; }));
    view.edits().undo();
    QVERIFY(view.rowArrangement().order.at("").front() == "part:2");
  }

  void aFolderStandsForTheTracesInIt() {
    QVERIFY(open_and_settle(*window_, QString::fromStdString(folder_.path().string())));
    QCOMPARE(parts(), std::size_t{3});
    QVERIFY(window_->windowTitle().startsWith(QString::fromStdString(folder_.path().filename().string())));
  }

  // Not only in Diagnostics: a user who opens four files and sees two wants to know why.
  void filesThatAreLeftOutAreTold() {
    const TemporaryFolder folder;
    for (const char* name : {"a.trace", "b.trace", "c.trace"}) QVERIFY(QFile::copy(files_[0], QString::fromStdString((folder.path() / name).string())));
    QVERIFY(QFile::copy(files_[1], QString::fromStdString((folder.path() / "d.trace").string())));
    QVERIFY(open_and_settle(*window_, QString::fromStdString(folder.path().string())));
    QCOMPARE(parts(), std::size_t{2});
    QVERIFY2(window_->messages().text().contains("2 of 4 files are left out"), qPrintable(window_->messages().text()));
    QVERIFY(open_and_settle(*window_, QString::fromStdString(folder_.path().string())));
    QVERIFY2(!window_->messages().text().contains("left out"), qPrintable(window_->messages().text()));
  }

  // Two of them were recorded within a minute of each other, and a third one days before: on an axis of days, none can be seen.
  void recordingsOfOtherDaysAreSaidToBeOutOfSight() {
    openTogether({recorded("ranks_late0.trace"), recorded("ranks_late1.trace")});
    QVERIFY2(window_->messages().text().isEmpty(), qPrintable(window_->messages().text()));
    openTogether({recorded("ranks_late0.trace"), recorded("ranks_late1.trace"), recorded("cause_lock.trace")});
    QVERIFY(trace().extent().length() > 3'600'000'000'000);
    QVERIFY2(window_->messages().text().contains("so far apart"), qPrintable(window_->messages().text()));
  }

  void notesOfEachFileAreShownAtItsTimesAndStayBesideIt() {
    const QString first = files_[1] + ".notes", second = files_[0] + ".notes";
    const auto write = [](const QString& path, const QByteArray& text) {
      QFile file(path);
      QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    };
    const auto content = [](const QString& path) {
      QFile file(path);
      return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    write(first, "1.000000000  of the first\n");
    write(second, "2.000000000  of the second\n3.000000000  another\n");
    openTogether({files_[1], files_[0]});
    timeline::TimelineView& view = window_->timelineView();
    const ClockLine clock = trace().parts()[1].clock;
    QVERIFY(clock.shift() != 0);
    const auto times = [&] {
      std::vector<std::pair<Nanoseconds, QString>> all;
      for (const auto& marker : view.markers()) all.emplace_back(marker.time, marker.text);
      std::sort(all.begin(), all.end());
      return all;
    };
    std::vector<std::pair<Nanoseconds, QString>> expected{
        {1'000'000'000, "of the first"}, {clock(2'000'000'000), "of the second"}, {clock(3'000'000'000), "another"}};
    std::sort(expected.begin(), expected.end());
    QVERIFY(times() == expected);

    const QByteArray of_second = content(second);
    view.addMarker(1'500'000'000, "new");
    QVERIFY(content(first).contains("1.000000000  of the first\n1.500000000  new\n"));
    QCOMPARE(content(second), of_second);
    const QByteArray of_first = content(first);
    view.removeMarker(marker_of(view, "of the second"));
    QVERIFY(!content(second).contains("of the second"));
    QVERIFY(content(second).contains("3.000000000  another\n"));
    QCOMPARE(content(first), of_first);
    QVERIFY(open_and_settle(*window_, files_[0]));  // alone, with its own notes
    QCOMPARE(view.markers().size(), std::size_t{1});
    QCOMPARE(view.markers()[0].time, Nanoseconds{3'000'000'000});
    QFile::remove(first);
    QFile::remove(second);
  }

  // The notes of the first file cannot be stored, and another process writes those of the second.
  void markersThatCantBeKeptStayInSightWhenNotesOfAnotherFileChange() {
    const QString first = files_[1] + ".notes", second = files_[0] + ".notes";
    QVERIFY(QDir().mkpath(first));  // a folder with that name
    const auto write = [&](const QByteArray& text) {
      QFile file(second);
      QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    };
    write("2.0 of the second\n");
    openTogether({files_[1], files_[0]});
    timeline::TimelineView& view = window_->timelineView();
    view.addMarker(1'500'000'000, "not kept");
    write("2.0 of the second\n3.0 of somebody else\n");
    view.setMarkerText(marker_of(view, "of the second"), "changed");
    QStringList texts;
    for (const auto& marker : view.markers()) texts << marker.text;
    texts.sort();
    QCOMPARE(texts, QStringList({"changed", "not kept", "of somebody else"}));
    QVERIFY(QDir().rmdir(first));
    QFile::remove(second);
  }

  void notesOfAFolderStayBesideItAndThoseOfItsFilesBesideThem() {
    const QString folder = QString::fromStdString(folder_.path().string());
    QFile own(files_[1] + ".notes");
    QVERIFY(own.open(QIODevice::WriteOnly) && own.write("1.0 mine\n") > 0);
    own.close();
    QVERIFY(open_and_settle(*window_, folder));
    QCOMPARE(window_->timelineView().markers().size(), std::size_t{1});
    window_->timelineView().addMarker(4'000'000'000, "of all");
    QVERIFY(QFile::exists(folder + ".notes"));
    QVERIFY(open_and_settle(*window_, files_[1]));
    QCOMPARE(window_->timelineView().markers().size(), std::size_t{1});
    QVERIFY(open_and_settle(*window_, folder));
    QCOMPARE(window_->timelineView().markers().size(), std::size_t{2});
    QFile::remove(files_[1] + ".notes");
    QFile::remove(folder + ".notes");
  }

  void whatCantBeOpenedIsSaidAndNothingIsShown() {
    const TemporaryFolder empty;
    QSignalSpy failed(window_.get(), &MainWindow::failed);
    window_->openFile(QString::fromStdString(empty.path().string()));
    QVERIFY(wait_for([&] { return failed.count() == 1; }));
    QVERIFY(failed.takeFirst().first().toString().contains("is a folder without .trace files"));
    window_->openTogether({files_[0], files_[1] + ".not"});
    QVERIFY(wait_for([&] { return failed.count() == 1; }));
    QVERIFY(failed.takeFirst().first().toString().contains("can't be opened"));
    QVERIFY(!window_->state().trace());
  }

  void severalAsOneAreNotCompared() {
    openTogether(files_);
    QSignalSpy failed(window_.get(), &MainWindow::failed);
    window_->openBeside(files_[0]);
    QVERIFY(wait_for([&] { return failed.count() == 1; }));
    QVERIFY(failed.takeFirst().first().toString().contains("Several traces are open as one"));
    QVERIFY(settle(*window_));
    QCOMPARE(parts(), std::size_t{3});
    QVERIFY(open_and_settle(*window_, files_[0]));  // and the window continues to work
    window_->openBeside(files_[1]);
    QVERIFY(wait_for([&] { return window_->pair().isOpen() && parts() == 2; }));
  }

  // "step 6" is a range of each rank; the range of the third file is only there.
  void statisticsNameTheFiles() {
    openTogether(files_);
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    const ui::StatisticsModel& model = window_->statistics().model();
    const auto* table = window_->statistics().findChild<QTableView*>();
    QVERIFY(table != nullptr && !table->isColumnHidden(ui::StatisticsModel::kFile));
    QStringList shared;
    std::map<QString, int> alone;
    for (int row = 0; row < model.rowCount(); ++row) {
      const QModelIndex file = model.index(row, ui::StatisticsModel::kFile);
      if (model.index(row, ui::StatisticsModel::kName).data().toString() == "step 6") shared = {file.data().toString(), file.data(Qt::ToolTipRole).toString()};
      ++alone[file.data().toString()];
    }
    QCOMPARE(shared, (QStringList{"2 files", "ranks_late0.trace\nranks_late1.trace"}));
    QVERIFY(alone["third.trace"] > 0 && alone[""] == 0);
    QVERIFY(open_and_settle(*window_, files_[0]));
    QVERIFY(table->isColumnHidden(ui::StatisticsModel::kFile));
  }

  // The shares of each kind add up to 100 %: the header says so, and its words have room beside the arrow of the sorting.
  void headersOfStatisticsSayOfWhatAndAreWhole() {
    openTogether(files_);
    window_->showPanel("statistics");
    QVERIFY(settle(*window_));
    const auto* table = window_->statistics().findChild<QTableView*>();
    const QHeaderView* header = table->horizontalHeader();
    QCOMPARE(table->model()->headerData(ui::StatisticsModel::kShare, Qt::Horizontal).toString(), QString("Share of Kind"));
    for (int column = ui::StatisticsModel::kCount; column < ui::StatisticsModel::kColumns; ++column)
      QVERIFY2(header->sectionSize(column) >= header->sectionSizeHint(column), qPrintable(table->model()->headerData(column, Qt::Horizontal).toString()));
  }

 private:
  const Trace& trace() { return *window_->state().trace(); }
  std::size_t parts() { return window_->state().trace() ? trace().parts().size() : 0; }
  void openTogether(const QStringList& files) {
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    window_->openTogether(files);
    QVERIFY(opened.wait(kPatienceMs));
    QVERIFY(settle(*window_));
  }

  TemporaryFolder folder_;
  QStringList files_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(RanksTest)
#include "test_gui_ranks.moc"
