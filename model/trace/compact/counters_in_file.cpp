#include "counters_in_file.h"

#include <algorithm>
#include <utility>

#include "lanescope/trace.pb.h"

namespace lanescope {
namespace {

std::vector<CounterSummary> summaries_of(std::span<const CounterChunkInFile* const> chunks) {
  std::vector<CounterSummary> summaries;
  summaries.reserve(chunks.size() * chunks.front()->head.counters.size());
  for (const CounterChunkInFile* const chunk : chunks) summaries.insert(summaries.end(), chunk->head.summaries.begin(), chunk->head.summaries.end());
  return summaries;
}

}  // namespace

// If nothing is known between two chunks, the first has one more sample, without a value, which lasts until the second.
std::vector<CountersInFile::Block> CountersInFile::blocks_of(std::span<const CounterChunkInFile* const> chunks, Nanoseconds epoch) {
  std::vector<Block> blocks;
  blocks.reserve(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const CounterHead& head = chunks[i]->head;
    const Nanoseconds end = i + 1 < chunks.size() ? chunks[i + 1]->head.first_time : head.end;
    const std::size_t first = blocks.empty() ? 0 : blocks.back().first + blocks.back().count;
    blocks.push_back({first, head.rows + (end > head.end ? std::size_t{1} : 0), {head.first_time - epoch, end - epoch}});
  }
  return blocks;
}

CountersInFile::CountersInFile(std::shared_ptr<const TraceFileReader> file, std::filesystem::path path, std::span<const CounterChunkInFile* const> chunks,
                               Nanoseconds epoch)
    : DemandedCounters(chunks.front()->head.counters.size(), blocks_of(chunks, epoch), summaries_of(chunks)),
      file_(std::move(file)),
      path_(std::move(path)),
      epoch_(epoch),
      process_(chunks.front()->frame.process),
      source_(chunks.front()->head.source),
      counters_(chunks.front()->head.counters) {
  for (const CounterChunkInFile* const chunk : chunks) frames_.push_back({chunk->frame.offset, chunk->frame.stored_size, chunk->head.rows});
}

std::string CountersInFile::damage_text() const {
  return "Not all values of counters of " + path_.string() +
         " can be read any more: it was changed, cut or damaged. Save what can be read, and open that: lanescope export -t trace " + path_.string() +
         " -o NEW.trace";
}

// The payload of a block. The last one is kept for each thread: who reads one counter of a block often reads the others next.
std::shared_ptr<const std::string> CountersInFile::payload_of(std::size_t b) const {
  constexpr std::size_t kKeptBytes = 4u << 20;
  struct Last {
    std::uint64_t identity = 0;
    std::shared_ptr<const std::string> payload;
  };
  thread_local Last last;
  if (last.payload != nullptr && last.identity == identity(b)) return last.payload;
  IndexedFrame indexed;
  indexed.offset = frames_[b].offset;
  indexed.type = proto::FRAME_EVENTS;
  indexed.stored_size = frames_[b].stored_size;
  const auto frame = file_->read(indexed);
  if (!frame || frame->header.process != process_ || frame->header.source != source_) return nullptr;
  constexpr std::uint64_t kOthers = 4'096, kOfColumn = 64, kLongestNumber = 10;  // bytes
  const std::uint64_t columns = members() + 1;
  if (frame->header.raw_size > kOthers + columns * (kOfColumn + 2 * kLongestNumber * std::uint64_t{frames_[b].rows})) return nullptr;
  auto opened = open_frame(*frame);
  if (!opened) return nullptr;
  auto payload = std::make_shared<const std::string>(*std::move(opened));
  last = payload->size() <= kKeptBytes ? Last{identity(b), payload} : Last{};
  return payload;
}

// Answers so far were based on heads, so the values must match them.
std::shared_ptr<const CounterSegment> CountersInFile::read(std::size_t b, std::size_t member) const {
  const auto payload = payload_of(b);
  const auto chunk = payload ? CounterChunk::of(*payload) : std::nullopt;
  if (!chunk || !std::equal(counters_.begin(), counters_.end(), chunk->counters().begin(), chunk->counters().end())) return nullptr;
  const Block& block = blocks()[b];
  const bool has_gap = block.count > frames_[b].rows;
  const Times shared = times(b, [&]() -> Times {
    auto decoded = chunk->times();
    if (!decoded || decoded->size() != frames_[b].rows) return nullptr;
    for (Nanoseconds& time : *decoded) time -= epoch_;
    if (has_gap) decoded->push_back(chunk->end() - epoch_);
    decoded->shrink_to_fit();
    return std::make_shared<const std::vector<Nanoseconds>>(*std::move(decoded));
  });
  auto values = shared ? chunk->values(member) : std::nullopt;
  if (!values || values->size() != frames_[b].rows || shared->front() != block.extent.begin) return nullptr;
  const Nanoseconds end = has_gap ? shared->back() : block.extent.end;
  if (chunk->end() - epoch_ != end || end > block.extent.end) return nullptr;
  if (has_gap) values->push_back(kNoValue);
  auto segment = std::make_shared<const CounterSegment>(shared, *values, block.extent.end);
  return is_as_said(segment->summary(), summary(b, member)) ? segment : nullptr;
}

}  // namespace lanescope
