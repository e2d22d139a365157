// A recording that is drawn while it runs: its frames become snapshots of a growing trace.
//
// Frames are taken from the recording's thread, turned into a trace on a thread of their own, and published on the GUI thread about ten times a second. A slow
// GUI skips snapshots, never frames. If a slow link to another machine has brought less than half of the recording, outlines from there are published in
// place of snapshots.
//
// Threads: the GUI thread only.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include "base/jobs/latest_job.h"
#include "collector/session/recording.h"
#include "loading/recording_source.h"
#include "model/trace/trace.h"
#include "record/launch_settings.h"
#include "record/remote_settings.h"

namespace lanescope::ui {

class LiveRecording : public QObject {
  Q_OBJECT

 public:
  using Started = Result<std::unique_ptr<LiveRecording>>;

  // Starts a program. Fails with one sentence.
  static Started launch(const LaunchSettings& settings);
  // Attaches the agent to a running process on the thread of the job, which may take seconds. `done` is called on this thread, with one sentence if it failed.
  // It is not called if the job was cancelled, which leaves the process unchanged and no file.
  static void attach(const AttachSettings& settings, LatestJob& job, std::function<void(Started)> done);
  // Starts a program on other machines, or attaches to a process on one. Fails with one sentence if the settings make no sense; problems with the connection
  // are reported by message() and ended().
  static Started launchElsewhere(const RemoteSettings& settings);
  ~LiveRecording() override;

  // Stops all running recordings, as stop() does, and returns when their files are complete. While it waits, it calls `is_hurried` regularly; if that returns
  // true, they are stopped at once. For the end of the process: nothing is published any more.
  static void finishAll(const std::function<bool()>& is_hurried);
  // The files of the recordings that finishAll() finished; empty if none ran.
  [[nodiscard]] static QStringList filesOfAll();

  // Stops the recording; a second call stops it at once. A launched program ends with it if that was chosen.
  void stop();
  [[nodiscard]] bool isStopping() const { return stops_ > 0; }
  void setProgramAtEnd(ProgramAtEnd choice) { program_at_end_ = choice; }
  [[nodiscard]] ProgramAtEnd programAtEnd() const { return program_at_end_; }
  [[nodiscard]] bool wasAttachedTo() const { return source_->wasAttachedTo(); }
  [[nodiscard]] pid_t pid() const { return source_->pid(); }
  [[nodiscard]] QString path() const;         // of the file; empty while there is none
  [[nodiscard]] QStringList further() const;  // see RecordingSource::further()
  [[nodiscard]] session::RecordingStatistics statistics() const { return source_->statistics(); }
  // The ranges that are open in a trace that grown() emitted; none in others. A later one may have been emitted before this one is shown. O(traces in use).
  [[nodiscard]] std::vector<EventRef> openEvents(const Trace* trace) const;
  [[nodiscard]] std::size_t openLeftOut() const { return source_->openRanges().left_out; }  // number of further open ranges
  [[nodiscard]] std::optional<RecordingSource::Elsewhere> elsewhere() const { return source_->elsewhere(); }

 signals:
  void grown(std::shared_ptr<const lanescope::Trace> snapshot);
  void progressed(const lanescope::session::RecordingStatistics& statistics);
  void message(const QString& sentence);
  void programOutlivesStop();  // it was asked to end with the recording seconds ago; emitted once
  // The file is complete, and its content has been published; `whole` is the whole trace, null if nothing was recorded.
  void ended(const lanescope::session::RecordingOutcome& outcome, std::shared_ptr<const lanescope::Trace> whole);

 private:
  class FrameQueue;

  class Attached;

  // Follows a source whose sink fills the queue.
  LiveRecording(std::unique_ptr<RecordingSource> source, std::shared_ptr<FrameQueue> queue, ProgramAtEnd program_at_end);
  static session::FrameSink sinkOf(const std::shared_ptr<FrameQueue>& queue);
  void ingest();                                            // on the ingest thread, to the end of the recording
  void takeIn(std::shared_ptr<const Trace>& whole);         // on the ingest thread
  bool takeOutline(std::shared_ptr<const Trace>& outline);  // on the ingest thread
  void leaveUnseen();                                       // on the ingest thread
  void complete(const Trace* whole);                        // on the ingest thread: adds to the file when it is complete
  struct Snapshot {
    std::shared_ptr<const Trace> trace;
    std::vector<EventRef> open;
  };
  void publish(Snapshot snapshot);  // from the ingest thread
  void showLatest();
  void look();  // checks the recording regularly

  std::shared_ptr<FrameQueue> queue_;
  std::unique_ptr<RecordingSource> source_;
  std::thread ingest_thread_;
  QTimer timer_;
  struct OpenEventsOf {
    std::weak_ptr<const Trace> trace;
    std::vector<EventRef> events;
  };
  std::vector<OpenEventsOf> open_events_;  // of the traces that are in use
  int stops_ = 0;
  QElapsedTimer since_stop_;  // valid while the program has to end and programOutlivesStop() was not emitted
  ProgramAtEnd program_at_end_;
  static inline std::vector<LiveRecording*> all_;
};

}  // namespace lanescope::ui
