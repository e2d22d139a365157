#include "agent/cupti/kernel_profiler.h"

#include <cstdio>
#include <cstring>

#include <dlfcn.h>

#include "agent/channel/membership.h"
#include "agent/core/clock.h"
#include "agent/core/loader/loader.h"
#include "agent/core/quiet.h"
#include "agent/cupti/launch_hold.h"
#include "agent/cupti/library/guarded_call.h"
#include "agent/cupti/words.h"

namespace lanescope::agent::cupti {
namespace {

constexpr CUpti_CallbackId kResourceCallbacks[] = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                                                   CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING};
constexpr std::size_t kPathBytes = 4096;

channel::KernelCollection collection_of(const channel::Settings& settings) noexcept {
  return static_cast<channel::KernelCollection>(settings.kernel_collection.load(std::memory_order_acquire));
}

// Our library, which is in the agent's folder.
void* open_library_beside_agent() noexcept {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&open_library_beside_agent), &self) == 0 || self.dli_fname == nullptr) return nullptr;
  const char* const slash = std::strrchr(self.dli_fname, '/');
  if (slash == nullptr) return nullptr;
  char path[kPathBytes];
  const int length = std::snprintf(path, sizeof(path), "%.*s/liblanescope-kernels.so", static_cast<int>(slash - self.dli_fname), self.dli_fname);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof(path)) return nullptr;
  return load_file(path, RTLD_NOW | RTLD_LOCAL);
}

