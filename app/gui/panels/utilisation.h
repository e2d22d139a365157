// How busy GPUs were over time, in equal pieces of time: the data of a chart.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/trace/trace.h"
#include "timeline/core/lanes/communication_time.h"
#include "timeline/core/pixels/level_content.h"

namespace lanescope::ui {

struct GpuUtilisation {
  GpuId id = kNone;
  std::string name;            // "GPU 0"
  std::vector<double> shares;  // 0 to 1, of each piece; exact: time in which several things run at once counts once
  std::vector<double> waits;   // the part of the share in which only a collective ran that waited for another rank; empty if that never happened
};

struct Utilisation {
  TimeRange range;
  std::vector<GpuUtilisation> gpus;
  std::size_t omitted = 0;  // number of GPUs beyond the first kMostGpus: a chart cannot show more of them distinguishably
  static constexpr std::size_t kMostGpus = 64;
};

// For one trace. Threads: one at a time.
class UtilisationSource {
 public:
  // `communication`: null leaves out waits for other ranks. O(GPU events).
  explicit UtilisationSource(const std::shared_ptr<const Trace>& trace, std::shared_ptr<const timeline::CommunicationTime> communication = nullptr);
  [[nodiscard]] const std::shared_ptr<const Trace>& trace() const { return trace_; }
  // O(GPUs · pieces · log n).
  [[nodiscard]] Utilisation over(TimeRange range, std::size_t pieces) const;

 private:
  [[nodiscard]] std::map<GpuId, std::vector<double>> waitsOf(const std::vector<Nanoseconds>& edges) const;

  std::shared_ptr<const Trace> trace_;
  struct Gpu {
    GpuId id = kNone;
    std::string name;
    timeline::LevelContent work;
  };
  std::vector<Gpu> gpus_;
  std::shared_ptr<const timeline::CommunicationTime> communication_;
  std::size_t omitted_ = 0;
};

}  // namespace lanescope::ui
