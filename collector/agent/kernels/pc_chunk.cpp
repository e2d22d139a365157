#include "agent/kernels/pc_chunk.h"

namespace lanescope::agent::kernels {

void PcChunk::begin(std::int64_t time) noexcept {
  begin_ = time;
  rows_ = 0;
  function_.clear();
  pc_.clear();
  reason_.clear();
  samples_.clear();
  not_issued_.clear();
  losses_ = {};
}

void PcChunk::add(const PcRow& row) noexcept {
  if (full()) {
    losses_.dropped += row.samples;
    return;
  }
  ++rows_;
  function_.add(row.function);
  pc_.add(static_cast<std::int64_t>(row.pc));
  reason_.add(row.reason);
  samples_.add(row.samples);
  not_issued_.add(row.not_issued);
}

void PcChunk::add_losses(const PcLosses& losses) noexcept {
  losses_.dropped += losses.dropped;
  losses_.other_samples += losses.other_samples;
  losses_.buffer_was_full |= losses.buffer_was_full;
}

void PcChunk::write(encode::ProtoWriter& out, std::int64_t begin, std::int64_t end) const noexcept {
  out.signed_field(1, begin);
  out.unsigned_field(2, end > begin ? static_cast<std::uint64_t>(end - begin) : 0);
  function_.write(out, 10);
  pc_.write(out, 11);
  reason_.write(out, 12);
  samples_.write(out, 13);
  not_issued_.write(out, 14, encode::Presence::kIfAnySaysSo);
  out.unsigned_field(15, losses_.dropped);
  out.unsigned_field(16, losses_.other_samples);
  out.unsigned_field(17, losses_.buffer_was_full ? 1 : 0);
}

}  // namespace lanescope::agent::kernels
