// A measure of ranks by steps: a row for each rank; larger values are darker (brighter on dark themes). Unknown cells are empty.
//
// Click chooses a cell, Ctrl+click another rank at the same step, Shift+click all ranks up to there, Ctrl+A all. Arrow keys move, with Ctrl they add a second
// rank; Enter and a double-click activate. If columns are narrower than a pixel, each pixel shows the largest value in it. Painting is O(cells in sight).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <QAbstractScrollArea>

#include "fleet/fleet_file.h"

namespace lanescope::ui {

class HeatMapView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit HeatMapView(QWidget* parent = nullptr);

  // The map must outlive the view or be replaced. The choice stays if the new map has as many rows and columns.
  void setMap(const FleetMap* map);

  [[nodiscard]] int column() const { return column_; }                  // the chosen step; -1: none
  [[nodiscard]] const std::vector<int>& rows() const { return rows_; }  // in the order in which they were chosen
  void choose(int row, int column);
  // At the chosen step:
  void toggle(int row);      // adds the row, or removes it unless it is the only one
  void chooseUpTo(int row);  // and all rows between it and the first chosen one

  [[nodiscard]] QRect rectangle(int row, int column) const;  // in the viewport
  [[nodiscard]] QString toolTipOf(int row, int column) const;

 signals:
  void chosen();
  void activated();  // what is chosen should be opened

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  struct Cell {
    int row, column;
  };
  [[nodiscard]] int rowHeight() const;
  [[nodiscard]] int labelWidth() const { return std::min(label_width_, viewport()->width() / kMostLabelShare); }
  [[nodiscard]] int columnCount() const;
  [[nodiscard]] std::optional<Cell> cellAt(QPoint position) const;
  [[nodiscard]] QColor colorOf(double value) const;
  void fitScrollBar();
  void measure();
  void moveBy(int rows, int columns);
  void scrollTo(int row);

  static constexpr int kMostLabelShare = 3;  // labels take at most a third of the view

  const FleetMap* map_ = nullptr;
  int label_width_ = 0;        // of the widest label
  double low_ = 0, high_ = 0;  // of the known values and 0
  int column_ = -1;
  std::vector<int> rows_;
};

}  // namespace lanescope::ui
