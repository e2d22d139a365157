#include "parts/row_header.h"

#include <algorithm>
#include <cmath>

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "input/gestures.h"
#include "timeline/core/pixels/counter_pixels.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::timeline {
namespace {

constexpr double kIndent = 13;
constexpr double kLeft = 6;
constexpr double kTriangle = 8;
constexpr double kRightInset = 8;
constexpr double kLeastWaiting = 0.001;  // of the time: smaller shares are not shown
constexpr int kLegibleTitle = 14;        // characters of a name that numbers must leave room for
constexpr int kNumberGap = 10;           // px between a name and the numbers behind it

bool keeps_gpu_busy(const Trace& trace, const Row& row) {
  if (row.kind == RowKind::kTrace) return !row.all.empty() && trace.track_of(row.all.front().lane).key.gpu != kNone;
  return row.kind < RowKind::kProcesses && row.kind != RowKind::kSynchronization && row.kind != RowKind::kGpuRanges;
}

// True if the name of another kernel, cut off in the same way, would look the same.
bool looks_alike(const RowTree& tree, const Row& row, const QString& shown) {
  const std::string part = shown.chopped(1).toStdString();
  if (!row.parent || !shown.endsWith(QChar(0x2026))) return false;
  const std::vector<RowIndex>& siblings = tree.row(*row.parent).children;
  return std::count_if(siblings.begin(), siblings.end(), [&](RowIndex each) { return tree.row(each).label.english().starts_with(part); }) > 1;
}

// "elementwise_kernel<add<float>>" as "eleme…<add<float>>": template arguments distinguish instances of one template.
QString short_template(const QString& name) {
  constexpr qsizetype kKept = 5;
  const qsizetype arguments = name.indexOf(u'<');
  return arguments <= kKept + 1 ? name : name.left(kKept) + QChar(0x2026) + name.mid(arguments);
}

}  // namespace

RowHeader::RowHeader(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMouseTracking(true);
  setAccessibleName(tr("Row names"));
  const auto repaint_all = [this] { update(); };
  connect(&state_, &ViewState::traceChanged, this, repaint_all);
  connect(&state_, &ViewState::pictureMade, this, repaint_all);
  for (const auto signal : {&ViewState::layoutChanged, &ViewState::themeChanged, &ViewState::rangeChanged, &ViewState::scrollChanged,
                            &ViewState::selectedRangeChanged, &ViewState::currentRowChanged, &ViewState::communicationTimeChanged})
    connect(&state_, signal, this, repaint_all);
  connect(&state_, &ViewState::selectionChanged, this, &RowHeader::followSelection);
  const auto others_are_summed = [this] { sums_are_made_ = false; };
  connect(&state_, &ViewState::traceChanged, this, others_are_summed);
  for (const auto signal : {&ViewState::layoutChanged, &ViewState::scrollChanged, &ViewState::selectedRangeChanged})
    connect(&state_, signal, this, others_are_summed);
}

const PlacedRow* RowHeader::rowAt(QPointF position) const { return state_.rowAt(static_cast<int>(position.y())); }

double RowHeader::triangleLeft(const PlacedRow& placed) const { return kLeft + (placed.is_pinned() ? 0 : state_.tree().row(placed.row).depth * kIndent); }

QString RowHeader::titleOf(const PlacedRow& placed) const {
  const Row& row = state_.tree().row(placed.row);
  return isolated(QString::fromStdString(placed_title(state_.tree(), placed, state_.sides(), row.label.in(shown_language()))));
}

void RowHeader::toggle(const PlacedRow& placed) {
  const Row& row = state_.tree().row(placed.row);
  if (row.expandable()) state_.setRowState(row.key, state_.isRowExpanded(row) ? RowState::kCollapsed : RowState::kExpanded);
}

void RowHeader::mousePressEvent(QMouseEvent* event) {
  const PlacedRow* placed = rowAt(event->position());
  if (placed == nullptr || event->button() != Qt::LeftButton) return;
  if (event->position().x() < triangleLeft(*placed) + kTriangle + 4) return toggle(*placed);
  const std::string& key = state_.tree().row(placed->row).key;
  state_.setCurrentRow(key);
  dragged_ = placed->is_pinned() ? std::nullopt : std::optional(key);
}

