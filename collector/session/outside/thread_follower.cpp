#include "outside/thread_follower.h"

#include "clock.h"

namespace lanescope::session {
ThreadFollower::ThreadFollower(std::unique_ptr<cpu::Recorder> recorder, std::uint32_t first, FrameLog& log, ProcessDirectory directory)
    : recorder_(std::move(recorder)), log_(log), directory_(std::move(directory)), instances_{{cpu::kFirstProcess, first}} {}

FrameTag ThreadFollower::tag(proto::FrameType type, cpu::ProcessKey process, std::uint32_t events) const {
  return {type, process == cpu::kWholeRecording ? 0 : instances_.at(process), proto::SOURCE_CPU, events};
}

proto::Counters ThreadFollower::counters(std::uint32_t instance) const {
  const auto found = counters_.find(instance);
  return found == counters_.end() ? proto::Counters() : found->second;
}

void ThreadFollower::process_began(const cpu::SeenProcess& process) { instances_[process.key] = directory_.join(process); }

void ThreadFollower::process_ended(cpu::ProcessKey process, std::int64_t time) { directory_.leave(instances_.at(process), time); }

void ThreadFollower::process_forgotten(cpu::ProcessKey process) {
  constexpr std::size_t kKept = 4096;  // their agents may still report them
  const auto known = instances_.find(process);
  if (process == cpu::kFirstProcess || known == instances_.end()) return;
  forgotten_.push_back(known->second);
  instances_.erase(known);
  if (forgotten_.size() <= kKept) return;
  const auto counted = counters_.find(forgotten_.front());
  forgotten_.pop_front();
  if (counted == counters_.end()) return;
  directory_.settle(counted->first, counted->second);
  counters_.erase(counted);
}

void ThreadFollower::thread_named(cpu::ProcessKey process, std::uint32_t thread, const std::string& name) {
  directory_.name_thread(instances_.at(process), thread, name);
}

void ThreadFollower::described(cpu::ProcessKey process, const proto::Resources& resources) { log_.write(tag(proto::FRAME_RESOURCES, process), resources); }

void ThreadFollower::recorded(cpu::ProcessKey process, const proto::EventChunk& chunk, std::uint32_t events) {
  log_.write(tag(proto::FRAME_EVENTS, process, events), chunk);
}

void ThreadFollower::named(cpu::ProcessKey process, const proto::Symbols& symbols) { log_.write(tag(proto::FRAME_SYMBOLS, process), symbols); }

void ThreadFollower::counted(cpu::ProcessKey process, const proto::Counters& counters) {
  proto::Counters& known = counters_[instances_.at(process)];
  dropped_ += counters.dropped() - known.dropped();
  known = counters;
  log_.write(tag(proto::FRAME_COUNTERS, process), counters);
}

void ThreadFollower::noted(const proto::Diagnostic& diagnostic) {
  log_.write({proto::FRAME_DIAGNOSTIC}, diagnostic);
  if (diagnostic.severity() != proto::SEVERITY_INFO) directory_.report(diagnostic.text());
}

}  // namespace lanescope::session
