// Cuts messages into parts that a writer may put into one frame (limits.h). Internal to model/export.
#pragma once

#include <cstddef>
#include <functional>

#include <google/protobuf/message_lite.h>

#include "lanescope/trace.pb.h"

namespace lanescope::exporters {

using EmitPart = std::function<bool(const google::protobuf::MessageLite&)>;

// Takes the tables out of the message (those of a chunk are its dictionary) and gives them to emit() in parts of at most `most_bytes` each,
// or of one entry, in their order, until that returns false. Returns what it did last. O(bytes).
bool emit_tables(proto::EventChunk& message, std::size_t most_bytes, const EmitPart& emit);
bool emit_tables(proto::Symbols& message, std::size_t most_bytes, const EmitPart& emit);
bool emit_tables(proto::Resources& message, std::size_t most_bytes, const EmitPart& emit);

template <typename Message>
concept HasTables = requires(Message& message, const EmitPart& emit) {
  emit_tables(message, 0, emit);
};

}  // namespace lanescope::exporters
