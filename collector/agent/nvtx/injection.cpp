#include "agent/nvtx/injection.h"

#include <atomic>

#include "agent/channel/capture.h"
#include "agent/channel/thread_writer.h"
#include "agent/core/text.h"
#include "agent/nvtx/event_attributes.h"
#include "agent/nvtx/filter.h"
#include "agent/nvtx/included_range.h"
#include "agent/nvtx/names.h"
#include "agent/nvtx/payload.h"
#include "agent/process/call_filters.h"
#include "agent/process/forks.h"

namespace lanescope::agent::nvtx {
namespace {

using channel::Record;
using channel::RecordType;

constexpr int kNoLevel = NVTX_NO_PUSH_POP_TRACKING;

constinit std::atomic<std::uint64_t> next_range{1};

std::uint32_t id_of(nvtxDomainHandle_t handle) noexcept {
  const auto* domain = reinterpret_cast<const Domain*>(handle);
  return domain == nullptr ? 0 : domain->id;
}

Record event(RecordType type, std::uint32_t domain) noexcept {
  Record record{};
  record.type = type;
  record.domain = domain;
  return record;
}

bool is_recorded(const ThreadWriter& writer, std::uint32_t domain) noexcept {
  const channel::Settings& settings = writer.settings();
  return settings.recording.load(std::memory_order_relaxed) != 0 && settings.trace_nvtx.load(std::memory_order_relaxed) != 0 && is_wanted(settings, domain);
}

// Structured data of an event, if it has any.
struct Data {
  const nvtxPayloadData_t* first = nullptr;
  std::size_t count = 0;
};

Data data_of(const nvtxEventAttributes_t* attributes) noexcept {
  Data data;
  data.first = extended_payload(attributes, data.count);
  return data;
}

[[gnu::noinline]] void write_data(ThreadWriter& writer, std::uint32_t domain, std::int64_t time, const Data& data) noexcept {
  PayloadValues values;
  read_values(domain, data.first, data.count, values);
  if (values.schema == 0) return;
  Record payload = event(RecordType::kPayload, domain);
  payload.time = time;
  payload.id = values.schema;
  writer.write(payload, {values.bytes, values.size});
}

inline void emit(ThreadWriter& writer, Record record, std::string_view text, const Data& data = {}) noexcept {
  if (!is_recorded(writer, record.domain)) return;
  record.time = writer.now();
  if (data.first != nullptr) write_data(writer, record.domain, record.time, data);
  writer.write(record, text);
}

// The level in a record, by which the host can pair pushes and pops if some were dropped; 0 if levels are not counted.
std::uint64_t level_id(int level) noexcept { return level == kNoLevel ? 0 : static_cast<std::uint64_t>(level) + 1; }

// A key that differs from those of all other open ranges of the process, for begin_capture() and begin_included().
std::uint64_t range_key(const ThreadWriter& writer, std::uint32_t domain, int level) noexcept {
  return pushed_range_key(writer.state().own.thread_id, domain, level);
}

// Levels count from 0, whether or not the ranges are being recorded now.
inline int push(Record record, std::string_view text, const Data& data = {}) noexcept {
  ThreadWriter writer;
  if (!writer) return kNoLevel;
  const int level = record.domain < kCountedDomains ? writer.state().levels[record.domain]++ : kNoLevel;
  record.id = level_id(level);
  if (level != kNoLevel) {
    if (begins_capture(writer.settings(), record.domain, text)) begin_capture(*writer.state().header, range_key(writer, record.domain, level));
    begin_included(record.domain, text, range_key(writer, record.domain, level));
  }
  emit(writer, record, text, data);
  return level;
}

inline int pop(std::uint32_t domain, const Data& data = {}) noexcept {
  ThreadWriter writer;
  if (!writer) return kNoLevel;
  int level = kNoLevel;
  if (domain < kCountedDomains) {
    std::int32_t& open = writer.state().levels[domain];
    if (open == 0) return kNoLevel;  // no push of it was seen
    level = --open;
  }
  Record record = event(RecordType::kRangePop, domain);
  record.id = level_id(level);
  emit(writer, record, {}, data);
  if (level != kNoLevel) {
    end_capture(*writer.state().header, range_key(writer, domain, level));
    end_included(range_key(writer, domain, level));
  }
  return level;
}

void mark(Record record, std::string_view text, const Data& data = {}) noexcept {
  ThreadWriter writer;
  if (writer) emit(writer, record, text, data);
}

nvtxRangeId_t start(Record record, std::string_view text, const Data& data = {}) noexcept {
  record.id = next_range.fetch_add(1, std::memory_order_relaxed);
  ThreadWriter writer;
  if (!writer) return record.id;
  if (begins_capture(writer.settings(), record.domain, text)) begin_capture(*writer.state().header, record.id);
  begin_included(record.domain, text, record.id);
  emit(writer, record, text, data);
  return record.id;
}

void end(std::uint32_t domain, nvtxRangeId_t id, const Data& data = {}) noexcept {
  Record record = event(RecordType::kRangeEnd, domain);
  record.id = id;
  ThreadWriter writer;
  if (!writer) return;
  emit(writer, record, {}, data);
  end_capture(*writer.state().header, id);
  end_included(id);
}

// ---- NVTX_CB_MODULE_CORE: the default domain ---------------------------------------------------------------------------------------

void mark_ex(const nvtxEventAttributes_t* attributes) {
  TextBuffer buffer;
  Record record = event(RecordType::kMark, 0);
  const std::string_view text = read_attributes(attributes, record, buffer);
  mark(record, text, data_of(attributes));
}
void mark_a(const char* message) { mark(event(RecordType::kMark, 0), bounded_text(message)); }
void mark_w(const wchar_t* message) {
  TextBuffer buffer;
  mark(event(RecordType::kMark, 0), utf8_text(message, buffer));
}

nvtxRangeId_t range_start_ex(const nvtxEventAttributes_t* attributes) {
  TextBuffer buffer;
  Record record = event(RecordType::kRangeStart, 0);
  const std::string_view text = read_attributes(attributes, record, buffer);
  return start(record, text, data_of(attributes));
}
nvtxRangeId_t range_start_a(const char* message) { return start(event(RecordType::kRangeStart, 0), bounded_text(message)); }
nvtxRangeId_t range_start_w(const wchar_t* message) {
  TextBuffer buffer;
  return start(event(RecordType::kRangeStart, 0), utf8_text(message, buffer));
}
void range_end(nvtxRangeId_t id) { end(0, id); }

int range_push_ex(const nvtxEventAttributes_t* attributes) {
  if (ThreadWriter::finds_no_session()) return kNoLevel;
  TextBuffer buffer;
  Record record = event(RecordType::kRangePush, 0);
  const std::string_view text = read_attributes(attributes, record, buffer);
  return push(record, text, data_of(attributes));
}
int range_push_a(const char* message) {
  if (ThreadWriter::finds_no_session()) return kNoLevel;
  return push(event(RecordType::kRangePush, 0), bounded_text(message));
}
int range_push_w(const wchar_t* message) {
  TextBuffer buffer;
  return push(event(RecordType::kRangePush, 0), utf8_text(message, buffer));
}
int range_pop() { return pop(0); }

// Naming takes locks, so it is not done in a signal handler that may have interrupted the thread's own event.
void name_category_in(std::uint32_t domain, std::uint32_t category, std::string_view name) noexcept {
  if (const ThreadWriter writer; writer || is_armed()) name_category(domain, category, name);
}
void name_category_a(std::uint32_t category, const char* name) { name_category_in(0, category, bounded_text(name)); }
void name_category_w(std::uint32_t category, const wchar_t* name) {
  TextBuffer buffer;
  name_category_in(0, category, utf8_text(name, buffer));
}
void name_os_thread_a(std::uint32_t thread, const char* name) {
  if (const ThreadWriter writer; writer || is_armed()) name_thread(thread, bounded_text(name));
}
void name_os_thread_w(std::uint32_t thread, const wchar_t* name) {
  TextBuffer buffer;
  if (const ThreadWriter writer; writer || is_armed()) name_thread(thread, utf8_text(name, buffer));
}

// ---- NVTX_CB_MODULE_CORE2: domains -------------------------------------------------------------------------------------------------

void domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  TextBuffer buffer;
  Record record = event(RecordType::kMark, id_of(domain));
  const std::string_view text = read_attributes(attributes, record, buffer);
  mark(record, text, data_of(attributes));
}
nvtxRangeId_t domain_range_start_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  TextBuffer buffer;
  Record record = event(RecordType::kRangeStart, id_of(domain));
  const std::string_view text = read_attributes(attributes, record, buffer);
  return start(record, text, data_of(attributes));
}
void domain_range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) { end(id_of(domain), id); }
int domain_range_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  if (ThreadWriter::finds_no_session()) return kNoLevel;
  TextBuffer buffer;
  Record record = event(RecordType::kRangePush, id_of(domain));
  const std::string_view text = read_attributes(attributes, record, buffer);
  return push(record, text, data_of(attributes));
}
int domain_range_pop(nvtxDomainHandle_t domain) { return pop(id_of(domain)); }

