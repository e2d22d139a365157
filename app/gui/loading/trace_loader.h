// Opens trace files off the GUI thread. What has been read so far can be shown before the file is read whole.
#pragma once

#include <atomic>
#include <memory>

#include <QObject>
#include <QString>

#include "base/latest_job.h"
#include "model/trace/trace.h"

namespace lanescope::ui {

class TraceLoader : public QObject {
  Q_OBJECT

 public:
  explicit TraceLoader(QObject* parent = nullptr);

  void load(const QString& path);  // in place of what is still being loaded
  void cancel();                   // ends with what has been read until then, and cancelled()
  void abandon();                  // as cancel(), but what has been read is of no use any more
  [[nodiscard]] bool isLoading() const { return job_.isRunning(); }
  [[nodiscard]] const QString& path() const { return path_; }

 signals:
  void started(const QString& path);
  void progressed(double fraction);  // 0 to 1
  void partlyLoaded(std::shared_ptr<const lanescope::Trace> trace);
  void loaded(std::shared_ptr<const lanescope::Trace> trace);
  void failed(const QString& sentence);
  void cancelled();

 private:
  LatestJob job_;
  std::shared_ptr<std::atomic<bool>> is_cancelled_;  // of the load that is under way
  QString path_;
};

}  // namespace lanescope::ui
