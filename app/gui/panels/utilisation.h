// How busy GPUs were over time, in equal pieces of time: what a chart is drawn from.
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
  std::string name;            // "GPU 0"
  std::vector<double> shares;  // 0 to 1, of each piece: exact, whatever runs side by side counts once
  std::vector<double> waits;   // of that, where nothing ran but a collective that waited for another rank; none where it never did
};

struct Utilisation {
  TimeRange range;
  std::vector<GpuUtilisation> gpus;
  std::size_t omitted = 0;  // GPUs behind the first kMostGpus: no chart tells more apart
  static constexpr std::size_t kMostGpus = 64;
};

// Of one trace. One thread at a time.
class UtilisationSource {
 public:
  // `communication`: null where waits for other ranks are left out. O(GPU events).
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
