#include "agent/nvtx/payload.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "agent/channel/membership.h"
#include "agent/core/memory/arena.h"
#include "agent/core/text.h"
#include "agent/nvtx/names.h"
#include "agent/nvtx/payload_types.h"
#include "agent/process/forks.h"
#include "agent/process/lock.h"
#include "collector/channel/ring.h"

namespace lanescope::agent::nvtx {
namespace {

using channel::PayloadValue;

constexpr std::size_t kLimit = 16u << 20;  // bytes for schemas
constexpr std::size_t kBuckets = 256;
constexpr std::size_t kMaximumFields = 64;
constexpr std::uint64_t kShownElements = 16;  // of an array
constexpr std::size_t kMaximumEnumerators = 256;

struct Enumerator {
  std::string_view name;
  std::uint64_t value = 0;
};

struct Field {
  std::string_view name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t enumeration = 0;  // our number; 0: none
  Form form = Form::kAbsent;
};

// A schema, or an enumeration, which has enumerators instead of fields.
struct Schema {
  std::uint64_t id = 0;  // the id that the program uses
  std::uint32_t domain = 0;
  std::uint32_t number = 0;
  std::uint32_t size = 0;  // bytes of its data
  std::uint32_t alignment = 1;
  bool is_enumeration = false;
  std::string_view name;
  const Field* fields = nullptr;
  std::size_t field_count = 0;
  const Enumerator* enumerators = nullptr;
  std::size_t enumerator_count = 0;
  Schema* next_in_bucket = nullptr;
  Schema* next = nullptr;  // made before this one
};

constinit Lock schema_lock;
constinit Arena memory{kLimit};
constinit std::atomic<Schema*> buckets[kBuckets] = {};
constinit Schema* newest = nullptr;
constinit std::uint64_t next_dynamic_id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;

// For data whose schema is not known, because it was registered before we came, or never.
constexpr std::uint32_t kNoDomain = 0xffff'ffff;
constexpr std::size_t kShownBytes = 96;
constexpr Field kUnknownFields[] = {{.name = "schema"}, {.name = "size"}, {.name = "bytes"}};
constinit std::atomic<Schema*> unknown_schema{nullptr};
constinit std::atomic<bool> has_told_of_unknown{false};
constinit std::atomic<bool> has_told_of_shortage{false};

std::size_t bucket_of(std::uint32_t domain, std::uint64_t id) noexcept { return (id ^ domain * 31u) % kBuckets; }

const Schema* find(std::uint32_t domain, std::uint64_t id) noexcept {
  const Schema* schema = buckets[bucket_of(domain, id)].load(std::memory_order_acquire);
  while (schema != nullptr && (schema->domain != domain || schema->id != id)) schema = schema->next_in_bucket;
  return schema;
}

struct Layout {
  Form form = Form::kAbsent;
  std::uint32_t bytes = 0;  // bytes of one element if it is an array
  std::uint32_t alignment = 1;
  std::uint32_t enumeration = 0;
  const Schema* nested = nullptr;
  std::uint32_t elements = 1;
  bool is_array = false;
};

Layout layout_of(std::uint32_t domain, const nvtxPayloadSchemaEntry_t& entry) noexcept {
  constexpr std::uint64_t kIsPointer = NVTX_PAYLOAD_ENTRY_FLAG_POINTER;
  const auto array = static_cast<std::uint64_t>(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_TYPE(entry.flags));
  if ((entry.flags & kIsPointer) != 0) return {Form::kAbsent, sizeof(void*), sizeof(void*)};
  const TypeLayout type = layout_of_type(entry.type);
  Layout layout{type.form, type.bytes, type.bytes};
  if (layout.bytes == 0) {
    const Schema* nested = find(domain, entry.type);
    if (nested == nullptr) return {};
    layout = {nested->is_enumeration ? Form::kUnsigned : Form::kAbsent, nested->size, nested->alignment, nested->is_enumeration ? nested->number : 0};
    if (!nested->is_enumeration) layout.nested = nested;
  }
  const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(entry.arrayOrUnionDetail, 1u << 20));
  const bool is_fixed = array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  if (is_text_type(entry.type) && (is_fixed || (array == 0 && count > 0 && entry.type != NVTX_PAYLOAD_ENTRY_TYPE_CHAR)))
    return {Form::kTextInPlace, count, 1, 0};
  if (array != 0 && !is_fixed) return {};  // only the data knows the length: fields after it have no fixed place
  layout.is_array = is_fixed;
  if (is_fixed) layout.elements = count;
  return layout;
}

template <typename T>
T* allocate(std::size_t count) noexcept {
  auto* values = static_cast<T*>(memory.allocate(count * sizeof(T)));
  for (std::size_t i = 0; values != nullptr && i < count; ++i) ::new (values + i) T{};
  return values;
}

std::uint32_t rounded_up(std::uint32_t value, std::uint32_t alignment) noexcept {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

void tell(const Schema& schema) noexcept {
  channel::Record record{};
  record.id = schema.number;
  for (std::size_t i = 0; i < schema.field_count; ++i) {
    record.type = channel::RecordType::kPayloadField;
    record.category = static_cast<std::uint32_t>(i);
    record.payload = schema.fields[i].enumeration;
    write_metadata(record, schema.fields[i].name);
  }
  for (std::size_t i = 0; i < schema.enumerator_count; ++i) {
    record.type = channel::RecordType::kPayloadEnumerator;
    record.category = static_cast<std::uint32_t>(i);
    record.payload = schema.enumerators[i].value;
    write_metadata(record, schema.enumerators[i].name);
  }
}

// Requires: the lock is held.
void add(Schema& schema) noexcept {
  schema.number = newest == nullptr ? 1 : newest->number + 1;
  schema.next = newest;
  newest = &schema;
  std::atomic<Schema*>& bucket = buckets[bucket_of(schema.domain, schema.id)];
  schema.next_in_bucket = bucket.load(std::memory_order_relaxed);
  bucket.store(&schema, std::memory_order_release);
}

// The fields of a schema in their order. A field that contains others is replaced by these, with names such as "position.x" and "sizes[2]".
class FieldList {
 public:
  explicit FieldList(Field* fields) noexcept : fields_(fields) {}
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void add(std::string_view name, std::uint32_t offset, const Layout& layout) noexcept {
    for (std::uint32_t i = 0; i < layout.elements && i < kShownElements; ++i) {
      char text[kLongestName];
      const std::string_view element = layout.is_array ? joined(text, "%.*s[%u]", name, i) : name;
      const std::uint32_t place = offset + i * layout.bytes;
      if (layout.nested == nullptr) add({memory.copy(element), place, layout.bytes, layout.enumeration, layout.form});
      for (std::size_t k = 0; layout.nested != nullptr && k < layout.nested->field_count; ++k) {
        Field part = layout.nested->fields[k];
        char whole[kLongestName];
        const int size = std::snprintf(whole, sizeof(whole), "%.*s.%.*s", static_cast<int>(element.size()), element.data(), static_cast<int>(part.name.size()),
                                       part.name.data());
        part.name = memory.copy({whole, std::min(static_cast<std::size_t>(size), sizeof(whole) - 1)});
        part.offset += place;
        add(part);
      }
    }
  }

 private:
  static constexpr std::size_t kLongestName = 256;

  static std::string_view joined(char (&text)[kLongestName], const char* format, std::string_view name, std::uint32_t index) noexcept {
    const int size = std::snprintf(text, sizeof(text), format, static_cast<int>(name.size()), name.data(), index);
    return {text, std::min(static_cast<std::size_t>(size), sizeof(text) - 1)};
  }
  void add(const Field& field) noexcept {
    if (size_ < kMaximumFields) fields_[size_++] = field;
  }

  Field* fields_;
  std::size_t size_ = 0;
};

// Requires: the lock is held.
bool add_fields(Schema& schema, const nvtxPayloadSchemaAttr_t& attributes) noexcept {
  const std::size_t count = std::min(attributes.numEntries, kMaximumFields);
  Field* fields = allocate<Field>(kMaximumFields);
  if (fields == nullptr) return false;
  // Only the program knows which member of a union is valid.
  const bool has_type = (attributes.fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE) != 0;
  const bool is_union =
      has_type && (attributes.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION || attributes.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR);
  FieldList list(fields);
  const auto packing = (attributes.fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT) != 0 && attributes.packAlign != 0
                           ? static_cast<std::uint32_t>(attributes.packAlign)
                           : 16u;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = attributes.entries[i];
    const Layout layout = layout_of(schema.domain, entry);
    if (layout.bytes == 0) break;
    const std::uint32_t alignment = std::min(layout.alignment, packing);
    const std::uint32_t behind = is_union ? 0 : rounded_up(next, alignment);
    const std::uint32_t offset = entry.offset != 0 ? static_cast<std::uint32_t>(entry.offset) : behind;
    const bool is_shown = (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_HIDE) == 0 && !is_union;
    if (is_shown) list.add(bounded_text(entry.name), offset, layout);
    next = std::max(next, offset + layout.bytes * layout.elements);
    schema.alignment = std::max(schema.alignment, alignment);
  }
  schema.fields = fields;
  schema.field_count = list.size();
  schema.size = rounded_up(next, schema.alignment);
  if ((attributes.fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) != 0 && attributes.payloadStaticSize != 0)
    schema.size = static_cast<std::uint32_t>(attributes.payloadStaticSize);
  return true;
}

std::uint64_t chosen_id(bool chosen, std::uint64_t id) noexcept { return chosen && id != 0 ? id : next_dynamic_id++; }

class ValueWriter {
 public:
  explicit ValueWriter(PayloadValues& values) noexcept : values_(values) {}

