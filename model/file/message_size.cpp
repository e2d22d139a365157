#include "model/file/message_size.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>

#include "lanescope/kernel_metrics.pb.h"
#include "lanescope/schema.h"
#include "lanescope/trace.pb.h"
#include "model/file/limits.h"
#include "model/file/wire.h"

namespace lanescope {
namespace {

// Bytes for an entry of a repeated field in addition to its content: a pointer, twice while the array grows, and the allocator's overhead.
constexpr std::uint64_t kMessageEntryBytes = 32;
constexpr std::uint64_t kTextBytes = 32;    // of a std::string
constexpr std::uint64_t kFieldBytes = 8;    // of a message, for each field of its type; mostly numbers
constexpr std::uint64_t kColumnBytes = 16;  // and for each repeated field
constexpr std::uint64_t kMessageBytes = 32;
constexpr std::uint64_t kUnknownBytes = 32;  // for a field that this version does not know, because protobuf keeps it

// The properties of a message type that determine sizes.
struct Shape {
  enum class Kind : std::uint8_t { kNotKnown, kNumber, kColumn, kText, kTexts, kMessage, kMessages };
  struct Field {
    Kind kind = Kind::kNotKnown;
    std::uint8_t width = 0;         // bytes of a number in memory
    std::uint8_t packed_width = 0;  // in a packed column; 0: a varint
    const Shape* message = nullptr;
  };
  static constexpr std::size_t kMostFields = 64;
  std::array<Field, kMostFields> fields{};  // by number
  std::uint64_t object_bytes = kMessageBytes;
  bool has_columns = false;
};

// Fields of the messages that describe a schema, and their values, numbered as in google/protobuf/descriptor.proto.
namespace schema {
enum FileSet : std::uint32_t { kFile = 1 };
enum File : std::uint32_t { kPackage = 2, kMessageType = 4 };
enum Message : std::uint32_t { kMessageName = 1, kField = 2, kNestedType = 3 };
enum FieldOf : std::uint32_t { kNumber = 3, kLabel = 4, kType = 5, kTypeName = 6 };
enum Label : std::uint64_t { kRepeated = 3 };
enum Type : std::uint64_t {
  kDouble = 1,
  kFloat = 2,
  kInt32 = 5,
  kFixed64 = 6,
  kFixed32 = 7,
  kBool = 8,
  kString = 9,
  kMessage = 11,
  kBytes = 12,
  kUint32 = 13,
  kEnum = 14,
  kSfixed32 = 15,
  kSfixed64 = 16,
  kSint32 = 17
};
}  // namespace schema

std::uint8_t width_of(std::uint64_t type) {
  switch (type) {
    case schema::kBool:
      return 1;
    case schema::kInt32:
    case schema::kUint32:
    case schema::kSint32:
    case schema::kFixed32:
    case schema::kSfixed32:
    case schema::kFloat:
    case schema::kEnum:
      return 4;
    default:
      return 8;
  }
}

std::uint8_t packed_width_of(std::uint64_t type) {
  switch (type) {
    case schema::kFixed64:
    case schema::kSfixed64:
    case schema::kDouble:
      return 8;
    case schema::kFixed32:
    case schema::kSfixed32:
    case schema::kFloat:
      return 4;
    default:
      return 0;
  }
}

// The shapes of all types in the schema, by name.
class Shapes {
 public:
  explicit Shapes(std::string_view files) {
    for (WireReader reader(files); const auto file = reader.next();)
      if (file->number == schema::kFile) add_file(file->bytes);
  }

  const Shape& of(std::string_view type) const {
    static const Shape kOther;
    const auto found = shapes_.find(type);
    return found == shapes_.end() ? kOther : found->second;
  }

 private:
  void add_file(std::string_view file) {
    std::string package;
    for (WireReader reader(file); const auto field = reader.next();)
      if (field->number == schema::kPackage) package = field->bytes;
    for (WireReader reader(file); const auto field = reader.next();)
      if (field->number == schema::kMessageType) add_message(package, field->bytes);
  }

