// One line to type into, over the time axis: a marker's name, a time to go to. Enter accepts, Esc and a click elsewhere close it; what is kept on
// leaving is accepted by a click elsewhere, where something was typed.
#pragma once

#include <functional>

#include <QLineEdit>

namespace lanescope::timeline {

class Prompt : public QLineEdit {
  Q_OBJECT

 public:
  // Whether the text will do; where not, the prompt stays open and says so.
  using Accept = std::function<bool(const QString& text)>;

  explicit Prompt(QWidget* parent);
  enum class OnLeaving { kClosed, kKept };
  void close_prompt();
  void ask(const QString& what, const QRect& place, Accept accept, OnLeaving on_leaving = OnLeaving::kClosed);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  Accept accept_;
  OnLeaving on_leaving_ = OnLeaving::kClosed;
};

}  // namespace lanescope::timeline
