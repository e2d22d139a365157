// Call chains of samples in a Chrome trace: the member "stackFrames". Internal to model/import.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace/trace_builder.h"

namespace lanescope::importers {

// A call of a chain. In our exports, frames of the inlined callers of "12" are "12.1", "12.2", ..., innermost first.
struct ChromeFrame {
  std::string function;
  std::string module;
  std::string kind;  // "python", "kernel" or "generated"; else native
  std::string source_file;
  std::uint32_t source_line = 0;
  std::uint64_t address = 0;
  std::string caller;  // its id; empty for the outermost
};
using ChromeFrames = std::unordered_map<std::string, ChromeFrame>;

// The call chains of frames in a builder; each chain is made once.
class ChromeChains {
 public:
  ChromeChains(const ChromeFrames& frames, TraceBuilder& builder) : frames_(frames), builder_(builder) {}
  // 0 if the frame does not exist. A chain with a cycle ends where it would repeat.
  [[nodiscard]] CallNodeId chain(const std::string& frame);

 private:
  CallNodeId call(const std::vector<const std::string*>& inlined, CallNodeId caller);

  const ChromeFrames& frames_;
  TraceBuilder& builder_;
  std::unordered_map<std::string, CallNodeId> known_;
};

}  // namespace lanescope::importers
