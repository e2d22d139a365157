#include "message_parts.h"

#include <array>
#include <memory>

namespace lanescope::exporters {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr std::size_t kEntryHead = 8;  // bytes at most, in front of an entry

std::size_t entry_bytes(const Message& message, const FieldDescriptor& entries, int index) {
  const Reflection& fields = *message.GetReflection();
  if (entries.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
    return kEntryHead + fields.GetRepeatedMessage(message, &entries, index).ByteSizeLong();
  std::string scratch;
  return kEntryHead + fields.GetRepeatedStringReference(message, &entries, index, &scratch).size();
}

void copy_entry(const Message& from, const FieldDescriptor& entries, int index, Message& to) {
  const Reflection& fields = *from.GetReflection();
  if (entries.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
    fields.AddMessage(&to, &entries)->CopyFrom(fields.GetRepeatedMessage(from, &entries, index));
  else
    fields.AddString(&to, &entries, fields.GetRepeatedString(from, &entries, index));
}

}  // namespace

std::span<const MessageTable> tables_of(const proto::EventChunk&) noexcept {
  using Chunk = proto::EventChunk;
  static constexpr std::array<MessageTable, 7> kTables{{{Chunk::kFirstStringFieldNumber, Chunk::kStringsFieldNumber},
                                                        {Chunk::kFirstShapeFieldNumber, Chunk::kLaunchShapesFieldNumber},
                                                        {Chunk::kFirstQueueFieldNumber, Chunk::kQueuesFieldNumber},
                                                        {Chunk::kFirstCopyShapeFieldNumber, Chunk::kCopyShapesFieldNumber},
                                                        {Chunk::kFirstKernelNameFieldNumber, Chunk::kKernelNamesFieldNumber},
                                                        {Chunk::kFirstCodeLocationFieldNumber, Chunk::kCodeLocationsFieldNumber},
                                                        {Chunk::kFirstCallNodeFieldNumber, Chunk::kCallNodesFieldNumber}}};
  return kTables;
}

std::span<const MessageTable> tables_of(const proto::Symbols&) noexcept {
  static constexpr std::array<MessageTable, 2> kTables{
      {{proto::Symbols::kFirstStringFieldNumber, proto::Symbols::kStringsFieldNumber}, {0, proto::Symbols::kLocationsFieldNumber}}};
  return kTables;
}

std::span<const MessageTable> tables_of(const proto::Resources&) noexcept {
  using Resources = proto::Resources;
  static constexpr std::array<MessageTable, 8> kTables{{{0, Resources::kDevicesFieldNumber},
                                                        {0, Resources::kContextsFieldNumber},
                                                        {0, Resources::kStreamsFieldNumber},
                                                        {0, Resources::kThreadsFieldNumber},
                                                        {0, Resources::kNvtxDomainsFieldNumber},
                                                        {0, Resources::kNvtxCategoriesFieldNumber},
                                                        {0, Resources::kCountersFieldNumber},
                                                        {0, Resources::kCudaNamesFieldNumber}}};
  return kTables;
}

bool emit_tables(Message& message, std::span<const MessageTable> tables, std::size_t most_bytes,
                 const std::function<bool(const Message&)>& emit) {
  const Reflection& fields = *message.GetReflection();
  const std::unique_ptr<Message> part(message.New());
  std::size_t bytes = 0;  // of the part, about
  for (const MessageTable& table : tables) {
    const FieldDescriptor& entries = *message.GetDescriptor()->FindFieldByNumber(table.entries);
    const FieldDescriptor* first_id = table.first_id == 0 ? nullptr : message.GetDescriptor()->FindFieldByNumber(table.first_id);
    for (int i = 0; i < fields.FieldSize(message, &entries); ++i) {
      const std::size_t more = entry_bytes(message, entries, i);
      if (bytes > 0 && bytes + more + kEntryHead * tables.size() > most_bytes) {
        if (!emit(*part)) return false;
        part->Clear();
        bytes = 0;
      }
      if (first_id != nullptr && fields.FieldSize(*part, &entries) == 0)
        fields.SetUInt32(part.get(), first_id, fields.GetUInt32(message, first_id) + static_cast<std::uint32_t>(i));
      copy_entry(message, entries, i, *part);
      bytes += more;
    }
    fields.ClearField(&message, &entries);
    if (first_id != nullptr) fields.ClearField(&message, first_id);
  }
  return bytes == 0 || emit(*part);
}

}  // namespace lanescope::exporters
