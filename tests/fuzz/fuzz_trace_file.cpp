// Any bytes as a .trace file. Frames carry checksums, so mutations of a file mostly end there: the bytes are also taken as the payload of
// frames whose checksums hold.
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_target.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/trace/frame_ingest.h"
#include "model/trace/load.h"
#include "model/trace/outline.h"

using namespace lanescope;

namespace {

void load_as_file(const std::uint8_t* data, std::size_t size) {
  const int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0 || write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  (void)load_trace("/proc/self/fd/" + std::to_string(descriptor));
  close(descriptor);
}

void ingest_as_payload(const std::uint8_t* data, std::size_t size) {
  const std::string payload(reinterpret_cast<const char*>(data), size);
  TraceBuilder builder;
  FrameIngest ingest(builder);
  for (std::uint16_t type = proto::FRAME_SESSION_START; type <= proto::FRAME_OUTLINE; ++type) {
    FrameHeader header;
    header.type = type;
    header.process = 1;
    std::vector<std::byte> bytes;
    append_frame(header, payload, bytes);
    FrameView frame;
    std::memcpy(&frame.header, bytes.data(), sizeof(FrameHeader));
    frame.stored = std::span(bytes).subspan(sizeof(FrameHeader));
    ingest.add(frame);
  }
  (void)add_outline(builder, payload);
  (void)builder.snapshot()->memory_bytes();
}

proto::EventChunk chunk_of_everything() {
  proto::EventChunk chunk;
  chunk.set_base_time(1'000);
  chunk.set_first_string(1);
  chunk.add_strings("_Z4axpyPfif");
  chunk.set_first_shape(1);
  chunk.add_launch_shapes()->set_grid_x(4);
  chunk.set_first_queue(1);
  chunk.add_queues()->set_stream(7);
  chunk.set_first_code_location(1);
  chunk.add_code_locations()->set_address(0x1000);
  chunk.set_first_call_node(1);
  for (std::uint32_t parent = 0; parent < 3; ++parent) {
    proto::CallNode& call = *chunk.add_call_nodes();
    call.set_parent(parent);
    call.set_location(1);
  }
  return chunk;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (1u << 20)) return 0;
  load_as_file(data, size);
  ingest_as_payload(data, size);
  return 0;
}

std::vector<std::string> valid_inputs() {
  proto::EventChunk kernels = chunk_of_everything();
  proto::EventChunk ranges = chunk_of_everything();
  proto::EventChunk samples = chunk_of_everything();
  proto::EventChunk states = chunk_of_everything();
  proto::Symbols symbols;
  symbols.set_first_string(1);
  symbols.add_strings("main");
  symbols.add_locations()->set_location(1);
  symbols.mutable_locations(0)->add_functions()->set_function(1);
  for (int i = 0; i < 20; ++i) {
    auto* k = kernels.mutable_kernels();
    k->add_start_delta(10);
    k->add_duration(5);
    k->add_name(1);
    k->add_queue(1);
    k->add_correlation_delta(1);
    k->add_shape(1);
    auto* r = ranges.mutable_nvtx_ranges();
    r->add_start_delta(10);
    r->add_duration(30);
    r->add_name(1);
    r->add_depth(static_cast<std::uint32_t>(i % 4));
    auto* s = samples.mutable_samples();
    s->add_time_delta(10);
    s->add_call_node(static_cast<std::uint32_t>(i % 4));
    s->add_processor(2);
    auto* t = states.mutable_thread_states();
    t->add_start_delta(10);
    t->add_duration(10);
    t->add_state(static_cast<std::uint32_t>(i % 4));
    t->add_processor(i % 4 == 1 ? 2 : 0);
  }
  std::vector<std::byte> bytes(sizeof(FileHeader));
  FileHeader file{};
  std::memcpy(file.magic, kFileMagic, sizeof(kFileMagic));
  file.major_version = kFormatMajor;
  std::memcpy(bytes.data(), &file, sizeof(file));
  FrameHeader header;
  header.type = proto::FRAME_EVENTS;
  header.process = 1;
  for (const auto* chunk : {&kernels, &ranges, &samples, &states}) append_frame(header, chunk->SerializeAsString(), bytes);
  return {kernels.SerializeAsString(), ranges.SerializeAsString(),  samples.SerializeAsString(),
          states.SerializeAsString(),  symbols.SerializeAsString(), std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}
