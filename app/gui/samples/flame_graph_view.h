// A call tree as an icicle graph: the outermost calls on top; the width of a call is its share of what is shown.
//
// Click shows a call and its callees at full width, Escape goes one level up, Home shows all. Arrow keys move from call to call. Double-click emits
// functionActivated(), right-click offers more commands. Painting is O(boxes in sight), which are at least a pixel wide.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QAbstractScrollArea>

#include "model/trace/trace.h"
#include "samples/sample_profile.h"

namespace lanescope::ui {

class FlameGraphView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit FlameGraphView(QWidget* parent = nullptr);

  // Null: none. The call at full width stays if the new profile has the same calls.
  void setProfile(std::shared_ptr<const Trace> trace, std::shared_ptr<const SampleProfile> profile);
  void setSearch(const QString& text);  // highlights functions whose names contain the text; "" for none
  void focusOn(std::uint32_t node);     // shows it at full width; 0: all
  [[nodiscard]] std::uint32_t focus() const { return focus_; }
  [[nodiscard]] const std::vector<samples::FlameBox>& boxes() const { return boxes_; }
  [[nodiscard]] QRect rectangle(const samples::FlameBox& box) const;  // in viewport coordinates
  [[nodiscard]] QString toolTipOf(std::uint32_t node) const;          // with its whole name
  [[nodiscard]] QString labelOf(std::uint32_t node) const;            // the text in its box
  // Share of what is shown that goes through functions that match the search, from 0 to 1.
  [[nodiscard]] double foundShare() const { return found_share_; }

 signals:
  void functionActivated(const QString& name);
  void focusChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  [[nodiscard]] int rowHeight() const;
  [[nodiscard]] const samples::FlameBox* boxAt(QPoint position) const;
  [[nodiscard]] const samples::FlameBox* boxOf(std::uint32_t node) const;
  [[nodiscard]] QColor colorOf(std::uint32_t node) const;
  [[nodiscard]] std::vector<std::string> pathOf(std::uint32_t node) const;
  [[nodiscard]] std::uint32_t nearest(const std::vector<std::string>& path) const;
  void setCurrent(std::uint32_t node);
  void layOut();
  void measureFound();

  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const SampleProfile> profile_;
  std::vector<samples::FlameBox> boxes_;  // by depth, then from left to right
  std::uint32_t focus_ = 0;
  std::uint32_t current_ = 0;  // for the keyboard
  QString search_;
  std::vector<bool> found_;  // by function
  double found_share_ = 0;
};

}  // namespace lanescope::ui
