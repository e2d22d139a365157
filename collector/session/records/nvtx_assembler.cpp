#include "records/nvtx_assembler.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace lanescope::session {
namespace {

using channel::Record;
using channel::RecordType;

// Number of ranges that are open around the one that starts or ends; nothing if the target does not count them.
std::optional<std::uint32_t> known_depth(const Record& record) {
  constexpr std::uint64_t kDeepest = 1u << 16;  // more than any program has
  if (record.id == 0 || record.id > kDeepest) return std::nullopt;
  return static_cast<std::uint32_t>(record.id - 1);
}

std::uint64_t key_of(const Record& record) { return static_cast<std::uint64_t>(record.thread) << 32 | record.domain; }

}  // namespace

void NvtxAssembler::add(const Record& record, std::string_view text) {
  last_time_ = std::max(last_time_, record.time);
  switch (record.type) {
    case RecordType::kRangePush:
      push(record, text);
      break;
    case RecordType::kRangePop:
      pop(record);
      break;
    case RecordType::kRangeStart:
      start(record, text);
      break;
    case RecordType::kRangeEnd:
      end(record);
      break;
    case RecordType::kMark:
      encoder_.add(NvtxMark{record.thread, record.domain, record.time, attributes(record, text)});
      break;
    case RecordType::kPayload:
      if (describe_) payloads_.insert_or_assign(record.thread, Payload{record.time, describe_(record.id, text)});
      break;
    case RecordType::kOsRuntimeCall:
      encoder_.add(OsRuntimeCall{record.thread, record.time, static_cast<std::int64_t>(record.id), encoder_.intern(text)});
      break;
    case RecordType::kFileAccess:
      add_file_access(record, text);
      break;
    default:
      break;
  }
}

void NvtxAssembler::add_file_access(const Record& record, std::string_view path) {
  NvtxRange range;
  range.thread = record.thread;
  range.domain = kFileAccessDomainId;
  range.start = record.time;
  if (__builtin_add_overflow(record.time, record.id, &range.end)) {
    ++invalid_;
    return;
  }
  range.end_thread = record.thread;
  range.attributes.name = encoder_.intern(path);
  range.attributes.category = record.category;
  const auto operation = static_cast<channel::FileOperation>(record.category);
  if (operation != channel::FileOperation::kOpen && operation != channel::FileOperation::kSync) {
    range.attributes.payload_type = proto::PAYLOAD_UNSIGNED;
    range.attributes.payload = record.payload;
  }
  encoder_.add(range);
}

NvtxAttributes NvtxAssembler::attributes(const Record& record, std::string_view text) {
  const bool known = record.payload_type <= proto::PAYLOAD_REAL;
  const auto type = known ? static_cast<proto::PayloadType>(record.payload_type) : proto::PAYLOAD_NONE;
  NvtxAttributes result{encoder_.intern(text), record.category, record.color, type, record.payload};
  result.payload_json = payload(record).value_or(0);
  return result;
}

std::optional<std::uint32_t> NvtxAssembler::payload(const Record& record) {
  if (payloads_.empty()) return std::nullopt;
  const auto found = payloads_.find(record.thread);
  if (found == payloads_.end()) return std::nullopt;
  std::optional<std::uint32_t> id;
  // The time differs if there was no room for the event to which it belongs.
  if (found->second.time == record.time) id = encoder_.intern(found->second.json);
  payloads_.erase(found);
  return id;
}

void NvtxAssembler::prune() {
  last_.second = nullptr;
  std::erase_if(stacks_, [](const auto& entry) { return entry.second.empty(); });
  std::erase_if(early_begins_, [](const auto& entry) { return entry.second.empty(); });
  next_pruning_ = std::max<std::size_t>(4096, 2 * stacks_.size());
  payloads_.clear();  // events follow their payloads at once
}

NvtxAssembler::Stack& NvtxAssembler::stack(const Record& record) {
  const std::uint64_t key = key_of(record);
  if (last_.second != nullptr && last_.first == key) return *last_.second;
  if (stacks_.size() >= next_pruning_) prune();
  last_ = {key, &stacks_[key]};
  return *last_.second;
}

std::optional<NvtxRange> NvtxAssembler::take_open(Stack& open, const Record& end) {
  const std::optional<std::uint32_t> depth = known_depth(end);
  if (depth) close_deeper(open, *depth + 1, end);
  const bool is_there = !open.empty() && (!depth || (open.back().depth == *depth && open.back().start <= end.time));
  if (!is_there) return depth ? take_early_begin(end, *depth) : std::nullopt;
  NvtxRange range = std::move(open.back());
  open.pop_back();
  return range;
}

std::optional<NvtxRange> NvtxAssembler::take_early_begin(const Record& end, std::uint32_t depth) {
  const auto early = early_begins_.find(key_of(end));
  if (early == early_begins_.end()) return std::nullopt;
  Stack& begins = early->second;
  const auto found = std::find_if(begins.rbegin(), begins.rend(), [&](const NvtxRange& range) { return range.depth == depth && range.start <= end.time; });
  if (found == begins.rend()) return std::nullopt;
  NvtxRange range = std::move(*found);
  begins.erase(std::next(found).base());
  return range;
}

NvtxRange NvtxAssembler::opened(const Record& record, std::string_view text, proto::NvtxStyle style) {
  NvtxRange range;
  range.thread = record.thread;
  range.domain = record.domain;
  range.style = style;
  range.start = record.time;
  range.attributes = attributes(record, text);
  return range;
}

