// Sums of the listed events by columns that the user chooses: made with the mouse, for a recorded training loop, in memory and from its file.
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QToolButton>

#include <algorithm>
#include <map>

#include "fixture/gestures.h"
#include "fixture/panel_tables.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/segments/demanded_segments.h"
#include "panels/duration_chart.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

using Sums = std::map<std::pair<std::string, std::string>, std::vector<EventRef>>;  // by NVTX range and kind

// Computed from each event that passes the filter.
Sums sums_by_hand(MainWindow& window, const std::optional<TimeRange>& range) {
  const std::shared_ptr<const Trace> trace = window.state().trace();
  const EventValues values(trace, ui::listed_scope(*trace));
  EventFilter filter;
  filter.window = range;
  Sums sums;
  for (const EventRef event : gather_by_start(*trace, values.scope().lanes(), filter))
    sums[{values.text(event, EventColumn::kNvtxRange), values.text(event, EventColumn::kKind)}].push_back(event);
  return sums;
}

bool choose_item(QWidget& panel, const QString& box, const QString& item) {
  for (QComboBox* each : panel.findChildren<QComboBox*>()) {
    if (each->accessibleName() != box) continue;
    const int index = each->findText(item);
    if (index < 0) return false;
    each->setCurrentIndex(index);
    emit each->activated(index);
    return true;
  }
  return false;
}

}  // namespace

class PivotTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void init() {
    window_ = window_of(recording());
    QVERIFY(window_);
    window_->resize(1500, 950);
    window_->showPanel("statistics");
    QVERIFY(choose_item(window_->statistics(), "What is shown", "Durations by chosen columns"));
    QVERIFY(choose_item(window_->statistics(), "Column that events are summed by", "NVTX Range"));
    QVERIFY(settle(*window_));
  }
  void cleanup() { window_.reset(); }

  void aRangeIsSummedByTwoColumnsAndAGroupIsListed() {
    const TimeRange range{9'600'000'000, 9'700'000'000};
    window_->state().setSelectedRange(range);
    QVERIFY(settle(*window_));
    const Sums expected = sums_by_hand(*window_, range);
    QVERIFY(expected.size() > 5);
    QCOMPARE(table().results().rowCount(), int(expected.size()));
    const Trace& trace = *window_->state().trace();
    std::map<std::pair<std::string, std::string>, int> rows;
    for (int row = 0; row < table().results().rowCount(); ++row) {
      QString range_name = cell(table(), row, "NVTX Range");
      if (range_name == "(none)") range_name.clear();
      rows[{range_name.toStdString(), cell(table(), row, "Kind").toStdString()}] = row;
    }
    for (const auto& [key, events] : expected) {
      QVERIFY2(rows.contains(key), (key.first + ", " + key.second).c_str());
      const std::size_t row = table().results().tableRow(rows.at(key));
      Nanoseconds total = 0, longest = 0;
      for (const EventRef event : events) {
        total += trace.event(event).duration;
        longest = std::max(longest, trace.event(event).duration);
      }
      const auto& columns = table().results().table()->columns();
      QCOMPARE(columns[3].integer(row), total);
      QCOMPARE(columns[4].integer(row), std::int64_t(events.size()));
      QCOMPARE(columns[7].integer(row), longest);
    }
    const QString command = window_->statistics().command();
    QVERIFY2(command.contains("-r event_sum:by=range:by=kind --filter-time 9600000000/9700000000"), qPrintable(command));

    // Only one kind, which the list of events then shows as well.
    QComboBox* kinds = nullptr;
    for (QComboBox* each : window_->statistics().pivot().findChildren<QComboBox*>())
      if (each->accessibleName() == "Kind of event") kinds = each;
    QVERIFY(kinds != nullptr && kinds->isVisible());
    const int all_groups = table().results().rowCount();
    const auto choose_kind = [&](const QString& kind) {
      kinds->setCurrentIndex(kinds->findText(kind));
      emit kinds->activated(kinds->currentIndex());
      return settle(*window_);
    };
    QVERIFY(choose_kind("Kernel"));
    QCOMPARE(table().results().rowCount(),
             int(std::count_if(expected.begin(), expected.end(), [](const auto& each) { return each.first.second == "Kernel"; })));
    QVERIFY2(window_->statistics().command().contains("-r event_sum:by=range:by=kind:kind=kernel --filter-time"), qPrintable(window_->statistics().command()));
    QCOMPARE(window_->state().filter().kind, std::optional(EventKind::kKernel));
    QVERIFY(choose_kind("All kinds"));
    QCOMPARE(table().results().rowCount(), all_groups);

    // Sorted by count with the header; the first group is chosen, copied and listed.
    const auto row_of = [&](const std::pair<std::string, std::string>& key) {
      for (int row = 0; row < table().results().rowCount(); ++row)
        if (cell(table(), row, "NVTX Range").toStdString() == key.first && cell(table(), row, "Kind").toStdString() == key.second) return row;
      return -1;
    };
    const std::pair<std::string, std::string> kernels_of_forward{"forward", "Kernel"};
    click_section(column_of(table(), "Instances"));
    QCOMPARE(cell(table(), 0, "Instances").toULongLong(),
             std::max_element(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); })->second.size());
    Gestures gestures(*window_);
    QVERIFY(gestures.click_row(table(), row_of(kernels_of_forward)));
    const EventRef longest = window_->state().selectedEvent();
    QVERIFY(longest.valid());
    const std::vector<EventRef>& members = expected.at(kernels_of_forward);
    QCOMPARE(
        trace.event(longest).duration,
        trace
            .event(*std::max_element(members.begin(), members.end(), [&](EventRef a, EventRef b) { return trace.event(a).duration < trace.event(b).duration; }))
            .duration);
    QTest::keySequence(&table(), QKeySequence::Copy);
    QCOMPARE(QGuiApplication::clipboard()->text().count(u'\n'), 2);  // the titles and the row
    QVERIFY(QGuiApplication::clipboard()->text().contains("forward\tKernel\t"));

    QTest::keyClick(&table(), Qt::Key_Return);
    QVERIFY(settle(*window_));
    QVERIFY(window_->events().isVisible());
    QCOMPARE(events_table(*window_)->model()->rowCount(), int(members.size()));
    for (const QString condition : {"NVTX Range: forward", "Kind: Kernel"}) {
      auto* chip = chip_of(condition);
      QVERIFY2(chip, qPrintable(condition));
      chip->click();
      QVERIFY(settle(*window_));
    }
    QCOMPARE(window_->state().filter(), EventFilter());
    QVERIFY(events_table(*window_)->model()->rowCount() > int(members.size()));
    QVERIFY(!chip_of("Kind: Kernel"));
  }

  // The distribution beside the table is that of the chosen group.
  void durationsOfTheChosenGroupAreDrawn() {
    auto* chart = window_->statistics().findChild<ui::DurationChart*>();
    QVERIFY(Gestures(*window_).click_row(table(), 0));
    QVERIFY2(chart->chart()->title().contains(cell(table(), 0, "Kind")), qPrintable(chart->chart()->title()));
  }

  // More events than the memory for events holds: nothing is summed until the user asks for it, then all of them, from the file.
  void sumsMoreEventsThanMemoryHolds() {
    const std::filesystem::path compact = folder_.path() / "compact.trace";
    QVERIFY(compact_trace_file(recording().toStdString(), compact, Overwrite::kAllow).has_value());
    const Sums expected = sums_by_hand(*window_, std::nullopt);
    SegmentCache& cache = SegmentCache::of_process();
    cache.set_budget(16 << 10);
    const auto usual = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    QVERIFY(open_and_settle(*window_, QString::fromStdString(compact.string())));
    QVERIFY(!holds_events(*window_->state().trace()));
    QCOMPARE(table().results().rowCount(), 0);
    QLabel* question = nullptr;
    for (QLabel* label : window_->statistics().findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains("Add up all of them")) question = label;
    QVERIFY(question != nullptr);
    emit question->linkActivated("same");
    QVERIFY(settle(*window_));
    QVERIFY(!question->isVisible());
    QCOMPARE(table().results().rowCount(), int(expected.size()));
    std::size_t count = 0;
    for (const auto& [key, events] : expected) count += events.size();
    QCOMPARE(column_sum(table(), 4), std::int64_t(count));
    window_->state().setFilter({.text = "gemm"});
    QVERIFY(settle(*window_));
    QVERIFY(column_sum(table(), 4) < std::int64_t(count));
  }

 private:
  static QString recording() { return recorded("torch_training_workers0.trace"); }
  ui::ResultTable& table() { return window_->statistics().pivot().table(); }
  void click_section(int section) {
    QHeaderView* header = table().horizontalHeader();
    QTest::mouseClick(header->viewport(), Qt::LeftButton, Qt::NoModifier, {header->sectionViewportPosition(section) + 8, header->height() / 2});
  }
  QToolButton* chip_of(const QString& condition) {
    for (QToolButton* button : window_->events().findChildren<QToolButton*>())
      if (button->isVisible() && button->accessibleName() == condition) return button;
    return nullptr;
  }

  TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(PivotTest)
#include "test_gui_pivot.moc"
