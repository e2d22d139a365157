// The rings of layout.h: who writes, who reads, and what each may believe.
//
// One producer and one consumer for each ring, in two processes; nobody waits for the other. A producer publishes whole records or whole
// frames by storing `head` with release; what finds no room is counted and dropped. A consumer believes nothing: it bounds every size by
// what was published, reads each header once into memory of its own, and keeps its own idea of `tail`. A ring whose content makes no sense
// is damaged: what it held is skipped, and reading goes on with what is published next.
//
// Nothing here allocates, throws or blocks. RingProducer::write() takes a few tens of nanoseconds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

#include "collector/channel/layout.h"
#include "model/file/frame.h"

namespace lanescope::channel {

inline constexpr std::size_t kRecordAlignment = 8;

// Bytes that a record with so much text occupies in a ring.
constexpr std::size_t record_bytes(std::size_t text_bytes) noexcept {
  return (sizeof(Record) + text_bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}
inline constexpr std::size_t kMaximumRecordBytes = record_bytes(kMaximumTextBytes);

// The length of the longest prefix of UTF-8 `text` that has at most `limit` bytes and does not end within a character.
constexpr std::size_t cut_at_character(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text.size();
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return end;
}

// Writes records into a metadata or thread ring. One at a time: of one thread, or under a lock.
class RingProducer {
 public:
  RingProducer() = default;
  // Goes on where the ring's last producer ended. Requires: data.size() is a power of two, and at least 4096.
  RingProducer(RingHeader& ring, std::span<std::byte> data) noexcept
      : ring_(&ring), data_(data), head_(ring.head.load(std::memory_order_relaxed)), tail_(ring.tail.load(std::memory_order_acquire)) {}

  // Appends the record and its text; text longer than kMaximumTextBytes is cut. size and text_bytes are set here. Returns whether there was
  // room; where not, the record is counted in `dropped`.
  // Inlined, so that a record goes from registers into the ring: copied from memory it would wait for what was just stored there.
  [[gnu::always_inline]] bool write(const Record& record, std::string_view text) noexcept {
    const std::size_t text_bytes = text.size() <= kMaximumTextBytes ? text.size() : cut_at_character(text, kMaximumTextBytes);
    const std::size_t bytes = record_bytes(text_bytes);
    const std::size_t position = head_ & (data_.size() - 1);
    const std::size_t to_end = data_.size() - position;
    const std::size_t padding = bytes > to_end ? to_end : 0;
    if (!has_room(padding + bytes)) {
      count(ring_->dropped);
      return false;
    }
    if (padding != 0) write_padding(position, padding);
    std::byte* target = data_.data() + (padding != 0 ? 0 : position);
    const std::uint64_t zero = 0;
    if (text_bytes != 0) std::memcpy(target + bytes - sizeof(zero), &zero, sizeof(zero));  // what follows the text
    auto* written = ::new (target) Record(record);
    written->size = static_cast<std::uint32_t>(bytes);
    written->text_bytes = static_cast<std::uint16_t>(text_bytes);
    copy_text(target + sizeof(record), text.data(), text_bytes);
    count(ring_->produced);
    head_ += padding + bytes;
    ring_->head.store(head_, std::memory_order_release);
    return true;
  }

  // Whether a quarter of the ring or more waits to be read: time to ring the doorbell.
  bool filling_up() noexcept {
    if (head_ - tail_ < data_.size() / 4) return false;
    tail_ = ring_->tail.load(std::memory_order_acquire);
    return head_ - tail_ >= data_.size() / 4;
  }

 private:
  // Most texts are short: no call for these.
  [[gnu::always_inline]] static void copy_text(std::byte* to, const char* from, std::size_t bytes) noexcept {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    if (bytes > 4 * kWord) {
      std::memcpy(to, from, bytes);
    } else if (bytes >= kWord) {
      for (std::size_t i = 0; i + kWord < bytes; i += kWord) std::memcpy(to + i, from + i, kWord);
      std::memcpy(to + bytes - kWord, from + bytes - kWord, kWord);
    } else {
      for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(from[i]);
    }
  }
  bool has_room(std::size_t bytes) noexcept {
    if (head_ + bytes - tail_ <= data_.size()) return true;
    tail_ = ring_->tail.load(std::memory_order_acquire);
    return head_ + bytes - tail_ <= data_.size();
  }
  void write_padding(std::size_t position, std::size_t bytes) noexcept {
    Record padding{};
    padding.size = static_cast<std::uint32_t>(bytes);
    padding.type = RecordType::kPadding;
    std::memcpy(data_.data() + position, &padding, kRecordAlignment);
  }
  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  RingHeader* ring_ = nullptr;
  std::span<std::byte> data_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;  // as last seen: never more than the true one
};

// Reads records from a metadata or thread ring that another process writes.
class RingConsumer {
 public:
  // Goes on at the ring's tail. Requires: data.size() is a power of two.
  RingConsumer(RingHeader& ring, std::span<const std::byte> data) noexcept
      : ring_(&ring), data_(data), tail_(ring.tail.load(std::memory_order_relaxed)) {}

  // Calls use(const Record&, std::string_view text) for each record that was published before this call, in order, then gives their
  // room back. Returns how many there were. `text` lies in the shared memory: its bounds are safe, its bytes may change while they are
  // read, and it is not valid any more once this call returns.
  template <typename Use>
  std::size_t read(Use&& use) {
    const std::uint64_t head = ring_->head.load(std::memory_order_acquire);
    if (head - tail_ > data_.size() || head % kRecordAlignment != 0) {
      skip_damage(head);
      return 0;
    }
    std::size_t records = 0;
    while (tail_ != head) {
      const std::size_t position = tail_ & (data_.size() - 1);
      const std::size_t published = head - tail_;
      const std::size_t contiguous = data_.size() - position;
      Record record;
      const std::size_t bytes = copy_header(position, published < contiguous ? published : contiguous, record);
      if (bytes == 0) {
        skip_damage(head);
        return records;
      }
      if (record.type != RecordType::kPadding) {
        use(static_cast<const Record&>(record),
            std::string_view(reinterpret_cast<const char*>(data_.data()) + position + sizeof(Record), record.text_bytes));
        ++records;
      }
      tail_ += bytes;
    }
    ring_->tail.store(tail_, std::memory_order_release);
    return records;
  }

  // Whether everything that was published has been read.
  [[nodiscard]] bool empty() const noexcept { return ring_->head.load(std::memory_order_acquire) == tail_; }

  // How often the content made no sense and was skipped.
  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }

  // As the producer counts: records committed, and records that found no room. Not to be believed blindly.
  [[nodiscard]] std::uint64_t produced() const noexcept { return ring_->produced.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return ring_->dropped.load(std::memory_order_relaxed); }

 private:
  // Reads the header of the record at `position`, of which `available` bytes may be used. Returns the record's size, 0 if it is senseless.
  std::size_t copy_header(std::size_t position, std::size_t available, Record& record) const noexcept {
    if (available < kRecordAlignment) return 0;
    std::memcpy(&record, data_.data() + position, kRecordAlignment);
    if (record.size % kRecordAlignment != 0 || record.size == 0 || record.size > available) return 0;
    if (record.type == RecordType::kPadding) return record.size;
    if (record.size < sizeof(Record) || record.text_bytes > kMaximumTextBytes || record_bytes(record.text_bytes) != record.size) return 0;
    std::memcpy(reinterpret_cast<std::byte*>(&record) + kRecordAlignment, data_.data() + position + kRecordAlignment,
                sizeof(Record) - kRecordAlignment);
    return record.size;
  }
  void skip_damage(std::uint64_t head) noexcept {
    ++damaged_;
    tail_ = head / kRecordAlignment * kRecordAlignment;
    ring_->tail.store(tail_, std::memory_order_release);
  }

  RingHeader* ring_;
  std::span<const std::byte> data_;
  std::uint64_t tail_;
  std::uint64_t damaged_ = 0;
};

// Writes whole frames into the frame ring. One thread.
class FrameRingProducer {
 public:
  FrameRingProducer() = default;
  // Requires: data.size() is a power of two.
  FrameRingProducer(RingHeader& ring, std::span<std::byte> data) noexcept
      : ring_(&ring), data_(data), head_(ring.head.load(std::memory_order_relaxed)) {}

