// A line edit over the time axis: for a marker's name, or a time to go to. Enter accepts, Esc and a click elsewhere close it. If it keeps its text on leaving,
// a click elsewhere accepts text that was typed.
#pragma once

#include <functional>

#include <QLineEdit>

namespace lanescope::timeline {

class Prompt : public QLineEdit {
  Q_OBJECT

 public:
  // Returns true if the text is acceptable; if not, the prompt stays open and shows that.
  using Accept = std::function<bool(const QString& text)>;

  explicit Prompt(QWidget* parent);
  enum class OnLeaving { kClosed, kKept };
  void closePrompt();
  void ask(const QString& what, const QRect& place, Accept accept, OnLeaving on_leaving = OnLeaving::kClosed);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  Accept accept_;
  OnLeaving on_leaving_ = OnLeaving::kClosed;
};

}  // namespace lanescope::timeline
