// What a frame contains, decompressed and parsed. Internal to model/trace/ingest.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "call_stack_rows.h"
#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/trace.pb.h"
#include "model/file/message_size.h"
#include "model/trace/ingest/frame_ingest.h"
#include "packed.h"

namespace lanescope {

// A chunk. Its events are in columns of their own for the kinds of which large recordings consist.
struct DecodedChunk {
  proto::EventChunk chunk;
  std::variant<std::monostate, KernelColumns, ApiCallColumns, CounterSampleColumns> columns;

  // Returns false if the bytes are no such message, or have events of several kinds.
  [[nodiscard]] bool parse(std::string_view payload);
};

struct DecodedFrame::Content {
  FrameHeader header;
  bool sound = false;  // true for a frame that readers skip, too
  MessageSize size;
  std::variant<std::monostate, proto::SessionStart, proto::SessionEnd, proto::ProcessStart, proto::ProcessEnd, proto::Resources, DecodedChunk, proto::Symbols,
               proto::Counters, proto::Diagnostic, proto::Output, proto::Names, CallStackRows, proto::Details, proto::Tracks, LaneSegmentEvents,
               proto::ClockSync, proto::CodeObject, proto::PcSamples, proto::KernelMetrics, proto::InstructionCounts, proto::SourceFile>
      message;  // empty for a frame that readers skip

  // Parses the payload by the frame's type; `sound` becomes true if it is such a message. One that would take more than a frame may is not parsed.
  void parse(const std::string& payload);

 private:
  template <typename Message>
  void parse_message(const std::string& payload);
  template <typename Message>
  void parse_columns(const std::string& payload);  // which may be as long as those of a chunk
  void parse_chunk(const std::string& payload);
  void parse_call_stacks(const std::string& payload);
  void parse_lane_segment(const std::string& payload);
  [[nodiscard]] bool is_within_limits(const std::string& payload);
};

}  // namespace lanescope
