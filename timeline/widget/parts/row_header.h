// The names of the rows, beside the canvas: a tree to open and close, with each row's share and how busy it is in what is visible.
#pragma once

#include <set>
#include <utility>

#include <QWidget>

#include "view/view_state.h"

class QPainter;

namespace lanescope::timeline {

class RowHeader : public QWidget {
  Q_OBJECT

 public:
  RowHeader(ViewState& state, QWidget* parent);

 signals:
  void contextMenuRequested(lanescope::timeline::RowIndex row, const QPoint& global_position);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  [[nodiscard]] const PlacedRow* row_at(QPointF position) const;
  [[nodiscard]] const PlacedRow* shown_by(const std::string& key) const;
  [[nodiscard]] std::optional<std::string> sibling_at(QPointF position) const;
  [[nodiscard]] double triangle_left(const PlacedRow& placed) const;
  [[nodiscard]] QString title_of(const PlacedRow& placed) const;
  void toggle(const PlacedRow& row);
  void paint_row(QPainter& painter, const PlacedRow& placed);
  [[nodiscard]] TimeRange busy_range() const;
  [[nodiscard]] bool says_busy(const Row& row) const;
  [[nodiscard]] QStringList busy_texts(const Row& row);
  [[nodiscard]] bool holds_selection(const PlacedRow& placed) const;
  [[nodiscard]] QRect rectangle_of(const PlacedRow& placed) const;
  void selection_changed();
  void make_sums(const std::vector<const PlacedRow*>& shown);

  ViewState& state_;
  std::optional<RowIndex> hovered_;
  bool sums_are_made_ = false;
  std::set<std::pair<RowIndex, RowPlace>> marked_;  // rows that are painted as holding the selection
  // Keys of rows, as a recording that is drawn makes another layout ten times a second.
  std::optional<std::string> dragged_;  // to another place
  std::optional<std::string> drop_;     // the sibling whose place it would take
};

}  // namespace lanescope::timeline
