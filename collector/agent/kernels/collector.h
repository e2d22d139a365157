// What liblanescope-kernels.so does for the agent, which loads it where a recording asks what keeps kernels: both are built together, and
// meet in this header alone.
//
// Nothing of it throws. Calls lead into CUPTI, which may fault: the agent guards each of them, and asks nothing more behind a fault.
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

// The agent, to the library.
class Host {
 public:
  // A frame of this type (trace.proto). On the agent's own thread alone.
  virtual void write_frame(std::uint16_t type, std::span<const std::byte> payload) noexcept = 0;
  // A time of the program's CLOCK_MONOTONIC on the recorder's, for what is written. Any thread.
  [[nodiscard]] virtual std::int64_t event_time(std::int64_t monotonic) const noexcept = 0;
  // One sentence for the user, said once for each recording. Any thread.
  virtual void tell(Outcome outcome, const char* sentence) noexcept = 0;
  // Between these two, launches of the program can be held, which costs each some tenths of a microsecond. One thread at a time, as what follows.
  virtual void follow_launches() noexcept = 0;
  virtual void leave_launches() noexcept = 0;
  // Launches that begin wait from the first to the second, unless that takes seconds. Whether those under way have come back within so many ns
  // (agent/cupti/launch_hold.h): where one has not, nothing that begins, ends or pauses sampling may be asked of CUPTI, or both may stop for good.
  virtual bool hold_launches(std::int64_t patience) noexcept = 0;
  virtual void let_launches_go() noexcept = 0;
  // Until the end of the collection module_loaded() tells at each launch of its code as well: it may have been loaded before anybody listened.
  virtual void follow_launched_code() noexcept = 0;

 protected:
  ~Host() = default;
};

struct Request {
  channel::KernelCollection collection = channel::KernelCollection::kNone;
  std::uint32_t sampling_period = 0;  // as channel::Settings::pc_sampling_period
  std::int64_t window = 0;            // ns for which is sampled, and from the begin of that to the next; 0: all the time
  std::int64_t every = 0;
  enum class Contexts : std::uint8_t { kAllTold, kSomeBefore };  // whether context_created() told of each that there is
  Contexts contexts = Contexts::kAllTold;
};

// The library, to the agent. There is one, and it lives as long as the process.
class Collector {
 public:
  // On the agent's own thread: from here on, until end(); what there is so far goes to the host; and no more is asked of CUPTI. collect() says
  // in how many ns it is to be called again, a tenth of a second at most.
  virtual void begin(const Request& request) noexcept = 0;
  virtual std::int64_t collect() noexcept = 0;
  virtual void end() noexcept = 0;
  // From here on frames are those of another session, which knows nothing yet. Requires: between end() and begin().
  virtual void begin_session() noexcept = 0;

  // In a forked child, which has no CUDA: lets go of what the child would hold in the parent's place. Nothing else is called there any more.
  virtual void process_forked() noexcept = 0;

  // From CUPTI's callbacks, on threads of the program, also where nothing is being collected. The same code may come again and again.
  virtual void context_created(CUcontext context) noexcept = 0;
  virtual void context_ends(CUcontext context) noexcept = 0;
  virtual void module_loaded(std::span<const std::byte> image) noexcept = 0;
  virtual void module_unloads(CUcontext context) noexcept = 0;

 protected:
  ~Collector() = default;
};

// `cupti`: a handle of dlopen. Null where the library is of another version, or this libcupti lacks what it needs.
using Open = Collector* (*)(std::uint32_t interface_version, Host& host, void* cupti);

}  // namespace lanescope::agent::kernels
