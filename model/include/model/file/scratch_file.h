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

 private:
  [[nodiscard]] Result<void> make();
  std::filesystem::path folder_;
  std::string need_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace lanescope
