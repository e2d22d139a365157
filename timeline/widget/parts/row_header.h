// The names of the rows beside the canvas: a tree to expand and collapse, with each row's share and its busy time in the visible range.
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
  [[nodiscard]] const PlacedRow* rowAt(QPointF position) const;
  [[nodiscard]] const PlacedRow* shownBy(const std::string& key) const;
  [[nodiscard]] std::optional<std::string> siblingAt(QPointF position) const;
  [[nodiscard]] double triangleLeft(const PlacedRow& placed) const;
  [[nodiscard]] QString titleOf(const PlacedRow& placed) const;
  void toggle(const PlacedRow& row);
  void paintRow(QPainter& painter, const PlacedRow& placed);
  [[nodiscard]] TimeRange busyRange() const;
  [[nodiscard]] bool saysBusy(const Row& row) const;
  [[nodiscard]] QStringList busyTexts(const Row& row);
  [[nodiscard]] bool holdsSelection(const PlacedRow& placed) const;
  [[nodiscard]] QRect rectangleOf(const PlacedRow& placed) const;
  void followSelection();
  void makeSums(const std::vector<const PlacedRow*>& shown);

  ViewState& state_;
  std::optional<RowIndex> hovered_;
  bool sums_are_made_ = false;
  std::set<std::pair<RowIndex, RowPlace>> marked_;  // rows that are painted as containing the selection
  // Keys of rows, because a live recording creates another layout ten times a second.
  std::optional<std::string> dragged_;  // to another place
  std::optional<std::string> drop_;     // the sibling whose place it would take
};

}  // namespace lanescope::timeline
