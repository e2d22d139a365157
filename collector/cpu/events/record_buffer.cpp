#include "record_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace lanescope::cpu {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

std::optional<RecordBuffer> RecordBuffer::map(int event, std::size_t bytes) {
  for (; bytes >= 2 * page_bytes(); bytes /= 2) {
    void* mapping = mmap(nullptr, bytes + page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (mapping != MAP_FAILED) return RecordBuffer(mapping, bytes);
  }
  return std::nullopt;
}

RecordBuffer::RecordBuffer(RecordBuffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)), bytes_(other.bytes_), wrapped_(std::move(other.wrapped_)) {}

RecordBuffer& RecordBuffer::operator=(RecordBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(bytes_, other.bytes_);
  std::swap(wrapped_, other.wrapped_);
  return *this;
}

RecordBuffer::~RecordBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, bytes_ + page_bytes());
}

void RecordBuffer::take(const std::function<void(const perf_event_header& record)>& use) {
  auto& control = *static_cast<perf_event_mmap_page*>(mapping_);
  const auto* records = static_cast<const std::byte*>(mapping_) + page_bytes();
  const std::uint64_t end = std::atomic_ref(control.data_head).load(std::memory_order_acquire);
  std::uint64_t at = control.data_tail;
  while (at < end) {
    const std::size_t offset = at & (bytes_ - 1);
    const auto* record = reinterpret_cast<const perf_event_header*>(records + offset);  // a header never wraps: records are aligned to 8
    const std::size_t size = record->size;
    if (size < sizeof(perf_event_header)) break;
    if (offset + size > bytes_) {
      wrapped_.resize(size);
      std::memcpy(wrapped_.data(), records + offset, bytes_ - offset);
      std::memcpy(wrapped_.data() + (bytes_ - offset), records, size - (bytes_ - offset));
      record = reinterpret_cast<const perf_event_header*>(wrapped_.data());
    }
    use(*record);
    at += size;
  }
  std::atomic_ref(control.data_tail).store(at, std::memory_order_release);
}

}  // namespace lanescope::cpu
