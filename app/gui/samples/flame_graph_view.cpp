#include "samples/flame_graph_view.h"

#include <algorithm>
#include <cmath>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include "model/kernels/instructions/pc_statistics.h"
#include "timeline/core/pixels/colors.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

using samples::FrameKind;

constexpr double kNarrowest = 1;        // px of a box that is drawn
constexpr double kNarrowestLabel = 24;  // px

QString text(std::string_view view) { return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size())); }

std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return hash ^ (hash >> 15);
}

}  // namespace

FlameGraphView::FlameGraphView(QWidget* parent) : QAbstractScrollArea(parent) {
  setAccessibleName(tr("Flame graph"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
}

void FlameGraphView::setProfile(std::shared_ptr<const Trace> trace, std::shared_ptr<const SampleProfile> profile) {
  const std::vector<std::string> path = profile_ ? pathOf(focus_) : std::vector<std::string>();
  trace_ = std::move(trace);
  profile_ = std::move(profile);
  focus_ = current_ = 0;
  if (profile_) current_ = focus_ = nearest(path);
  setSearch(search_);
  layOut();
  emit focusChanged();
}

// The last call of the path that exists.
std::uint32_t FlameGraphView::nearest(const std::vector<std::string>& path) const {
  const samples::CallTree& tree = profile_->top_down;
  std::uint32_t found = 0;
  for (const std::string& name : path) {
    const samples::CallTreeNode& node = tree.node(found);
    std::uint32_t child = node.first_child;
    while (child < node.first_child + node.child_count && tree.function_of(child).name != name) ++child;
    if (child == node.first_child + node.child_count) break;
    found = child;
  }
  return found;
}

void FlameGraphView::setSearch(const QString& wanted) {
  search_ = wanted;
  found_.clear();
  if (profile_ && !search_.isEmpty())
    for (const samples::SampledFunction& function : profile_->top_down.functions())
      found_.push_back(text(function.name).contains(search_, Qt::CaseInsensitive));
  measureFound();
  viewport()->update();
}

// Calls below a call that was found are not counted again.
void FlameGraphView::measureFound() {
  found_share_ = 0;
  if (found_.empty()) return;
  const samples::CallTree& tree = profile_->top_down;
  const double whole = samples::amount(tree.node(focus_).total, profile_->by);
  if (whole <= 0) return;
  std::vector<std::uint32_t> open{focus_};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (node != 0 && found_[tree.node(node).function]) {
      found_share_ += samples::amount(tree.node(node).total, profile_->by) / whole;
      continue;
    }
    for (std::uint32_t i = 0; i < tree.node(node).child_count; ++i) open.push_back(tree.node(node).first_child + i);
  }
}

void FlameGraphView::focusOn(std::uint32_t node) {
  if (!profile_ || node == focus_) return;
  focus_ = current_ = node;
  layOut();
  measureFound();
  emit focusChanged();
}

int FlameGraphView::rowHeight() const { return fontMetrics().height() + 4; }

void FlameGraphView::layOut() {
  boxes_.clear();
  if (profile_) boxes_ = samples::flame_graph(profile_->top_down, focus_, profile_->by, kNarrowest / std::max(1, viewport()->width()));
  const int height = boxes_.empty() ? 0 : static_cast<int>(boxes_.back().depth + 1) * rowHeight();
  verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(rowHeight());
  viewport()->update();
}

void FlameGraphView::resizeEvent(QResizeEvent*) { layOut(); }

QRect FlameGraphView::rectangle(const samples::FlameBox& box) const {
  const double width = viewport()->width();
  const int left = static_cast<int>(std::lround(box.left * width));
  const int right = std::max(left + 1, static_cast<int>(std::lround(box.right * width)));
  return {left, static_cast<int>(box.depth) * rowHeight() - verticalScrollBar()->value(), right - left, rowHeight()};
}

const samples::FlameBox* FlameGraphView::boxAt(QPoint position) const {
  const int y = position.y() + verticalScrollBar()->value();
  const auto depth = static_cast<std::uint32_t>(y / rowHeight());
  const double x = (position.x() + 0.5) / std::max(1, viewport()->width());
  const auto after = std::upper_bound(boxes_.begin(), boxes_.end(), std::pair(depth, x),
                                      [](const auto& at, const samples::FlameBox& box) { return at < std::pair(box.depth, box.left); });
  if (after == boxes_.begin()) return nullptr;
  const samples::FlameBox& box = *std::prev(after);
  return box.depth == depth && x < box.right ? &box : nullptr;
}

const samples::FlameBox* FlameGraphView::boxOf(std::uint32_t node) const {
  const auto found = std::find_if(boxes_.begin(), boxes_.end(), [node](const samples::FlameBox& box) { return box.node == node; });
  return found == boxes_.end() ? nullptr : &*found;
}

std::vector<std::string> FlameGraphView::pathOf(std::uint32_t node) const {
  std::vector<std::string> path;
  for (; node != 0; node = profile_->top_down.node(node).parent) path.push_back(profile_->top_down.function_of(node).name);
  std::reverse(path.begin(), path.end());
  return path;
}

QString FlameGraphView::labelOf(std::uint32_t node) const {
  if (node == 0) return tr("All: %1").arg(shown_text(weight_text(profile_->top_down.total(), profile_->source)));
  return text(profile_->top_down_labels[profile_->top_down.node(node).function]);
}

// The hue shows the kind of a frame, the shade distinguishes functions.
QColor FlameGraphView::colorOf(std::uint32_t node) const {
  const bool dark = palette().color(QPalette::Base).lightness() < 128;
  if (node == 0) return dark ? QColor(0x3a, 0x40, 0x49) : QColor(0xdf, 0xe3, 0xe8);
  const samples::SampledFunction& function = profile_->top_down.function_of(node);
  const std::uint32_t hash = hash_of(function.name);
  const double shade = static_cast<double>(hash & 0xff) / 255;
  const auto call = [&](CodeKind kind) {
    const std::string_view known = function.function == 0 ? std::string_view() : std::string_view(function.name);
    return QColor::fromRgb(timeline::call_color(kind, known, dark ? timeline::ColorScheme::kDark : timeline::ColorScheme::kLight));
  };
  double hue = 0, saturation = 0;
  switch (function.kind) {
    case FrameKind::kNative:
      return call(CodeKind::kNative);
    case FrameKind::kPython:
      return call(CodeKind::kPython);
    case FrameKind::kOsKernel:
      return call(CodeKind::kKernel);
    case FrameKind::kGenerated:
      return call(CodeKind::kGenerated);
    case FrameKind::kThread:
      hue = 215, saturation = 0.08;
      break;
    case FrameKind::kRange:
      hue = 265 + 14 * shade, saturation = 0.36;
      break;
    case FrameKind::kOperation:
      hue = 130 + 30 * shade, saturation = 0.42;
      break;
    case FrameKind::kLine:
      hue = 180 + 10 * shade, saturation = 0.36;
      break;
    case FrameKind::kWarpState:
      hue = 4 + 14 * shade, saturation = 0.50;
      break;
  }
  const double lightness = (dark ? 0.46 : 0.68) + 0.10 * shade;
  return QColor::fromRgb(timeline::from_hsl(hue, saturation, lightness));
}

void FlameGraphView::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  painter.fillRect(event->rect(), palette().color(QPalette::Base));
  if (!profile_) return;
  const bool searching = !found_.empty();
  for (const samples::FlameBox& box : boxes_) {
    const QRect area = rectangle(box);
    if (!area.intersects(event->rect())) continue;
    const samples::CallTreeNode& node = profile_->top_down.node(box.node);
    const bool found = searching && box.node != 0 && found_[node.function];
    const bool above = box.depth < profile_->top_down.node(focus_).depth;  // callers of the focused call are dimmed
    QColor color = colorOf(box.node);
    if (found) color = QColor(0xc0, 0x3f, 0xd0);
    if (above || (searching && !found)) color = QColor::fromRgb(timeline::blend(color.rgb(), palette().color(QPalette::Base).rgb(), searching ? 0.6 : 0.45));
    // One pixel of the background between neighbours, if there is room for it.
    painter.fillRect(area.adjusted(0, 0, area.width() > 3 ? -1 : 0, -1), color);
    if (area.width() >= kNarrowestLabel) {
      painter.setPen(QColor::fromRgb(timeline::text_color_on(color.rgb())));
      const QRect room = area.adjusted(4, 0, -4, 0);
      painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, fontMetrics().elidedText(labelOf(box.node), Qt::ElideRight, room.width()));
    }
    if (box.node == current_ && hasFocus()) {
      painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
      painter.drawRect(area.adjusted(1, 1, -2, -2));
    }
  }
}

