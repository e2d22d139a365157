#include "file/output_log.h"

#include "clock.h"

namespace lanescope::session {
namespace {

constexpr std::size_t kMaximumFrame = 64u << 10;

}  // namespace

void OutputLog::take(OutputStream stream, std::span<const char> bytes) {
  const proto::OutputStream target = stream == OutputStream::kStandardError ? proto::OUTPUT_STDERR : proto::OUTPUT_STDOUT;
  if (pending_.stream() != target || pending_.data().size() >= kMaximumFrame) flush();
  if (pending_.data().empty()) pending_.set_time(monotonic_now());
  pending_.set_stream(target);
  pending_.mutable_data()->append(bytes.data(), bytes.size());
}

void OutputLog::flush() {
  if (!pending_.data().empty()) log_.write({proto::FRAME_OUTPUT}, pending_);
  pending_.Clear();
}

}  // namespace lanescope::session