void RowHeader::mouseReleaseEvent(QMouseEvent*) {
  const std::optional<std::string> moved = std::exchange(dragged_, std::nullopt), onto = std::exchange(drop_, std::nullopt);
  if (moved && onto && shownBy(*moved) != nullptr && shownBy(*onto) != nullptr) state_.move(*moved, *onto);
}

// Null if the row itself is not shown, or only as a pinned row.
const PlacedRow* RowHeader::shownBy(const std::string& key) const {
  const std::optional<RowIndex> row = state_.tree().find(key);
  const PlacedRow* placed = row ? state_.layout().nearest_shown(*row) : nullptr;
  return placed != nullptr && placed->row == *row && !placed->is_pinned() ? placed : nullptr;
}

// The sibling of the dragged row at this place; rows below a sibling count as part of it.
std::optional<std::string> RowHeader::siblingAt(QPointF position) const {
  const PlacedRow* placed = rowAt(position);
  const PlacedRow* dragged = shownBy(*dragged_);
  if (placed == nullptr || placed->is_pinned() || dragged == nullptr) return std::nullopt;
  const std::optional<RowIndex> parent = state_.tree().row(dragged->row).parent;
  std::optional<RowIndex> row = placed->row;
  while (row && state_.tree().row(*row).parent != parent) row = state_.tree().row(*row).parent;
  if (!row || *row == dragged->row || state_.layout().nearest_shown(*row)->is_pinned()) return std::nullopt;
  return state_.tree().row(*row).key;
}

void RowHeader::mouseDoubleClickEvent(QMouseEvent* event) {
  const PlacedRow* placed = rowAt(event->position());
  if (placed == nullptr || event->button() != Qt::LeftButton) return;
  toggle(*placed);  // on the triangle, this is the second of two clicks
}

void RowHeader::mouseMoveEvent(QMouseEvent* event) {
  if (dragged_) {
    drop_ = siblingAt(event->position());
    return update();
  }
  const PlacedRow* placed = rowAt(event->position());
  const std::optional<RowIndex> row = placed ? std::optional(placed->row) : std::nullopt;
  if (row == hovered_) return;
  hovered_ = row;
  update();
}

void RowHeader::leaveEvent(QEvent*) {
  hovered_.reset();
  update();
}

void RowHeader::wheelEvent(QWheelEvent* event) {
  keep_menu_bar_closed(*event);
  event->accept();
  if (event->modifiers() & Qt::ControlModifier) return state_.setRowScale(state_.rowScale() * wheel_step(*event).zoom);
  state_.setScroll(state_.scroll() - static_cast<int>(std::lround(scrolled_rows(*event))));
  event->accept();
}

void RowHeader::contextMenuEvent(QContextMenuEvent* event) {
  const PlacedRow* placed = rowAt(event->pos());
  if (placed == nullptr || event->reason() != QContextMenuEvent::Mouse) return event->ignore();
  state_.setCurrentRow(state_.tree().row(placed->row).key);
  emit contextMenuRequested(placed->row, event->globalPos());
}

TimeRange RowHeader::busyRange() const { return state_.selectedRange().value_or(state_.range()).intersected(state_.trace().extent()); }

// For the visible range, only the busy share of GPUs is shown, because that is what users look for; for a selected range, that of all rows.
bool RowHeader::saysBusy(const Row& row) const {
  if (row.counter || row.all.empty() || busyRange().empty()) return false;
  if (row.levels.empty() && state_.isRowExpanded(row)) return false;  // the rows below show it
  return state_.selectedRange() || keeps_gpu_busy(state_.trace(), row);
}

// The busy share of the row, in texts from long to short; for counters, the mean.
QStringList RowHeader::busyTexts(const Row& row) {
  if (row.counter) return {QString::fromStdString(counter_mean_text(state_.trace(), *row.counter, state_.selectedRange().value_or(state_.range())))};
  if (!saysBusy(row)) return {};
  const TimeRange range = busyRange();
  const std::optional<Picture::RowSum> sum = state_.rowSum(row, range);
  if (!sum) return {QStringLiteral("…")};
  const double busy = static_cast<double>(sum->busy) / static_cast<double>(range.length());
  QStringList texts{QString::fromStdString(format_share(busy))};
  if (const double waiting = state_.waitingShare(row, range); waiting >= kLeastWaiting)
    texts.prepend(tr("%1, %2 waits").arg(texts.front(), QString::fromStdString(format_share(waiting))));
  if (!state_.selectedRange()) return texts;
  if (sum->count == 0 && busy == 0) return {QStringLiteral("0")};  // so that rows with events in the range stand out among many
  texts.prepend(QString::fromStdString(format_count(sum->count)) + QStringLiteral(" · ") + texts.front());
  return texts;
}

