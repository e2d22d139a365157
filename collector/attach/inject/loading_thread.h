// A thread that we start in another process to load the agent, so that none of its own threads has to stand still for that.
//
// It runs a few instructions in one page that is mapped for it: they wait for the next call that is written there, make it, and leave the
// result. All signals but those of faults are blocked in it; a fault ends this thread and not the process. It unmaps its page and ends when
// this object goes, or by itself when nobody has asked for anything for some seconds.
#pragma once

#include <memory>

#include "inject/c_library.h"
#include "inject/fault_watch.h"
#include "inject/remote_calls.h"
#include "inject/remote_memory.h"
#include "inject/stopped_thread.h"

namespace lanescope::attach {

class LoadingThread : public RemoteCalls {
 public:
  // By two calls of the stopped thread, which may go on then. Null where the target can't have such a page or such a thread: nothing has
  // changed in it then.
  static std::unique_ptr<LoadingThread> start(pid_t process, StoppedThread& stopped, const CLibraryFunctions& library, const RemoteMemory& memory);

  ~LoadingThread() override;
  LoadingThread(const LoadingThread&) = delete;
  LoadingThread& operator=(const LoadingThread&) = delete;

  // A call that takes longer than the limit is finished all the same, and the thread ends behind it.
  Result<std::uint64_t> call(std::uint64_t function, std::initializer_list<std::uint64_t> arguments, std::chrono::milliseconds limit) override;
  Result<std::uint64_t> place(std::string_view text) override;
  Result<std::uint64_t> reserve(std::size_t bytes) override;

 private:
  LoadingThread(pid_t process, const CLibraryFunctions& library, const RemoteMemory& memory, std::uint64_t page);
  bool write(std::uint64_t offset, std::uint64_t value) const;
  void watch_faults();
  [[nodiscard]] bool runs_agent(const Fault& fault) const;
  Result<void> recover(const Fault& fault, std::uint64_t function);

  pid_t process_;
  const CLibraryFunctions& library_;
  const RemoteMemory& memory_;
  std::uint64_t page_;       // its address in the target
  std::uint64_t calls_ = 0;  // asked for
  std::uint64_t used_;       // bytes of the page
  bool failed_ = false;
  bool watches_ = false;               // or has tried to
  bool has_faulted_ = false;           // in this call
  bool has_left_ = false;              // its page
  std::unique_ptr<FaultWatch> watch_;  // where it may be traced
};

}  // namespace lanescope::attach
