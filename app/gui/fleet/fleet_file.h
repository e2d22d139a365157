// The result of `lanescope fleet` in the fleet.json of its folder (docs/fleets.md): heat maps of ranks by steps, and the recording and time of each cell.
#pragma once

#include <memory>
#include <vector>

#include <QString>
#include <QStringList>

#include "model/file/result.h"
#include "model/trace/types.h"

namespace lanescope::ui {

// A recording that rows refer to.
struct FleetSource {
  struct Cell {
    TimeRange time;         // since the start of the recording; empty: not known
    Nanoseconds shift = 0;  // added to times of this recording to get times that all recordings share
  };
  QString file;
  std::vector<Cell> cells;  // by column; may have fewer entries
};

struct FleetRow {
  QString label;
  std::shared_ptr<const FleetSource> source;  // null: the row has no recording
  std::vector<double> values;                 // by column; NaN: not known
};

// A measure of each rank and step.
struct FleetMap {
  QString title;
  QString unit;
  QStringList columns;
  std::vector<FleetRow> rows;
};

struct FleetFile {
  QString recipe;
  QStringList sentences;
  std::vector<FleetMap> maps;  // at least one
};

// True if the start of the file says that it is such a file. Only regular files are read.
[[nodiscard]] bool is_fleet_file(const QString& path);

// Fails with one sentence. Paths of recordings are resolved from the folder of the file. O(size); at most 256 MiB are read.
[[nodiscard]] Result<FleetFile> read_fleet_file(const QString& path);

}  // namespace lanescope::ui