  void number(PayloadValue::Kind kind, std::uint64_t bits) noexcept { put({kind, sizeof(bits)}, &bits); }
  void absent() noexcept { put({PayloadValue::kAbsent, 0}, nullptr); }
  void text(std::string_view text) noexcept {
    const std::size_t room = sizeof(values_.bytes) - values_.size;
    if (room <= sizeof(PayloadValue)) return;
    const std::size_t size = channel::cut_at_character(text, std::min<std::size_t>(room - sizeof(PayloadValue), 256));
    put({PayloadValue::kText, static_cast<std::uint16_t>(size)}, text.data());
  }

 private:
  void put(PayloadValue header, const void* bytes) noexcept {
    if (full_ || sizeof(values_.bytes) - values_.size < sizeof(header) + header.bytes) {
      full_ = true;
      return;
    }
    std::memcpy(values_.bytes + values_.size, &header, sizeof(header));
    if (header.bytes != 0) std::memcpy(values_.bytes + values_.size + sizeof(header), bytes, header.bytes);
    values_.size = static_cast<std::uint16_t>(values_.size + sizeof(header) + header.bytes);
  }

  PayloadValues& values_;
  bool full_ = false;
};

std::uint64_t unsigned_at(const std::byte* data, std::uint32_t bytes) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, data, std::min<std::uint32_t>(bytes, sizeof(value)));
  return value;
}

