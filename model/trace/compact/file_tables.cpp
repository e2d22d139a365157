#include "file_tables.h"

#include <limits>
#include <span>
#include <utility>

#include "detail_fields.h"
#include "ingest/columns.h"
#include "model/file/limits.h"

namespace lanescope {
namespace {

constexpr CopyKind last_of(CopyKind) { return CopyKind::kUnifiedDeviceToDevice; }
constexpr MemoryKind last_of(MemoryKind) { return MemoryKind::kManagedStatic; }
constexpr PayloadType last_of(PayloadType) { return PayloadType::kReal; }
constexpr Finished last_of(Finished) { return Finished::kNo; }
constexpr MemoryOperation last_of(MemoryOperation) { return MemoryOperation::kSet; }
constexpr ApiDomain last_of(ApiDomain) { return ApiDomain::kDriver; }
constexpr MemoryUsageOperation last_of(MemoryUsageOperation) { return MemoryUsageOperation::kPoolTrim; }
constexpr ThreadState last_of(ThreadState) { return ThreadState::kBlocked; }
constexpr SampleOrigin last_of(SampleOrigin) { return SampleOrigin::kOsCall; }

bool has_room(std::uint32_t first, std::uint64_t count) { return count <= std::numeric_limits<std::uint32_t>::max() - first; }

}  // namespace

// Reads the fields of one row after another, column by column.
class FileTables::FieldReader {
 public:
  FieldReader(const FileTables& tables, const proto::Details& message) : tables_(tables), message_(message) {
    values_.resize(static_cast<std::size_t>(message.columns_size()));
  }
  void begin_row(int row) {
    row_ = row;
    column_ = 0;
  }
  template <typename Number>
  void operator()(Number& field) {
    if constexpr (std::is_enum_v<Number>)
      field = known_kind(static_cast<std::int64_t>(next()), last_of(Number{}));
    else
      field = static_cast<Number>(next());
  }
  void name(NameId& field) { field = tables_.names_[static_cast<std::uint32_t>(next())]; }
  void call_node(CallNodeId& field) { field = tables_.nodes_[static_cast<std::uint32_t>(next())]; }
  void optional(std::uint32_t& field) {
    const auto value = static_cast<std::uint32_t>(next());
    field = value == 0 ? kNone : value - 1;
  }
  void thread(ThreadId& field) {
    const std::uint64_t value = next();
    field = value == 0 || value > tables_.threads_.size() ? kNone : tables_.threads_[static_cast<std::size_t>(value - 1)];
  }

 private:
  std::uint64_t next() {
    const int column = column_++;
    if (column >= message_.columns_size()) return 0;  // written by an older writer
    std::uint64_t& value = values_[static_cast<std::size_t>(column)];
    const auto& deltas = message_.columns(column).value_delta();
    if (row_ < deltas.size()) value += static_cast<std::uint64_t>(deltas[row_]);
    return value;
  }

