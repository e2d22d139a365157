// The memory of another process, which may change at any moment while it is read.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace lanescope::python {

// A piece of memory to read, and whether it was read.
struct Piece {
  std::uint64_t address = 0;
  std::span<std::byte> into;
  bool was_read = false;
};

class Memory {
 public:
  virtual ~Memory() = default;
  // Reads all pieces that can be read, in their order, within microseconds of each other. A piece is read completely or not at all.
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
  // Error of the last call that read nothing: EPERM if we may not read, ESRCH if the process has ended.
  [[nodiscard]] int last_error() const noexcept { return last_error_; }

 private:
  pid_t process_;
  int last_error_ = 0;
};

// A field of a structure that was read; zero if the field is not within the bytes.
template <typename Value>
Value field(std::span<const std::byte> structure, std::uint64_t offset) {
  Value value{};
  if (structure.size() >= sizeof(value) && offset <= structure.size() - sizeof(value)) std::memcpy(&value, structure.data() + offset, sizeof(value));
  return value;
}

}  // namespace lanescope::python
