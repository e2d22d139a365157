// What is in a file, so that two machines can tell from where on their copies differ: XXH64 of each block, and of what follows the last.
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
  // Takes in what a file has at size(), up to `end`. Calls `between` after each megabyte. Returns whether so much could be read;
  // errno says why not, 0 where the file has less.
  bool append_file(int descriptor, std::uint64_t end, const std::function<void()>& between = {});
  // As if only the first bytes had come, of the file that they were written to.
  bool cut(std::uint64_t size, int descriptor);

  [[nodiscard]] std::span<const std::uint64_t> blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t tail() const noexcept;  // of what follows the last whole block
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

// How many first bytes of the file are the same as those of a copy. Calls `between` after each megabyte that was read.
[[nodiscard]] std::uint64_t equal_bytes(const proto::RemotePosition& copy, int descriptor, std::uint64_t size, const std::function<void()>& between);

}  // namespace lanescope::remote
