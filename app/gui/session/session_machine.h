// Decides in one place what a window shows: which of the arriving data (parts of a file, snapshots of a recording, a comparison) is shown, and what follows
// from the user's wishes.
//
// It knows no widgets and does nothing itself: it takes events and returns the effects that its owner has to carry out, in order. All arriving data carries the
// Ticket of its source; data of a source that was given up is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <QString>
#include <QStringList>

#include "base/state/selection_state.h"

namespace lanescope::ui {

enum class SessionState {
  kIdle,       // nothing is expected; a trace may be shown
  kLoading,    // a file is read; the previous content stays until its first part has arrived
  kRecording,  // a program is recorded and drawn
  kEnded,      // the recording has ended: its file is read, while the live drawing stays
  kComparing,  // a second file is read, or two traces are shown on one time axis
};

enum class Source { kFile, kSecondFile, kRecording, kPair };

// One use of a source: a file that is opened, a recording that was started, a pair that is combined.
struct Ticket {
  Source source = Source::kFile;
  std::uint64_t generation = 0;  // 0: none
  bool operator==(const Ticket&) const = default;
};

// Wishes that are asked about while a recording runs.
enum class WishKind {
  kOpen,
  kOpenBeside,
  kLaunch,
  kAttach,
  kRecordElsewhere,  // on another machine
  kClose,            // the window
};
struct Wish {
  WishKind kind = WishKind::kOpen;
  QString path;              // kOpen, kOpenBeside: a file, or a folder that stands for the traces in it
  QStringList further = {};  // kOpen: files that make one trace with it
  QString beside = {};       // kOpen: the file that is opened beside it then
  bool operator==(const Wish&) const = default;
};

namespace session_event {

// Events from the user.
struct Wished {
  Wish wish;
};
enum class Answer { kElsewhere, kHere, kNot };  // in a window of its own; here, after stopping the recording; not at all
struct Answered {
  Wish wish;
  Answer answer = Answer::kNot;
};
struct SecondClosed {};
struct LoadingCancelled {};
struct StopWished {};
struct RecordingBegan {};  // another recording, which replaces the one that runs

// Events from sources.
struct PartArrived {
  Ticket from;
};
struct FileArrived {
  Ticket from;
};
struct FileFailed {
  Ticket from;
  QString sentence;
};
struct FileCancelled {  // a part of it may have arrived
  Ticket from;
};
struct SnapshotArrived {
  Ticket from;
};
struct SnapshotReady {  // can be drawn; follows MakeReady
  Ticket from;
};
struct RecordingEnded {
  Ticket from;
  QString file;              // empty: nothing was recorded
  QStringList further = {};  // files that make one trace with it
};
struct PairArrived {
  Ticket from;
  TraceChange change = TraceChange::kSnapshot;
};

}  // namespace session_event

using SessionEvent =
    std::variant<session_event::Wished, session_event::Answered, session_event::SecondClosed, session_event::LoadingCancelled, session_event::StopWished,
                 session_event::RecordingBegan, session_event::PartArrived, session_event::FileArrived, session_event::FileFailed, session_event::FileCancelled,
                 session_event::SnapshotArrived, session_event::SnapshotReady, session_event::RecordingEnded, session_event::PairArrived>;

namespace session_effect {

struct Ask {  // what becomes of the recording; the answer is an event
  Wish wish;
};
struct Begin {  // the wish, if nothing prevents it: the dialogs for recordings, or closing the window
  Wish wish;
};
struct BeginElsewhere {
  Wish wish;
};
struct Read {  // the first or the second file
  Ticket as;
  QString path;
  QStringList further = {};  // files that make one trace with it
};
struct CancelReading {  // keeps the part that has arrived; FileCancelled follows
  Source source = Source::kFile;
};
struct AbandonReading {  // nothing follows
  Source source = Source::kFile;
};
struct Follow {  // the recording that was started; nothing is shown until its first snapshot
  Ticket as;
};
struct LetGo {};          // the previous recording: it is stopped, and its file is completed without being drawn
struct StopRecording {};  // at once if this is the second request
struct Show {             // what has arrived
  Ticket from;
  TraceChange change = TraceChange::kOther;
};
struct MakeReady {  // what has arrived, to be shown by SnapshotReady
  Ticket from;
};
struct OpenPair {  // of what is shown and the second file
  Ticket as;
};
struct ClosePair {};  // something else is shown next
struct ShowFirst {};  // the first of the pair by itself; the pair is closed
struct SayOpened {    // the file is complete
  Ticket as;
};
struct SayFailed {
  Ticket from;
  QString sentence;
};
struct SayPartIsShown {};  // of a file whose loading was cancelled

}  // namespace session_effect

using SessionEffect =
    std::variant<session_effect::Ask, session_effect::Begin, session_effect::BeginElsewhere, session_effect::Read, session_effect::CancelReading,
                 session_effect::AbandonReading, session_effect::Follow, session_effect::LetGo, session_effect::StopRecording, session_effect::Show,
                 session_effect::MakeReady, session_effect::OpenPair, session_effect::ClosePair, session_effect::ShowFirst, session_effect::SayOpened,
                 session_effect::SayFailed, session_effect::SayPartIsShown>;

class SessionMachine {
 public:
  [[nodiscard]] std::vector<SessionEffect> handle(const SessionEvent& event);

