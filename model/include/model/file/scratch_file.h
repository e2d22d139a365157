// A temporary file without a name, for data that does not fit into memory. Nothing of it remains when the process ends.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "model/file/result.h"

namespace lanescope {

// The folder for temporary files of any size: TMPDIR, else /var/tmp, because that is on a disk, whereas /tmp may be in memory.
[[nodiscard]] std::filesystem::path scratch_folder();

class ScratchFile {
 public:
  // The file is created in `folder` by the first append(). `need` says in one sentence how much space it may take.
  ScratchFile(std::filesystem::path folder, std::string need) : folder_(std::move(folder)), need_(std::move(need)) {}
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // Each fails with one sentence.
  [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);
  // Requires: the file has that many bytes from `offset` on.
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Fails if the folder's file system is in memory, so that the file would take memory.
  [[nodiscard]] Result<void> lies_on_disk();
  // Waits until all data is on the disk.
  [[nodiscard]] Result<void> sync();
  // Maps the file's bytes from `offset` on, read-only, over the memory at an address. Other threads that read there meanwhile see the old or the new bytes.
  // Requires: that part of the file was written, has the same length, and both begin at a page boundary.
  [[nodiscard]] Result<void> map_over(std::span<std::byte> memory, std::uint64_t offset) const;
  // Releases the disk space of a part, if the file system can.
  void forget(std::uint64_t offset, std::uint64_t bytes) noexcept;
  // Sets the size; the next append() continues there. Requires: size <= size().
  void cut(std::uint64_t size) noexcept;

 private:
  [[nodiscard]] Result<void> make();
  std::filesystem::path folder_;
  std::string need_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace lanescope
