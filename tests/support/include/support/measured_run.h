// A run whose kernel was measured at each launch, with known values.
#pragma once

#include <cstdint>
#include <memory>

#include "model/trace/trace_builder.h"

namespace lanescope::test {

// Launches of "strided", one every 10 ms, that last `milliseconds` +- 2 %. The first hits the L2 cache at `hit_rate` percent, each further one at a
// thousandth more of it. DRAM is busy to 50 % +- 2 %. Each has `grid` blocks of 32 threads.
inline std::shared_ptr<const Trace> measured_run(double milliseconds, std::uint32_t launches, double hit_rate = 80, std::uint32_t grid = 32) {
  constexpr Nanoseconds kMillisecond = 1'000'000;
  TraceBuilder builder;
  const ProcessId process = builder.process_of_instance(1);
  const TrackKey kernels{.kind = TrackKind::kKernels, .process = process, .gpu = builder.gpu_of_device(process, 0), .context = 1, .stream = 7};
  const std::uint32_t duration = builder.kernel_metric("gpu__time_duration.sum");
  const std::uint32_t dram = builder.kernel_metric("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
  const std::uint32_t hits = builder.kernel_metric("lts__t_sector_hit_rate.pct");
  KernelDetail shape;
  shape.grid[0] = grid;
  shape.block[0] = 32;
  shape.grid[1] = shape.grid[2] = shape.block[1] = shape.block[2] = 1;
  const DetailId detail = builder.intern(shape);
  for (std::uint32_t i = 0; i < launches; ++i) {
    const double noise = 1 + 0.01 * (static_cast<double>(i % 5) - 2);
    const double time = milliseconds * noise * kMillisecond;
    builder.add(kernels, {Event{i * 10 * kMillisecond, static_cast<Nanoseconds>(time), builder.intern("strided"), i + 1, detail}});
    builder.add(MeasuredLaunch{process, i + 1, KernelReplay::kOnePass, 1, {}, 0, {{duration, time}, {dram, 50 * noise}, {hits, hit_rate * (1 + 0.001 * i)}}});
  }
  return builder.snapshot();
}

}  // namespace lanescope::test
