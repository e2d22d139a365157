// Finds the code of functions in a cubin, which is an ELF file, by its section headers and its symbol table. All offsets are checked, because an image may
// contain anything. This is a view of the image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanescope::agent::kernels {

class CubinSections {
 public:
  CubinSections() noexcept = default;  // without an image
  explicit CubinSections(std::span<const std::byte> image) noexcept;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }  // 0: not an ELF file, or its table lies outside
  struct Extent {
    std::uint64_t offset = 0;  // in the image
    std::uint64_t size = 0;    // bytes, all of them within it
  };
  // The code in a section; empty if the section holds no code. Requires: section < count().
  [[nodiscard]] Extent code(std::uint32_t section) const noexcept;
  // The section that holds the code of the function; 0 if unknown.
  [[nodiscard]] std::uint32_t section_of(std::uint32_t symbol) const noexcept;

 private:
  template <typename Number>
  [[nodiscard]] Number at(std::uint64_t place) const noexcept;

  std::span<const std::byte> image_;
  std::uint64_t table_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t symbols_ = 0;  // section of the symbol table; 0: none
};

}  // namespace lanescope::agent::kernels
