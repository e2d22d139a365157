// A temporary file without a name, for what memory has no room for: nothing of it is left where the process ends.
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

// Where temporary files of any size may lie: the folder that TMPDIR names, else /var/tmp, which is on a disk, where /tmp may be memory.
[[nodiscard]] std::filesystem::path scratch_folder();

class ScratchFile {
 public:
  // It is made in `folder` when something is appended. `need` says in one sentence how much it may take.
  ScratchFile(std::filesystem::path folder, std::string need) : folder_(std::move(folder)), need_(std::move(need)) {}
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // Each fails with one sentence.
  [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);
  // Requires: there are that many from `offset` on.
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Fails where what is written would take memory all the same, as the folder's file system is nothing but memory.
  [[nodiscard]] Result<void> lies_on_disk();
  // Waits until all is on the disk: what is read from then on is what was written.
  [[nodiscard]] Result<void> sync();
  // Puts what is written from `offset` on in place of what memory has at an address, to be read. Whoever reads there meanwhile finds the one or
  // the other. Requires: a part that was written, and is as long; both begin where a page does.
  [[nodiscard]] Result<void> map_over(std::span<std::byte> memory, std::uint64_t offset) const;
  // Gives back the room that a part takes on the disk, where the file system can.
  void forget(std::uint64_t offset, std::uint64_t bytes) noexcept;
  // What is written next follows there. Requires: no more than size().
  void cut(std::uint64_t size) noexcept;

 private:
  [[nodiscard]] Result<void> make();
  std::filesystem::path folder_;
  std::string need_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace lanescope
