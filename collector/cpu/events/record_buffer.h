// Memory to which the kernel writes records of events, and from which we take them.
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
  // Maps the buffer of an event, of at most so many bytes (a power of two): less where the system grants less. None where it grants
  // nothing; errno says why.
  static std::optional<RecordBuffer> map(int event, std::size_t bytes);

  RecordBuffer(RecordBuffer&& other) noexcept;
  RecordBuffer& operator=(RecordBuffer&& other) noexcept;
  ~RecordBuffer();

  // Hands out every whole record that is there, in the order in which it was written, and gives their room back. A record is valid
  // during the call alone.
  void take(const std::function<void(const perf_event_header& record)>& use);

 private:
  RecordBuffer(void* mapping, std::size_t bytes) : mapping_(mapping), bytes_(bytes) {}
  void* mapping_ = nullptr;
  std::size_t bytes_ = 0;           // of records, without the page in front of them
  std::vector<std::byte> wrapped_;  // a record that goes on at the buffer's start
};

}  // namespace lanescope::cpu