void domain_name_category_a(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) {
  name_category_in(id_of(domain), category, bounded_text(name));
}
void domain_name_category_w(nvtxDomainHandle_t domain, std::uint32_t category, const wchar_t* name) {
  TextBuffer buffer;
  name_category_in(id_of(domain), category, utf8_text(name, buffer));
}

nvtxStringHandle_t register_text(std::string_view text) noexcept {
  const ThreadWriter writer;
  return writer || is_armed() ? reinterpret_cast<nvtxStringHandle_t>(register_string(text)) : nullptr;
}
nvtxStringHandle_t domain_register_string_a(nvtxDomainHandle_t, const char* string) { return register_text(bounded_text(string)); }
nvtxStringHandle_t domain_register_string_w(nvtxDomainHandle_t, const wchar_t* string) {
  TextBuffer buffer;
  return register_text(utf8_text(string, buffer));
}

nvtxDomainHandle_t make_domain(std::string_view name) noexcept {
  const ThreadWriter writer;
  return writer || is_armed() ? reinterpret_cast<nvtxDomainHandle_t>(domain_named(name)) : nullptr;
}
nvtxDomainHandle_t domain_create_a(const char* name) { return make_domain(bounded_text(name)); }
nvtxDomainHandle_t domain_create_w(const wchar_t* name) {
  TextBuffer buffer;
  return make_domain(utf8_text(name, buffer));
}

