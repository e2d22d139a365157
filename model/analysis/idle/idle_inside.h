// How long GPUs were idle within very many spans of time, of which memory holds a part. Internal to model/analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stop_token>
#include <vector>

#include "gpu_operations.h"
#include "model/file/result.h"
#include "model/file/scratch_file.h"
#include "model/trace/trace.h"

namespace lanescope::analysis {

// Adds up the idle time of spans by a key of the caller. Spans are put in order, so that the work of a GPU is gone through once for all of them. Those that
// exceed the memory go to a temporary file, as sorted runs: 5 to 10 bytes each. If no file can be made, the work is gone through once for each such run.
//
// Threads: one at a time.
class IdleInside {
 public:
  using Key = std::uint32_t;
  using Sums = std::map<Key, Nanoseconds>;
  // Spans that are open together take 8 bytes for each GPU of their process. If spans and GPUs make more pairs than these, only the GPUs with most
  // operations count, at least kLeastGpus: a hostile file has a million spans that are open together, on hundreds of GPUs.
  static constexpr std::size_t kMostPairs = 32'000'000;
  static constexpr std::size_t kLeastGpus = 16;
  // Keeps about `spans_at_once` spans in memory, of 24 bytes. The trace must outlive it. When asked to stop, sums are of no use.
  IdleInside(const Trace& trace, std::size_t spans_at_once, std::stop_token stop, std::size_t most_pairs = kMostPairs);

  // The idle time in the span of the GPUs that the process uses; of several GPUs, that of the one that worked most in it.
  void add(ProcessId process, TimeRange span, Key key);
  // To be called after a batch of spans was added: then spans may leave memory.
  void make_room();
  // The sums of all spans. Fails if the temporary file can't be read any more. To be called once. O(spans · (log(spans) + GPUs) + operations).
  [[nodiscard]] Result<Sums> take();

 private:
  struct Span {
    Nanoseconds begin, end;
    Key key;
  };
  struct Block {
    std::uint64_t offset;
    std::uint32_t bytes, spans;
  };
  using Run = std::vector<Block>;
  // The spans of processes that use the same GPUs.
  struct Group {
    std::vector<GpuId> gpus;
    std::vector<Span> held;
    std::vector<Run> runs;  // in the file
  };
  class RunReader;
  class BusyTime;
  class Pass;

  [[nodiscard]] Result<void> write(Group& group);
  [[nodiscard]] Result<Sums> sums_of(Group& group) const;
  [[nodiscard]] std::vector<GpuId> gpus_for(const Group& group) const;
  void add_sums_of_held();

  const Trace& trace_;
  const GpuTracks tracks_;
  const std::size_t spans_at_once_;
  const std::stop_token stop_;
  const std::size_t most_pairs_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_process_;
  std::size_t held_ = 0;  // spans in memory
  ScratchFile file_;
  Sums sums_;  // of spans that are gone
};

}  // namespace lanescope::analysis
