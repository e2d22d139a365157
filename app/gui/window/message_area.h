// A line above the timeline for what went wrong, in one sentence each. What is said stays until it is closed or something else begins.
#pragma once

#include <deque>

#include <QFrame>
#include <QLabel>
#include <QToolButton>

#include "session/recording_end.h"

namespace lanescope::ui {

class MessageArea : public QFrame {
  Q_OBJECT

 public:
  explicit MessageArea(QWidget* parent = nullptr);

  // Of several, errors are in sight first, then the newest note; the others wait. What is said already is not said twice: as an
  // error, where it is one and a note.
  void show(const QString& sentence, MessageWeight weight);
  void closeFirst();  // and shows the next one
  void withdraw(const QString& end);  // what ends so is no longer true
  void clear();
  [[nodiscard]] QString text() const { return messages_.empty() ? QString() : messages_.front().sentence; }  // that is in sight
  [[nodiscard]] const std::deque<Notice>& messages() const { return messages_; }

 private:
  void showFirst();

  QLabel* text_;
  QLabel* waiting_;  // "1 of 3"
  std::deque<Notice> messages_;
};

}  // namespace lanescope::ui
