// The dockable panels of the main window. A panel among tabs shows its title on its tab alone. The content of a panel that is not in sight,
// closed or behind another's tab, is hidden, whatever Qt does with the dock around it: isVisible() says whether a panel is in sight.
#pragma once

#include <set>
#include <vector>

#include <QDockWidget>
#include <QMainWindow>
#include <QMenu>
#include <QTimer>
#include <QVariantMap>

namespace lanescope::ui {

class PanelDocks : public QObject {
  Q_OBJECT

 public:
  explicit PanelDocks(QMainWindow& window);
  ~PanelDocks() override;  // takes the panels with it

  // Adds a panel, with an entry in the menu that shows and hides it. `name` stands for it in the remembered layout.
  void add(const QString& title, const QString& name, QWidget* content, QMenu& menu);
  // The first layout: all but the last as tabs below the timeline, the last one beside them. Widths are in proportion.
  void layOut(int height, int width_of_tabs, int width_of_last);
  // The same sizes again, once it is known how large the window is.
  void setSizes(int height, int width_of_tabs, int width_of_last);
  // What keepSizes() takes in the next run: the sizes that are kept, else those of the panels that are in sight and do not float, by name, and of
  // others those that they had when they were. Heights of panels among tabs are those of the tabs with them.
  [[nodiscard]] QVariantMap sizes() const;
  // Panels that do not float have these sizes from now on, as far as the window has room, whatever sizes a window manager gives the window
  // and in however many steps; until somebody moves a border between panels, or shows, closes or moves a panel. One that floats or is closed has its
  // own when it comes back into the window.
  void keepSizes(const QVariantMap& sizes);
  // Called before the window is shown: panels that float are shown once it is. A window manager keeps a panel in front of its window only where
  // it has known the window first.
  void floatOnceWindowIsShown();
  // The window's saveState(), with the panels that float once it is shown.
  [[nodiscard]] QByteArray state(int version);
  // Where panels floated last, by name, and where they will float again. One that never did, and is floated by its button, stands beside the window
  // where the screen has room, else above its place: over it, it would hide what takes that.
  [[nodiscard]] const QVariantMap& floatingPlaces() const { return floating_places_; }
  void setFloatingPlaces(const QVariantMap& places) { floating_places_ = places; }
  // None floats: what layOut() then arranges and shows is the first layout.
  void gather();
  // Shows the panel and brings it to the front of its tabs.
  void raise(const QWidget* content);
  void raise(const QString& name);
  // The same for who goes on working there: its focus proxy, else its first table, tree or graph gets the keyboard.
  void enter(const QWidget* content);
  // The panel in front of the tabs, or another one that is in sight, gets the keyboard; nothing where there is none.
  void enterFront();
  [[nodiscard]] bool hasKeyboard() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;  // of the window and of the docks

 private:
  void showTitleBars();
  void showWaiting();
  void hideContent(QWidget& content);
  [[nodiscard]] int mostHeight() const;  // of a panel, px, at which the window keeps its size
  void giveKeptSizes();
  void releaseSizes();  // the panels are arranged anew
  [[nodiscard]] QSize sizeWithTabs(const QDockWidget& dock) const;
  void noteGeometry(const QDockWidget& dock);
  void comeBack(QDockWidget& dock);       // into the window
  void placeFloating(QDockWidget& dock);  // which has just left the window

  QMainWindow& window_;
  std::vector<QDockWidget*> docks_;
  std::vector<QDockWidget*> shown_with_window_;
  QVariantMap kept_sizes_;  // empty: panels have whatever sizes they get
  QVariantMap last_sizes_;  // of panels when they were in the window last, and seen
  QVariantMap returning_;   // of those that were out of the window when it was made, until they come back
  QVariantMap floating_places_;
  std::set<const QDockWidget*> placed_;  // that float, but for one that Qt is taking out of the window
  QTimer resized_;                       // runs out once the window has given all panels their places
  bool is_gathering_ = false;            // then none of those that floated comes in front of its tabs
};

}  // namespace lanescope::ui
