// Notes on a trace: stored beside it, listed, changed and visited; and invalid files of notes.
#include <sys/file.h>

#include <climits>

#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QToolTip>

#include "fixture/dialogs.h"
#include "fixture/gestures.h"
#include "fixture/panel_tables.h"
#include "support/small_files.h"

using namespace lanescope;
using namespace lanescope::test;
using lanescope::ui::MainWindow;
using lanescope::ui::NotesKeeper;

class NotesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { use_empty_settings(); }
  void init() {
    folder_ = std::make_unique<TemporaryFolder>();
    known_ = known_trace_in(*folder_);
    window_ = window_of(known_);
    QVERIFY(window_);
  }
  void cleanup() {
    window_.reset();
    folder_.reset();
  }

  void aMarkerIsThereAgainWhenTheTraceIsOpenedAgain() {
    const QByteArray before = content(known_);
    QVERIFY(!QFile::exists(notesFile()));
    timeline().setSelectedRange(TimeRange{300'000, 350'000});
    timeline().setFocus();
    QTest::keySequence(&timeline(), QKeySequence(Qt::CTRL | Qt::Key_M));
    QTest::keyClicks(QApplication::focusWidget(), "first slow step");
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QCOMPARE(content(notesFile()).trimmed().split('\n').last(), QByteArray("0.000300000  first slow step"));
    window_ = window_of(known_);
    QCOMPARE(timeline().markers().size(), std::size_t{1});
    QCOMPARE(timeline().markers()[0].time, Nanoseconds{300'000});
    QCOMPARE(timeline().markers()[0].text, QString("first slow step"));
    timeline().clearMarkers();
    QVERIFY(!QFile::exists(notesFile()));
    QCOMPARE(content(known_), before);  // nothing is ever written into the trace
  }

  void notesAboutAPrivateTraceArePrivate() {
    QVERIFY(QFile::setPermissions(known_, QFile::ReadOwner | QFile::WriteOwner));
    timeline().addMarker(400'000, "here");
    QVERIFY(!content(notesFile()).isEmpty());
    QVERIFY(!(QFile::permissions(notesFile()) & (QFile::ReadGroup | QFile::ReadOther)));
  }

  void aReadOnlyFileOfNotesStaysAsItIs() {
    write("0.000300000  kept\n");
    const QByteArray before = content(notesFile());
    QVERIFY(QFile::setPermissions(notesFile(), QFile::ReadOwner | QFile::ReadGroup | QFile::ReadOther));
    window_ = window_of(known_);
    timeline().addMarker(400'000, "here");
    QCOMPARE(content(notesFile()), before);
    QVERIFY(window_->messages().text().contains("read-only"));
    QVERIFY(QFile::setPermissions(notesFile(), QFile::ReadOwner | QFile::WriteOwner));
    timeline().addMarker(500'000, "there");
    QVERIFY(content(notesFile()).contains("0.000300000  kept\n0.000400000  here\n0.000500000  there\n"));
  }

  void notesOfAnotherTraceDoNotComeWithIt() {
    const QString other = QString::fromStdString((folder_->path() / "other.trace").string());
    write_known_trace(other.toStdString());
    timeline().addMarker(400'000, "here");
    const QByteArray kept = content(notesFile());
    QVERIFY(open_and_settle(*window_, other));
    QVERIFY(timeline().markers().empty());
    QVERIFY(!QFile::exists(NotesKeeper::fileOf(other)));
    timeline().addMarker(500'000, "there");
    QVERIFY(open_and_settle(*window_, known_));
    QCOMPARE(timeline().markers().size(), std::size_t{1});
    QCOMPARE(timeline().markers()[0].text, QString("here"));
    QCOMPARE(content(notesFile()), kept);
  }

  void notesAreListedChangedAndRemoved() {
    write("# by hand\n0.0009  late\n0.0003 early\nsee issue 12\n");
    window_ = window_of(known_);
    QTest::keySequence(&timeline(), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_M));
    ui::ResultTable& table = window_->notes().table();
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&table));
    QCOMPARE(table.model()->rowCount(), 2);
    timeline().setVisibleRange({0, 100'000});
    QTest::keyClick(&table, Qt::Key_Down);
    QVERIFY(timeline().visibleRange().contains(300'000));
    type("earlier");
    QTest::keyClick(&window_->notes().text(), Qt::Key_Return);
    QCOMPARE(timeline().markers()[0].text, QString("earlier"));
    QVERIFY(content(notesFile()).contains("0.000300000  earlier\n"));
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_Delete);
    QCOMPARE(timeline().markers().size(), std::size_t{1});
    QVERIFY(content(notesFile()).contains("# by hand\nsee issue 12\n"));  // what somebody else wrote stays
    QVERIFY(!content(notesFile()).contains("earlier"));
  }

  void notesOfOneTimeAreChangedAndRemovedOneByOne() {
    write("0.000300000  one\n0.000300000  another\n");
    window_ = window_of(known_);
    window_->showPanel("notes");
    ui::ResultTable& table = window_->notes().table();
    QCOMPARE(table.model()->rowCount(), 2);
    const auto row_of = [&](const QString& text) { return static_cast<ui::TableRow>(table.model()->index(0, 1).data().toString() == text ? 0 : 1); };
    table.chooseRow(row_of("another"));
    type("changed");
    QTest::keyClick(&window_->notes().text(), Qt::Key_Return);
    const QByteArray both = content(notesFile());
    QVERIFY2(both.contains("0.000300000  one\n") && both.contains("0.000300000  changed\n") && !both.contains("another"), both.constData());
    table.chooseRow(row_of("one"));
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_Delete);
    QVERIFY(content(notesFile()).contains("0.000300000  changed\n") && !content(notesFile()).contains("one"));
  }

  // The second trace is shifted so that both notes are at the same time of the axis.
  void notesOfBothTracesAtOneTimeAreChangedAndRemovedOneByOne() {
    const QString faster = pathOf("faster.trace");
    write_known_trace(faster.toStdString(), kKernelDuration / 2);
    write("0.000500000  of known\n");
    QFile other(NotesKeeper::fileOf(faster));
    QVERIFY(other.open(QIODevice::WriteOnly) && other.write("0.000500000  of faster\n") > 0);
    other.close();
    QVERIFY(open_and_settle(*window_, known_));
    QVERIFY(open_beside_and_settle(*window_, faster));
    window_->pair().setShift(0);
    QVERIFY(settle(*window_));
    window_->showPanel("notes");
    ui::ResultTable& table = window_->notes().table();
    QCOMPARE(table.model()->rowCount(), 2);
    QCOMPARE(cell(table, 0, "Start"), cell(table, 1, "Start"));
    const int of_faster = cell(table, 0, "Note") == "of faster" ? 0 : 1;
    QCOMPARE(cell(table, of_faster, "File"), QString("B  faster.trace"));
    QCOMPARE(cell(table, 1 - of_faster, "File"), QString("A  known.trace"));
    const QByteArray of_known = content(notesFile());

    table.chooseRow(static_cast<ui::TableRow>(of_faster));
    window_->notes().text().setFocus();
    window_->notes().text().selectAll();
    QTest::keyClicks(&window_->notes().text(), "changed");
    QTest::keyClick(&window_->notes().text(), Qt::Key_Return);
    QCOMPARE(content(notesFile()), of_known);
    QVERIFY(content(NotesKeeper::fileOf(faster)).contains("0.000500000  changed\n"));
    window_->notes().removeChosen();
    QCOMPARE(content(notesFile()), of_known);
    QVERIFY(!QFile::exists(NotesKeeper::fileOf(faster)));
    window_->timelineView().edits().undo();
    QCOMPARE(content(notesFile()), of_known);
    QVERIFY(content(NotesKeeper::fileOf(faster)).contains("0.000500000  changed\n"));
    // If only the second trace has a note, a new one belongs to the first.
    window_->timelineView().removeMarker(window_->timelineView().markers()[static_cast<std::size_t>(1 - of_faster)]);
    window_->timelineView().addMarker(500'000, "new");
    QVERIFY(content(notesFile()).contains("0.000500000  new\n"));
    QVERIFY(content(NotesKeeper::fileOf(faster)).contains("0.000500000  changed\n"));
  }

  // If the second trace was shifted or closed since, a restored note is at its own time in its own file, or nowhere.
  void whatIsUndoneBehindAnotherAlignmentIsInItsOwnFile() {
    const QString faster = pathOf("faster.trace");
    write_known_trace(faster.toStdString(), kKernelDuration / 2);
    QFile other(NotesKeeper::fileOf(faster));
    QVERIFY(other.open(QIODevice::WriteOnly) && other.write("0.000500000  of faster\n") > 0);
    other.close();
    QVERIFY(open_beside_and_settle(*window_, faster));
    const auto remove = [&] {
      timeline().removeMarker(timeline().markers().front());
      return !QFile::exists(NotesKeeper::fileOf(faster));
    };
    QVERIFY(remove());
    window_->pair().setShift(window_->pair().shift() + 70'000);
    QVERIFY(settle(*window_));
    timeline().edits().undo();
    QVERIFY(content(NotesKeeper::fileOf(faster)).contains("0.000500000  of faster\n"));
    QCOMPARE(timeline().markers().front().time, 500'000 + window_->pair().shift());
    QVERIFY(!QFile::exists(notesFile()));
    QVERIFY(remove());
    window_->alignment().findChild<QPushButton*>("close_b")->click();
    QVERIFY(settle(*window_));
    timeline().edits().undo();
    QVERIFY(timeline().markers().empty());
    QVERIFY(!QFile::exists(notesFile()) && !QFile::exists(NotesKeeper::fileOf(faster)));
  }

  // A file of notes says which recording it belongs to.
  void notesOnAnotherRecordingOfThisNameAreNotShownAndNotLost() {
    const QString path = pathOf("run.trace"), file = NotesKeeper::fileOf(path);
    QVERIFY(QFile::copy(recorded("cuda_streams.trace"), path));
    QVERIFY(open_and_settle(*window_, path));
    timeline().addMarker(300'000, "of the first");
    const QByteArray of_first = content(file);
    QVERIFY2(of_first.contains("# Of the recording that began "), of_first.constData());
    QVERIFY(QFile::remove(path) && QFile::copy(recorded("torch_training_workers0.trace"), path));  // like profile -f
    window_ = window_of(path);
    QVERIFY(timeline().markers().empty());
    QVERIFY2(window_->messages().text().contains("has notes on another recording"), qPrintable(window_->messages().text()));
    QCOMPARE(content(file), of_first);  // looking at a recording renames nothing
    timeline().addMarker(500'000, "of the second");
    QCOMPARE(content(file + ".old"), of_first);
    const QByteArray of_second = content(file);
    QVERIFY2(of_second.contains("of the second") && !of_second.contains("of the first"), of_second.constData());
    QVERIFY2(window_->messages().text().contains("run.trace.notes.old"), qPrintable(window_->messages().text()));
    timeline().addMarker(600'000, "more");
    QVERIFY(window_->messages().text().isEmpty());  // it is said only once
    QVERIFY(content(file).contains("more"));
    const QByteArray all_of_second = content(file);
    QVERIFY(QFile::remove(path) && QFile::copy(recorded("cuda_streams.trace"), path));
    window_ = window_of(path);
    timeline().addMarker(700'000, "again");
    QVERIFY(content(file).contains("again"));
    QCOMPARE(content(file + ".old2"), all_of_second);
    QCOMPARE(content(file + ".old"), of_first);
  }

  // After the file was renamed, as the message suggests, it has the notes from before and after.
  void notesAreWrittenOnceTheirFileIsRenamed() {
    QVERIFY(QDir().mkpath(notesFile()));
    window_ = window_of(known_);
    QVERIFY2(window_->messages().text().contains("Rename it"), qPrintable(window_->messages().text()));
    timeline().addMarker(300'000, "before");
    QVERIFY2(window_->messages().text().contains("are not written"), qPrintable(window_->messages().text()));
    QVERIFY(QDir().rename(notesFile(), pathOf("set_aside")));
    timeline().addMarker(500'000, "behind");
    QVERIFY(content(notesFile()).contains("before\n0.000500000  behind\n"));
    QVERIFY2(window_->messages().text().isEmpty(), qPrintable(window_->messages().text()));
  }

  // Spaces around a text are not stored.
  void aNoteWithSpacesAroundItIsRemovedAtOnce() {
    timeline().addMarker(300'000, " spaced ");
    timeline().addMarker(500'000, "other");
    QVERIFY(content(notesFile()).contains("0.000300000  spaced\n"));
    timeline().removeMarker(timeline().markers()[0]);
    QVERIFY(!content(notesFile()).contains("spaced"));
    QCOMPARE(timeline().markers().size(), std::size_t{1});
    timeline().edits().undo();
    timeline().edits().undo();
    timeline().edits().undo();
    QVERIFY(timeline().markers().empty());
    QVERIFY(!QFile::exists(notesFile()));
  }

  // What could not be read again is not written: more notes together than a file has, or more text.
  void notesThatWouldBeTooManyOrTooLongLeaveTheirFileAsItWas() {
    const auto lines = [](std::size_t count, qsizetype length) {
      QByteArray text;
      for (std::size_t i = 0; i < count; ++i) text += "0.0002 " + QByteArray::number(static_cast<qulonglong>(i)) + QByteArray(length, 'x') + "\n";
      return text;
    };
    const auto is_kept_as = [&](const QByteArray& text, const char* why) {
      write(text);
      timeline().addMarker(300'000, QStringLiteral("one more behind %1").arg(text.size()));
      return content(notesFile()) == text && window_->messages().text().contains(why);
    };
    QVERIFY(is_kept_as(lines(kMostNotes, 0), "A trace has at most 10000 notes"));
    const QByteArray most = lines(kLargestNotesFile / 4'010, 4'000);
    QVERIFY(static_cast<std::size_t>(most.size()) < kLargestNotesFile);  // times are written with more digits
    QVERIFY(is_kept_as(most, "have at most 4 MiB of text"));
    write("");
    timeline().addMarker(500'000, "and another");
    QVERIFY(content(notesFile()).contains("one more behind"));
    QVERIFY(content(notesFile()).contains("0.000500000  and another\n"));
  }

  void aTraceWhoseNameLeavesNoRoomForNotesIsOpenedWithoutAWord() {
    const QString path = pathOf((std::string(NAME_MAX - 6, 'n') + ".trace").c_str());
    QVERIFY(QFile::copy(known_, path));
    QVERIFY(open_and_settle(*window_, path));
    QVERIFY2(window_->messages().text().isEmpty(), qPrintable(window_->messages().text()));
    timeline().addMarker(300'000, "here");
    QVERIFY2(window_->messages().text().contains("File name too long"), qPrintable(window_->messages().text()));
  }

  // Another window shows the recording that has the name now, and has notes: notes on the recording shown here must not replace them.
  void aWindowThatShowsTheRecordingBeforeLeavesTheNotesOnTheNextAlone() {
    const QString path = pathOf("run.trace"), file = NotesKeeper::fileOf(path);
    QVERIFY(QFile::copy(recorded("cuda_streams.trace"), path));
    QVERIFY(open_and_settle(*window_, path));
    QVERIFY(QFile::remove(path) && QFile::copy(recorded("torch_training_workers0.trace"), path));
    const auto next = window_of(path);
    QVERIFY(next);
    next->timelineView().addMarker(500'000, "of the next");
    const QByteArray of_next = content(file);
    QVERIFY(of_next.contains("of the next"));
    timeline().addMarker(300'000, "of the one before");
    QCOMPARE(content(file), of_next);
    QVERIFY2(window_->messages().text().contains("is now about another recording"), qPrintable(window_->messages().text()));
  }

  void whatCantBeWrittenIsAskedAboutBeforeItIsGone() {
    QVERIFY(QDir().mkpath(notesFile()));
    window_ = window_of(known_);
    QString asked;
    {
      const DialogAnswers none([&](QDialog& dialog) { dialog.reject(); });
      window_->openFile(recorded("cuda_streams.trace"));  // nothing is lost, nothing is asked
      QVERIFY(settle(*window_));
      QVERIFY(open_and_settle(*window_, known_));
      QCOMPARE(none.count(), 0);
    }
    timeline().addMarker(300'000, "here");
    const auto press = [&asked](const QString& text) {
      return [&asked, text](QDialog& dialog) {
        if (auto* box = qobject_cast<QMessageBox*>(&dialog)) asked = box->text();
        if (QAbstractButton* button = button_of(dialog, text)) button->click();
      };
    };
    {
      const DialogAnswers cancel(press("Cancel"));
      window_->close();
      QCOMPARE(cancel.count(), 1);
      window_->openFile(recorded("cuda_streams.trace"));
      QCOMPARE(cancel.count(), 2);
    }
    QVERIFY2(asked.contains("known.trace.notes"), qPrintable(asked));
    QVERIFY(window_->isVisible() && settle(*window_));
    QCOMPARE(timeline().markers().size(), std::size_t{1});
    {
      const DialogAnswers go_on(press("Go on without"));
      window_->openFile(recorded("cuda_streams.trace"));
      QCOMPARE(go_on.count(), 1);
      QVERIFY(wait_for([&] { return timeline().markers().empty(); }));
      QVERIFY(open_and_settle(*window_, known_));
    }
    timeline().addMarker(300'000, "here");
    QVERIFY(QDir().rename(notesFile(), pathOf("set_aside")));
    const DialogAnswers none([&](QDialog& dialog) { dialog.reject(); });
    window_->close();
    QVERIFY(!window_->isVisible());
    QCOMPARE(none.count(), 0);
    QVERIFY(content(notesFile()).contains("here"));
  }

  // Times and texts are shown whole if there is room, whatever was in the table before.
  void notesAreShownWhole() {
    window_->showPanel("notes");
    QVERIFY(settle(*window_));
    const ui::ResultTable& table = window_->notes().table();
    const QAbstractItemView& view = table;
    const auto is_whole = [&] { return table.columnWidth(0) >= view.sizeHintForColumn(0) && table.columnWidth(1) >= view.sizeHintForColumn(1); };
    timeline().addMarker(300'000, "my first marker, with some words");
    QVERIFY2(is_whole(), qPrintable(QString("%1 of %2 px").arg(table.columnWidth(0)).arg(view.sizeHintForColumn(0))));
    timeline().setMarkerText(timeline().markers()[0], "and with yet more words than there were in it before");
    QVERIFY2(is_whole(), qPrintable(QString("%1 of %2 px").arg(table.columnWidth(1)).arg(view.sizeHintForColumn(1))));
  }

  // When a recording has ended, its file is opened with the notes beside it, while the user is writing one.
  void aNoteThatIsBeingWrittenOutlivesTheEndOfItsRecording() {
    ui::LaunchSettings launch;
    launch.program = "sleep";
    launch.arguments = "60";
    launch.capture.trace_cuda = false;
    launch.output = QString::fromStdString((folder_->path() / "live.trace").string());
    QFile beside(NotesKeeper::fileOf(launch.output));
    QVERIFY(beside.open(QIODevice::WriteOnly) && beside.write("0.5  from a colleague\n") > 0);
    beside.close();
    QSignalSpy opened(window_.get(), &MainWindow::opened);
    window_->launch(launch);
    QVERIFY2(window_->isRecording(), qPrintable(window_->messages().text()));
    QVERIFY(wait_for([&] { return window_->state().trace() != nullptr; }));
    timeline().addMarker(1'000'000, "first");
    QVERIFY(content(NotesKeeper::fileOf(launch.output)).contains("first\n"));  // at once: the window may be closed before the end
    window_->showPanel("notes");
    window_->notes().table().chooseRow(0);
    type("half a sent");
    window_->stopRecording();
    QVERIFY(opened.wait(kPatienceMs));
    QCOMPARE(timeline().markers().size(), std::size_t{2});
    QCOMPARE(window_->notes().text().text(), QString("half a sent"));
    QTest::keyClicks(&window_->notes().text(), "ence");
    QTest::keyClick(&window_->notes().text(), Qt::Key_Return);
    QCOMPARE(timeline().markers()[0].text, QString("half a sentence"));
    QVERIFY(content(NotesKeeper::fileOf(launch.output)).contains("half a sentence\n"));
    QVERIFY(content(NotesKeeper::fileOf(launch.output)).contains("from a colleague\n"));
  }

  // Leaving the field stores the typed text, as for a prompt; Escape discards it.
  void whatIsTypedIntoANoteIsKeptWhenItsFieldIsLeft() {
    timeline().addMarkers({{300'000, "one"}, {700'000, "two"}});
    window_->showPanel("notes");
    ui::ResultTable& table = window_->notes().table();
    table.chooseRow(0);
    type("better");
    QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::NoModifier, row_position(table, 1));
    QCOMPARE(timeline().markers()[0].text, QString("better"));
    QCOMPARE(window_->notes().text().text(), QString("two"));
    type("worse");
    QTest::keyClick(&window_->notes().text(), Qt::Key_Escape);
    QCOMPARE(window_->notes().text().text(), QString("two"));
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&table));
    QCOMPARE(timeline().markers()[1].text, QString("two"));
    timeline().edits().undo();
    QCOMPARE(timeline().markers()[0].text, QString("one"));
  }

  // The limit is in bytes; a Chinese character has three.
  void aNoteThatIsTooLongIsCutAndTheOthersAreKept() {
    timeline().addMarker(300'000, QString(2'000, QChar(0x6162)));
    QVERIFY2(window_->messages().text().contains("at most 4096 bytes"), qPrintable(window_->messages().text()));
    QCOMPARE(timeline().markers()[0].text.size(), qsizetype{4096 / 3});
    timeline().addMarker(700'000, "and one more");
    QVERIFY(content(notesFile()).contains("and one more"));
    QVERIFY2(!window_->messages().text().contains("somebody else"), qPrintable(window_->messages().text()));
    window_ = window_of(known_);
    QCOMPARE(timeline().markers().size(), std::size_t{2});
    timeline().addMarker(900'000, "later");
    QVERIFY(content(notesFile()).contains("later"));
  }

  // Typed text is kept if the user clicks elsewhere; and both ends of a range are one step of undo.
  void whatIsTypedAsTheNameOfAMarkerIsKept() {
    timeline().setFocus();
    QTest::keySequence(&timeline(), QKeySequence(Qt::CTRL | Qt::Key_M));
    auto* prompt = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(prompt != nullptr);
    QTest::keyClicks(prompt, "half a name");
    window_->events().findChild<QLineEdit*>()->setFocus(Qt::MouseFocusReason);
    QCOMPARE(timeline().markers().size(), std::size_t{1});
    QCOMPARE(timeline().markers()[0].text, QString("half a name"));
    timeline().setFocus();
    QTest::keySequence(&timeline(), QKeySequence(Qt::CTRL | Qt::Key_M));
    QTest::keyClicks(QApplication::focusWidget(), "nothing");
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QCOMPARE(timeline().markers().size(), std::size_t{1});
    timeline().setSelectedRange(TimeRange{300'000, 700'000});
    QTest::keyClick(&timeline(), Qt::Key_M);
    QCOMPARE(timeline().markers().size(), std::size_t{3});
    timeline().edits().undo();
    QCOMPARE(timeline().markers().size(), std::size_t{1});
  }

  // If the trace has nothing in the requested part of time, the field stays and shows the range of the trace.
  void aTimeBesideTheTraceIsNotGoneTo() {
    const TimeRange visible = timeline().visibleRange();
    for (const char* const beside : {"20s:30s", "20s"}) {
      timeline().setFocus();
      QTest::keySequence(&timeline(), QKeySequence(Qt::CTRL | Qt::Key_G));
      auto* prompt = qobject_cast<QLineEdit*>(QApplication::focusWidget());
      QVERIFY(prompt != nullptr);
      QTest::keyClicks(prompt, beside);
      QTest::keyClick(prompt, Qt::Key_Return);
      QVERIFY(prompt->isVisible());
      QVERIFY2(QToolTip::text().contains("ends at"), qPrintable(QToolTip::text()));
      QTest::keyClick(prompt, Qt::Key_Escape);
    }
    QVERIFY(timeline().visibleRange() == visible);
  }

  void keysWalkFromMarkerToMarker() {
    for (const Nanoseconds time : {300'000, 700'000, 1'100'000}) timeline().addMarker(time, QString::number(time));
    timeline().setVisibleRange({0, 60'000});
    timeline().setFocus();
    for (const Nanoseconds time : {300'000, 700'000, 1'100'000}) {
      QTest::keyClick(&timeline(), Qt::Key_Period);
      QVERIFY2(timeline().visibleRange().contains(time), qPrintable(QString::number(time)));
    }
    QTest::keyClick(&timeline(), Qt::Key_Period);  // there is none after the last
    QVERIFY(timeline().visibleRange().contains(1'100'000));
    QTest::keyClick(&timeline(), Qt::Key_Comma);
    QVERIFY(timeline().visibleRange().contains(700'000));
  }

  void aFileThatIsNoNotesIsNotWrittenOver() {
    QVERIFY(QDir().mkpath(notesFile()));  // a folder with that name
    window_ = window_of(known_);
    QVERIFY2(window_->messages().text().contains("known.trace.notes"), qPrintable(window_->messages().text()));
    timeline().addMarker(300'000, "here");
    QVERIFY(QFileInfo(notesFile()).isDir());
    QVERIFY(QDir().rmdir(notesFile()));

    QFile large(notesFile());
    QVERIFY(large.open(QIODevice::WriteOnly) && large.resize(qint64{kLargestNotesFile} + 1));
    large.close();
    window_ = window_of(known_);
    timeline().addMarker(300'000, "here");
    QCOMPARE(QFileInfo(notesFile()).size(), qint64{kLargestNotesFile} + 1);
  }

  // The file size is limited to what fits: writing more is cut short.
  void aMarkerThatCouldNotBeKeptIsKeptWithTheNext() {
    timeline().addMarker(300'000, "first");
    const QByteArray before = content(notesFile());
    {
      const SmallFiles limit(static_cast<rlim_t>(before.size()));
      timeline().addMarker(500'000, "second");
    }
    QVERIFY2(window_->messages().text().contains("File too large"), qPrintable(window_->messages().text()));
    QCOMPARE(content(notesFile()), before);
    QCOMPARE(timeline().markers().size(), std::size_t{2});
    timeline().addMarker(700'000, "third");
    QCOMPARE(timeline().markers().size(), std::size_t{3});
    QVERIFY(content(notesFile()).contains("first\n0.000500000  second\n0.000700000  third\n"));
  }

  void whyMarkersCantBeKeptIsSaidAsItIs() {
    timeline().addMarker(300'000, "first");
    const int writer = open(notesFile().toLocal8Bit().constData(), O_RDWR | O_CLOEXEC);
    QVERIFY(writer >= 0 && flock(writer, LOCK_EX) == 0);  // locked like by a process that writes the file
    timeline().addMarker(500'000, "second");
    QVERIFY2(window_->messages().text().contains("is being recorded"), qPrintable(window_->messages().text()));
    ::close(writer);
    timeline().clearMarkers();
    QVERIFY(!QFile::exists(notesFile()));
  }

  void whatAnotherWindowWritesMeanwhileStays() {
    timeline().addMarker(300'000, "first");
    const auto other = window_of(known_);
    QVERIFY(other);
    other->timelineView().addMarker(500'000, "of the other window");
    timeline().addMarker(700'000, "of this one");
    const auto has = [](const timeline::TimelineView& view, const QStringList& texts) {
      QStringList there;
      for (const auto& marker : view.markers()) there << marker.text;
      return there == texts;
    };
    QVERIFY(has(timeline(), {"first", "of the other window", "of this one"}));
    other->timelineView().removeMarker(other->timelineView().markers()[0]);
    QVERIFY(has(other->timelineView(), {"of the other window", "of this one"}));
    window_ = window_of(known_);
    QVERIFY(has(timeline(), {"of the other window", "of this one"}));
  }

  // A name is bytes. Qt replaces bytes that are not UTF-8 with a replacement character.
  void tracesAndNotesMayHaveNamesThatAreNoText() {
    const std::filesystem::path folder = folder_->path() / "caf\xe9", file = folder / "r\xfc.trace";
    std::filesystem::create_directory(folder);
    write_known_trace(file);
    const QString path = QFile::decodeName(file.c_str());
    QVERIFY(open_and_settle(*window_, path));
    QVERIFY(window_->state().trace() && window_->state().trace()->event_count() > 0);
    timeline().addMarker(300'000, "here");
    QVERIFY(std::filesystem::exists(folder / "r\xfc.trace.notes"));
    window_ = window_of(known_);
    QVERIFY(open_and_settle(*window_, QFile::decodeName(folder.c_str())));  // as a folder
    QCOMPARE(timeline().markers().size(), std::size_t{0});
    QVERIFY(open_and_settle(*window_, path));
    QCOMPARE(timeline().markers().size(), std::size_t{1});

    write_known_trace(folder / "r\xe4.trace");  // it has the same name in Qt, so the file is ambiguous
    QSignalSpy failed(window_.get(), &MainWindow::failed);
    window_->openFile(path);
    QVERIFY(failed.wait(kPatienceMs));
  }

  void hostileNotesAreTextLikeOther() {
    write(QByteArray("0.0003 <b>bold</b>\\n\x1b[2J\xff\n1e9999 x\n-5 before all\n99999999999999 far\n") + QByteArray(100'000, 'x') + "\n");
    window_ = window_of(known_);
    QCOMPARE(timeline().markers().size(), std::size_t{2});
    window_->showPanel("notes");
    QVERIFY(settle(*window_));
    window_->notes().table().chooseRow(0);  // before the start of the trace: clamped
    window_->notes().table().chooseRow(1);
    QVERIFY(timeline().visibleRange().contains(300'000));
    QVERIFY(window_->grab().width() > 0);
  }

 private:
  timeline::TimelineView& timeline() { return window_->timelineView(); }
  [[nodiscard]] QString notesFile() const { return NotesKeeper::fileOf(known_); }
  QString pathOf(const char* name) const { return QString::fromStdString((folder_->path() / name).string()); }
  static QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  // Replaces the text of the chosen note; not stored yet.
  void type(const QString& text) {
    window_->notes().text().setFocus();
    window_->notes().text().selectAll();
    QTest::keyClicks(&window_->notes().text(), text);
  }
  void write(const QByteArray& text) {
    QFile file(notesFile());
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }

  std::unique_ptr<TemporaryFolder> folder_;
  QString known_;
  std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(NotesTest)
#include "test_gui_notes.moc"
