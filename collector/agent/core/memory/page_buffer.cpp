#include "agent/core/memory/page_buffer.h"

#include <sys/mman.h>

#include "agent/core/system_calls.h"

namespace lanescope::agent {
namespace {

constexpr std::size_t kFirstBytes = 16u << 10;

}  // namespace

PageBuffer::~PageBuffer() {
  if (data_ != nullptr) system::unmap(data_, capacity_);
}

bool PageBuffer::grow(std::size_t more) noexcept {
  std::size_t capacity = capacity_ == 0 ? kFirstBytes : capacity_ * 2;
  while (capacity - size_ < more) capacity *= 2;
  void* pages =
      data_ == nullptr ? system::map(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1) : system::remap(data_, capacity_, capacity);
  if (pages == nullptr) {
    failed_ = true;
    return false;
  }
  data_ = static_cast<std::byte*>(pages);
  capacity_ = capacity;
  return true;
}

}  // namespace lanescope::agent
