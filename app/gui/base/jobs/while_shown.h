// The work that keeps a panel current, done only while the panel is in sight: at once when it comes into sight, and paced (PacedUpdate) while things change. A
// change that is pending when the panel is hidden is dropped, because the panel catches up when it is shown.
//
// Threads: the GUI thread only.
#pragma once

#include <functional>

#include <QWidget>

#include "base/jobs/paced_update.h"

namespace lanescope::ui {

class WhileShown : public QObject {
 public:
  // `work` brings the panel up to date, and does little if it is. Both must outlive this object.
  WhileShown(QWidget& panel, std::function<void()> work);

  void after(const LatestJob& job) { paced_.after(job); }  // see PacedUpdate
  void soon();                                             // does the work after a pause, once for all calls until then
  void atOnce();                                           // does it now, also for the calls of soon() until now
  void cancel() { paced_.cancel(); }                       // forgets the calls of soon()
  [[nodiscard]] bool isPending() const { return paced_.isPending(); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget& panel_;
  std::function<void()> work_;
  PacedUpdate paced_;
};

}  // namespace lanescope::ui
