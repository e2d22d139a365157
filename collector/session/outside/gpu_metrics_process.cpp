#include "outside/gpu_metrics_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "clock.h"
#include "outside/gpu_metrics_program.h"
#include "outside/own_program.h"
#include "processes/proc.h"

namespace lanescope::session {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartPatience = 10s;  // for the driver of a machine with many GPUs to initialise
constexpr auto kEndPatience = 5s;     // without a byte; samples that waited for a processor are evaluated at the end
constexpr auto kMostPatience = 60s;   // in total
constexpr auto kUnremarkable = 2s;    // a wait at the end that is not reported

bool begins_as_no_frame(std::span<const std::byte> bytes) {
  FrameHeader header;
  if (bytes.size() < sizeof(FrameHeader)) return false;
  std::memcpy(&header, bytes.data(), sizeof(FrameHeader));
  return header.magic != kFrameMagic || header.stored_size > kMaximumPayloadBytes;
}

std::optional<FrameView> first_frame(std::span<const std::byte> bytes) {
  FrameView frame;
  if (bytes.size() < sizeof(FrameHeader)) return std::nullopt;
  std::memcpy(&frame.header, bytes.data(), sizeof(FrameHeader));
  if (begins_as_no_frame(bytes) || bytes.size() - sizeof(FrameHeader) < frame.header.stored_size) return std::nullopt;
  frame.stored = bytes.subspan(sizeof(FrameHeader), frame.header.stored_size);
  return frame;
}

std::size_t size_of(const FrameView& frame) { return sizeof(FrameHeader) + frame.stored.size(); }

}  // namespace

Result<std::unique_ptr<GpuMetricsProcess>> GpuMetricsProcess::start(const GpuMetricsSettings& settings) {
  Result<std::vector<std::string>> command = gpu_metrics_command();
  if (!command) return command.error();
  command->insert(command->end(), {"--devices=" + settings.devices, "--set=" + settings.set, "--frequency=" + std::to_string(settings.frequency)});
  int to_it[2];
  int from_it[2];
  if (pipe2(to_it, O_CLOEXEC) != 0) return Error{"GPU metrics can't be sampled: no pipe could be made."};
  FileDescriptor its_commands(to_it[0]), commands(to_it[1]);
  if (pipe2(from_it, O_CLOEXEC) != 0) return Error{"GPU metrics can't be sampled: no pipe could be made."};
  FileDescriptor frames(from_it[0]), its_frames(from_it[1]);
  fcntl(frames.get(), F_SETFL, O_NONBLOCK);

  const pid_t pid = start_own_program(*command, {{its_commands.get(), STDIN_FILENO}, {its_frames.get(), STDOUT_FILENO}});
  if (pid < 0) return Error{"GPU metrics can't be sampled: " + command->front() + " could not be started (" + std::strerror(-pid) + ")."};
  its_frames.reset();
  std::unique_ptr<GpuMetricsProcess> process(new GpuMetricsProcess(pid, std::move(commands), std::move(frames)));
  process->wait_for_answer(std::chrono::duration_cast<std::chrono::milliseconds>(kStartPatience));
  return process;
}

GpuMetricsProcess::GpuMetricsProcess(pid_t pid, FileDescriptor commands, FileDescriptor frames)
    : pid_(pid), commands_(std::move(commands)), frames_(std::move(frames)) {}

GpuMetricsProcess::~GpuMetricsProcess() {
  commands_.reset();
  frames_.reset();
  if (!reaped_) wait_for_in_background(pid_);  // it ends once its pipes are closed
}

void GpuMetricsProcess::read_frames() {
  constexpr std::size_t kPiece = 1u << 16;
  constexpr std::size_t kMost = 4u << 20;  // at a time, because other parts of the recording wait meanwhile
  for (std::size_t round = 0; round < kMost / kPiece && frames_.valid(); ++round) {
    const std::size_t before = received_.size();
    received_.resize(before + kPiece);
    const ssize_t count = read(frames_.get(), received_.data() + before, kPiece);
    if (count > 0) last_byte_ = monotonic_now();
    received_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    const bool none_now = count < 0 && (errno == EAGAIN || errno == EINTR);
    if (count <= 0 && !none_now) frames_.reset();
    if (count <= 0) break;
  }
  count_answers();
}

