// Records of the kernel, put in the order of time; the kernel orders them only within each buffer.
#pragma once

#include <linux/perf_event.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "event_set.h"

namespace lanescope::cpu {

// The parts of a record that all records have.
struct Record {
  std::uint32_t type = 0;  // PERF_RECORD_...
  std::uint16_t misc = 0;
  EventKind event = EventKind::kTracking;  // the event that wrote it
  std::size_t point = 0;                   // for tracepoints: index in EventSet::points()
  RecordIdentity who;
  std::uint64_t instruction = 0;    // kSamples: the instruction that ran
  std::span<const std::byte> rest;  // content that depends on the type, after the fields above
};
[[nodiscard]] Record read_record(const perf_event_header& header, const EventSet& events);

// Takes fields from the front of a record; returns zeros if none are left.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Field>
  Field take() {
    Field field{};
    std::memcpy(&field, bytes_.data(), std::min(sizeof(field), bytes_.size()));
    skip(sizeof(field));
    return field;
  }
  std::span<const std::byte> take(std::size_t size) {
    const auto taken = bytes_.first(std::min(size, bytes_.size()));
    skip(size);
    return taken;
  }
  void skip(std::size_t size) { bytes_ = bytes_.subspan(std::min(size, bytes_.size())); }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  // The text up to its zero byte.
  [[nodiscard]] std::string_view text() const {
    const std::string_view all(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    return all.substr(0, all.find('\0'));
  }

 private:
  std::span<const std::byte> bytes_;
};

// Keeps copies of records until all older records have arrived.
class RecordOrder {
 public:
  void add(const perf_event_header& header, std::uint64_t time) {
    entries_.push_back({time, bytes_.size()});
    const auto* first = reinterpret_cast<const std::byte*>(&header);
    bytes_.insert(bytes_.end(), first, first + header.size);
  }

  // Hands out all records before `end`, oldest first.
  template <typename Use>
  void release(std::uint64_t end, Use use) {
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
    const auto first_kept = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.time >= end; });
    for (auto entry = entries_.begin(); entry != first_kept; ++entry) use(header(*entry));
    std::vector<Entry> kept(first_kept, entries_.end());
    std::vector<std::byte> kept_bytes;
    for (Entry& entry : kept) {
      const std::size_t offset = kept_bytes.size();
      const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(entry.offset);
      kept_bytes.insert(kept_bytes.end(), begin, begin + header(entry).size);
      entry.offset = offset;
    }
    entries_ = std::move(kept);
    bytes_.swap(kept_bytes);
  }

 private:
  struct Entry {
    std::uint64_t time;
    std::size_t offset;
  };
  // Sizes of records are multiples of 8 bytes, so each copy is aligned.
  [[nodiscard]] const perf_event_header& header(const Entry& entry) const { return *reinterpret_cast<const perf_event_header*>(bytes_.data() + entry.offset); }

  std::vector<Entry> entries_;
  std::vector<std::byte> bytes_;
};

}  // namespace lanescope::cpu
