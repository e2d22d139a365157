// Divides messages into parts, each of which a writer may put into one frame (limits.h). Internal to model/export.
#pragma once

#include <cstddef>
#include <functional>

#include <google/protobuf/message_lite.h>

#include "lanescope/trace.pb.h"

namespace lanescope::exporters {

using EmitPart = std::function<bool(const google::protobuf::MessageLite&)>;

// Moves the tables out of the message (for a chunk, its dictionary) and passes them to emit() in order, in parts of at most `most_bytes` or of one entry,
// until emit() returns false. Returns the last result of emit(). O(bytes).
bool emit_tables(proto::EventChunk& message, std::size_t most_bytes, const EmitPart& emit);
bool emit_tables(proto::Symbols& message, std::size_t most_bytes, const EmitPart& emit);
bool emit_tables(proto::Resources& message, std::size_t most_bytes, const EmitPart& emit);

template <typename Message>
concept HasTables = requires(Message& message, const EmitPart& emit) {
  emit_tables(message, 0, emit);
};

}  // namespace lanescope::exporters
