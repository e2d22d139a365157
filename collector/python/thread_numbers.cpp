#include "thread_numbers.h"

#include <array>
#include <set>

namespace lanescope::python {
namespace {

constexpr std::size_t kThreadStructure = 1024;  // bytes of it that contain the number (glibc: at 720, musl: at 48 or 56)

}  // namespace

std::uint32_t ThreadNumbers::of_native(std::uint64_t own) { return numbers_.ours(static_cast<std::uint32_t>(own)); }

std::optional<std::uint64_t> ThreadNumbers::find_offset(std::span<const std::uint64_t> threads) {
  std::vector<std::array<std::byte, kThreadStructure>> structures(threads.size());
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < threads.size(); ++i) pieces.push_back({threads[i], std::span(structures[i])});
  memory_.read(pieces);
  numbers_.look();
  std::size_t most = threads.size() / 2;  // some may belong to threads that have ended
  std::optional<std::uint64_t> best;
  for (std::uint64_t offset = 0; offset < kThreadStructure; offset += sizeof(std::uint32_t)) {
    std::set<std::uint32_t> numbers;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto number = field<std::uint32_t>(structures[i], offset);
      if (pieces[i].was_read && numbers_.knows(number)) numbers.insert(number);
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
