#include "table_frames.h"

#include <algorithm>

#include "detail_fields.h"

namespace lanescope {
namespace {

constexpr std::size_t kPageBytes = 1u << 20;  // of texts
constexpr std::size_t kPageRows = 8'192;      // of other tables

Result<void> write_names(const Trace& trace, const EmitPayload& emit) {
  for (std::size_t id = 0; id < trace.name_count();) {
    proto::Names page;
    page.set_first(static_cast<std::uint32_t>(id));
    for (std::size_t bytes = 0; id < trace.name_count() && bytes < kPageBytes; ++id) {
      const std::string_view text = trace.name(static_cast<NameId>(id));
      page.add_texts(text.data(), text.size());
      bytes += text.size() + 2;
    }
    if (auto emitted = emit(proto::FRAME_NAMES, page.SerializeAsString()); !emitted) return emitted;
  }
  return {};
}

void describe(const CodeLocation& location, std::span<const CodeFunction> functions, std::uint32_t id, proto::CallStacks& page) {
  proto::CodeLocation& added = *page.add_locations();
  added.set_kind(static_cast<proto::CodeKind>(location.kind));
  added.set_module(location.module);
  added.set_build_id(location.build_id);
  added.set_address(location.address);
  if (functions.empty()) return;
  added.set_function(functions.front().function);
  added.set_source_file(functions.front().source_file);
  added.set_source_line(functions.front().source_line);
  if (functions.size() == 1) return;
  proto::LocationSymbol& symbol = *page.add_symbols();
  symbol.set_location(id);
  for (const CodeFunction& function : functions) {
    proto::FunctionAt& at = *symbol.add_functions();
    at.set_function(function.function);
    at.set_source_file(function.source_file);
    at.set_source_line(function.source_line);
  }
}

Result<void> write_call_stacks(const CallStacks& stacks, const EmitPayload& emit) {
  for (std::size_t first = 1; first < stacks.location_count(); first += kPageRows) {
    proto::CallStacks page;
    page.set_first_location(static_cast<std::uint32_t>(first));
    for (std::size_t id = first; id < std::min(first + kPageRows, stacks.location_count()); ++id) {
      const auto location = static_cast<CodeLocationId>(id);
      describe(stacks.location(location), stacks.functions(location), location, page);
    }
    if (auto emitted = emit(proto::FRAME_CALL_STACKS, page.SerializeAsString()); !emitted) return emitted;
  }
  for (std::size_t first = 1; first < stacks.node_count(); first += kPageRows) {
    proto::CallStacks page;
    page.set_first_node(static_cast<std::uint32_t>(first));
    for (std::size_t id = first; id < std::min(first + kPageRows, stacks.node_count()); ++id) {
      const CallNode& node = stacks.node(static_cast<CallNodeId>(id));
      proto::CallNode& added = *page.add_nodes();
      added.set_parent(node.parent);
      added.set_location(node.location);
    }
    if (auto emitted = emit(proto::FRAME_CALL_STACKS, page.SerializeAsString()); !emitted) return emitted;
  }
  return {};
}

// Appends the fields of one row after another to their columns.
class FieldWriter {
 public:
  explicit FieldWriter(proto::Details& page) : page_(page) {}
  void begin_row() { column_ = 0; }
  template <typename Number>
  void operator()(Number field) {
    next(static_cast<std::uint64_t>(field));
  }
  void name(NameId field) { next(field); }
  void call_node(CallNodeId field) { next(field); }
  void thread(ThreadId field) { optional(field); }
  void optional(std::uint32_t field) { next(field == kNone ? 0 : std::uint64_t{field} + 1); }

  // Columns with only zeros are left empty.
  void finish() {
    for (int column = 0; column < page_.columns_size(); ++column)
      if (!any_[static_cast<std::size_t>(column)]) page_.mutable_columns(column)->clear_value_delta();
  }

 private:
  void next(std::uint64_t value) {
    if (column_ == page_.columns_size()) {
      page_.add_columns();
      before_.push_back(0);
      any_.push_back(false);
    }
    const auto column = static_cast<std::size_t>(column_);
    any_[column] = any_[column] || value != 0;
    page_.mutable_columns(column_++)->add_value_delta(static_cast<std::int64_t>(value - before_[column]));
    before_[column] = value;
  }

