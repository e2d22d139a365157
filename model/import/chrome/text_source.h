// The bytes of a text file, decompressed if it is gzip. Internal to model/import.
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
  // Plain files are read by the caller's thread; gzip is decompressed ahead by a separate thread.
  static Result<std::unique_ptr<TextSource>> open(const std::filesystem::path& path);
  virtual ~TextSource() = default;

  // Fills `into`; fills less only at the end of the text.
  virtual std::size_t read(std::span<char> into) = 0;

  // Describes damage of the file, as the end of a sentence; empty if there is none. Final once read() has reached the end.
  [[nodiscard]] virtual std::string damage() const = 0;

  [[nodiscard]] ImportLimits limits() const noexcept { return ImportLimits(size_); }
  enum class Form : std::uint8_t { kPlain, kGzip };
  [[nodiscard]] Form form() const noexcept { return form_; }

  // The fraction of the file that was read, 0 to 1. Any thread.
  [[nodiscard]] double fraction() const noexcept {
    return size_ == 0 ? 1.0 : static_cast<double>(position_.load(std::memory_order_relaxed)) / static_cast<double>(size_);
  }

 protected:
  TextSource(std::uint64_t size, Form form) : size_(size), form_(form) {}
  std::uint64_t size_;
  Form form_;
  std::atomic<std::uint64_t> position_ = 0;
};

// Decompresses the beginning of a gzip file, as far as the given bytes allow. Empty if they are not gzip.
[[nodiscard]] std::string beginning_of_gzip(std::string_view head);

}  // namespace lanescope::importers
