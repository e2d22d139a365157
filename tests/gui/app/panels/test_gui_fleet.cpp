// Results about fleets in the viewer: drawing, choosing and opening, from a file with known content, and files that are not valid.
#include <fstream>

#include <QAction>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPushButton>

#include "fixture/dialogs.h"
#include "fixture/main_window_fixture.h"
#include "fleet/fleet_window.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::FleetWindow;
using lanescope::ui::HeatMapView;
using lanescope::ui::MainWindow;

namespace {

// Two ranks by three steps, the last at an unknown time. Each step of the second rank starts 50 µs later by its recording's clock, which is 1 s behind.
QJsonObject fleet_of(const QString& first, const QString& second) {
  const auto source = [](const QString& file, double offset, double shift) {
    return QJsonObject{{"file", file},
                       {"begin", QJsonArray{400e3 + offset, 1'200e3 + offset, -1}},
                       {"end", QJsonArray{700e3 + offset, 1'500e3 + offset, -1}},
                       {"shift", QJsonArray{shift, shift, shift}}};
  };
  const auto map = [](const QString& title, QJsonArray one, QJsonArray other) {
    return QJsonObject{{"title", title},
                       {"unit", "ms"},
                       {"columns", QJsonArray{"1", "2", "3"}},
                       {"rows", QJsonArray{QJsonObject{{"label", "rank 0"}, {"values", one}, {"source", 0}},
                                           QJsonObject{{"label", "rank 1 <b>"}, {"values", other}, {"source", 1}}}}};
  };
  return {{"format", "lanescope fleet"},
          {"version", 1},
          {"recipe", "straggler"},
          {"sentences", QJsonArray{"rank 1 holds the others up."}},
          {"sources", QJsonArray{source(first, 0, 0), source(second, 50e3, 1e9)}},
          {"maps", QJsonArray{map("Own lateness", {0, 1, QJsonValue::Null}, {5, 10, 2}), map("Wait", {7, 8, 9}, {0, 0, 0})}}};
}

}  // namespace

class FleetTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    first_ = known_trace_in(folder_);
    second_ = pathOf("second.trace");
    write_known_trace(second_.toStdString(), kKernelDuration, 4712);
    write(fleet_of("known.trace", "second.trace"));
  }

  void init() {
    window_ = std::make_unique<MainWindow>(ui::Layout::kInitial);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get(), kPatienceMs));
  }
  void cleanup() { window_.reset(); }

  void aFileOfAFleetIsShownAsOneHoweverItIsOpened() {
    window_->openFile(path());
    QVERIFY(wait_for([&] { return window_->findChild<FleetWindow*>() != nullptr; }));
    QVERIFY2(window_->messages().text().isEmpty(), qPrintable(window_->messages().text()));
    QVERIFY(!window_->state().trace());
  }

  void drawsEachKnownCellByItsValue() {
    FleetWindow* fleet = open();
    HeatMapView& map = fleet->heatMap();
    const QImage picture = map.viewport()->grab().toImage();
    const auto colour = [&](int row, int column) { return picture.pixelColor((map.rectangle(row, column).center() * picture.devicePixelRatio())); };
    const QColor background = map.palette().color(QPalette::Base);
    QCOMPARE(colour(0, 2), background);  // nothing is known of it
    const auto distance = [&](int row, int column) { return std::abs(colour(row, column).lightness() - background.lightness()); };
    QVERIFY(distance(1, 1) > distance(1, 0));
    QVERIFY(distance(1, 0) > distance(0, 1));
    QCOMPARE(map.toolTipOf(1, 1), QStringLiteral("rank 1 <b>, step 2: 10 ms"));
    QCOMPARE(map.toolTipOf(0, 2), QStringLiteral("rank 0, step 3: not known"));
  }

