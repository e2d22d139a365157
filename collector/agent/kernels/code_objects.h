// Code of GPUs that the program loaded, kept until it is known which of it is wanted.
//
// The driver shows each image once, while it is loaded: it is copied there, and what is sampled of later is sent to the host. Those that
// are equal are kept once. An image may hold thousands of functions of which one is wanted: the others' code is sent as zeros, and again as it
// is once one of them is wanted, too.
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

  // All of it. Any thread.
  void want(std::uint64_t crc) noexcept;
  // Of its code that of one function, by its place in the symbol table, and of those that share its section. Any thread. O(code objects); the
  // first time of each O(sections) more.
  void want(std::uint64_t crc, std::uint32_t function) noexcept;
  // The number of one that ends in these bits, by which CUPTI's counts of instructions name it; the bits where there is none. Any thread.
  [[nodiscard]] std::uint64_t crc_that_ends_in(std::uint32_t bits) noexcept;

  // The next part that is wanted and was not taken, of at most so many bytes: those of one image behind each other from its begin to its end,
  // then parts that take the place of zeros. Valid until the next call; empty where there is none. On the agent's own thread alone.
  struct Part {
    std::uint64_t crc = 0;
    std::uint64_t size = 0;    // bytes of the whole image
    std::uint64_t offset = 0;  // in it
    std::span<const std::byte> bytes;
  };
  Part take_wanted(std::size_t most_bytes) noexcept;
  // Those that were taken are to be taken again, where they are wanted again.
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
    std::uint64_t taken;     // bytes of the image, from its begin
    CubinSections layout;    // once something of it was wanted
    Mark* sections;          // one a section; null: nothing was wanted yet, or it has none
    std::uint32_t count;     // of these
    std::uint64_t replaced;  // bytes that were taken of the first section that is wanted behind the image
    bool is_wanted;          // something is to be taken
  };
  [[nodiscard]] Kept* find(std::uint64_t crc) noexcept;
  static void find_sections(Kept& kept) noexcept;
  Part next_of_image(Kept& kept, std::size_t most_bytes) noexcept;
  static Part next_of_sections(Kept& kept, std::size_t most_bytes) noexcept;

  GetCrc get_crc_;
  Lock lock_;
  PageArray<Kept> kept_;
  PageBuffer part_;  // that was taken last, where some of it is zeros
  std::uint64_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace lanescope::agent::kernels
