// The memory of another process (/proc/PID/mem), and the symbols of what is loaded in it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lanescope::attach {

class RemoteMemory {
 public:
  // Not is_open() when we may not, or the process is gone.
  explicit RemoteMemory(pid_t pid);
  ~RemoteMemory();
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

  // All or nothing.
  bool read(std::uint64_t address, std::span<std::byte> into) const;
  bool write(std::uint64_t address, std::span<const std::byte> bytes) const;

  template <typename T>
  [[nodiscard]] std::optional<T> read(std::uint64_t address) const {
    T value{};
    if (!read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }

 private:
  int descriptor_;
};

// Where the ELF file that begins at `base` defines the function `symbol` for others, by its hash table as the loader reads it. No file is
// opened, so it makes no difference in which mount namespace the file lies or whether it was replaced since.
std::optional<std::uint64_t> find_function(const RemoteMemory& memory, std::uint64_t base, std::string_view symbol);

}  // namespace lanescope::attach
