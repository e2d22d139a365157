// A temporary file without a name, for what memory has no room for: nothing of it is left where the process ends. Internal to model/trace.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "model/file/result.h"

namespace lanescope {

class ScratchFile {
 public:
  // It is made in `folder` when something is appended.
  explicit ScratchFile(std::filesystem::path folder) : folder_(std::move(folder)) {}
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
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace lanescope
