// The rings of layout.h: who writes, who reads, and what each side may rely on.
//
// Each ring has one producer and one consumer, in two processes; neither waits for the other. A producer publishes whole records or whole frames by
// storing `head` with release. A record that finds no room is counted and dropped. A consumer trusts nothing: it bounds every size by what was
// published, copies each header once into its own memory, and keeps its own copy of `tail`. A ring whose content is invalid is damaged: its content
// is skipped, and reading continues with what is published next.
//
// Nothing here allocates, throws or blocks. RingProducer::write() takes a few tens of nanoseconds.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

#include "collector/channel/layout.h"
#include "collector/channel/segments.h"
#include "model/file/frame.h"

namespace lanescope::channel {

inline constexpr std::size_t kWordBytes = 8;

// Size of a text, rounded up to whole words.
constexpr std::size_t whole_words(std::size_t text_bytes) noexcept { return (text_bytes + kWordBytes - 1) / kWordBytes * kWordBytes; }
inline constexpr std::size_t kMaximumRecordBytes = (2 + 4) * kWordBytes + whole_words(kMaximumTextBytes);
static_assert(kMaximumRecordBytes / kWordBytes <= 0xff);

// The length of the longest prefix of UTF-8 `text` that has at most `limit` bytes and does not end within a character.
constexpr std::size_t cut_at_character(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text.size();
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return end;
}

// Writes records into a metadata or thread ring. One writer at a time: one thread, or threads under a lock.
class RingProducer {
 public:
  RingProducer() = default;
  // Continues where the ring's last producer ended.
  RingProducer(RingHeader& ring, SegmentPool pool) noexcept
      : ring_(&ring), pool_(pool), head_(ring.head.load(std::memory_order_relaxed)), segment_(ring.last.load(std::memory_order_relaxed)) {
    if (segment_ > pool_.count()) segment_ = 0;
    const std::size_t used = head_ % kSegmentBytes;
    if (segment_ == 0 || used == 0) return;
    next_ = pool_.bytes(segment_ - 1).data() + used;
    left_ = kSegmentBytes - used;
  }

  // Appends the record and its text; text longer than kMaximumTextBytes is cut. `size` and `text_bytes` are set here. Returns false if there was no
  // room; the record is then counted in `dropped`.
  // Inlined, so that fields that the caller leaves out cost nothing, and the others go from registers into the ring.
  [[gnu::always_inline]] bool write(const Record& record, std::string_view text) noexcept {
    const std::size_t text_bytes = text.size() <= kMaximumTextBytes ? text.size() : cut_at_character(text, kMaximumTextBytes);
    const bool has_domain = record.domain != 0 || record.category != 0;
    const bool has_id = record.id > 0xffff;
    const bool has_payload = record.payload != 0;
    bool has_thread = record.thread != thread_ || record.color != 0;
    std::size_t words = 2u + (has_domain ? 1 : 0) + (has_thread ? 1 : 0) + (has_id ? 1 : 0) + (has_payload ? 1 : 0);
    if (words * kWordBytes + whole_words(text_bytes) > left_) {
      if (!has_thread) ++words;
      if (!next_segment(words * kWordBytes + whole_words(text_bytes))) {
        count(ring_->dropped);
        return false;
      }
      has_thread = true;  // a segment must be readable without those before it
    }
    std::byte* out = next_;
    PackedRecord packed;
    packed.type = record.type;
    packed.payload_type = record.payload_type;
    packed.words =
        static_cast<std::uint8_t>((has_domain ? kDomainWord : 0) | (has_thread ? kThreadWord : 0) | (has_id ? kIdWord : 0) | (has_payload ? kPayloadWord : 0));
    packed.text_bytes = static_cast<std::uint16_t>(text_bytes);
    packed.id = static_cast<std::uint16_t>(has_id ? 0 : record.id);
    packed.size = static_cast<std::uint8_t>(words + whole_words(text_bytes) / kWordBytes);
    put(out, packed);
    put(out, record.time);
    if (has_domain) put(out, std::uint64_t{record.category} << 32 | record.domain);
    if (has_thread) put(out, std::uint64_t{record.color} << 32 | record.thread);
    if (has_id) put(out, record.id);
    if (has_payload) put(out, record.payload);
    if (text_bytes != 0) {
      const std::uint64_t zero = 0;
      std::memcpy(out + whole_words(text_bytes) - kWordBytes, &zero, kWordBytes);  // clears the bytes after the text
      copy_text(out, text.data(), text_bytes);
    }
    const std::size_t bytes = packed.size * kWordBytes;
    thread_ = record.thread;
    count(ring_->produced);
    next_ += bytes;
    left_ -= bytes;
    head_ += bytes;
    ring_->head.store(head_, std::memory_order_release);
    return true;
  }

