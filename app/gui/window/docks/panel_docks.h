// The dockable panels of the main window. A panel among tabs shows its title only on its tab. The content of a panel that is closed or behind another tab is
// hidden, whatever Qt does with its dock: isVisible() of the content tells whether the panel is in sight.
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
  ~PanelDocks() override;  // destroys the panels

  // Adds a panel, and an entry in the menu that shows and hides it. `name` identifies the panel in the stored layout.
  void add(const QString& title, const QString& name, QWidget* panel, QMenu& menu);
  // The initial layout: all panels but the last as tabs below the timeline, the last one beside them. Widths are relative.
  void layOut(int height, int width_of_tabs, int width_of_last);
  // Sets the same sizes again when the size of the window is known.
  void setSizes(int height, int width_of_tabs, int width_of_last);
  // The sizes for keepSizes() in the next run, by name: the kept sizes; if there are none, the sizes of the panels that are in sight and do not float, and for
  // other panels their sizes when they last were.
  [[nodiscard]] QVariantMap sizes() const;
  // Panels that do not float keep these sizes from now on, as far as the window has room, whatever sizes a window manager gives the window and in however many
  // steps, until the user moves a border between panels, or shows, closes or moves a panel. A panel that floats or is closed gets its size when it comes back
  // into the window.
  void keepSizes(const QVariantMap& sizes);
  // The window's restoreState(), for a window that is not shown yet: panels that float are shown after it. A window manager keeps a panel in front of its
  // window only if it knew the window first; and a panel that is shown, hidden and shown again while a window manager is busy may stay hidden.
  [[nodiscard]] bool restore(const QByteArray& state, int version);
  // The window's saveState(), including the panels that wait for the window to be shown.
  [[nodiscard]] QByteArray state(int version);
  // Where panels floated last, by name, and where they will float again. A panel that floats for the first time by its button is placed beside the window if
  // the screen has room, else above its former place: on top of it, it would hide the panel that takes the place.
  [[nodiscard]] const QVariantMap& floatingPlaces() const { return floating_places_; }
  void setFloatingPlaces(const QVariantMap& places) { floating_places_ = places; }
  // Puts all floating panels back, so that layOut() then produces the initial layout.
  void gather();
  // Shows the panel and brings it to the front of its tabs.
  void raise(const QWidget* panel);
  void raise(const QString& name);
  [[nodiscard]] bool isInFront(const QString& name) const;                             // of other panels, among whose tabs it is
  [[nodiscard]] bool isBesideInTabs(const QString& name, const QString& other) const;  // both are among the same tabs
  // Raises the panel and gives the keyboard focus to its focus proxy, or else to its first table, tree or graph.
  void enter(const QWidget* panel);
  // Gives the keyboard focus to the panel in front of the tabs, or to another one in sight; does nothing if there is none.
  void enterFront();
  [[nodiscard]] bool hasKeyboard() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;  // of the window and of the docks

 private:
  [[nodiscard]] QDockWidget* dockOf(const QString& name) const;  // null: none has this name
  void showTitleBars();
  void showWaiting();
  void hideContent(QWidget& content);
  [[nodiscard]] int mostHeight() const;  // of a panel, px; higher panels would enlarge the window
  void giveKeptSizes();
  void releaseSizes();  // because the panels are arranged anew
  [[nodiscard]] QSize sizeWithTabs(const QDockWidget& dock) const;
  void noteGeometry(const QDockWidget& dock);
  void comeBack(QDockWidget& dock);       // into the window
  void placeFloating(QDockWidget& dock);  // a panel that has just left the window

  QMainWindow& window_;
  std::vector<QDockWidget*> docks_;
  std::vector<QDockWidget*> shown_with_window_;
  QVariantMap kept_sizes_;  // empty: no sizes are kept
  QVariantMap last_sizes_;  // of panels when they were last visible in the window
  QVariantMap returning_;   // of panels that were outside of the window when it was created, until they come back
  QVariantMap floating_places_;
  std::set<const QDockWidget*> placed_;  // floating panels, except one that Qt is moving out of the window
  QTimer resized_;                       // times out after the window has placed all panels
  bool is_gathering_ = false;            // true: panels that floated are not raised among their tabs
};

}  // namespace lanescope::ui
