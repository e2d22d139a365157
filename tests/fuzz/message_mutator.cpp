#include "message_mutator.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz_target.h"

namespace lanescope::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kMostElements = 4'000;  // in a column, so that inputs stay small

void collect(Message& message, std::vector<Message*>& all) {
  all.push_back(&message);
  const Reflection& access = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  access.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) collect(*access.MutableMessage(&message, field), all);
    for (int i = 0; field->is_repeated() && i < std::min(access.FieldSize(message, field), 64); ++i)
      collect(*access.MutableRepeatedMessage(&message, field, i), all);
  }
}

std::string changed_text(std::string text, std::mt19937& random) {
  const std::size_t size = text.size();
  text.resize(std::max<std::size_t>(size + 16, 64));
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  if (random() % 16 == 0) text = "_Z" + text;
  return text;
}

// Sets the field, or its element at `position` (a new element if that is the end), to a number or a text.
void set(Message& message, const FieldDescriptor* field, int position, std::mt19937& random) {
  const Reflection& access = *message.GetReflection();
  const bool repeated = field->is_repeated();
  const bool behind = repeated && position >= access.FieldSize(message, field);
  const auto put = [&](auto value, auto set_one, auto set_element, auto add) {
    if (!repeated)
      (access.*set_one)(&message, field, value);
    else if (behind)
      (access.*add)(&message, field, value);
    else
      (access.*set_element)(&message, field, position, value);
  };
  const std::uint64_t value = number(random);
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put(static_cast<std::int32_t>(value), &Reflection::SetInt32, &Reflection::SetRepeatedInt32, &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return put(static_cast<std::int64_t>(value), &Reflection::SetInt64, &Reflection::SetRepeatedInt64, &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return put(static_cast<std::uint32_t>(value), &Reflection::SetUInt32, &Reflection::SetRepeatedUInt32, &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return put(value, &Reflection::SetUInt64, &Reflection::SetRepeatedUInt64, &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return put(static_cast<double>(value), &Reflection::SetDouble, &Reflection::SetRepeatedDouble, &Reflection::AddDouble);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return put(static_cast<float>(value), &Reflection::SetFloat, &Reflection::SetRepeatedFloat, &Reflection::AddFloat);
    case FieldDescriptor::CPPTYPE_BOOL:
      return put(value % 2 == 1, &Reflection::SetBool, &Reflection::SetRepeatedBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_ENUM:
      return put(static_cast<int>(value % 24), &Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue, &Reflection::AddEnumValue);
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string text = repeated ? (behind ? std::string() : access.GetRepeatedString(message, field, position)) : access.GetString(message, field);
      text = changed_text(std::move(text), random);
      if (!repeated)
        access.SetString(&message, field, std::move(text));
      else if (behind)
        access.AddString(&message, field, std::move(text));
      else
        access.SetRepeatedString(&message, field, position, std::move(text));
      return;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (repeated)
        access.AddMessage(&message, field);
      else
        access.MutableMessage(&message, field);
  }
}

void change_repeated(Message& message, const FieldDescriptor* field, std::mt19937& random) {
  const Reflection& access = *message.GetReflection();
  const int size = access.FieldSize(message, field);
  const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  const auto position = [&] { return static_cast<int>(random() % static_cast<unsigned>(size)); };
  switch (random() % 7) {
    case 0:
      if (size > 0) access.RemoveLast(&message, field);
      return;
    case 1:
      if (size > 1) access.SwapElements(&message, field, position(), position());
      return;
    case 2:
      if (size > 0 && is_message && size < kMostElements) {
        Message& copy = *access.AddMessage(&message, field);
        copy.CopyFrom(access.GetRepeatedMessage(message, field, position()));
      }
      return;
    case 3: {
      const int more = std::min<int>(kMostElements - size, 1 + static_cast<int>(random() % (random() % 8 == 0 ? 1000 : 8)));
      for (int i = 0; i < more && !is_message; ++i) set(message, field, size + i, random);
      return;
    }
    case 4:
      if (random() % 8 == 0) access.ClearField(&message, field);
      return;
    default:
      set(message, field, size > 0 && !is_message ? position() : size, random);
  }
}

}  // namespace

std::uint64_t number(std::mt19937& random) {
  constexpr std::uint64_t kEnds[] = {
      0,          1,          0x7f,       0x80,       0xff,       0xffff, 0x10000,   0x7fffffff, 0x80000000,     0xffffffff,
      1ull << 32, 1ull << 61, 1ull << 62, ~0ull >> 1, 1ull << 63, ~0ull,  ~0ull - 1, 1'000'000,  86'400'000'000, 0x5555'5555'5555'5555};
  switch (random() % 4) {
    case 0:
      return kEnds[random() % std::size(kEnds)];
    case 1:
      return std::uint64_t{random()} << 32 | random();
    default:
      return random() % 32;
  }
}

void change(Message& message, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
    std::vector<Message*> all;
    collect(message, all);
    Message& part = *all[random() % all.size()];
    const auto* type = part.GetDescriptor();
    if (type->field_count() == 0) continue;
    // A field that is present is chosen more often than one that is not.
    const Reflection& access = *part.GetReflection();
    std::vector<const FieldDescriptor*> present;
    access.ListFields(part, &present);
    const FieldDescriptor* field = present.empty() || random() % 4 == 0 ? type->field(static_cast<int>(random() % static_cast<unsigned>(type->field_count())))
                                                                        : present[random() % present.size()];
    if (field->is_repeated())
      change_repeated(part, field, random);
    else if (random() % 8 == 0)
      access.ClearField(&part, field);
    else
      set(part, field, 0, random);
  }
}

}  // namespace lanescope::fuzz
