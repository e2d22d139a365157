#include "outside/observed_process.h"

namespace lanescope::session {

proto::ProcessStart start_of(const cpu::SeenProcess& seen) {
  proto::ProcessStart start;
  start.set_pid(static_cast<std::uint32_t>(seen.pid));
  start.set_parent_pid(static_cast<std::uint32_t>(seen.parent));
  start.set_time(seen.start);
  start.set_executable(seen.executable);
  for (const std::string& argument : seen.arguments) start.add_arguments(argument);
  start.set_forked(seen.forked);
  start.set_outside(seen.membership == cpu::Membership::kOutside);
  return start;
}

ObservedProcess::ObservedProcess(std::uint32_t instance, const cpu::SeenProcess& seen, const proto::JobPlace& place, FrameLog& log)
    : instance_(instance),
      pid_(seen.pid),
      is_of_recording_(seen.membership != cpu::Membership::kOutside),
      start_(seen.start),
      description_(describe(seen)),
      log_(&log) {
  proto::ProcessStart start = start_of(seen);
  start.set_only_observed(true);
  if (place.ByteSizeLong() > 0) *start.mutable_place() = place;
  log_->write({proto::FRAME_PROCESS_START, instance_}, start);
}

void ObservedProcess::write_end(const TargetProcess::Ending& ending, std::int64_t time) {
  proto::ProcessEnd end;
  end.set_time(time);
  end.set_kind(ending.kind);
  end.set_exit_code(ending.status.code);
  end.set_signal(ending.status.signal);
  log_->write({proto::FRAME_PROCESS_END, instance_}, end);
}

}  // namespace lanescope::session
