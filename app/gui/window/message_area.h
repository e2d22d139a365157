// A line above the timeline for what went wrong, in one sentence each. What is said stays until it is closed, something
// else begins, or what it is about is settled.
#pragma once

#include <deque>
#include <functional>

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "session/recording_end.h"

namespace lanescope::ui {

// What a message is about, so that it goes once that is settled.
enum class MessageSubject {
  kItself,
  kExport,     // files that are written, and why one is not
  kAlignment,  // of two traces
  kNotes,      // that are kept beside the trace
  kEditor,     // of source files
  kGaps,       // of GPUs
  kLoop,       // of the program
  kWaits,      // what an event waited for
  kClipboard,  // what it has of the selected events
  kFleet,      // its file
  kLanguage,   // of the next start
  kRecording,  // what has to wait for its end
  kClosing,    // of the window, later
  kChange,     // of the files that are shown
};

class MessageArea : public QFrame {
  Q_OBJECT

 public:
  explicit MessageArea(QWidget* parent = nullptr);

  // What a message offers to do, on a button beside it.
  struct Offer {
    QString text;  // empty: nothing
    std::function<void()> take;
  };
  // Of several, errors are in sight first, then the newest note; the others wait. What is said already is not said twice: as an
  // error, where it is one and a note.
  void show(const QString& sentence, MessageWeight weight, MessageSubject subject = MessageSubject::kItself, Offer offer = {});
  void settle(MessageSubject subject);                                                   // what was said of it is answered, or no longer so: kItself is never
  void showAnew(const QString& sentence, MessageWeight weight, MessageSubject subject);  // in place of what was said of the subject
  void closeFirst();                                                                     // and shows the next one
  void withdraw(const QString& end);                                                     // what ends so is no longer true
  void clear();
  [[nodiscard]] QString text() const { return messages_.empty() ? QString() : messages_.front().sentence; }  // that is in sight
  struct Message : Notice {
    MessageSubject subject = MessageSubject::kItself;
    Offer offer = {};
  };
  [[nodiscard]] const std::deque<Message>& messages() const { return messages_; }

 private:
  void showFirst();

  QLabel* text_;
  QLabel* waiting_;  // "1 of 3"
  QPushButton* offer_;
  std::deque<Message> messages_;
};

}  // namespace lanescope::ui
