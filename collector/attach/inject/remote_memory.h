// The memory of another process (/proc/PID/mem), and the symbols of the files loaded in it.
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
  // is_open() is false if access is not permitted, or the process has ended.
  explicit RemoteMemory(pid_t pid);
  ~RemoteMemory();
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

  // Reads or writes all bytes or fails.
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

// The address of the exported function `symbol` in the ELF file that begins at `base`, by its hash table as the loader reads it. No file is opened,
// so neither the mount namespace nor a replaced file matters.
std::optional<std::uint64_t> find_function(const RemoteMemory& memory, std::uint64_t base, std::string_view symbol);

}  // namespace lanescope::attach
