// A line that shows what went wrong, one sentence at a time. A message stays until it is closed, something else begins, or its subject is settled.
//
// It lies over the lower edge of what the window shows, because a line that came between others would move the timeline under the mouse.
#pragma once

#include <deque>
#include <functional>

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "session/recording_end.h"

namespace lanescope::ui {

// The subject of a message. Messages are removed when their subject is settled.
enum class MessageSubject {
  kItself,
  kExport,     // files that are written, and why one is not
  kAlignment,  // the alignment of two traces
  kNotes,      // notes that are stored beside the trace
  kEditor,     // the editor of source files
  kGaps,       // gaps of GPUs
  kLoop,       // the loop of the program
  kWaits,      // what an event waited for
  kClipboard,  // the selected events in the clipboard
  kFleet,      // a file of a fleet
  kLanguage,   // the language of the next start
  kRecording,  // what has to wait for the end of the recording
  kClosing,    // the window closes later
  kChange,     // changes of the files that are shown
  kReading,    // events of the trace that can't be read
};

class MessageArea : public QFrame {
  Q_OBJECT

 public:
  explicit MessageArea(QWidget* parent = nullptr);

  // Becomes a part of the widget, over its lower edge. Requires: it outlives this.
  void lieOver(QWidget& ground);

  // An action that a message offers by a button.
  struct Offer {
    QString text;  // empty: no button
    std::function<void()> take;
  };
  // Errors are shown before notes, and newer notes before older ones; the others wait. A message that is shown already is not added again: if it is both an
  // error and a note, it stays as an error.
  void show(const QString& sentence, MessageWeight weight, MessageSubject subject = MessageSubject::kItself, Offer offer = {});
  void settle(MessageSubject subject);                                                   // removes the messages about the subject, except for kItself
  void showAnew(const QString& sentence, MessageWeight weight, MessageSubject subject);  // replaces the messages about the subject
  void closeFirst();                                                                     // then shows the next one
  void withdraw(const QString& end);                                                     // removes messages that end with this text: they are no longer true
  void clear();
  [[nodiscard]] QString text() const { return messages_.empty() ? QString() : messages_.front().sentence; }  // the message that is shown
  struct Message : Notice {
    MessageSubject subject = MessageSubject::kItself;
    Offer offer = {};
  };
  [[nodiscard]] const std::deque<Message>& messages() const { return messages_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showFirst();
  void place();
  void colour();

  QLabel* text_;
  QLabel* waiting_;  // "1 of 3"
  QPushButton* offer_;
  std::deque<Message> messages_;
};

}  // namespace lanescope::ui
