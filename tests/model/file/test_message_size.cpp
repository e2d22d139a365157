#include "model/file/message_size.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/trace.pb.h"
#include "support/catch.h"

using namespace lanescope;

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kTimes = 3;  // entries in repeated fields
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

void set_number(Message& message, const FieldDescriptor& field) {
  const auto& fields = *message.GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return repeated ? fields.AddInt32(&message, &field, -1) : fields.SetInt32(&message, &field, -1);
    case FieldDescriptor::CPPTYPE_INT64:
      return repeated ? fields.AddInt64(&message, &field, -1) : fields.SetInt64(&message, &field, -1);
    case FieldDescriptor::CPPTYPE_UINT32:
      return repeated ? fields.AddUInt32(&message, &field, 300) : fields.SetUInt32(&message, &field, 300);
    case FieldDescriptor::CPPTYPE_UINT64:
      return repeated ? fields.AddUInt64(&message, &field, 300) : fields.SetUInt64(&message, &field, 300);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return repeated ? fields.AddFloat(&message, &field, 0.5F) : fields.SetFloat(&message, &field, 0.5F);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return repeated ? fields.AddDouble(&message, &field, 0.5) : fields.SetDouble(&message, &field, 0.5);
    case FieldDescriptor::CPPTYPE_BOOL:
      return repeated ? fields.AddBool(&message, &field, true) : fields.SetBool(&message, &field, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      return repeated ? fields.AddEnumValue(&message, &field, 1) : fields.SetEnumValue(&message, &field, 1);
    default:
      FAIL("no number: " << field.full_name());
  }
}

std::uint64_t width(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return sizeof(bool);
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_ENUM:
      return sizeof(std::uint32_t);
    default:
      return sizeof(std::uint64_t);
  }
}

// Fills one field of a message. Returns what this adds, according to protobuf's own library; bytes count only numbers and texts.
MessageSize filled(Message& message, const FieldDescriptor& field) {
  MessageSize added;
  const auto& fields = *message.GetReflection();
  const std::string text(100, 't');
  for (int i = 0; i < (field.is_repeated() ? kTimes : 1); ++i) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        static_cast<void>(field.is_repeated() ? fields.AddMessage(&message, &field) : fields.MutableMessage(&message, &field));
        added.entries += field.is_repeated();
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        field.is_repeated() ? fields.AddString(&message, &field, text) : fields.SetString(&message, &field, text);
        added.entries += field.is_repeated();
        added.bytes += text.size();
        break;
      default:
        set_number(message, field);
        added.numbers += field.is_repeated();
        added.bytes += field.is_repeated() ? width(field) : 0;
    }
  }
  added.longest_column = added.numbers;
  return added;
}

void collect(const Descriptor& type, std::vector<const Descriptor*>& types) {
  types.push_back(&type);
  for (int i = 0; i < type.nested_type_count(); ++i) collect(*type.nested_type(i), types);
}

}  // namespace

TEST_CASE("each field of each message of the schema is measured as what it is") {
  std::vector<const Descriptor*> types;
  for (const auto* file : {proto::EventChunk::descriptor()->file(), proto::KernelMetrics::descriptor()->file()})
    for (int i = 0; i < file->message_type_count(); ++i) collect(*file->message_type(i), types);
  REQUIRE(types.size() > 50);
  for (const Descriptor* type : types) {
    const Message& prototype = *google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
    const std::uint64_t empty = measure_message(type->full_name(), "", kNoLimit).bytes;
    REQUIRE(empty >= static_cast<std::uint64_t>(type->field_count()) * sizeof(std::uint64_t));
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      INFO(field.full_name());
      const std::unique_ptr<Message> message(prototype.New());
      const MessageSize expected = filled(*message, field);
      const MessageSize size = measure_message(type->full_name(), message->SerializeAsString(), kNoLimit);
      CHECK(size.entries == expected.entries);
      CHECK(size.numbers == expected.numbers);
      CHECK(size.longest_column == expected.longest_column);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE || (field.is_repeated() && expected.entries > 0))
        CHECK(size.bytes > empty + expected.bytes);  // and the array of the entries
      else
        CHECK(size.bytes == empty + expected.bytes);
    }
  }
}

TEST_CASE("what the schema does not know is measured by its bytes, and a message is measured no further than asked") {
  proto::EventChunk chunk;
  for (int i = 0; i < 1'000; ++i) chunk.add_strings(std::string(1'000, 's'));
  const std::string payload = chunk.SerializeAsString();
  CHECK(measure_message("lanescope.proto.EventChunk", payload, kNoLimit).entries == 1'000);
  CHECK(measure_message("lanescope.proto.EventChunk", payload, 10'000).entries < 20);
  const MessageSize unknown = measure_message("lanescope.proto.NoSuchMessage", payload, kNoLimit);
  CHECK(unknown.entries == 0);
  CHECK(unknown.bytes >= payload.size());
}

TEST_CASE("what a frame holds is counted in its payload as in the frame, without its columns") {
  proto::EventChunk chunk;
  for (int i = 0; i < 300; ++i) chunk.add_strings(std::string(20, 's'));
  for (int i = 0; i < 40; ++i) chunk.add_launch_shapes()->set_grid_x(7);
  for (int i = 0; i < 5'000; ++i) {
    chunk.mutable_nvtx_ranges()->add_start_delta(i);
    chunk.mutable_nvtx_ranges()->add_name(i % 300);
  }
  const std::string payload = chunk.SerializeAsString();
  FrameHeader header;
  header.type = proto::FRAME_EVENTS;
  header.event_count = 5'000;
  for (const auto append : {append_frame, append_uncompressed_frame}) {
    std::vector<std::byte> bytes;
    append(header, payload, bytes);
    FrameView frame;
    std::memcpy(&frame.header, bytes.data(), sizeof(frame.header));
    frame.stored = std::span(bytes).subspan(sizeof(frame.header));
    for (const FrameContent& content : {content_of(header.type, payload), content_of(frame)}) {
      CHECK(content.unpacked == payload.size());
      CHECK(content.entries == 300 + 40);
      CHECK(content.text_bytes == 300 * 20);
    }
    if (frame.header.codec != Codec::kZstd) continue;
    bytes[sizeof(frame.header)] ^= std::byte{0xff};  // no longer a zstd frame
    CHECK(content_of(frame).unpacked == 0);
  }
  CHECK(content_of(proto::FRAME_PADDING, "000").unpacked == 0);
}
