// Where the code of functions lies in a cubin, an ELF file, as its section headers and its symbol table say. Every place is checked: an image
// may be anything. It is a view of the image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanescope::agent::kernels {

class CubinSections {
 public:
  CubinSections() noexcept = default;  // of no image
  explicit CubinSections(std::span<const std::byte> image) noexcept;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }  // 0: it is no ELF file, or its table lies outside
  struct Extent {
    std::uint64_t offset = 0;  // in the image
    std::uint64_t size = 0;    // bytes, all of them within it
  };
  // Of a section that holds code; empty of another one. Requires: section < count().
  [[nodiscard]] Extent code(std::uint32_t section) const noexcept;
  // That holds the code of the function; 0 where that can't be told.
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
