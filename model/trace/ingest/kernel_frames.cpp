#include <algorithm>
#include <limits>

#include "chunk_target.h"
#include "columns.h"

namespace lanescope {

bool ingest(const ChunkTarget& into, const proto::PcSamples& samples) {
  const int n = samples.function_size();
  if (!same_length(n, samples.pc_delta(), samples.reason(), samples.samples()) || !same_length_or_empty(n, samples.not_issued())) return false;
  const Nanoseconds end = sum(into.base_time, static_cast<std::int64_t>(samples.duration()));
  if (!is_near(into.base_time) || !is_near(end) || end < into.base_time) return false;
  PcSampleWindow window;
  window.process = into.process;
  window.gpu = into.builder.gpu_of_device(into.process, samples.device());
  window.context = samples.context();
  window.time = {into.base_time, end};
  window.period = samples.period();
  window.dropped = samples.dropped();
  window.other_samples = samples.other_samples();
  window.buffer_was_full = samples.buffer_was_full();
  constexpr std::uint64_t kLongest = 86'400'000'000'000;  // a day
  window.every = static_cast<Nanoseconds>(std::min(samples.every(), kLongest));
  window.samples.reserve(static_cast<std::size_t>(n));
  std::int64_t pc = 0;
  for (int i = 0; i < n; ++i) {
    pc = sum(pc, samples.pc_delta(i));
    const std::uint32_t function = into.dictionary.gpu_functions[samples.function(i)];
    const std::uint32_t reason = into.dictionary.stall_reasons[samples.reason(i)];
    // The function was named in a lost frame, or the position is outside of any function.
    if (function == 0 || reason == 0 || pc < 0 || pc > std::numeric_limits<std::uint32_t>::max()) {
      window.dropped += samples.samples(i);
      continue;
    }
    window.samples.push_back({function - 1, reason - 1, static_cast<std::uint32_t>(pc), samples.samples(i), optional_value(samples.not_issued(), i)});
  }
  into.builder.add(std::move(window));
  return true;
}

}  // namespace lanescope
