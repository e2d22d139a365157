// Code of GPUs that the program loaded, kept until it is known whether anything was sampled of it.
//
// The driver shows each image once, while it is loaded: it is copied there, and what is sampled of later is sent to the host. Those that
// are equal are kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cupti.h>
#include <cupti_pcsampling.h>

#include "agent/core/page_buffer.h"
#include "agent/process/lock.h"

namespace lanescope::agent::kernels {

class CodeObjects {
 public:
  using GetCrc = decltype(&::cuptiGetCubinCrc);
  explicit CodeObjects(GetCrc get_crc) noexcept : get_crc_(get_crc) {}

  // Any thread.
  void add(std::span<const std::byte> image) noexcept;

  // Something was sampled in it. Any thread.
  void want(std::uint64_t crc) noexcept;
  // The number of one that ends in these bits, by which CUPTI's counts of instructions name it; the bits where there is none. Any thread.
  [[nodiscard]] std::uint64_t crc_that_ends_in(std::uint32_t bits) noexcept;
  // The next that is wanted and was not taken. Valid as long as *this; empty where there is none. On the agent's own thread alone.
  struct Image {
    std::uint64_t crc = 0;
    std::span<const std::byte> bytes;
  };
  Image take_wanted() noexcept;
  // Those that were taken are to be taken again.
  void forget_taken() noexcept;
  // Bytes of images for which there was no room.
  [[nodiscard]] std::uint64_t left_out() noexcept;

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // of the target's memory

  enum class State : std::uint8_t { kKept, kWanted, kTaken };
  struct Kept {
    std::uint64_t crc;
    std::byte* bytes;
    std::size_t size;
    State state;
  };
  [[nodiscard]] Kept* find(std::uint64_t crc) noexcept;

  GetCrc get_crc_;
  Lock lock_;
  PageArray<Kept> kept_;
  std::uint64_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace lanescope::agent::kernels
