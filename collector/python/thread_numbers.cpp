#include "thread_numbers.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

namespace lanescope::python {
namespace {

constexpr std::size_t kThreadStructure = 1024;  // bytes of it in which the number is (glibc: 720, musl: 48 or 56)
constexpr std::size_t kMaximumUnknown = 4096;

}  // namespace

void ThreadNumbers::read_tasks() {
  ours_.clear();
  std::error_code failed;
  std::filesystem::directory_iterator task("/proc/" + std::to_string(process_) + "/task", failed);
  for (; !failed && task != std::filesystem::directory_iterator(); task.increment(failed)) {
    std::ifstream status(task->path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("NSpid:")) continue;
      const std::string number = task->path().filename().string();
      const std::string own = line.substr(line.find_last_of(" \t") + 1);
      std::uint32_t our_number = 0;
      std::uint32_t own_number = 0;
      std::from_chars(number.data(), number.data() + number.size(), our_number);
      std::from_chars(own.data(), own.data() + own.size(), own_number);
      ours_[own_number] = our_number;
      break;
    }
  }
}

std::uint32_t ThreadNumbers::of_native(std::uint64_t own) {
  const auto number = static_cast<std::uint32_t>(own);
  if (const auto known = ours_.find(number); known != ours_.end()) return known->second;
  if (unknown_.contains(number)) return 0;
  read_tasks();
  if (const auto known = ours_.find(number); known != ours_.end()) return known->second;
  if (unknown_.size() >= kMaximumUnknown) unknown_.clear();
  unknown_.insert(number);
  return 0;
}

std::optional<std::uint64_t> ThreadNumbers::find_offset(std::span<const std::uint64_t> threads) {
  std::vector<std::array<std::byte, kThreadStructure>> structures(threads.size());
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < threads.size(); ++i) pieces.push_back({threads[i], std::span(structures[i])});
  memory_.read(pieces);
  read_tasks();
  std::size_t most = threads.size() / 2;  // some may be of threads that have ended
  std::optional<std::uint64_t> best;
  for (std::uint64_t offset = 0; offset < kThreadStructure; offset += sizeof(std::uint32_t)) {
    std::set<std::uint32_t> numbers;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto number = field<std::uint32_t>(structures[i], offset);
      if (pieces[i].was_read && ours_.contains(number)) numbers.insert(number);
    }
    if (numbers.size() <= most) continue;
    most = numbers.size();
    best = offset;
  }
  return best;
}

std::vector<std::uint32_t> ThreadNumbers::of_pthreads(std::span<const std::uint64_t> threads) {
  std::vector<std::uint32_t> result(threads.size());
  if (!offset_) offset_ = find_offset(threads);
  if (!offset_) return result;
  std::vector<std::uint32_t> own(threads.size());
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < threads.size(); ++i) pieces.push_back({threads[i] + *offset_, std::as_writable_bytes(std::span(&own[i], 1))});
  memory_.read(pieces);
  for (std::size_t i = 0; i < threads.size(); ++i)
    if (pieces[i].was_read) result[i] = of_native(own[i]);
  return result;
}

}  // namespace lanescope::python
