// Brings what a cpu::Recorder sees into the recording: each process gets its instance, and everything goes into the log.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "collector/cpu/recorder.h"
#include "file/frame_log.h"

namespace lanescope::session {

// What the follower needs from the owner of the recording's processes.
struct ProcessDirectory {
  std::function<std::uint32_t(const cpu::SeenProcess&)> join;            // returns its instance
  std::function<void(std::uint32_t instance, std::int64_t time)> leave;  // it has ended
  std::function<void(std::uint32_t instance, std::uint32_t thread, const std::string& name)> name_thread;
  std::function<void(std::uint32_t instance, const proto::Counters&)> settle;  // final counts of how complete its part is
  std::function<void(const std::string& sentence)> report;
};

class ThreadFollower final : private cpu::Listener {
 public:
  // `first`: the instance of the process with which the recording starts.
  ThreadFollower(std::unique_ptr<cpu::Recorder> recorder, std::uint32_t first, FrameLog& log, ProcessDirectory directory);

  void begin_part() { recorder_->begin_part(); }
  void drain() { recorder_->drain(*this); }
  void finish_part() { recorder_->finish_part(*this); }
  // See cpu::Recorder::begin_naming.
  void begin_naming() { recorder_->begin_naming(); }
  [[nodiscard]] bool is_naming() const { return recorder_->is_naming(); }
  void stop_naming() { recorder_->stop_naming(); }

  // See cpu::Recorder::python.
  [[nodiscard]] std::shared_ptr<const python::Sampler> python() const { return recorder_->python(); }

  // How complete the part of an instance is.
  [[nodiscard]] proto::Counters counters(std::uint32_t instance) const;
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }  // of all instances

 private:
  void process_began(const cpu::SeenProcess& process) override;
  void process_ended(cpu::ProcessKey process, std::int64_t time) override;
  void process_forgotten(cpu::ProcessKey process) override;
  void thread_named(cpu::ProcessKey process, std::uint32_t thread, const std::string& name) override;
  void described(cpu::ProcessKey process, const proto::Resources& resources) override;
  void recorded(cpu::ProcessKey process, const proto::EventChunk& chunk, std::uint32_t events) override;
  void named(cpu::ProcessKey process, const proto::Symbols& symbols) override;
  void counted(cpu::ProcessKey process, const proto::Counters& counters) override;
  void noted(const proto::Diagnostic& diagnostic) override;
  [[nodiscard]] FrameTag tag(proto::FrameType type, cpu::ProcessKey process, std::uint32_t events = 0) const;

  std::unique_ptr<cpu::Recorder> recorder_;
  FrameLog& log_;
  ProcessDirectory directory_;
  std::map<cpu::ProcessKey, std::uint32_t> instances_;
  std::map<std::uint32_t, proto::Counters> counters_;  // by instance; settled for processes that ended some time ago
  std::deque<std::uint32_t> forgotten_;                // instances whose counters are not settled yet
  std::uint64_t dropped_ = 0;
};

}  // namespace lanescope::session
