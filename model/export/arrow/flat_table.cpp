#include "flat_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lanescope::exporters {
namespace {

constexpr std::size_t kOffset = 4;  // bytes of an offset to data elsewhere

template <typename Number>
void append(std::string& buffer, Number value) {
  buffer.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void align(std::string& buffer, std::size_t size, std::size_t ahead = 0) {
  while ((buffer.size() + ahead) % size != 0) buffer.push_back('\0');
}

// Offsets are relative to their own position, and point forward.
void point(std::string& buffer, std::size_t at, std::size_t to) {
  const auto distance = static_cast<std::uint32_t>(to - at);
  std::memcpy(buffer.data() + at, &distance, sizeof distance);
}

}  // namespace

std::size_t FlatTable::Field::inline_size() const noexcept {
  const Number* const number = std::get_if<Number>(&value);
  return number == nullptr ? kOffset : number->size;
}

std::string FlatTable::bytes() const {
  std::string buffer(kOffset, '\0');
  point(buffer, 0, append_to(buffer));
  align(buffer, 8);
  return buffer;
}

// Returns the position of the table. The list of its fields' positions is in front of it, the data that they point to is behind it.
std::size_t FlatTable::append_to(std::string& buffer) const {
  std::vector<const Field*> by_size;
  int places = 0;
  for (const Field& field : fields_) {
    by_size.push_back(&field);
    places = std::max(places, field.place + 1);
  }
  // Larger fields come first, so that each is aligned.
  std::stable_sort(by_size.begin(), by_size.end(), [](const Field* a, const Field* b) { return a->inline_size() > b->inline_size(); });

  std::vector<std::uint16_t> offsets(static_cast<std::size_t>(places), 0);
  std::size_t size = kOffset;
  if (!by_size.empty() && by_size.front()->inline_size() == 8) size = 8;
  for (const Field* field : by_size) {
    offsets[static_cast<std::size_t>(field->place)] = static_cast<std::uint16_t>(size);
    size += field->inline_size();
  }
  const std::size_t list_size = 2 * (2 + offsets.size());
  align(buffer, 8, list_size);
  const std::size_t begin = buffer.size() + list_size;
  append(buffer, static_cast<std::uint16_t>(list_size));
  append(buffer, static_cast<std::uint16_t>(size));
  for (const std::uint16_t offset : offsets) append(buffer, offset);
  append(buffer, static_cast<std::int32_t>(list_size));  // from the table back to the list
  buffer.resize(begin + size, '\0');
  for (const Field* field : by_size) append_value(*field, begin + offsets[static_cast<std::size_t>(field->place)], buffer);
  return begin;
}

void FlatTable::append_value(const Field& field, std::size_t at, std::string& buffer) {
  if (const auto* number = std::get_if<Number>(&field.value)) {
    std::memcpy(buffer.data() + at, &number->value, number->size);  // little-endian
  } else if (const auto* text = std::get_if<std::string>(&field.value)) {
    align(buffer, kOffset);
    point(buffer, at, buffer.size());
    append(buffer, static_cast<std::uint32_t>(text->size()));
    buffer.append(*text).push_back('\0');
  } else if (const auto* words = std::get_if<Words>(&field.value)) {
    align(buffer, 8, kOffset);
    point(buffer, at, buffer.size());
    append(buffer, static_cast<std::uint32_t>(words->values.size() / words->each));
    for (const std::int64_t word : words->values) append(buffer, word);
  } else {
    const auto& tables = std::get<std::vector<FlatTable>>(field.value);
    std::size_t place = at;
    if (field.form == Form::kVector) {
      align(buffer, kOffset);
      point(buffer, at, buffer.size());
      append(buffer, static_cast<std::uint32_t>(tables.size()));
      place = buffer.size();
      buffer.resize(place + kOffset * tables.size(), '\0');
    }
    for (const FlatTable& table : tables) {
      point(buffer, place, table.append_to(buffer));
      place += kOffset;
    }
  }
}

}  // namespace lanescope::exporters
