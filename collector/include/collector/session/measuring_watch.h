// Which launches programs measure now, and since when. It is told by the records that programs append to their files (collector/channel/kernel_counters.h).
//
// Each look continues where the last one ended, and reads only what starts and ends a measurement. The files belong to the program, which may have put
// anything there: a file that is not regular, or does not make sense, is ignored.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace lanescope::session {

class MeasuringWatch {
 public:
  using Clock = std::chrono::steady_clock;
  // Returns the kernel (mangled) whose measurement has lasted longest, if that is longer than `patience` at `now`. The time counts since it was first seen,
  // by our clock, without times in which nobody looked: we were stopped then, and so was the program, for example by Ctrl+Z. Only processes in `running`
  // count, by instance number, because an unfinished measurement of an ended process blocks nobody. O(new records).
  [[nodiscard]] std::optional<std::string> look(const std::filesystem::path& records, std::span<const std::uint32_t> running, std::chrono::nanoseconds patience,
                                                Clock::time_point now);
  void forget() { files_.clear(); }

 private:
  struct File {
    off_t read = 0;  // bytes
    std::uint32_t correlation = 0;
    std::optional<std::string> kernel;  // the kernel that is measured
    Clock::time_point since;
  };
  static void read_on(const std::filesystem::path& path, File& file, Clock::time_point now);

  std::map<std::filesystem::path, File> files_;
  std::optional<Clock::time_point> last_look_;
};

}  // namespace lanescope::session
