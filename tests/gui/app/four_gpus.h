// A recording of four GPUs by four ranks, made of a real one of two: nobody has recorded four yet.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"

namespace lanescope::test {

inline constexpr std::uint32_t kCopiedInstances = 1'000;  // what instance numbers of the copied processes have more
inline constexpr std::uint32_t kCopiedPids = 10'000;      // and their pids

// What is said of the other pair of ranks: the same, of other processes and of GPUs with other numbers and identities.
inline std::string of_other_ranks(const FrameHeader& header, std::string payload) {
  if (header.type == proto::FRAME_PROCESS_START) {
    proto::ProcessStart start;
    if (!start.ParseFromString(payload)) throw std::runtime_error("a process can't be read");
    start.set_pid(start.pid() + kCopiedPids);
    start.set_parent_pid(start.parent_pid() + kCopiedPids);
    return start.SerializeAsString();
  }
  if (header.type == proto::FRAME_RESOURCES) {
    proto::Resources resources;
    if (!resources.ParseFromString(payload)) throw std::runtime_error("resources can't be read");
    for (proto::Device& device : *resources.mutable_devices()) {
      std::string uuid = device.uuid();
      uuid.back() = static_cast<char>(uuid.back() ^ 0x55);
      device.set_uuid(uuid);
      device.set_id(device.id() + 2);
    }
    for (proto::Context& context : *resources.mutable_contexts()) context.set_device(context.device() + 2);
    return resources.SerializeAsString();
  }
  if (header.type == proto::FRAME_EVENTS) {
    proto::EventChunk chunk;
    if (!chunk.ParseFromString(payload)) throw std::runtime_error("events can't be read");
    for (proto::Queue& queue : *chunk.mutable_queues()) queue.set_device(queue.device() + 2);
    return chunk.SerializeAsString();
  }
  return payload;
}

// Every frame of a process of `two` is written twice, by the writer of recordings. Requires: a log, not compacted.
inline void write_four_gpus(const std::filesystem::path& two, const std::filesystem::path& four) {
  auto reader = TraceFileReader::open(two);
  auto writer = TraceFileWriter::create(four, Overwrite::kAllow);
  if (!reader || !writer) throw std::runtime_error("no file of four GPUs can be made");
  while (const auto frame = reader->next()) {
    const auto payload = open_frame(*frame);
    if (!payload) throw std::runtime_error(payload.error().text);
    std::vector<std::byte> frames;
    append_frame(frame->header, *payload, frames);
    if (frame->header.process != 0) {
      FrameHeader other = frame->header;
      other.process += kCopiedInstances;
      append_frame(other, of_other_ranks(frame->header, *payload), frames);
    }
    if (!writer->append(frames)) throw std::runtime_error("a frame can't be written");
  }
  if (!writer->finish()) throw std::runtime_error("the file can't be finished");
}

}  // namespace lanescope::test
