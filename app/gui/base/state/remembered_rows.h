// How a user arranged the rows of a timeline, in a form that suits other recordings of the same program: rows are named by a path of their titles
// ("Processes/python3.12/python3/NVTX"), without the numbers that differ in every run.
#pragma once

#include <QMap>
#include <QString>
#include <QStringList>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/rows/row_layout.h"

namespace lanescope::ui {

struct RememberedRows {
  QStringList expanded;  // rows that are collapsed by default
  QStringList collapsed;
  QStringList pinned;  // in their order
  QStringList hidden;
  QMap<QString, QStringList> order;  // of the children of a row ("": of the topmost rows)
  bool operator==(const RememberedRows&) const = default;
};

// The path of each row of the tree. Rows with the same title below the same row are told apart by their position: "python3#2".
[[nodiscard]] std::vector<QString> row_paths(const timeline::RowTree& tree);

// `before`, updated with the arrangement of the rows of this tree; entries about other rows stay.
[[nodiscard]] RememberedRows remember(const timeline::RowTree& tree, const timeline::RowArrangement& arrangement, RememberedRows before);

// Arranges the rows of the tree whose keys are not in `known` as `remembered` says.
[[nodiscard]] timeline::RowArrangement arrange(const timeline::RowTree& tree, const RememberedRows& remembered, timeline::RowArrangement arrangement,
                                               const std::unordered_set<std::string>& known);

// What recordings of the same program have in common: the program and its script. "" if neither is known.
[[nodiscard]] QString kind_of_trace(const Trace& trace);

}  // namespace lanescope::ui
