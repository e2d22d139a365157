// The dockable panels of the main window. A panel among tabs shows its title on its tab alone. The content of a panel that is not in sight,
// closed or behind another's tab, is hidden, whatever Qt does with the dock around it: isVisible() says whether a panel is in sight.
#pragma once

#include <vector>

#include <QDockWidget>
#include <QMainWindow>
#include <QMenu>
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
  // Of the panels that are in sight and do not float, by name; to be kept, and to be had again in a window of the same size.
  [[nodiscard]] QVariantMap sizes() const;
  void restoreSizes(const QVariantMap& sizes);
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

 private:
  void showTitleBars();
  void hideContent(QWidget& content);

  QMainWindow& window_;
  std::vector<QDockWidget*> docks_;
};

}  // namespace lanescope::ui
