// Hashes of a file's content, by which two machines find the position from which their copies differ: XXH64 of each block, and of the bytes after the last
// block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "lanescope/remote.pb.h"

struct XXH64_state_s;

namespace lanescope::remote {

inline constexpr std::uint64_t kBlockBytes = 4u << 20;

class BlockSums {
 public:
  BlockSums();
  BlockSums(BlockSums&&) noexcept;
  BlockSums& operator=(BlockSums&&) noexcept;
  ~BlockSums();

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  void append(std::string_view bytes);
  // Appends the bytes of a file from size() up to `end`. Calls `between` after each megabyte. Returns true if all of it could be read; otherwise errno says
  // why, 0 if the file is shorter.
  bool append_file(int descriptor, std::uint64_t end, const std::function<void()>& between = {});
  // Goes back to the state after the first `size` bytes. `descriptor`: the file that has the bytes.
  bool cut(std::uint64_t size, int descriptor);

  [[nodiscard]] std::span<const std::uint64_t> blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t tail() const noexcept;  // of the bytes after the last whole block
  [[nodiscard]] std::uint64_t all() const noexcept;   // of all hashes
  void describe(proto::RemotePosition& position) const;

 private:
  struct Free {
    void operator()(XXH64_state_s* state) const noexcept;
  };
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> blocks_;
  std::unique_ptr<XXH64_state_s, Free> tail_;
};

// The number of bytes at the start of the file that are equal to those of a copy. Calls `between` after each megabyte that was read.
[[nodiscard]] std::uint64_t equal_bytes(const proto::RemotePosition& copy, int descriptor, std::uint64_t size, const std::function<void()>& between);

}  // namespace lanescope::remote