  [[nodiscard]] SessionState state() const { return state_; }
  [[nodiscard]] Ticket shown() const { return shown_; }  // generation 0: nothing is shown
  [[nodiscard]] bool awaits(Source source) const { return awaited(source) != 0; }
  [[nodiscard]] bool isPairOpen() const { return awaits(Source::kPair); }
  // The wish that is carried out when the recording has ended.
  [[nodiscard]] const std::optional<Wish>& next() const { return next_; }
  // A second file was requested before the first was there.
  [[nodiscard]] bool hasQueuedSecond() const { return !queued_second_.isEmpty(); }

 private:
  void on(const session_event::Wished& event);
  void on(const session_event::Answered& event);
  void on(const session_event::SecondClosed& event);
  void on(const session_event::LoadingCancelled& event);
  void on(const session_event::StopWished& event);
  void on(const session_event::RecordingBegan& event);
  void on(const session_event::PartArrived& event);
  void on(const session_event::FileArrived& event);
  void on(const session_event::FileFailed& event);
  void on(const session_event::FileCancelled& event);
  void on(const session_event::SnapshotArrived& event);
  void on(const session_event::SnapshotReady& event);
  void on(const session_event::RecordingEnded& event);
  void on(const session_event::PairArrived& event);

  void begin(const Wish& wish);
  void read(Source source, const QString& path, const QStringList& further = {});
  void giveUpFiles();
  void stopRecording();
  void closePair();
  void show(Ticket from, TraceChange change);
  void endReading(Source source);  // the file has arrived or will not arrive
  Ticket start(Source source);     // with a new generation
  [[nodiscard]] std::uint64_t& awaited(Source source) { return awaited_.at(static_cast<std::size_t>(source)); }
  [[nodiscard]] std::uint64_t awaited(Source source) const { return awaited_.at(static_cast<std::size_t>(source)); }
  [[nodiscard]] bool isAwaited(Ticket ticket) const { return ticket.generation != 0 && awaited(ticket.source) == ticket.generation; }

  SessionState state_ = SessionState::kIdle;
  std::uint64_t last_generation_ = 0;
  std::array<std::uint64_t, 4> awaited_{};  // by source: the generation that may still arrive; 0: none
  Ticket shown_;
  Ticket first_of_pair_;
  enum class Stopping { kNo, kAsked };
  Stopping stopping_ = Stopping::kNo;  // of the recording; a second request stops it at once
  std::optional<Wish> next_;
  QString queued_second_;
  std::vector<SessionEffect> effects_;  // of the event that is being handled
};

}  // namespace lanescope::ui
