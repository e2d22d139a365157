#include "analysis/alignment_bar.h"

#include <cstdlib>

#include <QHBoxLayout>
#include <QStandardItemModel>

#include "base/text/time_text.h"
#include "model/trace/combining/combine.h"
#include "timeline/core/words/format.h"

namespace lanescope::ui {
namespace {

using Alignment = TracePair::Alignment;

constexpr int kLeastShift = 14, kMostShift = 18;  // letters: "+12.345678 ms" and more

QString shift_text(Nanoseconds shift) {
  return (shift < 0 ? QStringLiteral("-") : QStringLiteral("+")) + QString::fromStdString(timeline::format_duration(std::abs(shift)));
}

// "+1.5ms", "-20 us", "3s".
std::optional<Nanoseconds> parse_shift(const QString& text) {
  QString time = text.trimmed();
  const bool back = time.startsWith(u'-');
  if (back || time.startsWith(u'+')) time.remove(0, 1);
  const std::optional<Nanoseconds> parsed = parse_time(time);
  return parsed && back ? -*parsed : parsed;
}

}  // namespace

AlignmentBar::AlignmentBar(TracePair& pair, SelectionState& state, QWidget* parent)
    : QFrame(parent),
      pair_(pair),
      state_(state),
      names_(new QLabel(this)),
      alignment_(new QComboBox(this)),
      shift_(new QLineEdit(this)),
      at_selection_(new QPushButton(tr("Align at the selected event"), this)),
      interleave_(new QPushButton(tr("Interleave rows"), this)) {
  auto* reset = new QPushButton(tr("Reset"), this);
  auto* swap = new QPushButton(tr("Swap"), this);
  auto* close = new QPushButton(tr("Close B"), this);
  const auto group_of = [this](std::initializer_list<QWidget*> widgets) {
    auto* group = new QWidget(this);
    auto* line = new QHBoxLayout(group);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(6);
    for (QWidget* widget : widgets) line->addWidget(widget, widget == names_ ? 1 : 0);
    return group;
  };
  traces_ = group_of({names_, interleave_, swap, close});
  qobject_cast<QHBoxLayout*>(traces_->layout())->addSpacing(8);
  QWidget* aligning = group_of({new QLabel(tr("B is aligned"), this), alignment_, new QLabel(tr("and shifted by"), this), shift_, reset, at_selection_});
  qobject_cast<QHBoxLayout*>(aligning->layout())->addStretch(1);
  line_ = new BreakingLine(traces_, aligning, BreakingLine::Stretched::kFirst, this);
  auto* whole = new QHBoxLayout(this);
  whole->setContentsMargins(8, 3, 8, 3);
  whole->addWidget(line_);

  names_->installEventFilter(this);
  names_->setObjectName(QStringLiteral("names_of_traces"));
  names_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  names_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  for (const auto& [text, alignment] :
       {std::pair(tr("by loop"), Alignment::kLoop), std::pair(tr("by start"), Alignment::kStart), std::pair(tr("by UTC"), Alignment::kUtc),
        std::pair(tr("at an event"), Alignment::kPlace), std::pair(tr("by hand"), Alignment::kHand)})
    alignment_->addItem(text, static_cast<int>(alignment));
  alignment_->setAccessibleName(tr("How B is aligned with A"));
  shift_->setAccessibleName(tr("Shift of B"));
  const int letter = shift_->fontMetrics().averageCharWidth();
  shift_->setMinimumWidth(letter * kLeastShift);
  shift_->setMaximumWidth(letter * kMostShift);
  reset->setObjectName(QStringLiteral("reset_alignment"));
  close->setObjectName(QStringLiteral("close_b"));
  interleave_->setObjectName(QStringLiteral("interleave_rows"));
  interleave_->setCheckable(true);
  interleave_->setToolTip(tr("Shows each row of B below the row of A that stands for the same thing (I)"));
  connect(interleave_, &QPushButton::clicked, this,
          [this](bool checked) { emit rowsWished(checked ? timeline::TraceSides::kInterleaved : timeline::TraceSides::kApart); });
  reset->setToolTip(tr("Undoes the shift: B lies as it did when it was opened"));
  at_selection_->setToolTip(
      tr("Shifts B so that the selected event and the one of the same name in the other trace begin together: choose an NVTX range of a step, "
         "for example"));
  swap->setToolTip(tr("Exchanges A and B: changes are then counted from the other trace"));
  connect(alignment_, &QComboBox::activated, this, &AlignmentBar::chooseAlignment);
  connect(shift_, &QLineEdit::editingFinished, this, &AlignmentBar::applyShift);
  connect(reset, &QPushButton::clicked, &pair, &TracePair::reset);
  connect(at_selection_, &QPushButton::clicked, this, &AlignmentBar::alignAtSelection);
  connect(swap, &QPushButton::clicked, &pair, &TracePair::swap);
  connect(close, &QPushButton::clicked, this, &AlignmentBar::closeRequested);
  connect(&pair, &TracePair::sidesChanged, this, &AlignmentBar::showSides);
  connect(&pair, &TracePair::sidesChanged, &job_, &LatestJob::cancel);
  connect(&pair, &TracePair::alignmentChanged, this, &AlignmentBar::showAlignment);
  connect(&pair, &TracePair::lacksLoop, this, [this] { emit refused(tr("No loop of A is in B: no NVTX range and no work of a GPU repeats in both.")); });
  connect(&state, &SelectionState::selectedEventChanged, this, [this](EventRef event) { at_selection_->setEnabled(event.valid()); });
  at_selection_->setEnabled(false);
  hide();
}

void AlignmentBar::showSides() {
  setVisible(pair_.isOpen());
  if (!pair_.isOpen()) return;
  showNames();
  names_->setToolTip(tr("A: %1\nB: %2").arg(pair_.first().path, pair_.second().path));
  const auto* items = qobject_cast<QStandardItemModel*>(alignment_->model());
  items->item(alignment_->findData(static_cast<int>(Alignment::kUtc)))->setEnabled(pair_.knowsUtc());
}

// If there is no room for both names, each is shortened in its middle, because the ends of names distinguish runs.
void AlignmentBar::showNames() {
  const auto text_of = [](const QString& a, const QString& b) { return tr("A  %1     B  %2").arg(a, b); };
  const QString a = pair_.first().name(), b = pair_.second().name();
  const QFontMetrics metrics = names_->fontMetrics();
  const int room = names_->contentsRect().width();
  QString text = text_of(a, b);
  line_->setFirstWidth(metrics.horizontalAdvance(text) + traces_->sizeHint().width());  // that of the buttons: the label asks for none
  if (metrics.horizontalAdvance(text) > room) {
    const int each = (room - metrics.horizontalAdvance(text_of({}, {}))) / 2;
    text = text_of(metrics.elidedText(a, Qt::ElideMiddle, each), metrics.elidedText(b, Qt::ElideMiddle, each));
  }
  names_->setText(text);
}

bool AlignmentBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched == names_ && event->type() == QEvent::Resize && pair_.isOpen()) showNames();
  return QFrame::eventFilter(watched, event);
}

