// Menus, by mouse and by keyboard, and the effects of their entries.
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QMenuBar>

#include "fixture/dialogs.h"
#include "fixture/known_trace_test.h"
#include "fixture/menus.h"
#include "timeline/widget/timeline_command.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

class MenusTest : public KnownTraceTest {
  Q_OBJECT

 private slots:
  void aRightClickOnARowOffersWhatCanBeDoneWithIt() {
    QWidget* names = part(*window_, "Row names");
    const QPoint first_row(150, 10);
    const QStringList entries = menu_after([&] { right_click(*names, first_row); });
    for (const char* entry : {"Show in Events View", "Pin to the top", "Hide", "Collapse", "Expand all rows", "Copy the row's name"})
      QVERIFY2(entries.contains(entry), entry);

    menu_after([&] { right_click(*names, first_row); }, "Copy the row's name");
    QCOMPARE(QGuiApplication::clipboard()->text(), QString("GPU 0  NVIDIA H200"));
    menu_after([&] { right_click(*names, first_row); }, "Show in Events View");
    QVERIFY(wait_for([&] { return window_->isSettled() && events_table(*window_)->model()->rowCount() == int(kKernels); }));
    menu_after([&] { right_click(*names, first_row); }, "Collapse");
    QVERIFY(!window_->timelineView().isExpanded("gpu:0"));
    menu_after([&] { right_click(*names, first_row); }, "Pin to the top");
    QVERIFY(window_->timelineView().isPinned("gpu:0"));
    QVERIFY(menu_after([&] { right_click(*names, first_row); }, "Release from the top").contains("Release from the top"));
    QVERIFY(!window_->timelineView().isPinned("gpu:0"));
    menu_after([&] { right_click(*names, first_row); }, "Hide");
    QVERIFY(window_->timelineView().hasHiddenRows());
    menu_after([&] { right_click(*names, first_row); }, "Show hidden rows");
    QVERIFY(!window_->timelineView().hasHiddenRows());
  }

  void theMenuOfARowOffersOnlyWhatItCanDoAndNamesTheKeys() {
    QWidget* names = part(*window_, "Row names");
    QStringList keys;
    const auto look = [&](const QString& row) {
      keys.clear();
      window_->timelineView().setCurrentRow(row);
      QTimer::singleShot(0, names, [&] {
        for (const QAction* entry : qobject_cast<QMenu*>(QApplication::activePopupWidget())->actions())
          if (!entry->shortcut().isEmpty()) keys += entry->text() + u' ' + entry->shortcut().toString();
      });
      return menu_after([&] { QTest::keyClick(&window_->timelineView(), Qt::Key_F10, Qt::ShiftModifier); });
    };
    QVERIFY(look("gpu:0/hw").contains("Collapse"));
    QCOMPARE(keys, (QStringList{"Collapse Space", "Pin to the top P", "Hide H", "Fit everything Home"}));
    const QStringList leaf = look("process:1/thread:4712/api");
    QVERIFY(!leaf.contains("Collapse") && !leaf.contains("Expand") && leaf.contains("Hide"));
    // The keys do the same.
    window_->timelineView().setCurrentRow("gpu:0/hw");
    QTest::keyClick(&window_->timelineView(), Qt::Key_Space);
    QVERIFY(!window_->timelineView().isExpanded("gpu:0/hw"));
    QTest::keyClick(&window_->timelineView(), Qt::Key_P);
    QVERIFY(window_->timelineView().isPinned("gpu:0/hw"));
    QTest::keyClick(&window_->timelineView(), Qt::Key_H);
    QVERIFY(window_->timelineView().hasHiddenRows());
  }