  proto::Details& page_;
  std::vector<std::uint64_t> before_;
  std::vector<bool> any_;
  int column_ = 0;
};

template <typename Detail>
Result<void> write_details(proto::DetailKind kind, const AppendOnlyTable<Detail>& rows, const EmitPayload& emit) {
  for (std::size_t first = 1; first < rows.size(); first += kPageRows) {
    const std::size_t count = std::min(kPageRows, rows.size() - first);
    proto::Details page;
    page.set_kind(kind);
    page.set_first(static_cast<std::uint32_t>(first));
    page.set_rows(static_cast<std::uint32_t>(count));
    FieldWriter writer(page);
    for (std::size_t row = first; row < first + count; ++row) {
      writer.begin_row();
      for_fields(rows[row], writer);
    }
    writer.finish();
    if (auto emitted = emit(proto::FRAME_DETAILS, page.SerializeAsString()); !emitted) return emitted;
  }
  return {};
}

Result<void> write_tracks(const Trace& trace, const EmitPayload& emit) {
  proto::Tracks message;
  const auto instance = [&](ProcessId process) { return trace.processes()[process].instance; };
  for (const Track& track : trace.tracks()) {
    const TrackKey& key = track.key;
    proto::Track& added = *message.add_tracks();
    added.set_kind(static_cast<proto::TrackKind>(key.kind));
    if (key.process != kNone) added.set_process(instance(key.process));
    if (key.thread != kNone) added.set_thread(1 + key.thread);
    if (key.gpu != kNone) {
      added.set_on_gpu(true);
      added.set_device(device_ordinal(trace, key.process, key.gpu));
    }
    added.set_context(key.context);
    added.set_stream(key.stream);
    added.set_domain(key.domain);
    if (key.processor != kNone) added.set_processor(1 + key.processor);
  }
  return emit(proto::FRAME_TRACKS, message.SerializeAsString());
}

}  // namespace

Result<void> write_threads(const Trace& trace, const EmitPayload& emit) {
  proto::Tracks message;
  for (const Process& process : trace.processes()) message.add_processes(process.instance);
  for (const Thread& thread : trace.threads()) {
    proto::TrackThread& added = *message.add_threads();
    added.set_process(trace.processes()[thread.process].instance);
    added.set_id(thread.tid);
  }
  return emit(proto::FRAME_TRACKS, message.SerializeAsString());
}

Result<void> write_tables(const Trace& trace, const TraceBuilder& builder, const EmitPayload& emit) {
  const TraceBuilder::DetailTables details = builder.details();
  Result<void> written = write_names(trace, emit);
  const auto then = [&](auto write) {
    if (written) written = write();
  };
  then([&] { return write_call_stacks(trace.call_stacks(), emit); });
  then([&] { return write_details(proto::DETAIL_KERNEL, details.kernels, emit); });
  then([&] { return write_details(proto::DETAIL_MEMORY, details.memory, emit); });
  then([&] { return write_details(proto::DETAIL_API, details.api, emit); });
  then([&] { return write_details(proto::DETAIL_SYNCHRONIZATION, details.synchronizations, emit); });
  then([&] { return write_details(proto::DETAIL_CUDA_EVENT, details.cuda_events, emit); });
  then([&] { return write_details(proto::DETAIL_MEMORY_USAGE, details.memory_usage, emit); });
  then([&] { return write_details(proto::DETAIL_GRAPH_LAUNCH, details.graph_launches, emit); });
  then([&] { return write_details(proto::DETAIL_NVTX, details.nvtx, emit); });
  then([&] { return write_details(proto::DETAIL_PAGE_FAULT, details.page_faults, emit); });
  then([&] { return write_details(proto::DETAIL_THREAD_STATE, details.thread_states, emit); });
  then([&] { return write_details(proto::DETAIL_SAMPLE, details.samples, emit); });
  then([&] { return write_tracks(trace, emit); });
  return written;
}

}  // namespace lanescope
