#include "collector/attach/own_numbers.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "collector/attach/process_text.h"

namespace lanescope::attach {
namespace {

constexpr std::size_t kMaximumUnknown = 4096;

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// The last of the numbers that the kernel lists: the one in the thread's own namespace.
std::optional<std::uint32_t> own_number(const std::filesystem::path& task) {
  const std::string numbers = status_value(process_text(task / "status"), "NSpid:");
  return number_in(std::string_view(numbers).substr(numbers.find_last_of(" \t") + 1));
}

}  // namespace

bool OwnNumbers::differ() const {
  const std::optional<std::uint32_t> own = own_number("/proc/" + std::to_string(process_));
  return own && *own != static_cast<std::uint32_t>(process_);
}

void OwnNumbers::look() {
  constexpr std::size_t kMaximumKnown = 65'536;  // includes threads that have ended
  if (ours_.size() > kMaximumKnown) ours_.clear();
  std::error_code failed;
  std::filesystem::directory_iterator task("/proc/" + std::to_string(process_) + "/task", failed);
  for (; !failed && task != std::filesystem::directory_iterator(); task.increment(failed)) {
    const std::optional<std::uint32_t> ours = number_in(task->path().filename().native());
    const std::optional<std::uint32_t> own = own_number(task->path());
    if (ours && own) ours_[*own] = *ours;
  }
}

std::uint32_t OwnNumbers::ours(std::uint32_t own) {
  if (const auto known = ours_.find(own); known != ours_.end()) return known->second;
  if (unknown_.contains(own)) return 0;
  look();
  if (const auto known = ours_.find(own); known != ours_.end()) return known->second;
  if (unknown_.size() >= kMaximumUnknown) unknown_.clear();
  unknown_.insert(own);
  return 0;
}

}  // namespace lanescope::attach
