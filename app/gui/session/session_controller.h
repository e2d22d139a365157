// Decides alone what a window shows: it owns the sources of traces (files, recordings, a pair of traces), asks the machine what follows from each event, and
// carries that out.
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
  // Sets what is shown in the state, which must outlive the controller.
  explicit SessionController(SelectionState& state, QObject* parent = nullptr);
  ~SessionController() override;

  // Carries out a wish; while a recording runs, first asks what becomes of it (asked()).
  void wish(const Wish& wish);
  void answer(const Wish& wish, session_event::Answer answer);
  void closeSecond();
  void cancelLoading();  // keeps the part that was read
  void stop();           // stops the recording; a second call stops it at once
  // Starts a program and draws what it does. A recording that runs is let go when this one has started. Returns one sentence if the program cannot be started;
  // nothing changes then.
  [[nodiscard]] QString launch(const LaunchSettings& settings);
  // The same on another machine. Returns one sentence if the settings make no sense; problems with the connection are reported by messages.
  [[nodiscard]] QString launchElsewhere(const RemoteSettings& settings);
  // The same for a running process. Calls `done` with "" when it is recorded, or with one sentence that says why not; does not call it after cancelAttach(),
  // which leaves the process unchanged.
  void attach(const AttachSettings& settings, std::function<void(const QString& problem)> done);
  void cancelAttach() { attach_job_.cancel(); }
  // To be called when a trace of toBeMadeReady() can be drawn.
  void showReady(const std::shared_ptr<const Trace>& trace);

  [[nodiscard]] SessionState state() const { return machine_.state(); }
  [[nodiscard]] bool isRecording() const { return state() == SessionState::kRecording; }
  [[nodiscard]] bool isReading() const { return machine_.awaits(Source::kFile) || machine_.awaits(Source::kSecondFile); }
  [[nodiscard]] bool isCompleting() const { return !let_go_.empty(); }  // recordings that were replaced by others
  [[nodiscard]] bool isSettled() const;                                 // nothing is in progress
  [[nodiscard]] QString recordedFile() const;                           // the file that is being written; empty: none (yet)
  [[nodiscard]] QString file() const { return files_.value(0); }        // the file that holds what is shown; the first of several; empty: none
  [[nodiscard]] const QStringList& paths() const { return files_; }     // the same; all of them if several are one trace
  // All files that hold what is shown: both sides of a pair, and for a folder the files in it.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  // The wish that opens the same files in their present state. Requires: file() is not empty.
  [[nodiscard]] Wish sameAgain() const;
  [[nodiscard]] LiveRecording* recording() { return recording_.get(); }  // null: none
  [[nodiscard]] TracePair& pair() { return pair_; }

 signals:
  void changed();  // the state, or what is being read
  void fileChanged();
  void toBeMadeReady(std::shared_ptr<const lanescope::Trace> trace);
  void asked(const lanescope::ui::Wish& wish);
  void begun(const lanescope::ui::Wish& wish);           // what to record, or kClose: nothing prevents it
  void begunElsewhere(const lanescope::ui::Wish& wish);  // it is to have a window of its own
  void somethingBegan();                                 // by the user: earlier messages are obsolete
  void loading(const QString& path);
  void progressed(double fraction);  // of the file that is loading, 0 to 1
  void recordingBegan();
  void recordingProgressed(const lanescope::session::RecordingStatistics& statistics);
  void programOutlivesStop();
  void recordingEnded();
  void shownAlone(const QString& told);                       // the recording is in no file; `told` is the message about that loss that was shown before
  void completed();                                           // a recording that was replaced by another one
  void opened(const QString& path);                           // the first file, completely
  void swapped();                                             // the sides of the pair that is shown: the first is another file now
  void openedBeside(const QString& path);                     // the second file
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
  std::deque<std::pair<SessionEvent, TracePointer>> events_;  // the first is being carried out; others arrived meanwhile
  TraceLoader first_;
  TraceLoader second_;
  QStringList first_paths_;  // paths that are or were read; if several make one trace, the first names it
  QStringList second_paths_;
  TracePair pair_;
  Ticket pair_ticket_;
  Ticket ready_ticket_;  // of the trace that is made ready
  std::unique_ptr<LiveRecording> recording_;
  std::unique_ptr<LiveRecording> begun_;                // replaces recording_
  std::vector<std::unique_ptr<LiveRecording>> let_go_;  // recordings that were replaced; they end by themselves
  LatestJob attach_job_;
  QStringList files_;  // of the first side of a pair
};

}  // namespace lanescope::ui