QString FlameGraphView::toolTipOf(std::uint32_t node) const {
  if (!profile_) return {};
  const samples::CallTree& tree = profile_->top_down;
  const samples::CallTreeNode& call = tree.node(node);
  QStringList lines{"<b>" + (node == 0 ? labelOf(0) : text(tree.function_of(node).name)).toHtmlEscaped() + "</b>"};
  if (node != 0) {
    const samples::SampledFunction& function = tree.function_of(node);
    const QString place = text(source_text(*trace_, function)), module = text(samples::module_text(*trace_, function));
    if (!place.isEmpty() || !module.isEmpty()) lines << (place.isEmpty() || module.isEmpty() ? place + module : place + " · " + module).toHtmlEscaped();
    if (const auto meaning = kernels::stall_meaning(function.name); function.kind == FrameKind::kWarpState && !meaning.waits_for.empty())
      lines << tr("Warps wait for: %1").arg(shown_text(meaning.waits_for).toHtmlEscaped());
  }
  const auto share = [&](const samples::Weight& part, const samples::Weight& whole) {
    const double all = samples::amount(whole, profile_->by);
    return text(timeline::format_share(all > 0 ? samples::amount(part, profile_->by) / all : 0));
  };
  lines << tr("%1: %2 of all").arg(shown_text(weight_text(call.total, profile_->source)), share(call.total, tree.total()));
  if (focus_ != 0) lines << tr("%1 of %2").arg(share(call.total, tree.node(focus_).total), labelOf(focus_).toHtmlEscaped());
  if (node != 0) lines << tr("Itself: %1, %2").arg(shown_text(weight_text(call.self, profile_->source)), share(call.self, tree.total()));
  return "<p style='white-space:pre-wrap; margin:0'>" + lines.join("<br>") + "</p>";
}

