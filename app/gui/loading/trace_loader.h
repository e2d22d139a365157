// Opens trace files off the GUI thread. The part that has been read can be shown before the file is complete.
#pragma once

#include <atomic>
#include <memory>

#include <QObject>
#include <QString>
#include <QStringList>

#include "base/jobs/latest_job.h"
#include "model/trace/trace.h"
#include "session/session_machine.h"

namespace lanescope::ui {

class TraceLoader : public QObject {
  Q_OBJECT

 public:
  explicit TraceLoader(QObject* parent = nullptr);

  // Replaces a load that is in progress; everything that arrives has the ticket. Several files, and the files of a folder, are one trace.
  void load(const QStringList& paths, Ticket ticket);
  void cancel();   // keeps the part that has been read, and emits cancelled()
  void abandon();  // no signal follows

 signals:
  void progressed(double fraction);  // 0 to 1
  void partlyLoaded(lanescope::ui::Ticket ticket, std::shared_ptr<const lanescope::Trace> trace);
  void loaded(lanescope::ui::Ticket ticket, std::shared_ptr<const lanescope::Trace> trace);
  void failed(lanescope::ui::Ticket ticket, const QString& sentence);
  void cancelled(lanescope::ui::Ticket ticket);

 private:
  LatestJob job_;
  std::shared_ptr<std::atomic<bool>> is_cancelled_;  // of the current load
};

}  // namespace lanescope::ui
