// The panels with answers: bubbles, findings, reports and utilisation.
#include <QAbstractItemModelTester>
#include <QChart>
#include <QClipboard>
#include <QGraphicsTextItem>
#include <QLegend>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "../../../timeline/traces.h"
#include "base/text/texts.h"
#include "fixture/known_trace_test.h"
#include "fixture/panel_tables.h"
#include "model/analysis/idle/idle.h"
#include "model/analysis/rule.h"
#include "model/stats/report.h"
#include "model/trace/building/thread_states.h"
#include "model/trace/trace_builder.h"
#include "panels/utilisation.h"
#include "panels/utilisation_chart.h"
#include "timeline/core/lanes/communication_time.h"
#include "timeline/core/pixels/svg_picture.h"
#include "window/look/theme.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class AnalysisTest : public TwoRunsTest {
  Q_OBJECT

 private slots:
  // The click moves the focus away from the field, which starts the search for other gaps, and chooses one of the rows that are still listed.
  void aRowIsChosenWhileOtherGapsAreLookedFor() {
    for (const auto table_of : {&ui::BubblesPanel::gaps, &ui::BubblesPanel::groups}) {
      init();
      window_->showPanel("bubbles");
      QVERIFY(settle(*window_));
      ui::ResultTable& table = (window_->bubbles().*table_of)();
      auto* threshold = window_->bubbles().findChild<QLineEdit*>();
      QVERIFY(table.results().rowCount() > 1);
      threshold->setFocus();
      threshold->selectAll();
      QTest::keyClicks(threshold, "45us");
      QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::NoModifier, table.visualRect(table.model()->index(0, 0)).center());
      QVERIFY(window_->state().selection().gap());
      QCOMPARE(window_->state().selection().gap()->range.end, kLongestGapEnd);
      QVERIFY(settle(*window_));
      QCOMPARE(window_->bubbles().gaps().results().rowCount(), 2);  // 50 and 900 µs
    }
  }

  // The tables about a trace are cleared with it, before the next one is searched: a row would lead to another event there.
  void answersGoWithTheirTrace() {
    for (const char* panel : {"findings", "bubbles", "statistics"}) {
      init();
      window_->showPanel(panel);
      if (QByteArray(panel) == "statistics") window_->statistics().chooseReport("cuda_gpu_kern_sum");
      QVERIFY(settle(*window_));
      const ui::ResultTable& table = QByteArray(panel) == "findings"  ? window_->findings().findings()
                                     : QByteArray(panel) == "bubbles" ? window_->bubbles().gaps()
                                                                      : window_->statistics().report().table();
      QVERIFY2(table.results().rowCount() > 0, panel);
      SmallTrace other;
      other.builder.add(other.on_gpu(TrackKind::kKernels), {other.event(0, 10, "alone")});
      window_->state().setTrace(other.builder.snapshot(), ui::TraceChange::kOther);
      QVERIFY2(table.results().rowCount() == 0, panel);
      QVERIFY(settle(*window_));
    }
  }

  void bubblesAddUpToTheIdleTimeAndLeadToTheirPlaces() {
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    ui::ResultTable& groups = window_->bubbles().groups();
    ui::ResultTable& gaps = window_->bubbles().gaps();
    QCOMPARE(column_sum(groups, 0), kIdle);
    QCOMPARE(column_sum(gaps, 0), kIdle);
    QVERIFY2(window_->bubbles().summary().contains("1.040 ms"), qPrintable(window_->bubbles().summary()));
    QCOMPARE(cell(groups, 0, "Cause"), QString("Running CPU code"));
    QCOMPARE(cell(groups, 0, "NVTX Range"), QString("step"));

    gaps.chooseRow(0);
    const TimeRange longest{kLongestGapEnd - kGaps[2], kLongestGapEnd};
    QVERIFY(window_->timelineView().selectedGap() && window_->timelineView().selectedGap()->range == longest);
    QVERIFY(window_->state().selectedRange() == longest && !window_->state().selectedEvent().valid());
    QVERIFY(settled());
    QCOMPARE(column_sum(gaps, 0), kIdle);  // a gap is one of the lines, not what they are about
    QVERIFY(gaps.chosenRow() == ui::TableRow{0});
    const TimeRange visible = window_->timelineView().visibleRange();
    QVERIFY(visible.begin <= kLongestGapEnd - kGaps[2] && visible.end > kLongestGapEnd);
    QVERIFY(visible.length() < 2 * kGaps[2]);
  }

  void aGroupListsItsOwnBubbles() {
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    ui::ResultTable& groups = window_->bubbles().groups();
    for (int row = 0; row < groups.results().rowCount(); ++row) {
      groups.selectRow(row);
      QVERIFY(settled());
      const auto& totals = std::get<stats::Integers>(groups.results().table()->columns()[0].values);
      QCOMPARE(column_sum(window_->bubbles().gaps(), 0), totals[groups.results().tableRow(row)]);
    }
    groups.clearSelection();
    QVERIFY(settled());
    QCOMPARE(column_sum(window_->bubbles().gaps(), 0), kIdle);  // all gaps again
  }

  // The longest gap of the loop of a training; the analysis knows its parts.
  void aChosenGapSaysWhatItIsMadeOf() {
    QVERIFY(open_and_settle(*window_, recorded("torch_training_workers0.trace")));
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    QCOMPARE(window_->bubbles().advice(), QString());
    ui::ResultTable& gaps = window_->bubbles().gaps();
    gaps.chooseRow(1);
    const Nanoseconds start = gaps.results().table()->columns()[static_cast<std::size_t>(column_of(gaps, "Start"))].integer(1);
    const analysis::Bubbles bubbles = analysis::find_bubbles(*window_->state().trace(), 10'000);
    const auto bubble =
        std::find_if(bubbles.bubbles.begin(), bubbles.bubbles.end(), [&](const analysis::Bubble& each) { return each.gap.range.begin == start; });
    QVERIFY(bubble != bubbles.bubbles.end());
    std::map<analysis::IdleCause, Nanoseconds> times;
    for (const analysis::IdlePart& part : bubble->parts) times[part.cause] += part.range.length();
    QVERIFY(times.size() > 2);
    const QString said = window_->bubbles().advice().replace(QChar::Nbsp, u' ');
    for (const auto& [cause, time] : times) {
      const QString words = QString("%1 %2 (").arg(ui::text_of(analysis::idle_cause_name(cause)), ui::duration_text(time));
      QVERIFY2(said.contains(words), qPrintable(said + " lacks " + words));
    }
    QVERIFY2(said.startsWith("This gap: Running CPU code"), qPrintable(said));
    // The text disappears when a group is chosen, and returns.
    window_->bubbles().groups().chooseRow(0);
    QVERIFY(settled());
    QVERIFY(!window_->bubbles().advice().contains("This gap"));
    QVERIFY(!window_->bubbles().advice().isEmpty());
    gaps.chooseRow(0);
    QVERIFY(window_->bubbles().advice().contains("\nThis gap"));
  }

  // By keyboard, and by the menu: the parts are those of the analysis, and take as long as the gap.
  void aGapUnfoldsIntoItsParts() {
    QVERIFY(open_and_settle(*window_, recorded("torch_loader_samples.trace")));
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    ui::ResultTable& gaps = window_->bubbles().gaps();
    const int lines = gaps.results().rowCount();
    const auto integer = [&](const char* title, ui::TableRow row) {
      return gaps.results().table()->columns()[static_cast<std::size_t>(column_of(gaps, title))].integer(row);
    };
    const analysis::Bubbles bubbles = analysis::find_bubbles(*window_->state().trace(), 10'000);
    for (const ui::TableRow row : {0, 3}) {
      gaps.chooseRow(row);
      QVERIFY(settled());
      const Nanoseconds start = integer("Start", row), length = integer("Gap", row);
      const auto bubble = std::find_if(bubbles.bubbles.begin(), bubbles.bubbles.end(), [&](const analysis::Bubble& each) {
        return each.gap.range == TimeRange{start, start + length};
      });
      QVERIFY(bubble != bubbles.bubbles.end() && bubble->parts.size() > 1);
      QTest::keyClick(&gaps, Qt::Key_Right);
      QVERIFY(settled());
      const int parts = static_cast<int>(bubble->parts.size());
      QCOMPARE(gaps.results().rowCount(), lines + parts);
      Nanoseconds sum = 0;
      QStringList states;
      for (int i = 0; i < parts; ++i) {
        const int line = gaps.currentIndex().row() + 1 + i;
        const ui::TableRow part = gaps.results().tableRow(line);
        const analysis::IdlePart& known = bubble->parts[static_cast<std::size_t>(i)];
        QCOMPARE(integer("Start", part), known.range.begin);
        QCOMPARE(integer("Idle", part), known.range.length());
        QCOMPARE(cell(gaps, line, "Cause"), ui::text_of(analysis::idle_cause_name(known.cause)));
        QCOMPARE(cell(gaps, line, "NVTX Range"),
                 known.nvtx.valid() ? ui::text_of(window_->state().trace()->name(window_->state().trace()->event(known.nvtx).name)) : QString());
        states += cell(gaps, line, "Thread State");
        sum += integer("Idle", part);
      }
      QCOMPARE(sum, length);
      QVERIFY2(states.contains("Running"), qPrintable(states.join(u'|')));
      QVERIFY(gaps.isColumnHidden(column_of(gaps, "Gap")));  // the whole of each gap counts
      // Copied lines tell which are parts, and of which gap.
      for (int line = 0; line <= parts; ++line)
        gaps.selectionModel()->select(gaps.model()->index(gaps.currentIndex().row() + line, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
      gaps.copySelection();
      const QStringList copied = QGuiApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts);
      QCOMPARE(copied.size(), parts + 2);
      QVERIFY2(copied.front().endsWith("\tPart of Gap at (ns)"), qPrintable(copied.front()));
      QVERIFY2(copied[1].endsWith(u'\t'), qPrintable(copied[1]));
      for (int line = 2; line < copied.size(); ++line) QVERIFY2(copied[line].endsWith(QString("\t%1").arg(start)), qPrintable(copied[line]));
      gaps.selectRow(gaps.currentIndex().row());
      // They stay behind their gap, whatever the lines are sorted by; one that is chosen selects the gap.
      gaps.sortByColumn(column_of(gaps, "Start"), Qt::DescendingOrder);
      const int behind = gaps.currentIndex().row() + 1;
      QCOMPARE(integer("Start", gaps.results().tableRow(behind)), start);
      gaps.selectRow(behind + parts - 1);
      QVERIFY(window_->timelineView().selectedGap() && window_->timelineView().selectedGap()->range == TimeRange(start, start + length));
      QTest::keyClick(&gaps, Qt::Key_Left);
      QVERIFY(settled());
      QCOMPARE(gaps.results().rowCount(), lines);
      QVERIFY(gaps.chosenRow() == row);
      gaps.sortByColumn(-1, Qt::AscendingOrder);
    }
    // The mark in front of its time does so, too.
    const QRect first = gaps.visualRect(gaps.model()->index(0, 0));
    const int text = gaps.fontMetrics().horizontalAdvance(gaps.model()->index(0, 0).data().toString());
    QTest::mouseClick(gaps.viewport(), Qt::LeftButton, Qt::NoModifier, {first.right() - text - gaps.fontMetrics().averageCharWidth(), first.center().y()});
    QVERIFY(settled());
    QVERIFY(gaps.results().rowCount() > lines);
  }

  void whatAGroupSaysItsBubblesDoNotSayAgain() {
    window_->resize(2'400, 950);  // with room for all columns
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    const auto hides = [&](const QString& title) {
      const ui::ResultTable& gaps = window_->bubbles().gaps();
      return gaps.isColumnHidden(column_of(gaps, title));
    };
    QVERIFY(!hides("Cause"));
    QVERIFY(hides("GPU"));  // there is only one
    QVERIFY(hides("Gap"));  // the whole of each gap counts
    window_->bubbles().groups().chooseRow(0);
    QVERIFY(settled());
    QVERIFY(!hides("Cause"));  // some of these gaps have further causes
    QVERIFY(!hides("Gap"));
    QVERIFY(wait_for([&] { return !hides("Before"); }));  // gemm and relu
    window_->bubbles().groups().clearSelection();
    QVERIFY(settled());
    QVERIFY(!hides("Cause"));
  }

  void aWidthThatWasChosenStaysAndTheRestIsFitted() {
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    ui::ResultTable& groups = window_->bubbles().groups();
    QHeaderView* header = groups.horizontalHeader();
    const int cause = column_of(groups, "Cause"), range = column_of(groups, "NVTX Range");
    const int fitted = header->sectionSize(cause), other = header->sectionSize(range);
    header->resizeSection(cause, fitted + 37);
    window_->timelineView().setSelectedRange(TimeRange{kLongestGapEnd - 400'000, kLongestGapEnd});  // other lines
    QVERIFY(settled());
    QCOMPARE(header->sectionSize(cause), fitted + 37);
    groups.setChosenWidths({});  // "Fit the columns"
    window_->timelineView().setSelectedRange(std::nullopt);
    QVERIFY(settled());
    QCOMPARE(header->sectionSize(cause), fitted);
    QCOMPARE(header->sectionSize(range), other);
  }

  void adviceAboutAGroupGoesWithItsTrace() {
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    window_->bubbles().groups().chooseRow(0);
    QVERIFY(settled());
    const auto advice = [&] {
      int shown = 0;
      for (const QLabel* label : window_->bubbles().findChildren<QLabel*>()) shown += label->wordWrap() && label->isVisible() ? 1 : 0;
      return shown;
    };
    QCOMPARE(advice(), 1);
    QVERIFY(open_and_settle(*window_, faster_));
    QCOMPARE(advice(), 0);
  }

  void tablesKeepTheirColumnsWhenTheColoursChange() {
    window_->actions().findings->trigger();
    QVERIFY(settled());
    ui::apply_theme(ui::Theme::kLight);
    QCoreApplication::sendPostedEvents();
    const QHeaderView* header = window_->findings().findings().horizontalHeader();
    const auto widths = [&] {
      std::vector<int> all;
      for (int column = 0; column < header->count(); ++column) all.push_back(header->sectionSize(column));
      return all;
    };
    const std::vector<int> before = widths();
    QVERIFY(before.size() > 2);
    ui::apply_theme(ui::Theme::kDark);
    QCoreApplication::sendPostedEvents();
    QCOMPARE(widths(), before);
    ui::apply_theme(ui::Theme::kLight);
  }

  void findingsThatMayCountTheSameTimeAreNamed() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, QString::fromStdString(data_file("cause_sync_each_launch.trace").string())));
    window.showPanel("findings");
    QVERIFY(settle(window));
    auto* overlap = window.findings().findChild<QLabel*>("overlap");
    QVERIFY(overlap != nullptr && overlap->isVisible());
    ui::ResultTable& findings = window.findings().findings();
    QCOMPARE(cell(findings, 0, "Rule"), QString("sync_storm"));
    QVERIFY(!window.findings().answer().contains("May count the same time as"));  // nothing is above it
    findings.selectRow(1);
    QVERIFY(window.findings().answer().contains("May count the same time as\n" + cell(findings, 0, "Finding")));
    window.findings().chooseRule("sync_storm");  // one finding alone
    QVERIFY(settle(window));
    QVERIFY(wait_for([&] { return findings.model()->rowCount() == 1; }, 5'000));
    QVERIFY(!overlap->isVisible());
  }

  void theAnswerToTheFirstFindingIsThereAtOnce() {
    const TimeRange before = window_->timelineView().visibleRange();
    window_->actions().findings->trigger();
    QVERIFY(settled());
    const QString title = cell(window_->findings().findings(), 0, "Finding");
    QVERIFY2(window_->findings().answer().startsWith(title), qPrintable(window_->findings().answer()));
    QVERIFY(window_->findings().answer().contains("What to do"));
    QCOMPARE(window_->timelineView().visibleRange() == before, true);  // nothing moves before the user chooses something
    QVERIFY(!window_->state().selectedEvent().valid());
  }

  void aChosenGroupStaysChosenWhileTheRangeChanges() {
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    ui::ResultTable& groups = window_->bubbles().groups();
    groups.chooseRow(0);
    QVERIFY(settled());
    const TimeRange looked_at = window_->timelineView().visibleRange();
    window_->timelineView().setSelectedRange(TimeRange{kLongestGapEnd - 400'000, kLongestGapEnd});
    QVERIFY(settled());
    QVERIFY(groups.chosenRow().has_value());
    QCOMPARE(cell(groups, groups.currentIndex().row(), "Cause"), QString("Running CPU code"));
    QCOMPARE(column_sum(window_->bubbles().gaps(), 0) > 0, true);
    QCOMPARE(window_->timelineView().visibleRange() == looked_at, true);
  }

  void bubblesFollowTheSelectedRange() {
    window_->actions().bubbles->trigger();
    window_->timelineView().setSelectedRange(TimeRange{kLongestGapEnd - 400'000, kLongestGapEnd});
    QVERIFY(settled());
    QCOMPARE(column_sum(window_->bubbles().groups(), 0), 400'000);
    window_->timelineView().setSelectedRange(std::nullopt);
    QVERIFY(settled());
    QCOMPARE(column_sum(window_->bubbles().groups(), 0), kIdle);
  }

  void findingsSayWhatWasSeenAndWhatToDo() {
    window_->actions().findings->trigger();
    QVERIFY(settled());
    ui::ResultTable& findings = window_->findings().findings();
    QVERIFY(findings.results().rowCount() > 0);
    QCOMPARE(cell(findings, 0, "Rule"), QString("gpu_bubbles"));
    QVERIFY(cell(findings, 0, "Finding").contains("CPU code"));
    findings.chooseRow(0);
    QVERIFY(window_->findings().answer().contains("What to do"));
    QVERIFY(window_->timelineView().visibleRange().length() < window_->state().trace()->extent().length());
    QVERIFY(window_->findings().command().startsWith("lanescope analyze "));
    QVERIFY(window_->findings().command().contains("known.trace"));
  }

  void aKnownFaultComesFirst_data() {
    QTest::addColumn<QString>("rule");
    QTest::addColumn<QString>("cause");  // of most idle time; empty if the fault leaves none
    QTest::newRow("cause_slow_loader") << "gpu_bubbles"
                                       << "Running CPU code";
    QTest::newRow("cause_lock") << "gpu_bubbles"
                                << "Waiting for a lock or thread";
    QTest::newRow("cause_sync_each_launch") << "sync_storm"
                                            << "Blocked in a synchronising call";
    QTest::newRow("cause_tiny_kernels") << "staircase"
                                        << "Launch-bound";
    QTest::newRow("cause_stream_wait") << "gpu_bubbles"
                                       << "Enqueued, waiting on the GPU";
    QTest::newRow("cause_pageable_copies") << "pageable"
                                           << "";
    QTest::newRow("cause_serial_copies") << "no_overlap"
                                         << "";
  }

  void aKnownFaultComesFirst() {
    QFETCH(QString, rule);
    QFETCH(QString, cause);
    const std::filesystem::path recording = data_file(std::string(QTest::currentDataTag()) + ".trace");
    QVERIFY(open_and_settle(*window_, QString::fromStdString(recording.string())));
    window_->actions().findings->trigger();
    QVERIFY(settled());
    QCOMPARE(cell(window_->findings().findings(), 0, "Rule"), rule);
    window_->findings().findings().chooseRow(0);
    QVERIFY(window_->findings().answer().contains("What to do"));
    window_->actions().bubbles->trigger();
    QVERIFY(settled());
    if (!cause.isEmpty()) QCOMPARE(cell(window_->bubbles().groups(), 0, "Cause"), cause);
  }

  // The text that nothing was found would suggest that all is well.
  void findingsSayThatThereIsNoGpuWork() {
    QVERIFY(open_and_settle(*window_, recorded("cpu_loader.trace")));
    window_->actions().findings->trigger();
    QVERIFY(settled());
    const QString answer = window_->findings().answer();
    QVERIFY2(answer.startsWith("The trace holds no GPU work.") && !answer.contains("Nothing was found"), qPrintable(answer));
  }

  void everyRuleAndReportIsInTheMenu() {
    QStringList entries;
    for (const QAction* entry : window_->actions().rules->actions()) entries += entry->text();
    for (const analysis::Rule& rule : analysis::rules()) QVERIFY(entries.contains(QString::fromStdString(std::string(rule.title))));
    for (QAction* entry : window_->actions().rules->actions()) {
      entry->trigger();
      QVERIFY2(settled(), qPrintable(entry->text()));
    }
    QVERIFY(window_->actions().reports->actions().size() == static_cast<int>(stats::reports().size()));
    for (QAction* entry : window_->actions().reports->actions()) {
      entry->trigger();
      QVERIFY2(settled(), qPrintable(entry->text()));
    }
  }

  void aRuleShowsItsTables() {
    window_->findings().chooseRule("gpu_bubbles");
    window_->showPanel("findings");
    QVERIFY(settled());
    QVERIFY(window_->findings().pages().count() > 1);
    QCOMPARE(window_->findings().pages().tabText(1), QString("Idle time by cause, NVTX range and call"));
    QVERIFY(window_->findings().command().contains("analyze -r gpu_bubbles "));
  }

  void aReportCountsWhatTheRangeHolds() {
    window_->statistics().chooseReport("cuda_gpu_kern_sum");
    window_->showPanel("statistics");
    QVERIFY(settled());
    ui::ResultTable& table = window_->statistics().report().table();
    QCOMPARE(table.results().rowCount(), 2);
    QCOMPARE(cell(table, 0, "Total Time"), QString("300.000 µs"));
    QCOMPARE(cell(table, 0, "Instances"), QString("3"));
    window_->timelineView().setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + 10});
    QVERIFY(settled());
    QCOMPARE(table.results().rowCount(), 1);
    QCOMPARE(cell(table, 0, "Name"), QString("gemm"));
    const QString filter = QString("--filter-time %1/%2").arg(kFirstKernel).arg(kFirstKernel + 10);
    QVERIFY2(window_->statistics().command().contains(filter), qPrintable(window_->statistics().command()));
  }

  void aRowOfAReportThatHasATimeLeadsThere() {
    window_->statistics().chooseReport("cuda_gpu_trace");
    window_->showPanel("statistics");
    QVERIFY(settled());
    ui::ResultTable& table = window_->statistics().report().table();
    QCOMPARE(table.results().rowCount(), static_cast<int>(kKernels));
    table.chooseRow(3);
    QCOMPARE(window_->state().trace()->event(window_->state().selectedEvent()).start, kLongestGapEnd);
  }

  void tablesSortWithMissingValuesLastAndKeepTheRules() {
    stats::Table table({stats::texts("Name"), stats::integers("Time", stats::Unit::kNanoseconds), stats::reals("Share", stats::Unit::kPercent)});
    table.add_row(table.add_text("b"), std::int64_t{2'000}, 20.0);
    table.add_row(table.add_text("A"), stats::kNoInteger, stats::kNoReal);
    table.add_row(table.add_text("c"), std::int64_t{1'000}, 70.0);
    ui::ResultTable view({}, "Test");
    const QAbstractItemModelTester tester(view.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    view.setTable(std::make_shared<const stats::Table>(table));
    const auto names = [&] { return cell(view, 0, "Name") + cell(view, 1, "Name") + cell(view, 2, "Name"); };
    QCOMPARE(names(), QString("bAc"));
    view.sortByColumn(0, Qt::AscendingOrder);
    QCOMPARE(names(), QString("Abc"));
    view.sortByColumn(1, Qt::AscendingOrder);
    QCOMPARE(names(), QString("cbA"));
    view.sortByColumn(2, Qt::DescendingOrder);
    QCOMPARE(names(), QString("cbA"));
    QCOMPARE(cell(view, 0, "Time"), QString("1.000 µs"));
    QCOMPARE(cell(view, 0, "Share"), QString("70.0 %"));
    QCOMPARE(cell(view, 2, "Time"), QString());
    view.selectRow(1);
    view.copySelection();
    QCOMPARE(QGuiApplication::clipboard()->text(), QString("Name\tTime (ns)\tShare (%)\nb\t2000\t20.0\n"));
  }

  void utilisationIsExact() {
    const ui::UtilisationSource source(window_->state().trace());
    const TimeRange range{kFirstKernel, kLongestGapEnd + kKernelDuration};  // with four kernels and three gaps
    const ui::Utilisation utilisation = source.over(range, 97);
    QCOMPARE(utilisation.gpus.size(), std::size_t{1});
    const std::vector<double>& shares = utilisation.gpus[0].shares;
    const double busy = std::accumulate(shares.begin(), shares.end(), 0.0) * static_cast<double>(range.length()) / static_cast<double>(shares.size());
    QVERIFY(std::abs(busy - 4.0 * kKernelDuration) < 1'000);  // pieces end at whole nanoseconds
    QCOMPARE(shares.front(), 1.0);
    QCOMPARE(shares[shares.size() / 2], 0.0);  // within the longest gap
  }

  // Rank 1 arrives 65 of 100 µs late: for that time, rank 0 only waits.
  void utilisationSaysHowMuchOfItIsWaitingForOtherRanks() {
    SmallTrace ranks;
    Gpu description;
    description.ordinal = 1;
    ranks.builder.set_device(ranks.process, 1, description);
    TrackKey second = ranks.on_gpu(TrackKind::kKernels, 9);
    second.gpu = ranks.builder.gpu_of_device(ranks.process, 1);
    ranks.builder.add(ranks.on_gpu(TrackKind::kKernels), {ranks.event(0, 10'000, "gemm"), ranks.event(10'000, 100'000, "ncclKernel")});
    ranks.builder.add(second, {ranks.event(0, 75'000, "gemm"), ranks.event(75'000, 100'000, "ncclKernel")});
    const std::shared_ptr<const Trace> trace = ranks.builder.snapshot();
    const ui::UtilisationSource source(trace, std::make_shared<const timeline::CommunicationTime>(*trace));
    const ui::Utilisation whole = source.over({0, 100'000}, 20);
    QCOMPARE(whole.gpus.size(), std::size_t{2});
    QCOMPARE(std::accumulate(whole.gpus[0].waits.begin(), whole.gpus[0].waits.end(), 0.0) / 20, 0.65);
    QCOMPARE(whole.gpus[0].waits.front(), 0.0);
    QCOMPARE(whole.gpus[0].waits[2], 1.0);
    QVERIFY(whole.gpus[1].waits.empty());
    ui::UtilisationChart chart;
    chart.setUtilisation(whole);
    QCOMPARE(chart.chart()->series().front()->name(), QString("GPU 0 100.0 %, 65.0 % waits"));
    chart.setUtilisation({whole.range, {whole.gpus[0]}});
    QCOMPARE(chart.chart()->title(), QString("GPU 0 busy in 100.000 µs: 100.0 %, 65.0 % waits"));
    QCOMPARE(chart.chart()->series().size(), 2);

    // The picture of the same trace shows it, too.
    const timeline::RowTree tree(*trace);
    const timeline::CommunicationTime communication(*trace);
    timeline::ContentCache contents(trace);
    timeline::SvgPicture picture{{0, 100'000}, {{*tree.find("gpu:0/hw"), "CUDA HW"}}, 1'200, std::nullopt};
    const QString with = QString::fromStdString(timeline::svg_text(*trace, tree, picture, contents, nullptr, &communication));
    const QString without = QString::fromStdString(timeline::svg_text(*trace, tree, picture, contents, nullptr, nullptr));
    QCOMPARE(without.count("Waits for another rank"), 0);
    const QRegularExpressionMatch wait = QRegularExpression("<rect x=\"300.0\" y=\"[0-9.]+\" width=\"650\" [^>]*><title>Waits for another rank").match(with);
    QVERIFY2(wait.hasMatch(), qPrintable(with));  // 1000 px for 100 µs, after 200 px of names
  }

  void ofSeveralGpusTheChartNamesEachWithItsAverage() {
    ui::UtilisationChart chart;
    chart.setUtilisation({{0, 100}, {{0, "GPU 0", {1, 0.5}}, {1, "GPU 1", {0, 0}}}});
    QStringList names;
    for (const QAbstractSeries* series : chart.chart()->series()) names += series->name();
    QCOMPARE(names, QStringList({"GPU 0 75.0 %", "GPU 1 0.0 %"}));
    QVERIFY(chart.chart()->legend()->isVisible() && chart.chart()->title().isEmpty());
    chart.setUtilisation({{0, 100}, std::vector<ui::GpuUtilisation>(8, {0, "GPU", {1, 1}})});  // eight names would leave no room
    QVERIFY(!chart.chart()->legend()->isVisible());
    QCOMPARE(chart.chart()->title(), QString("8 GPUs busy over time"));
  }

  // At the width that the charts have at first; QtCharts cuts what has no room, and puts dots there.
  void figuresOfTheChartOfGpusAreWhole() {
    ui::UtilisationChart chart;
    chart.resize(215, 110);
    chart.setUtilisation({{9'973'883'109, 10'064'056'870}, {{0, "GPU 0", {1, 0.95}}, {1, "GPU 1", {1, 0.92}}}});
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart, kPatienceMs));
    QStringList texts;
    for (const QGraphicsItem* item : chart.scene()->items())
      if (const auto* text = qgraphicsitem_cast<const QGraphicsTextItem*>(item); text != nullptr && text->isVisible()) texts += text->toPlainText();
    QVERIFY2(texts.filter("...").isEmpty() && texts.filter(u"…").isEmpty(), qPrintable(texts.join(u'|')));
    for (const char* text : {"9.974 s", "+50 ms", "GPU 0 98 %", "GPU 1 96 %"}) QVERIFY2(texts.contains(QLatin1String(text)), qPrintable(texts.join(u'|')));
  }

  // Three samples of the launching thread are in the only gap: two in load(), of which one is in a function that it calls, and one elsewhere.
  void bubblesOfCpuCodeNameTheFunctionsThatWereSampled() {
    TraceBuilder builder;
    const ProcessId process = builder.process_of_instance(1);
    const ThreadId thread = builder.thread(process, 7);
    const TrackKey calls{.kind = TrackKind::kCudaApi, .process = process, .thread = thread};
    const TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0)};
    for (const std::uint32_t i : {0u, 1u}) {
      builder.add(calls, {Event{i * 100'000, 10, builder.intern("cudaLaunchKernel"), i + 1, 0}});
      builder.add(kernels, {Event{i * 100'000 + 20, 1'000, builder.intern("gemm"), i + 1, 0}});
    }
    const auto python = [&](CallNodeId caller, const char* name, std::uint32_t line) {
      const CodeFunction function{builder.intern(name), builder.intern("/src/train.py"), line};
      return builder.call_node({caller, builder.code_location({CodeKind::kPython, 0, 0, 0}, function)});
    };
    const CallNodeId load = python(0, "load", 31), log = python(0, "log", 50);
    const CallNodeId inflate =
        builder.call_node({load, builder.code_location({CodeKind::kNative, builder.intern("libz.so"), 0, 1}, {builder.intern("inflate"), 0, 0})});
    std::vector<SampleEvent> samples;
    for (const auto& [time, chain] : {std::pair{500, log}, {10'000, load}, {20'000, inflate}, {60'000, log}})
      samples.push_back({time, 0, {chain, SampleOrigin::kTimer}});
    add_samples(builder, process, 7, samples);

    const ui::BubbleList bubbles = ui::collect_bubbles(builder.snapshot(), 10'000, {});
    const auto sampled_code = [](const stats::Table& table) {
      for (const stats::Column& column : table.columns())
        if (column.title == "Sampled Code") return std::string(table.text(column.text(0)));
      return std::string();
    };
    const ui::GroupedBubbles grouped = ui::group_bubbles(bubbles, ui::BubbleGrouping::kCause, {});
    QCOMPARE(sampled_code(grouped.table), std::string("load in train.py:31 (67 %)"));
    QCOMPARE(grouped.sampled.front(), std::string("load in train.py:31 (67 %), log in train.py:50 (33 %)"));
    const ui::GroupedBubbles late = ui::group_bubbles(bubbles, ui::BubbleGrouping::kCause, TimeRange{50'000, 90'000});
    QCOMPARE(sampled_code(late.table), std::string("log in train.py:50 (100 %)"));
    QCOMPARE(sampled_code(ui::list_bubbles(bubbles, {}, {}).table), std::string("load in train.py:31 (67 %)"));
  }

  void numbersAreShownWholeWhereATableIsNarrow() {
    window_->resize(1'000, 700);
    window_->showPanel("bubbles");
    QVERIFY(settled());
    int numbers = 0, shortened = 0;
    for (const QAbstractItemView* table : window_->findChildren<ui::ResultTable*>()) {
      if (!table->isVisible() || table->model()->rowCount() == 0) continue;
      const QHeaderView* header = static_cast<const QTableView*>(table)->horizontalHeader();
      for (int column = 0; column < header->count(); ++column) {
        const int alignment = table->model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt();
        const bool whole = header->sectionSize(column) >= table->sizeHintForColumn(column);
        if (header->isSectionHidden(column)) continue;
        if ((alignment & Qt::AlignRight) == 0) {
          shortened += whole ? 0 : 1;
          continue;
        }
        ++numbers;
        QVERIFY2(whole, qPrintable(table->model()->headerData(column, Qt::Horizontal).toString()));
      }
    }
    QVERIFY(numbers > 0);
    QVERIFY(shortened > 0);  // texts were shortened
  }

  // Two ranks, a file for each: the one that is shown first waits for the other, which sleeps 15 ms in each step of about 18 ms.
  void waitingForAnotherRankIsCountedApartFromTransfer() {
    window_->openFile(recorded("ranks_late0.trace"));
    QVERIFY(settled());
    QVERIFY(open_beside_and_settle(*window_, recorded("ranks_late1.trace")));
    const std::vector<EventRef> steps = eventsNamed("step 10", 0);
    QVERIFY(!steps.empty());
    const Event step = window_->state().trace()->event(steps.front());
    window_->state().setSelectedRange(TimeRange{step.start, step.end()});
    QVERIFY(settled());
    const QString details = window_->details().text();
    QVERIFY2(details.contains("GPU 0 communicated"), qPrintable(details));
    static const QRegularExpression waiting("waiting for another rank\\s+([0-9.]+) ms");
    const QRegularExpressionMatch found = waiting.match(details);
    QVERIFY2(found.hasMatch(), qPrintable(details));
    QVERIFY2(found.captured(1).toDouble() > 13 && found.captured(1).toDouble() < 17, qPrintable(details));
    window_->timelineView().setVisibleRange({step.start, step.end()});
    const QImage with = window_->timelineView().grab().toImage();
    window_->timelineView().setCommunicationTime(nullptr);
    QVERIFY(with != window_->timelineView().grab().toImage());
  }
};

QTEST_MAIN(AnalysisTest)
#include "test_gui_analysis.moc"
