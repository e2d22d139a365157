// The windows of this process. Each shows one trace, or a pair, and records one program at most.
//
// Threads: the GUI thread only.
#pragma once

#include <vector>

#include <QObject>
#include <QPointer>

#include "window/main_window.h"

namespace lanescope::ui {

class Windows : public QObject {
  Q_OBJECT

 public:
  explicit Windows(Layout layout, QObject* parent = nullptr) : QObject(parent), layout_(layout) {}
  ~Windows() override;  // those that are open go without a question, and what they remember is kept

  // Shows another one, which deletes itself when it is closed; beside the one that wishes for it, so that both are seen.
  MainWindow& add(const MainWindow* wishing = nullptr);

 private:
  Layout layout_;
  std::vector<QPointer<MainWindow>> windows_;
};

}  // namespace lanescope::ui