// The libcupti to which these functions belong.
void* handle_of(const Functions& functions) noexcept {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(functions.get_version), &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return load_file(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

template <typename Work>
void KernelProfiler::ask(Work work) noexcept {
  kernels::Collector* const collector = collector_.load(std::memory_order_acquire);
  if (collector == nullptr || has_faulted_.load(std::memory_order_acquire)) return;
  const Quiet quiet;
  if (call_cupti([&] { work(*collector); }) == Guarded::kDone) return;
  cupti::let_launches_go();  // they may still be held
  if (has_faulted_.exchange(true)) return;
  report(Component::kCupti, ComponentState::kFailed, Severity::kError,
         "PC samples are not recorded from here on: CUPTI faulted when it was asked for them. All else is recorded, and the program runs on.");
}

bool KernelProfiler::load(const Functions& functions) noexcept {
  if (was_tried_) return collector_.load(std::memory_order_relaxed) != nullptr;
  was_tried_ = true;
  void* const library = open_library_beside_agent();
  void* const cupti = handle_of(functions);
  if (library == nullptr || cupti == nullptr) {
    cupti::tell(ComponentState::kNoLibrary, Severity::kError,
                "PC samples are not recorded: liblanescope-kernels.so can't be loaded from beside the agent. Install Lanescope whole.");
    return false;
  }
  const auto open = reinterpret_cast<kernels::Open>(dlsym(library, kernels::kOpenFunction));
  kernels::Collector* const collector = open == nullptr ? nullptr : open(kernels::kInterfaceVersion, *this, cupti);
  collector_.store(collector, std::memory_order_release);
  if (collector == nullptr)
    cupti::tell(ComponentState::kVersionMismatch, Severity::kError,
                "PC samples are not recorded: this libcupti has no PC sampling, or liblanescope-kernels.so is of another version than the agent.");
  return collector != nullptr;
}

void KernelProfiler::watch(const Functions& functions, CUpti_SubscriberHandle subscriber, const channel::Settings& settings, Arrival arrival) noexcept {
  if (collection_of(settings) == channel::KernelCollection::kNone || !load(functions)) return;
  if (functions_ == nullptr) arrival_ = arrival;
  functions_ = &functions;
  subscriber_ = subscriber;
  for (const CUpti_CallbackId id : kResourceCallbacks) functions.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
}

void KernelProfiler::begin(const channel::Settings& settings, encode::FrameWriter& frames) noexcept {
  const kernels::Request request{collection_of(settings), settings.pc_sampling_period.load(std::memory_order_relaxed),
                                 settings.pc_window_ms.load(std::memory_order_relaxed) * kMillisecond,
                                 settings.pc_every_ms.load(std::memory_order_relaxed) * kMillisecond,
                                 arrival_ == Arrival::kLate ? kernels::Request::Contexts::kSomeBefore : kernels::Request::Contexts::kAllTold};
  if (request.collection == channel::KernelCollection::kNone) return;
  frames_ = &frames;
  is_collecting_ = true;
  next_ = 0;
  ask([&](kernels::Collector& collector) { collector.begin(request); });
}

void KernelProfiler::collect(std::int64_t now) noexcept {
  if (!is_collecting_ || now < next_) return;
  std::int64_t pause = kSecond;
  ask([&](kernels::Collector& collector) { pause = collector.collect(); });
  next_ = monotonic_now() + pause;
}

std::int64_t KernelProfiler::until_due(std::int64_t now, std::int64_t otherwise) const noexcept {
  if (!is_collecting_) return otherwise;
  return next_ > now ? next_ - now : 0;
}

void KernelProfiler::end() noexcept {
  if (!is_collecting_) return;
  if (follows_launched_code_) functions_->enable_callback(0, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_PROFILED);
  follows_launched_code_ = false;
  ask([](kernels::Collector& collector) { collector.end(); });
  is_collecting_ = false;
  frames_ = nullptr;
}

void KernelProfiler::begin_session() noexcept {
  ask([](kernels::Collector& collector) { collector.begin_session(); });
}

void KernelProfiler::process_forked() noexcept {
  forget_launches();
  if (kernels::Collector* const collector = collector_.load(std::memory_order_acquire)) collector->process_forked();
}

void KernelProfiler::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& resource) noexcept {
  ask([&](kernels::Collector& collector) {
    switch (id) {
      case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
        return collector.context_created(resource.context);
      case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        return collector.context_ends(resource.context);
      case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        return collector.module_unloads(resource.context);
      case CUPTI_CBID_RESOURCE_MODULE_LOADED:
      case CUPTI_CBID_RESOURCE_MODULE_PROFILED: {
        const auto* const module = static_cast<const CUpti_ModuleResourceData*>(resource.resourceDescriptor);
        if (module == nullptr || module->pCubin == nullptr) return;
        return collector.module_loaded({reinterpret_cast<const std::byte*>(module->pCubin), module->cubinSize});
      }
      default:
        return;
    }
  });
}

void KernelProfiler::write_frame(std::uint16_t type, std::span<const std::byte> payload) noexcept {
  if (frames_ != nullptr) frames_->write(static_cast<encode::FrameType>(type), payload, 0);
}

std::int64_t KernelProfiler::event_time(std::int64_t monotonic) const noexcept { return agent::event_time(monotonic); }

void KernelProfiler::follow_launches() noexcept {
  if (functions_ != nullptr) cupti::follow_launches(*functions_, subscriber_);
}

void KernelProfiler::leave_launches() noexcept {
  if (functions_ != nullptr) cupti::leave_launches(*functions_, subscriber_);
}

bool KernelProfiler::hold_launches(std::int64_t patience) noexcept { return cupti::hold_launches(patience); }

void KernelProfiler::let_launches_go() noexcept { cupti::let_launches_go(); }

void KernelProfiler::follow_launched_code() noexcept {
  if (functions_ == nullptr) return;
  functions_->enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_PROFILED);
  follows_launched_code_ = true;
}

void KernelProfiler::tell(kernels::Outcome outcome, const char* sentence) noexcept {
  const ComponentState state = outcome == kernels::Outcome::kWorks          ? ComponentState::kRecording
                               : outcome == kernels::Outcome::kNoPermission ? ComponentState::kNoPermission
                               : outcome == kernels::Outcome::kInUse        ? ComponentState::kOwnedByOther
                                                                            : ComponentState::kFailed;
  report(Component::kCupti, state, Severity::kWarning, sentence);
}

}  // namespace lanescope::agent::cupti
