// Opens trace files off the GUI thread. What has been read so far can be shown before the file is read whole.
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

  // In place of what is still being loaded; all that arrives bears the ticket. Several files, and those of a folder, are one trace.
  void load(const QStringList& paths, Ticket ticket);
  void cancel();   // ends with what has been read until then, and cancelled()
  void abandon();  // nothing follows
  [[nodiscard]] bool isLoading() const { return job_.isRunning(); }

 signals:
  void progressed(double fraction);  // 0 to 1
  void partlyLoaded(lanescope::ui::Ticket ticket, std::shared_ptr<const lanescope::Trace> trace);
  void loaded(lanescope::ui::Ticket ticket, std::shared_ptr<const lanescope::Trace> trace);
  void failed(lanescope::ui::Ticket ticket, const QString& sentence);
  void cancelled(lanescope::ui::Ticket ticket);

 private:
  LatestJob job_;
  std::shared_ptr<std::atomic<bool>> is_cancelled_;  // of the load that is under way
};

}  // namespace lanescope::ui