  void rowsOpenAndCloseAllAtOnceAndLeadToStatistics() {
    QWidget* names = part(*window_, "Row names");
    const auto choose = [&](const QString& entry) { menu_after([&] { right_click(*names, {150, 10}); }, entry); };
    choose("Expand all rows");
    for (const timeline::Row& row : window_->timelineView().rows().rows())
      QVERIFY2(window_->timelineView().isExpanded(QString::fromStdString(row.key)), row.key.c_str());
    choose("Collapse all rows");
    for (const timeline::Row& row : window_->timelineView().rows().rows())
      QVERIFY2(!window_->timelineView().isExpanded(QString::fromStdString(row.key)), row.key.c_str());
    choose("Show in Statistics");
    QVERIFY(settle(*window_));
    QVERIFY(window_->statistics().isVisible());
    QCOMPARE(window_->statistics().model().rowCount(), 2);  // the names of the GPU's kernels
  }

  void aCallLeadsToItsWorkAndAnEventToItsRow() {
    const EventRef kernel = kernel_number(*window_, 2);
    const EventRef call = *window_->state().trace()->launch_of(kernel);
    const TimeRange before = window_->timelineView().visibleRange();
    const auto menu = [&](EventRef event, const QString& choice) {
      window_->timelineView().setFocus();
      window_->timelineView().setCurrentRow({});
      window_->timelineView().selectEvent(event);
      return menu_after([&] { QTest::keyClick(&window_->timelineView(), Qt::Key_Menu); }, choice);
    };
    menu(call, "Go to its GPU work");
    QCOMPARE(window_->state().selectedEvent(), kernel);
    QCOMPARE(window_->timelineView().visibleRange(), before);  // the arrow between them stays in sight
    menu(kernel, "Copy the event's details");
    QVERIFY(QGuiApplication::clipboard()->text().startsWith("Name\tgemm\n"));
    menu(call, "Show the row in Events View");
    QVERIFY(settle(*window_));
    QCOMPARE(events_table(*window_)->model()->rowCount(), int(kKernels));
    QCOMPARE(cell(*events_table(*window_), 0, EventColumn::kKind), QString("CUDA API"));
  }

