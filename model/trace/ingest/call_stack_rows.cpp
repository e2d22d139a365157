#include "call_stack_rows.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "lanescope/trace.pb.h"
#include "model/file/wire.h"

namespace lanescope {
namespace {

// Numbers of a message by their fields; if a field occurs again, the later number counts.
template <std::size_t kFields>
using Numbers = std::array<std::uint64_t, kFields>;

// Fields of one varint with tags of one byte, which nearly all are, are read on a fast path. `fixed`: the field of eight bytes, if there is one.
template <std::size_t kFields>
bool read_numbers(std::string_view message, Numbers<kFields>& numbers, std::uint32_t fixed = 0) {
  static_assert(kFields <= 16, "a tag of a larger field has two bytes");
  const char* at = message.data();
  const char* const end = at + message.size();
  while (at < end) {
    const auto tag = static_cast<std::uint8_t>(*at);
    const std::size_t number = tag >> 3;
    if ((tag & 7) != WireField::kVarint || number == 0 || number >= kFields || number == fixed) break;
    at = read_varint(at + 1, end, numbers[number]);
    if (at == nullptr) return false;
  }
  WireReader others({at, static_cast<std::size_t>(end - at)});
  while (const auto field = others.next()) {
    if (field->number >= kFields) continue;
    if (field->number == fixed && field->type == WireField::kEightBytes) {
      std::memcpy(&numbers[fixed], field->bytes.data(), sizeof(numbers[fixed]));
      if constexpr (std::endian::native == std::endian::big) numbers[fixed] = __builtin_bswap64(numbers[fixed]);
    } else if (field->number != fixed && field->type == WireField::kVarint) {
      numbers[field->number] = field->value;
    }
  }
  return others.sound();
}

std::uint32_t short_number(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

std::optional<CallStackRows::Location> location_of(std::string_view message) {
  using Fields = proto::CodeLocation;
  Numbers<Fields::kSourceLineFieldNumber + 1> of{};
  if (!read_numbers(message, of, Fields::kAddressFieldNumber)) return std::nullopt;
  return CallStackRows::Location{
      short_number(of[Fields::kKindFieldNumber]),      short_number(of[Fields::kModuleFieldNumber]),   of[Fields::kAddressFieldNumber],
      short_number(of[Fields::kBuildIdFieldNumber]),   short_number(of[Fields::kFunctionFieldNumber]), short_number(of[Fields::kSourceFileFieldNumber]),
      short_number(of[Fields::kSourceLineFieldNumber])};
}

std::optional<CallStackRows::Function> function_of(std::string_view message) {
  using Fields = proto::FunctionAt;
  Numbers<Fields::kSourceLineFieldNumber + 1> of{};
  if (!read_numbers(message, of)) return std::nullopt;
  return CallStackRows::Function{short_number(of[Fields::kFunctionFieldNumber]), short_number(of[Fields::kSourceFileFieldNumber]),
                                 short_number(of[Fields::kSourceLineFieldNumber])};
}

std::optional<CallStackRows::Node> node_of(std::string_view message) {
  using Fields = proto::CallNode;
  Numbers<Fields::kLocationFieldNumber + 1> of{};
  if (!read_numbers(message, of)) return std::nullopt;
  return CallStackRows::Node{short_number(of[Fields::kParentFieldNumber]), short_number(of[Fields::kLocationFieldNumber])};
}

// Appends the row of a nested message; returns false if it is no such message.
template <typename Row>
bool append(std::optional<Row> row, std::vector<Row>& rows) {
  if (row) rows.push_back(*std::move(row));
  return row.has_value();
}

std::optional<CallStackRows::Symbol> symbol_of(std::string_view message) {
  using Fields = proto::LocationSymbol;
  CallStackRows::Symbol symbol;
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == Fields::kLocationFieldNumber && field->type == WireField::kVarint) symbol.location = short_number(field->value);
    if (field->number == Fields::kFunctionsFieldNumber && field->type == WireField::kBytes && !append(function_of(field->bytes), symbol.functions))
      return std::nullopt;
  }
  if (!reader.sound()) return std::nullopt;
  return symbol;
}

}  // namespace

bool CallStackRows::parse(std::string_view bytes) {
  using Fields = proto::CallStacks;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->type == WireField::kVarint) {
      if (field->number == Fields::kFirstLocationFieldNumber) first_location = short_number(field->value);
      if (field->number == Fields::kFirstNodeFieldNumber) first_node = short_number(field->value);
    } else if (field->type == WireField::kBytes) {
      if (field->number == Fields::kLocationsFieldNumber && !append(location_of(field->bytes), locations)) return false;
      if (field->number == Fields::kSymbolsFieldNumber && !append(symbol_of(field->bytes), symbols)) return false;
      if (field->number == Fields::kNodesFieldNumber && !append(node_of(field->bytes), nodes)) return false;
    }
  }
  return reader.sound();
}

}  // namespace lanescope