  // Continues after the writer of a record was abandoned by a jump out of a signal handler: after the last published record. Returns false if the
  // ring itself was being changed at that time; then it must be closed.
  [[nodiscard]] bool recover() noexcept {
    thread_ = 0;
    if (head_ != ring_->head.load(std::memory_order_relaxed) || segment_ != ring_->last.load(std::memory_order_relaxed)) return false;
    if (left_ > kSegmentBytes || (head_ + left_) % kSegmentBytes != 0) return false;
    return segment_ == 0 || next_ + left_ == pool_.bytes(segment_ - 1).data() + kSegmentBytes;
  }

  // True if much waits to be read.
  [[nodiscard]] bool filling_up() const noexcept { return head_ - ring_->tail.load(std::memory_order_acquire) >= kMuch; }

 private:
  static constexpr std::uint64_t kMuch = 8 * kSegmentBytes;

  template <typename Word>
  [[gnu::always_inline]] static void put(std::byte*& out, const Word& word) noexcept {
    static_assert(sizeof(word) == kWordBytes);
    std::memcpy(out, &word, sizeof(word));
    out += sizeof(word);
  }
  // Most texts are short: they are copied without a call.
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
  // If no segment is left, nothing changes: a shorter record may still find room.
  [[gnu::noinline]] bool next_segment(std::size_t bytes) noexcept {
    if (bytes > kSegmentBytes) return false;
    const auto index = pool_.take();
    if (!index) return false;
    if (left_ != 0) {
      PackedRecord padding{};
      padding.size = static_cast<std::uint8_t>(left_ / kWordBytes);
      std::memcpy(next_, &padding, sizeof(padding));
    }
    head_ += left_;
    (segment_ == 0 ? ring_->first : pool_.link(segment_ - 1)).store(*index + 1, std::memory_order_relaxed);
    segment_ = *index + 1;
    ring_->last.store(segment_, std::memory_order_relaxed);
    next_ = pool_.bytes(*index).data();
    left_ = kSegmentBytes;
    return true;
  }
  static void count(std::atomic<std::uint64_t>& counter) noexcept { counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  RingHeader* ring_ = nullptr;
  SegmentPool pool_;
  std::byte* next_ = nullptr;  // where the next record goes
  std::size_t left_ = 0;       // bytes of the segment from `next_` on
  std::uint64_t head_ = 0;
  std::uint32_t thread_ = 0;   // of the last record in this segment; no thread has this number
  std::uint32_t segment_ = 0;  // plus 1; 0: none yet
};

// Reads records from a metadata or thread ring that another process writes, and gives its segments back to the pool.
class RingConsumer {
 public:
  // Continues at the ring's tail. Requires: no other consumer has read from the ring.
  RingConsumer(RingHeader& ring, SegmentPool pool) noexcept : ring_(&ring), pool_(pool), tail_(ring.tail.load(std::memory_order_relaxed)) {}

  static constexpr std::size_t kAll = ~std::size_t{0};

  // Calls use(const Record&, std::string_view text) in order for each record that was published before this call, except those after the first `most`
  // bytes, then gives their room back. Returns the number of records. `text` lies in the shared memory: its bounds are safe, its bytes may change
  // while they are read, and it is invalid after use() returns.
  template <typename Use>
  std::size_t read(Use&& use, std::size_t most = kAll) {
    const std::uint64_t head = ring_->head.load(std::memory_order_acquire);
    if (head - tail_ > std::uint64_t{pool_.count()} * kSegmentBytes || head % kWordBytes != 0) {
      skip_damage(head);
      return 0;
    }
    const std::uint64_t begin = tail_;
    std::size_t records = 0;
    while (tail_ != head && tail_ - begin < most) {
      if (tail_ % kSegmentBytes == 0 ? !enter_next_segment() : segment_ == 0) {
        skip_damage(head);
        return records;
      }
      const std::size_t position = tail_ % kSegmentBytes;
      const std::size_t published = head - tail_;
      const std::size_t contiguous = kSegmentBytes - position;
      const std::byte* const place = pool_.bytes(segment_ - 1).data() + position;
      Record record;
      const std::size_t bytes = unpack(place, published < contiguous ? published : contiguous, record);
      if (bytes == 0) {
        skip_damage(head);
        return records;
      }
      if (record.type != RecordType::kPadding) {
        use(static_cast<const Record&>(record),
            std::string_view(reinterpret_cast<const char*>(place) + bytes - whole_words(record.text_bytes), record.text_bytes));
        ++records;
      }
      tail_ += bytes;
    }
    ring_->tail.store(tail_, std::memory_order_release);
    return records;
  }

  // The position up to which everything has been read.
  [[nodiscard]] std::uint64_t position() const noexcept { return tail_; }
  // True if everything that was published has been read.
  [[nodiscard]] bool empty() const noexcept { return ring_->head.load(std::memory_order_acquire) == tail_; }

