#include "decoded_frame.h"

#include <utility>

#include "compact/counter_frames.h"
#include "model/file/limits.h"

namespace lanescope {
namespace {

template <typename Columns>
bool parse_into(DecodedChunk& decoded, const WireField& field) {
  if (!std::holds_alternative<Columns>(decoded.columns)) decoded.columns.emplace<Columns>();
  return field.type == WireField::kBytes && std::get<Columns>(decoded.columns).parse(field.bytes);
}

bool is_decoded(std::uint16_t type) { return !message_of_frame(type).empty(); }

}  // namespace

bool DecodedChunk::parse(std::string_view payload) {
  std::string others;
  WireReader reader(payload);
  while (const auto field = reader.next()) {
    bool sound = true;
    switch (field->number) {
      case proto::EventChunk::kKernelsFieldNumber:
        sound = parse_into<KernelColumns>(*this, *field);
        break;
      case proto::EventChunk::kApiCallsFieldNumber:
        sound = parse_into<ApiCallColumns>(*this, *field);
        break;
      case proto::EventChunk::kCounterSamplesFieldNumber:
        sound = parse_into<CounterSampleColumns>(*this, *field);
        break;
      default:
        others += field->whole;
    }
    if (!sound) return false;
  }
  if (!reader.sound() || !chunk.ParseFromString(others)) return false;
  return columns.index() == 0 || chunk.events_case() == proto::EventChunk::EVENTS_NOT_SET;  // of one kind
}

template <typename Message>
void DecodedFrame::Content::parse_message(const std::string& payload) {
  if (is_within_limits(payload)) sound = message.emplace<Message>().ParseFromString(payload);
}

template <typename Message>
void DecodedFrame::Content::parse_columns(const std::string& payload) {
  if (is_within_limits(payload) && size.longest_column <= limits::kChunkRows) sound = message.emplace<Message>().ParseFromString(payload);
}

void DecodedFrame::Content::parse_chunk(const std::string& payload) {
  if (is_within_limits(payload) && size.longest_column <= limits::kChunkRows && size.numbers <= limits::kChunkNumbers)
    sound = message.emplace<DecodedChunk>().parse(payload);
}

void DecodedFrame::Content::parse_call_stacks(const std::string& payload) {
  if (is_within_limits(payload)) sound = message.emplace<CallStackRows>().parse(payload);
}

void DecodedFrame::Content::parse_lane_segment(const std::string& payload) {
  auto segment = decode_lane_segment(payload);
  sound = segment.has_value();
  if (sound) message = std::move(*segment);
}

bool DecodedFrame::Content::is_within_limits(const std::string& payload) {
  size = measure_message(message_of_frame(header.type), payload, limits::kDecodedFrameBytes);
  return size.bytes <= limits::kDecodedFrameBytes;
}

void DecodedFrame::Content::parse(const std::string& payload) {
  struct Parser {
    std::uint16_t frame_type;
    void (Content::*parse)(const std::string& payload);
  };
  static constexpr Parser kParsers[] = {
      {proto::FRAME_SESSION_START, &Content::parse_message<proto::SessionStart>},
      {proto::FRAME_SESSION_END, &Content::parse_message<proto::SessionEnd>},
      {proto::FRAME_PROCESS_START, &Content::parse_message<proto::ProcessStart>},
      {proto::FRAME_PROCESS_END, &Content::parse_message<proto::ProcessEnd>},
      {proto::FRAME_RESOURCES, &Content::parse_message<proto::Resources>},
      {proto::FRAME_EVENTS, &Content::parse_chunk},
      {proto::FRAME_SYMBOLS, &Content::parse_message<proto::Symbols>},
      {proto::FRAME_COUNTERS, &Content::parse_message<proto::Counters>},
      {proto::FRAME_DIAGNOSTIC, &Content::parse_message<proto::Diagnostic>},
      {proto::FRAME_OUTPUT, &Content::parse_message<proto::Output>},
      {proto::FRAME_NAMES, &Content::parse_message<proto::Names>},
      {proto::FRAME_CALL_STACKS, &Content::parse_call_stacks},
      {proto::FRAME_DETAILS, &Content::parse_message<proto::Details>},
      {proto::FRAME_TRACKS, &Content::parse_message<proto::Tracks>},
      {proto::FRAME_LANE_SEGMENT, &Content::parse_lane_segment},
      {proto::FRAME_CLOCK_SYNC, &Content::parse_message<proto::ClockSync>},
      {proto::FRAME_CODE_OBJECT, &Content::parse_message<proto::CodeObject>},
      {proto::FRAME_PC_SAMPLES, &Content::parse_columns<proto::PcSamples>},
      {proto::FRAME_KERNEL_METRICS, &Content::parse_message<proto::KernelMetrics>},
      {proto::FRAME_INSTRUCTION_COUNTS, &Content::parse_message<proto::InstructionCounts>},
      {proto::FRAME_SOURCE_FILE, &Content::parse_message<proto::SourceFile>},
  };
  for (const Parser& parser : kParsers)
    if (parser.frame_type == header.type) return (this->*parser.parse)(payload);
}

FrameCost cost_to_decode(const FrameHeader& header) noexcept { return {is_decoded(header.type) ? header.raw_size : 0, 0, 0}; }

FrameCost DecodedFrame::cost() const noexcept { return {cost_to_decode(content_->header).unpacked, content_->size.entries, content_->size.bytes}; }

DecodedFrame::DecodedFrame(const FrameView& frame) : content_(std::make_unique<Content>()) {
  content_->header = frame.header;
  content_->sound = !is_decoded(frame.header.type);
  if (content_->sound) return;
  if (const auto payload = open_frame(frame)) content_->parse(*payload);
}
DecodedFrame::DecodedFrame(DecodedFrame&&) noexcept = default;
DecodedFrame& DecodedFrame::operator=(DecodedFrame&&) noexcept = default;
DecodedFrame::~DecodedFrame() = default;

bool DecodedFrame::holds_counter_samples() const noexcept {
  const auto* chunk = std::get_if<DecodedChunk>(&content_->message);
  return chunk != nullptr && std::holds_alternative<CounterSampleColumns>(chunk->columns);
}

std::optional<CounterHead> DecodedFrame::counter_head() const {
  if (!content_->sound || !holds_counter_samples()) return std::nullopt;
  const auto& chunk = std::get<DecodedChunk>(content_->message);
  return head_of(content_->header.source, std::get<CounterSampleColumns>(chunk.columns), chunk.chunk.base_time());
}

}  // namespace lanescope
