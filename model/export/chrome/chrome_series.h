// Counters and samples of a Chrome trace. Internal to model/export.
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

  // Among the events, under the GPU or the process that the counter is of, with its unit as the name of its only series. Where it has no
  // value, an event says none. False when the consumer refuses.
  bool write_counter(CounterId id);

  // Members behind the events: each sample refers to its innermost frame, and each frame to the one that called it. False when the consumer
  // refuses.
  bool write_samples();

 private:
  void write_frames(CallNodeId node);

  const Trace& trace_;
  const ExportSelection& selection_;
  JsonWriter& json_;
  const ChromePids& pids_;
};

}  // namespace lanescope::exporters
