#include "trace_index.h"

#include <cstring>
#include <limits>
#include <optional>

#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/limits.h"
#include "model/file/wire.h"

namespace lanescope {
namespace {

using Entry = TraceIndex::Entry;

std::optional<Entry> entry_of(std::string_view message) {
  Entry entry;
  WireReader reader(message);
  while (const auto field = reader.next()) {
    const bool is_head = field->number == proto::IndexEntry::kSegmentFieldNumber || field->number == proto::IndexEntry::kCountersFieldNumber;
    if (field->type == WireField::kBytes && is_head) entry.segment_head = field->bytes;
    if (field->type != WireField::kVarint) continue;
    const auto value = static_cast<std::uint32_t>(field->value);
    switch (field->number) {
      case proto::IndexEntry::kOffsetFieldNumber:
        entry.offset = field->value;
        break;
      case proto::IndexEntry::kTypeFieldNumber:
        entry.type = value;
        break;
      case proto::IndexEntry::kProcessFieldNumber:
        entry.process = value;
        break;
      case proto::IndexEntry::kStoredSizeFieldNumber:
        entry.stored_size = value;
        break;
      case proto::IndexEntry::kEventCountFieldNumber:
        entry.event_count = value;
        break;
      default:
        break;
    }
  }
  return reader.sound() ? std::optional(entry) : std::nullopt;
}

// Writes it as a field of the message Index; the head is already an encoded message.
void append_entry(const Entry& entry, std::string& payload) {
  proto::IndexEntry message;
  message.set_offset(entry.offset);
  message.set_type(entry.type);
  message.set_process(entry.process);
  message.set_stored_size(entry.stored_size);
  message.set_event_count(entry.event_count);
  std::string bytes = message.SerializeAsString();
  const std::uint32_t head = entry.type == proto::FRAME_EVENTS ? proto::IndexEntry::kCountersFieldNumber : proto::IndexEntry::kSegmentFieldNumber;
  if (!entry.segment_head.empty()) append_field(head, entry.segment_head, bytes);
  append_field(proto::Index::kEntriesFieldNumber, bytes, payload);
}

// Adds the entries of one index frame. `end` is the end of the last entry's frame, where the next one must begin, so that the index covers all frames.
bool add_entries(std::string_view payload, std::uint64_t index_begin, std::uint64_t& end, std::vector<Entry>& entries) {
  WireReader reader(payload);
  while (const auto field = reader.next()) {
    if (field->number != proto::Index::kEntriesFieldNumber || field->type != WireField::kBytes) continue;
    const auto entry = entry_of(field->bytes);
    if (!entry || entry->offset != end || entry->offset > index_begin) return false;
    const std::uint64_t bytes = sizeof(FrameHeader) + std::uint64_t{entry->stored_size};
    if (index_begin - entry->offset < bytes) return false;
    end = entry->offset + bytes;
    entries.push_back(*entry);
  }
  return reader.sound();
}

}  // namespace

TraceIndex read_index(std::uint64_t size, const ReadAt& read_at) {
  if (size < sizeof(FileHeader) + sizeof(FileTrailer)) return {};
  const std::uint64_t trailer_at = size - sizeof(FileTrailer);
  FileTrailer trailer;
  if (!read_at(trailer_at, std::as_writable_bytes(std::span(&trailer, 1)))) return {};
  if (std::memcmp(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic)) != 0) return {};
  if (trailer.index_offset < sizeof(FileHeader) || trailer.index_offset >= trailer_at) return {};
  TraceIndex index;
  std::uint64_t entries_end = sizeof(FileHeader);
  std::uint64_t unpacked = 0;
  std::vector<std::byte> stored;
  for (std::uint64_t at = trailer.index_offset; at < trailer_at;) {
    FrameView frame;
    if (trailer_at - at < sizeof(FrameHeader) || !read_at(at, std::as_writable_bytes(std::span(&frame.header, 1)))) return {};
    at += sizeof(FrameHeader);
    if (frame.header.type != proto::FRAME_INDEX || !has_possible_sizes(frame.header) || trailer_at - at < frame.header.stored_size) return {};
    unpacked += frame.header.raw_size;
    if (unpacked > limits::index_bytes(size)) return {};
    stored.resize(frame.header.stored_size);
    if (!read_at(at, stored)) return {};
    at += stored.size();
    frame.stored = stored;
    if (!frame_is_sound(frame)) return {};
    const auto payload = open_frame(frame);
    if (!payload || !add_entries(*payload, trailer.index_offset, entries_end, index.entries)) return {};
  }
  if (entries_end != trailer.index_offset) return {};
  index.begin = trailer.index_offset;
  return index;
}

std::vector<std::byte> index_and_trailer(std::span<const Entry> entries, std::uint64_t position) {
  std::vector<std::byte> bytes;
  FrameHeader header;
  header.type = proto::FRAME_INDEX;
  std::string payload;
  do {
    payload.clear();
    for (; !entries.empty() && payload.size() < limits::kWrittenPayloadBytes / 2; entries = entries.subspan(1)) append_entry(entries.front(), payload);
    append_frame(header, payload, bytes);
  } while (!entries.empty());
  FileTrailer trailer{};
  trailer.index_offset = position;
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
  const auto end = std::as_bytes(std::span(&trailer, 1));
  bytes.insert(bytes.end(), end.begin(), end.end());
  return bytes;
}

}  // namespace lanescope
