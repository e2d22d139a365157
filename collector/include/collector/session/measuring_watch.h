// Which launches programs measure now, and since when: by the records that they append to their files (collector/channel/kernel_counters.h).
//
// Files are read on from where they were left, and only what begins and ends a measuring. They are the program's, which may have put anything there: what is no
// regular file, or makes no sense, is left alone.
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
  // The kernel (mangled) whose measuring has gone on for longest, if that is longer than `patience` at `now`; since it was first seen, by our clock, without
  // times in which nobody looked: we were stopped then, and so the program, as by Ctrl+Z. Of processes that run, by instance number: what one measured that
  // ended meanwhile holds up nobody. O(new records).
  [[nodiscard]] std::optional<std::string> look(const std::filesystem::path& records, std::span<const std::uint32_t> running, std::chrono::nanoseconds patience,
                                                Clock::time_point now);
  void forget() { files_.clear(); }

 private:
  struct File {
    off_t read = 0;  // bytes
    std::uint32_t correlation = 0;
    std::optional<std::string> kernel;  // that is measured
    Clock::time_point since;
  };
  static void read_on(const std::filesystem::path& path, File& file, Clock::time_point now);

  std::map<std::filesystem::path, File> files_;
  std::optional<Clock::time_point> last_look_;
};

}  // namespace lanescope::session