  // Appends one frame, its header included, and publishes it. Returns false, and changes nothing, where there is no room for it: whether to
  // try again or to drop it is the caller's choice.
  bool write(std::span<const std::byte> frame) noexcept {
    const std::uint64_t used = head_ - ring_->tail.load(std::memory_order_acquire);
    if (used > data_.size() || frame.size() > data_.size() - used) return false;
    const std::size_t position = head_ & (data_.size() - 1);
    const std::size_t to_end = data_.size() - position;
    const std::size_t first = frame.size() < to_end ? frame.size() : to_end;
    std::memcpy(data_.data() + position, frame.data(), first);
    std::memcpy(data_.data(), frame.data() + first, frame.size() - first);
    ring_->produced.store(ring_->produced.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    head_ += frame.size();
    ring_->head.store(head_, std::memory_order_release);
    return true;
  }

  // Counts a frame that the caller gave up.
  void count_dropped() noexcept { ring_->dropped.store(ring_->dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

 private:
  RingHeader* ring_ = nullptr;
  std::span<std::byte> data_;
  std::uint64_t head_ = 0;
};

// Reads whole frames from the frame ring that another process writes. Bounds are checked here; whether a frame is sound (its checksum)
// is for the reader of the copy to say.
class FrameRingConsumer {
 public:
  // Goes on at the ring's tail. Requires: data.size() is a power of two.
  FrameRingConsumer(RingHeader& ring, std::span<const std::byte> data) noexcept
      : ring_(&ring), data_(data), tail_(ring.tail.load(std::memory_order_relaxed)) {}

  // Bytes of the next frame, its header included; 0 when there is none.
  [[nodiscard]] std::size_t next() noexcept {
    const std::uint64_t head = ring_->head.load(std::memory_order_acquire);
    const std::uint64_t published = head - tail_;
    if (published == 0) return 0;
    FrameHeader header;
    if (published <= data_.size() && published >= sizeof(header)) {
      copy(tail_, {reinterpret_cast<std::byte*>(&header), sizeof(header)});
      const std::uint64_t bytes = sizeof(header) + std::uint64_t{header.stored_size};
      if (header.magic == kFrameMagic && bytes <= published) return static_cast<std::size_t>(bytes);
    }
    ++damaged_;
    advance_to(head);
    return 0;
  }

  // Copies the next frame and gives its room back. Requires: out.size() is what next() returned.
  void take(std::span<std::byte> out) noexcept {
    copy(tail_, out);
    advance_to(tail_ + out.size());
  }

  // How often the content made no sense and was skipped.
  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }

 private:
  void copy(std::uint64_t from, std::span<std::byte> out) const noexcept {
    const std::size_t position = from & (data_.size() - 1);
    const std::size_t to_end = data_.size() - position;
    const std::size_t first = out.size() < to_end ? out.size() : to_end;
    std::memcpy(out.data(), data_.data() + position, first);
    std::memcpy(out.data() + first, data_.data(), out.size() - first);
  }
  void advance_to(std::uint64_t position) noexcept {
    tail_ = position;
    ring_->tail.store(tail_, std::memory_order_release);
  }

  RingHeader* ring_;
  std::span<const std::byte> data_;
  std::uint64_t tail_;
  std::uint64_t damaged_ = 0;
};

}  // namespace lanescope::channel
