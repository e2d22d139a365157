// Hostile files: very many counters.
#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

void many_counters(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (int source = 0; source < 256 && !file.is_full(); ++source) {
    proto::Resources resources;
    for (std::uint32_t i = 1; i < 20'000; ++i) {
      proto::Counter& counter = *resources.add_counters();
      counter.set_id(i);
      counter.set_name(std::to_string(source) + " " + std::to_string(i));
    }
    file.add(proto::FRAME_RESOURCES, resources, kProcess, source);
  }
}
void samples_of_many_counters(const Path& path, std::size_t bytes) {
  constexpr std::uint32_t kCounters = 60'000;
  FileOfFrames file(path, bytes);
  proto::Resources resources;
  for (std::uint32_t i = 1; i <= kCounters; ++i) {
    resources.add_counters()->set_id(i);
    resources.mutable_counters(static_cast<int>(i) - 1)->set_name(std::to_string(i));
  }
  file.add(proto::FRAME_RESOURCES, resources);
  for (std::int64_t time = 0; !file.is_full(); time += 10) {
    proto::EventChunk chunk = chunk_at(time);
    proto::CounterSamples& samples = *chunk.mutable_counter_samples();
    samples.add_time_delta(0);
    samples.set_last_duration(5);
    for (std::uint32_t i = 1; i <= kCounters; ++i) {
      samples.add_counter(i);
      samples.add_columns()->add_value_delta(time);
    }
    file.add(proto::FRAME_EVENTS, chunk);
  }
}

}  // namespace

std::vector<HostileFile> counters() {
  return {
      {"many_counters", &many_counters},
      {"samples_of_many_counters", &samples_of_many_counters},
  };
}

}  // namespace lanescope::test
