#include "agent/kernels/pc_collector.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "agent/core/clock.h"
#include "agent/encode/proto_writer.h"
#include "agent/kernels/driver.h"

namespace lanescope::agent::kernels {
namespace {

constexpr std::uint16_t kCodeObjectFrame = 19;  // proto::FrameType
constexpr std::uint16_t kPcSamplesFrame = 20;
constexpr std::size_t kCodePartBytes = 4u << 20;
constexpr std::int64_t kInterval = 100 * kMillisecond;       // between two fetches from CUPTI
constexpr std::int64_t kBeginPatience = 100 * kMillisecond;  // for launches in progress, while others wait
constexpr std::int64_t kEndPatience = 2 * kSecond;
constexpr std::int64_t kLongPutOff = 5 * kSecond;
constexpr char kPutOff[] =
    "Windows of PC samples are put off: the program is within calls of CUDA that do not come back, and to begin or end sampling meanwhile could stop both for "
    "good. "
    "There are windows once it is within none for a moment.";
constexpr char kLost[] =
    "PC samples of a CUDA context from its last moments are lost: it ended while other threads were within calls of CUDA that do not come back.";
constexpr char kGoesOn[] =
    "PC sampling stays on in the program, which runs on: the program is within a call of CUDA that does not come back, and to end sampling meanwhile could "
    "stop "
    "both for good. It ends with the next recording of PC samples, or with the CUDA context.";

}  // namespace

std::optional<PcSampler>* PcCollector::find(CUcontext context) noexcept {
  for (std::optional<PcSampler>& sampler : samplers_)
    if (sampler && sampler->context() == context) return &sampler;
  return nullptr;
}

// ---- On the agent's own thread -----------------------------------------------------------------------------------------------------

void PcCollector::begin(const Request& request) noexcept {
  const ScopedTurn turn(turn_);
  if (!turn) return tell_once(Outcome::kFailed, "PC samples are not recorded: the program keeps CUPTI busy.");
  follow_notes();
  request_ = request;
  state_ = State::kCollecting;
  put_off_since_ = 0;
  // A program that launches more than its queues hold keeps the driver's locks all the time.
  host_.follow_launches();
  const bool are_back = host_.hold_launches(kBeginPatience);
  if (add_present_contexts()) host_.follow_launched_code();
  if (are_back) end_left_over();
  for (std::optional<PcSampler>& sampler : samplers_)
    if (sampler) sampler->expect();
  if (are_back) sample_free_gpus();  // otherwise at a later look
  host_.let_launches_go();
  if (request_.window == 0) return host_.leave_launches();
  next_change_ = monotonic_now();
  char sentence[160];
  std::snprintf(sentence, sizeof(sentence), "Warps are sampled for %lld ms of each %lld ms: kernels that run in between alone have no PC samples.",
                static_cast<long long>(request_.window / kMillisecond), static_cast<long long>(request_.every / kMillisecond));
  host_.tell(Outcome::kWorks, sentence);
}

std::int64_t PcCollector::collect() noexcept {
  std::int64_t pause = kInterval;
  {
    const ScopedTurn turn(turn_);
    if (!turn) return kInterval;  // retried the next time
    follow_notes();
    if (request_.window != 0) pause = follow_windows();
    for (std::optional<PcSampler>& sampler : samplers_) {
      if (!sampler) continue;
      take(*sampler);
      if (request_.window == 0 || sampler->context() == nullptr || sampler->chunk().full()) write(*sampler);
      if (sampler->context() == nullptr) sampler.reset();
    }
    if (awaits_sampling()) between_launches(kBeginPatience, [this] { sample_free_gpus(); });
  }
  write_code();
  return pause;
}

void PcCollector::end() noexcept {
  {
    const ScopedTurn turn(turn_);
    if (!turn) return host_.tell(Outcome::kFailed, kGoesOn);
    follow_notes();
    state_ = State::kIdle;
    const bool is_ended = !samples_any() || between_launches(kEndPatience, [this] {
      for (std::optional<PcSampler>& sampler : samplers_)
        if (sampler) tell(sampler->end());
    });
    for (std::optional<PcSampler>& sampler : samplers_) {
      if (!sampler) continue;
      if (!is_ended) take(*sampler);
      write(*sampler);
    }
    host_.leave_launches();
    if (!is_ended) host_.tell(Outcome::kFailed, kGoesOn);
  }
  write_code();
}

void PcCollector::begin_session() noexcept {
  const ScopedTurn turn(turn_);
  dictionary_.forget_written();
  code_.forget_taken();
  has_told_ = has_told_of_code_ = false;
}

void PcCollector::process_forked() noexcept {
  for (std::optional<PcSampler>& sampler : samplers_)
    if (sampler) sampler->give_gpu_back();
}

// ---- From CUPTI's callbacks --------------------------------------------------------------------------------------------------------

void PcCollector::context_created(CUcontext context) noexcept {
  const ScopedTurn turn(turn_);
  if (!turn) return static_cast<void>(created_.put(context));
  const bool is_first = request_.contexts == Request::Contexts::kAllTold &&
                        std::none_of(std::begin(samplers_), std::end(samplers_), [](const auto& sampler) { return sampler && sampler->context() != nullptr; });
  add(context);
  // Nothing is launched before there is a context. If there are others, the agent's own thread begins sampling between launches. Contexts that will not be
  // sampled are reported here.
  if (is_first || !awaits_sampling()) sample_free_gpus();
}

void PcCollector::context_ends(CUcontext context) noexcept {
  const ScopedTurn turn(turn_);
  if (!turn) return static_cast<void>(ended_.put(context));
  std::optional<PcSampler>* const sampler = find(context);
  if (sampler == nullptr) return;
  // Its samples are written on the agent's own thread, which then removes it. Other threads may launch into other contexts in the meantime.
  const auto leave = [&] { tell((*sampler)->leave_context()); };
  if (!(*sampler)->is_on())
    leave();
  else if (!between_launches(kBeginPatience, leave))
    lose(**sampler);
}

void PcCollector::module_loaded(std::span<const std::byte> image) noexcept { code_.add(image); }

// When a module is unloaded, CUPTI drops the samples of its code.
void PcCollector::module_unloads(CUcontext context) noexcept {
  const ScopedTurn turn(turn_);
  if (!turn) return;
  if (std::optional<PcSampler>* const sampler = find(context); sampler != nullptr) take(**sampler);
}

// ---- With the turn -----------------------------------------------------------------------------------------------------------------

bool PcCollector::add(CUcontext context) noexcept {
  if (find(context) != nullptr) return false;
  const auto free = std::find_if(std::begin(samplers_), std::end(samplers_), [](const auto& sampler) { return !sampler; });
  if (free == std::end(samplers_)) {
    tell_once(Outcome::kWorks, "PC samples are recorded of the first 64 CUDA contexts of a process alone.");
    return false;
  }
  free->emplace(functions_, context, dictionary_, code_);
  return true;
}

// Nobody reports contexts that existed before CUPTI, as in a program that was already running. Those that the driver made itself can be asked for.
bool PcCollector::add_present_contexts() noexcept {
  const Driver driver = Driver::find();
  bool has_any = false;
  for (int device = 0; device < driver.devices(); ++device)
    if (const CUcontext context = driver.primary_context(device); context != nullptr && add(context)) has_any = true;
  return has_any;
}

template <typename Work>
bool PcCollector::between_launches(std::int64_t patience, Work work) noexcept {
  host_.follow_launches();
  const bool are_back = host_.hold_launches(patience);
  if (are_back) work();
  host_.let_launches_go();
  if (request_.window == 0 || state_ == State::kIdle) host_.leave_launches();
  return are_back;
}

void PcCollector::follow_notes() noexcept {
  for (CUcontext context = ended_.take(); context != nullptr; context = ended_.take())
    if (std::optional<PcSampler>* const sampler = find(context); sampler != nullptr) lose(**sampler);
  for (CUcontext context = created_.take(); context != nullptr; context = created_.take()) add(context);
}

void PcCollector::lose(PcSampler& sampler) noexcept {
  if (sampler.is_on()) tell_once(Outcome::kFailed, kLost);
  sampler.lose_context();
}

bool PcCollector::is_sampled(std::uint32_t device) const noexcept {
  return std::any_of(std::begin(samplers_), std::end(samplers_),
                     [device](const auto& sampler) { return sampler && sampler->is_on() && sampler->device() == device; });
}

bool PcCollector::awaits_sampling() const noexcept {
  return state_ != State::kIdle && std::any_of(std::begin(samplers_), std::end(samplers_), [this](const auto& sampler) {
           return sampler && sampler->is_expected() && sampler->context() != nullptr && !is_sampled(sampler->device());
         });
}

void PcCollector::end_left_over() noexcept {
  for (std::optional<PcSampler>& sampler : samplers_) {
    if (!sampler || !sampler->is_on()) continue;
    tell(sampler->end());
    sampler->forget_window();
    sampler->chunk().begin(monotonic_now());  // samples between recordings are discarded
  }
}

// CUPTI samples one context of a GPU at a time: with a second one it fails, and records nothing any more.
void PcCollector::sample_free_gpus() noexcept {
  if (state_ == State::kIdle) return;
  for (std::optional<PcSampler>& sampler : samplers_) {
    if (!sampler || !sampler->is_expected() || sampler->context() == nullptr) continue;
    if (is_sampled(sampler->device())) {
      tell_once(Outcome::kWorks, "PC samples are recorded of one CUDA context of a GPU at a time: kernels of the program's other contexts have none.");
      continue;
    }
    switch (sampler->begin(request_.sampling_period, request_.window == 0 ? PcSampler::Times::kAll : PcSampler::Times::kWindows)) {
      case PcSampler::Begin::kSampled:
        break;
      case PcSampler::Begin::kGpuInUse:
        tell_once(Outcome::kInUse, "PC samples are not recorded of all processes: one at a time can be sampled on a GPU.");
        break;
      case PcSampler::Begin::kRefused:
        tell(sampler->refusal());
        break;
    }
  }
}

bool PcCollector::samples_any() const noexcept {
  return std::any_of(std::begin(samplers_), std::end(samplers_), [](const auto& sampler) { return sampler && sampler->is_on(); });
}

std::int64_t PcCollector::follow_windows() noexcept {
  if (monotonic_now() >= next_change_) {
    next_change_ = monotonic_now() + kInterval;
    if (state_ == State::kInWindow)
      end_window();
    else if (samples_any())
      begin_window();
  }
  return std::clamp<std::int64_t>(next_change_ - monotonic_now(), 0, kInterval);
}

void PcCollector::begin_window() noexcept {
  const bool has_looked = between_launches(kBeginPatience, [this] {
    for (std::optional<PcSampler>& sampler : samplers_) {
      if (!sampler || !sampler->is_on()) continue;
      take(*sampler);  // the rest of the previous window
      write(*sampler);
      if (sampler->is_on()) tell(sampler->begin_window());
      if (sampler->is_in_window()) state_ = State::kInWindow;
    }
  });
  if (!has_looked) return note_put_off();
  put_off_since_ = 0;
  if (state_ != State::kInWindow) return;
  window_begun_ = monotonic_now();
  next_change_ = window_begun_ + request_.window;
}

// If a launch does not return, the window lasts until the next look.
void PcCollector::end_window() noexcept {
  const bool is_ended = between_launches(kBeginPatience, [this] {
    for (std::optional<PcSampler>& sampler : samplers_)
      if (sampler && sampler->is_on() && sampler->is_in_window()) tell(sampler->end_window());
  });
  if (!is_ended) return note_put_off();
  put_off_since_ = 0;
  state_ = State::kCollecting;
  next_change_ = window_begun_ + request_.every;
}

void PcCollector::note_put_off() noexcept {
  if (put_off_since_ == 0)
    put_off_since_ = monotonic_now();
  else if (monotonic_now() - put_off_since_ >= kLongPutOff)
    tell_once(Outcome::kWorks, kPutOff);
}

void PcCollector::take(PcSampler& sampler) noexcept { tell(sampler.take()); }

void PcCollector::write(PcSampler& sampler) noexcept {
  PcChunk& chunk = sampler.chunk();
  const std::int64_t now = monotonic_now();
  const PcSampler::Window window = sampler.window();
  if (!chunk.empty() || window.begin != 0) {
    PageBuffer message;
    encode::ProtoWriter out(message);
    out.unsigned_field(3, sampler.device());
    out.unsigned_field(4, sampler.context_id());
    out.unsigned_field(5, sampler.period_in_cycles());
    dictionary_.write_new(out);
    chunk.write(out, host_.event_time(chunk.begun()), host_.event_time(window.end != 0 ? window.end : now));
    out.unsigned_field(18, static_cast<std::uint64_t>(request_.every));
    if (!message.failed()) host_.write_frame(kPcSamplesFrame, message.bytes());
  }
  const bool goes_on = (chunk.full() && window.begin != 0) || sampler.is_in_window();
  chunk.begin(goes_on ? window.begin : now);
  if (!goes_on) sampler.forget_window();
}

// Called without the turn: nobody else takes code.
void PcCollector::write_code() noexcept {
  if (code_.left_out() != 0 && !std::exchange(has_told_of_code_, true))
    host_.tell(Outcome::kWorks, "PC samples of some kernels have no lines: of the program's GPU code no more than 1 GiB is kept.");
  for (CodeObjects::Part part = code_.take_wanted(kCodePartBytes); !part.bytes.empty(); part = code_.take_wanted(kCodePartBytes)) {
    PageBuffer message;
    encode::ProtoWriter out(message);
    out.fixed64_field(1, part.crc);
    out.unsigned_field(2, part.size);
    out.unsigned_field(3, part.offset);
    out.bytes_field(4, part.bytes);
    if (!message.failed()) host_.write_frame(kCodeObjectFrame, message.bytes());
  }
}

void PcCollector::tell_once(Outcome outcome, const char* sentence) noexcept {
  if (has_told_) return;
  has_told_ = true;
  host_.tell(outcome, sentence);
}

void PcCollector::tell(CUptiResult result) noexcept {
  switch (result) {
    case CUPTI_SUCCESS:
      return;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return tell_once(Outcome::kNoPermission,
                       "PC samples are not recorded: the driver lets only administrators read the hardware's counters. Record as root, or have the "
                       "option NVreg_RestrictProfilingToAdminUsers=0 set for the module nvidia.");
    case CUPTI_ERROR_HARDWARE_BUSY:
      return tell_once(Outcome::kInUse,
                       "PC samples are not recorded: another program holds the hardware's counters. Stop DCGM or the other profiler, and record again.");
    default: {
      char sentence[256];
      const char* name = "unknown error";
      functions_.get_result_string(result, &name);
      std::snprintf(sentence, sizeof(sentence), "PC samples of a CUDA context are not recorded from here on: CUPTI answered %d (%s).", static_cast<int>(result),
                    name);
      return tell_once(Outcome::kFailed, sentence);
    }
  }
}

}  // namespace lanescope::agent::kernels
