// The interface of liblanescope-kernels.so, which the agent loads if a recording asks what limits kernels. Both are built together, and share only this header.
//
// Nothing here throws. Calls lead into CUPTI, which may fault: the agent guards each of them, and makes no more calls after a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cuda.h>

#include "collector/channel/layout.h"

namespace lanescope::agent::kernels {

inline constexpr std::uint32_t kInterfaceVersion = 5;
inline constexpr char kOpenFunction[] = "lanescope_kernels_open";

enum class Outcome : std::uint32_t { kWorks, kNoPermission, kInUse, kFailed };

// The agent, as seen by the library.
class Host {
 public:
  // Writes a frame of this type (trace.proto). Only on the agent's own thread.
  virtual void write_frame(std::uint16_t type, std::span<const std::byte> payload) noexcept = 0;
  // Converts a time of the program's CLOCK_MONOTONIC to the recorder's, for written data. Any thread.
  [[nodiscard]] virtual std::int64_t event_time(std::int64_t monotonic) const noexcept = 0;
  // Tells the user one sentence, once per recording. Any thread.
  virtual void tell(Outcome outcome, const char* sentence) noexcept = 0;
  // Between these two calls, launches of the program can be held, which costs each launch some tenths of a microsecond. One thread at a time, as for the next
  // functions.
  virtual void follow_launches() noexcept = 0;
  virtual void leave_launches() noexcept = 0;
  // Launches that begin between these two calls wait, unless that takes seconds. Returns true if the launches in progress have returned within `patience` ns
  // (agent/cupti/launch_hold.h). If false, CUPTI must not be asked to begin, end or pause sampling, or both may stop for good.
  virtual bool hold_launches(std::int64_t patience) noexcept = 0;
  virtual void let_launches_go() noexcept = 0;
  // Until the end of the collection, module_loaded() is also called for the code of each launch, because that may have been loaded before anybody listened.
  virtual void follow_launched_code() noexcept = 0;

 protected:
  ~Host() = default;
};

struct Request {
  channel::KernelCollection collection = channel::KernelCollection::kNone;
  std::uint32_t sampling_period = 0;  // as channel::Settings::pc_sampling_period
  std::int64_t window = 0;            // ns of a window, and (`every`) from the begin of one to the begin of the next; 0: samples all the time
  std::int64_t every = 0;
  enum class Contexts : std::uint8_t { kAllTold, kSomeBefore };  // whether context_created() reported each existing context
  Contexts contexts = Contexts::kAllTold;
};

// The library, as seen by the agent. There is one, and it lives as long as the process.
class Collector {
 public:
  // On the agent's own thread: begin() starts collecting until end(); collect() sends the data collected so far to the host; after end(), CUPTI is asked for
  // nothing more. collect() returns the ns until it must be called again, at most a tenth of a second.
  virtual void begin(const Request& request) noexcept = 0;
  virtual std::int64_t collect() noexcept = 0;
  virtual void end() noexcept = 0;
  // From here on frames belong to another session, which has no earlier data. Requires: called between end() and begin().
  virtual void begin_session() noexcept = 0;

  // In a forked child, which has no CUDA: releases what the child would otherwise hold for the parent. Nothing else is called there any more.
  virtual void process_forked() noexcept = 0;

  // From CUPTI's callbacks, on threads of the program, even if nothing is being collected. The same code may be reported repeatedly.
  virtual void context_created(CUcontext context) noexcept = 0;
  virtual void context_ends(CUcontext context) noexcept = 0;
  virtual void module_loaded(std::span<const std::byte> image) noexcept = 0;
  virtual void module_unloads(CUcontext context) noexcept = 0;

 protected:
  ~Collector() = default;
};

// `cupti`: a handle of dlopen. Null if the library is of another version, or if this libcupti lacks a function.
using Open = Collector* (*)(std::uint32_t interface_version, Host& host, void* cupti);

}  // namespace lanescope::agent::kernels
