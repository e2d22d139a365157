// Values of counters that stay in a compacted file. Internal to model/trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "counter_frames.h"
#include "model/file/trace_file.h"
#include "model/trace/segments/demanded_counters.h"

namespace lanescope {

// A chunk of counters, and what is known of it.
struct CounterChunkInFile {
  IndexedFrame frame;
  CounterHead head;  // without rows if it is not known, or if the chunk makes no sense
};

// Counters of one source that are read together, in the chunks of a file, which it keeps open.
class CountersInFile final : public DemandedCounters {
 public:
  // `chunks`: of the same counters, by time.
  CountersInFile(std::shared_ptr<const TraceFileReader> file, std::filesystem::path path, std::span<const CounterChunkInFile* const> chunks, Nanoseconds epoch);

  [[nodiscard]] std::string damage_text() const override;

 private:
  struct Frame {
    std::uint64_t offset;
    std::uint32_t stored_size;
    std::uint32_t rows;
  };

  [[nodiscard]] static std::vector<Block> blocks_of(std::span<const CounterChunkInFile* const> chunks, Nanoseconds epoch);
  [[nodiscard]] std::shared_ptr<const std::string> payload_of(std::size_t b) const;
  [[nodiscard]] std::shared_ptr<const CounterSegment> read(std::size_t b, std::size_t member) const override;

  std::shared_ptr<const TraceFileReader> file_;
  std::filesystem::path path_;
  Nanoseconds epoch_;
  std::uint32_t process_;
  std::uint8_t source_;
  std::vector<std::uint32_t> counters_;  // ids of the source
  std::vector<Frame> frames_;            // of each block
};

}  // namespace lanescope