bool FlameGraphView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const samples::FlameBox* box = boxAt(help->pos());
    QToolTip::showText(help->globalPos(), box ? toolTipOf(box->node) : QString(), viewport(), box ? rectangle(*box) : QRect());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void FlameGraphView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const samples::FlameBox* box = boxAt(event->position().toPoint())) focusOn(box->node);
}

void FlameGraphView::mouseDoubleClickEvent(QMouseEvent* event) {
  // The first click has made the call as wide as the view, so the second one is still on it.
  if (event->button() == Qt::LeftButton && boxAt(event->position().toPoint()) && focus_ != 0)
    emit functionActivated(text(profile_->top_down.function_of(focus_).name));
}

void FlameGraphView::contextMenuEvent(QContextMenuEvent* event) {
  const samples::FlameBox* box = event->reason() == QContextMenuEvent::Keyboard ? boxOf(current_) : boxAt(event->pos());
  if (box == nullptr || box->node == 0) return;
  const std::vector<std::string> path = pathOf(box->node);  // another profile may be shown while the menu is open
  const QString name = text(profile_->top_down.function_of(box->node).name);
  const QPoint place = event->reason() == QContextMenuEvent::Keyboard ? viewport()->mapToGlobal(rectangle(*box).center()) : event->globalPos();
  QMenu menu;
  menu.addAction(tr("Zoom to it"), QKeySequence(Qt::Key_Return), this, [this, path] {
    if (const std::uint32_t node = profile_ ? nearest(path) : 0; node != 0 && pathOf(node) == path) focusOn(node);
  });
  menu.addAction(tr("Find its samples on the rows"), this, [this, name] { emit functionActivated(name); });
  menu.addSeparator();
  menu.addAction(tr("Copy the function's name"), this, [name] { QGuiApplication::clipboard()->setText(name); });
  menu.addAction(tr("Copy the calls that lead to it"), this, [path] {
    QStringList calls;
    for (const std::string& call : path) calls += text(call);
    QGuiApplication::clipboard()->setText(calls.join(u'\n'));
  });
  menu.exec(place);
}

void FlameGraphView::setCurrent(std::uint32_t node) {
  const samples::FlameBox* box = boxOf(node);
  if (!box) return;
  current_ = node;
  const QRect area = rectangle(*box);
  QScrollBar& bar = *verticalScrollBar();
  if (area.top() < 0) bar.setValue(bar.value() + area.top());
  if (area.bottom() > viewport()->height()) bar.setValue(bar.value() + area.bottom() - viewport()->height());
  viewport()->update();
}

void FlameGraphView::keyPressEvent(QKeyEvent* event) {
  if (!profile_) return QAbstractScrollArea::keyPressEvent(event);
  const samples::CallTree& tree = profile_->top_down;
  const samples::CallTreeNode& node = tree.node(current_);
  const samples::CallTreeNode& parent = tree.node(node.parent);
  switch (event->key()) {
    case Qt::Key_Up:
      return setCurrent(node.parent);
    case Qt::Key_Down:
      if (node.child_count > 0) setCurrent(node.first_child);
      return;
    case Qt::Key_Left:
      if (current_ > parent.first_child) setCurrent(current_ - 1);
      return;
    case Qt::Key_Right:
      if (current_ != 0 && current_ + 1 < parent.first_child + parent.child_count) setCurrent(current_ + 1);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return focusOn(current_);
    case Qt::Key_Escape:
    case Qt::Key_Backspace:
      return focusOn(tree.node(focus_).parent);
    case Qt::Key_Home:
      return focusOn(0);
    default:
      return QAbstractScrollArea::keyPressEvent(event);
  }
}

}  // namespace lanescope::ui
