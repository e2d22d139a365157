#include "lost_records.h"

#include <utility>

namespace lanescope::cpu {

std::uint64_t LostRecords::add_told(std::uint64_t records) noexcept {
  told_ += records;
  return add_up_to(told_);
}

std::uint64_t LostRecords::add_up_to(std::uint64_t all) noexcept {
  if (all <= known_) return 0;
  const std::uint64_t unknown = all - std::exchange(known_, all);
  records_ += unknown;
  return unknown;
}

bool LostRecords::add_of_unknown(std::uint32_t process) {
  if (ended_.contains(process)) return false;
  ++of_unknown_;
  return true;
}

void LostRecords::process_ended(std::uint32_t process) {
  constexpr std::size_t kMost = 65'536;
  if (ended_.size() == kMost) ended_.clear();
  ended_.insert(process);
}

std::vector<std::string> LostRecords::take_sentences() {
  std::vector<std::string> sentences;
  if (const std::uint64_t records = std::exchange(records_, 0); records > 0)
    sentences.push_back(std::to_string(records) +
                        " records of threads were lost: they came faster than they could be read. Sample less often "
                        "(--sampling-frequency), or leave switches out (--cpuctxsw=none).");
  if (const std::uint64_t calls = std::exchange(calls_, 0); calls > 0)
    sentences.push_back(std::to_string(calls) + " system calls are missing: they were under way when records of threads were lost.");
  if (const std::uint64_t records = std::exchange(of_unknown_, 0); records > 0)
    sentences.push_back(std::to_string(records) +
                        " records are missing of processes that had ended before it was known what they are: the records of their begin were lost, or they "
                        "lived too shortly.");
  return sentences;
}

}  // namespace lanescope::cpu
