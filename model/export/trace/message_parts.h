// Cuts messages into parts that a writer may put into one frame (limits.h). Internal to model/export.
#pragma once

#include <functional>
#include <span>

#include <google/protobuf/message.h>

#include "lanescope/trace.pb.h"

namespace lanescope::exporters {

// A list of entries in a message, by field numbers.
struct MessageTable {
  int first_id = 0;  // the field that has the id of the first entry; 0: entries do not count up
  int entries = 0;
};
[[nodiscard]] std::span<const MessageTable> tables_of(const proto::EventChunk&) noexcept;  // its dictionary
[[nodiscard]] std::span<const MessageTable> tables_of(const proto::Symbols&) noexcept;
[[nodiscard]] std::span<const MessageTable> tables_of(const proto::Resources&) noexcept;

// Takes the tables out of the message and gives them to emit() in parts of at most `most_bytes` each, or of one entry, in their order,
// until that returns false. Returns what it did last. O(bytes).
bool emit_tables(google::protobuf::Message& message, std::span<const MessageTable> tables, std::size_t most_bytes,
                 const std::function<bool(const google::protobuf::Message&)>& emit);

}  // namespace lanescope::exporters
