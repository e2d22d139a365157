// What `lanescope fleet` found, as it is in fleet.json of its folder (docs/fleets.md): pictures of ranks by steps, and where in which recording a
// cell of them is.
#pragma once

#include <memory>
#include <vector>

#include <QString>
#include <QStringList>

#include "model/file/result.h"
#include "model/trace/types.h"

namespace lanescope::ui {

// A recording that rows are of.
struct FleetSource {
  struct Cell {
    TimeRange time;         // since the recording's beginning; empty: not known
    Nanoseconds shift = 0;  // what is added to these times for times that all recordings share
  };
  QString file;
  std::vector<Cell> cells;  // by column; may have fewer
};

struct FleetRow {
  QString label;
  std::shared_ptr<const FleetSource> source;  // null: it is of no recording
  std::vector<double> values;                 // by column; not a number: not known
};

// One measure of each rank and step.
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

// Whether it says of itself that it is one, as it does where it begins. Only regular files are read.
[[nodiscard]] bool is_fleet_file(const QString& path);

// Fails with one sentence. Recordings are named from the file's folder on. O(size); at most 256 MiB are read.
[[nodiscard]] Result<FleetFile> read_fleet_file(const QString& path);

}  // namespace lanescope::ui