  void add_message(const std::string& scope, std::string_view description) {
    std::string name = scope;
    for (WireReader reader(description); const auto field = reader.next();)
      if (field->number == schema::kMessageName) name.append(".").append(field->bytes);
    Shape& shape = shapes_[name];
    for (WireReader reader(description); const auto field = reader.next();) {
      if (field->number == schema::kField) add_field(shape, field->bytes);
      if (field->number == schema::kNestedType) add_message(name, field->bytes);
    }
  }

  void add_field(Shape& shape, std::string_view description) {
    std::uint64_t number = 0, type = 0;
    bool repeated = false;
    std::string_view message;  // its name, with a leading dot
    for (WireReader reader(description); const auto field = reader.next();) {
      if (field->number == schema::kNumber) number = field->value;
      if (field->number == schema::kLabel) repeated = field->value == schema::kRepeated;
      if (field->number == schema::kType) type = field->value;
      if (field->number == schema::kTypeName) message = field->bytes;
    }
    shape.object_bytes += repeated ? kColumnBytes : kFieldBytes;
    if (number >= Shape::kMostFields) return;
    Shape::Field& known = shape.fields[number];
    known.width = width_of(type);
    known.packed_width = packed_width_of(type);
    if (type == schema::kMessage) {
      known.kind = repeated ? Shape::Kind::kMessages : Shape::Kind::kMessage;
      known.message = &shapes_[std::string(message.substr(1))];
    } else if (type == schema::kString || type == schema::kBytes) {
      known.kind = repeated ? Shape::Kind::kTexts : Shape::Kind::kText;
    } else {
      known.kind = repeated ? Shape::Kind::kColumn : Shape::Kind::kNumber;
      shape.has_columns |= repeated;
    }
  }

