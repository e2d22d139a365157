#include "agent/mpi/range.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <dlfcn.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "agent/core/loader/loaded_file.h"
#include "agent/core/loader/loader.h"
#include "agent/mpi/communicators.h"
#include "agent/process/lock.h"

namespace lanescope::agent::mpi {
namespace {

struct Payload {
  std::int32_t rank;
  std::int32_t peer;
  std::int32_t tag;
  std::int32_t source;
  std::int32_t source_tag;
  std::int32_t root;
  std::uint64_t bytes;
  std::uint64_t received_bytes;
  std::uint64_t request_count;
  const char* communicator;
  std::uint64_t handle;
  std::uint64_t request;
};

constexpr std::uint64_t kRanks = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;  // the enumeration of values that are not ranks
constexpr std::uint64_t kFirstSchema = kRanks + 1;
constexpr std::uint64_t kWithRequest = 16;  // added to the schema of a call that makes a request

thread_local std::uint32_t depth = 0;  // nesting depth of MPI calls
Lock lock;
std::atomic<int> state{0};  // 0: not asked, 1: nobody records, 2: the domain exists
nvtxDomainHandle_t domain = nullptr;

constexpr nvtxPayloadSchemaEntry_t field(std::uint64_t type, const char* name, std::size_t offset) noexcept {
  nvtxPayloadSchemaEntry_t entry{};
  entry.type = type;
  entry.name = name;
  entry.offset = offset;
  return entry;
}

constexpr auto kPeer = field(kRanks, "peer", offsetof(Payload, peer));
constexpr auto kTag = field(kRanks, "tag", offsetof(Payload, tag));
constexpr auto kSource = field(kRanks, "source", offsetof(Payload, source));
constexpr auto kSourceTag = field(kRanks, "receive tag", offsetof(Payload, source_tag));
constexpr auto kRoot = field(kRanks, "root", offsetof(Payload, root));
constexpr auto kBytes = field(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", offsetof(Payload, bytes));
constexpr auto kSentBytes = field(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "send bytes", offsetof(Payload, bytes));
constexpr auto kReceivedBytes = field(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "receive bytes", offsetof(Payload, received_bytes));
constexpr auto kRequestCount = field(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "requests", offsetof(Payload, request_count));
constexpr auto kCommunicatorName = field(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "communicator", offsetof(Payload, communicator));
constexpr auto kCommunicatorHandle = field(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "communicator handle", offsetof(Payload, handle));
constexpr auto kRequest = field(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "request", offsetof(Payload, request));

std::uint64_t schema_of(Data data, bool has_request) noexcept { return kFirstSchema + static_cast<std::uint64_t>(data) + (has_request ? kWithRequest : 0); }

template <std::size_t Count>
void register_schema(Data data, const nvtxPayloadSchemaEntry_t (&fields)[Count]) noexcept {
  nvtxPayloadSchemaEntry_t entries[Count + 2] = {field(kRanks, "rank", offsetof(Payload, rank))};
  std::size_t count = 1;
  for (const nvtxPayloadSchemaEntry_t& entry : fields) entries[count++] = entry;
  entries[count] = kRequest;
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.payloadStaticSize = sizeof(Payload);
  for (const bool has_request : {false, true}) {
    schema.numEntries = count + (has_request ? 1 : 0);
    schema.schemaId = schema_of(data, has_request);
    nvtxPayloadSchemaRegister(domain, &schema);
  }
}

void register_ranks() noexcept {
  const nvtxPayloadEnum_t names[] = {{"any", static_cast<std::uint32_t>(kAnyRank), 0}, {"none", static_cast<std::uint32_t>(kNoRank), 0}};
  nvtxPayloadEnumAttr_t enumeration{};
  enumeration.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  enumeration.entries = names;
  enumeration.numEntries = 2;
  enumeration.sizeOfEnum = sizeof(std::int32_t);
  enumeration.schemaId = kRanks;
  nvtxPayloadEnumRegister(domain, &enumeration);
}

void name_category(Kind kind, const char* name) noexcept { nvtxDomainNameCategoryA(domain, static_cast<std::uint32_t>(kind), name); }

// Through the agent, which NVTX has loaded by now.
void tell_user(const char* sentence) noexcept {
  const LoadedFile agent = find_loaded_file([](const char* name) { return strcmp(name, "liblanescope-agent.so") == 0; });
  void* const loaded = *agent.path != '\0' ? load_file(agent.path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (loaded == nullptr) return;
  if (void* const tell = dlsym(loaded, "lanescope_agent_tell")) reinterpret_cast<void (*)(const char*)>(tell)(sentence);
}

// Requires: the lock is held.
void create_domain() noexcept {
  domain = nvtxDomainCreateA("MPI");
  const bool is_strange = domain != nullptr && has_standard_abi();
  if (is_strange)
    tell_user(
        "Calls of MPI are not recorded: the program uses the standard ABI of MPI 5 (libmpi_abi). Run it with Open MPI's or MPICH's own "
        "library.");
  if (domain == nullptr || is_strange) {
    state.store(1, std::memory_order_release);
    return;
  }
  name_category(Kind::kPointToPoint, "point-to-point");
  name_category(Kind::kCollective, "collective");
  name_category(Kind::kCompletion, "start and wait");
  name_category(Kind::kOneSided, "one-sided");
  name_category(Kind::kFile, "file");
  name_category(Kind::kOther, "other");
  register_ranks();
  register_schema(Data::kMessage, {kPeer, kTag, kBytes, kCommunicatorName, kCommunicatorHandle});
  register_schema(Data::kExchange, {kPeer, kTag, kBytes, kSource, kSourceTag, kReceivedBytes, kCommunicatorName, kCommunicatorHandle});
  register_schema(Data::kRootedCollective, {kRoot, kSentBytes, kReceivedBytes, kCommunicatorName, kCommunicatorHandle});
  register_schema(Data::kCollective, {kSentBytes, kReceivedBytes, kCommunicatorName, kCommunicatorHandle});
  register_schema(Data::kRequests, {kRequestCount});
  register_schema(Data::kTransfer, {kPeer, kBytes});
  register_schema(Data::kAccess, {kBytes});
  state.store(2, std::memory_order_release);
}

bool is_recorded() noexcept {
  if (state.load(std::memory_order_acquire) == 0) {
    const ScopedLock locked(lock);
    if (state.load(std::memory_order_relaxed) == 0) create_domain();
  }
  return state.load(std::memory_order_relaxed) == 2;
}

// The data passed to NVTX, and the memory that it points to.
struct Told {
  Communicator communicator;
  Payload payload{};
  nvtxPayloadData_t data{};
};

void tell(Data kind, const Facts& facts, Told& told) noexcept {
  if (facts.communicator != 0) told.communicator = communicator(facts.communicator);
  told.payload = {own_rank(),
                  facts.peer,
                  facts.tag,
                  facts.source,
                  facts.source_tag,
                  facts.root,
                  facts.bytes,
                  facts.received_bytes,
                  static_cast<std::uint64_t>(facts.request_count),
                  told.communicator.name,
                  told.communicator.handle,
                  facts.request};
  told.data = {schema_of(kind, facts.request != 0), sizeof(Payload), &told.payload};
}

}  // namespace

Range::Range(Entry& entry) noexcept : entry_(entry) { recorded_ = depth++ == 0 && is_recorded(); }

Range::~Range() {
  --depth;
  if (open_) nvtxDomainRangePop(domain);
}

void Range::begin(const Facts& facts) noexcept {
  nvtxStringHandle_t text = entry_.text.load(std::memory_order_acquire);
  if (text == nullptr) {
    char name[64] = {};
    const std::size_t length = strlen(entry_.function.name);
    const bool for_large_counts = length > 2 && strcmp(entry_.function.name + length - 2, "_c") == 0;  // it gets the name of the other variant
    std::memcpy(name, entry_.function.name, std::min(for_large_counts ? length - 2 : length, sizeof(name) - 1));
    text = nvtxDomainRegisterStringA(domain, name);
    entry_.text.store(text, std::memory_order_release);
  }
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = static_cast<std::uint32_t>(entry_.kind);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = text;
  Told told;
  if (entry_.data != Data::kNone && own_rank() >= 0) {
    tell(entry_.data, facts, told);
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&told.data);
  }
  nvtxDomainRangePushEx(domain, &attributes);
  open_ = true;
}

void Range::end(const Facts& facts) noexcept {
  if (own_rank() < 0) return;
  Told told;
  tell(entry_.data, facts, told);
  nvtxRangePopPayload(domain, &told.data, 1);
  open_ = false;
}

}  // namespace lanescope::agent::mpi