  void showsAnotherMeasureOfWhatIsChosen() {
    FleetWindow* fleet = open();
    click(fleet, 1, 1);
    auto* measures = fleet->findChild<QComboBox*>();
    QCOMPARE(measures->count(), 2);
    measures->setCurrentIndex(1);
    QCOMPARE(fleet->heatMap().column(), 1);
    QCOMPARE(fleet->heatMap().rows(), std::vector<int>{1});
    QCOMPARE(fleet->heatMap().toolTipOf(1, 1), QStringLiteral("rank 1 <b>, step 2: 0 ms"));
  }

  void opensARankAtTheStep() {
    FleetWindow* fleet = open();
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    click(fleet, 0, 1);
    QTest::mouseDClick(fleet->heatMap().viewport(), Qt::LeftButton, {}, fleet->heatMap().rectangle(0, 1).center());
    QVERIFY(opened.wait(kPatienceMs) && settle(*window_));
    QCOMPARE(window_->session().file(), first_);
    QVERIFY(shows({1'200'000, 1'500'000}));
  }

  // A note that cannot be written, because a folder has the name of its file.
  void asksBeforeWhatIsInTheWindowAloneIsGone() {
    const QString other = pathOf("other.trace");
    QVERIFY(QFile::copy(recorded("cuda_streams.trace"), other) && QDir().mkpath(other + ".notes"));
    QVERIFY(open_and_settle(*window_, other));
    window_->timelineView().addMarker(300'000, "here");
    FleetWindow* fleet = open();
    click(fleet, 0, 1);
    const DialogAnswers cancel([](QDialog& dialog) { dialog.reject(); });
    QTest::mouseClick(button(fleet, "Open"), Qt::LeftButton);
    QVERIFY(settle(*window_));
    QCOMPARE(cancel.count(), 1);
    QCOMPARE(window_->session().file(), other);
    QCOMPARE(window_->timelineView().markers().size(), std::size_t{1});
  }

  void opensTwoRanksAlignedAtTheStep() {
    FleetWindow* fleet = open();
    click(fleet, 0, 0);
    click(fleet, 1, 0, Qt::ControlModifier);
    QCOMPARE(fleet->chosen().size(), std::size_t{2});
    auto& pair = window_->pair();
    Nanoseconds end_when_placed = 0;  // of the drawing
    connect(&pair, &ui::TracePair::placed, this, [&] { end_when_placed = window_->timelineView().trace()->extent().end; });
    QTest::mouseClick(button(fleet, "Open"), Qt::LeftButton);
    QVERIFY(wait_for([&] { return pair.isOpen() && pair.alignment() == ui::TracePair::Alignment::kPlace && window_->isSettled(); }));
    QCOMPARE(pair.first().path, first_);
    QCOMPARE(pair.second().path, second_);
    // A time of the second recording plus 1 s is a time of the axis, on which the times of the first are unchanged.
    QCOMPARE(pair.shift(), Nanoseconds{1'000'000'000});
    QVERIFY(shows({400'000, 700'000}));
    QVERIFY(end_when_placed > pair.shift());  // the step was searched on the shifted axis, not on an earlier one
  }

  // Three recordings of three ranks are one trace, at the step of the rank that was chosen first.
  void opensMoreThanTwoRanksAsOneTrace() {
    const QString third = pathOf("third.trace");
    write_known_trace(third.toStdString(), kKernelDuration, 4713);
    QJsonObject fleet_file = fleet_of("known.trace", "second.trace");
    QJsonArray sources = fleet_file["sources"].toArray();
    QJsonObject of_third = sources[0].toObject();
    of_third["file"] = "third.trace";
    sources.append(of_third);
    fleet_file["sources"] = sources;
    QJsonArray maps = fleet_file["maps"].toArray();
    QJsonObject map = maps[0].toObject();
    QJsonArray rows = map["rows"].toArray();
    rows.append(QJsonObject{{"label", "rank 2"}, {"values", QJsonArray{1, 2, 3}}, {"source", 2}});
    map["rows"] = rows;
    fleet_file["maps"] = QJsonArray{map};
    write(fleet_file);
    FleetWindow* fleet = open();
    write(fleet_of("known.trace", "second.trace"));
    click(fleet, 0, 1);
    click(fleet, 2, 1, Qt::ShiftModifier);
    QCOMPARE(fleet->heatMap().rows(), (std::vector<int>{0, 1, 2}));
    click(fleet, 1, 1, Qt::ControlModifier);
    QCOMPARE(fleet->heatMap().rows(), (std::vector<int>{0, 2}));
    QTest::keyClick(&fleet->heatMap(), Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(fleet->heatMap().rows(), (std::vector<int>{0, 1, 2}));
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    QTest::mouseClick(button(fleet, "Open"), Qt::LeftButton);
    QVERIFY(opened.wait(kPatienceMs) && settle(*window_));
    QCOMPARE(window_->state().trace()->parts().size(), std::size_t{3});
    QVERIFY(!window_->pair().isOpen());
    QVERIFY(shows({1'200'000, 1'500'000}));
  }

  void isUsedWithTheKeyboard() {
    FleetWindow* fleet = open();
    HeatMapView& map = fleet->heatMap();
    map.setFocus();
    QTest::keyClick(&map, Qt::Key_Right);  // the first cell
    QTest::keyClick(&map, Qt::Key_Right);
    QCOMPARE(map.column(), 1);
    QTest::keyClick(&map, Qt::Key_Down);
    QCOMPARE(map.rows(), std::vector<int>{1});
    QTest::keyClick(&map, Qt::Key_Up, Qt::ControlModifier);
    QCOMPARE(map.rows(), (std::vector<int>{1, 0}));
    QTest::keyClick(&map, Qt::Key_Down);
    QTest::keyClick(&map, Qt::Key_Down);
    QCOMPARE(map.rows(), std::vector<int>{1});  // there is no further one
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    QTest::keyClick(&map, Qt::Key_Return);
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(window_->session().file(), second_);
  }

  void opensNothingOfWhichTheTimeIsNotKnown() {
    FleetWindow* fleet = open();
    QVERIFY(!button(fleet, "Open")->isEnabled());
    click(fleet, 1, 2);
    QVERIFY(!button(fleet, "Open")->isEnabled());
    QVERIFY(fleet->chosen().empty());
    click(fleet, 1, 1);
    QVERIFY(button(fleet, "Open")->isEnabled());
  }

  void saysThatARecordingIsNotThere() {
    write(fleet_of("known.trace", "gone.trace"));
    FleetWindow* fleet = open();
    QSignalSpy failed(window_.get(), &MainWindow::failed);
    click(fleet, 1, 0);
    QTest::mouseClick(button(fleet, "Open"), Qt::LeftButton);
    QVERIFY(failed.count() > 0 || failed.wait(kPatienceMs));
    QVERIFY(failed.first().first().toString().contains("gone.trace"));
    write(fleet_of("known.trace", "second.trace"));
  }

  void refusesFilesThatAreNone_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("said");
    const auto changed = [&](const char* key, const QJsonValue& value) {
      QJsonObject fleet = fleet_of("known.trace", "second.trace");
      fleet[QLatin1String(key)] = value;
      return QJsonDocument(fleet).toJson();
    };
    const QByteArray whole = QJsonDocument(fleet_of("known.trace", "second.trace")).toJson();
    QTest::newRow("empty") << QByteArray() << "can't be shown";
    QTest::newRow("cut") << whole.first(whole.size() / 2) << "can't be shown";
    QTest::newRow("no object") << QByteArray("[1]") << "it is not a JSON object";
    QTest::newRow("another format") << changed("format", "x") << "it is not an answer of lanescope fleet";
    QTest::newRow("a later version") << changed("version", 2) << "it has version 2";
    QTest::newRow("nothing to draw") << changed("maps", QJsonArray{}) << "there is no picture";
    QTest::newRow("maps that are numbers") << changed("maps", QJsonArray{1, 2}) << "there is no picture";
    QTest::newRow("rows of other lengths") << QByteArray(whole).replace("\"columns\": [", "\"columns\": [\"0\",") << "3 values for 4 columns";
    QTest::newRow("deep") << QByteArray(100'000, '[') << "can't be shown";
  }
  void refusesFilesThatAreNone() {
    QFETCH(QByteArray, content);
    QFETCH(QString, said);
    const QString path = pathOf("bad.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(content) == content.size());
    file.close();
    const Result<ui::FleetFile> read = ui::read_fleet_file(path);
    QVERIFY(!read);
    QVERIFY2(QString::fromStdString(read.error().text).contains(said), read.error().text.c_str());
    QVERIFY(window_->openFleet(path) == nullptr);
  }

  void readsTimesThatMakeNoSenseAsNotKnown() {
    QJsonObject fleet = fleet_of("known.trace", "second.trace");
    fleet["sources"] =
        QJsonArray{QJsonObject{{"file", "known.trace"}, {"begin", QJsonArray{1e300, 5, "x"}}, {"end", QJsonArray{2e300, 4, 7}}, {"shift", 3}}, 7};
    write(fleet);
    const Result<ui::FleetFile> read = ui::read_fleet_file(path());
    QVERIFY(bool(read));
    for (const auto& cell : read->maps[0].rows[0].source->cells) QVERIFY(cell.time.empty());
    QVERIFY(read->maps[0].rows[1].source == nullptr);
    write(fleet_of("known.trace", "second.trace"));
  }

  void drawsMoreStepsThanThereArePixels() {
    QJsonArray columns, values, begins;
    for (int i = 0; i < 5'000; ++i) {
      columns.append(QString::number(i));
      values.append(i == 2'500 ? 9 : 0);
    }
    QJsonObject fleet = fleet_of("known.trace", "second.trace");
    fleet["maps"] = QJsonArray{
        QJsonObject{{"title", "long"}, {"unit", "ms"}, {"columns", columns}, {"rows", QJsonArray{QJsonObject{{"label", "rank 0"}, {"values", values}}}}}};
    write(fleet);
    HeatMapView& map = open()->heatMap();
    const QImage picture = map.viewport()->grab().toImage();
    // The single long step is visible, although several steps share its pixel.
    const QPoint place = map.rectangle(0, 2'500).center() * picture.devicePixelRatio();
    QCOMPARE(picture.pixelColor(place), map.palette().color(QPalette::Text));
    write(fleet_of("known.trace", "second.trace"));
  }

 private:
  QString pathOf(const char* name) const { return QString::fromStdString((folder_.path() / name).string()); }
  QString path() const { return pathOf("fleet.json"); }
  void write(const QJsonObject& fleet) {
    QFile file(path());
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write(QJsonDocument(fleet).toJson());
  }
  FleetWindow* open() {
    FleetWindow* fleet = window_->openFleet(path());
    if (fleet == nullptr || !QTest::qWaitForWindowExposed(fleet, kPatienceMs)) qFatal("The fleet can't be shown.");
    return fleet;
  }
  static void click(FleetWindow* fleet, int row, int column, Qt::KeyboardModifiers modifiers = {}) {
    HeatMapView& map = fleet->heatMap();
    QTest::mouseClick(map.viewport(), Qt::LeftButton, modifiers, map.rectangle(row, column).center());
  }
  static QPushButton* button(FleetWindow* fleet, const QString& text) {
    for (QPushButton* each : fleet->findChildren<QPushButton*>())
      if (each->text().remove(u'&') == text) return each;
    return nullptr;
  }
  // The time is in sight, and takes most of the view.
  bool shows(TimeRange time) {
    const auto in_sight = [&] {
      const TimeRange view = window_->timelineView().visibleRange();
      return view.begin <= time.begin && view.end >= time.end && view.length() < 2 * time.length();
    };
    return wait_for(in_sight);
  }

  TemporaryFolder folder_;
  QString first_, second_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(FleetTest)
#include "test_gui_fleet.moc"
