// How somebody arranged the rows of a timeline, in words that hold for other recordings of the same program: rows are named by a path of
// their titles ("Processes/python3.12/python3/NVTX"), without the numbers that every run has of its own.
#pragma once

#include <QMap>
#include <QString>
#include <QStringList>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/rows/row_layout.h"

namespace lanescope::ui {

struct RememberedRows {
  QStringList expanded;  // those that are closed at first
  QStringList collapsed;
  QStringList pinned;  // in their order
  QStringList hidden;
  QMap<QString, QStringList> order;  // of the rows below a row ("": of the topmost ones)
  bool operator==(const RememberedRows&) const = default;
};

// The path of each row of the tree. Rows of the same title below the same row are told apart by their place: "python3#2".
[[nodiscard]] std::vector<QString> row_paths(const timeline::RowTree& tree);

// `before`, with what was arranged since of the rows of this tree; what it says of other rows stays.
[[nodiscard]] RememberedRows remember(const timeline::RowTree& tree, const timeline::RowArrangement& arrangement, RememberedRows before);

// Arranges the rows of the tree that are not among `known` (keys) as they are remembered.
[[nodiscard]] timeline::RowArrangement arrange(const timeline::RowTree& tree, const RememberedRows& remembered, timeline::RowArrangement arrangement,
                                               const std::unordered_set<std::string>& known);

// What recordings of the same program have in common: the program and its script. "" where neither is known.
[[nodiscard]] QString kind_of_trace(const Trace& trace);

}  // namespace lanescope::ui