std::uint64_t sign_extended(std::uint64_t value, std::uint32_t bytes) noexcept {
  if (bytes >= sizeof(value)) return value;
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

double real_at(const std::byte* data, std::uint32_t bytes) noexcept {
  float single = 0;
  double value = 0;
  if (bytes == sizeof(single)) {
    std::memcpy(&single, data, sizeof(single));
    return single;
  }
  std::memcpy(&value, data, sizeof(value));
  return value;
}

template <typename T>
T pointer_at(const std::byte* data) noexcept {
  T pointer = nullptr;
  std::memcpy(&pointer, data, sizeof(pointer));
  return pointer;
}

void write_value(ValueWriter& out, const Field& field, const std::byte* data) noexcept {
  switch (field.form) {
    case Form::kUnsigned:
      return out.number(PayloadValue::kUnsigned, unsigned_at(data, field.bytes));
    case Form::kSigned:
      return out.number(PayloadValue::kSigned, sign_extended(unsigned_at(data, field.bytes), field.bytes));
    case Form::kReal: {
      const double value = real_at(data, field.bytes);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      return out.number(PayloadValue::kReal, bits);
    }
    case Form::kPointerToText:
      return out.text(bounded_text(pointer_at<const char*>(data)));
    case Form::kTextInPlace: {
      const auto* text = reinterpret_cast<const char*>(data);
      return out.text({text, strnlen(text, field.bytes)});
    }
    case Form::kRegisteredString: {
      const auto* string = pointer_at<const RegisteredString*>(data);
      return string == nullptr ? out.absent() : out.text(string->text);
    }
    case Form::kAbsent:
      return out.absent();
  }
}

const Schema* first_known(std::uint32_t domain, const nvtxPayloadData_t*& data, std::size_t count) noexcept {
  for (std::size_t i = 0; data != nullptr && i < count; ++i, ++data) {
    const Schema* schema = data->payload == nullptr ? nullptr : find(domain, data->schemaId);
    if (schema != nullptr && !schema->is_enumeration) return schema;
  }
  return nullptr;
}

// Null if there is no memory.
const Schema* schema_of_unknown() noexcept {
  Schema* schema = unknown_schema.load(std::memory_order_acquire);
  if (schema == nullptr) {
    const ScopedLock lock(schema_lock);
    schema = unknown_schema.load(std::memory_order_relaxed);
    if (schema != nullptr) return schema;
    schema = memory.create<Schema>();
    if (schema == nullptr) return nullptr;
    schema->domain = kNoDomain;
    schema->fields = kUnknownFields;
    schema->field_count = std::size(kUnknownFields);
    add(*schema);
    unknown_schema.store(schema, std::memory_order_release);
  }
  return schema;
}

void tell_no_room() noexcept {
  if (has_told_of_shortage.exchange(true, std::memory_order_relaxed)) return;
  report(Component::kNvtx, ComponentState::kFailed, Severity::kWarning,
         "The program has registered more schemas of NVTX's structured data than there is room for: data of further ones is shown as bytes. Register each "
         "schema once.");
}

void tell_of_unknown(const Schema& schema) noexcept {
  if (has_told_of_unknown.exchange(true, std::memory_order_relaxed)) return;
  tell(schema);
  report(Component::kNvtx, ComponentState::kRecording, Severity::kWarning,
         "Structured data of NVTX events is shown as bytes: the program said what its fields are before it was attached to, or never. Start "
         "it with lanescope profile, or with lanescope profile --arm to attach to it later, and fields have their names.");
}

// Reads the raw bytes if their number is known.
void read_unknown(const nvtxPayloadData_t* data, std::size_t count, PayloadValues& values) noexcept {
  const auto is_readable = [](const nvtxPayloadData_t& each) { return each.payload != nullptr && each.size != 0 && each.size != static_cast<std::size_t>(-1); };
  const nvtxPayloadData_t* const end = data + count;
  const nvtxPayloadData_t* const found = data == nullptr ? end : std::find_if(data, end, is_readable);
  const Schema* schema = found == end ? nullptr : schema_of_unknown();
  if (schema == nullptr) return;
  tell_of_unknown(*schema);
  char digits[2 * kShownBytes];
  const std::size_t shown = std::min(found->size, kShownBytes);
  for (std::size_t i = 0; i < shown; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<const unsigned char*>(found->payload)[i];
    digits[2 * i] = kDigits[byte >> 4];
    digits[2 * i + 1] = kDigits[byte & 15];
  }
  values.schema = schema->number;
  ValueWriter out(values);
  out.number(PayloadValue::kUnsigned, found->schemaId);
  out.number(PayloadValue::kUnsigned, found->size);
  out.text({digits, 2 * shown});
}

}  // namespace

