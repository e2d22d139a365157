// A thread that we start in another process to load the agent, so that none of the process's own threads must stand still for that.
//
// It runs a few instructions in one page that is mapped for it. They wait for the next call that is written there, make it, and store the result. All
// signals except those of faults are blocked in it. A fault ends this thread, not the process. The thread unmaps its page and ends when this object
// is destroyed, or by itself if nothing was asked for some seconds.
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
  // Starts it by two calls of the stopped thread, which may then continue. Null if the target can't have such a page or such a thread; nothing has
  // changed in the target then.
  static std::unique_ptr<LoadingThread> start(pid_t process, StoppedThread& stopped, const CLibraryFunctions& library, const RemoteMemory& memory);

  ~LoadingThread() override;
  LoadingThread(const LoadingThread&) = delete;
  LoadingThread& operator=(const LoadingThread&) = delete;

  // A call that takes longer than the limit is still completed, and the thread ends after it.
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
  std::uint64_t calls_ = 0;  // number of calls asked for
  std::uint64_t used_;       // bytes of the page that are in use
  bool failed_ = false;
  bool watches_ = false;               // watching was started, or tried
  bool has_faulted_ = false;           // in the current call
  bool has_left_ = false;              // the thread has left its page
  std::unique_ptr<FaultWatch> watch_;  // if the thread may be traced
};

}  // namespace lanescope::attach