  // Gives the last segment back; the next producer begins with another. Requires: the ring is closed and empty.
  void release() noexcept {
    if (segment_ != 0) pool_.give(segment_ - 1);
    segment_ = 0;
    tail_ = (tail_ + kSegmentBytes - 1) / kSegmentBytes * kSegmentBytes;
    ring_->first.store(0, std::memory_order_relaxed);
    ring_->last.store(0, std::memory_order_relaxed);
    ring_->tail.store(tail_, std::memory_order_relaxed);
    ring_->head.store(tail_, std::memory_order_release);
  }

  // How often the content was invalid and was skipped.
  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }

  // The producer's counts: records committed, and records that found no room. Untrusted.
  [[nodiscard]] std::uint64_t produced() const noexcept { return ring_->produced.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return ring_->dropped.load(std::memory_order_relaxed); }

 private:
  // Returns false if the ring does not name an existing segment.
  bool enter_next_segment() noexcept {
    const std::uint32_t next = (segment_ == 0 ? ring_->first : pool_.link(segment_ - 1)).load(std::memory_order_relaxed);
    if (next == 0 || next > pool_.count()) return false;
    if (segment_ != 0) pool_.give(segment_ - 1);
    segment_ = next;
    return true;
  }

  // Unpacks the record at `place`, of which `available` bytes may be used. Returns the bytes that it takes, 0 if it is invalid.
  std::size_t unpack(const std::byte* place, std::size_t available, Record& record) noexcept {
    PackedRecord packed;
    std::memcpy(&packed, place, sizeof(packed));
    const std::size_t bytes = packed.size * kWordBytes;
    if (bytes == 0 || bytes > available) return 0;
    record.type = packed.type;
    if (packed.type == RecordType::kPadding) return bytes;
    if ((packed.words & ~kAllWords) != 0 || packed.text_bytes > kMaximumTextBytes) return 0;
    const auto words = static_cast<std::size_t>(std::popcount(packed.words));
    if ((2 + words) * kWordBytes + whole_words(packed.text_bytes) != bytes) return 0;
    const std::byte* next = place + sizeof(packed);
    const auto take = [&next] {
      std::uint64_t word = 0;
      std::memcpy(&word, next, sizeof(word));
      next += sizeof(word);
      return word;
    };
    const auto take_if = [&](PackedWord word) { return (packed.words & word) != 0 ? take() : 0; };
    record.size = static_cast<std::uint32_t>(bytes);
    record.payload_type = packed.payload_type;
    record.text_bytes = packed.text_bytes;
    record.time = static_cast<std::int64_t>(take());
    const std::uint64_t domain = take_if(kDomainWord);
    record.domain = static_cast<std::uint32_t>(domain);
    record.category = static_cast<std::uint32_t>(domain >> 32);
    const std::uint64_t thread = take_if(kThreadWord);
    record.color = static_cast<std::uint32_t>(thread >> 32);
    if ((packed.words & kThreadWord) != 0) thread_ = static_cast<std::uint32_t>(thread);
    record.thread = thread_;
    record.id = (packed.words & kIdWord) != 0 ? take() : packed.id;
    record.payload = take_if(kPayloadWord);
    return bytes;
  }

  // Continues with what is published next, in the segment that the ring says is being written.
  void skip_damage(std::uint64_t head) noexcept {
    ++damaged_;
    tail_ = head / kWordBytes * kWordBytes;
    const std::uint32_t last = ring_->last.load(std::memory_order_relaxed);
    segment_ = last <= pool_.count() ? last : 0;
    ring_->tail.store(tail_, std::memory_order_release);
  }

  RingHeader* ring_;
  SegmentPool pool_;
  std::uint64_t tail_;
  std::uint32_t segment_ = 0;  // plus 1, the segment that contains tail_ or ends at it; 0: none yet
  std::uint32_t thread_ = 0;   // of the last record
  std::uint64_t damaged_ = 0;
};

// Writes whole frames into the frame ring. One thread.
class FrameRingProducer {
 public:
  FrameRingProducer() = default;
  // Requires: data.size() is a power of two.
  FrameRingProducer(RingHeader& ring, std::span<std::byte> data) noexcept : ring_(&ring), data_(data), head_(ring.head.load(std::memory_order_relaxed)) {}

  // Appends one frame, including its header, and publishes it. Returns false and changes nothing if there is no room; the caller may try again or
  // drop it.
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

// Reads whole frames from the frame ring that another process writes. Bounds are checked here. Whether a frame is valid (its checksum) must be
// checked by the reader of the copy.
class FrameRingConsumer {
 public:
  // Continues at the ring's tail. Requires: data.size() is a power of two.
  FrameRingConsumer(RingHeader& ring, std::span<const std::byte> data) noexcept : ring_(&ring), data_(data), tail_(ring.tail.load(std::memory_order_relaxed)) {}

  // Bytes of the next frame, including its header; 0 if there is none.
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

  // How often the content was invalid and was skipped.
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
