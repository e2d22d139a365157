#include "agent/nvtx/event_attributes.h"

#include <bit>
#include <cstddef>

#include "agent/nvtx/names.h"

namespace lanescope::agent::nvtx {
namespace {

// As numbered in trace.proto.
enum class PayloadType : std::uint8_t { kNone = 0, kUnsigned = 1, kSigned = 2, kReal = 3 };

void read_payload(const nvtxEventAttributes_t& attributes, channel::Record& record) noexcept {
  const auto set = [&record](PayloadType type, std::uint64_t bits) {
    record.payload_type = static_cast<std::uint8_t>(type);
    record.payload = bits;
  };
  switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return set(PayloadType::kUnsigned, attributes.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return set(PayloadType::kUnsigned, attributes.payload.uiValue);
    case NVTX_PAYLOAD_TYPE_INT64:
      return set(PayloadType::kSigned, static_cast<std::uint64_t>(attributes.payload.llValue));
    case NVTX_PAYLOAD_TYPE_INT32:
      return set(PayloadType::kSigned, static_cast<std::uint64_t>(std::int64_t{attributes.payload.iValue}));
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return set(PayloadType::kReal, std::bit_cast<std::uint64_t>(attributes.payload.dValue));
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return set(PayloadType::kReal, std::bit_cast<std::uint64_t>(double{attributes.payload.fValue}));
    default:
      return;
  }
}

std::string_view read_message(const nvtxEventAttributes_t& attributes, TextBuffer& buffer) noexcept {
  switch (attributes.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return bounded_text(attributes.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return utf8_text(attributes.message.unicode, buffer);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto* string = reinterpret_cast<const RegisteredString*>(attributes.message.registered);
      return string == nullptr ? std::string_view() : string->text;
    }
    default:
      return {};
  }
}

}  // namespace

std::string_view read_attributes(const nvtxEventAttributes_t* attributes, channel::Record& record, TextBuffer& buffer) noexcept {
  const auto reaches = [attributes](std::size_t end) { return attributes->size >= end; };
  if (attributes == nullptr || !reaches(offsetof(nvtxEventAttributes_t, payloadType))) return {};
  record.category = attributes->category;
  if (attributes->colorType == NVTX_COLOR_ARGB) record.color = attributes->color;
  if (!reaches(offsetof(nvtxEventAttributes_t, messageType))) return {};
  read_payload(*attributes, record);
  return reaches(sizeof(nvtxEventAttributes_t)) ? read_message(*attributes, buffer) : std::string_view();
}

const nvtxPayloadData_t* extended_payload(const nvtxEventAttributes_t* attributes, std::size_t& count) noexcept {
  if (attributes == nullptr || attributes->size < offsetof(nvtxEventAttributes_t, messageType)) return nullptr;
  if (attributes->payloadType != NVTX_PAYLOAD_TYPE_EXT) return nullptr;
  count = static_cast<std::size_t>(attributes->reserved0);
  return reinterpret_cast<const nvtxPayloadData_t*>(attributes->payload.ullValue);
}

}  // namespace lanescope::agent::nvtx