  const FileTables& tables_;
  const proto::Details& message_;
  std::vector<std::uint64_t> values_;  // of the previous row
  int row_ = 0;
  int column_ = 0;
};

bool FileTables::take(const proto::Names& message, TraceBuilder& builder) {
  std::uint32_t id = message.first();
  if (!has_room(id, static_cast<std::uint64_t>(message.texts_size()))) return false;
  for (const NameId name : builder.intern(std::span(message.texts().data(), static_cast<std::size_t>(message.texts_size())))) {
    if (id != 0) names_.place(id) = name;
    ++id;
  }
  return true;
}

bool FileTables::take(const CallStackRows& rows, TraceBuilder& builder) {
  const auto follows = [](std::uint32_t first, std::size_t count) { return count == 0 || (first != 0 && has_room(first, count)); };
  if (!follows(rows.first_location, rows.locations.size()) || !follows(rows.first_node, rows.nodes.size())) return false;
  std::uint32_t id = rows.first_location;
  for (const CallStackRows::Location& location : rows.locations)
    locations_.place(id++) = builder.code_location(
        {known_kind(static_cast<std::int32_t>(location.kind), CodeKind::kGenerated), names_[location.module], names_[location.build_id], location.address},
        {names_[location.function], names_[location.source_file], location.source_line});
  for (const CallStackRows::Symbol& symbol : rows.symbols) {
    std::vector<CodeFunction> functions;
    for (const CallStackRows::Function& at : symbol.functions)
      if (names_[at.function] != 0) functions.push_back({names_[at.function], names_[at.source_file], at.source_line});
    const CodeLocationId location = locations_[symbol.location];
    if (location != 0 && !functions.empty()) builder.set_functions(location, std::move(functions));
  }
  id = rows.first_node;
  for (const CallStackRows::Node& call : rows.nodes) {
    CodeLocationId location = locations_[call.location];
    if (location == 0) location = builder.code_location({}, {});
    const CallNodeId node = builder.another_call_node({nodes_[call.parent], location});
    nodes_.place(id++) = node;
  }
  return true;
}

template <typename Detail>
bool FileTables::take_rows(const proto::Details& message, TraceBuilder& builder) {
  EntryTable<DetailId>& table = details_[static_cast<std::size_t>(message.kind())];
  FieldReader reader(*this, message);
  for (std::uint32_t row = 0; row < message.rows(); ++row) {
    Detail detail;
    reader.begin_row(static_cast<int>(row));
    for_fields(detail, reader);
    if (const std::uint32_t id = message.first() + row; id != 0) table.place(id) = builder.intern(detail);
  }
  return true;
}

bool FileTables::take(const proto::Details& message, TraceBuilder& builder) {
  if (message.rows() > limits::kChunkRows || !has_room(message.first(), message.rows())) return false;
  for (const proto::DetailColumn& column : message.columns())
    if (!same_length_or_empty(static_cast<int>(message.rows()), column.value_delta())) return false;
  switch (message.kind()) {
    case proto::DETAIL_KERNEL:
      return take_rows<KernelDetail>(message, builder);
    case proto::DETAIL_MEMORY:
      return take_rows<MemoryDetail>(message, builder);
    case proto::DETAIL_API:
      return take_rows<ApiDetail>(message, builder);
    case proto::DETAIL_SYNCHRONIZATION:
      return take_rows<SynchronizationDetail>(message, builder);
    case proto::DETAIL_CUDA_EVENT:
      return take_rows<CudaEventDetail>(message, builder);
    case proto::DETAIL_MEMORY_USAGE:
      return take_rows<MemoryUsageDetail>(message, builder);
    case proto::DETAIL_GRAPH_LAUNCH:
      return take_rows<GraphLaunchDetail>(message, builder);
    case proto::DETAIL_NVTX:
      return take_rows<NvtxDetail>(message, builder);
    case proto::DETAIL_PAGE_FAULT:
      return take_rows<PageFaultDetail>(message, builder);
    case proto::DETAIL_THREAD_STATE:
      return take_rows<ThreadStateDetail>(message, builder);
    case proto::DETAIL_SAMPLE:
      return take_rows<SampleDetail>(message, builder);
    default:
      return true;  // written by a newer writer
  }
}

bool FileTables::take(const proto::Tracks& message, TraceBuilder& builder) {
  for (const std::uint32_t instance : message.processes()) builder.process_of_instance(instance);
  for (const proto::TrackThread& thread : message.threads()) threads_.push_back(builder.thread(builder.process_of_instance(thread.process()), thread.id()));
  for (const proto::Track& track : message.tracks()) {
    tracks_.emplace_back();
    detail_kinds_.push_back(detail_kind(track.kind()));
    const bool is_known = static_cast<std::uint32_t>(track.kind()) <= static_cast<std::uint32_t>(kLastTrackKind);
    const bool is_processor = track.kind() == proto::TRACK_PROCESSORS;
    if (!is_known || is_processor != (track.processor() != 0) || track.thread() > threads_.size()) continue;
    TrackKey key{static_cast<TrackKind>(track.kind())};
    if (is_processor)
      key.processor = track.processor() - 1;
    else
      key.process = builder.process_of_instance(track.process());
    if (track.thread() != 0) key.thread = threads_[track.thread() - 1];
    if (track.on_gpu() && !is_processor) key.gpu = builder.gpu_of_device(key.process, track.device());
    key.context = track.context();
    key.stream = track.stream();
    key.domain = track.domain();
    tracks_.back() = key;
  }
  return true;
}

DetailId FileTables::detail(std::uint32_t track, DetailId id) const noexcept {
  const proto::DetailKind kind = detail_kinds_[track];
  return kind == proto::DETAIL_NONE ? std::min(id, kPartialCall) : details_[static_cast<std::size_t>(kind)][id];
}

std::optional<PlacedSegment> FileTables::place(LaneSegmentEvents segment, Nanoseconds epoch) const {
  if (segment.lane.track >= tracks_.size() || !tracks_[segment.lane.track]) return std::nullopt;
  if (!is_near(segment.events.front().start - epoch) || !is_near(segment.events.back().end() - epoch)) return std::nullopt;
  const proto::DetailKind kind = detail_kinds_[segment.lane.track];
  const EntryTable<DetailId>& details = details_[static_cast<std::size_t>(kind)];
  for (Event& event : segment.events) {
    event.start -= epoch;
    event.name = names_[event.name];
    event.detail = kind == proto::DETAIL_NONE ? std::min(event.detail, kPartialCall) : details[event.detail];
  }
  return PlacedSegment{*tracks_[segment.lane.track], segment.lane.lane, std::move(segment.events)};
}

bool FileTables::place(LaneSegmentInColumns& segment, Nanoseconds epoch) const {
  EventColumns& events = segment.events;
  if (segment.lane.track >= tracks_.size() || !tracks_[segment.lane.track]) return false;
  if (!is_near(events.starts.front() - epoch) || !is_near(events.starts.back() + events.durations.back() - epoch)) return false;
  for (Nanoseconds& start : events.starts) start -= epoch;
  names_.replace(events.names);
  const proto::DetailKind kind = detail_kinds_[segment.lane.track];
  if (kind != proto::DETAIL_NONE)
    details_[static_cast<std::size_t>(kind)].replace(events.details);
  else
    for (DetailId& detail : events.details) detail = std::min(detail, kPartialCall);
  return true;
}

std::size_t FileTables::memory_bytes() const noexcept {
  std::size_t bytes = names_.memory_bytes() + locations_.memory_bytes() + nodes_.memory_bytes() + threads_.capacity() * sizeof(ThreadId) +
                      tracks_.capacity() * (sizeof(tracks_[0]) + sizeof(detail_kinds_[0]));
  for (const EntryTable<DetailId>& table : details_) bytes += table.memory_bytes();
  return bytes;
}

}  // namespace lanescope