bool RowHeader::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const PlacedRow* placed = rowAt(help->pos());
  if (placed == nullptr) return true;
  const Row& row = state_.tree().row(placed->row);
  QString text = shown_text(row.label);
  if (row.share) text += QStringLiteral("\n") + shown_text(share_words(row));
  if (row.kind == RowKind::kKernelName && row.all.front().name) {
    const std::string_view whole = state_.trace().name(*row.all.front().name);
    text += QStringLiteral("\n") + QString::fromUtf8(whole.data(), static_cast<qsizetype>(whole.size()));
  }
  if (row.counter) {
    const TimeRange range = state_.selectedRange().value_or(state_.range());
    if (const std::string values = counter_text(state_.trace(), *row.counter, range); !values.empty())
      text += (state_.selectedRange() ? tr("\n%1 in the selected range") : tr("\n%1 in what is visible")).arg(QString::fromStdString(values));
    text += QStringLiteral("\n") + shown_text(state_.trace().counters()[*row.counter].description);
  }
  const TimeRange range = state_.selectedRange().value_or(state_.range()).intersected(state_.trace().extent());
  if (const auto sum = row.all.empty() ? std::nullopt : state_.rowSum(row, range)) {
    text += tr("\n%1, busy for %2 of %3")
                .arg(shown_text(format_counted(sum->count, "event")), QString::fromStdString(format_duration(sum->busy)),
                     QString::fromStdString(format_duration(range.length())));
    text += state_.selectedRange() ? tr(" selected") : tr(" visible");
    if (const double waiting = state_.waitingShare(row, range); waiting > 0)
      text += tr("\nFor %1 of that it did nothing but wait for another rank")
                  .arg(QString::fromStdString(format_duration(static_cast<Nanoseconds>(std::llround(waiting * static_cast<double>(range.length()))))));
  }
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

bool RowHeader::holdsSelection(const PlacedRow& placed) const {
  const auto is_shown_here = [&](RowIndex row) { return state_.layout().nearest_shown(row) == &placed; };
  const auto place = state_.selected().valid() ? state_.tree().place_of(state_.selected().lane) : std::nullopt;
  const std::vector<RowIndex>& others = state_.correlatedRows();
  return (place && is_shown_here(place->row)) || std::any_of(others.begin(), others.end(), is_shown_here);
}

QRect RowHeader::rectangleOf(const PlacedRow& placed) const { return {0, state_.topOf(placed), width(), placed.height}; }

// Most rows look the same whichever event is selected.
void RowHeader::followSelection() {
  for (const PlacedRow* placed : state_.layout().in_sight(state_.scroll(), height()))
    if (holdsSelection(*placed) != marked_.contains({placed->row, placed->place})) update(rectangleOf(*placed));
}

// The busy shares of the rows in sight are computed for all of them at once, on all cores.
void RowHeader::makeSums(const std::vector<const PlacedRow*>& shown) {
  std::vector<const Level*> summed;
  for (const PlacedRow* placed : shown)
    if (const Row& row = state_.tree().row(placed->row); saysBusy(row)) summed.push_back(&row.all);
  state_.makeAtOnce(summed);
  sums_are_made_ = true;
}

void RowHeader::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), state_.theme().panel);
  const std::vector<const PlacedRow*> shown = state_.layout().in_sight(state_.scroll(), height());
  if (!sums_are_made_) makeSums(shown);
  for (const PlacedRow* placed : shown)
    if (event->region().intersects(rectangleOf(*placed))) paintRow(painter, *placed);
  const PlacedRow* dragged = dragged_ && drop_ ? shownBy(*dragged_) : nullptr;
  if (const PlacedRow* onto = dragged != nullptr ? shownBy(*drop_) : nullptr) {
    const int y = state_.topOf(*onto) + (onto->top > dragged->top ? onto->height - 1 : 0);
    painter.fillRect(QRect(0, y - 1, width(), 2), state_.theme().accent);
  }
  painter.fillRect(QRect(width() - 1, 0, 1, height()), state_.theme().separator);
}

