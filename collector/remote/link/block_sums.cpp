#include "link/block_sums.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace lanescope::remote {

BlockSums::BlockSums() : tail_(XXH64_createState()) {
  if (!tail_) throw std::bad_alloc();
  XXH64_reset(tail_.get(), 0);
}
BlockSums::BlockSums(BlockSums&&) noexcept = default;
BlockSums& BlockSums::operator=(BlockSums&&) noexcept = default;
BlockSums::~BlockSums() = default;

void BlockSums::Free::operator()(XXH64_state_s* state) const noexcept { XXH64_freeState(state); }

void BlockSums::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kBlockBytes - size_ % kBlockBytes);
    XXH64_update(tail_.get(), part.data(), part.size());
    size_ += part.size();
    bytes.remove_prefix(part.size());
    if (size_ % kBlockBytes != 0) continue;
    blocks_.push_back(XXH64_digest(tail_.get()));
    XXH64_reset(tail_.get(), 0);
  }
}

bool BlockSums::append_file(int descriptor, std::uint64_t end, const std::function<void()>& between) {
  constexpr std::size_t kPiece = 1u << 20;
  std::vector<char> piece(std::min<std::uint64_t>(kPiece, end - std::min(end, size_)));
  while (size_ < end) {
    errno = 0;
    const ssize_t size = pread(descriptor, piece.data(), std::min<std::uint64_t>(piece.size(), end - size_), static_cast<off_t>(size_));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    append({piece.data(), static_cast<std::size_t>(size)});
    if (between) between();
  }
  return true;
}

bool BlockSums::cut(std::uint64_t size, int descriptor) {
  if (size >= size_) return size == size_;
  blocks_.resize(size / kBlockBytes);
  size_ = blocks_.size() * kBlockBytes;
  XXH64_reset(tail_.get(), 0);
  return append_file(descriptor, size);
}

std::uint64_t BlockSums::tail() const noexcept { return XXH64_digest(tail_.get()); }

std::uint64_t BlockSums::all() const noexcept { return XXH64(blocks_.data(), blocks_.size() * sizeof(blocks_[0]), tail()); }

void BlockSums::describe(proto::RemotePosition& position) const {
  position.set_size(size_);
  position.mutable_blocks()->Assign(blocks_.begin(), blocks_.end());
  position.set_tail(tail());
}

std::uint64_t equal_bytes(const proto::RemotePosition& copy, int descriptor, std::uint64_t size, const std::function<void()>& between) {
  const auto whole = static_cast<std::uint64_t>(copy.blocks_size());
  BlockSums here;
  for (std::uint64_t block = 0; block < whole; ++block) {
    const std::uint64_t begin = block * kBlockBytes;
    if (begin + kBlockBytes > size || !here.append_file(descriptor, begin + kBlockBytes, between)) return begin;
    if (here.blocks().back() != copy.blocks(static_cast<int>(block))) return begin;
  }
  const std::uint64_t begin = whole * kBlockBytes;
  if (copy.size() < begin || copy.size() > size || copy.size() - begin >= kBlockBytes) return begin;
  return here.append_file(descriptor, copy.size(), between) && here.tail() == copy.tail() ? copy.size() : begin;
}

}  // namespace lanescope::remote
