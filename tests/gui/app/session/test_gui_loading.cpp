// Large files: what is shown before everything is loaded, and what remains when the user cancels.
#include <chrono>
#include <fstream>
#include <random>

#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScopeGuard>

#include "fixture/gestures.h"
#include "fixture/main_window_fixture.h"
#include "model/export/trace_file_export.h"
#include "model/file/frame.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/compact/segment_check.h"
#include "model/trace/outline.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/trace_builder.h"
#include "options.h"
#include "timeline/core/words/format.h"
#include "window/opening_view.h"
#include "window/timeline/event_search.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;

namespace {

constexpr std::size_t kChunks = kOutlineFromEvents / kLongChunk + 2;
constexpr std::uint64_t kLongEvents = kChunks * kLongChunk;

// Kernels with two names, one after the other, with random durations and a gap after each thousand; some have unique names.
std::shared_ptr<const Trace> variedKernels(std::uint64_t count, Nanoseconds gap = 0) {
  TraceBuilder builder;
  TrackKey key{TrackKind::kKernels, builder.process_of_instance(1)};
  key.gpu = builder.gpu_of_device(key.process, 0);
  const NameId names[] = {builder.intern("gemm"), builder.intern("softmax")}, rare = builder.intern("transpose");
  std::mt19937 random(1);
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < count; ++i)
    events.push_back({static_cast<Nanoseconds>(i) * 2'000 + static_cast<Nanoseconds>(i / 1'000) * gap, 1 + static_cast<Nanoseconds>(random() % 1'900),
                      i % 5'000 == 0 ? rare : names[random() % 2], 0, 0});
  builder.add(key, events);
  builder.provenance().finished = true;
  return builder.snapshot();
}

}  // namespace

class LoadingTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    use_empty_settings();
    long_ = QString::fromStdString((folder_.path() / "long.trace").string());
    write_long_trace(long_.toStdString(), kChunks);
  }

  // A file that was touched or copied has the same content.
  void aFileIsAsItWasWhileItHasWhatItHad() {
    const auto write = [&](const std::filesystem::path& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; };
    const auto touch = [](const std::filesystem::path& path) {
      std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
    };
    for (const std::size_t size : {std::size_t{100}, std::size_t{1} << 20}) {
      const std::filesystem::path path = folder_.path() / "content";
      const std::string content(size, 'a');
      write(path, content);
      const std::optional<ui::FileState> opened = ui::state_of(path);
      QVERIFY(opened);
      ui::FileState known = *opened;
      const auto change = [&] { return ui::find_change(path, known); };
      QVERIFY(change() == ui::FileChange::kNone);
      touch(path);
      QVERIFY(change() == ui::FileChange::kNone);
      std::filesystem::remove(path);
      write(path, content);
      touch(path);
      QVERIFY(change() == ui::FileChange::kNone);
      for (const std::size_t place : {std::size_t{0}, size - 1}) {
        std::string other = content;
        other[place] = 'b';
        write(path, other);
        touch(path);
        known = *opened;
        QVERIFY(change() == ui::FileChange::kContent);
      }
      write(path, content + "a");
      touch(path);
      QVERIFY(change() == ui::FileChange::kContent);
      std::filesystem::remove(path);
      QVERIFY(change() == ui::FileChange::kNone);
    }
  }

  // Like a script that records into the same file again and again.
  void aFileThatIsRecordedAnewIsReloaded() {
    const std::filesystem::path path = folder_.path() / "anew.trace";
    write_known_trace(path);
    MainWindow window(ui::Layout::kInitial);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window, kPatienceMs));
    QVERIFY(!window.actions().reload->isEnabled());
    QVERIFY(open_and_settle(window, QString::fromStdString(path.string())));
    QVERIFY(window.actions().reload->isEnabled());
    const Nanoseconds before = window.state().trace()->extent().end;
    std::filesystem::remove(path);
    write_known_trace(path, 2 * kKernelDuration);
    QVERIFY(wait_for([&] { return window.messages().text().contains("anew.trace was written anew"); }));
    QCOMPARE(window.state().trace()->extent().end, before);
    QPushButton* reload = nullptr;
    for (QPushButton* button : window.messages().findChildren<QPushButton*>())
      if (button->isVisible() && button->text() == "Reload") reload = button;
    QVERIFY(reload != nullptr);
    QSignalSpy opened(&window, &MainWindow::opened);
    QTest::mouseClick(reload, Qt::LeftButton);
    QVERIFY(opened.wait(kPatienceMs) && settle(window));
    const Nanoseconds after = window.state().trace()->extent().end;
    QVERIFY(after > before);
    QVERIFY2(window.messages().text().isEmpty(), qPrintable(window.messages().text()));
    // Also with the key, and for both of two compared traces.
    QVERIFY(open_beside_and_settle(window, recorded("cuda_streams.trace")));
    std::filesystem::remove(path);
    write_known_trace(path);
    QTest::keyClick(&window, Qt::Key_F5);
    QVERIFY(wait_for([&] { return opened.size() == 2 && window.pair().isOpen() && window.isSettled(); }));
    QCOMPARE(window.pair().first().trace->extent().end, before);
    QVERIFY(window.windowTitle().contains("cuda_streams.trace"));
  }

  void drawsTheOutlineAtOnceAndThenEveryEvent() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    std::vector<std::pair<bool, std::uint64_t>> shown;  // whether it is an outline, and its number of events
    TimeRange first_view;
    connect(&window.state(), &ui::SelectionState::traceChanged, this, [&] {
      const auto& trace = window.state().trace();
      if (shown.empty()) first_view = window.timelineView().visibleRange();
      shown.emplace_back(trace->provenance().outline_only, trace->event_count());
    });
    QVERIFY(open_and_settle(window, long_));
    QVERIFY(shown.size() >= 2);
    QVERIFY(shown.front().first);
    QVERIFY(shown.front().second <= kOutlineBuckets);
    QVERIFY(!shown.back().first);
    QCOMPARE(shown.back().second, kLongEvents);
    for (std::size_t i = 1; i + 1 < shown.size(); ++i) QVERIFY(shown[i].second <= shown[i + 1].second || shown[i].first);
    QCOMPARE(window.state().trace()->extent().end, static_cast<std::int64_t>(kLongEvents - 1) * kLongPeriod + kLongPeriod / 2);
    QVERIFY(first_view.end >= window.state().trace()->extent().end - kLongPeriod);  // the outline spans the whole trace
    QVERIFY(wait_for([&] { return window.isSettled(); }));
    QCOMPARE(events_table(window)->model()->rowCount(), static_cast<int>(kLongEvents));
  }

  void keepsWhatWasReadWhenCancelled() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    auto* cancel = window.findChild<ui::TraceStatus*>()->findChild<QPushButton*>();
    QVERIFY(cancelInTime(window, long_, kLongEvents, window.state(), &ui::SelectionState::traceChanged, [&] { return cancel->isVisible(); }));
    QVERIFY(window.state().trace()->provenance().outline_only || window.state().trace()->event_count() < kLongEvents);
    QVERIFY(!cancel->isVisible());

    QVERIFY(open_and_settle(window, long_));  // the next attempt is not affected
    QCOMPARE(window.state().trace()->event_count(), kLongEvents);
  }

  void drawsWhatHasComeUntilItWasCancelled() {
    constexpr std::size_t kManyChunks = 160;
    const QString many = QString::fromStdString((folder_.path() / "many.trace").string());
    write_long_trace(many.toStdString(), kManyChunks);
    // Truncated, it has no outline: then any part of it is more than what is shown.
    std::filesystem::resize_file(many.toStdString(), std::filesystem::file_size(many.toStdString()) - sizeof(FileTrailer));
    MainWindow window(ui::Layout::kInitial);
    window.show();
    const auto* progress = window.findChild<ui::TraceStatus*>()->findChild<QProgressBar*>();
    QVERIFY(cancelInTime(window, many, kManyChunks * kLongChunk, *progress, &QProgressBar::valueChanged, [&] { return progress->value() > 0; }));
    const std::uint64_t shown = window.state().trace()->event_count();
    QVERIFY(shown > 0 && shown < kManyChunks * kLongChunk);
    QVERIFY(!window.state().trace()->provenance().outline_only);
    QVERIFY(window.windowTitle().contains("many.trace"));
    QCOMPARE(window.timelineView().trace(), window.state().trace());
    QCOMPARE(window.timelineView().visibleRange().end >= window.state().trace()->extent().end, true);
    QCOMPARE(events_table(window)->model()->rowCount(), static_cast<int>(shown));
  }

  void anotherFileReplacesTheOneThatIsBeingLoaded() {
    const QString known = QString::fromStdString((folder_.path() / "known.trace").string());
    write_known_trace(known.toStdString());
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QSignalSpy opened(&window, &MainWindow::opened);
    window.openFile(long_);
    QVERIFY(open_and_settle(window, known));
    QCOMPARE(opened.size(), 1);
    QCOMPARE(window.state().trace()->event_count(), kEvents);
  }

  // N steps through matches of a search, G through gaps, as if all events were in memory. For G, reading all of them must be requested.
  void keysWalkThroughEventsThatAreReadAsTheyAreNeeded() {
    const std::filesystem::path log = folder_.path() / "gaps.trace", compact = folder_.path() / "gaps.compact.trace";
    QVERIFY(export_trace_file(*variedKernels(400'000, 50'000), log, Overwrite::kAllow).has_value());
    QVERIFY(compact_trace_file(log, compact, Overwrite::kAllow).has_value());
    const QString path = QString::fromStdString(compact.string());
    MainWindow in_memory(ui::Layout::kInitial);
    in_memory.show();
    QVERIFY(open_and_settle(in_memory, path));
    SegmentCache& cache = SegmentCache::of_process();
    cache.set_budget(4 << 20);
    const auto usual = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, path));
    const auto trace = window.state().trace();
    QVERIFY(holds_events(*in_memory.state().trace()) && !holds_events(*trace));
    const TimeRange all = trace->extent();
    for (MainWindow* each : {&in_memory, &window}) {
      each->timelineView().clearSelection();
      each->timelineView().setVisibleRange({all.length() / 2, all.length() / 2 + 400'000});
      each->activateWindow();
      auto* text = each->findChild<ui::EventSearch*>()->findChild<QLineEdit*>();
      QVERIFY(text != nullptr);
      text->setText("TRANSPOSE");
      QTest::keyClick(text, Qt::Key_Return);
      QVERIFY(settle(*each));
    }
    const auto press = [](MainWindow& in, Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
      QTest::keyClick(&in.timelineView(), key, modifiers);
      return settle(in);
    };
    for (int i = 0; i < 3; ++i) QVERIFY(press(in_memory, Qt::Key_N) && press(window, Qt::Key_N));
    QVERIFY(press(in_memory, Qt::Key_N, Qt::ShiftModifier) && press(window, Qt::Key_N, Qt::ShiftModifier));
    QVERIFY(window.state().selectedEvent().valid());
    QCOMPARE(window.state().selectedEvent(), in_memory.state().selectedEvent());
    QCOMPARE(trace->name(trace->event(window.state().selectedEvent()).name), std::string_view("transpose"));

    for (MainWindow* each : {&in_memory, &window}) each->timelineView().clearSelection();
    QTest::keyClick(&window.timelineView(), Qt::Key_G);
    QVERIFY2(window.messages().text().contains("reads all events"), qPrintable(window.messages().text()));
    QVERIFY(settle(window));
    QVERIFY(!window.state().selectedRange());
    QVERIFY2(!window.messages().text().contains("reads all events"), qPrintable(window.messages().text()));  // the gaps are known
    QVERIFY(press(window, Qt::Key_G) && press(in_memory, Qt::Key_G));
    QVERIFY(window.state().selectedRange().has_value());
    QCOMPARE(window.timelineView().selectedGap()->range.begin, in_memory.timelineView().selectedGap()->range.begin);
    QVERIFY(press(window, Qt::Key_G, Qt::ShiftModifier) && press(in_memory, Qt::Key_G, Qt::ShiftModifier));
    QVERIFY(window.state().selectedRange() == in_memory.state().selectedRange());
  }

  // Events that stay in the file were not checked for damage: Diagnostics checks them, and says the same as `lanescope info`.
  void diagnosticsSaysWhichPartsOfAFileAreDamaged() {
    const std::filesystem::path log = folder_.path() / "sound.trace", compact = folder_.path() / "sound.compact.trace",
                                damaged = folder_.path() / "damaged.trace";
    QVERIFY(export_trace_file(*variedKernels(400'000, 50'000), log, Overwrite::kAllow).has_value());
    QVERIFY(compact_trace_file(log, compact, Overwrite::kAllow).has_value());
    QFile whole(QString::fromStdString(compact.string()));
    QVERIFY(whole.open(QIODevice::ReadOnly));
    QByteArray bytes = whole.readAll();
    for (const qsizetype at : {bytes.size() * 3 / 10, bytes.size() * 6 / 10}) bytes[at] = static_cast<char>(~bytes[at]);
    QFile broken(QString::fromStdString(damaged.string()));
    QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write(bytes) == bytes.size());
    broken.close();
    const std::string told = damaged_segments(damaged);  // the text that `lanescope info` prints
    QVERIFY2(told.starts_with("2 frames are damaged and skipped, the first at byte "), told.c_str());

    SegmentCache& cache = SegmentCache::of_process();
    cache.set_budget(4 << 20);
    const auto usual = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, QString::fromStdString(damaged.string())));
    QVERIFY(!holds_events(*window.state().trace()));
    window.showPanel("diagnostics");
    auto* diagnostics = window.findChild<ui::DiagnosticsPanel*>();
    QVERIFY(Gestures(window).click_panel("Recording"));
    QVERIFY(settle(window));
    QVERIFY2(diagnostics->recording().contains(QString::fromStdString(told)), qPrintable(diagnostics->recording()));

    QVERIFY2(window.findChild<ui::TraceStatus*>()->text().contains("incomplete: not all of it could be read"),
             qPrintable(window.findChild<ui::TraceStatus*>()->text()));

    // When its events have been read, it is said above the timeline, and in no window that shows another file, whenever it was opened.
    MainWindow other(ui::Layout::kInitial);
    other.show();
    QVERIFY(open_and_settle(other, QString::fromStdString(compact.string())));
    const Trace& read = *window.state().trace();
    QVERIFY(!gather_events(read, EventScope::whole_trace(read).lanes(), {}).empty());
    const QString lack = QString::fromStdString(check_all_was_read(read).error().text);
    QVERIFY(wait_for([&] { return window.messages().text() == lack; }));
    MainWindow later(ui::Layout::kInitial);
    later.show();
    for (MainWindow* sound : {&other, &later}) {
      QVERIFY(open_and_settle(*sound, QString::fromStdString(compact.string())));
      QVERIFY2(sound->messages().messages().empty(), qPrintable(sound->messages().text()));
    }

    // For another file, that is not said.
    QVERIFY(open_and_settle(window, QString::fromStdString(compact.string())));
    QVERIFY2(!diagnostics->recording().contains("damaged"), qPrintable(diagnostics->recording()));
    QVERIFY2(window.findChild<ui::TraceStatus*>()->text().contains("complete: nothing dropped"), qPrintable(window.findChild<ui::TraceStatus*>()->text()));
  }

  // Wherever the damage is, in memory or not, and whatever is asked of its events: it was not truncated, and is not being written.
  void aFileThatIsDamagedWithinIsNotSaidToBeCutOff() {
    const std::filesystem::path log = folder_.path() / "within.trace", compact = folder_.path() / "within.compact.trace";
    QVERIFY(export_trace_file(*variedKernels(400'000, 50'000), log, Overwrite::kAllow).has_value());
    QVERIFY(compact_trace_file(log, compact, Overwrite::kAllow).has_value());
    SegmentCache& cache = SegmentCache::of_process();
    const auto usual = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    const QString damaged = QString::fromStdString((folder_.path() / "damaged_within.trace").string());
    for (const std::filesystem::path& sound : {log, compact})
      for (const std::size_t budget : {SegmentCache::default_budget(), std::size_t{4} << 20})
        for (const int tenths : {1, 3, 5, 7, 9}) {
          QFile whole(QString::fromStdString(sound.string()));
          QVERIFY(whole.open(QIODevice::ReadOnly));
          QByteArray bytes = whole.readAll();
          for (qsizetype i = 0; i < 64; ++i) bytes[bytes.size() * tenths / 10 + i] ^= 0x5a;
          QFile broken(damaged);
          QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write(bytes) == bytes.size());
          broken.close();
          cache.set_budget(budget);
          MainWindow window(ui::Layout::kInitial);
          window.show();
          QVERIFY(open_and_settle(window, damaged));
          auto* diagnostics = window.findChild<ui::DiagnosticsPanel*>();
          window.showPanel("diagnostics");
          QVERIFY(Gestures(window).click_panel("Recording"));
          QVERIFY(settle(window));
          const QString status = window.findChild<ui::TraceStatus*>()->text(), said = window.messages().text() + u' ' + diagnostics->recording();
          const QByteArray where = QByteArray(sound.filename().c_str()) + ' ' + QByteArray::number(tenths) + "/10: " + (status + u' ' + said).toUtf8();
          QVERIFY2(status.contains("incomplete: not all of it could be read"), where);
          QVERIFY2(said.contains("damaged") && !said.contains("cut off"), where);
        }
  }

  // A recording that does not fit into the memory for events is drawn and queried as if all of it were there.
  void readsACompactedFileAsItIsNeeded() {
    constexpr std::uint64_t kEvents = 400'000;
    const std::filesystem::path log = folder_.path() / "log.trace", compact = folder_.path() / "compact.trace";
    QVERIFY(export_trace_file(*variedKernels(kEvents), log, Overwrite::kAllow).has_value());
    QVERIFY(compact_trace_file(log, compact, Overwrite::kAllow).has_value());
    const QString path = QString::fromStdString(compact.string());
    MainWindow in_memory(ui::Layout::kInitial);
    in_memory.show();
    QVERIFY(open_and_settle(in_memory, path));
    QVERIFY(holds_events(*in_memory.state().trace()));

    SegmentCache& cache = SegmentCache::of_process();
    cache.set_budget(4 << 20);
    const auto usual = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, path));
    const auto trace = window.state().trace();
    QVERIFY(!holds_events(*trace));
    QVERIFY(!trace->provenance().outline_only);
    QCOMPARE(trace->event_count(), kEvents);

    const auto picture = [](MainWindow& of) {
      (void)of.timelineView().grab();  // requests what is missing
      return settle(of) ? of.timelineView().grab().toImage() : QImage();
    };
    in_memory.timelineView().setLoops({});  // found and marked only in memory
    const TimeRange all = trace->extent();
    for (const TimeRange range : {all, TimeRange{all.length() / 3, all.length() / 2}, TimeRange{all.length() / 5, all.length() / 5 + 60'000}}) {
      in_memory.timelineView().setVisibleRange(range);
      window.timelineView().setVisibleRange(range);
      const QImage expected = picture(in_memory);
      QVERIFY(!expected.isNull());
      QCOMPARE(picture(window), expected);
    }

    // All events are too many for a list; the visible ones are not.
    QVERIFY(window.events().isVisible());
    QCOMPARE(events_table(window)->model()->rowCount(), 0);
    const auto says = [&](const QString& text) {
      const auto labels = window.events().findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->isVisible() && label->text().contains(text); });
    };
    QVERIFY(says("more than ") && says("Choose a row, a part of time") && !says("0 events"));
    const QString row = QString::fromStdString(window.timelineView().rows().rows().front().key);
    window.state().setShownRow(ui::ShownRow{row, row, window.timelineView().rowEvents(row)});
    QVERIFY(settle(window));
    QVERIFY(says("on this row. Choose a shorter part of time") && !says("Choose a row"));
    window.state().setShownRow(std::nullopt);
    window.state().setTimeBinding(ui::TimeBinding::kVisibleRange);
    in_memory.state().setTimeBinding(ui::TimeBinding::kVisibleRange);
    QVERIFY(settle(window) && settle(in_memory));
    QCOMPARE(events_table(window)->model()->rowCount(), events_table(in_memory)->model()->rowCount());
    QVERIFY(events_table(window)->model()->rowCount() > 10);
    window.timelineView().selectEvent({0, 200'000});
    window.timelineView().selectNeighbour(timeline::Neighbour::kNext);
    QCOMPARE(window.state().selectedEvent(), (EventRef{0, 200'001}));

    // Unreadable events are reported, and the trace stays.
    std::filesystem::resize_file(compact, 1'000);
    constexpr std::int64_t kPlaces = 20;  // the memory for events holds only some of them
    std::int64_t place = 0;
    QVERIFY(wait_for([&] {
      const std::int64_t begin = all.length() / kPlaces * (place++ % kPlaces);
      window.timelineView().setVisibleRange({begin, begin + 60'000});
      (void)window.timelineView().grab();
      return window.messages().text().contains("can be read any more");
    }));
    QCOMPARE(window.state().trace(), trace);
  }

  // On request, the list has all events; its order is stored in a file, and the window says how large that may become.
  void listsMoreEventsThanMemoryHolds() {
    constexpr std::uint64_t kEvents = 400'000;
    const std::filesystem::path log = folder_.path() / "listed.log.trace", compact = folder_.path() / "listed.trace";
    QVERIFY(export_trace_file(*variedKernels(kEvents), log, Overwrite::kAllow).has_value());
    QVERIFY(compact_trace_file(log, compact, Overwrite::kAllow).has_value());
    const QString path = QString::fromStdString(compact.string());
    MainWindow in_memory(ui::Layout::kInitial);
    in_memory.show();
    QVERIFY(open_and_settle(in_memory, path));
    SegmentCache& cache = SegmentCache::of_process();
    cache.set_budget(4 << 20);
    const auto usual = qScopeGuard([&cache] { cache.set_budget(SegmentCache::default_budget()); });
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(open_and_settle(window, path));
    QVERIFY(holds_events(*in_memory.state().trace()) && !holds_events(*window.state().trace()));
    QCOMPARE(events_table(window)->model()->rowCount(), 0);
    QLabel* question = nullptr;
    for (QLabel* label : window.events().findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains("List them all the same</a>, in a file of up to 9")) question = label;
    QVERIFY(question != nullptr);
    emit question->linkActivated("same");
    const auto same_lists = [&] {
      if (!settle(window) || !settle(in_memory)) return false;
      const QTableView &list = *events_table(window), &expected = *events_table(in_memory);
      if (list.model()->rowCount() != static_cast<int>(kEvents) || expected.model()->rowCount() != list.model()->rowCount()) return false;
      for (const int row : {0, 17, 499, 500, 123'456, static_cast<int>(kEvents) - 1})
        for (const EventColumn column : {EventColumn::kName, EventColumn::kStart, EventColumn::kDuration, EventColumn::kGapBefore})
          if (cell(list, row, column) != cell(expected, row, column)) return false;
      return true;
    };
    QVERIFY(same_lists());
    for (const EventColumn column : {EventColumn::kDuration, EventColumn::kName, EventColumn::kGapBefore, EventColumn::kStart}) {
      for (MainWindow* each : {&window, &in_memory}) each->events().sortBy(column, SortDirection::kDescending);
      QVERIFY(same_lists());
    }
    QVERIFY(window.events().whyNoExport().contains("lanescope export"));
    // There are more matches than are kept: Enter continues from the user's position.
    for (MainWindow* each : {&window, &in_memory}) {
      auto* search = each->findChild<ui::EventSearch*>();
      each->timelineView().selectEvent({0, 300'000});
      search->searchFor("e");
      QVERIFY(settle(*each));
      search->previous();
      QVERIFY(settle(*each));
    }
    QCOMPARE(window.state().selectedEvent(), in_memory.state().selectedEvent());
    QVERIFY(window.state().selectedEvent() != (EventRef{0, 300'000}));

    // Families have the same sums. They cannot be opened: their events are listed instead.
    for (MainWindow* each : {&window, &in_memory}) {
      each->events().setFolding(ui::Folding::kFamilies);
      each->events().sortBy(EventColumn::kDuration, SortDirection::kDescending);
      QVERIFY(settle(*each));
    }
    const QTableView &folded = *events_table(window), &expected = *events_table(in_memory);
    const int families = folded.model()->rowCount();
    QVERIFY(families > 0 && families < 1'000);
    QCOMPARE(families, expected.model()->rowCount());
    for (int row = 0; row < families; ++row) {
      QCOMPARE(folded.model()->index(row, 0).data(), expected.model()->index(row, 0).data());
      QCOMPARE("▸ " + cell(folded, row, EventColumn::kName), cell(expected, row, EventColumn::kName));
      QCOMPARE(cell(folded, row, EventColumn::kDuration), cell(expected, row, EventColumn::kDuration));
    }
    const auto is_said = [&] {
      for (const QLabel* label : window.events().findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains("Enter lists the events of one")) return true;
      return false;
    };
    QVERIFY(is_said());
    QTableView* table = events_table(window);
    table->setFocus();
    table->setCurrentIndex(table->model()->index(0, 1));
    QTest::keyClick(table, Qt::Key_Right);
    QCOMPARE(table->model()->rowCount(), families);
    const QString family = cell(*table, 0, EventColumn::kName);
    const QString count = table->model()->index(0, 0).data().toString();
    QTest::keyClick(table, Qt::Key_Return);
    QVERIFY(settle(window));
    QVERIFY(!is_said());
    QCOMPARE(timeline::format_count(static_cast<std::uint64_t>(table->model()->rowCount())), count.toStdString());
    QVERIFY(window.state().filter().kind == EventKind::kKernel);
  }

  void theTimelineHasTheFocusOnceATraceIsShown() {
    MainWindow window(ui::Layout::kInitial);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
    QVERIFY(open_and_settle(window, long_));
    QCOMPARE(window.focusWidget(), static_cast<QWidget*>(&window.timelineView()));
  }

  // The command under a picture of a report.
  void aWindowOpensAtThePartOfTimeOfTheCommandLine() {
    const TemporaryFolder folder;
    const QString known = known_trace_in(folder);
    const auto parsed = ui::parse_options({known, "--range", "300us:400us", "--panel", "findings"});
    const auto* const options = std::get_if<ui::Options>(&parsed);
    QVERIFY(options != nullptr);
    MainWindow window(ui::Layout::kInitial);
    window.show();
    ui::show_view_once_open(window, options->view, ui::Opening::kOneTrace);
    QVERIFY(open_and_settle(window, known));
    QVERIFY(window.timelineView().visibleRange() == TimeRange({300'000, 400'000}));
    QVERIFY(window.findings().isVisible());
    QVERIFY(open_and_settle(window, known));  // as opened by hand
    QVERIFY(window.timelineView().visibleRange() != TimeRange({300'000, 400'000}));
    ui::show_view_once_open(window, {TimeRange{5'000'000'000, 6'000'000'000}, {}}, ui::Opening::kOneTrace);
    QVERIFY(open_and_settle(window, known));
    QVERIFY2(window.messages().text().contains("the trace begins at"), qPrintable(window.messages().text()));
    // If opening fails, the view is not applied to a file that is opened later.
    ui::show_view_once_open(window, options->view, ui::Opening::kOneTrace);
    window.openAll({QString::fromStdString((folder.path() / "gone.trace").string())}, ui::Several::kBeside);
    QTRY_VERIFY(window.messages().text().contains("gone.trace"));
    QVERIFY(open_and_settle(window, known));
    QVERIFY(window.timelineView().visibleRange() != TimeRange({300'000, 400'000}));
  }

 private:
  // Opens the file and presses Cancel at the first signal for which `moment` returns true. On a busy machine everything may have been read before this thread
  // receives the signal: then it is too late, and is tried again.
  template <typename Sender, typename Signal>
  static bool cancelInTime(MainWindow& window, const QString& path, std::uint64_t events, const Sender& sender, Signal signal,
                           const std::function<bool()>& moment) {
    auto* cancel = window.findChild<ui::TraceStatus*>()->findChild<QPushButton*>();
    for (int attempt = 0; attempt < 20; ++attempt) {
      bool pressed = false;
      const auto watch = QObject::connect(&sender, signal, &window, [&] {
        if (pressed || !moment()) return;
        pressed = true;
        QTest::mouseClick(cancel, Qt::LeftButton);
      });
      window.openFile(path);
      const bool ended = settle(window);
      QObject::disconnect(watch);
      if (!ended) return false;
      const auto trace = window.state().trace();
      const bool is_part = trace && (trace->provenance().outline_only || trace->event_count() < events);  // else it was too late
      if (pressed && is_part && window.messages().text().contains("cancelled")) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
  QString long_;
};

QTEST_MAIN(LoadingTest)
#include "test_gui_loading.moc"
