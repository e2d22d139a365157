// Files of frames: finished ones with an index and a trailer, truncated ones, and any bytes.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include <sys/mman.h>
#include <unistd.h>

#include "frame_sequence.h"
#include "fuzz_target.h"
#include "lanescope/trace.pb.h"
#include "model/file/frame_codec.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/segment_reader.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "valid_frames.h"

using namespace lanescope;

namespace {

// The form of an input, given by its first byte.
enum Form : std::uint8_t {
  kFrames,      // frames, which stand in a file as they are; if an index is among them, a trailer says where it is
  kCut,         // the same; the next two bytes say how much is missing at the end
  kRaw,         // any bytes after the header of a file
  kWithoutAny,  // any bytes
  kForms,
};

void append(std::vector<std::byte>& file, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  file.insert(file.end(), bytes, bytes + size);
}

std::vector<std::byte> file_of_frames(std::string_view input) {
  std::vector<std::byte> file(sizeof(FileHeader));
  FileHeader first{};
  std::memcpy(first.magic, kFileMagic, sizeof(kFileMagic));
  first.major_version = kFormatMajor;
  std::memcpy(file.data(), &first, sizeof(first));
  FileTrailer trailer{};
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
  for (const fuzz::Frame& each : fuzz::frames_of(input)) {
    FrameHeader header;
    header.type = each.type;
    header.source = each.source;
    header.process = each.process;
    header.event_count = each.events;
    if (each.type == proto::FRAME_INDEX) trailer.index_offset = file.size();
    append_frame(header, each.payload, file);
  }
  if (trailer.index_offset != 0) append(file, &trailer, sizeof(trailer));
  return file;
}

std::vector<std::byte> file_of(std::string_view input) {
  if (input.empty()) return {};
  const auto form = static_cast<std::uint8_t>(input[0]) % kForms;
  input.remove_prefix(1);
  std::vector<std::byte> file;
  switch (form) {
    case kFrames:
      return file_of_frames(input);
    case kCut: {
      std::uint16_t missing = 0;
      std::memcpy(&missing, input.data(), std::min(sizeof(missing), input.size()));
      file = file_of_frames(input.substr(std::min(sizeof(missing), input.size())));
      file.resize(file.size() - std::min<std::size_t>(missing, file.size()));
      return file;
    }
    case kRaw:
      file = file_of_frames({});
      break;
    default:
      break;
  }
  append(file, input.data(), input.size());
  return file;
}

// What the index of a compacted file says of a chunk of counters, which all have values at all times.
proto::CounterHead head_of(const fuzz::Frame& frame, const proto::EventChunk& chunk) {
  const proto::CounterSamples& samples = chunk.counter_samples();
  std::vector<std::uint64_t> durations;
  for (int row = 1; row < samples.time_delta_size(); ++row) durations.push_back(static_cast<std::uint64_t>(samples.time_delta(row)));
  durations.push_back(samples.last_duration());
  const std::uint64_t length = std::accumulate(durations.begin(), durations.end(), std::uint64_t{0});
  proto::CounterHead head;
  head.set_source(frame.source);
  head.set_first_time(chunk.base_time());
  head.set_length(length);
  head.set_rows(static_cast<std::uint32_t>(durations.size()));
  for (int counter = 0; counter < samples.columns_size(); ++counter) {
    CounterSummary summary;
    std::int64_t value = 0;
    for (std::size_t row = 0; row < durations.size(); ++row)
      summary.add(value += samples.columns(counter).value_delta(static_cast<int>(row)), static_cast<Nanoseconds>(durations[row]));
    head.add_counter(samples.counter(counter));
    head.add_covered(length);
    head.add_minimum(summary.minimum);
    head.add_maximum(summary.maximum);
    head.add_integral(summary.integral);
  }
  return head;
}

// The index of the frames, with their positions in the file that is made of them.
fuzz::Frame index_of(const std::vector<fuzz::Frame>& frames) {
  proto::Index index;
  std::vector<std::byte> file(sizeof(FileHeader));
  const bool is_compacted = std::any_of(frames.begin(), frames.end(), [](const fuzz::Frame& each) { return each.type == proto::FRAME_LANE_SEGMENT; });
  for (const fuzz::Frame& each : frames) {
    proto::IndexEntry& entry = *index.add_entries();
    entry.set_offset(file.size());
    FrameHeader header;
    header.type = each.type;
    append_frame(header, each.payload, file);
    entry.set_type(each.type);
    entry.set_process(each.process);
    entry.set_stored_size(static_cast<std::uint32_t>(file.size() - entry.offset() - sizeof(FrameHeader)));
    entry.set_event_count(each.events);
    proto::EventChunk chunk;
    if (each.type == proto::FRAME_EVENTS && is_compacted && chunk.ParseFromString(each.payload)) *entry.mutable_counters() = head_of(each, chunk);
    if (each.type != proto::FRAME_LANE_SEGMENT) continue;
    if (const auto segment = decode_lane_segment(each.payload))
      (void)entry.mutable_segment()->ParseFromString(encode_segment_head(head_of(segment->lane, segment->events, 0)));
  }
  return {proto::FRAME_INDEX, proto::SOURCE_SESSION, 0, 0, index.SerializeAsString()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> file = file_of({reinterpret_cast<const char*>(data), size});
  const int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0 || write(descriptor, file.data(), file.size()) != static_cast<ssize_t>(file.size())) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  (void)load_trace(path);
  if (const auto reader = SegmentReader::open(path))
    for (std::uint32_t track = 0; track < reader->tracks().size(); ++track)
      for (std::uint32_t lane = 0; lane < reader->lane_count(track); ++lane)
        for (const SegmentReader::Segment& segment : reader->segments({track, lane})) (void)reader->decode(segment);
  if (const auto trace = load_trace(path, {}, EventPlace::kInFile)) {
    SegmentCache::of_process().set_budget(0);  // so that segments are read in parts
    // The heads must agree with the segments, or with what stands in for them.
    for (const Lane& lane : (*trace)->lanes()) {
      Nanoseconds end = std::numeric_limits<Nanoseconds>::min();
      for (EventIndex i = 0; i < lane.size(); ++i) {
        if (lane.start(i) < end || lane.duration(i) < 0) std::abort();
        end = lane.end(i);
      }
      if (!lane.empty() && (lane.extent().end != end || lane.busy(lane.extent()) > lane.extent().length())) std::abort();
      const LaneInParts parts(lane);
      for (EventIndex i = 0; i < lane.size(); i += 500) {
        const EventIndex found = parts.lower_bound(parts.start(i));
        if (found > lane.size() || parts.duration(i) < 0) std::abort();
        (void)parts.busy_before(parts.end(i), found);
        (void)parts.detail(i);
        const LaneSummary sum = parts.summarize(i / 2, lane.size());
        if (sum.longest >= lane.size() || sum.weight < 0) std::abort();
      }
    }
    for (CounterId id = 0; id < (*trace)->counters().size(); ++id) {
      const CounterSeries& series = (*trace)->counter_series(id);
      const TimeRange extent = series.extent();
      const CounterSummary said = series.summarize(extent);  // by heads alone
      if (said.covered < 0 || said.covered > extent.length()) std::abort();
      CounterReader samples(series);
      Nanoseconds time = std::numeric_limits<Nanoseconds>::min();
      for (std::size_t i = 0; i < series.size(); i += 1 + series.size() / 500) {
        const CounterSample sample = samples.sample(i);
        if (sample.time < time || sample.duration < 0 || sample.time < extent.begin || sample.time + sample.duration > extent.end) std::abort();
        time = sample.time;
      }
    }
  }
  close(descriptor);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed) {
  std::mt19937 random(seed);
  if (size < 4 || data[0] % kForms >= kRaw || random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::size_t before = data[0] % kForms == kCut ? 3 : 1;
  auto frames = fuzz::frames_of({reinterpret_cast<const char*>(data) + before, size - before});
  fuzz::change(frames, random);
  const std::string bytes = fuzz::bytes_of(frames);
  if (bytes.size() + before > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data + before, bytes.data(), bytes.size());
  return bytes.size() + before;
}

std::vector<std::string> valid_inputs() {
  std::vector<fuzz::Frame> frames = fuzz::first_frames();
  for (const auto& more : {fuzz::event_frames(), fuzz::last_frames()}) frames.insert(frames.end(), more.begin(), more.end());
  std::vector<fuzz::Frame> few = fuzz::first_frames();
  few.push_back(fuzz::event_frames().front());
  std::vector<std::string> inputs;
  std::vector<fuzz::Frame> compacted = fuzz::first_frames();
  for (const auto& more : {fuzz::compacted_frames(), fuzz::last_frames()}) compacted.insert(compacted.end(), more.begin(), more.end());
  for (std::vector<fuzz::Frame>* of : {&frames, &few, &compacted}) {
    inputs.push_back(static_cast<char>(kCut) + std::string(2, '\5') + fuzz::bytes_of(*of));
    of->push_back(index_of(*of));
    inputs.push_back(static_cast<char>(kFrames) + fuzz::bytes_of(*of));
    const auto file = file_of_frames(fuzz::bytes_of(*of));
    inputs.push_back(static_cast<char>(kWithoutAny) + std::string(reinterpret_cast<const char*>(file.data()), file.size()));
    inputs.push_back(static_cast<char>(kRaw) + std::string(reinterpret_cast<const char*>(file.data()) + sizeof(FileHeader), file.size() - sizeof(FileHeader)));
  }
  return inputs;
}
