// Hostile files: very many objects that have events: streams, devices, threads, domains.
#include <cstring>

#include "chunks.h"
#include "kinds.h"

namespace lanescope::test {
namespace {

void many_streams(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kStreams = 8'192;
    chunk.set_first_queue(next);
    for (std::uint32_t i = 0; i < kStreams; ++i) chunk.add_queues()->set_stream(next + i);
    proto::Kernels& kernels = kernels_in(chunk, kStreams);
    kernels.clear_queue();
    count_up(*kernels.mutable_queue(), next, kStreams);
    next += kStreams;
  });
}
void many_streams_of_own_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kStreams = 8'192;
    chunk.set_first_queue(next);
    chunk.set_first_string(next);
    for (std::uint32_t i = 0; i < kStreams; ++i) {
      chunk.add_queues()->set_stream(next + i);
      chunk.add_strings(std::to_string(next + i));
    }
    proto::Kernels& kernels = kernels_in(chunk, kStreams);
    kernels.clear_queue();
    kernels.clear_name();
    count_up(*kernels.mutable_queue(), next, kStreams);
    count_up(*kernels.mutable_name(), next, kStreams);
    next += kStreams;
  });
}
void many_devices_of_events(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kDevices = 8'192;
    chunk.set_first_queue(next);
    for (std::uint32_t i = 0; i < kDevices; ++i) chunk.add_queues()->set_device(next + i);
    proto::Kernels& kernels = kernels_in(chunk, kDevices);
    kernels.clear_queue();
    count_up(*kernels.mutable_queue(), next, kDevices);
    next += kDevices;
  });
}
void many_stream_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) {
    resources.add_streams()->set_id(i);
    resources.mutable_streams(resources.streams_size() - 1)->set_name("s");
  });
}
void many_devices(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_devices()->set_id(i); });
}
void many_gpus(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(
      file,
      [](proto::Resources& resources, std::uint32_t i) {
        proto::Device& device = *resources.add_devices();
        device.set_id(0);
        std::string uuid(16, 'u');
        std::memcpy(uuid.data(), &i, sizeof(i));
        device.set_uuid(uuid);
        device.set_name("GPU");
      },
      0);
}
void many_contexts(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_contexts()->set_id(i); });
}
void many_cuda_names(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) {
    resources.add_cuda_names()->set_id(i);
    resources.mutable_cuda_names(resources.cuda_names_size() - 1)->set_resource(proto::CUDA_RESOURCE_EVENT);
  });
}
void many_named_cuda_events(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  proto::Resources resources;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    resources.add_cuda_names()->set_id(i);
    resources.mutable_cuda_names(resources.cuda_names_size() - 1)->set_resource(proto::CUDA_RESOURCE_EVENT);
  }
  file.add(proto::FRAME_RESOURCES, resources);
  fill_with_chunks(file, kChunkSpan, [](proto::EventChunk& chunk) {
    proto::CudaEvents& events = *chunk.mutable_cuda_events();
    repeat(*events.mutable_time_delta(), std::int64_t{1});
    repeat(*events.mutable_queue(), 0u);
    repeat(*events.mutable_event(), 19'999u);
    repeat(*events.mutable_record(), std::uint64_t{0});
    repeat(*events.mutable_correlation_delta(), std::int64_t{0});
  });
}
void many_domains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_nvtx_domains()->set_id(i); });
}
void ranges_of_many_domains(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t domain = 1; !file.is_full(); ++domain) {
    proto::Resources resources;
    resources.add_nvtx_domains()->set_id(domain);
    resources.mutable_nvtx_domains(0)->set_name("d");
    file.add(proto::FRAME_RESOURCES, resources);
    proto::EventChunk chunk = chunk_at(domain);
    ranges_in(chunk, proto::NVTX_PUSH_POP, 1).set_domain(domain);
    file.add(proto::FRAME_EVENTS, chunk, kProcess, 0, 1);
  }
}
void many_categories(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_nvtx_categories()->set_id(i); });
}
void many_threads(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  fill_with_resources(file, [](proto::Resources& resources, std::uint32_t i) { resources.add_threads()->set_id(i); });
}
void calls_of_many_threads(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kThreads = 8'192;
    proto::Spans& spans = *chunk.mutable_os_runtime();
    repeat(*spans.mutable_start_delta(), std::int64_t{2}, kThreads);
    repeat(*spans.mutable_duration(), std::uint64_t{1}, kThreads);
    repeat(*spans.mutable_name(), 0u, kThreads);
    count_up(*spans.mutable_thread(), next, kThreads);
    next += kThreads;
  });
}
void many_processes(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t process = 2; !file.is_full(); ++process) {
    proto::EventChunk chunk = chunk_at(process);
    kernels_in(chunk, 1);
    file.add(proto::FRAME_EVENTS, chunk, process, 0, 1);
  }
}
void many_sources(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  for (std::uint32_t i = 0; !file.is_full(); ++i) {
    proto::Resources resources;
    resources.add_counters()->set_id(65'535);
    file.add(proto::FRAME_RESOURCES, resources, 2 + i / 256, static_cast<int>(i % 256));
  }
}
void states_on_many_processors(const Path& path, std::size_t bytes) {
  FileOfFrames file(path, bytes);
  std::uint32_t next = 1;
  fill_with_chunks(file, kChunkSpan, [&](proto::EventChunk& chunk) {
    constexpr std::size_t kProcessors = 8'192;
    proto::ThreadStates& states = *chunk.mutable_thread_states();
    states.set_thread(5);
    repeat(*states.mutable_start_delta(), std::int64_t{2}, kProcessors);
    repeat(*states.mutable_duration(), std::uint64_t{1}, kProcessors);
    repeat(*states.mutable_state(), 1u, kProcessors);
    count_up(*states.mutable_processor(), next, kProcessors);
    next += kProcessors;
  });
}

}  // namespace

std::vector<HostileFile> places() {
  return {
      {"many_streams", &many_streams},
      {"many_streams_of_own_names", &many_streams_of_own_names},
      {"many_devices_of_events", &many_devices_of_events},
      {"many_stream_names", &many_stream_names},
      {"many_devices", &many_devices},
      {"many_gpus", &many_gpus},
      {"many_contexts", &many_contexts},
      {"many_cuda_names", &many_cuda_names},
      {"many_named_cuda_events", &many_named_cuda_events},
      {"many_domains", &many_domains},
      {"ranges_of_many_domains", &ranges_of_many_domains},
      {"many_categories", &many_categories},
      {"many_threads", &many_threads},
      {"calls_of_many_threads", &calls_of_many_threads},
      {"many_processes", &many_processes},
      {"many_sources", &many_sources},
      {"states_on_many_processors", &states_on_many_processors},
  };
}

}  // namespace lanescope::test
