// The bytes of a text file, decompressed where it is gzip. Internal to model/import.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "../import_limits.h"
#include "model/file/result.h"

namespace lanescope::importers {

class TextSource {
 public:
  // Plain files are read by the caller's thread, gzip is decompressed ahead by a thread of its own.
  static Result<std::unique_ptr<TextSource>> open(const std::filesystem::path& path);
  virtual ~TextSource() = default;

  // Fills `into` as far as the text goes: less than asked for only at its end.
  virtual std::size_t read(std::span<char> into) = 0;

  // What is wrong with the file, as the end of a sentence; empty when nothing is. Final once read() came to the end.
  [[nodiscard]] virtual std::string damage() const = 0;

  [[nodiscard]] ImportLimits limits() const noexcept { return ImportLimits(size_); }

  // How much of the file has been read, 0 to 1. Any thread.
  [[nodiscard]] double fraction() const noexcept {
    return size_ == 0 ? 1.0 : static_cast<double>(position_.load(std::memory_order_relaxed)) / static_cast<double>(size_);
  }

 protected:
  explicit TextSource(std::uint64_t size) : size_(size) {}
  std::uint64_t size_;
  std::atomic<std::uint64_t> position_ = 0;
};

// Decompresses the beginning of a gzip file, as far as the bytes given reach. Empty when they are not gzip.
[[nodiscard]] std::string beginning_of_gzip(std::string_view head);

}  // namespace lanescope::importers
