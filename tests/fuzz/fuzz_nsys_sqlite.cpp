// Any bytes as a database exported by Nsight Systems. Mutations change the bytes of pages, or change values and rows by SQL.
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>

#include <sqlite3.h>

#include "fuzz_target.h"
#include "model/import/nsys_sqlite.h"
#include "scratch_file.h"

using namespace lanescope;

namespace {

// Every table that is read, with its columns.
constexpr const char* kSchema = R"sql(
PRAGMA page_size = 512; PRAGMA encoding = 'UTF-8';
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, systemClockNs INTEGER);
CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT);
CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER);
CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, busLocation TEXT, uuid TEXT, cuDevice INTEGER, smCount INTEGER, computeMajor INTEGER,
  computeMinor INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER, pid INTEGER);
CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO(contextId INTEGER, deviceId INTEGER, nullStreamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER);
CREATE TABLE TARGET_INFO_CUDA_STREAM(contextId INTEGER, streamId INTEGER, priority INTEGER, flag INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, gridX INTEGER, blockX INTEGER, launchType INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, copyKind INTEGER, bytes INTEGER, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, graphId INTEGER, graphExecId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, syncType INTEGER, eventId INTEGER, eventSyncId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, eventId INTEGER, eventSyncId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, eventClass INTEGER, correlationId INTEGER,
  returnValue INTEGER, callchainId INTEGER);
CREATE TABLE OSRT_API(start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, eventClass INTEGER, callchainId INTEGER);
CREATE TABLE PROFILER_OVERHEAD(start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD(start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, correlationId INTEGER, overheadType INTEGER);
CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, category INTEGER, color INTEGER, text TEXT, textId INTEGER, globalTid INTEGER,
  endGlobalTid INTEGER, domainId INTEGER, uint64Value INTEGER, doubleValue REAL, jsonText TEXT);
CREATE TABLE MPI_RANKS(globalTid INTEGER, rank INTEGER);
CREATE TABLE MPI_P2P_EVENTS(start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, commHandle INTEGER, tag INTEGER, remoteRank INTEGER, size INTEGER);
CREATE TABLE MPI_COLLECTIVES_EVENTS(start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, rootRank INTEGER, size INTEGER, recvSize INTEGER);
CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS(start INTEGER, globalPid INTEGER, address INTEGER, originalFaultPc INTEGER, CpuInstruction INTEGER,
  module INTEGER, sourceFile INTEGER, sourceLine INTEGER);
CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER, address INTEGER, numberOfPageFaults INTEGER);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, address INTEGER, bytes INTEGER,
  memKind INTEGER, memoryOperationType INTEGER, name TEXT, localMemoryPoolAddress INTEGER);
CREATE TABLE CUDA_GPU_MEMORY_POOL_EVENTS(start INTEGER, globalPid INTEGER, deviceId INTEGER, address INTEGER, operationType INTEGER);
CREATE TABLE SCHED_EVENTS(start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER, threadState INTEGER);
CREATE TABLE COMPOSITE_EVENTS(id INTEGER PRIMARY KEY, start INTEGER, cpu INTEGER, globalTid INTEGER);
CREATE TABLE SAMPLING_CALLCHAINS(id INTEGER, symbol INTEGER, module INTEGER, kernelMode INTEGER, stackDepth INTEGER);
CREATE TABLE CUDA_CALLCHAINS(id INTEGER, symbol INTEGER, module INTEGER, kernelMode INTEGER, stackDepth INTEGER);
CREATE TABLE OSRT_CALLCHAINS(id INTEGER, symbol INTEGER, module INTEGER, kernelMode INTEGER, stackDepth INTEGER);
CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER, value REAL);
CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT);
CREATE TABLE DIAGNOSTIC_EVENT(timestamp INTEGER, severity INTEGER, text TEXT, globalPid INTEGER);
INSERT INTO StringIds VALUES (1, 'void add<float>(float*)'), (2, 'add'), (3, 'cudaLaunchKernel_v7000'), (4, '[Python]'), (5, 'main');
)sql";

using Connection = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

Connection open_in_memory() {
  sqlite3* database = nullptr;
  sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
  return {database, sqlite3_close};
}

std::string serialized(sqlite3* database) {
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string result(reinterpret_cast<const char*>(bytes), bytes == nullptr ? 0 : static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  return result;
}

std::vector<std::string> texts_of(sqlite3* database, const std::string& query) {
  std::vector<std::string> texts;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr) == SQLITE_OK)
    while (sqlite3_step(statement) == SQLITE_ROW && texts.size() < 200)
      if (const auto* text = sqlite3_column_text(statement, 0)) texts.emplace_back(reinterpret_cast<const char*>(text));
  sqlite3_finalize(statement);
  return texts;
}

