// What observes programs from outside: the recorder of threads, and the samplers of GPU metrics and of the machine's networks and disks. A recording
// continues without any of them, and says why.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <vector>

#include "collector/cpu/recorder.h"
#include "collector/machine_metrics/sampler.h"
#include "collector/session/recording.h"
#include "lanescope/trace.pb.h"
#include "outside/gpu_metrics_process.h"

namespace lanescope::session {

// How a process is followed: cpu::Recorder::launch follows it from its exec on, cpu::Recorder::attach from now on.
using FollowThreads = decltype(&cpu::Recorder::launch);

enum class Watched { kNo, kYes };  // somebody sees the recording while it is made

// The time between two chunks of recorded events.
inline constexpr std::chrono::milliseconds kWatchedFlush{100};
inline constexpr std::chrono::milliseconds kUnwatchedFlush{500};

// Each returns null if it is not asked for, or can't be had; the reason is then added to `refusals`. follow_threads() fails if the request makes no sense.
Result<std::unique_ptr<cpu::Recorder>> follow_threads(FollowThreads follow, pid_t pid, const cpu::CpuSettings& settings, cpu::Start start, Watched watched,
                                                      std::vector<proto::Diagnostic>& refusals);
std::unique_ptr<GpuMetricsProcess> gpu_metrics_for(const GpuMetricsSettings& settings, std::vector<proto::Diagnostic>& refusals);
std::unique_ptr<machine_metrics::Sampler> machine_metrics_for(const machine_metrics::Settings& settings, std::vector<proto::Diagnostic>& refusals);

}  // namespace lanescope::session