void RowHeader::paintRow(QPainter& painter, const PlacedRow& placed) {
  const Theme& theme = state_.theme();
  const Row& row = state_.tree().row(placed.row);
  const double top = state_.topOf(placed);
  if (placed.is_pinned()) painter.fillRect(QRectF(0, top, width(), placed.height), theme.group);
  const double title_height = std::min(placed.height - 1, theme.rows.group_height);
  if (state_.currentRow() == row.key)
    painter.fillRect(QRectF(0, top, width(), placed.height - 1), theme.current);
  else if (hovered_ == placed.row)
    painter.fillRect(QRectF(0, top, width(), placed.height - 1), theme.separator);
  if (holdsSelection(placed)) {
    painter.fillRect(QRectF(0, top, 3, placed.height - 1), theme.accent);
    marked_.insert({placed.row, placed.place});
  } else {
    marked_.erase({placed.row, placed.place});
  }
  const bool last_pinned = placed.is_pinned() && placed.top + placed.height == state_.layout().pinned_height();
  painter.fillRect(QRectF(0, top + placed.height - 1, width(), 1), last_pinned ? theme.quiet_text : theme.separator);

  const double left = triangleLeft(placed);
  if (row.expandable()) {
    const QPointF middle(left + kTriangle / 2, top + title_height / 2);
    const QPointF open[] = {middle + QPointF(-4, -2), middle + QPointF(4, -2), middle + QPointF(0, 3)};
    const QPointF closed[] = {middle + QPointF(-2, -4), middle + QPointF(-2, 4), middle + QPointF(3, 0)};
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.quiet_text);
    painter.drawPolygon(state_.isRowExpanded(row) ? open : closed, 3);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }

  QFont bold = font();
  if (is_heading(row)) bold.setBold(true);
  const QFontMetrics metrics(bold);
  const QString whole = titleOf(placed);
  double right = width() - kRightInset;
  double text_left = left + kTriangle + 5;
  const auto width_of = [this](const QString& text, int gap) { return text.isEmpty() ? 0 : fontMetrics().horizontalAdvance(text) + gap; };
  // Texts in front of the name and behind it give way to the name.
  const int legible = std::min(metrics.horizontalAdvance(whole), metrics.averageCharWidth() * kLegibleTitle);
  const QStringList busy_from_longest = busyTexts(row);
  QString busy = busy_from_longest.value(0);
  QString share = row.share ? QString::fromStdString(format_share(*row.share)) : QString();
  if (row.share && row.kind == RowKind::kThread) share = tr("ran %1").arg(share);  // for other rows, the share is relative to the rows beside them
  if (row.share) share += u' ';
  const auto has_room = [&] { return right - text_left - width_of(busy, kNumberGap) - width_of(share, 2) >= legible; };
  if (!has_room()) share.clear();
  for (const QString& shorter : busy_from_longest.mid(1)) {
    if (has_room()) break;
    busy = shorter;
  }
  painter.setPen(theme.quiet_text);
  painter.drawText(QRectF(0, top, right, title_height), Qt::AlignRight | Qt::AlignVCenter, busy);
  right -= width_of(busy, kNumberGap);
  painter.drawText(QRectF(text_left, top, right - text_left, title_height), Qt::AlignLeft | Qt::AlignVCenter, share);
  text_left += width_of(share, 2);
  painter.setFont(bold);
  painter.setPen(theme.text);
  const int room = static_cast<int>(right - text_left);
  QString title = metrics.elidedText(whole, Qt::ElideRight, room);
  if ((row.kind == RowKind::kKernelName || row.kind == RowKind::kKernelFamily) && !placed.is_pinned() && looks_alike(state_.tree(), row, title))
    title = metrics.elidedText(short_template(QString::fromStdString(row.label)), Qt::ElideRight, room);
  painter.drawText(QRectF(text_left, top, right - text_left, title_height), Qt::AlignLeft | Qt::AlignVCenter, title);
  painter.setFont(font());
}

}  // namespace lanescope::timeline
