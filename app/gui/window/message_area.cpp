#include "window/message_area.h"

#include <algorithm>
#include <utility>

#include <QHBoxLayout>

namespace lanescope::ui {

MessageArea::MessageArea(QWidget* parent) : QFrame(parent), text_(new QLabel(this)), waiting_(new QLabel(this)) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(8, 3, 4, 3);
  auto* close = new QToolButton(this);
  close->setText(QStringLiteral("✕"));
  close->setAutoRaise(true);
  close->setToolTip(tr("Close the message"));
  close->setAccessibleName(tr("Close the message"));
  offer_ = new QPushButton(this);
  line->addWidget(text_, 1);
  line->addWidget(offer_);
  line->addWidget(waiting_);
  line->addWidget(close);
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  setAutoFillBackground(true);
  setAccessibleName(tr("Message"));
  connect(close, &QToolButton::clicked, this, &MessageArea::closeFirst);
  connect(offer_, &QPushButton::clicked, this, [this] {
    const Offer offer = messages_.front().offer;
    closeFirst();
    offer.take();
  });
  hide();
}

void MessageArea::show(const QString& sentence, MessageWeight weight, MessageSubject subject, Offer offer) {
  const Message message{{sentence, weight}, subject, std::move(offer)};
  const auto said = std::find_if(messages_.begin(), messages_.end(), [&](const Message& each) { return each.sentence == sentence; });
  if (said != messages_.end()) {
    if (said->weight == weight || said->weight == MessageWeight::kError) return;
    messages_.erase(said);
  }
  const auto first_note = std::find_if(messages_.begin(), messages_.end(), [](const Message& each) { return each.weight == MessageWeight::kNote; });
  messages_.insert(first_note, message);
  showFirst();
}

void MessageArea::closeFirst() {
  if (!messages_.empty()) messages_.pop_front();
  showFirst();
}

void MessageArea::showAnew(const QString& sentence, MessageWeight weight, MessageSubject subject) {
  settle(subject);
  show(sentence, weight, subject);
}

void MessageArea::settle(MessageSubject subject) {
  if (subject == MessageSubject::kItself) return;
  std::erase_if(messages_, [&](const Message& each) { return each.subject == subject; });
  showFirst();
}

void MessageArea::withdraw(const QString& end) {
  std::erase_if(messages_, [&](const Message& each) { return each.sentence.endsWith(end); });
  showFirst();
}

void MessageArea::clear() {
  messages_.clear();
  showFirst();
}

void MessageArea::lieOver(QWidget& ground) {
  setParent(&ground);
  ground.installEventFilter(this);
  showFirst();
}

bool MessageArea::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) place();
  if (event->type() == QEvent::PaletteChange) colour();
  return QFrame::eventFilter(watched, event);
}

void MessageArea::place() {
  const QSize room = parentWidget()->size();
  const int height = std::min(room.height(), layout()->totalHeightForWidth(room.width()));
  setGeometry(0, room.height() - height, room.width(), height);
  raise();
}

// Pale red or blue on a light ground, dark red or blue on a dark one: what is said in passing must not look like an error, nor shine in a dark window.
void MessageArea::colour() {
  if (messages_.empty()) return;
  QPalette colors = parentWidget()->palette();
  const bool is_dark = colors.color(QPalette::Window).lightness() < 128;
  const bool is_error = messages_.front().weight == MessageWeight::kError;
  const QColor text = is_dark ? Qt::white : Qt::black;
  colors.setColor(QPalette::Window,
                  is_error ? (is_dark ? QColor(0x6e, 0x2c, 0x2c) : QColor(0xf6, 0xc9, 0xc4)) : (is_dark ? QColor(0x2b, 0x40, 0x57) : QColor(0xd9, 0xe7, 0xf7)));
  colors.setColor(QPalette::WindowText, text);
  colors.setColor(QPalette::ButtonText, text);
  setPalette(colors);
}

void MessageArea::showFirst() {
  if (messages_.empty() || parentWidget() == nullptr) return hide();
  const Message& first = messages_.front();
  colour();
  text_->setText(first.sentence);
  offer_->setText(first.offer.text);
  offer_->setVisible(!first.offer.text.isEmpty());
  waiting_->setText(tr("1 of %1").arg(messages_.size()));
  waiting_->setVisible(messages_.size() > 1);
  QFrame::show();
  place();
}

}  // namespace lanescope::ui
