// A call tree as an icicle: the outermost calls on top, each call as wide as its share of what is in sight.
//
// Click shows a call over the whole width with what it calls, Escape one level more, Home all. Arrow keys walk from call to call.
// Double-click is functionActivated(), right-click offers what else there is. Cost of painting: O(boxes in sight), which are at least a
// pixel wide.
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

  // Null: none. What is shown over the whole width stays so where the new profile has the same calls.
  void setProfile(std::shared_ptr<const Trace> trace, std::shared_ptr<const SampleProfile> profile);
  void setSearch(const QString& text);  // functions whose names contain it stand out; "" for none
  void focusOn(std::uint32_t node);     // over the whole width; 0 is all
  [[nodiscard]] std::uint32_t focus() const { return focus_; }
  [[nodiscard]] const std::vector<samples::FlameBox>& boxes() const { return boxes_; }
  [[nodiscard]] QRect rectangle(const samples::FlameBox& box) const;  // in the viewport
  [[nodiscard]] QString toolTipOf(std::uint32_t node) const;          // with its whole name
  [[nodiscard]] QString labelOf(std::uint32_t node) const;            // as it stands in its box
  // Share of what is in sight that goes through functions that the search found, from 0 to 1.
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
  std::uint32_t current_ = 0;  // of the keyboard
  QString search_;
  std::vector<bool> found_;  // by function
  double found_share_ = 0;
};

}  // namespace lanescope::ui