  std::map<std::string, Shape, std::less<>> shapes_;
};

std::uint64_t numbers_in(const Shape::Field& field, const WireField& wire) {
  if (wire.type != WireField::kBytes) return 1;
  return field.packed_width != 0 ? wire.bytes.size() / field.packed_width : varints_in(wire.bytes);
}

enum class Columns : std::uint8_t { kCounted, kPassedOver };

template <Columns columns>
class Measurement {
 public:
  explicit Measurement(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  void add(const Shape& shape, std::string_view payload) {
    size.bytes += shape.object_bytes;
    std::array<std::uint64_t, Shape::kMostFields> column_lengths;
    if (columns == Columns::kCounted && shape.has_columns) column_lengths.fill(0);
    WireReader reader(payload);
    const auto is_number = [&shape](std::uint32_t number) { return number < Shape::kMostFields && shape.fields[number].kind == Shape::Kind::kNumber; };
    while (size.bytes <= most_bytes_) {
      reader.pass_numbers(is_number);
      if (reader.at_end()) return;
      const auto wire = reader.next();
      if (!wire) return;
      static constexpr Shape::Field kNone;
      const Shape::Field& field = wire->number < Shape::kMostFields ? shape.fields[wire->number] : kNone;
      switch (field.kind) {
        case Shape::Kind::kNotKnown:
          size.bytes += kUnknownBytes + wire->whole.size();
          break;
        case Shape::Kind::kNumber:
          break;
        case Shape::Kind::kColumn: {
          if constexpr (columns == Columns::kPassedOver) break;
          const std::uint64_t count = numbers_in(field, *wire);
          size.bytes += count * field.width;
          size.numbers += count;
          size.longest_column = std::max(size.longest_column, column_lengths[wire->number] += count);
          break;
        }
        case Shape::Kind::kText:
          size.text_bytes += wire->bytes.size();
          size.bytes += wire->bytes.size();
          break;
        case Shape::Kind::kTexts:
          ++size.entries;
          size.text_bytes += wire->bytes.size();
          size.bytes += kMessageEntryBytes + kTextBytes + wire->bytes.size();
          break;
        case Shape::Kind::kMessages:
          ++size.entries;
          size.bytes += kMessageEntryBytes;
          [[fallthrough]];
        case Shape::Kind::kMessage:
          if (wire->type == WireField::kBytes) add(*field.message, wire->bytes);
          break;
      }
    }
  }

  MessageSize size;

 private:
  const std::uint64_t most_bytes_;
};

template <Columns columns>
MessageSize measured(std::string_view type, std::string_view payload, std::uint64_t most_bytes) {
  static const Shapes shapes(proto::schema());
  Measurement<columns> measurement(most_bytes);
  measurement.add(shapes.of(type), payload);
  return measurement.size;
}

}  // namespace

MessageSize measure_message(std::string_view type, std::string_view payload, std::uint64_t most_bytes) {
  return measured<Columns::kCounted>(type, payload, most_bytes);
}

FrameContent content_of(std::uint16_t frame_type, std::string_view payload) {
  const std::string_view type = message_of_frame(frame_type);
  if (type.empty()) return {};
  // Everything lies in the payload, so no number exceeds its size.
  const MessageSize size = measured<Columns::kPassedOver>(type, payload, limits::kDecodedFrameBytes);
  return {static_cast<std::uint32_t>(payload.size()), static_cast<std::uint32_t>(size.entries), static_cast<std::uint32_t>(size.text_bytes)};
}

FrameContent content_of(const FrameView& frame) {
  if (frame.header.codec == Codec::kRaw) return content_of(frame.header.type, {reinterpret_cast<const char*>(frame.stored.data()), frame.stored.size()});
  if (message_of_frame(frame.header.type).empty()) return {};
  const auto payload = open_frame(frame);
  return payload ? content_of(frame.header.type, *payload) : FrameContent();
}

std::string_view message_of_frame(std::uint16_t frame_type) noexcept {
  switch (frame_type) {
    case proto::FRAME_SESSION_START:
      return "lanescope.proto.SessionStart";
    case proto::FRAME_SESSION_END:
      return "lanescope.proto.SessionEnd";
    case proto::FRAME_PROCESS_START:
      return "lanescope.proto.ProcessStart";
    case proto::FRAME_PROCESS_END:
      return "lanescope.proto.ProcessEnd";
    case proto::FRAME_RESOURCES:
      return "lanescope.proto.Resources";
    case proto::FRAME_EVENTS:
      return "lanescope.proto.EventChunk";
    case proto::FRAME_SYMBOLS:
      return "lanescope.proto.Symbols";
    case proto::FRAME_COUNTERS:
      return "lanescope.proto.Counters";
    case proto::FRAME_DIAGNOSTIC:
      return "lanescope.proto.Diagnostic";
    case proto::FRAME_OUTPUT:
      return "lanescope.proto.Output";
    case proto::FRAME_NAMES:
      return "lanescope.proto.Names";
    case proto::FRAME_CALL_STACKS:
      return "lanescope.proto.CallStacks";
    case proto::FRAME_DETAILS:
      return "lanescope.proto.Details";
    case proto::FRAME_TRACKS:
      return "lanescope.proto.Tracks";
    case proto::FRAME_LANE_SEGMENT:
      return "lanescope.proto.LaneSegment";
    case proto::FRAME_CLOCK_SYNC:
      return "lanescope.proto.ClockSync";
    case proto::FRAME_CODE_OBJECT:
      return "lanescope.proto.CodeObject";
    case proto::FRAME_PC_SAMPLES:
      return "lanescope.proto.PcSamples";
    case proto::FRAME_KERNEL_METRICS:
      return "lanescope.proto.KernelMetrics";
    case proto::FRAME_INSTRUCTION_COUNTS:
      return "lanescope.proto.InstructionCounts";
    case proto::FRAME_SOURCE_FILE:
      return "lanescope.proto.SourceFile";
    default:
      return {};
  }
}

}  // namespace lanescope
