// A PcSamples message while it grows: the samples of one context since the message was begun.
//
// One thread at a time.
#pragma once

#include <cstdint>

#include "agent/encode/column.h"
#include "agent/encode/proto_writer.h"

namespace lanescope::agent::kernels {

struct PcRow {
  std::uint32_t function = 0;  // ids of the message's dictionaries
  std::uint64_t pc = 0;        // bytes from the begin of the function
  std::uint32_t reason = 0;
  std::uint32_t samples = 0;
  std::uint32_t not_issued = 0;
};

struct PcLosses {
  std::uint64_t dropped = 0;
  std::uint64_t other_samples = 0;
  bool buffer_was_full = false;
};

class PcChunk {
 public:
  static constexpr std::uint32_t kMostRows = 65'536;  // limits::kChunkRows

  void begin(std::int64_t time) noexcept;
  [[nodiscard]] std::int64_t begun() const noexcept { return begin_; }
  // Counts the row's samples as dropped if there is no room.
  void add(const PcRow& row) noexcept;
  void add_losses(const PcLosses& losses) noexcept;
  // True if nothing was sampled and nothing was lost.
  [[nodiscard]] bool empty() const noexcept { return rows_ == 0 && losses_.dropped == 0 && losses_.other_samples == 0 && !losses_.buffer_was_full; }
  [[nodiscard]] bool full() const noexcept { return rows_ == kMostRows; }
  // Writes everything except the dictionaries. begin, end: times of the recorder's clock.
  void write(encode::ProtoWriter& out, std::int64_t begin, std::int64_t end) const noexcept;

 private:
  std::int64_t begin_ = 0;
  std::uint32_t rows_ = 0;
  encode::ValueColumn function_;
  encode::DeltaColumn pc_;
  encode::ValueColumn reason_;
  encode::ValueColumn samples_;
  encode::ValueColumn not_issued_;
  PcLosses losses_;
};

}  // namespace lanescope::agent::kernels
