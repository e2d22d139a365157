// A program whose NVTX events carry structured data, by the headers' own payload extension: schemas with ids of the program's choice, as in NCCL, with an
// enumeration; one with an id of the tool's choice; text; and a registered string.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "nvtx_payloads_facts.h"

using namespace lanescope::test::nvtx_payloads;

namespace {

struct Collective {
  std::uint64_t communicator;
  std::size_t bytes;
  int operation;
};

struct Sample {
  char label[8];
  const char* note;
  float loss;
  std::int16_t delta;
};

struct Shape {
  std::int32_t rows;
  std::int32_t columns;
};
union Choice {
  double real;
  std::int32_t number;
};
struct Layer {
  char name[6];
  Shape input;
  Shape outputs[2];
  std::uint8_t bits[3];
  Choice choice;
  std::uint16_t last;
};

void push(nvtxDomainHandle_t domain, nvtxStringHandle_t message, std::uint64_t schema, const void* data, std::size_t size) {
  nvtxPayloadData_t payload{schema, size, data};
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = message;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&payload);
  nvtxDomainRangePushEx(domain, &attributes);
}

void register_collective(nvtxDomainHandle_t domain) {
  const nvtxPayloadEnum_t operations[] = {{"Sum", 0, 0}, {"Max", 2, 0}};
  nvtxPayloadEnumAttr_t enumeration{};
  enumeration.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  enumeration.entries = operations;
  enumeration.numEntries = 2;
  enumeration.sizeOfEnum = sizeof(int);
  enumeration.schemaId = kOperationSchema;
  nvtxPayloadEnumRegister(domain, &enumeration);

  nvtxPayloadSchemaEntry_t entries[3] = {};
  entries[0].type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
  entries[0].name = "NCCL communicator ID";
  entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE;
  entries[1].name = "Message size [bytes]";
  entries[1].offset = offsetof(Collective, bytes);
  entries[2].type = kOperationSchema;
  entries[2].name = "Reduction operation";
  entries[2].offset = offsetof(Collective, operation);
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 3;
  schema.payloadStaticSize = sizeof(Collective);
  schema.schemaId = kCollectiveSchema;
  nvtxPayloadSchemaRegister(domain, &schema);
}

// Without offsets and id: the tool must determine both.
std::uint64_t register_sample(nvtxDomainHandle_t domain) {
  nvtxPayloadSchemaEntry_t entries[4] = {};
  entries[0].type = NVTX_PAYLOAD_ENTRY_TYPE_CHAR;
  entries[0].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  entries[0].arrayOrUnionDetail = sizeof(Sample::label);
  entries[0].name = "label";
  entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
  entries[1].name = "note";
  entries[2].type = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT;
  entries[2].name = "loss";
  entries[3].type = NVTX_PAYLOAD_ENTRY_TYPE_INT16;
  entries[3].name = "delta";
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.name = "sample";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 4;
  return nvtxPayloadSchemaRegister(domain, &schema);
}

template <std::size_t Count>
std::uint64_t register_schema(nvtxDomainHandle_t domain, std::uint64_t type, const nvtxPayloadSchemaEntry_t (&entries)[Count]) {
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.type = type;
  schema.entries = entries;
  schema.numEntries = Count;
  return nvtxPayloadSchemaRegister(domain, &schema);
}

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::uint64_t flags = 0, std::uint64_t detail = 0) {
  nvtxPayloadSchemaEntry_t result{};
  result.type = type;
  result.name = name;
  result.flags = flags;
  result.arrayOrUnionDetail = detail;
  return result;
}

// Schemas within a schema, single and as an array; an array of numbers; a union, which has no content; and a field after it.
std::uint64_t register_layer(nvtxDomainHandle_t domain) {
  const std::uint64_t shape =
      register_schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "rows"), entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "columns")});
  const std::uint64_t choice =
      register_schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_UNION, {entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "real"), entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "number")});
  return register_schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                         {entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name", 0, sizeof(Layer::name)), entry(shape, "input"),
                          entry(shape, "outputs", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "bits", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 3), entry(choice, "choice"),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "last")});
}

}  // namespace

int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  register_collective(domain);
  const std::uint64_t sample_schema = register_sample(domain);
  const nvtxStringHandle_t all_reduce = nvtxDomainRegisterStringA(domain, "ncclAllReduce");
  for (int i = 0; i < kCollectives; ++i) {
    const Collective collective{kCommunicator, kFirstBytes << i, i == 0 ? 0 : i == 1 ? 2 : 7};
    push(domain, all_reduce, kCollectiveSchema, &collective, sizeof(collective));
    nvtxDomainRangePop(domain);
  }
  const Sample sample{"a \"b\"", "zwölf", 0.5f, -3};
  nvtxPayloadData_t data{sample_schema, sizeof(sample), &sample};
  nvtxMarkPayload(domain, &data, 1);
  const Layer layer{"dense", {3, 4}, {{5, 6}, {7, 8}}, {1, 0, 1}, {.real = 1.5}, 65'535};
  nvtxPayloadData_t nested{register_layer(domain), sizeof(layer), &layer};
  nvtxMarkPayload(domain, &nested, 1);
  const int unknown = 1;
  push(domain, all_reduce, kUnknownSchema, &unknown, sizeof(unknown));
  nvtxDomainRangePop(domain);
  std::printf("%d collectives\n", kCollectives);
}
