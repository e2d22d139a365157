// Call chains that were taken inside a process, as addresses: turned into places in code, packed, and named in the end.
//
// Threads: one at a time.
#pragma once

#include <sys/types.h>

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

// Finds out what code is called that came up in backtraces.
class NameSearch {
 public:
  ~NameSearch();
  NameSearch(const NameSearch&) = delete;
  NameSearch& operator=(const NameSearch&) = delete;

  // Reads files, large ones perhaps: what it has not come to once `go_on` says no stays without a name. Any thread, while the backtraces go
  // on being taken on another; one search of a CodeLibrary at a time.
  void run(const std::function<bool()>& go_on);

 private:
  friend class Backtraces;
  struct State;
  explicit NameSearch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Backtraces {
 public:
  using EmitChunk = std::function<void(const proto::EventChunk& chunk, std::uint32_t events)>;
  // Reads what the process has mapped by now: it may have ended when a chain comes. `python`: who reads its Python stacks; null where nobody
  // does.
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

  // For the code that came up since the last call; null where there is nothing new. O(that).
  [[nodiscard]] std::unique_ptr<NameSearch> begin_search();
  // What was found by a search of ours that has run. O(found).
  [[nodiscard]] proto::Symbols names(const NameSearch& search);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::cpu
