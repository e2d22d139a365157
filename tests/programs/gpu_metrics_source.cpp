// Replaces lanescope-gpu-metrics on machines without a GPU: the same frames and the same answers to a session, with known values.
//
// One GPU with two counters, a reading each millisecond by the clock: "Ramp" counts readings, and "Level" is always 42.5 %. With --refuse it reports that it
// may not sample, and samples nothing.
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"

namespace {

using namespace lanescope;

constexpr std::int64_t kPeriod = 1'000'000;  // ns
constexpr char kUuid[] = "0123456789abcdef";

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void write_frame(proto::FrameType type, const google::protobuf::MessageLite& message) {
  FrameHeader header;
  header.type = static_cast<std::uint16_t>(type);
  header.source = proto::SOURCE_GPU_METRICS;
  std::vector<std::byte> bytes;
  append_frame(header, message.SerializeAsString(), bytes);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data() + done, bytes.size() - done);
    if (written <= 0) _exit(0);  // nobody reads any more
    done += static_cast<std::size_t>(written);
  }
}

void define() {
  proto::Resources resources;
  proto::Device& device = *resources.add_devices();
  device.set_name("Imaginary GPU");
  device.set_uuid(kUuid);
  for (const char* name : {"Ramp", "Level"}) {
    proto::Counter& counter = *resources.add_counters();
    counter.set_id(std::strcmp(name, "Ramp") == 0 ? 1 : 2);
    counter.set_name(name);
    counter.set_group("Test");
    counter.set_unit(counter.id() == 1 ? "" : "%");
    counter.set_resolution(counter.id() == 1 ? 1 : 0.5);
    counter.set_gpu_uuid(kUuid);
  }
  write_frame(proto::FRAME_RESOURCES, resources);
}

void refuse() {
  proto::Diagnostic diagnostic;
  diagnostic.set_time(now());
  diagnostic.set_severity(proto::SEVERITY_WARNING);
  diagnostic.set_component(proto::COMPONENT_GPU_METRICS);
  diagnostic.set_state(proto::STATE_NO_PERMISSION);
  diagnostic.set_text("The performance monitors of this imaginary GPU are for administrators.");
  write_frame(proto::FRAME_DIAGNOSTIC, diagnostic);
}

// Emits all readings that are due; `next` is the time of the first one that is not, and `number` its value.
void sample(std::int64_t& next, std::int64_t& number) {
  proto::EventChunk chunk;
  proto::CounterSamples& samples = *chunk.mutable_counter_samples();
  chunk.set_base_time(next);
  for (int i = 0; i < 2; ++i) {
    samples.add_counter(static_cast<std::uint32_t>(i) + 1);
    samples.add_columns();
  }
  for (bool first = true; next + kPeriod <= now(); first = false, next += kPeriod, ++number) {
    samples.add_time_delta(first ? 0 : kPeriod);
    samples.mutable_columns(0)->add_value_delta(first ? number : 1);
    samples.mutable_columns(1)->add_value_delta(first ? 85 : 0);
  }
  samples.set_last_duration(kPeriod);
  if (samples.time_delta_size() > 0) write_frame(proto::FRAME_EVENTS, chunk);
}

}  // namespace

int main(int count, char** arguments) {
  const bool refuses = count > 1 && std::strcmp(arguments[1], "--refuse") == 0;
  std::int64_t next = now();
  std::int64_t number = 0;
  refuses ? refuse() : define();
  write_frame(proto::FRAME_UNKNOWN, proto::Resources());
  pollfd input{STDIN_FILENO, POLLIN, 0};
  for (;;) {
    const bool asked = poll(&input, 1, 20) > 0;
    if (!refuses) sample(next, number);
    if (!asked) continue;
    char commands[16];
    const ssize_t got = read(STDIN_FILENO, commands, sizeof(commands));
    if (got <= 0) return 0;
    for (ssize_t i = 0; i < got; ++i) write_frame(proto::FRAME_UNKNOWN, proto::Resources());
  }
}