// ---- The payload extension ---------------------------------------------------------------------------------------------------------

std::uint64_t payload_schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attributes) {
  const ThreadWriter writer;
  return writer || is_armed() ? register_schema(id_of(domain), attributes) : 0;
}
std::uint64_t payload_enum_register(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) {
  const ThreadWriter writer;
  return writer || is_armed() ? register_enumeration(id_of(domain), attributes) : 0;
}
// An event that has only data gets the name of the data's schema.
void mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count) {
  mark(event(RecordType::kMark, id_of(domain)), schema_name(id_of(domain), data, count), {data, count});
}
int range_push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count) {
  if (ThreadWriter::finds_no_session()) return kNoLevel;
  return push(event(RecordType::kRangePush, id_of(domain)), schema_name(id_of(domain), data, count), {data, count});
}
int range_pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count) { return pop(id_of(domain), {data, count}); }
nvtxRangeId_t range_start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count) {
  return start(event(RecordType::kRangeStart, id_of(domain)), schema_name(id_of(domain), data, count), {data, count});
}
void range_end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* data, std::size_t count) { end(id_of(domain), id, {data, count}); }

// ---- NVTX_CB_MODULE_CUDA and CUDART: names of devices, contexts, streams and events -------------------------------------------------

constinit std::atomic<HandleNamer> handle_namer{nullptr};