void AlignmentBar::showRows(timeline::TraceSides sides) { interleave_->setChecked(sides == timeline::TraceSides::kInterleaved); }

void AlignmentBar::showAlignment() {
  alignment_->setCurrentIndex(alignment_->findData(static_cast<int>(pair_.alignment())));
  shift_->setText(shift_text(pair_.shift()));
  shift_->setToolTip(tr("%1 ns. Type another, like -12.5ms").arg(pair_.shift()));
}

void AlignmentBar::chooseAlignment() {
  switch (static_cast<Alignment>(alignment_->currentData().toInt())) {
    case Alignment::kLoop:
      return pair_.alignByLoop();
    case Alignment::kStart:
      return pair_.alignByStart();
    case Alignment::kUtc:
      return pair_.alignByUtc();
    case Alignment::kPlace:
      return alignAtSelection();
    case Alignment::kHand:
      shift_->setFocus();
      shift_->selectAll();
  }
}

void AlignmentBar::applyShift() {
  if (!shift_->isModified()) return;
  shift_->setModified(false);
  if (const std::optional<Nanoseconds> shift = parse_shift(shift_->text())) return pair_.setShift(*shift);
  emit refused(tr("\"%1\" is no time to shift B by. Type one like +12.5ms or -3s.").arg(shift_->text()));
  showAlignment();
}

void AlignmentBar::alignAtSelection() {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  const EventRef selected = state_.selectedEvent();
  showAlignment();
  if (!trace || trace->parts().size() != 2) return;
  if (!selected.valid()) return emit refused(tr("Select an event first, an NVTX range of a step for example."));
  job_.start([this, trace, selected](const LatestJob::Context& job) {
    const std::optional<EventRef> other = counterpart(*trace, selected);
    job.deliver([this, trace, selected, other] { alignAt(*trace, selected, other); });
  });
}

void AlignmentBar::alignAt(const Trace& trace, EventRef selected, std::optional<EventRef> other) {
  const QString name = QString::fromStdString(std::string(trace.name(trace.event(selected).name)));
  if (!other) return emit refused(tr("The other trace has no event \"%1\" that stands for the selected one.").arg(name));
  const Nanoseconds shift = trace.parts()[1].clock.shift();
  const bool of_first = selected.lane < other->lane;  // lanes of A come first
  const Event a = trace.event(of_first ? selected : *other), b = trace.event(of_first ? *other : selected);
  pair_.alignPlaces({{a.start, a.end()}, {b.start - shift, b.end() - shift}, selected});
}

}  // namespace lanescope::ui
