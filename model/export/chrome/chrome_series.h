// Writes counters and samples of a Chrome trace. Internal to model/export.
#pragma once

#include <set>
#include <string>

#include "../json_writer.h"
#include "chrome_pids.h"
#include "model/export/selection.h"
#include "model/trace/trace.h"

namespace lanescope::exporters {

class ChromeSeries {
 public:
  ChromeSeries(const Trace& trace, const ExportSelection& selection, JsonWriter& json, const ChromePids& pids)
      : trace_(trace), selection_(selection), json_(json), pids_(pids) {}

  // Writes the counter among the events, under its GPU or process, with its unit as the name of its only series. If the counter has no value, an event without
  // a value is written. Returns false if the consumer refuses.
  bool write_counter(CounterId id);

  // Writes the members after the events: each sample refers to its innermost frame, and each frame to its caller. Returns false if the consumer refuses.
  bool write_samples();

 private:
  void write_frames(CallNodeId node);

  const Trace& trace_;
  const ExportSelection& selection_;
  JsonWriter& json_;
  const ChromePids& pids_;
};

}  // namespace lanescope::exporters
