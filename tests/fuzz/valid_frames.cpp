#include "valid_frames.h"

#include <google/protobuf/message.h>

#include "lanescope/trace.pb.h"

namespace lanescope::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kElements = 4;  // in each column

// A small number in every field, and four of them in every column: ids that exist, ascending times, columns of equal length.
void fill(Message& message, int depth = 0) {
  const Reflection& access = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (field->containing_oneof() != nullptr || depth > 3) continue;
    for (int element = 0; element < (field->is_repeated() ? kElements : 1); ++element) {
      const bool repeated = field->is_repeated();
      const int small = repeated ? element % 3 : 1;
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_INT32:
          repeated ? access.AddInt32(&message, field, small) : access.SetInt32(&message, field, small);
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          repeated ? access.AddInt64(&message, field, 10 * small) : access.SetInt64(&message, field, 10 * small);
          break;
        case FieldDescriptor::CPPTYPE_UINT32:
          repeated ? access.AddUInt32(&message, field, static_cast<std::uint32_t>(small))
                   : access.SetUInt32(&message, field, static_cast<std::uint32_t>(small));
          break;
        case FieldDescriptor::CPPTYPE_UINT64:
          repeated ? access.AddUInt64(&message, field, static_cast<std::uint64_t>(5 * small))
                   : access.SetUInt64(&message, field, static_cast<std::uint64_t>(5 * small));
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          repeated ? access.AddDouble(&message, field, 0.5) : access.SetDouble(&message, field, 0.5);
          break;
        case FieldDescriptor::CPPTYPE_FLOAT:
          repeated ? access.AddFloat(&message, field, 0.5f) : access.SetFloat(&message, field, 0.5f);
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          repeated ? access.AddBool(&message, field, true) : access.SetBool(&message, field, true);
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          repeated ? access.AddEnumValue(&message, field, small) : access.SetEnumValue(&message, field, small);
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          repeated ? access.AddString(&message, field, "_Z4axpyIfEvPT_i") : access.SetString(&message, field, "name");
          break;
        case FieldDescriptor::CPPTYPE_MESSAGE:
          fill(repeated ? *access.AddMessage(&message, field) : *access.MutableMessage(&message, field), depth + 1);
          break;
      }
    }
  }
}

template <typename Filled>
Filled filled() {
  Filled message;
  fill(message);
  return message;
}

Frame frame_of(proto::FrameType type, const Message& message, proto::FrameSource source = proto::SOURCE_AGENT, std::uint8_t process = 1) {
  return {static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(source), process, kElements, message.SerializeAsString()};
}

proto::EventChunk dictionaries() {
  proto::EventChunk chunk = filled<proto::EventChunk>();
  for (int i = 0; i < chunk.call_nodes_size(); ++i) chunk.mutable_call_nodes(i)->set_parent(static_cast<std::uint32_t>(i));
  return chunk;
}

}  // namespace

std::vector<Frame> first_frames() {
  return {frame_of(proto::FRAME_SESSION_START, filled<proto::SessionStart>(), proto::SOURCE_SESSION, 0),
          frame_of(proto::FRAME_PROCESS_START, filled<proto::ProcessStart>(), proto::SOURCE_SESSION),
          frame_of(proto::FRAME_RESOURCES, filled<proto::Resources>()),
          frame_of(proto::FRAME_CLOCK_SYNC, filled<proto::ClockSync>()),
          frame_of(proto::FRAME_CODE_OBJECT, filled<proto::CodeObject>()),
          frame_of(proto::FRAME_PC_SAMPLES, filled<proto::PcSamples>())};
}

std::vector<Frame> event_frames() {
  std::vector<Frame> frames;
  const auto* events = proto::EventChunk::descriptor()->FindOneofByName("events");
  for (int i = 0; i < events->field_count(); ++i) {
    proto::EventChunk chunk = dictionaries();
    fill(*chunk.GetReflection()->MutableMessage(&chunk, events->field(i)), 1);
    frames.push_back(frame_of(proto::FRAME_EVENTS, chunk));
  }
  return frames;
}

std::vector<Frame> compacted_frames() {
  proto::CallStacks stacks = filled<proto::CallStacks>();
  for (int i = 0; i < stacks.nodes_size(); ++i) stacks.mutable_nodes(i)->set_parent(static_cast<std::uint32_t>(i));
  proto::Tracks tracks;
  for (int kind = 0; kind < proto::TrackKind_ARRAYSIZE; ++kind) {
    tracks.mutable_threads()->Add(filled<proto::TrackThread>());
    proto::Track& track = *tracks.add_tracks();
    fill(track);
    track.set_kind(static_cast<proto::TrackKind>(kind));
    if (kind != proto::TRACK_PROCESSORS) track.set_processor(0);
  }
  std::vector<Frame> frames = {frame_of(proto::FRAME_NAMES, filled<proto::Names>()), frame_of(proto::FRAME_CALL_STACKS, stacks),
                               frame_of(proto::FRAME_TRACKS, tracks)};
  for (int kind = 1; kind < proto::DetailKind_ARRAYSIZE; ++kind) {
    constexpr int kMostColumns = 22;
    proto::Details details = filled<proto::Details>();
    details.set_kind(static_cast<proto::DetailKind>(kind));
    details.set_rows(kElements);
    details.clear_columns();
    for (int column = 0; column < kMostColumns; ++column) fill(*details.add_columns());
    frames.push_back(frame_of(proto::FRAME_DETAILS, details));
  }
  proto::Resources resources;  // two counters, whose values stay in the file
  proto::EventChunk chunk;
  chunk.set_base_time(10);
  proto::CounterSamples& samples = *chunk.mutable_counter_samples();
  for (int row = 0; row < kElements; ++row) samples.add_time_delta(row == 0 ? 0 : 10);
  samples.set_last_duration(10);
  for (const std::uint32_t id : {1u, 2u}) {
    proto::Counter& counter = *resources.add_counters();
    fill(counter);
    counter.set_id(id);
    samples.add_counter(id);
    proto::CounterColumn& column = *samples.add_columns();
    for (int row = 0; row < kElements; ++row) column.add_value_delta(row + id);
  }
  frames.push_back(frame_of(proto::FRAME_RESOURCES, resources));
  frames.push_back(frame_of(proto::FRAME_EVENTS, chunk));
  for (int track = 0; track < tracks.tracks_size(); ++track) {
    proto::LaneSegment segment = filled<proto::LaneSegment>();
    segment.set_track(static_cast<std::uint32_t>(track));
    frames.push_back(frame_of(proto::FRAME_LANE_SEGMENT, segment));
  }
  return frames;
}

std::vector<Frame> last_frames() {
  proto::Outline outline = filled<proto::Outline>();
  outline.set_bucket_length(100);
  return {frame_of(proto::FRAME_SYMBOLS, filled<proto::Symbols>()),
          frame_of(proto::FRAME_COUNTERS, filled<proto::Counters>()),
          frame_of(proto::FRAME_OUTPUT, filled<proto::Output>()),
          frame_of(proto::FRAME_DIAGNOSTIC, filled<proto::Diagnostic>()),
          frame_of(proto::FRAME_PROCESS_END, filled<proto::ProcessEnd>(), proto::SOURCE_SESSION),
          frame_of(proto::FRAME_SESSION_END, filled<proto::SessionEnd>(), proto::SOURCE_SESSION, 0),
          frame_of(proto::FRAME_OUTLINE, outline, proto::SOURCE_SESSION, 0)};
}

}  // namespace lanescope::fuzz
