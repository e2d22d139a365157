// Call chains that were taken inside a process, as addresses. They are turned into places in code, packed, and named at the end.
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

// The files that hold the code of a recording's processes. Each file is read once, even if several processes run it.
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

// Looks up the names of code that appeared in backtraces.
class NameSearch {
 public:
  ~NameSearch();
  NameSearch(const NameSearch&) = delete;
  NameSearch& operator=(const NameSearch&) = delete;

  // Reads files, which may be large. Code that was not looked up when `go_on` returns false stays without a name. Any thread, while another thread
  // continues to take backtraces. Only one search of a CodeLibrary may run at a time.
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
  // Reads the process's mappings now, because the process may have ended when a chain arrives, or takes those of another child of its parent, if there are
  // very many (code/address_spaces.h). `python` reads its Python stacks; null if nobody does.
  Backtraces(pid_t process, EmitChunk emit, std::shared_ptr<CodeLibrary> code, std::shared_ptr<const python::Sampler> python = nullptr);
  ~Backtraces();
  Backtraces(const Backtraces&) = delete;
  Backtraces& operator=(const Backtraces&) = delete;

  // Adds a chain of return addresses, innermost first, taken at the end of a call. `correlation` is that of a CUDA call, else 0. If an address is
  // new, the process's mappings are read again. Frames of the agent and of CUPTI are left out. If the thread's Python stack was read during the call,
  // in which it can't have changed, its functions are put into the chain.
  void add(std::uint32_t thread, proto::SampleOrigin origin, std::int64_t time, std::uint64_t duration, std::uint32_t correlation,
           std::span<const std::uint64_t> addresses);
  void flush();

  // A search for the code that appeared since the last call; null if there is nothing new. O(new code).
  [[nodiscard]] std::unique_ptr<NameSearch> begin_search();
  // The names that a finished search of these backtraces found. O(found).
  [[nodiscard]] proto::Symbols names(const NameSearch& search);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanescope::cpu
