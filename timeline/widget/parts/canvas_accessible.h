// The rows for assistive technology and for tests: a table whose children are the rows in sight; their children are the events that are wide enough to be seen
// singly.
//
// The name of a row is its title, its value its busy share in the visible range; the name of an event is its title, its value its duration, its description all
// facts about it.
#pragma once

#include <map>
#include <utility>

#include <QAccessibleWidget>

#include "parts/canvas.h"
#include "timeline/core/pixels/level_pixels.h"

namespace lanescope::timeline {

class RowAccessible;

class CanvasAccessible : public QAccessibleWidget {
 public:
  // Makes Qt ask for these interfaces. Calling it again has no effect.
  static void install();

  explicit CanvasAccessible(Canvas* canvas);
  ~CanvasAccessible() override;

  [[nodiscard]] int childCount() const override;
  [[nodiscard]] QAccessibleInterface* child(int index) const override;
  [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override;
  [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override;
  [[nodiscard]] QAccessibleInterface* focusChild() const override;

  [[nodiscard]] Canvas& canvas() const;
  [[nodiscard]] std::vector<const PlacedRow*> rows() const;  // in sight, from top to bottom
  // Events of a row that are seen singly, level by level, by start.
  [[nodiscard]] std::vector<std::pair<std::size_t, Box>> boxes(const PlacedRow& row) const;
  [[nodiscard]] RowAccessible* interfaceOf(const PlacedRow& row) const;

 private:
  void forget();
  QMetaObject::Connection traces_;
  using Key = std::pair<std::string, RowPlace>;  // of the row
  mutable std::map<Key, QAccessible::Id> known_;
  mutable LevelRasterizer rasterizer_;
};

}  // namespace lanescope::timeline
