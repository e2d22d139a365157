// A recording that is drawn while it runs: its frames become snapshots of a growing trace.
//
// Frames are taken over from the recording's thread, turned into a trace on a thread of their own, and published on the GUI thread about
// ten times a second. A GUI that is late skips snapshots, never frames.
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
  // Brings the agent into a process that runs, which may take seconds: on the job's thread. `done` is called on this one, with one sentence
  // where it failed; not at all when the job was cancelled, which leaves the process as it is, and no file.
  static void attach(const AttachSettings& settings, LatestJob& job, std::function<void(Started)> done);
  // Starts a program on other machines, or attaches to a process on one. Fails with one sentence where what is asked for makes no sense; what the link comes to
  // is told by message() and ended().
  static Started launchElsewhere(const RemoteSettings& settings);
  ~LiveRecording() override;

  // Stops all that run, as stop() does, and returns once their files are complete; while it waits, it asks now and then whether they are to end at once. For
  // who ends the process: nothing is published any more.
  static void finishAll(const std::function<bool()>& is_hurried);
  // Of those that finishAll() finished; empty where none ran.
  [[nodiscard]] static QStringList filesOfAll();

  // Asks for the end; asked again, it ends at once. A program that was launched ends with it where that was chosen.
  void stop();
  [[nodiscard]] bool isStopping() const { return stops_ > 0; }
  void setProgramAtEnd(ProgramAtEnd choice) { program_at_end_ = choice; }
  [[nodiscard]] ProgramAtEnd programAtEnd() const { return program_at_end_; }
  [[nodiscard]] bool wasAttachedTo() const { return source_->wasAttachedTo(); }
  [[nodiscard]] pid_t pid() const { return source_->pid(); }
  [[nodiscard]] QString path() const;         // of the file; empty while there is none
  [[nodiscard]] QStringList further() const;  // see RecordingSource::further()
  [[nodiscard]] session::RecordingStatistics statistics() const { return source_->statistics(); }
  [[nodiscard]] std::optional<RecordingSource::Elsewhere> elsewhere() const { return source_->elsewhere(); }

 signals:
  void grown(std::shared_ptr<const lanescope::Trace> snapshot);
  void progressed(const lanescope::session::RecordingStatistics& statistics);
  void message(const QString& sentence);
  void programOutlivesStop();  // it was asked to end with the recording, seconds ago; said once
  // The file is complete, and what it holds has been published; `whole` is all of it, null where nothing came.
  void ended(const lanescope::session::RecordingOutcome& outcome, std::shared_ptr<const lanescope::Trace> whole);

 private:
  class FrameQueue;

  class Attached;

  // Follows a source whose sink fills the queue.
  LiveRecording(std::unique_ptr<RecordingSource> source, std::shared_ptr<FrameQueue> queue, ProgramAtEnd program_at_end);
  static session::FrameSink sinkOf(const std::shared_ptr<FrameQueue>& queue);
  void ingest();                                        // on the ingest thread, to the end of the recording
  void takeIn(std::shared_ptr<const Trace>& whole);     // on the ingest thread
  void leaveUnseen();                                   // on the ingest thread
  void complete(const Trace* whole);                    // on the ingest thread: the file, once it is whole
  void publish(std::shared_ptr<const Trace> snapshot);  // from the ingest thread
  void look();                                          // at the recording, now and then

  std::shared_ptr<FrameQueue> queue_;
  std::unique_ptr<RecordingSource> source_;
  std::thread ingest_thread_;
  QTimer timer_;
  int stops_ = 0;
  QElapsedTimer since_stop_;  // valid while the program is to end and that was not said
  ProgramAtEnd program_at_end_;
  static inline std::vector<LiveRecording*> all_;
};

}  // namespace lanescope::ui