std::uint64_t register_schema(std::uint32_t domain, const nvtxPayloadSchemaAttr_t* attributes) noexcept {
  constexpr std::uint64_t kNeeded = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  if (attributes == nullptr || (attributes->fieldMask & kNeeded) != kNeeded || attributes->entries == nullptr) return 0;
  Schema* schema = nullptr;
  std::uint64_t id = 0;
  {
    const ScopedLock lock(schema_lock);
    id = chosen_id((attributes->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0, attributes->schemaId);
    schema = memory.create<Schema>();
    if (schema != nullptr) {
      schema->id = id;
      schema->domain = domain;
      if ((attributes->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) != 0) schema->name = memory.copy(bounded_text(attributes->name));
      add_fields(*schema, *attributes) ? add(*schema) : void(schema = nullptr);
    }
  }
  schema != nullptr ? tell(*schema) : tell_no_room();
  return id;
}

std::uint64_t register_enumeration(std::uint32_t domain, const nvtxPayloadEnumAttr_t* attributes) noexcept {
  constexpr std::uint64_t kNeeded = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES;
  if (attributes == nullptr || (attributes->fieldMask & kNeeded) != kNeeded || attributes->entries == nullptr) return 0;
  Schema* schema = nullptr;
  std::uint64_t id = 0;
  {
    const ScopedLock lock(schema_lock);
    id = chosen_id((attributes->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) != 0, attributes->schemaId);
    const std::size_t count = std::min(attributes->numEntries, kMaximumEnumerators);
    auto* enumerators = allocate<Enumerator>(count);
    schema = enumerators == nullptr ? nullptr : memory.create<Schema>();
    if (schema != nullptr) {
      for (std::size_t i = 0; i < count; ++i) enumerators[i] = {memory.copy(bounded_text(attributes->entries[i].name)), attributes->entries[i].value};
      schema->id = id;
      schema->domain = domain;
      schema->is_enumeration = true;
      const bool has_size = (attributes->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) != 0 && attributes->sizeOfEnum != 0;
      schema->size = schema->alignment = has_size ? static_cast<std::uint32_t>(std::min<std::size_t>(attributes->sizeOfEnum, 8)) : sizeof(int);
      schema->enumerators = enumerators;
      schema->enumerator_count = count;
      add(*schema);
    }
  }
  schema != nullptr ? tell(*schema) : tell_no_room();
  return id;
}

void read_values(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count, PayloadValues& values) noexcept {
  const nvtxPayloadData_t* const first = data;
  const Schema* schema = first_known(domain, data, count);
  if (schema == nullptr) return read_unknown(first, count, values);
  values.schema = schema->number;
  ValueWriter out(values);
  const auto* bytes = static_cast<const std::byte*>(data->payload);
  // SIZE_MAX means the schema's own size.
  const std::size_t size = data->size == static_cast<std::size_t>(-1) ? schema->size : data->size;
  for (std::size_t i = 0; i < schema->field_count; ++i) {
    const Field& field = schema->fields[i];
    if (field.offset + std::size_t{field.bytes} > size) return;
    write_value(out, field, bytes + field.offset);
  }
}

std::string_view schema_name(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count) noexcept {
  const Schema* schema = first_known(domain, data, count);
  return schema == nullptr ? std::string_view() : schema->name;
}

void prepare_payloads() noexcept { hold_across_forks(schema_lock); }

void repeat_schemas() noexcept {
  has_told_of_unknown.store(false, std::memory_order_relaxed);
  has_told_of_shortage.store(false, std::memory_order_relaxed);
  const ScopedLock lock(schema_lock);
  for (const Schema* schema = newest; schema != nullptr; schema = schema->next) tell(*schema);
}

}  // namespace lanescope::agent::nvtx
