#include "record.h"

namespace lanescope::cpu {

Record read_record(const perf_event_header& header, const EventSet& events) {
  Record record;
  record.type = header.type;
  record.misc = header.misc;
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  std::span<const std::byte> body(bytes + sizeof(header), header.size - sizeof(header));
  if (header.type != PERF_RECORD_SAMPLE) {
    if (body.size() < sizeof(RecordIdentity)) return record;
    std::memcpy(&record.who, body.last(sizeof(RecordIdentity)).data(), sizeof(RecordIdentity));
    record.event = events.source_of(record.who.event).kind;
    record.rest = body.first(body.size() - sizeof(RecordIdentity));
    return record;
  }
  Fields fields(body);
  record.who.event = fields.take<std::uint64_t>();
  const EventSource source = events.source_of(record.who.event);
  record.event = source.kind;
  record.point = source.point;
  if (record.event == EventKind::kSamples) record.instruction = fields.take<std::uint64_t>();
  record.who.pid = fields.take<std::uint32_t>();
  record.who.tid = fields.take<std::uint32_t>();
  record.who.time = fields.take<std::uint64_t>();
  record.who.processor = fields.take<std::uint32_t>();
  fields.skip(sizeof(std::uint32_t));
  const std::size_t taken = (record.event == EventKind::kSamples ? 5 : 4) * sizeof(std::uint64_t);
  record.rest = body.subspan(std::min(taken, body.size()));
  return record;
}

}  // namespace lanescope::cpu
