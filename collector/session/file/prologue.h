// What a file must have said before events that refer to it: processes, devices, streams, threads, and the dictionaries of each source.
//
// A process and its agent say each of these things once. Where a recording's file begins later than that, or an early part of it is given
// up, what was said there is kept here and said again. One thread.
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
  // Takes in one frame of the recording, in their order. Nothing of a process that is not known, or not any more.
  void absorb(const FrameView& frame);

  // Whether it has begun, and was not forgotten.
  [[nodiscard]] bool knows(std::uint32_t process) const { return processes_.contains(process); }
  // The processes that have begun and are not forgotten. One below first_new() that is not among them was forgotten.
  [[nodiscard]] std::set<std::uint32_t> known() const;
  [[nodiscard]] std::uint32_t first_new() const noexcept { return first_new_; }
  // Where it has ended; one that was only left has not.
  void forget_ended(std::uint32_t process);

  // Forgets what a source said.
  void forget(proto::FrameSource source);

  // Appends frames that say all of it, as at the time `begin` (CLOCK_MONOTONIC ns).
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
    proto::EventChunk dictionary;  // entries alone, from id 1 on
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
  std::uint32_t first_new_ = 0;                 // behind the last one that began
};

}  // namespace lanescope::session
