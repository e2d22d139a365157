// Memory that the kernel writes records of events to, and that we read them from.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace lanescope::cpu {

class RecordBuffer {
 public:
  // Maps the buffer of an event, of at most `bytes` bytes (a power of two); fewer if the system grants fewer. Returns nothing if the system grants
  // none; errno has the reason.
  static std::optional<RecordBuffer> map(int event, std::size_t bytes);

  RecordBuffer(RecordBuffer&& other) noexcept;
  RecordBuffer& operator=(RecordBuffer&& other) noexcept;
  ~RecordBuffer();

  // Hands out every complete record in the order of writing, and gives their room back. A record is valid only during the call of `use`.
  void take(const std::function<void(const perf_event_header& record)>& use);

 private:
  RecordBuffer(void* mapping, std::size_t bytes) : mapping_(mapping), bytes_(bytes) {}
  void* mapping_ = nullptr;
  std::size_t bytes_ = 0;           // of records, without the page before them
  std::vector<std::byte> wrapped_;  // copy of a record that continues at the buffer's start
};

}  // namespace lanescope::cpu
