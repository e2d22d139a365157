// The windows of this process. Each shows one trace, or a pair, and records at most one program.
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
  ~Windows() override;  // closes open windows without a question; what they remember is stored

  // Shows a new window, which deletes itself when it is closed. It is placed beside `wishing`, so that both are seen.
  MainWindow& add(const MainWindow* wishing = nullptr);

 private:
  Layout layout_;
  std::vector<QPointer<MainWindow>> windows_;
};

}  // namespace lanescope::ui
