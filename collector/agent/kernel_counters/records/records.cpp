#include "agent/kernel_counters/records/records.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "agent/channel/membership.h"

namespace lanescope::agent::kernel_counters {
namespace {

using channel::CounterOutcome;
using channel::CounterRecord;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}
std::span<const std::byte> bytes_of(std::string_view text) noexcept { return std::as_bytes(std::span(text.data(), text.size())); }

void put(std::initializer_list<std::span<const std::byte>> record) noexcept {
  if (!all().file.write(record))
    give_up(
        "Counters of kernels are not read from here on: there is no room for them, on the disk of the recording's folder (TMPDIR) or by the limit "
        "of the program's files (ulimit -f).");
}

}  // namespace

void write_record(CounterOutcome outcome, const Launch& launch, const Measurement& measurement, std::uint64_t spent, std::string_view reason,
                  std::span<const std::byte> image) noexcept {
  CounterRecord record{};
  record.outcome = outcome;
  record.correlation = launch.correlation;
  record.set = measurement.set != nullptr ? measurement.set->number : 0;
  record.group = measurement.group;
  record.begin = event_time(measurement.started);
  record.spent = spent;
  record.name_bytes = launch.name.size();
  record.reason_bytes = reason.size();
  record.image_bytes = image.size();
  record.launches = image.empty() ? 0 : all().range.launches.load();
  record.head = {channel::kCounterRecordMark, 0, sizeof(record) + launch.name.size() + reason.size() + image.size()};
  put({bytes_of(record), bytes_of(launch.name), bytes_of(reason), image});
}

channel::KernelRecord record_of(std::string_view name, std::uint32_t correlation) noexcept {
  channel::KernelRecord record{};
  record.head = {channel::kKernelRecordMark, 0, sizeof(record) + name.size()};
  record.correlation = correlation;
  record.name_bytes = name.size();
  return record;
}

void write_kernel(const channel::KernelRecord& record, std::string_view name) noexcept { put({bytes_of(record), bytes_of(name)}); }

void place_in(CUcontext context, channel::KernelRecord& record) noexcept {
  const Functions& f = all().functions;
  static_cast<void>(f.get_device_id(context, &record.device));
  if (f.get_context_id != nullptr) static_cast<void>(f.get_context_id(context, &record.context));
}

void write_kernel(const Launch& launch) noexcept {
  channel::KernelRecord record = record_of(launch.name, launch.correlation);
  place_in(launch.context, record);
  const Functions& f = all().functions;
  // For CUPTI, the two default streams are not streams; a flag tells which one is meant.
  const bool is_per_thread = launch.stream == CU_STREAM_PER_THREAD;
  const CUstream stream = is_per_thread || launch.stream == CU_STREAM_LEGACY ? nullptr : launch.stream;
  if (f.get_stream_id != nullptr) static_cast<void>(f.get_stream_id(launch.context, stream, is_per_thread ? 1 : 0, &record.stream));
  std::copy_n(launch.shape, 3, record.grid);
  record.dynamic_shared_memory = launch.shape[6];
  write_kernel(record, launch.name);
}

void write_begin(const Launch& launch) noexcept {
  channel::BeginRecord record{};
  record.head = {channel::kBeginRecordMark, 0, sizeof(record) + launch.name.size()};
  record.correlation = launch.correlation;
  record.name_bytes = launch.name.size();
  put({bytes_of(record), bytes_of(launch.name)});
}

// Writes code that was counted and not written yet.
void write_code() noexcept {
  const auto next = [] { return all().code.take_wanted(std::numeric_limits<std::size_t>::max()); };
  for (kernels::CodeObjects::Part image = next(); !image.bytes.empty(); image = next()) {
    const channel::CodeRecord record{{channel::kCodeRecordMark, 0, sizeof(record) + image.bytes.size()}, image.crc, image.bytes.size()};
    if (record.head.bytes <= channel::kMostCounterBytes) put({bytes_of(record), image.bytes});
  }
}
}  // namespace lanescope::agent::kernel_counters
