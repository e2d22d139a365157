// GPU code that the program loaded, kept until it is known which parts are wanted.
//
// The driver shows each image once, while it loads it: the image is copied then, and code that is sampled later is sent to the host. Equal images are kept
// once. An image may hold thousands of functions of which one is wanted: the code of the others is sent as zeros, and sent again, complete, if one of them is
// wanted later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cupti.h>
#include <cupti_pcsampling.h>

#include "agent/core/memory/page_buffer.h"
#include "agent/kernels/cubin_sections.h"
#include "agent/process/lock.h"

namespace lanescope::agent::kernels {

class CodeObjects {
 public:
  using GetCrc = decltype(&::cuptiGetCubinCrc);
  explicit CodeObjects(GetCrc get_crc) noexcept : get_crc_(get_crc) {}

  // Any thread.
  void add(std::span<const std::byte> image) noexcept;

  // Wants the whole image. Any thread.
  void want(std::uint64_t crc) noexcept;
  // Wants the code of one function, by its index in the symbol table, and of the functions in the same section. Any thread. O(code objects), and O(sections)
  // more the first time for each.
  void want(std::uint64_t crc, std::uint32_t function) noexcept;
  // The number of an image that ends in these bits, by which CUPTI's counts of instructions name it; the bits themselves if there is none. Any thread.
  [[nodiscard]] std::uint64_t crc_that_ends_in(std::uint32_t bits) noexcept;

  // The next part that is wanted and was not taken, of at most `most_bytes` bytes: first the parts of one image in order from its begin to its end, then parts
  // that replace zeros. Valid until the next call; empty if there is none. Only on the agent's own thread.
  struct Part {
    std::uint64_t crc = 0;
    std::uint64_t size = 0;    // bytes of the whole image
    std::uint64_t offset = 0;  // in the whole image
    std::span<const std::byte> bytes;
  };
  Part take_wanted(std::size_t most_bytes) noexcept;
  // Parts that were taken are taken again if they are wanted again.
  void forget_taken() noexcept;
  // Bytes of images for which there was no room.
  [[nodiscard]] std::uint64_t left_out() noexcept;

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // of the target's memory

  enum class Mark : std::uint8_t { kUnwanted, kWanted, kTaken };
  struct Kept {
    std::uint64_t crc;
    std::byte* bytes;
    std::size_t size;
    std::uint64_t taken;     // bytes of the image, from its beginning
    CubinSections layout;    // set once something of it was wanted
    Mark* sections;          // one per section; null: nothing was wanted yet, or it has no sections
    std::uint32_t count;     // number of sections
    std::uint64_t replaced;  // bytes taken of the first section that is wanted after the image was sent
    bool is_wanted;          // something must be taken
  };
  [[nodiscard]] Kept* find(std::uint64_t crc) noexcept;
  static void find_sections(Kept& kept) noexcept;
  Part next_of_image(Kept& kept, std::size_t most_bytes) noexcept;
  static Part next_of_sections(Kept& kept, std::size_t most_bytes) noexcept;

  GetCrc get_crc_;
  Lock lock_;
  PageArray<Kept> kept_;
  PageBuffer part_;  // the last part that was taken, if some of it is zeros
  std::uint64_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace lanescope::agent::kernels
