#include "model/file/missing.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "lanescope/trace.pb.h"
#include "model/file/trace_file.h"

namespace lanescope {

void Missing::note(int severity, int component, int state, DiagnosticContent content) {
  if (content.kind == DiagnosticKind::kTornStacks) {
    python_stacks += content.count;
    return;
  }
  if (severity < proto::SEVERITY_WARNING) return;
  if (state == proto::STATE_FAILED && component == proto::COMPONENT_SESSION)  // about processes that it could not follow (docs/file-format.md)
    unfollowed = true;
  else if (state == proto::STATE_FAILED || (state == proto::STATE_OWNED_BY_OTHER && component == proto::COMPONENT_NVTX) ||
           content.kind == DiagnosticKind::kLoss)
    ++warnings;
}

Missing& Missing::operator+=(const Missing& other) {
  dropped += other.dropped;
  invalid += other.invalid;
  unreturned_buffers += other.unreturned_buffers;
  unwritten_events += other.unwritten_events;
  python_stacks += other.python_stacks;
  pc_samples += other.pc_samples;
  full_pc_windows += other.full_pc_windows;
  unwhole_recordings += other.unwhole_recordings;
  warnings += other.warnings;
  unfollowed |= other.unfollowed;
  file_was_full |= other.file_was_full;
  return *this;
}

Missing missing_in(const TraceFileReader& file) {
  Missing missing;
  std::map<std::pair<std::uint32_t, std::uint8_t>, proto::Counters> counters;  // by process and source: the latest counts
  constexpr std::array<std::uint32_t, 5> kSay = {proto::FRAME_SESSION_END, proto::FRAME_PROCESS_END, proto::FRAME_DIAGNOSTIC, proto::FRAME_COUNTERS,
                                                 proto::FRAME_PC_SAMPLES};
  for (const IndexedFrame& indexed : file.index()) {
    if (std::find(kSay.begin(), kSay.end(), indexed.type) == kSay.end()) continue;
    const Result<FrameView> read = file.read(indexed);
    if (!read) continue;
    const FrameView& frame = *read;
    const Result<std::string> payload = open_frame(frame);
    if (!payload) continue;
    const auto parsed = [&payload](auto message) {
      if (!message.ParseFromString(*payload)) message.Clear();
      return message;
    };
    switch (frame.header.type) {
      case proto::FRAME_SESSION_END: {
        const auto end = parsed(proto::SessionEnd());
        missing.unwritten_events = end.unwritten_events();
        missing.file_was_full = end.reason() == proto::END_DISK_FULL || end.reason() == proto::END_FILE_SIZE;
        break;
      }
      case proto::FRAME_PROCESS_END:
        missing.unreturned_buffers += parsed(proto::ProcessEnd()).unreturned_buffers();
        break;
      case proto::FRAME_DIAGNOSTIC: {
        const auto said = parsed(proto::Diagnostic());
        missing.note(said.severity(), said.component(), said.state(), content_of(said));
        break;
      }
      case proto::FRAME_COUNTERS:
        counters[{frame.header.process, frame.header.source}] = parsed(proto::Counters());
        break;
      case proto::FRAME_PC_SAMPLES: {
        const auto samples = parsed(proto::PcSamples());
        missing.pc_samples += samples.dropped();
        missing.full_pc_windows += samples.buffer_was_full() ? 1 : 0;
        break;
      }
      default:
        break;
    }
  }
  for (const auto& [source, counted] : counters) {
    missing.dropped += counted.dropped();
    missing.invalid += counted.invalid();
  }
  return missing;
}

}  // namespace lanescope
