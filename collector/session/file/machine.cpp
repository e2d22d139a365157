#include "file/machine.h"

#include <sys/timex.h>
#include <xxhash.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "collector/channel/clock.h"

namespace lanescope::session {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

constexpr double kFrequencyUnit = 65'536;  // of timex.freq: ppm with a 16-bit fraction

proto::TimeKeeping time_keeping() {
  proto::TimeKeeping keeping;
  timex state{};
  const int clock = adjtimex(&state);  // only reads, because modes is 0
  if (clock < 0) return keeping;
  const std::int64_t unit = (state.status & STA_NANO) != 0 ? 1 : 1000;  // of timex.offset
  keeping.set_synchronized(clock != TIME_ERROR && (state.status & STA_UNSYNC) == 0);
  keeping.set_offset(state.offset * unit);
  keeping.set_frequency(static_cast<double>(state.freq) / kFrequencyUnit);
  keeping.set_estimated_error(static_cast<std::uint64_t>(state.esterror) * 1000);
  keeping.set_maximum_error(static_cast<std::uint64_t>(state.maxerror) * 1000);
  return keeping;
}

}  // namespace

std::string machine_id() {
  const std::string id = first_line("/etc/machine-id");
  if (id.empty()) return {};
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(XXH64(id.data(), id.size(), 0)));
  return text.data();
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  return {};
}

std::string driver_version() { return first_line("/sys/module/nvidia/version"); }

proto::ClockSync read_clocks() {
  constexpr int kAttempts = 5;  // another thread may take the processor between two readings: the closest pair is used
  proto::ClockSync best;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::int64_t before = channel::monotonic_now();
    const std::int64_t realtime = channel::realtime_now();
    const std::int64_t raw = channel::clock_now(CLOCK_MONOTONIC_RAW);
    const std::int64_t boottime = channel::clock_now(CLOCK_BOOTTIME);
    const std::int64_t after = channel::monotonic_now();
    if (attempt > 0 && static_cast<std::uint64_t>(after - before) >= best.uncertainty()) continue;
    best.set_monotonic(before + (after - before) / 2);
    best.set_realtime(realtime);
    best.set_monotonic_raw(raw);
    best.set_boottime(boottime);
    best.set_uncertainty(static_cast<std::uint64_t>(after - before));
  }
  *best.mutable_time_keeping() = time_keeping();
  return best;
}

}  // namespace lanescope::session