void name_handle(CudaHandle kind, void* handle, std::string_view name) noexcept {
  const ThreadWriter writer;
  const HandleNamer namer = handle_namer.load(std::memory_order_acquire);
  if (writer && namer != nullptr) namer(kind, handle, name);
}
template <CudaHandle kKind>
void name_handle_a(void* handle, const char* name) {
  name_handle(kKind, handle, bounded_text(name));
}
template <CudaHandle kKind>
void name_handle_w(void* handle, const wchar_t* name) {
  TextBuffer buffer;
  name_handle(kKind, handle, utf8_text(name, buffer));
}

// CUdevice is also the ordinal.
void name_device(int ordinal, std::string_view name) noexcept {
  if (ordinal < 0) return;
  if (const ThreadWriter writer; writer || is_armed()) name_cuda_resource(CudaResource::kDevice, 0, static_cast<std::uint32_t>(ordinal), name);
}
void name_device_a(int ordinal, const char* name) { name_device(ordinal, bounded_text(name)); }
void name_device_w(int ordinal, const wchar_t* name) {
  TextBuffer buffer;
  name_device(ordinal, utf8_text(name, buffer));
}

// ---- Function tables ---------------------------------------------------------------------------------------------------------------

struct Handler {
  unsigned int id;
  NvtxFunctionPointer function;
};
template <typename Function>
Handler handler(unsigned int id, Function* function) noexcept {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

template <std::size_t Count>
bool fill(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module, const Handler (&handlers)[Count]) noexcept {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Handler& entry : handlers)
    if (entry.id < size && table[entry.id] != nullptr) *table[entry.id] = entry.function;
  return true;
}

bool fill_core(const NvtxExportTableCallbacks& callbacks) noexcept {
  return fill(
      callbacks, NVTX_CB_MODULE_CORE,
      {handler(NVTX_CBID_CORE_MarkEx, mark_ex), handler(NVTX_CBID_CORE_MarkA, mark_a), handler(NVTX_CBID_CORE_MarkW, mark_w),
       handler(NVTX_CBID_CORE_RangeStartEx, range_start_ex), handler(NVTX_CBID_CORE_RangeStartA, range_start_a),
       handler(NVTX_CBID_CORE_RangeStartW, range_start_w), handler(NVTX_CBID_CORE_RangeEnd, range_end), handler(NVTX_CBID_CORE_RangePushEx, range_push_ex),
       handler(NVTX_CBID_CORE_RangePushA, range_push_a), handler(NVTX_CBID_CORE_RangePushW, range_push_w), handler(NVTX_CBID_CORE_RangePop, range_pop),
       handler(NVTX_CBID_CORE_NameCategoryA, name_category_a), handler(NVTX_CBID_CORE_NameCategoryW, name_category_w),
       handler(NVTX_CBID_CORE_NameOsThreadA, name_os_thread_a), handler(NVTX_CBID_CORE_NameOsThreadW, name_os_thread_w)});
}

bool fill_domains(const NvtxExportTableCallbacks& callbacks) noexcept {
  return fill(callbacks, NVTX_CB_MODULE_CORE2,
              {handler(NVTX_CBID_CORE2_DomainMarkEx, domain_mark_ex), handler(NVTX_CBID_CORE2_DomainRangeStartEx, domain_range_start_ex),
               handler(NVTX_CBID_CORE2_DomainRangeEnd, domain_range_end), handler(NVTX_CBID_CORE2_DomainRangePushEx, domain_range_push_ex),
               handler(NVTX_CBID_CORE2_DomainRangePop, domain_range_pop), handler(NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category_a),
               handler(NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category_w), handler(NVTX_CBID_CORE2_DomainRegisterStringA, domain_register_string_a),
               handler(NVTX_CBID_CORE2_DomainRegisterStringW, domain_register_string_w), handler(NVTX_CBID_CORE2_DomainCreateA, domain_create_a),
               handler(NVTX_CBID_CORE2_DomainCreateW, domain_create_w)});
}

