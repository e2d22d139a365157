#include "model/trace/message_size.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>

#include <google/protobuf/descriptor.h>

#include "model/file/wire.h"

namespace lanescope {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// What an entry of a repeated field takes beside itself: a pointer to it, twice while the array of these grows, and the allocator's own.
constexpr std::uint64_t kMessageEntryBytes = 32;
constexpr std::uint64_t kTextBytes = 32;     // of a std::string
constexpr std::uint64_t kFieldBytes = 8;     // of a message, for each field that its type has: mostly numbers
constexpr std::uint64_t kColumnBytes = 16;   // and for each that is repeated
constexpr std::uint64_t kMessageBytes = 32;
constexpr std::uint64_t kUnknownBytes = 32;  // of a field that this version does not know; protobuf keeps it

// A type of messages, as far as sizes go.
struct Shape {
  enum class Kind : std::uint8_t { kUnknown, kNumber, kColumn, kText, kTexts, kMessage, kMessages };
  struct Field {
    Kind kind = Kind::kUnknown;
    std::uint8_t width = 0;         // bytes of a number in memory
    std::uint8_t packed_width = 0;  // in a packed column; 0: a varint
    const Shape* message = nullptr;
  };
  static constexpr std::size_t kMostFields = 64;
  std::array<Field, kMostFields> fields{};  // by number
  std::uint64_t object_bytes = kMessageBytes;
  bool has_columns = false;
};

std::uint8_t width_of(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return 1;
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_ENUM:
      return 4;
    default:
      return 8;
  }
}

std::uint8_t packed_width_of(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
    case FieldDescriptor::TYPE_DOUBLE:
      return 8;
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
    case FieldDescriptor::TYPE_FLOAT:
      return 4;
    default:
      return 0;
  }
}

// The shapes of types that were asked for, and of those in them.
class Shapes {
 public:
  const Shape& of(const Descriptor& type) {
    const std::lock_guard lock(mutex_);
    return find(type);
  }

 private:
  const Shape& find(const Descriptor& type) {
    std::unique_ptr<Shape>& shape = shapes_[&type];
    if (shape) return *shape;
    shape = std::make_unique<Shape>();
    Shape& made = *shape;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const bool repeated = field.is_repeated();
      made.object_bytes += repeated ? kColumnBytes : kFieldBytes;
      if (static_cast<std::size_t>(field.number()) >= Shape::kMostFields) continue;
      Shape::Field& known = made.fields[static_cast<std::size_t>(field.number())];
      known.width = width_of(field);
      known.packed_width = packed_width_of(field);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        known.kind = repeated ? Shape::Kind::kMessages : Shape::Kind::kMessage;
        known.message = &find(*field.message_type());
      } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        known.kind = repeated ? Shape::Kind::kTexts : Shape::Kind::kText;
      } else {
        known.kind = repeated ? Shape::Kind::kColumn : Shape::Kind::kNumber;
        made.has_columns |= repeated;
      }
    }
    return made;
  }

  std::mutex mutex_;
  std::map<const Descriptor*, std::unique_ptr<Shape>> shapes_;
};

std::uint64_t numbers_in(const Shape::Field& field, const WireField& wire) {
  if (wire.type != WireField::kBytes) return 1;
  return field.packed_width != 0 ? wire.bytes.size() / field.packed_width : varints_in(wire.bytes);
}

class Measurement {
 public:
  explicit Measurement(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  void add(const Shape& shape, std::string_view payload) {
    size.bytes += shape.object_bytes;
    std::array<std::uint64_t, Shape::kMostFields> column_lengths;
    if (shape.has_columns) column_lengths.fill(0);
    WireReader reader(payload);
    while (size.bytes <= most_bytes_) {
      const auto wire = reader.next();
      if (!wire) return;
      static constexpr Shape::Field kUnknown;
      const Shape::Field& field = wire->number < Shape::kMostFields ? shape.fields[wire->number] : kUnknown;
      switch (field.kind) {
        case Shape::Kind::kUnknown:
          size.bytes += kUnknownBytes + wire->whole.size();
          break;
        case Shape::Kind::kNumber:
          break;
        case Shape::Kind::kColumn: {
          const std::uint64_t count = numbers_in(field, *wire);
          size.bytes += count * field.width;
          size.numbers += count;
          size.longest_column = std::max(size.longest_column, column_lengths[wire->number] += count);
          break;
        }
        case Shape::Kind::kText:
          size.bytes += wire->bytes.size();
          break;
        case Shape::Kind::kTexts:
          ++size.entries;
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

}  // namespace

MessageSize measure_message(const Descriptor& type, std::string_view payload, std::uint64_t most_bytes) {
  static Shapes shapes;
  Measurement measurement(most_bytes);
  measurement.add(shapes.of(type), payload);
  return measurement.size;
}

}  // namespace lanescope