void NvtxAssembler::close_deeper(Stack& open, std::uint32_t depth, const Record& seen) {
  while (!open.empty() && open.back().depth >= depth) {
    NvtxRange range = std::move(open.back());
    open.pop_back();
    if (range.start > seen.time) {  // it was read too early, and its end will come
      early_begins_[key_of(seen)].push_back(std::move(range));
      continue;
    }
    --open_;
    close(std::move(range), {seen.time, seen.thread}, RangeEnding::kUnfinished);
  }
}

void NvtxAssembler::push(const Record& record, std::string_view text) {
  Stack& open = stack(record);
  NvtxRange range = opened(record, text, proto::NVTX_PUSH_POP);
  if (const std::optional<std::uint32_t> depth = known_depth(record)) {
    close_deeper(open, *depth, record);
    range.depth = *depth;
  } else {
    range.depth = open.empty() ? 0 : open.back().depth + 1;
  }
  if (!has_room()) return close(std::move(range), {record.time, record.thread}, RangeEnding::kUnfinished);
  open.push_back(std::move(range));
  ++open_;
}

// Data at the end of a range are more complete than those at its start, and replace them.
void NvtxAssembler::pop(const Record& record) {
  const std::optional<std::uint32_t> data = payload(record);
  std::optional<NvtxRange> range = take_open(stack(record), record);
  if (!range) {
    ++unmatched_;
    return;
  }
  --open_;
  if (data) range->attributes.payload_json = *data;
  close(std::move(*range), {record.time, record.thread}, RangeEnding::kFinished);
}

void NvtxAssembler::start(const Record& record, std::string_view text) {
  NvtxRange range = opened(record, text, proto::NVTX_START_END);
  if (const auto early = early_ends_.find(record.id); early != early_ends_.end()) {
    if (early->second.data) range.attributes.payload_json = *early->second.data;
    close(std::move(range), early->second, RangeEnding::kFinished);
    early_ends_.erase(early);
    return;
  }
  if (!has_room()) return close(std::move(range), {record.time, record.thread}, RangeEnding::kUnfinished);
  if (started_.insert_or_assign(record.id, std::move(range)).second) ++open_;
}

void NvtxAssembler::end(const Record& record) {
  const std::optional<std::uint32_t> data = payload(record);
  const auto found = started_.find(record.id);
  if (found == started_.end()) {
    if (early_ends_.size() >= kMostEarlyEnds) {
      unmatched_ += early_ends_.size();
      early_ends_.clear();
    }
    early_ends_.insert_or_assign(record.id, End{record.time, record.thread, data});
    return;
  }
  if (data) found->second.attributes.payload_json = *data;
  close(std::move(found->second), {record.time, record.thread}, RangeEnding::kFinished);
  started_.erase(found);
  --open_;
}

void NvtxAssembler::close(NvtxRange range, End end, RangeEnding ending) {
  // Another thread that ends the range at the same moment may have an earlier time (channel/counter_clock.h).
  constexpr std::int64_t kSlack = 10'000;  // ns
  if (end.time < range.start - (end.thread != range.thread ? kSlack : 0)) {
    ++invalid_;
    return;
  }
  range.end = std::max(end.time, range.start);
  range.end_thread = end.thread;
  range.ending = ending;
  encoder_.add(range);
}

void NvtxAssembler::tell_open(std::uint32_t process, OpenRanges& open) const {
  std::size_t told = 0;
  const auto tell = [&](const NvtxRange& range) {
    const auto style = range.style == proto::NVTX_PUSH_POP ? OpenRange::Style::kNested : OpenRange::Style::kOfProcess;
    open.ranges.push_back({process, range.thread, range.domain, style, range.depth, range.start, std::max(range.start, last_time_), range.attributes.name,
                           std::string(encoder_.text_of_new(range.attributes.name)), range.attributes.category, range.attributes.color});
    ++told;
  };
  const auto has_told_enough = [&] { return open.ranges.size() >= kMostTold; };
  for (const auto& [key, stack] : stacks_)
    for (const NvtxRange& range : stack) {
      if (has_told_enough()) break;
      tell(range);
    }
  for (const auto& [id, range] : started_) {
    if (has_told_enough()) break;
    tell(range);
  }
  open.left_out += open_ - told;
}

void NvtxAssembler::cut(std::uint32_t thread, std::int64_t time) {
  for (auto* stacks : {&stacks_, &early_begins_}) {
    for (auto& [key, open] : *stacks) {
      if (static_cast<std::uint32_t>(key >> 32) != thread) continue;
      for (; !open.empty(); --open_) {
        NvtxRange range = std::move(open.back());
        open.pop_back();
        close(std::move(range), {time, thread}, RangeEnding::kUnfinished);
      }
    }
  }
}

void NvtxAssembler::finish(std::int64_t end) {
  last_time_ = std::max(last_time_, end);
  for (auto* stacks : {&stacks_, &early_begins_}) {
    for (auto& [key, open] : *stacks) {
      while (!open.empty()) {
        NvtxRange range = std::move(open.back());
        open.pop_back();
        const std::uint32_t thread = range.thread;
        close(std::move(range), {last_time_, thread}, RangeEnding::kUnfinished);
      }
    }
  }
  for (auto& [id, range] : started_) {
    const std::uint32_t thread = range.thread;
    close(std::move(range), {last_time_, thread}, RangeEnding::kUnfinished);
  }
  unmatched_ += early_ends_.size();
  open_ = 0;
  started_.clear();
  early_ends_.clear();
}

}  // namespace lanescope::session