void fill_cuda(const NvtxExportTableCallbacks& callbacks) noexcept {
  constexpr auto* context_a = name_handle_a<CudaHandle::kContext>;
  constexpr auto* context_w = name_handle_w<CudaHandle::kContext>;
  constexpr auto* stream_a = name_handle_a<CudaHandle::kStream>;
  constexpr auto* stream_w = name_handle_w<CudaHandle::kStream>;
  constexpr auto* event_a = name_handle_a<CudaHandle::kEvent>;
  constexpr auto* event_w = name_handle_w<CudaHandle::kEvent>;
  fill(callbacks, NVTX_CB_MODULE_CUDA,
       {handler(NVTX_CBID_CUDA_NameCuDeviceA, name_device_a), handler(NVTX_CBID_CUDA_NameCuDeviceW, name_device_w),
        handler(NVTX_CBID_CUDA_NameCuContextA, context_a), handler(NVTX_CBID_CUDA_NameCuContextW, context_w), handler(NVTX_CBID_CUDA_NameCuStreamA, stream_a),
        handler(NVTX_CBID_CUDA_NameCuStreamW, stream_w), handler(NVTX_CBID_CUDA_NameCuEventA, event_a), handler(NVTX_CBID_CUDA_NameCuEventW, event_w)});
  fill(callbacks, NVTX_CB_MODULE_CUDART,
       {handler(NVTX_CBID_CUDART_NameCudaDeviceA, name_device_a), handler(NVTX_CBID_CUDART_NameCudaDeviceW, name_device_w),
        handler(NVTX_CBID_CUDART_NameCudaStreamA, stream_a), handler(NVTX_CBID_CUDART_NameCudaStreamW, stream_w),
        handler(NVTX_CBID_CUDART_NameCudaEventA, event_a), handler(NVTX_CBID_CUDART_NameCudaEventW, event_w)});
}

// A refusal holds for the life of the process and of its forked children; the child of a vfork can't decide that.
bool is_to_be_recorded() noexcept { return join_recording() || lacks_means_to_join() || is_armed() || (may_join() && !is_own_process()); }

}  // namespace

Injection install(NvtxGetExportTableFunc_t get_export_table) noexcept {
  if (get_export_table == nullptr) return Injection::kDeclined;
  prepare_names();
  if (!is_to_be_recorded()) return Injection::kDeclined;
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  constexpr std::size_t needed = offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable) + sizeof(callbacks->GetModuleFunctionTable);
  if (callbacks == nullptr || callbacks->struct_size < needed || callbacks->GetModuleFunctionTable == nullptr) return Injection::kDeclined;
  if (!fill_core(*callbacks)) return Injection::kDeclined;
  fill_domains(*callbacks);  // NVTX 1 has none
  fill_cuda(*callbacks);
  return Injection::kInstalled;
}

Injection install_extension(nvtxExtModuleInfo_t* module) noexcept {
  if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return Injection::kDeclined;
  prepare_names();
  if (!is_to_be_recorded()) return Injection::kDeclined;
  const nvtxExtModuleSegment_t& slots = module->segments[0];
  const Handler handlers[] = {handler(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, payload_schema_register),
                              handler(NVTX3EXT_CBID_nvtxPayloadEnumRegister, payload_enum_register),
                              handler(NVTX3EXT_CBID_nvtxMarkPayload, mark_payload),
                              handler(NVTX3EXT_CBID_nvtxRangePushPayload, range_push_payload),
                              handler(NVTX3EXT_CBID_nvtxRangePopPayload, range_pop_payload),
                              handler(NVTX3EXT_CBID_nvtxRangeStartPayload, range_start_payload),
                              handler(NVTX3EXT_CBID_nvtxRangeEndPayload, range_end_payload)};
  for (const Handler& entry : handlers)
    if (entry.id < slots.slotCount) slots.functionSlots[entry.id] = reinterpret_cast<std::intptr_t>(entry.function);
  return Injection::kInstalled;
}

void name_handles_with(HandleNamer namer) noexcept { handle_namer.store(namer, std::memory_order_release); }

}  // namespace lanescope::agent::nvtx
