// What a window shows, decided without a window: every event in every state, compared with a table that was written by hand.
#include <map>

#include <QTest>

#include "session/session_machine.h"

using namespace lanescope;
using namespace lanescope::ui;
namespace event = lanescope::ui::session_event;
namespace effect = lanescope::ui::session_effect;

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

QString number(Source source) { return QString::number(static_cast<int>(source) + 1); }

QString name_of(const SessionEffect& one) {
  return std::visit(
      Overloaded{[](const effect::Ask&) { return QStringLiteral("ask"); }, [](const effect::Begin&) { return QStringLiteral("begin"); },
                 [](const effect::BeginElsewhere&) { return QStringLiteral("elsewhere"); },
                 [](const effect::Read& read) { return QStringLiteral("read") + number(read.as.source); },
                 [](const effect::CancelReading& cancel) { return QStringLiteral("cancel") + number(cancel.source); },
                 [](const effect::AbandonReading& abandon) { return QStringLiteral("abandon") + number(abandon.source); },
                 [](const effect::Follow&) { return QStringLiteral("follow"); }, [](const effect::LetGo&) { return QStringLiteral("let-go"); },
                 [](const effect::StopRecording&) { return QStringLiteral("stop"); },
                 [](const effect::Show& show) { return show.change == TraceChange::kOther ? QStringLiteral("show-other") : QStringLiteral("show-later"); },
                 [](const effect::MakeReady&) { return QStringLiteral("make-ready"); }, [](const effect::OpenPair&) { return QStringLiteral("open-pair"); },
                 [](const effect::ClosePair&) { return QStringLiteral("close-pair"); }, [](const effect::ShowFirst&) { return QStringLiteral("show-first"); },
                 [](const effect::SayOpened& opened) { return QStringLiteral("opened") + number(opened.as.source); },
                 [](const effect::SayFailed& failed) { return QStringLiteral("failed") + number(failed.from.source); },
                 [](const effect::SayPartIsShown&) { return QStringLiteral("part"); }},
      one);
}

QString name_of(SessionState state) {
  switch (state) {
    case SessionState::kIdle:
      return "idle";
    case SessionState::kLoading:
      return "loading";
    case SessionState::kRecording:
      return "recording";
    case SessionState::kEnded:
      return "ended";
    case SessionState::kComparing:
      return "comparing";
  }
  return {};
}

// A machine, and the tickets that it issued last.
struct Session {
  SessionMachine machine;
  std::map<Source, Ticket> tickets;

  // "read1 read2: comparing": the effects, and the state after the event.
  QString operator()(const SessionEvent& what) {
    QStringList names;
    for (const SessionEffect& each : machine.handle(what)) {
      names += name_of(each);
      if (const auto* read = std::get_if<effect::Read>(&each)) tickets[read->as.source] = read->as;
      if (const auto* follow = std::get_if<effect::Follow>(&each)) tickets[Source::kRecording] = follow->as;
      if (const auto* pair = std::get_if<effect::OpenPair>(&each)) tickets[Source::kPair] = pair->as;
    }
    return names.join(u' ') + QStringLiteral(": ") + name_of(machine.state());
  }
  [[nodiscard]] Ticket ticket(Source source) const {
    const auto found = tickets.find(source);
    return found == tickets.end() ? Ticket{source, 0} : found->second;
  }
};

const Wish kOpen{WishKind::kOpen, "other.trace"};
const Wish kBeside{WishKind::kOpenBeside, "second.trace"};
const Wish kLaunch{WishKind::kLaunch, {}};
const Wish kClose{WishKind::kClose, {}};

// The situations in the columns of the table, in order.
const QStringList kSituations = {"empty", "shown", "loading", "part", "recording", "ended", "second", "pair"};

Session session_in(const QString& situation) {
  Session session;
  const auto whole = [&] {
    session(event::Wished{kOpen});
    session(event::FileArrived{session.ticket(Source::kFile)});
  };
  if (situation == "shown") whole();
  if (situation == "loading" || situation == "part") session(event::Wished{kOpen});
  if (situation == "part") session(event::PartArrived{session.ticket(Source::kFile)});
  if (situation == "recording" || situation == "ended") {
    session(event::RecordingBegan{});
    session(event::SnapshotArrived{session.ticket(Source::kRecording)});
  }
  if (situation == "ended") session(event::RecordingEnded{session.ticket(Source::kRecording), "recorded.trace"});
  if (situation == "second" || situation == "pair") {
    whole();
    session(event::Wished{kBeside});
  }
  if (situation == "pair") session(event::FileArrived{session.ticket(Source::kSecondFile)});
  return session;
}

