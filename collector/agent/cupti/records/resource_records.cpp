// Records of devices, contexts and streams, which are written once.
#include "agent/cupti/records/records.h"

namespace lanescope::agent::cupti {

void RecordReader::add_resource(std::uint32_t field) noexcept {
  encode::ProtoWriter out(resources_);
  out.element(field, part_.bytes());
}

void RecordReader::add(const CUpti_ActivityDevice5& record) noexcept {
  part_.clear();
  encode::ProtoWriter out(part_);
  out.unsigned_field(1, record.id);
  if (record.name != nullptr) out.text_field(2, record.name);
  out.bytes_field(3, std::as_bytes(std::span(record.uuid.bytes)));
  out.unsigned_field(4, record.numMultiprocessors);
  out.unsigned_field(5, record.computeCapabilityMajor);
  out.unsigned_field(6, record.computeCapabilityMinor);
  out.unsigned_field(7, record.globalMemorySize);
  out.unsigned_field(8, record.globalMemoryBandwidth * 1000);  // CUPTI gives kB/s
  out.unsigned_field(9, record.coreClockRate);
  out.unsigned_field(10, record.maxWarpsPerMultiprocessor);
  out.unsigned_field(11, record.maxBlocksPerMultiprocessor);
  out.unsigned_field(12, record.maxRegistersPerMultiprocessor);
  out.unsigned_field(13, record.maxSharedMemoryPerMultiprocessor);
  add_resource(1);
}

void RecordReader::add(const CUpti_ActivityContext3& record) noexcept {
  contexts_.push_back({record.contextId, record.deviceId, record.nullStreamId});
  part_.clear();
  encode::ProtoWriter out(part_);
  out.unsigned_field(1, record.contextId);
  out.unsigned_field(2, record.deviceId);
  out.unsigned_field(3, record.nullStreamId);
  add_resource(2);
}

void RecordReader::add(const CUpti_ActivityStream& record) noexcept {
  part_.clear();
  encode::ProtoWriter out(part_);
  out.unsigned_field(1, record.streamId);
  out.unsigned_field(2, record.contextId);
  out.int32_field(3, static_cast<std::int32_t>(record.priority));
  out.unsigned_field(4, static_cast<std::uint32_t>(record.flag) & CUPTI_ACTIVITY_STREAM_CREATE_MASK);
  add_resource(3);
}

std::uint32_t RecordReader::device_of_context(std::uint32_t context) const noexcept {
  for (std::size_t i = contexts_.size(); i > 0; --i)
    if (contexts_[i - 1].context == context) return contexts_[i - 1].device;
  return 0;
}

encode::Queue RecordReader::default_queue(std::uint32_t device) const noexcept {
  for (std::size_t i = 0; i < contexts_.size(); ++i)
    if (contexts_[i].device == device) return {device, contexts_[i].context, contexts_[i].null_stream};
  return {device, 0, 0};
}

void RecordReader::flush_resources() noexcept {
  if (resources_.size() == 0) return;
  if (frames_.write(encode::FrameType::kResources, resources_.bytes(), 0)) resources_.clear();
}

}  // namespace lanescope::agent::cupti
