// Any bytes as the answer of lanescope fleet that the viewer opens.
#include <cstdlib>

#include <QString>

#include "fleet/fleet_file.h"
#include "fuzz_target.h"
#include "scratch_file.h"

using namespace lanescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFile file(".json");
  file.write(data, size);
  const QString path = QString::fromStdString(file.path());
  (void)ui::is_fleet_file(path);
  const Result<ui::FleetFile> fleet = ui::read_fleet_file(path);
  if (!fleet) return 0;
  if (fleet->maps.empty()) std::abort();
  for (const ui::FleetMap& map : fleet->maps)
    for (const ui::FleetRow& row : map.rows) {
      if (row.values.size() != static_cast<std::size_t>(map.columns.size())) std::abort();
      if (row.source == nullptr) continue;
      for (const ui::FleetSource::Cell& cell : row.source->cells)
        if (cell.time.begin < 0 || cell.time.end < cell.time.begin) std::abort();
    }
  return 0;
}

std::vector<std::string> valid_inputs() {
  return {R"json({"format": "lanescope fleet", "version": 1, "recipe": "straggler", "sentences": ["Rank 1 is late."],
"sources": [{"file": "run0.trace", "begin": [0, 10.0, null], "end": [10, 20], "shift": [5, -5]}, {"file": ""}],
"maps": [{"title": "step time", "unit": "ns", "columns": ["1", "2"], "rows": [{"label": "rank 0", "source": 0, "values": [1.5, null]}, {"label": "rank 1", "source": 7, "values": [2, "x"]}]}]})json"};
}