SessionEvent event_of(const QString& name, const Session& session) {
  const auto from = [&](Source source) { return session.ticket(source); };
  if (name == "wish open") return event::Wished{kOpen};
  if (name == "wish beside") return event::Wished{kBeside};
  if (name == "wish launch") return event::Wished{kLaunch};
  if (name == "wish close") return event::Wished{kClose};
  if (name == "open here") return event::Answered{kOpen, event::Answer::kHere};
  if (name == "launch here") return event::Answered{kLaunch, event::Answer::kHere};
  if (name == "open elsewhere") return event::Answered{kOpen, event::Answer::kElsewhere};
  if (name == "open not") return event::Answered{kOpen, event::Answer::kNot};
  if (name == "close second") return event::SecondClosed{};
  if (name == "cancel") return event::LoadingCancelled{};
  if (name == "stop") return event::StopWished{};
  if (name == "recording began") return event::RecordingBegan{};
  if (name == "part arrived") return event::PartArrived{from(Source::kFile)};
  if (name == "file arrived") return event::FileArrived{from(Source::kFile)};
  if (name == "second arrived") return event::FileArrived{from(Source::kSecondFile)};
  if (name == "file failed") return event::FileFailed{from(Source::kFile), "Why."};
  if (name == "second failed") return event::FileFailed{from(Source::kSecondFile), "Why."};
  if (name == "file cancelled") return event::FileCancelled{from(Source::kFile)};
  if (name == "second cancelled") return event::FileCancelled{from(Source::kSecondFile)};
  if (name == "snapshot") return event::SnapshotArrived{from(Source::kRecording)};
  if (name == "file ready") return event::SnapshotReady{from(Source::kFile)};
  if (name == "snapshot ready") return event::SnapshotReady{from(Source::kRecording)};
  if (name == "recording ended") return event::RecordingEnded{from(Source::kRecording), "recorded.trace"};
  if (name == "ended with nothing") return event::RecordingEnded{from(Source::kRecording), {}};
  return event::PairArrived{from(Source::kPair)};  // "pair arrived"
}

}  // namespace

class TestGuiSessionMachine : public QObject {
  Q_OBJECT

