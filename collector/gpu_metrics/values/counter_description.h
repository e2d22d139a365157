// A counter of a GPU, as the trace describes it.
#pragma once

#include "lanescope/trace.pb.h"
#include "samplers/libraries.h"

namespace lanescope::gpu_metrics {

struct CounterDescription {
  const char* name;
  const char* group;
  const char* unit;
  double resolution;  // the value of one integer step, in that unit
  double maximum;     // 0 if none is known
  const char* source;
  const char* description;
};

inline proto::Counter described(const GpuDevice& gpu, const CounterDescription& what) {
  proto::Counter counter;
  counter.set_name(what.name);
  counter.set_group(what.group);
  counter.set_unit(what.unit);
  counter.set_resolution(what.resolution);
  counter.set_maximum(what.maximum);
  counter.set_source_name(what.source);
  counter.set_description(what.description);
  counter.set_gpu_uuid(gpu.uuid);
  return counter;
}

}  // namespace lanescope::gpu_metrics
