// Answers to dialogs, in the order in which they come up, whatever else waits: each is answered in its own event loop, also inside another's.
#pragma once

#include <functional>
#include <utility>

#include <QAbstractButton>
#include <QApplication>
#include <QDialog>
#include <QMessageBox>

namespace lanescope::test {

// While it lives, each modal dialog of the program is answered by `answer` as soon as it can take input.
class DialogAnswers : public QObject {
 public:
  using Answer = std::function<void(QDialog& dialog)>;
  explicit DialogAnswers(Answer answer) : answer_(std::move(answer)) { qApp->installEventFilter(this); }
  [[nodiscard]] int count() const { return count_; }

  bool eventFilter(QObject* watched, QEvent* event) override {
    auto* dialog = event->type() == QEvent::Show ? qobject_cast<QDialog*>(watched) : nullptr;
    if (dialog != nullptr && dialog->isModal())
      QMetaObject::invokeMethod(
          dialog,
          [this, dialog] {
            ++count_;
            answer_(*dialog);
          },
          Qt::QueuedConnection);
    return false;
  }

 private:
  Answer answer_;
  int count_ = 0;
};

// The button of a question, by its text; null where it has none of that text.
inline QAbstractButton* button_of(QDialog& dialog, const QString& text) {
  auto* box = qobject_cast<QMessageBox*>(&dialog);
  for (QAbstractButton* button : box != nullptr ? box->buttons() : QList<QAbstractButton*>())
    if (button->text().remove(u'&') == text) return button;
  return nullptr;
}

}  // namespace lanescope::test