 private slots:
  // Events without an entry change nothing and have no effect.
  void answersEveryEventInEveryState_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QStringList>("answers");  // one for each situation
    const auto add = [](const char* what, const QStringList& answers) { QTest::newRow(what) << QString(what) << answers; };
    const QString same;
    const QString loads = "read1: loading", loads_again = "abandon1 read1: loading";
    add("wish open", {loads, loads, loads_again, loads_again, "ask: recording", loads_again, "abandon2 read1: loading", loads});
    add("wish beside", {loads, "read2: comparing", same, same, "ask: recording", same, "read2: comparing", "read2: comparing"});
    add("wish launch",
        {"begin: idle", "begin: idle", "begin: loading", "begin: loading", "ask: recording", "begin: ended", "begin: comparing", "begin: comparing"});
    add("wish close",
        {"begin: idle", "begin: idle", "begin: loading", "begin: loading", "ask: recording", "begin: ended", "begin: comparing", "begin: comparing"});
    add("open here", {loads, loads, loads_again, loads_again, "stop: recording", loads_again, "abandon2 read1: loading", loads});
    add("launch here",
        {"begin: idle", "begin: idle", "begin: loading", "begin: loading", "begin: recording", "begin: ended", "begin: comparing", "begin: comparing"});
    add("open elsewhere", {"elsewhere: idle", "elsewhere: idle", "elsewhere: loading", "elsewhere: loading", "elsewhere: recording", "elsewhere: ended",
                           "elsewhere: comparing", "elsewhere: comparing"});
    add("open not", {same, same, same, same, same, same, same, same});
    add("close second", {same, same, same, same, same, same, same, "show-first: idle"});
    add("cancel", {same, same, "cancel1: loading", "cancel1: loading", same, "cancel1: ended", "cancel2: comparing", same});
    add("stop", {same, same, same, same, "stop: recording", same, same, same});
    const QString follows = "follow: recording", follows_after = "abandon1 follow: recording";
    add("recording began", {follows, follows, follows_after, follows_after, "let-go follow: recording", follows_after, "abandon2 follow: recording",
                            "close-pair follow: recording"});
    add("part arrived", {same, same, "show-other: loading", "make-ready: loading", same, same, same, same});
    add("file arrived", {same, same, "show-other opened1: idle", "show-later opened1: idle", same, "show-later opened1: idle", same, same});
    add("second arrived", {same, same, same, same, same, same, "open-pair opened2: comparing", same});
    add("file failed", {same, same, "failed1: idle", "failed1: idle", same, "failed1: idle", same, same});
    add("second failed", {same, same, same, same, same, same, "failed2: idle", same});
    add("file cancelled", {same, same, ": idle", "part: idle", same, ": idle", same, same});
    add("second cancelled", {same, same, same, same, same, same, ": idle", same});
    add("snapshot", {same, same, same, same, "make-ready: recording", same, same, same});
    add("file ready", {same, same, same, "show-later: loading", same, same, same, same});
    add("snapshot ready", {same, same, same, same, "show-later: recording", "show-later: ended", same, same});
    add("recording ended", {same, same, same, same, "read1: ended", same, same, same});
    add("ended with nothing", {same, same, same, same, ": idle", same, same, same});
    add("pair arrived", {same, same, same, same, same, same, same, "show-later: comparing"});
  }

  void answersEveryEventInEveryState() {
    QFETCH(QString, what);
    QFETCH(QStringList, answers);
    QCOMPARE(answers.size(), kSituations.size());
    for (qsizetype i = 0; i < answers.size(); ++i) {
      Session session = session_in(kSituations[i]);
      const QString same = QStringLiteral(": ") + name_of(session.machine.state());
      const QString answer = session(event_of(what, session));
      QVERIFY2(answer == (answers[i].isEmpty() ? same : answers[i]), qPrintable(kSituations[i] + ": " + answer));
    }
  }

  // For every source: data of an earlier use of it.
  void leavesOutWhatComesFromOneThatWasGivenUp() {
    for (const QString& situation : kSituations) {
      Session session = session_in(situation);
      for (const Source source : {Source::kFile, Source::kSecondFile, Source::kRecording, Source::kPair}) {
        const Ticket stale{source, 1'000'000};
        const QString same = QStringLiteral(": ") + name_of(session.machine.state());
        const SessionEvent arrivals[] = {
            event::PartArrived{stale},     event::FileArrived{stale},   event::FileFailed{stale, "Why."},          event::FileCancelled{stale},
            event::SnapshotArrived{stale}, event::SnapshotReady{stale}, event::RecordingEnded{stale, "old.trace"}, event::PairArrived{stale}};
        for (const SessionEvent& arrival : arrivals) QCOMPARE(session(arrival), same);
      }
    }
  }

  void aFileThatWasReplacedIsNotShown() {
    Session session = session_in("loading");
    const Ticket first = session.ticket(Source::kFile);
    session(event::Wished{kOpen});
    QCOMPARE(session(event::FileArrived{first}), QString(": loading"));
    QCOMPARE(session(event::FileArrived{session.ticket(Source::kFile)}), QString("show-other opened1: idle"));
  }

  void opensAfterTheRecordingWhatWasChosenMeanwhile() {
    Session session = session_in("recording");
    QCOMPARE(session(event::Wished{kOpen}), QString("ask: recording"));
    QCOMPARE(session(event::Answered{kOpen, event::Answer::kHere}), QString("stop: recording"));
    const std::vector<SessionEffect> effects = session.machine.handle(event::RecordingEnded{session.ticket(Source::kRecording), "recorded.trace"});
    QCOMPARE(effects.size(), std::size_t{1});
    QCOMPARE(std::get<effect::Read>(effects.front()).path, kOpen.path);  // not the file of the recording
    QCOMPARE(session.machine.state(), SessionState::kLoading);
  }

  void opensASecondFileBesideTheRecordingOnceThatIsRead() {
    Session session = session_in("recording");
    session(event::Answered{kBeside, event::Answer::kHere});
    QCOMPARE(session(event::RecordingEnded{session.ticket(Source::kRecording), "recorded.trace"}), QString("read1: ended"));
    QVERIFY(session.machine.hasQueuedSecond());
    QCOMPARE(session(event::FileArrived{session.ticket(Source::kFile)}), QString("show-later opened1 read2: comparing"));
  }

  void closesOnceTheRecordingHasEndedAndAtOnceWhenAskedAgain() {
    Session session = session_in("recording");
    session(event::Wished{kClose});
    QCOMPARE(session(event::Answered{kClose, event::Answer::kHere}), QString("stop: recording"));
    QCOMPARE(session(event::Wished{kClose}), QString("stop: recording"));  // without asking again
    QCOMPARE(session(event::RecordingEnded{session.ticket(Source::kRecording), "recorded.trace"}), QString("begin: idle"));
  }

  // A second stop discards what would still arrive.
  void whatIsWishedForWhileTheRecordingStopsWaitsForIt() {
    Session session = session_in("recording");
    QCOMPARE(session(event::StopWished{}), QString("stop: recording"));
    QCOMPARE(session(event::Wished{kOpen}), QString("ask: recording"));
    QCOMPARE(session(event::Answered{kOpen, event::Answer::kHere}), QString(": recording"));
    QCOMPARE(session(event::RecordingEnded{session.ticket(Source::kRecording), "recorded.trace"}), QString("read1: loading"));
    session = session_in("recording");
    session(event::StopWished{});
    session(event::Wished{kClose});
    QCOMPARE(session(event::Answered{kClose, event::Answer::kHere}), QString(": recording"));
    QCOMPARE(session(event::StopWished{}), QString("stop: recording"));  // by a user who does not want to wait
    // For the next recording, it is a first stop again.
    session = session_in("recording");
    session(event::StopWished{});
    session(event::RecordingBegan{});
    QCOMPARE(session(event::Answered{kOpen, event::Answer::kHere}), QString("stop: recording"));
  }

  void twoFilesAreOneWish() {
    Session session = session_in("recording");
    Wish both = kOpen;
    both.beside = kBeside.path;
    QCOMPARE(session(event::Wished{both}), QString("ask: recording"));
    session(event::Answered{both, event::Answer::kHere});
    QCOMPARE(session(event::RecordingEnded{session.ticket(Source::kRecording), "recorded.trace"}), QString("read1: loading"));
    QCOMPARE(session(event::FileArrived{session.ticket(Source::kFile)}), QString("show-other opened1 read2: comparing"));
  }

  void aRecordingThatWasLetGoIsNotShownAnyMore() {
    Session session = session_in("recording");
    const Ticket before = session.ticket(Source::kRecording);
    QCOMPARE(session(event::RecordingBegan{}), QString("let-go follow: recording"));
    QCOMPARE(session(event::SnapshotArrived{before}), QString(": recording"));
    QCOMPARE(session(event::RecordingEnded{before, "recorded.trace"}), QString(": recording"));
    QCOMPARE(session(event::SnapshotArrived{session.ticket(Source::kRecording)}), QString("show-other: recording"));
  }

  void aPairStaysUntilAnotherFileIsThere() {
    Session session = session_in("pair");
    QCOMPARE(session(event::Wished{kOpen}), QString("read1: loading"));
    QVERIFY(session.machine.isPairOpen());
    QCOMPARE(session(event::FileFailed{session.ticket(Source::kFile), "Why."}), QString("failed1: comparing"));
    session(event::Wished{kOpen});
    QCOMPARE(session(event::PartArrived{session.ticket(Source::kFile)}), QString("close-pair show-other: loading"));
    QVERIFY(!session.machine.isPairOpen());
  }

  void aSecondFileThatFailsLeavesThePairAsItIs() {
    Session session = session_in("pair");
    session(event::Wished{kBeside});
    QCOMPARE(session(event::FileFailed{session.ticket(Source::kSecondFile), "Why."}), QString("failed2: comparing"));
    QVERIFY(session.machine.isPairOpen());
  }

  void aSecondFileWaitsForTheFirstAndIsForgottenWithIt() {
    Session session = session_in("loading");
    session(event::Wished{kBeside});
    QVERIFY(session.machine.hasQueuedSecond());
    QCOMPARE(session(event::FileFailed{session.ticket(Source::kFile), "Why."}), QString("failed1: idle"));
    QVERIFY(!session.machine.hasQueuedSecond());
  }

  void afterThePairItsFirstIsShownAgain() {
    Session session = session_in("pair");
    session(event::PairArrived{session.ticket(Source::kPair)});
    QCOMPARE(session.machine.shown(), session.ticket(Source::kPair));
    session(event::SecondClosed{});
    QCOMPARE(session.machine.shown(), session.ticket(Source::kFile));
    QCOMPARE(session(event::PairArrived{session.ticket(Source::kPair)}), QString(": idle"));
  }
};

QTEST_APPLESS_MAIN(TestGuiSessionMachine)
#include "test_gui_session_machine.moc"
