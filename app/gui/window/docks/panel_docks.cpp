#include "window/docks/panel_docks.h"

#include <algorithm>
#include <utility>

#include <QAbstractScrollArea>
#include <QApplication>
#include <QMouseEvent>
#include <QScopedValueRollback>
#include <QScreen>
#include <QStatusBar>
#include <QStyle>
#include <QTabBar>

#include "window/docks/panel_room.h"

namespace lanescope::ui {

namespace {

QWidget* panel_in(const QDockWidget& dock) { return static_cast<const PanelRoom*>(dock.widget())->widget(); }

}  // namespace

PanelDocks::PanelDocks(QMainWindow& window) : window_(window) {
  using Option = QMainWindow::DockOption;
  window.setDockOptions(Option::AnimatedDocks | Option::AllowNestedDocks | Option::AllowTabbedDocks | Option::GroupedDragging);
  window.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  resized_.setSingleShot(true);
  connect(&resized_, &QTimer::timeout, this, &PanelDocks::giveKeptSizes);
  window.installEventFilter(this);
}

PanelDocks::~PanelDocks() {
  window_.removeEventFilter(this);
  for (QDockWidget* dock : docks_) {
    dock->removeEventFilter(this);
    dock->disconnect(this);
    delete dock;
  }
}

void PanelDocks::add(const QString& title, const QString& name, QWidget* panel, QMenu& menu) {
  auto* dock = new QDockWidget(title, &window_);
  auto* content = new PanelRoom(*panel);
  dock->setObjectName(name);
  dock->setWidget(content);
  docks_.push_back(dock);
  window_.addDockWidget(Qt::BottomDockWidgetArea, dock);
  dock->installEventFilter(this);
  connect(dock, &QDockWidget::dockLocationChanged, this, &PanelDocks::releaseSizes);
  connect(dock, &QDockWidget::dockLocationChanged, this, &PanelDocks::showTitleBars);
  connect(dock, &QDockWidget::topLevelChanged, this, &PanelDocks::showTitleBars);
  connect(dock, &QDockWidget::topLevelChanged, this, [this, dock](bool floats) {
    floats ? placeFloating(*dock) : comeBack(*dock);
    if (!floats) placed_.erase(dock);
    // Raises it among its tabs after the window has taken it back. Before the window is shown, the user cannot have put it there.
    if (!floats && !is_gathering_ && window_.isVisible()) QTimer::singleShot(0, dock, &QWidget::raise);
  });
  connect(dock, &QDockWidget::visibilityChanged, this, &PanelDocks::showTitleBars);
  // Qt moves a dock behind tabs out of the window instead of hiding it. Its content must still count for the minimum size of the tabs.
  QSizePolicy policy = content->sizePolicy();
  policy.setRetainSizeWhenHidden(true);
  content->setSizePolicy(policy);
  connect(dock, &QDockWidget::visibilityChanged, this, [this, dock, content](bool in_sight) {
    const bool floats = dock->isFloating() && dock->isVisible();  // in sight, even if Qt reports its former place among the tabs
    in_sight || floats ? content->show() : hideContent(*content);
  });
  menu.addAction(dock->toggleViewAction());
}

void PanelDocks::layOut(int height, int width_of_tabs, int width_of_last) {
  QDockWidget* first = docks_.front();
  QDockWidget* last = docks_.back();
  window_.splitDockWidget(first, last, Qt::Horizontal);
  for (std::size_t i = 1; i + 1 < docks_.size(); ++i) window_.tabifyDockWidget(docks_[i - 1], docks_[i]);
  // Only now: side by side, they would make the window wider than the screen.
  for (QDockWidget* dock : docks_) dock->show();
  first->raise();
  setSizes(height, width_of_tabs, width_of_last);
}

void PanelDocks::setSizes(int height, int width_of_tabs, int width_of_last) {
  kept_sizes_.clear();
  QDockWidget* first = docks_.front();
  QDockWidget* last = docks_.back();
  window_.resizeDocks({first}, {height}, Qt::Vertical);
  window_.resizeDocks({first, last}, {width_of_tabs, width_of_last}, Qt::Horizontal);
}

QVariantMap PanelDocks::sizes() const {
  if (!kept_sizes_.isEmpty()) return kept_sizes_;
  QVariantMap sizes = last_sizes_;
  for (const QDockWidget* dock : docks_) {
    const bool is_behind_tab = !dock->isFloating() && !dock->isHidden() && dock->visibleRegion().isEmpty();
    if (is_behind_tab) sizes.remove(dock->objectName());  // it has the size of the panel in front
    if (!dock->isFloating() && !dock->visibleRegion().isEmpty()) sizes[dock->objectName()] = sizeWithTabs(*dock);
  }
  return sizes;
}

// resizeDocks() applies the height to panels including their tabs: without the correction, panels would shrink by the height of a tab each time.
QSize PanelDocks::sizeWithTabs(const QDockWidget& dock) const {
  constexpr int kMostBetween = 4;  // px between the tabs and the panel
  for (const QTabBar* tabs : window_.findChildren<QTabBar*>(Qt::FindDirectChildrenOnly)) {
    const int between = dock.y() - tabs->geometry().bottom() - 1;
    const bool is_above = between >= 0 && between <= kMostBetween && tabs->x() < dock.geometry().right() && dock.x() < tabs->geometry().right();
    if (tabs->isVisible() && is_above) return {dock.width(), dock.geometry().bottom() + 1 - tabs->y()};
  }
  return dock.size();
}

void PanelDocks::keepSizes(const QVariantMap& sizes) {
  kept_sizes_ = last_sizes_ = sizes;
  for (const QDockWidget* dock : docks_)
    if (const QString& name = dock->objectName(); (dock->isFloating() || dock->isHidden()) && sizes.contains(name)) returning_[name] = sizes[name];
  resized_.start(0);
}

// Qt knows no size of a panel that has not been in the window since the window was created.
void PanelDocks::comeBack(QDockWidget& dock) {
  const QSize size = returning_.take(dock.objectName()).toSize();
  if (size.isEmpty() || is_gathering_) return;
  QTimer::singleShot(0, &dock, [this, &dock, size] {
    if (dock.isFloating() || dock.isHidden() || !window_.tabifiedDockWidgets(&dock).isEmpty()) return;
    // Its neighbour must give up the room: if only one dock is resized, Qt applies only a part of the change.
    const auto is_beside = [&](QDockWidget* other) {
      return other != &dock && !other->isFloating() && !other->visibleRegion().isEmpty() && window_.dockWidgetArea(other) == window_.dockWidgetArea(&dock) &&
             other->y() < dock.geometry().bottom() && dock.y() < other->geometry().bottom();
    };
    const auto beside = std::find_if(docks_.begin(), docks_.end(), is_beside);
    if (beside == docks_.end()) return;
    window_.resizeDocks({*beside, &dock}, {(*beside)->width() + dock.width() - size.width(), size.width()}, Qt::Horizontal);
  });
}

void PanelDocks::placeFloating(QDockWidget& dock) {
  placed_.insert(&dock);
  if (!window_.isVisible() || is_gathering_ || QApplication::mouseButtons() != Qt::NoButton) return;  // it is where the user drags it
  const QRect screen = window_.screen()->availableGeometry();
  if (const QRect place = floating_places_.value(dock.objectName()).toRect(); place.intersects(screen)) return dock.setGeometry(place);
  const QRect window = window_.frameGeometry();
  QRect place = dock.geometry();
  if (window.right() + place.width() <= screen.right())
    place.moveLeft(window.right() + 1);
  else
    place.moveBottom(place.top() - 1);
  if (place.top() < screen.top()) place.moveTop(screen.top());
  dock.setGeometry(place);
}

bool PanelDocks::restore(const QByteArray& state, int version) {
  for (QDockWidget* dock : docks_) dock->setAttribute(Qt::WA_DontShowOnScreen);  // Qt shows those that float
  const bool is_restored = window_.restoreState(state, version);
  for (QDockWidget* dock : docks_) {
    if (dock->isFloating() && !dock->isHidden()) {
      dock->hide();
      shown_with_window_.push_back(dock);
    }
    dock->setAttribute(Qt::WA_DontShowOnScreen, false);
  }
  return is_restored;
}

void PanelDocks::showWaiting() {
  if (!window_.isVisible()) return;
  for (QDockWidget* dock : std::exchange(shown_with_window_, {})) dock->show();
}

QByteArray PanelDocks::state(int version) {
  const auto show = [&](bool shown) {
    for (QDockWidget* dock : shown_with_window_) {
      dock->setAttribute(Qt::WA_DontShowOnScreen, shown);
      dock->setVisible(shown);
    }
  };
  show(true);
  const QByteArray state = window_.saveState(version);
  show(false);
  return state;
}

bool PanelDocks::eventFilter(QObject* watched, QEvent* event) {
  const bool is_of_window = watched == &window_;
  switch (event->type()) {
    case QEvent::Show:  // comes before the window is on the display
      if (is_of_window) QMetaObject::invokeMethod(this, &PanelDocks::showWaiting, Qt::QueuedConnection);
      break;
    case QEvent::Resize:
    case QEvent::Move:
      if (!is_of_window) noteGeometry(*static_cast<const QDockWidget*>(watched));
      if (!is_of_window && event->type() == QEvent::Resize) resized_.start(0);
      break;
    case QEvent::ShowToParent:
      if (!is_of_window && !static_cast<QDockWidget*>(watched)->isFloating()) comeBack(*static_cast<QDockWidget*>(watched));
      [[fallthrough]];
    case QEvent::HideToParent:
      if (!is_of_window && !static_cast<const QDockWidget*>(watched)->isFloating()) releaseSizes();
      break;
    case QEvent::KeyPress:  // which the panel left; a panel that floats is a window of its own, where the key would end
      if (is_of_window || !static_cast<const QDockWidget*>(watched)->isFloating()) break;
      QCoreApplication::sendEvent(&window_, event);
      return true;
    case QEvent::MouseButtonPress:
      if (is_of_window && window_.childAt(static_cast<QMouseEvent*>(event)->position().toPoint()) == nullptr) releaseSizes();  // on a border
      break;
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

void PanelDocks::noteGeometry(const QDockWidget& dock) {
  if (!window_.isVisible() || !dock.isVisible()) return;
  if (dock.isFloating() && placed_.contains(&dock))
    floating_places_[dock.objectName()] = dock.geometry();
  else if (!dock.isFloating() && !dock.visibleRegion().isEmpty())
    last_sizes_[dock.objectName()] = sizeWithTabs(dock);
}

// Before the window is shown, the user cannot have arranged anything.
void PanelDocks::releaseSizes() {
  if (window_.isVisible()) kept_sizes_.clear();
}

// Higher panels would make the window grow, beyond a screen that is lower than the previous one.
int PanelDocks::mostHeight() const {
  const QWidget* bar = window_.statusBar();
  const QWidget* centre = window_.centralWidget();
  const int end = bar->isVisible() ? bar->y() : window_.height();
  return end - centre->y() - centre->minimumSizeHint().height() - window_.style()->pixelMetric(QStyle::PM_DockWidgetSeparatorExtent, nullptr, &window_);
}

void PanelDocks::giveKeptSizes() {
  if (!window_.isVisible()) return;
  const int most = mostHeight();
  QList<QDockWidget*> docks;
  QList<int> widths, heights;
  for (QDockWidget* dock : docks_) {
    const QSize size = kept_sizes_.value(dock->objectName()).toSize();
    if (dock->isFloating() || dock->isHidden() || size.isEmpty()) continue;
    docks += dock;
    widths += size.width();
    heights += std::min(size.height(), most);
  }
  if (docks.isEmpty()) return;
  window_.resizeDocks(docks, heights, Qt::Vertical);
  window_.resizeDocks(docks, widths, Qt::Horizontal);
}

void PanelDocks::gather() {
  const QScopedValueRollback gathering(is_gathering_, true);
  for (QDockWidget* dock : docks_) {
    dock->setFloating(false);
    window_.removeDockWidget(dock);  // also hides it
    window_.addDockWidget(Qt::BottomDockWidgetArea, dock);
  }
}

void PanelDocks::raise(const QWidget* panel) {
  for (QDockWidget* dock : docks_) {
    if (panel_in(*dock) != panel) continue;
    dock->show();
    dock->raise();
  }
}

void PanelDocks::raise(const QString& name) {
  if (const QDockWidget* dock = dockOf(name)) raise(panel_in(*dock));
}

QDockWidget* PanelDocks::dockOf(const QString& name) const {
  const auto found = std::find_if(docks_.begin(), docks_.end(), [&](const QDockWidget* dock) { return dock->objectName() == name; });
  return found == docks_.end() ? nullptr : *found;
}

bool PanelDocks::isInFront(const QString& name) const {
  QDockWidget* dock = dockOf(name);
  return dock != nullptr && !dock->isFloating() && !dock->visibleRegion().isEmpty() && !window_.tabifiedDockWidgets(dock).isEmpty();
}

bool PanelDocks::isBesideInTabs(const QString& name, const QString& other) const {
  return dockOf(name) != nullptr && window_.tabifiedDockWidgets(dockOf(name)).contains(dockOf(other));
}

void PanelDocks::enter(const QWidget* panel) {
  raise(panel);
  if (QWidget* chosen = panel->focusProxy()) return chosen->setFocus(Qt::ShortcutFocusReason);
  for (QAbstractScrollArea* view : panel->findChildren<QAbstractScrollArea*>())
    if (view->isVisible() && (view->focusPolicy() & Qt::TabFocus) != 0) return view->setFocus(Qt::ShortcutFocusReason);
}

void PanelDocks::enterFront() {
  for (const QDockWidget* dock : docks_)
    if (!panel_in(*dock)->visibleRegion().isEmpty()) return enter(panel_in(*dock));
}

bool PanelDocks::hasKeyboard() const {
  const QWidget* focus = QApplication::focusWidget();
  return std::any_of(docks_.begin(), docks_.end(), [focus](const QDockWidget* dock) { return focus && dock->isAncestorOf(focus); });
}

// Moves the focus to the panel that comes to the front. A window that is restored after being minimised keeps its focus.
void PanelDocks::hideContent(QWidget& content) {
  if (window_.isMinimized()) return;
  QWidget* focus = QApplication::focusWidget();
  if (focus != nullptr && content.isAncestorOf(focus)) {
    focus->clearFocus();
    const auto go_on = [this] {
      if (QApplication::focusWidget() == nullptr) enterFront();
    };
    QMetaObject::invokeMethod(this, go_on, Qt::QueuedConnection);
  }
  content.hide();
}

// A panel among tabs can be dragged by its tab; a title bar would repeat its title.
void PanelDocks::showTitleBars() {
  for (QDockWidget* dock : docks_) {
    const bool among_tabs = !dock->isFloating() && !window_.tabifiedDockWidgets(dock).isEmpty();
    if (among_tabs == (dock->titleBarWidget() != nullptr)) continue;
    QWidget* old = dock->titleBarWidget();
    dock->setTitleBarWidget(among_tabs ? new QWidget(dock) : nullptr);
    delete old;
  }
}

}  // namespace lanescope::ui
