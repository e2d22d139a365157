// Call chains that were taken inside a process, as addresses: turned into places in code, packed, and named in the end.
//
// Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "lanescope/trace.pb.h"

namespace lanescope::python {
class Sampler;
}

namespace lanescope::cpu {

// The files that hold the code of a recording's processes, each read once whichever of them run it.
class CodeLibrary {
 public:
  CodeLibrary();
  ~CodeLibrary();
  CodeLibrary(const CodeLibrary&) = delete;
  CodeLibrary& operator=(const CodeLibrary&) = delete;

 private:
  friend class Backtraces;
  struct Files;
  std::unique_ptr<Files> files_;
};

class Backtraces {
 public:
  using EmitChunk = std::function<void(const proto::EventChunk& chunk, std::uint32_t events)>;
  // `python`: who reads the process's Python stacks; null where nobody does.
  Backtraces(pid_t process, EmitChunk emit, std::shared_ptr<CodeLibrary> code, std::shared_ptr<const python::Sampler> python = nullptr);
  ~Backtraces();
  Backtraces(const Backtraces&) = delete;
  Backtraces& operator=(const Backtraces&) = delete;

  // A chain of return addresses, innermost first, taken at the end of a call; `correlation` is that of a CUDA call, else 0. Reads what the
  // process has mapped where an address is new. Frames of the agent and of CUPTI are left out. Where the thread's Python stack was read
  // during the call, in which it can't have changed, its functions stand in the chain.
  void add(std::uint32_t thread, proto::SampleOrigin origin, std::int64_t time, std::uint64_t duration, std::uint32_t correlation,
           std::span<const std::uint64_t> addresses);
  void flush();

  // What the code is called that came up since the last call; empty where there is nothing new. Reads files, large ones perhaps: what has no
  // name after about `limit` stays without one.
  [[nodiscard]] proto::Symbols names(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::cpu