void GpuMetricsProcess::count_answers() {
  while (const auto frame = first_frame(std::span(received_).subspan(counted_))) {
    if (frame->header.type == proto::FRAME_UNKNOWN) ++answers_;
    counted_ += size_of(*frame);
  }
  if (begins_as_no_frame(std::span(received_).subspan(counted_))) {  // the other program is not ours
    received_.resize(counted_);
    frames_.reset();
  }
}

void GpuMetricsProcess::wait_for_answer(std::chrono::milliseconds limit) {
  const std::int64_t deadline = monotonic_now() + std::chrono::nanoseconds(limit).count();
  for (read_frames(); !has_answered(); read_frames()) {
    const std::int64_t left = deadline - monotonic_now();
    if (left <= 0) return;
    pollfd source{frames_.get(), POLLIN, 0};
    poll(&source, 1, static_cast<int>(left / 1'000'000) + 1);
  }
}

void GpuMetricsProcess::drain(FrameLog& log, Samples samples, const Report& report) {
  read_frames();
  const std::span<const std::byte> all(received_);
  std::size_t done = 0;
  while (const auto frame = first_frame(all.subspan(done))) {
    if (frame->header.type == proto::FRAME_UNKNOWN) ++taken_answers_;
    take(*frame, all.subspan(done, size_of(*frame)), log, samples, report);
    done += size_of(*frame);
  }
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(done));
  counted_ -= done;
  if (!frames_.valid() && commands_.valid()) look_after(report);
}

void GpuMetricsProcess::look_after(const Report& report) {
  int status = 0;
  if (reaped_ || waitpid(pid_, &status, WNOHANG) != pid_) return;
  reaped_ = true;
  if (WIFSIGNALED(status))
    report("The sampling of GPU metrics ended early: lanescope-gpu-metrics was ended by signal " + std::to_string(WTERMSIG(status)) + ".");
  else
    report("The sampling of GPU metrics ended early: lanescope-gpu-metrics ended with code " + std::to_string(WEXITSTATUS(status)) + ".");
}

void GpuMetricsProcess::take(const FrameView& frame, std::span<const std::byte> bytes, FrameLog& log, Samples samples, const Report& report) const {
  const bool ours = frame.header.source == proto::SOURCE_GPU_METRICS && frame.header.process == 0 && frame_is_sound(frame);
  if (!ours) return;
  switch (frame.header.type) {
    case proto::FRAME_RESOURCES:
      return log.pass_on(bytes, 0);
    case proto::FRAME_EVENTS:
      if (samples == Samples::kKeep || (samples == Samples::kKeepRest && taken_answers_ < asked_)) log.pass_on(bytes, 0);
      return;
    case proto::FRAME_DIAGNOSTIC: {
      log.pass_on(bytes, 0);
      proto::Diagnostic diagnostic;
      const Result<std::string> payload = open_frame(frame);
      if (payload && diagnostic.ParseFromString(*payload) && diagnostic.severity() != proto::SEVERITY_INFO) report(diagnostic.text());
      return;
    }
    default:
      return;
  }
}

void GpuMetricsProcess::ask_for_rest() {
  if (!frames_.valid()) return;
  // Its pipe has room for more requests than a recording makes. If it is gone, its output says so.
  const char request = 'f';
  if (write(commands_.get(), &request, 1) == 1) ++asked_;
  last_byte_ = last_question_ = monotonic_now();
}

bool GpuMetricsProcess::is_awaited() const noexcept { return !has_answered() && patience_left() > 0; }

std::int64_t GpuMetricsProcess::patience_left() const noexcept {
  const std::int64_t deadline =
      std::min(last_byte_ + std::chrono::nanoseconds(kEndPatience).count(), last_question_ + std::chrono::nanoseconds(kMostPatience).count());
  return deadline - monotonic_now();
}

void GpuMetricsProcess::end(FrameLog& log, Samples samples, const Report& report) {
  commands_.reset();
  last_byte_ = last_question_ = monotonic_now();
  bool told = false;
  for (drain(log, samples, report); frames_.valid(); drain(log, samples, report)) {
    const std::int64_t left = patience_left();
    if (left <= 0) break;
    if (monotonic_now() - last_question_ > std::chrono::nanoseconds(kUnremarkable).count() && !std::exchange(told, true))
      report("GPU metrics that were sampled while the program used all processors are being evaluated.");
    pollfd source{frames_.get(), POLLIN, 0};
    poll(&source, 1, static_cast<int>(left / 1'000'000) + 1);
  }
  frames_.reset();
}

}  // namespace lanescope::session
