#include "there/sent_outlines.h"

#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace lanescope::remote {

using namespace std::chrono_literals;

SentOutlines::SentOutlines(Outlines outlines) : outlines_(std::move(outlines)) {}
SentOutlines::~SentOutlines() = default;

std::vector<std::byte> SentOutlines::next(std::uint64_t file_size) {
  constexpr auto kInterval = 5s;
  constexpr int kPauses = 9;  // multiple of the time that making it took
  if (is_making_) {
    if (!is_ready_.exchange(false)) return {};
    thread_.join();
    is_making_ = false;
    due_ = Clock::now() + std::max<Clock::duration>(kInterval, kPauses * taken_);
    return std::exchange(made_, {});
  }
  if (file_size == file_size_ || Clock::now() < due_) return {};
  file_size_ = file_size;
  is_making_ = true;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { make(stop); });
  } catch (const std::system_error&) {  // no further thread may be started for now
    is_making_ = false;
    due_ = Clock::now() + kInterval;
  }
  return {};
}

void SentOutlines::make(const std::stop_token& stop) {
  constexpr int kNice = 10;
  constexpr std::size_t kMost = 128u << 10;  // a second of a link of 1 Mbit/s
  setpriority(PRIO_PROCESS, 0, kNice);       // of this thread alone, on Linux
  const auto begin = Clock::now();
  try {
    made_ = outlines_(kMost, stop);
  } catch (const std::exception&) {  // for want of memory or threads: the file itself is sent as without outlines
    made_.clear();
  }
  taken_ = Clock::now() - begin;
  is_ready_ = true;
}

}  // namespace lanescope::remote
