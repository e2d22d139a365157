// Decides what a window shows, and is the only one that does: it owns what traces come from (files, recordings, a pair of traces), asks
// the machine what follows from each thing that happens, and carries that out.
//
// Threads: the GUI thread only.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include <QObject>
#include <QString>

#include "analysis/trace_pair.h"
#include "base/jobs/latest_job.h"
#include "base/state/selection_state.h"
#include "loading/live_recording.h"
#include "loading/trace_loader.h"
#include "session/recording_end.h"
#include "session/session_machine.h"

namespace lanescope::ui {

class SessionController : public QObject {
  Q_OBJECT

 public:
  // What is shown goes to the state, which must outlive the controller.
  explicit SessionController(SelectionState& state, QObject* parent = nullptr);
  ~SessionController() override;

  // Begins what is wished for; while a recording runs, asks what becomes of it (asked()).
  void wish(const Wish& wish);
  void answer(const Wish& wish, session_event::Answer answer);
  void closeSecond();
  void cancelLoading();  // keeps what has come
  void stop();           // the recording; asked again, at once
  // Starts a program and draws what it does. A recording that runs is let go once this one has begun. Returns one sentence where it can't
  // be started, and all stays as it is.
  [[nodiscard]] QString launch(const LaunchSettings& settings);
  // The same on another machine. Returns one sentence where what is asked for makes no sense; that there is no way to that machine, say
  // messages.
  [[nodiscard]] QString launchElsewhere(const RemoteSettings& settings);
  // The same with a process that runs already. Calls `done` with "" once it is recorded, or with one sentence why not; not at all after
  // cancelAttach(), which leaves the process as it is.
  void attach(const AttachSettings& settings, std::function<void(const QString& problem)> done);
  void cancelAttach() { attach_job_.cancel(); }
  // A trace of toBeMadeReady() can be drawn.
  void showReady(const std::shared_ptr<const Trace>& trace);

  [[nodiscard]] SessionState state() const { return machine_.state(); }
  [[nodiscard]] bool isRecording() const { return state() == SessionState::kRecording; }
  [[nodiscard]] bool isReading() const { return machine_.awaits(Source::kFile) || machine_.awaits(Source::kSecondFile); }
  [[nodiscard]] bool isCompleting() const { return !let_go_.empty(); }  // recordings that others took the place of
  [[nodiscard]] bool isSettled() const;                                 // nothing is under way
  [[nodiscard]] QString recordedFile() const;                           // that is written now; empty: none (yet)
  [[nodiscard]] QString file() const { return files_.value(0); }        // that holds what is shown; of several, the first; empty: none
  [[nodiscard]] const QStringList& paths() const { return files_; }     // the same, of several as one all of them
  // All that hold what is shown: both sides of a pair, and for a folder the files in it.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  // What is to be opened to see the same files as they are now. Requires: file() is not empty.
  [[nodiscard]] Wish sameAgain() const;
  [[nodiscard]] LiveRecording* recording() { return recording_.get(); }  // null: none
  [[nodiscard]] TracePair& pair() { return pair_; }

 signals:
  void changed();  // the state, or what is read
  void fileChanged();
  void toBeMadeReady(std::shared_ptr<const lanescope::Trace> trace);
  void asked(const lanescope::ui::Wish& wish);
  void begun(const lanescope::ui::Wish& wish);           // what is recorded, kClose: nothing stands against it
  void begunElsewhere(const lanescope::ui::Wish& wish);  // it is to have a window of its own
  void somethingBegan();                                 // by the user: what was said before is past
  void loading(const QString& path);
  void progressed(double fraction);  // of what is loading, 0 to 1
  void recordingBegan();
  void recordingProgressed(const lanescope::session::RecordingStatistics& statistics);
  void programOutlivesStop();
  void recordingEnded();
  void shownAlone(const QString& told);                       // what was recorded is in no file; a message that it is lost was told before
  void completed();                                           // a recording that another one took the place of
  void opened(const QString& path);                           // the first file, whole
  void swapped();                                             // the sides of the pair, as it is shown now: the first is another file
  void openedBeside(const QString& path);                     // the second one
  void failed(const QString& sentence, const QString& path);  // to open the file
  void said(const lanescope::ui::Notice& message);

 private:
  using TracePointer = std::shared_ptr<const Trace>;

  void run(const SessionEvent& event, TracePointer trace = nullptr);
  void carryOut(const SessionEffect& effect, const TracePointer& trace);
  void connectLoader(TraceLoader& loader);
  void follow(std::unique_ptr<LiveRecording> recording);
  void connectRecording(LiveRecording& recording, Ticket ticket);
  void letGo();
  void setFiles(const QStringList& paths);
  void say(const QString& sentence, MessageWeight weight = MessageWeight::kNote) { emit said({sentence, weight}); }
  [[nodiscard]] QStringList& pathsOf(Source source) { return source == Source::kFile ? first_paths_ : second_paths_; }
  [[nodiscard]] TraceLoader& loaderOf(Source source) { return source == Source::kFile ? first_ : second_; }

  SelectionState& state_;
  SessionMachine machine_;
  std::deque<std::pair<SessionEvent, TracePointer>> events_;  // the first is carried out; others came meanwhile
  TraceLoader first_;
  TraceLoader second_;
  QStringList first_paths_;  // that are or were read; of several that make one trace, the first names it
  QStringList second_paths_;
  TracePair pair_;
  Ticket pair_ticket_;
  Ticket ready_ticket_;  // of what is made ready
  std::unique_ptr<LiveRecording> recording_;
  std::unique_ptr<LiveRecording> begun_;                // that takes its place
  std::vector<std::unique_ptr<LiveRecording>> let_go_;  // that others took the place of: they end by themselves
  LatestJob attach_job_;
  QStringList files_;  // of the first side, where there are two
};

}  // namespace lanescope::ui
