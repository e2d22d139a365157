#include "agent/ucx/range.h"

#include <cstddef>
#include <cstring>
#include <string_view>

#include <nvtx3/nvToolsExtPayload.h>

#include "agent/core/loader/stood_before.h"
#include "agent/process/lock.h"

namespace lanescope::agent::ucx {
namespace {

struct Payload {
  std::uint64_t bytes;
  std::uint64_t tag;
};
constexpr std::uint64_t kBytesSchema = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
constexpr std::uint64_t kTaggedSchema = kBytesSchema + 1;

// Parts of a ucp_datatype_t.
constexpr Word kClassMask = 7;
constexpr Word kContiguous = 0;
constexpr Word kScattered = 2;
constexpr int kSizeShift = 3;
struct Part {  // ucp_dt_iov_t
  const void* buffer;
  std::size_t length;
};
// The beginning of ucp_request_param_t.
struct RequestParameters {
  std::uint32_t fields;
  std::uint32_t flags;
  void* request;
  void* callback;
  Word datatype;
};
constexpr std::uint32_t kHasDatatype = 1u << 3;

bool is_ucp(const char* name) noexcept { return std::string_view(name).starts_with("libucp.so"); }

constinit StoodBefore library{is_ucp};
thread_local std::uint32_t depth = 0;  // nesting depth of UCX calls
Lock lock;
std::atomic<int> state{0};  // 0: not asked, 1: nobody records, 2: the domain exists
nvtxDomainHandle_t domain = nullptr;

constexpr nvtxPayloadSchemaEntry_t number(const char* name, std::size_t offset) noexcept {
  nvtxPayloadSchemaEntry_t entry{};
  entry.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
  entry.name = name;
  entry.offset = offset;
  return entry;
}

void register_schema(std::uint64_t id, std::size_t fields) noexcept {
  static constexpr nvtxPayloadSchemaEntry_t kFields[] = {number("bytes", offsetof(Payload, bytes)), number("tag", offsetof(Payload, tag))};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = kFields;
  schema.numEntries = fields;
  schema.payloadStaticSize = sizeof(Payload);
  schema.schemaId = id;
  nvtxPayloadSchemaRegister(domain, &schema);
}

// Requires: the lock is held.
void create_domain() noexcept {
  domain = nvtxDomainCreateA("UCX");
  if (domain != nullptr) {
    const char* const kinds[] = {"message", "remote memory", "wait", "other"};
    for (std::uint32_t kind = 0; kind < 4; ++kind) nvtxDomainNameCategoryA(domain, kind + 1, kinds[kind]);
    register_schema(kBytesSchema, 1);
    register_schema(kTaggedSchema, 2);
  }
  state.store(domain == nullptr ? 1 : 2, std::memory_order_release);
}

bool is_recorded() noexcept {
  if (state.load(std::memory_order_acquire) == 0) {
    const ScopedLock locked(lock);
    if (state.load(std::memory_order_relaxed) == 0) create_domain();
  }
  return state.load(std::memory_order_relaxed) == 2;
}

}  // namespace

void* Entry::next() noexcept {
  void* known = found.load(std::memory_order_acquire);
  if (known == nullptr) found.store(known = library.function(name), std::memory_order_release);
  return known;
}

Range::Range(Entry& entry, const Facts& facts) noexcept {
  if (depth++ != 0 || !is_recorded()) return;
  nvtxStringHandle_t text = entry.text.load(std::memory_order_acquire);
  if (text == nullptr) entry.text.store(text = nvtxDomainRegisterStringA(domain, entry.name), std::memory_order_release);
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = static_cast<std::uint32_t>(entry.kind);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = text;
  const Payload payload{facts.bytes, facts.tag};
  const nvtxPayloadData_t data{facts.has == Data::kTaggedBytes ? kTaggedSchema : kBytesSchema, sizeof(payload), &payload};
  if (facts.has != Data::kNone) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
  }
  nvtxDomainRangePushEx(domain, &attributes);
  open_ = true;
}

Range::~Range() {
  --depth;
  if (open_) nvtxDomainRangePop(domain);
}

std::uint64_t bytes_of(Word buffer, Word count, Word datatype) noexcept {
  if ((datatype & kClassMask) == kContiguous) return static_cast<std::uint64_t>(count) * (datatype >> kSizeShift);
  if ((datatype & kClassMask) != kScattered || buffer == 0) return 0;
  std::uint64_t bytes = 0;
  const auto* const parts = reinterpret_cast<const Part*>(buffer);
  for (Word i = 0; i < count; ++i) bytes += parts[i].length;
  return bytes;
}

std::uint64_t requested_bytes(Word buffer, Word count, Word parameters) noexcept {
  constexpr Word kBytes = Word{1} << kSizeShift;
  const auto* const given = reinterpret_cast<const RequestParameters*>(parameters);
  return bytes_of(buffer, count, given != nullptr && (given->fields & kHasDatatype) != 0 ? given->datatype : kBytes);
}

}  // namespace lanescope::agent::ucx