  void aRightClickOnAnEventOffersWhatCanBeDoneWithIt() {
    const EventRef kernel = kernel_number(*window_, 3);
    const auto menu = [&](const QString& choice) {
      return menu_after([&] { right_click(*part(*window_, "Timeline rows"), place_of(*window_, kernel)); }, choice);
    };
    const QStringList entries = menu({});
    for (const char* entry :
         {"Zoom to event", "Go to the launching call", "Filter events to this name", "Show the row in Events View", "Copy as TSV", "Copy the event's details"})
      QVERIFY2(entries.contains(entry), entry);
    QCOMPARE(window_->state().selectedEvent(), kernel);

    menu("Copy as TSV");
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 2);
    QVERIFY2(lines[1].startsWith("relu\t"), qPrintable(lines[1]));
    menu("Filter events to this name");
    QVERIFY(wait_for([&] { return window_->isSettled() && events_table(*window_)->model()->rowCount() == int(kKernels / 2); }));
    menu("Go to the launching call");
    QCOMPARE(window_->state().selectedEvent(), *window_->state().trace()->launch_of(kernel));
    window_->timelineView().zoomToFit();
    menu("Zoom to event");
    QVERIFY(window_->timelineView().visibleRange().length() < 5 * kKernelDuration);
  }

  // The third gap is the longest, 900 µs.
  void aRightClickOnAGapOffersWhatCanBeDoneWithIt() {
    timeline::TimelineView& view = window_->timelineView();
    QWidget* canvas = part(*window_, "Timeline rows");
    const QPoint on_kernel = place_of(*window_, kernel_number(*window_, 2));
    const Event before = window_->state().trace()->event(kernel_number(*window_, 2));
    const TimeRange gap{before.end(), before.end() + kGaps[2]};
    const auto menu = [&](const QString& choice) {
      const timeline::Viewport viewport{view.visibleRange(), canvas->width()};
      const int x = static_cast<int>(viewport.x_at(gap.begin + gap.length() / 2));
      return menu_after([&] { right_click(*canvas, {x, on_kernel.y()}); }, choice);
    };
    const QStringList entries = menu({});
    for (const char* entry : {"Zoom to the gap", "Go to what ended the gap", "What it waited for", "Mark the gap", "Show in Events View", "Hide",
                              "Show the gaps in Bubbles", "Statistics of the selected range", "Save the selected range…"})
      QVERIFY2(entries.contains(entry), qPrintable(QString(entry) + " of " + entries.join(u'|')));
    QVERIFY(view.selectedGap());
    QCOMPARE(view.selectedGap()->range, gap);
    view.clearMarkers();
    menu("Mark the gap");
    QCOMPARE(view.markers().size(), std::size_t{2});
    QCOMPARE(view.markers().front().time, gap.begin);
    view.clearMarkers();
    menu("Show the gaps in Bubbles");
    QVERIFY(wait_for([&] { return window_->bubbles().isVisible(); }));
    menu("Go to what ended the gap");
    QCOMPARE(window_->state().selectedEvent(), kernel_number(*window_, 3));
    menu("Zoom to the gap");
    QCOMPARE(view.visibleRange(), gap);
    view.setFocus();  // the same without a mouse
    view.setCurrentRow({});
    QVERIFY(menu_after([&] { QTest::keyClick(&view, Qt::Key_Menu); }).contains("Go to what ended the gap"));
  }

  void aRightClickOnTheRulerAndTheOverviewOffersWhatCanBeDoneWithTheTime() {
    timeline::TimelineView& view = window_->timelineView();
    QWidget* ruler = part(*window_, "Time axis");
    const QPoint middle(ruler->width() / 2, 10);
    view.clearMarkers();  // the notes of another test
    view.setVisibleRange({kFirstKernel, kFirstKernel + 4 * kKernelDuration});
    const auto menu = [&](const QString& name, QPoint at, const QString& choice) {
      return menu_after([&] { right_click(*part(*window_, name), at); }, choice);
    };
    const QStringList entries = menu("Time axis", middle, "Mark this time with a name…");
    for (const char* entry : {"Go to a time…", "Back to the previous view", "Fit everything"})
      QVERIFY2(entries.contains(entry), qPrintable(QString(entry) + " of " + entries.join(u'|')));
    auto* field = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(field);
    QTest::keyClicks(field, "here");
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(view.markers().size(), std::size_t{1});
    const timeline::Viewport viewport{view.visibleRange(), ruler->width()};
    QCOMPARE(view.markers().front().time, viewport.time_at(middle.x()));
    QCOMPARE(view.markers().front().text, QString("here"));
    // The end of the recording is out of sight, but not in the overview.
    const QWidget* overview = part(*window_, "Overview of the whole trace");
    const TimeRange before = view.visibleRange();
    menu("Overview of the whole trace", {overview->width() - 3, 10}, "Show this time");
    QCOMPARE(view.visibleRange().length(), before.length());
    QVERIFY(view.visibleRange().begin > before.end);
  }

  void aSelectedRangeLeadsToStatisticsAndAFile() {
    const EventRef kernel = kernel_number(*window_, 3);
    const auto menu = [&](const QString& choice) {
      return menu_after([&] { right_click(*part(*window_, "Timeline rows"), place_of(*window_, kernel)); }, choice);
    };
    menu("Select its time");
    const Event event = window_->state().trace()->event(kernel);
    QCOMPARE(window_->state().selectedRange(), std::optional(TimeRange{event.start, event.end()}));
    window_->state().setTimeBinding(ui::TimeBinding::kWholeTrace);
    menu("Statistics of the selected range");
    QVERIFY(settled());
    QVERIFY(window_->statistics().isVisible());
    QCOMPARE(window_->statistics().model().rowCount(), 2);  // "relu", and the range "step" that encloses it
    menu("Idle time in the selected range");
    QVERIFY(wait_for([&] { return window_->bubbles().isVisible() && settled() && window_->bubbles().gaps().model()->rowCount() == 0; }));
    QString asked;
    const DialogAnswers answers([&](QDialog& dialog) {
      for (const QComboBox* box : dialog.findChildren<QComboBox*>())
        if (box->currentText().startsWith("Selected range")) asked = box->currentText();
      dialog.reject();
    });
    menu("Save the selected range…");
    QVERIFY2(asked.contains("100.000 µs"), qPrintable(asked));
    menu("Select no range");
    QVERIFY(!window_->state().selectedRange());
  }

  void menusOfTheTimelineLeadIntoARangeAndOutAgain() {
    const TimeRange all = window_->timelineView().visibleRange();
    const TimeRange part_of_it{kFirstKernel, kFirstKernel + 4 * kKernelDuration};
    const auto menu = [&](const QString& choice) { return menu_after([&] { right_click(*part(*window_, "Timeline rows"), {5, 60}); }, choice); };
    QVERIFY(!menu({}).contains("Zoom to the selected range"));
    window_->state().setSelectedRange(part_of_it);
    menu("Zoom to the selected range");
    QCOMPARE(window_->timelineView().visibleRange(), part_of_it);
    menu("Back to the previous view");
    QCOMPARE(window_->timelineView().visibleRange(), all);
    QTest::keyClick(&window_->timelineView(), Qt::Key_Z, Qt::ShiftModifier);  // the key in Nsight Systems
    QCOMPARE(window_->timelineView().visibleRange(), part_of_it);
    QTest::keyClick(&window_->timelineView(), Qt::Key_Z);
    QCOMPARE(window_->timelineView().visibleRange(), all);
  }

  void aRowOfAThreadLeadsToItsFlameGraph() {
    QVERIFY(open_and_settle(*window_, recorded("cpu_loader.trace")));
    const Trace& trace = *window_->state().trace();
    std::optional<ThreadId> sampled;
    for (const Track& track : trace.tracks())
      if (track.key.kind == TrackKind::kCpuSamples) sampled = track.key.thread;
    QVERIFY(sampled);
    QString key;
    for (const timeline::Row& row : window_->timelineView().rows().rows())
      if (row.kind == timeline::RowKind::kThread && !row.all.empty() && trace.track_of(row.all.front().lane).key.thread == *sampled)
        key = QString::fromStdString(row.key);
    window_->timelineView().setRowFilter(window_->timelineView().rowTitle(key));
    window_->timelineView().pin(key);  // then it is the first row
    QWidget* names = part(*window_, "Row names");
    menu_after([&] { right_click(*names, {150, 8}); }, "Show in Flame Graph");
    QVERIFY(wait_for([&] { return window_->isSettled() && window_->samples().isVisible(); }));
    const auto* chosen = [&] {
      for (auto* box : window_->samples().findChildren<QComboBox*>())
        if (box->accessibleName() == "Process or thread") return box;
      return static_cast<QComboBox*>(nullptr);
    }();
    QCOMPARE(chosen->currentData().toString(), QString("thread:%1").arg(*sampled));
    QVERIFY(window_->samples().profile() && window_->samples().profile()->top_down.total().count > 0);

    QVERIFY(open_and_settle(*window_, known_));  // it has no samples
    QVERIFY(!menu_after([&] { right_click(*names, {150, 10}); }).contains("Show in Flame Graph"));
  }

  void aProcessAndARangeLeadToTheFlameGraphOfWhatRanInThem() {
    QVERIFY(open_and_settle(*window_, recorded("torch_loader_samples.trace")));
    timeline::TimelineView& view = window_->timelineView();
    QString process;
    for (const timeline::Row& row : view.rows().rows())
      if (row.kind == timeline::RowKind::kProcess && process.isEmpty()) process = QString::fromStdString(row.key);
    view.pin(process);  // then it is the first row
    menu_after([&] { right_click(*part(*window_, "Row names"), {150, 8}); }, "Show in Flame Graph");
    QVERIFY(wait_for([&] { return window_->isSettled() && window_->samples().profile(); }));
    const std::uint64_t of_process = window_->samples().profile()->top_down.total().count;
    QVERIFY(of_process > 10'000);  // more than its main thread has

    // A range in which the data loader computes: nothing else ran on that thread.
    const Trace& trace = *window_->state().trace();
    EventRef range;
    for (const Track& track : trace.tracks())
      for (const LaneId lane : track.lanes)
        for (EventIndex i = 0; track.key.kind == TrackKind::kNvtxRanges && i < trace.lane(lane).size(); ++i)
          if (trace.name(trace.lane(lane).name(i)) == "data") range = {lane, i};  // the last one
    QVERIFY(range.valid());
    view.setCurrentRow({});  // so that the menu is that of the event
    view.selectEvent(range);
    const Event data = trace.event(range);
    view.setVisibleRange({data.start - 1'000'000, data.end() + 1'000'000});
    QVERIFY(settle(*window_));
    menu_after([&] { view.askForMenu(); }, "Show what ran in it in Flame Graph");
    QVERIFY(settle(*window_));
    QCOMPARE(window_->state().selectedRange(), std::optional(TimeRange{data.start, data.end()}));
    const std::uint64_t count = window_->samples().profile()->top_down.total().count;
    const auto milliseconds = static_cast<std::uint64_t>(data.duration / 1'000'000);  // one sample for each
    QVERIFY2(count > milliseconds / 2 && count < milliseconds * 2, qPrintable(QString::number(count)));
  }

  void aBubbleLeadsToTheFlameGraphOfWhatRanInIt() {
    QVERIFY(open_and_settle(*window_, recorded("torch_loader_samples.trace")));
    window_->timelineView().setSelectedRange(TimeRange{9'950'000'000, 10'140'000'000});  // steps of the loop
    window_->showPanel("bubbles");
    QVERIFY(settle(*window_));
    ui::ResultTable& gaps = window_->bubbles().gaps();
    gaps.chooseRow(0);
    QVERIFY(settle(*window_));
    const QStringList entries = menu_after([&] { emit gaps.customContextMenuRequested(QPoint(20, 5)); }, "Show what ran in it in Flame Graph");
    QVERIFY2(entries.contains("Copy as TSV"), qPrintable(entries.join(u'|')));
    QVERIFY(settle(*window_));
    QVERIFY(window_->samples().isVisible());
    const TimeRange gap = window_->state().selectedRange().value();
    QVERIFY(gap.length() > 10'000'000);  // the data loader takes more than 10 ms of each step
    const ui::SampleProfile& profile = *window_->samples().profile();
    QVERIFY(profile.top_down.total().count > 0);
    QVERIFY(profile.top_down.total().count < 2 * static_cast<std::uint64_t>(gap.length() / 1'000'000));  // one thread, a sample each ms
    const auto& functions = profile.top_down.functions();
    QVERIFY(std::any_of(functions.begin(), functions.end(), [](const auto& each) { return each.name.find("SlowDataset") != std::string::npos; }));
  }

  void aRightClickOnALineOfTheTableOffersTheSame() {
    QTableView* table = events_table(*window_);
    const auto menu = [&](const QString& choice) { return menu_after([&] { emit table->customContextMenuRequested(row_position(*table, 2)); }, choice); };
    const QStringList entries = menu({});
    for (const char* entry : {"Zoom to event", "Filter to this name", "What it waited for", "Mark it", "Select its time", "Export as CSV…"})
      QVERIFY2(entries.contains(entry), entry);
    table->selectRow(2);
    menu("Zoom to event");
    QVERIFY(window_->timelineView().visibleRange().length() < 5 * kKernelDuration);
  }

  void columnsOfTheTableAreChosenFromItsHeader() {
    QHeaderView* header = events_table(*window_)->horizontalHeader();
    const int registers = ui::EventTableModel::columnOf(EventColumn::kRegisters);
    QVERIFY(header->isSectionHidden(registers));
    const QString title = header->model()->headerData(registers, Qt::Horizontal).toString();
    menu_after([&] { emit header->customContextMenuRequested({20, 5}); }, title);
    QVERIFY(!header->isSectionHidden(registers));
  }

  void theMenuKeyWorksWithoutAMouse() {
    window_->timelineView().setFocus();
    window_->timelineView().selectEvent(kernel_number(*window_, 1));
    const QStringList entries = menu_after([&] { QTest::keyClick(&window_->timelineView(), Qt::Key_Menu); }, "Zoom to event");
    QVERIFY(entries.contains("Go to the launching call"));
    QVERIFY(window_->timelineView().visibleRange().length() < 5 * kKernelDuration);
  }

  void entriesOfNavigateNeedASelectionASearchOrAMarker() {
    const auto enabled = [&](const QString& text) {
      for (const QAction* action : window_->actions().navigate->actions())
        if (QString(action->text()).remove(u'&').startsWith(text)) return action->isEnabled();
      return false;
    };
    const QStringList of_event{"Zoom to the event", "Next of the same name", "Enclosing event", "Launching call"};
    const QStringList of_selection{"What it waited for", "Mark the selected range"};
    const QStringList of_markers{"Next marker", "Previous marker", "Remove all markers"};
    const auto all_are = [&](const QStringList& texts, bool wanted) {
      return std::all_of(texts.begin(), texts.end(), [&](const QString& text) { return enabled(text) == wanted; });
    };
    timeline::TimelineView& view = window_->timelineView();
    view.clearMarkers();  // notes beside the trace, of other tests
    QVERIFY(all_are(of_event + of_selection + of_markers + QStringList{"Next highlighted event"}, false));
    QVERIFY(all_are({"Next gap of a GPU", "Pan left", "Select the loop"}, true));
    view.selectEvent(kernel_number(*window_, 1));
    QVERIFY(all_are(of_event + of_selection, true) && all_are(of_markers, false));
    view.selectEvent({});
    QVERIFY(all_are(of_event + of_selection, false));
    view.setSelectedRange(TimeRange{kFirstKernel, kFirstKernel + kKernelDuration});
    QVERIFY(all_are(of_selection, true) && all_are(of_event, false));
    view.setSelectedRange(std::nullopt);
    view.addMarker(kFirstKernel, "here");
    QVERIFY(all_are(of_markers, true) && all_are(of_selection, false));
    view.clearMarkers();
    QVERIFY(all_are(of_markers, false));
    window_->actions().find->trigger();
    QTest::keyClicks(QApplication::focusWidget(), "relu");
    QVERIFY(wait_for([&] { return enabled("Next highlighted event"); }));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Delete);
    QVERIFY(wait_for([&] { return !enabled("Next highlighted event"); }));
  }

  void whatTheTimelineDoesIsInMenusWithItsKeys() {
    QStringList entries;
    for (const QAction* menu : window_->menuBar()->actions())
      for (const QAction* action : menu->menu()->actions())
        entries += QString(action->text() + u'\t' + action->shortcut().toString()).remove(u'&').remove(u'…');
    const auto has = [&](const QString& text, const QString& keys) {
      return std::any_of(entries.begin(), entries.end(),
                         [&](const QString& entry) { return entry.startsWith(text, Qt::CaseInsensitive) && (keys.isEmpty() || entry.contains(keys)); });
    };
    for (const timeline::TimelineCommand& command : timeline::timeline_commands())
      if (command.menu != timeline::TimelineCommand::Menu::kView)
        QVERIFY2(has(QString(command.text).remove(u'&'), timeline::keys_text(command.keys)), qPrintable(command.text));
    for (const auto& [text, keys] : {std::pair("Back", "Alt+Left"),
                                     {"Forward", "Alt+Right"},
                                     {"Fit everything", "Home"},
                                     {"Zoom to selection", "Shift+Z"},
                                     {"Go to a time", "Ctrl+G"},
                                     {"Mark with a name", "Ctrl+M"},
                                     {"Find event", "Ctrl+F"},
                                     {"Clear selection", "Esc"},
                                     {"Keyboard and mouse", "?"}})
      QVERIFY2(has(text, keys), text);

    for (QAction* action : window_->actions().rows->actions())
      if (action->text().startsWith("&Hide")) {
        window_->timelineView().setCurrentRow("gpu:0");
        action->trigger();
      }
    QVERIFY(window_->timelineView().hasHiddenRows());
  }
};

QTEST_MAIN(MenusTest)
#include "test_gui_menus.moc"
