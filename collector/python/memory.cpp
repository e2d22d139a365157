#include "memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace lanescope::python {
namespace {

constexpr std::size_t kMaximumPieces = 512;  // in one call; the kernel permits 1024

}  // namespace

void ProcessMemory::read(std::span<Piece> pieces) {
  std::array<iovec, kMaximumPieces> here;
  std::array<iovec, kMaximumPieces> there;
  while (!pieces.empty()) {
    const std::size_t count = std::min(pieces.size(), kMaximumPieces);
    for (std::size_t i = 0; i < count; ++i) {
      here[i] = {pieces[i].into.data(), pieces[i].into.size()};
      there[i] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].into.size()};
    }
    const ssize_t result = process_vm_readv(process_, here.data(), count, there.data(), count, 0);
    if (result < 0) last_error_ = errno;
    if (result < 0 && errno != EFAULT) return;  // EFAULT: not even the first piece could be read
    std::size_t left = result < 0 ? 0 : static_cast<std::size_t>(result);
    std::size_t done = 0;
    for (; done < count && left >= pieces[done].into.size(); ++done) {
      left -= pieces[done].into.size();
      pieces[done].was_read = true;
    }
    // The kernel stops at the first piece that it can't read; the following pieces may be readable.
    pieces = pieces.subspan(std::min(done < count ? done + 1 : done, pieces.size()));
  }
}

}  // namespace lanescope::python
