// The memory of another process, which may change at any moment while it is read.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace lanescope::python {

// What is to be read, and whether it was.
struct Piece {
  std::uint64_t address = 0;
  std::span<std::byte> into;
  bool was_read = false;
};

class Memory {
 public:
  virtual ~Memory() = default;
  // All pieces at once, as far as that goes: in their order, within microseconds of each other. A piece is read whole or not at all.
  virtual void read(std::span<Piece> pieces) = 0;

  bool read(std::uint64_t address, std::span<std::byte> into) {
    Piece piece{address, into};
    read(std::span(&piece, 1));
    return piece.was_read;
  }
  template <typename Value>
  std::optional<Value> read(std::uint64_t address) {
    Value value{};
    if (!read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
};

class ProcessMemory final : public Memory {
 public:
  explicit ProcessMemory(pid_t process) : process_(process) {}
  using Memory::read;
  void read(std::span<Piece> pieces) override;
  // Of the last call that read nothing: EPERM where we may not, ESRCH where the process is gone.
  [[nodiscard]] int last_error() const noexcept { return last_error_; }

 private:
  pid_t process_;
  int last_error_ = 0;
};

// A field of a structure that was read; zero where it lies outside.
template <typename Value>
Value field(std::span<const std::byte> structure, std::uint64_t offset) {
  Value value{};
  if (structure.size() >= sizeof(value) && offset <= structure.size() - sizeof(value)) std::memcpy(&value, structure.data() + offset, sizeof(value));
  return value;
}

}  // namespace lanescope::python
