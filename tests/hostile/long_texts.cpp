// Hostile files: long texts that are not names of events, which many objects have, or one object again and again.
#include "chunks.h"
#include "kinds.h"
#include "lanescope/kernel_metrics.pb.h"

namespace lanescope::test {
namespace {

constexpr std::size_t kLong = 8u << 20;  // bytes of a text

// As many objects as a file may have in memory, each with a different text: `tell(number, text)`.
template <typename Tell>
void fill_with_long_texts(FileOfFrames& file, std::size_t text_bytes, Tell tell) {
  for (std::uint32_t number = 1; !file.is_full(); ++number) {
    std::string text = std::to_string(number);
    text.resize(text_bytes, 'x');
    tell(number, text);
  }
}

void long_executables(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_long_texts(file, 9'000, [&](std::uint32_t number, const std::string& text) {
    proto::ProcessStart start;
    start.set_executable(text);
    file.add(proto::FRAME_PROCESS_START, start, number);
  });
}
void long_messages(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_long_texts(file, 4'000, [&](std::uint32_t, const std::string& text) {
    proto::Diagnostic message;
    message.set_text(text);
    file.add(proto::FRAME_DIAGNOSTIC, message);
  });
}
void long_stream_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_long_texts(file, 4'000, [&](std::uint32_t number, const std::string& text) {
    proto::Resources resources;
    resources.add_streams()->set_id(number);
    resources.mutable_streams(0)->set_name(text);
    file.add(proto::FRAME_RESOURCES, resources);
  });
}
// Names of GPUs that had none before.
void long_gpu_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  constexpr std::uint32_t kGpus = 300;
  proto::Resources resources;
  for (std::uint32_t i = 0; i < kGpus; ++i) resources.add_devices()->set_id(i);
  file.add(proto::FRAME_RESOURCES, resources);
  fill_with_long_texts(file, 1'500'000, [&](std::uint32_t number, const std::string& text) {
    proto::Resources named;
    named.add_devices()->set_id(number % kGpus);
    named.mutable_devices(0)->set_name(text);
    named.mutable_devices(0)->set_uuid(text);
    file.add(proto::FRAME_RESOURCES, named);
  });
}
// The session starts again and again; each start repeats its labels and adds more.
void labels_of_many_sessions(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::SessionStart start;
  start.set_epoch(kEpoch);
  for (int i = 0; i < 500'000; ++i) start.add_labels();
  file.fill_with(proto::FRAME_SESSION_START, start);
}
// Each chunk of states names its thread by a name that contains the program's.
void states_of_a_long_program(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::ProcessStart start;
  start.set_executable(std::string(kLong, 'x'));
  file.add(proto::FRAME_PROCESS_START, start);
  for (std::int64_t time = 0; !file.is_full(); time += 10) {
    proto::EventChunk chunk = chunk_at(time);
    proto::ThreadStates& states = *chunk.mutable_thread_states();
    states.set_thread(5);
    states.add_start_delta(0);
    states.add_duration(1);
    states.add_state(1);
    states.add_processor(1);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}
void kernels_left_out(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::KernelMetrics metrics;
  for (int i = 0; i < 400'000; ++i) metrics.add_left_out()->set_kernel("_Z1fN1aI1bEE");
  file.fill_with(proto::FRAME_KERNEL_METRICS, metrics);
}

}  // namespace

std::vector<HostileFile> long_texts() {
  return {
      {"long_executables", &long_executables},
      {"long_messages", &long_messages},
      {"long_stream_names", &long_stream_names},
      {"long_gpu_names", &long_gpu_names},
      {"labels_of_many_sessions", &labels_of_many_sessions},
      {"states_of_a_long_program", &states_of_a_long_program},
      {"kernels_left_out", &kernels_left_out},
  };
}

}  // namespace lanescope::test
