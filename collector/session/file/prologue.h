// What a file must say before events that refer to it: processes, devices, streams, threads, and the dictionaries of each source.
//
// A process and its agent say each of these things once. If a file of the recording starts later than that, or an early part of it is dropped, what was said
// there is kept here and repeated. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"

namespace lanescope::session {

class Prologue {
 public:
  // Adds one frame of the recording. Frames must come in order. Frames of a process that is not known, or was forgotten, are ignored.
  void absorb(const FrameView& frame);

  // True if the process has started, and was not forgotten.
  [[nodiscard]] bool knows(std::uint32_t process) const { return processes_.contains(process); }
  // The processes that have started and were not forgotten. A process below first_new() that is not among them was forgotten.
  [[nodiscard]] std::set<std::uint32_t> known() const;
  [[nodiscard]] std::uint32_t first_new() const noexcept { return first_new_; }
  // Forgets the process if it has ended. A process that was only left has not.
  void forget_ended(std::uint32_t process);

  // Forgets what a source said.
  void forget(proto::FrameSource source);

  // Appends frames that repeat everything, as at the time `begin` (CLOCK_MONOTONIC ns).
  void append_to(std::vector<std::byte>& frames, std::int64_t begin) const;

 private:
  // By their ids.
  struct Resources {
    std::map<std::uint32_t, proto::Device> devices;
    std::map<std::uint32_t, proto::Context> contexts;
    std::map<std::pair<std::uint32_t, std::uint32_t>, proto::Stream> streams;  // context, stream
    std::map<std::uint32_t, proto::Thread> threads;
    std::map<std::uint32_t, proto::NvtxDomain> domains;
    std::map<std::pair<std::uint32_t, std::uint32_t>, proto::NvtxCategory> categories;  // domain, category
    std::map<std::uint32_t, proto::Counter> counters;
    std::map<std::pair<std::uint32_t, std::uint32_t>, proto::CudaName> cuda_names;  // by resource and id
  };
  struct Source {
    Resources resources;
    proto::EventChunk dictionary;  // only entries, from id 1 on
    std::vector<proto::Diagnostic> diagnostics;
  };
  struct Process {
    std::optional<proto::ProcessStart> start;  // none: the recording
    std::optional<proto::ProcessEnd> end;
    std::map<std::uint8_t, Source> sources;
  };

  static void merge(const proto::Resources& message, Resources& resources);
  static void extend(proto::EventChunk chunk, proto::EventChunk& dictionary);

  std::map<std::uint32_t, Process> processes_;  // by instance
  std::uint32_t first_new_ = 0;                 // the instance after the last one that started
};

}  // namespace lanescope::session