// Rows of small numbers in each table, which refer to each other.
std::string with_rows(int rows) {
  const Connection database = open_in_memory();
  if (sqlite3_exec(database.get(), kSchema, nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
  for (const std::string& table : texts_of(database.get(), "SELECT name FROM sqlite_master WHERE type = 'table'"))
    for (int row = 0; row < rows; ++row) {
      std::string values;
      for (const std::string& column : texts_of(database.get(), "SELECT name FROM pragma_table_info('" + table + "')"))
        values += (values.empty() ? "" : ", ") + std::to_string(column == "start" ? 10 * row : column == "end" ? 10 * row + 5 : 1 + row % 3);
      sqlite3_exec(database.get(), ("INSERT INTO " + table + " VALUES (" + values + ")").c_str(), nullptr, nullptr, nullptr);
    }
  const char* types[] = {"33", "34", "39", "59", "60", "70", "71", "75"};
  for (const char* type : types)
    sqlite3_exec(database.get(),
                 ("INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) VALUES (1, 2, " + std::string(type) + ", 'MPI', 16777217)").c_str(), nullptr,
                 nullptr, nullptr);
  return serialized(database.get());
}

// Changes values, rows or the schema of a database. Returns an empty string if the input is no longer a database.
std::string changed_by_statements(const std::uint8_t* data, std::size_t size, std::mt19937& random) {
  const Connection database = open_in_memory();
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(size));
  std::memcpy(copy, data, size);
  const auto bytes = static_cast<sqlite3_int64>(size);
  if (sqlite3_deserialize(database.get(), "main", copy, bytes, bytes, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) != SQLITE_OK) return {};
  int steps = 0;
  sqlite3_progress_handler(
      database.get(), 10'000, [](void* count) { return ++*static_cast<int*>(count) > 20 ? 1 : 0; }, &steps);
  const auto tables = texts_of(database.get(), "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\"%'");
  if (tables.empty()) return {};
  const auto& table = tables[random() % tables.size()];
  const auto columns = texts_of(database.get(), "SELECT name FROM pragma_table_info('" + table + "')");
  if (columns.empty()) return {};
  const auto& column = columns[random() % columns.size()];
  constexpr std::array kValues = {"0",
                                  "1",
                                  "-1",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "NULL",
                                  "1e308",
                                  "-1e308",
                                  "'text'",
                                  "60",
                                  "16777217",
                                  "4294967295",
                                  "4294967296",
                                  "281474976710656",
                                  "x'00ff'",
                                  "1e999",
                                  "59",
                                  "'GPU 1: X'",
                                  "2",
                                  "zeroblob(9)",
                                  "''",
                                  "75",
                                  "'SMs [Throughput %]'",
                                  "2305843009213693953",
                                  "'_Z3fooi'"};
  const std::string value = kValues[random() % kValues.size()];
  std::string statement;
  switch (random() % 8) {
    case 0:
      statement = "INSERT INTO \"" + table + "\" SELECT * FROM \"" + table + "\" LIMIT 3";
      break;
    case 1:
      statement = "DELETE FROM \"" + table + "\" WHERE rowid IN (SELECT rowid FROM \"" + table + "\" ORDER BY random() LIMIT 1)";
      break;
    case 2:
      statement = random() % 8 == 0 ? "DROP TABLE \"" + table + "\"" : "INSERT INTO \"" + table + "\" DEFAULT VALUES";
      break;
    case 3:
      statement = random() % 4 == 0 ? "ALTER TABLE \"" + table + "\" DROP COLUMN \"" + column + "\"" : "UPDATE \"" + table + "\" SET rowid = " + value;
      break;
    default:
      statement = "UPDATE \"" + table + "\" SET \"" + column + "\" = " + value + " WHERE rowid % 3 = " + std::to_string(random() % 3);
  }
  sqlite3_exec(database.get(), statement.c_str(), nullptr, nullptr, nullptr);
  return serialized(database.get());
}

// Pages are not moved: an insertion would move all of them.
void change_in_place(std::uint8_t* data, std::size_t size, std::mt19937& random) {
  constexpr std::size_t kPage = 512;
  const auto any = [&] { return random() % size; };
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) switch (random() % 5) {
      case 0:
        data[any()] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        data[any()] ^= static_cast<std::uint8_t>(1u << random() % 8);
        break;
      case 2: {  // the head of a page: its kind, the number of cells, their start, the page to the right
        const std::size_t at = any() / kPage * kPage + (random() % 8 == 0 ? 100 : 0) + random() % 16;
        if (at < size) data[at] = static_cast<std::uint8_t>(random() % 2 ? random() : random() % 16);
        break;
      }
      case 3:
        if (size >= 2 * kPage) {
          const std::size_t from = any() / kPage * kPage, to = any() / kPage * kPage;
          std::memmove(data + to, data + from, std::min({kPage, size - from, size - to}));
        }
        break;
      case 4: {
        const std::size_t from = any(), to = any();
        std::memmove(data + to, data + from, std::min({std::size_t{random() % 64}, size - from, size - to}));
        break;
      }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFile file(".sqlite");
  file.write(data, size);
  const auto trace = import_nsys_sqlite(file.path());
  if (!trace && trace.error().text.find(file.path()) == std::string::npos) std::abort();  // the message names the file
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed) {
  std::mt19937 random(seed);
  if (size == 0 || random() % 32 == 0) return LLVMFuzzerMutate(data, size, most);
  if (random() % 2 == 0) {
    const std::string changed = changed_by_statements(data, size, random);
    if (!changed.empty() && changed.size() <= most) {
      std::memcpy(data, changed.data(), changed.size());
      return changed.size();
    }
  }
  change_in_place(data, size, random);
  return size;
}

std::vector<std::string> valid_inputs() { return {with_rows(0), with_rows(1), with_rows(3)}; }
