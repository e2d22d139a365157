#include "message_parts.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

namespace lanescope::exporters {
namespace {

constexpr std::size_t kEntryHead = 8;  // in front of an entry, at most

// A list of entries in a message, and the field with the id of the first entry; null if entries have no consecutive ids.
template <typename Message, typename Entry>
struct MessageTable {
  google::protobuf::RepeatedPtrField<Entry>* (Message::*entries)();
  std::uint32_t (Message::*first_id)() const = nullptr;
  void (Message::*set_first_id)(std::uint32_t) = nullptr;
};

template <typename Message, typename Entry>
MessageTable<Message, Entry> table(google::protobuf::RepeatedPtrField<Entry>* (Message::*entries)(), std::uint32_t (Message::*first_id)() const = nullptr,
                                   void (Message::*set_first_id)(std::uint32_t) = nullptr) {
  return {entries, first_id, set_first_id};
}

auto tables_of(const proto::EventChunk&) {
  using Chunk = proto::EventChunk;
  return std::tuple(table(&Chunk::mutable_strings, &Chunk::first_string, &Chunk::set_first_string),
                    table(&Chunk::mutable_launch_shapes, &Chunk::first_shape, &Chunk::set_first_shape),
                    table(&Chunk::mutable_queues, &Chunk::first_queue, &Chunk::set_first_queue),
                    table(&Chunk::mutable_copy_shapes, &Chunk::first_copy_shape, &Chunk::set_first_copy_shape),
                    table(&Chunk::mutable_kernel_names, &Chunk::first_kernel_name, &Chunk::set_first_kernel_name),
                    table(&Chunk::mutable_code_locations, &Chunk::first_code_location, &Chunk::set_first_code_location),
                    table(&Chunk::mutable_call_nodes, &Chunk::first_call_node, &Chunk::set_first_call_node));
}

auto tables_of(const proto::Symbols&) {
  using Symbols = proto::Symbols;
  return std::tuple(table(&Symbols::mutable_strings, &Symbols::first_string, &Symbols::set_first_string), table(&Symbols::mutable_locations));
}

auto tables_of(const proto::Resources&) {
  using Resources = proto::Resources;
  return std::tuple(table(&Resources::mutable_devices), table(&Resources::mutable_contexts), table(&Resources::mutable_streams),
                    table(&Resources::mutable_threads), table(&Resources::mutable_nvtx_domains), table(&Resources::mutable_nvtx_categories),
                    table(&Resources::mutable_counters), table(&Resources::mutable_cuda_names));
}

std::size_t bytes_of(const std::string& text) { return kEntryHead + text.size(); }
std::size_t bytes_of(const google::protobuf::MessageLite& message) { return kEntryHead + message.ByteSizeLong(); }

template <typename Message>
class Parts {
 public:
  Parts(Message& message, std::size_t most_bytes, const EmitPart& emit) : message_(message), most_bytes_(most_bytes), emit_(emit) {}

  template <typename... Table>
  bool emit_all(const std::tuple<Table...>& tables) {
    return std::apply([this](const auto&... table) { return (emit(table) && ...); }, tables) && (bytes_ == 0 || emit_(part_));
  }

 private:
  template <typename Entry>
  bool emit(const MessageTable<Message, Entry>& table) {
    auto& entries = *(message_.*table.entries)();
    for (int i = 0; i < entries.size(); ++i) {
      const std::size_t more = bytes_of(entries.Get(i));
      if (bytes_ > 0 && bytes_ + more + kRoomForIds > most_bytes_) {
        if (!emit_(part_)) return false;
        part_.Clear();
        bytes_ = 0;
      }
      auto& taken = *(part_.*table.entries)();
      if (table.first_id != nullptr && taken.empty()) (part_.*table.set_first_id)((message_.*table.first_id)() + static_cast<std::uint32_t>(i));
      *taken.Add() = entries.Get(i);
      bytes_ += more;
    }
    entries.Clear();
    if (table.set_first_id != nullptr) (message_.*table.set_first_id)(0);
    return true;
  }

  static constexpr std::size_t kRoomForIds = kEntryHead * std::tuple_size_v<decltype(tables_of(std::declval<Message>()))>;
  Message& message_;
  const std::size_t most_bytes_;
  const EmitPart& emit_;
  Message part_;
  std::size_t bytes_ = 0;  // of the part, approximately
};

template <typename Message>
bool emit_parts(Message& message, std::size_t most_bytes, const EmitPart& emit) {
  return Parts(message, most_bytes, emit).emit_all(tables_of(message));
}

}  // namespace

bool emit_tables(proto::EventChunk& message, std::size_t most_bytes, const EmitPart& emit) { return emit_parts(message, most_bytes, emit); }
bool emit_tables(proto::Symbols& message, std::size_t most_bytes, const EmitPart& emit) { return emit_parts(message, most_bytes, emit); }
bool emit_tables(proto::Resources& message, std::size_t most_bytes, const EmitPart& emit) { return emit_parts(message, most_bytes, emit); }

}  // namespace lanescope::exporters
