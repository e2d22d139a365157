// What is missing of what threads did, and why.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace lanescope::cpu {

class LostRecords {
 public:
  // Samples that the processor dropped.
  void add(std::uint64_t records) noexcept { records_ += records; }
  // What a record of losses says: records for which the kernel had no room. Returns how many of them were not known.
  std::uint64_t add_told(std::uint64_t records) noexcept;
  // All records for which the kernel had no room so far. Its record of losses comes with the next record of the buffer, so without this call the last losses
  // are not known. Returns how many were not known.
  std::uint64_t add_up_to(std::uint64_t all) noexcept;
  // System calls that were under way then: their ends may be among those records.
  void add_calls(std::uint64_t calls) noexcept { calls_ += calls; }
  // A record of a process that is neither known nor there to be asked what it is, since the record of its begin was lost, or since it lived too shortly.
  // Returns whether it counts: threads of a process that is known to have ended pass some last points.
  bool add_of_unknown(std::uint32_t process);

  void process_began(std::uint32_t process) { ended_.erase(process); }
  void process_ended(std::uint32_t process);

  // One for each kind of loss since the last call.
  [[nodiscard]] std::vector<std::string> take_sentences();

 private:
  std::uint64_t records_ = 0;  // since the last call of take_sentences()
  std::uint64_t told_ = 0;     // by records of losses, in all
  std::uint64_t known_ = 0;    // told or counted, in all
  std::uint64_t calls_ = 0;
  std::uint64_t of_unknown_ = 0;
  std::unordered_set<std::uint32_t> ended_;
};

}  // namespace lanescope::cpu
